package terminal

import "testing"

func TestBar(t *testing.T) {
	for _, test := range []struct {
		score, threshold float64
		want             string
	}{
		{0, 0.5, "|·····┃····"},
		{0.25, 0.5, "██▌|··┃····"},
		{0.75, 0.5, "█████┃█▌|··"},
		{1, 1, "█████████┃|"},
		{0.5, 0, "┃████|·····"},
	} {
		filled, rest := bar(10, test.score, test.threshold)
		if got := filled + "|" + rest; got != test.want {
			t.Errorf("bar(%v, %v) = %s, want %s", test.score, test.threshold, got, test.want)
		}
	}
}
