package formats

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/toxscreen/toxscreen"
)

// Part is a piece of a text, as [Sentences] splits it, with its own result.
type Part struct {
	Text   string
	Result toxscreen.Result
}

// maxRun is the number of characters without a letter or a number after which a
// sentence ends. Some rules look ahead from each of them, so that a text of nothing
// else would take quadratic time.
const maxRun = 32

// Sentences splits a text into sentences as defined by Unicode Standard Annex #29,
// each with the white space after it: joined, they are the text. Pieces without
// letters, numbers and symbols, such as empty lines, belong to the sentence before
// them. There are at most most pieces: of more sentences, neighbours are joined. An
// empty text has none.
func Sentences(text string, most int) []string {
	var ends []int
	at := 0
	for at < len(text) {
		state := -1
		for rest := text[at : at+calm(text[at:])]; rest != ""; {
			var sentence string
			sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
			at += len(sentence)
			last := len(ends) - 1
			// White space at the beginning has no sentence before it.
			if last >= 0 && (nothingIn(sentence) || last == 0 && nothingIn(text[:ends[0]])) {
				ends[last] = at
			} else {
				ends = append(ends, at)
			}
		}
	}
	each := (len(ends) + most - 1) / most
	var pieces []string
	for begin := 0; len(ends) > 0; {
		n := min(each, len(ends))
		pieces = append(pieces, text[begin:ends[n-1]])
		begin, ends = ends[n-1], ends[n:]
	}
	return pieces
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

// utf16Len returns the number of UTF-16 code units in a text. Each byte that is not
// valid UTF-8 counts as one, as in [toxscreen.Result.In].
func utf16Len(text string) int {
	n := 0
	for _, c := range text {
		n++
		if c > 0xFFFF {
			n++
		}
	}
	return n
}

// codePoints returns the number of code points in a text; bytes that are not valid
// UTF-8 count as in utf16Len.
func codePoints(text string) int { return utf8.RuneCountInString(text) }
