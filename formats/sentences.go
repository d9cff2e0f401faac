package formats

import (
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/sentence"
)

// Part is a piece of a text, as [Sentences] splits it, with its own result.
type Part struct {
	Text   string
	Result toxscreen.Result
}

// Sentences splits a text into its sentences, see [sentence.Ends]: joined, they are
// the text. There are at most most pieces: of more sentences, neighbours are joined.
// An empty text has none.
func Sentences(text string, most int) []string {
	ends := sentence.Ends(text)
	each := (len(ends) + most - 1) / most
	var pieces []string
	for begin := 0; len(ends) > 0; {
		n := min(each, len(ends))
		pieces = append(pieces, text[begin:ends[n-1]])
		begin, ends = ends[n-1], ends[n:]
	}
	return pieces
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
