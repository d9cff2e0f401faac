package terminal_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/internal/terminal"
)

// An escaped text cannot control a terminal.
func TestEscape(t *testing.T) {
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
		if got := terminal.Escape(test.in); got != test.want {
			t.Errorf("terminal.Escape(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// No end is cut inside a character.
func TestEnds(t *testing.T) {
	head, tail := terminal.Ends("äöüäöüäöü", 7)
	if head != "ä" || tail != "ü" {
		t.Errorf("%q and %q", head, tail)
	}
	if head, tail = terminal.Ends("short", 7); head != "short" || tail != "" {
		t.Errorf("%q and %q", head, tail)
	}
}
