package tokenize

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What Hugging Face's tokenizers does with a character. The library mixes several versions
// of Unicode, and none is Go's: a flag starts from Go's tables (goFlags), and differences,
// in tables.go, correct it. TestCharacters compares the sum with what the library itself
// does with every code point.
const (
	isRemoved     = 1 << iota // clean_text removes it
	isSpace                   // white space
	isPunctuation             // a separate word
	isChinese                 // handle_chinese_chars puts blanks around it
	isAccent                  // strip_accents removes it, after decomposition
	isWord                    // \w, which single_word of an added token asks for
	isComposed                // decomposes, other than Hangul
	isHangul                  // decomposes by arithmetic
	isCased                   // lowercase changes it
	isMark                    // has a combining class: decomposition may reorder it
	isLetter                  // \p{L} of a regular expression in tokenizer.json
	isNumber                  // \p{N} of a regular expression in tokenizer.json
	isNumeric                 // the pre-tokenizer Digits splits it off
	isCombining               // the normaliser StripAccents removes it
	isJoined                  // belongs to the character before it; unknown to uniseg
	isWhole                   // does not decompose, though Go says so
)

// All characters that decompose are in composedStretches, and all that have a combining
// class are before markEnd. Asking norm about every code point would take 10 ms.
const markEnd = 0x20000

var composedStretches = [][2]rune{{0xC0, 0x33FF}, {0xF900, 0xFB4F}, {0x11000, 0x11FFF}, {0x1D100, 0x1D1FF}, {0x2F800, 0x2FA1F}}

// The blocks of a two-stage table; 128 code points suit how scripts are laid out.
const blockBits = 7

type runeTable struct {
	index         [(utf8.MaxRune + 1) >> blockBits]uint16
	blocks        [][1 << blockBits]uint16
	decomposition map[rune]string
	class         map[rune]uint8 // canonical combining class
}

// runeData is built when the first tokenizer is loaded, in less than two milliseconds,
// rather than at program start.
var runeData = sync.OnceValue(buildRuneTable)

func (t *runeTable) flags(r rune) uint16 {
	return t.blocks[t.index[r>>blockBits]][r&(1<<blockBits-1)]
}

func isBlank(r rune) bool { return runeData().flags(r)&isSpace != 0 }

func buildRuneTable() *runeTable {
	flat := goFlags()
	for _, d := range differences {
		for _, r := range d.missing {
			for c := r[0]; c <= r[1]; c++ {
				flat[c] |= d.flag
			}
		}
		for _, r := range d.extra {
			for c := r[0]; c <= r[1]; c++ {
				flat[c] &^= d.flag
			}
		}
	}
	t := &runeTable{decomposition: make(map[rune]string, 2100), class: make(map[rune]uint8, 1024)}
	for _, r := range composedStretches {
		for c := r[0]; c <= r[1]; c++ {
			if flat[c]&isComposed != 0 {
				t.decomposition[c] = string(norm.NFD.PropertiesString(string(c)).Decomposition())
			}
		}
	}
	for c := range rune(markEnd) {
		if flat[c]&isMark != 0 {
			t.class[c] = norm.NFD.PropertiesString(string(c)).CCC()
		}
	}
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

// goFlags has, for every code point, the flags that Go's tables suggest.
func goFlags() []uint16 {
	flat := make([]uint16, utf8.MaxRune+1)
	mark := func(flags uint16, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			for _, r := range table.R16 {
				for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
					flat[c] |= flags
				}
			}
			for _, r := range table.R32 {
				for c := r.Lo; c <= r.Hi; c += r.Stride {
					flat[c] |= flags
				}
			}
		}
	}
	mark(isRemoved, unicode.Cc, unicode.Cf, unicode.Co)
	mark(isSpace, unicode.White_Space)
	mark(isPunctuation, unicode.P)
	mark(isLetter|isWord, unicode.L)
	mark(isCombining|isWord, unicode.M)
	mark(isAccent, unicode.Mn)
	mark(isNumber|isNumeric, unicode.N)
	mark(isWord, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
	for c := rune(hangulFirst); c <= hangulLast; c++ {
		flat[c] |= isHangul
	}
	for _, cases := range [][]unicode.CaseRange{unicode.CaseRanges, newCases} {
		for _, r := range cases {
			for c := rune(r.Lo); c <= rune(r.Hi); c++ {
				if toLower(c) != c {
					flat[c] |= isCased
				}
			}
		}
	}
	for c := range rune(markEnd) {
		if flat[c]&isCombining != 0 && norm.NFD.PropertiesString(string(c)).CCC() != 0 {
			flat[c] |= isMark
		}
	}
	for _, r := range composedStretches {
		for c := r[0]; c <= r[1]; c++ {
			if norm.NFD.PropertiesString(string(c)).Decomposition() != nil {
				flat[c] = flat[c]&^(isAccent|isMark) | isComposed
			}
		}
	}
	return flat
}

func toLower(r rune) rune {
	if l := unicode.ToLower(r); l != r {
		return l
	}
	return newCases.ToLower(r)
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
