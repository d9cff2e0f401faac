package classifier

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/tokenize"
)

// window is a part of a text that the model saw at once.
type window struct {
	start, end int              // bytes of the text, end exclusive
	odds       toxscreen.Scores // calibrated log-odds
}

// combine returns the log-odds of a text from those of its windows: for each attribute
// the highest one, corrected for the number of windows.
func combine(windows []window, correction Correction) toxscreen.Scores {
	highest := windows[0].odds
	for _, w := range windows[1:] {
		for a, z := range w.odds.All() {
			mark(&highest, a, z)
		}
	}
	for a, z := range highest.All() {
		highest.Set(a, correction.Apply(z, len(windows)))
	}
	return highest
}

// extent returns the bytes of the text from the first to the last one that tokens
// cover; both are 0 if they cover none. Tokens need not be in order.
func extent(tokens []tokenize.Offset) (start, end int) {
	found := false
	for _, o := range tokens {
		switch {
		case o.Start >= o.End: // covers nothing
		case !found:
			found, start, end = true, int(o.Start), int(o.End)
		default:
			start, end = min(start, int(o.Start)), max(end, int(o.End))
		}
	}
	return start, end
}

// windowsOf returns the windows of a text with the given scores. If it is one window
// in each of its readings, this window has the scores of the text. Otherwise the windows
// of both readings are returned, and they overlap. read is nil if there is one reading.
func windowsOf(scores toxscreen.Scores, written, read *scored) []toxscreen.Window {
	whole := written.windows[0]
	if len(written.windows) == 1 && (read == nil || len(read.windows) == 1) {
		if read != nil {
			whole.start, whole.end = min(whole.start, read.windows[0].start), max(whole.end, read.windows[0].end)
		}
		if whole.start == whole.end {
			return nil
		}
		return []toxscreen.Window{{Start: whole.start, End: whole.end, Scores: scores}}
	}
	if read == nil {
		return probable(written.windows, 0)
	}
	return slices.Concat(probable(written.windows, oddSpelling), probable(read.windows, 0))
}

// probable returns windows with the probabilities of their log-odds, from which less is
// subtracted first.
func probable(windows []window, less float64) []toxscreen.Window {
	all := make([]toxscreen.Window, len(windows))
	for i, w := range windows {
		all[i] = toxscreen.Window{Start: w.start, End: w.end}
		for a, z := range w.odds.All() {
			all[i].Scores.Set(a, logodds.Probability(z-less))
		}
	}
	return all
}
