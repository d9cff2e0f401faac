package main

import "testing"

// What a terminal shows of a text cannot steer it.
func TestPrintable(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain, grün, 日本語, 😀\n", "plain, grün, 日本語, 😀\n"},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`},
		{"a\r\x08b\x7f\u009b", `a\x0d\x08b\x7f\x9b`},
		{"\u202eabc\u2066\ufeff\u200b", `\u202eabc\u2066\ufeff\u200b`},
		{"\U000e0041\U0010fffd", `\U000e0041\U0010fffd`},
		{"👩\u200d🚀", "👩\u200d🚀"},
		{"a\tb", "a    b"},
		{"\xff\xfe", `\xff\xfe`},
	} {
		if got := printable(test.in); got != test.want {
			t.Errorf("printable(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

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
