package tokenize

import (
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// compositions maps a character and its successor to their composition. It is the
// inverse of the decompositions, without those that composition excludes.
var compositions = sync.OnceValue(func() map[[2]rune]rune {
	data := runeData()
	whole := make(map[string]rune, len(data.decomposition))
	for c, parts := range data.decomposition {
		if norm.NFC.IsNormalString(string(c)) {
			whole[parts] = c
		}
	}
	pairs := make(map[[2]rune]rune, len(whole))
	for parts, c := range whole {
		last, n := utf8.DecodeLastRuneInString(parts)
		front := parts[:len(parts)-n]
		first, size := utf8.DecodeRuneInString(front)
		if size < len(front) {
			first = whole[front]
		}
		if first != 0 {
			pairs[[2]rune{first, last}] = c
		}
	}
	return pairs
})

func compose(a, b rune) (rune, bool) {
	switch {
	case a >= leadFirst && a < leadFirst+19 && b >= vowelFirst && b < vowelFirst+vowels:
		return hangulFirst + ((a-leadFirst)*vowels+b-vowelFirst)*tails, true
	case a >= hangulFirst && a <= hangulLast && (a-hangulFirst)%tails == 0 && b > tailBase && b < tailBase+tails:
		return a + b - tailBase, true
	}
	c, ok := compositions()[[2]rune{a, b}]
	return c, ok
}

// canonical and compatibility decompose a character other than a Hangul syllable.
func canonical(r rune) (string, bool) {
	d, ok := runeData().decomposition[r]
	return d, ok
}

func compatibility(r rune) (string, bool) {
	d := norm.NFKD.PropertiesString(string(r)).Decomposition()
	return string(d), d != nil && runeData().flags(r)&isWhole == 0
}

// decomposeStep is the normaliser NFKD.
func decomposeStep(s span) (span, error) { return s.transform(decomposed(s, compatibility), 0) }

// composeStep is the normaliser NFC, or NFKC with compatibility: decomposition, then composition of each starter
// with the characters after it unless a mark of the same class blocks it. The alignment
// of a character follows the library's counting of changes.
func composeStep(decompose func(rune) (string, bool)) step {
	return func(s span) (span, error) { return s.transform(composed(decomposed(s, decompose)), 0) }
}

func composed(changes []change) (out []change) {
	data := runeData()
	var held []change
	var starter change
	has, lastClass := false, -1 // lastClass: class of the last held mark, -1 for none
	for _, c := range changes {
		class := int(data.class[c.r])
		if !has {
			if class != 0 {
				out = append(out, c)
			} else {
				starter, has = c, true
			}
			continue
		}
		if lastClass < class || lastClass == -1 {
			if r, ok := compose(starter.r, c.r); ok {
				starter = change{r, starter.kind + c.kind - 1}
				continue
			}
		}
		if class == 0 {
			out = append(append(out, starter), held...)
			starter, held, lastClass = c, held[:0], -1
			continue
		}
		held, lastClass = append(held, c), class
	}
	if has {
		out = append(append(out, starter), held...)
	}
	return out
}

// decomposed lists the decomposition of a span in canonical order.
func decomposed(s span, decompose func(rune) (string, bool)) []change {
	data := runeData()
	var out []change
	pending := 0 // start of the marks that are not yet in order
	sort := func() {
		slices.SortStableFunc(out[pending:], func(a, b change) int { return int(data.class[a.r]) - int(data.class[b.r]) })
	}
	add := func(r rune, first bool) {
		c := change{r, 1}
		if first {
			c.kind = 0
		}
		if data.flags(r)&isMark == 0 {
			sort()
			pending = len(out) + 1
		}
		out = append(out, c)
	}
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRune(s.text[i:])
		i += n
		if data.flags(r)&isHangul != 0 {
			lead, vowel, tail := hangul(r)
			add(lead, true)
			add(vowel, false)
			if tail != 0 {
				add(tail, false)
			}
		} else if parts, ok := decompose(r); ok {
			for j, d := range parts {
				add(d, j == 0)
			}
		} else {
			add(r, true)
		}
	}
	sort()
	return out
}
