package disguise

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of [Reading.CutRuns]. Prose reaches none of them.
const (
	maxSigns    = 64  // characters of a run without letters and digits
	minRepeated = 512 // bytes of a repetition
	keptOf      = 256 // bytes that remain of it
	maxUnit     = 8   // bytes that are repeated
)

// CutRuns returns the reading without the rest of long runs that say nothing more: of more
// than 64 punctuation marks, symbols and blanks in a row, and of what repeats up to 8 bytes
// over more than 512. A line break in the rest remains. Each part of what is left of a run
// stands for all of it. Doing it again changes nothing, and other text takes no memory.
func (r Reading) CutRuns() Reading { return r.rewritten(cutSigns).rewritten(cutRepeated) }

// CutLinks returns the reading with a line break in place of each link: the words of an address
// are names, not speech. Links are addresses with a scheme (https://example.org/a) or with www.,
// whose host is under a public suffix, a reserved domain or a number, and addresses with a path
// behind a host in a generic domain (example.org/a). Punctuation behind a link stays.
func (r Reading) CutLinks() Reading {
	return r.rewritten(func(w *rewriting) {
		for l := range links(w.text) {
			w.replace(l.start, l.end, "\n")
		}
	})
}

// rewritten returns a reading with one more step.
func (r Reading) rewritten(step func(*rewriting)) Reading {
	w := rewriting{text: r.Text}
	step(&w)
	r.steps = slices.Clip(r.steps)
	w.step(&r)
	return r
}

// cutSigns cuts runs of signs. Every run longer than maxSigns covers a byte whose offset is a
// multiple of maxSigns, so cutSigns looks only around these bytes.
func cutSigns(w *rewriting) {
	done := 0
	for i := 0; i < len(w.text); i += maxSigns {
		if i < done {
			continue
		}
		start := i
		for start > 0 && !utf8.RuneStart(w.text[start]) {
			start--
		}
		for start > done {
			c, size := utf8.DecodeLastRuneInString(w.text[:start])
			if !isSign(c) {
				break
			}
			start -= size
		}
		end, kept, n := start, start, 0
		for end < len(w.text) {
			c, size := utf8.DecodeRuneInString(w.text[end:])
			if !isSign(c) {
				break
			}
			if end += size; n < maxSigns {
				kept = end
			}
			n++
		}
		if done = max(done, end); n <= maxSigns {
			continue
		}
		between := ""
		if rest := w.text[kept:end]; strings.Contains(rest, "\n") {
			between = "\n"
		} else if strings.ContainsFunc(rest, unicode.IsSpace) {
			between = " "
		}
		w.replace(start, end, w.text[start:kept]+between)
	}
}

// isSign reports whether a character is punctuation, a symbol of a keyboard or a blank.
// Pictures, such as emoji, say something.
func isSign(c rune) bool {
	if c < utf8.RuneSelf {
		return byteKinds[c]&(letter|digit) == 0
	}
	return unicode.IsPunct(c) || unicode.IsSpace(c) || unicode.In(c, unicode.Sm, unicode.Sc, unicode.Sk)
}

// cutRepeated cuts repetitions. Every repetition of minRepeated bytes covers all bytes that are
// compared at some multiple of minRepeated/2, so cutRepeated looks only there.
func cutRepeated(w *rewriting) {
	done := 0
	for i := 0; i+minRepeated/2 <= len(w.text); i += minRepeated / 2 {
		if i < done {
			continue
		}
		for unit := 1; unit <= maxUnit; unit++ {
			if w.text[i:i+2*maxUnit] != w.text[i+unit:i+unit+2*maxUnit] {
				continue
			}
			start, end := i, i+unit
			for start > done && w.text[start-1] == w.text[start-1+unit] {
				start--
			}
			for end < len(w.text) && w.text[end] == w.text[end-unit] {
				end++
			}
			for start < end && (byteKinds[w.text[start]] == blank || !utf8.RuneStart(w.text[start])) {
				start++
			}
			end -= (end - start) % unit
			done = max(done, end)
			if end-start >= minRepeated {
				w.replace(start, end, w.text[start:start+keptOf/unit*unit])
			}
			break
		}
	}
}
