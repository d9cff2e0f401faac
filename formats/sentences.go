package formats

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/toxscreen/toxscreen"
)

// Part is a piece of a text, as [Sentences] cuts it, and what it scores by
// itself.
type Part struct {
	Text   string
	Result toxscreen.Result
}

// maxRun is after how many characters without a letter or a number a sentence
// ends: some of the rules look ahead from every one of them, and a text of
// nothing else would take time with its square.
const maxRun = 32

// Sentences cuts a text into its sentences as Unicode Standard Annex #29 has
// them, each with the blanks behind it, so that together they are the text. What
// has nothing to score, such as an empty line, belongs to the sentence before
// it. Of more than most sentences, neighbours are one piece.
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
			// Blanks at the beginning have no sentence before them.
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

// calm returns how much of the beginning of a text has no run of more than
// maxRun characters without a letter or a number.
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

// nothingIn tells whether a piece of a text has nothing that could be scored.
// Symbols can be: emoji are such.
func nothingIn(piece string) bool {
	return strings.IndexFunc(piece, func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsSymbol(c)
	}) < 0
}

// utf16Len returns how many UTF-16 code units a text has. What is not valid
// UTF-8 counts one a byte, as in [toxscreen.Result.In].
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

// codePoints returns how many code points a text has, counted likewise.
func codePoints(text string) int { return utf8.RuneCountInString(text) }
