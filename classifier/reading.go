package classifier

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

// Seen returns a text as the network sees it, with the way back to the original: in plain
// typography, without the rest of long runs of signs or of one repetition, and without links.
// Training sees texts through the same function, see training/read.
func Seen(text string) disguise.Reading { return disguise.Fold(text).CutRuns().CutLinks() }

// spansIn returns spans of a plain text as spans of its original. Spans in one run that was cut
// become one span of the whole run.
func spansIn(plain disguise.Reading, found []toxscreen.Span) []toxscreen.Span {
	kept := found[:0]
	for _, s := range found {
		s.Start, s.End = plain.Original(s.Start, s.End)
		if n := len(kept); n > 0 && s.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, s.End)
			for a, value := range s.Attributes.All() {
				mark(&kept[n-1].Attributes, a, value)
			}
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// readingsIn returns readings of words in a plain text as readings in its original. Of several
// in one run that was cut, which all come from the same bytes, the first stays.
func readingsIn(plain disguise.Reading, found []toxscreen.Reading) []toxscreen.Reading {
	kept := found[:0]
	for _, r := range found {
		r.Start, r.End = plain.Original(r.Start, r.End)
		if n := len(kept); n == 0 || r.Start >= kept[n-1].End {
			kept = append(kept, r)
		}
	}
	return kept
}

// encodeReading fills enc with the tokens of text with disguise undone; the offsets
// point into text itself. It returns the words that are read differently. plain must be
// the encoding of text. If the model would see the same ids as in plain, encodeReading
// returns nil and enc must not be used. With a normaliser that drops accents or invisible
// characters, many readings have the same ids as their text.
func encodeReading(t *tokenize.Tokenizer, text string, plain, enc *tokenize.Encoding) ([]toxscreen.Reading, error) {
	reading := disguise.Read(text, t)
	if reading.Text == text {
		return nil, nil
	}
	if err := t.Encode(reading.Text, enc); err != nil {
		return nil, err
	}
	if slices.Equal(plain.IDs, enc.IDs) {
		return nil, nil
	}
	for i, o := range enc.Offsets {
		if o.Start < o.End {
			start, end := reading.Original(int(o.Start), int(o.End))
			enc.Offsets[i] = tokenize.Offset{Start: int32(start), End: int32(end)}
		}
	}
	var changed []toxscreen.Reading
	for _, c := range reading.Changes() {
		changed = append(changed, toxscreen.Reading(c))
	}
	return changed, nil
}
