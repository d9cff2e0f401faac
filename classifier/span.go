package classifier

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/internal/sentence"
	"github.com/toxscreen/toxscreen/tokenize"
)

// spans returns the words of text that the token head marks. Words are divided
// by Unicode's annex 29. A word is marked for a label if one of its tokens reaches
// the label's threshold in this text; its score is that of its highest token.
// Neighbours in a sentence with only blanks between them become one span.
//
// logits is [tokens, labels]. The result is ordered and not nil.
func spans(text string, offsets []tokenize.Offset, logits []float32, spec *SpanSpec) []toxscreen.Span {
	found := []toxscreen.Span{}
	columns := len(spec.Labels)
	thresholds, marked := spec.thresholds(logits)
	if !marked {
		return found // most texts: no need to find words
	}
	ends := sentence.Ends(text)
	token, start, state := 0, 0, -1
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		end := start + len(word)
		for token < len(offsets) && int(offsets[token].End) <= start {
			token++
		}
		if strings.TrimSpace(word) != "" {
			var s toxscreen.Scores
			// A token may extend into the next word, so the next word starts again
			// at the same token.
			for t := token; t < len(offsets) && int(offsets[t].Start) < end; t++ {
				for column, z := range logits[t*columns : (t+1)*columns] {
					if a := spec.Labels[column].Attribute; a != nil && z >= thresholds[column] {
						mark(&s, *a, logodds.Probability(float64(z)))
					}
				}
			}
			if s.Len() > 0 {
				found = appendSpan(text, ends, found, toxscreen.Span{Start: start, End: end, Attributes: s})
			}
		}
		start = end
	}
	return found
}

// thresholds returns, for each label, the logit from which a token is marked, and
// whether any token is. logits is [tokens, labels].
func (s *SpanSpec) thresholds(logits []float32) (thresholds []float32, marked bool) {
	highest := slices.Repeat([]float32{float32(math.Inf(-1))}, len(s.Labels))
	for i, z := range logits {
		column := i % len(highest)
		highest[column] = max(highest[column], z)
	}
	thresholds = make([]float32, len(highest))
	for column, z := range highest {
		thresholds[column] = float32(logodds.Of(max(s.Threshold, s.Relative*logodds.Probability(float64(z)))))
		marked = marked || z >= thresholds[column]
	}
	return thresholds, marked
}

// appendSpan adds a word to the spans, or to the last span if only blanks lie between.
// A word that begins after one of the ends, which are those of the sentences of text,
// is a span of its own.
func appendSpan(text string, ends []int, found []toxscreen.Span, s toxscreen.Span) []toxscreen.Span {
	if len(found) > 0 {
		last := &found[len(found)-1]
		next, _ := slices.BinarySearch(ends, last.End) // the sentence that last ends in
		inside := s.Start == s.End || s.Start < ends[next]
		if inside && strings.TrimSpace(text[last.End:s.Start]) == "" {
			last.End = s.End
			for a, value := range s.Attributes.All() {
				mark(&last.Attributes, a, value)
			}
			return found
		}
	}
	return append(found, s)
}

// mark raises the score of an attribute to value.
func mark(s *toxscreen.Scores, a toxscreen.Attribute, value float64) {
	if old, ok := s.Get(a); !ok || value > old {
		s.Set(a, value)
	}
}

// union returns the spans of two readings of text as one list, ordered and
// without overlap. Spans that overlap, or have only blanks of a sentence between them,
// become one, with the higher score of each attribute. It is nil if both lists are.
func union(text string, a, b []toxscreen.Span) []toxscreen.Span {
	if len(b) == 0 {
		return a
	}
	both, ends := slices.Concat(a, b), sentence.Ends(text)
	slices.SortStableFunc(both, func(x, y toxscreen.Span) int { return cmp.Compare(x.Start, y.Start) })
	found := both[:0]
	for _, s := range both {
		if n := len(found); n > 0 && s.Start < found[n-1].End {
			s.Start, s.End = found[n-1].End, max(s.End, found[n-1].End)
		}
		found = appendSpan(text, ends, found, s)
	}
	return found
}
