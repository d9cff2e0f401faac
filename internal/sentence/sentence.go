// Package sentence finds the sentences of a text:
//
//	sentence.Ends("Go away. Now!") // [9 13]
package sentence

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxRun is the number of characters without a letter or a number after which a
// sentence ends. Some rules look ahead from each of them, so that a text of nothing
// else would take quadratic time.
const maxRun = 32

// Ends returns the byte offsets at which the sentences of a text end, ascending; the
// last one is the length of the text. Sentences are those of Unicode Standard Annex
// #29, each with the white space after it. Pieces without letters, numbers and
// symbols, such as empty lines, belong to the sentence before them, or to the first
// one. None ends inside a word that has a stop in place of a letter ("b!tch", "i d ! o t").
// An empty text has none.
func Ends(text string) []int {
	var ends []int
	at, goesOn := 0, false
	for at < len(text) {
		state := -1
		for rest := text[at : at+calm(text[at:])]; rest != ""; {
			var sentence string
			sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
			at += len(sentence)
			last, inside := len(ends)-1, insideWord(text, at)
			// White space at the beginning has no sentence before it.
			if last >= 0 && (goesOn || nothingIn(sentence) && !inside || last == 0 && nothingIn(text[:ends[0]])) {
				ends[last] = at
			} else {
				ends = append(ends, at)
			}
			goesOn = inside
		}
	}
	return ends
}

// calm returns the length in bytes of the beginning of a text that has no run of
// more than maxRun characters without a letter or a number.
func calm(text string) int {
	run := 0
	for i, c := range text {
		switch {
		case unicode.IsLetter(c) || unicode.IsNumber(c):
			run = 0
		case unicode.IsMark(c) || unicode.Is(unicode.Cf, c): // belongs to the character before it
		default:
			if run++; run > maxRun {
				return i
			}
		}
	}
	return len(text)
}

// nothingIn reports whether a piece of a text has nothing that could be scored.
// Symbols could be: they include emoji.
func nothingIn(piece string) bool {
	return strings.IndexFunc(piece, func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsSymbol(c)
	}) < 0
}

// insideWord reports whether an end by the rules of Unicode lies inside a word: between two
// characters of ASCII without a blank, unless several stops or a capital behind a small letter
// show that the blank was forgotten (Stop!Now); or behind an exclamation mark in a row of
// single letters with a blank between.
func insideWord(text string, end int) bool {
	if end < 2 || end >= len(text) || !isInk(text[end]) {
		return false
	}
	if last, before := text[end-1], text[end-2]; isInk(last) {
		several := last == before && isStop(last) || isStop(last) && isStop(before) && last != '.' && before != '.'
		forgotten := before >= 'a' && before <= 'z' && text[end] >= 'A' && text[end] <= 'Z'
		return !several && !forgotten
	}
	single := func(at int) bool {
		return at >= 0 && at < len(text) && isInk(text[at]) && (at == 0 || text[at-1] == ' ') &&
			(at+1 == len(text) || text[at+1] == ' ' || strings.IndexByte(".,;:!?\"')", text[at+1]) >= 0)
	}
	return text[end-2:end] == "! " && single(end-2) && single(end) && (single(end-4) || single(end+2))
}

func isStop(b byte) bool { return b == '.' || b == '!' || b == '?' }

// isInk reports whether a byte is a character of ASCII that is no blank.
func isInk(b byte) bool { return b > ' ' && b < 0x7F }
