package tokenize

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// addedTokens finds added tokens in a text, leftmost first, then longest.
type addedTokens struct {
	tokens []addedToken
	trie   *trie     // from their contents to indices into tokens; nil if there are none
	first  [256]bool // the bytes that they begin with: a table, since there may be hundreds of emoji
}

// match is an added token at text[start:end], including the blanks that it absorbs.
type match struct {
	start, end int
	id         int64
}

// newAddedTokens takes the tokens that are searched in the original text or, if
// normalized is set, those that are searched in the normalised text.
func newAddedTokens(f *file, normalized bool, normalize func(string) string) (addedTokens, error) {
	a := addedTokens{}
	last := map[string]addedToken{} // the last entry for a content counts
	var order []string
	for _, t := range f.AddedTokens {
		if t.Content == "" {
			continue
		}
		if _, ok := last[t.Content]; !ok {
			order = append(order, t.Content)
		}
		last[t.Content] = t
	}
	for _, content := range order {
		t := last[content]
		if t.Normalized != normalized {
			continue
		}
		if normalized {
			t.Content = normalize(content)
		}
		if t.Content == "" {
			return a, fmt.Errorf("the added token %q is empty after normalisation; set its \"normalized\" to false", content)
		}
		if a.trie == nil {
			a.trie = newTrie(1, len(order))
		}
		if id, n := longest(a.trie, startRoot, t.Content); id >= 0 && n == len(t.Content) {
			return a, fmt.Errorf("the added token %q becomes %q when normalised, like another; remove one of them", content, t.Content)
		}
		if !a.trie.insert(startRoot, t.Content, int32(len(a.tokens))) {
			return a, fmt.Errorf("the added tokens have more than %d prefixes", maxNodes)
		}
		a.tokens = append(a.tokens, t)
		a.first[t.Content[0]] = true
	}
	return a, nil
}

func (a *addedTokens) any() bool { return a.trie != nil }

// next finds the next place at or after i where a token may begin, or len(text).
func (a *addedTokens) next(text string, i int) int {
	for i < len(text) && !a.first[text[i]] {
		i++
	}
	return i
}

// matches yields the tokens in order. A token that must be a word but is not still takes
// its bytes: no other token is found inside it.
func (a *addedTokens) matches(text string) iter.Seq[match] {
	return func(yield func(match) bool) {
		if a.trie == nil {
			return
		}
		done := 0 // the end of the last match
		for i := a.next(text, 0); i < len(text); i = a.next(text, i) {
			which, n := longest(a.trie, startRoot, text[i:])
			if which < 0 {
				i++
				continue
			}
			t := &a.tokens[which]
			start, end := i, i+n
			i = end
			if t.SingleWord && isInWord(text[:start], text[end:]) {
				continue
			}
			if t.LStrip {
				start = max(len(strings.TrimRightFunc(text[:start], isBlank)), done)
			}
			if t.RStrip {
				end = len(text) - len(strings.TrimLeftFunc(text[end:], isBlank))
			}
			if !yield(match{start, end, t.id}) {
				return
			}
			done = end
		}
	}
}

// isInWord reports whether before ends, or after begins, with a character of a word.
// U+FFFD, which an empty text gives, is not one.
func isInWord(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return (runeData().flags(last)|runeData().flags(first))&isWord != 0
}
