package encoder

import (
	"testing"

	"github.com/toxscreen/toxscreen/tokenize"
)

func TestShapesOfTokens(t *testing.T) {
	for token, want := range map[string]int64{
		"": noLetter, "-": noLetter, "²": noLetter, "42": digits, "4-2": digits, "٣": digits, "anna": lower, "o'b": lower, "中": lower,
		"A": title, "Anna": title, "É": title, "NASA": upper, "A1B": upper, "iPhone": mixed, "McCoy": mixed,
	} {
		if got := lettersOf(token); got != want {
			t.Errorf("%q: %d, want %d", token, got, want)
		}
	}
}

// A token that begins where the one before ends is another shape: "@ anna" is not "@anna".
func TestGluedTokens(t *testing.T) {
	const text = "@anna @ anna"
	offsets := []tokenize.Offset{{Start: 0, End: 1}, {Start: 1, End: 5}, {Start: 6, End: 7}, {Start: 8, End: 12}}
	for i, want := range []int64{noLetter, lower + glued, noLetter, lower} {
		if got := shapeOf(text, offsets, i); got != want {
			t.Errorf("token %d: %d, want %d", i, got, want)
		}
	}
}
