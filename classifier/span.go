package classifier

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/tokenize"
)

// spans returns the words of text that the token head marks. A word, as
// Unicode's annex 29 divides them, is marked where one of its tokens is at or
// over the threshold for a label, and stands for that label with its highest
// token. Neighbours with nothing but blanks between them become one span.
//
// logits is [tokens, labels]. The result is ordered and not nil.
func spans(text string, offsets []tokenize.Offset, logits []float32, spec *SpanSpec) []toxscreen.Span {
	found := []toxscreen.Span{}
	columns := len(spec.Labels)
	threshold := float32(logit(spec.Threshold))
	marked := false
	for _, z := range logits {
		marked = marked || z >= threshold
	}
	if !marked {
		return found // most texts: no need to look for words
	}
	token, start, state := 0, 0, -1
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		end := start + len(word)
		for token < len(offsets) && int(offsets[token].End) <= start {
			token++
		}
		if strings.TrimFunc(word, unicode.IsSpace) != "" {
			var s toxscreen.Scores
			// A token may reach into the next word, so the walk starts at
			// the same one there.
			for t := token; t < len(offsets) && int(offsets[t].Start) < end; t++ {
				for column, z := range logits[t*columns : (t+1)*columns] {
					if a := spec.Labels[column].Attribute; a != nil && z >= threshold {
						mark(&s, *a, sigmoid(float64(z)))
					}
				}
			}
			if s.Len() > 0 {
				found = appendSpan(text, found, toxscreen.Span{Start: start, End: end, Attributes: s})
			}
		}
		start = end
	}
	return found
}

// appendSpan adds a word to the spans, or to the last of them where only
// blanks lie between.
func appendSpan(text string, found []toxscreen.Span, s toxscreen.Span) []toxscreen.Span {
	if len(found) > 0 {
		last := &found[len(found)-1]
		if strings.TrimFunc(text[last.End:s.Start], unicode.IsSpace) == "" {
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
