package tokenize

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// span is a part of a text that passes through normalisers and pre-tokenizers. Each
// byte has the character of the text that it came from: Hugging Face's NormalizedString.
// Parts of one span share its memory.
type span struct {
	text []byte
	at   []Offset
}

// newSpan is text[from:to]; each invalid byte becomes U+FFFD.
func newSpan(text string, from, to int) span {
	s := span{make([]byte, 0, to-from), make([]Offset, 0, to-from)}
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(text[i:to])
		s.append(r, Offset{int32(i), int32(i + n)})
		i += n
	}
	return s
}

// change is a character of a new text and its relation to the old text: 0 replaces the
// next character, 1 inserts, −n replaces the next one and removes n more.
type change struct {
	r    rune
	kind int
}

var errMisaligned = errors.New("its normaliser removes more characters than there are")

// transform replaces the whole of a span by new characters and removes the first removed
// characters. The odd alignment is the library's: an inserted character is aligned with
// whatever came before it.
func (s span) transform(changes []change, removed int) (span, error) {
	out := span{make([]byte, 0, len(s.text)), make([]Offset, 0, len(s.text))}
	from := 0
	skip := func(n int) {
		for ; n > 0 && from < len(s.text); n-- {
			_, size := utf8.DecodeRune(s.text[from:])
			from += size
		}
	}
	skip(removed)
	for _, c := range changes {
		var at Offset
		switch {
		case c.kind <= 0 && from >= len(s.text):
			return span{}, errMisaligned
		case c.kind <= 0:
			at = s.at[from]
		case from > 0:
			at = s.at[from-1]
		case len(s.at) > 0:
			at = Offset{s.at[0].Start, s.at[0].Start}
		}
		out.append(c.r, at)
		if c.kind <= 0 {
			skip(1 - c.kind)
		}
	}
	return out, nil
}

func (s *span) append(r rune, at Offset) {
	n := len(s.text)
	s.text = utf8.AppendRune(s.text, r)
	for range len(s.text) - n {
		s.at = append(s.at, at)
	}
}

func (s span) slice(from, to int) span { return span{s.text[from:to], s.at[from:to]} }

// offset is the range of the text that bytes from to to of a span cover.
func (s span) offset(from, to int) Offset { return Offset{s.at[from].Start, s.at[to-1].End} }

// prepend inserts text before a span, aligned with its first character.
func (s span) prepend(text string) span {
	if len(s.text) == 0 {
		return s
	}
	out := span{make([]byte, 0, len(text)+len(s.text)), make([]Offset, 0, len(text)+len(s.at))}
	for _, r := range text {
		out.append(r, s.at[0])
	}
	return span{append(out.text, s.text...), append(out.at, s.at...)}
}

// filter keeps the characters for which keep is true.
func (s span) filter(keep func(rune) bool) span {
	return s.each(func(out *span, r rune, at Offset) {
		if keep(r) {
			out.append(r, at)
		}
	})
}

// each replaces every character by the output of f, aligned with it.
func (s span) each(f func(out *span, r rune, at Offset)) span {
	out := span{make([]byte, 0, len(s.text)), make([]Offset, 0, len(s.text))}
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRune(s.text[i:])
		f(&out, r, s.at[i+n-1])
		i += n
	}
	return out
}

// found is a range of a span, matched by a pattern or between two matches.
type found struct {
	from, to int
	match    bool
}

// split cuts a span by a SplitDelimiterBehavior; stretches cover all of it.
func (s span) split(stretches []found, behavior string, out []span) []span {
	var cuts []found
	previous := false
	switch behavior {
	case "Removed":
		for _, f := range stretches {
			if !f.match {
				cuts = append(cuts, f)
			}
		}
	case "Isolated":
		cuts = stretches
	case "Contiguous", "MergedWithPrevious":
		for _, f := range stretches {
			joins := f.match == previous
			if behavior == "MergedWithPrevious" {
				joins = f.match && !previous
			}
			if joins && len(cuts) > 0 {
				cuts[len(cuts)-1].to = f.to
			} else {
				cuts = append(cuts, f)
			}
			previous = f.match
		}
	case "MergedWithNext":
		for _, f := range slices.Backward(stretches) {
			if f.match && !previous && len(cuts) > 0 {
				cuts[len(cuts)-1].from = f.from
			} else {
				cuts = append(cuts, f)
			}
			previous = f.match
		}
		slices.Reverse(cuts)
	}
	for _, c := range cuts {
		if c.from < c.to {
			out = append(out, s.slice(c.from, c.to))
		}
	}
	return out
}

// searching finds ranges with next, which returns the first match at or after i.
func (s span) searching(next func(text []byte, i int) (from, to int)) []found {
	var out []found
	last := 0
	for last < len(s.text) {
		from, to := next(s.text, last)
		if from < 0 {
			break
		}
		if last < from {
			out = append(out, found{last, from, false})
		}
		out = append(out, found{from, to, true})
		last = to
	}
	if last < len(s.text) {
		out = append(out, found{last, len(s.text), false})
	}
	return out
}
