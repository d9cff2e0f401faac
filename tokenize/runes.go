package tokenize

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// What Hugging Face's tokenizers does with a character, measured on the library itself
// (scripts/make/tokenizer/tables.py): its Unicode versions are not Go's.
const (
	isRemoved     = 1 << iota // clean_text removes it
	isSpace                   // white space
	isPunctuation             // a separate word
	isChinese                 // handle_chinese_chars puts blanks around it
	isAccent                  // strip_accents removes it, after decomposition
	isWord                    // \w
	isComposed                // decomposes, other than Hangul
	isHangul                  // decomposes by arithmetic
	isCased                   // lowercase changes it
	isMark                    // has a combining class: decomposition may reorder it
	isLetter                  // \p{L}
	isNumber                  // \p{N}
	isNumeric                 // the pre-tokenizer Digits splits it off
	isCombining               // the normaliser StripAccents removes it
	isJoined                  // belongs to the character before it; unknown to uniseg
)

// The blocks of a two-stage table; 128 code points suit how scripts are laid out.
const blockBits = 7

type runeTable struct {
	index         [(utf8.MaxRune + 1) >> blockBits]uint16
	blocks        [][1 << blockBits]uint16
	decomposition map[rune]string
	lowercase     map[rune]string
	class         map[rune]uint8 // canonical combining class
}

// runeData is built when the first tokenizer is loaded, in about a millisecond, rather
// than at program start.
var runeData = sync.OnceValue(buildRuneTable)

func (t *runeTable) flags(r rune) uint16 {
	return t.blocks[t.index[r>>blockBits]][r&(1<<blockBits-1)]
}

func isBlank(r rune) bool { return runeData().flags(r)&isSpace != 0 }

func buildRuneTable() *runeTable {
	t := &runeTable{
		decomposition: readMap(decompositions),
		lowercase:     readMap(lowercases),
		class:         make(map[rune]uint8, 1024),
	}
	flat := make([]uint16, utf8.MaxRune+1)
	mark := func(lo, hi rune, flag uint16) {
		for i := range flat[lo : hi+1] {
			flat[int(lo)+i] |= flag
		}
	}
	for _, p := range []struct {
		ranges [][2]rune
		flag   uint16
	}{
		{removedRanges, isRemoved}, {spaceRanges, isSpace}, {punctuationRanges, isPunctuation},
		{chineseRanges, isChinese}, {accentRanges, isAccent}, {wordRanges, isWord},
		{letterRanges, isLetter}, {numberRanges, isNumber}, {numericRanges, isNumeric}, {combiningMarkRanges, isCombining},
		{joinedRanges, isJoined},
	} {
		for _, r := range p.ranges {
			mark(r[0], r[1], p.flag)
		}
	}
	for _, r := range combiningRanges {
		mark(r[0], r[1], isMark)
		for c := r[0]; c <= r[1]; c++ {
			t.class[c] = uint8(r[2])
		}
	}
	for r := range t.decomposition {
		flat[r] |= isComposed
	}
	for r := range t.lowercase {
		flat[r] |= isCased
	}
	mark(hangulFirst, hangulLast, isHangul)

	seen := map[[1 << blockBits]uint16]uint16{}
	for i := range t.index {
		block := [1 << blockBits]uint16(flat[i<<blockBits:])
		at, ok := seen[block]
		if !ok {
			at = uint16(len(t.blocks))
			seen[block] = at
			t.blocks = append(t.blocks, block)
		}
		t.index[i] = at
	}
	return t
}

// readMap reads lines with a character and its replacement.
func readMap(lines string) map[rune]string {
	m := make(map[rune]string, 2100)
	for line := range strings.Lines(lines) {
		r, n := utf8.DecodeRuneInString(line)
		m[r] = strings.TrimSuffix(line[n:], "\n")
	}
	return m
}

// Hangul syllables and the letters they decompose into: Unicode 3.12,
// "Conjoining Jamo Behavior".
const (
	hangulFirst, hangulLast         = 0xAC00, 0xD7A3
	leadFirst, vowelFirst, tailBase = 0x1100, 0x1161, 0x11A7
	vowels, tails                   = 21, 28
)

// hangul returns the letters of a syllable; tail is 0 if it has none.
func hangul(r rune) (lead, vowel, tail rune) {
	s := r - hangulFirst
	lead, vowel, tail = leadFirst+s/(vowels*tails), vowelFirst+s%(vowels*tails)/tails, s%tails
	if tail > 0 {
		tail += tailBase
	}
	return lead, vowel, tail
}
