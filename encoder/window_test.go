package encoder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/tokenize"
)

// byWords returns the offsets of a text's words, one token per word.
func byWords(text string) []tokenize.Offset {
	var offsets []tokenize.Offset
	at := 0
	for _, word := range strings.Fields(text) {
		at += strings.Index(text[at:], word)
		offsets = append(offsets, tokenize.Offset{Start: int32(at), End: int32(at + len(word))})
		at += len(word)
	}
	return offsets
}

func TestDivideKeepsShortTextsWhole(t *testing.T) {
	for _, text := range []string{"", "one", "one two three four"} {
		offsets := byWords(text)
		got := divide(text, offsets, 4, 2)
		if want := []window{{0, len(offsets), 0, len(offsets)}}; !slices.Equal(got, want) {
			t.Errorf("divide(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestDivideBreaksAtSentences(t *testing.T) {
	//       0   1   2    3   4   5    6   7    8   9   10   11  12
	text := "One two tre. Two two two. Tre tre\ntre tre for. Fiv fiv"
	got := divide(text, byWords(text), 7, 3)
	// Seven words end inside a line: the last break in their second half is
	// before word 6. The next window begins with the sentence that starts within
	// the three words before it and ends at the line break.
	want := "[{0 6 0 5} {3 8 5 7} {6 13 7 13}]"
	if fmt.Sprint(got) != want {
		t.Errorf("windows %v, want %v", got, want)
	}
}

// For any text, every token belongs to exactly one window, which sees it,
// and no window is larger than the limit.
func TestDivideCoversEveryTokenOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range random.IntN(200) {
			b.WriteString([]string{"word ", "end. ", "line\n", "字。", "why? ", "1.5 "}[random.IntN(6)])
		}
		text := b.String()
		offsets := byWords(text)
		size := 4 + random.IntN(40)
		overlap := random.IntN(size/2 + 1)
		next := 0
		for i, w := range divide(text, offsets, size, overlap) {
			wrong := ""
			switch {
			case w.from != next:
				wrong = "does not own the next token"
			case w.to < w.from:
				wrong = "owns less than nothing"
			case w.start > w.from, w.to > w.end:
				wrong = "owns tokens that it does not see"
			case w.end-w.start > size:
				wrong = "is too large"
			}
			if wrong != "" {
				t.Fatalf("window %d %+v after token %d %s, with size %d and overlap %d over %q", i, w, next, wrong, size, overlap, text)
			}
			next = w.to
		}
		if next != len(offsets) {
			t.Fatalf("%d of %d tokens covered of %q", next, len(offsets), text)
		}
	}
}
