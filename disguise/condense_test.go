package disguise_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/disguise"
)

// Words in an address are names: whoever shares "…/wiki/Dick_Van_Dyke" insults nobody.
func TestCutLinks(t *testing.T) {
	for text, want := range map[string]string{
		"See https://example.org/wiki/Dickcissel for birds.":           "See \n for birds.",
		"(https://example.org/Foo_(bar)), [a](http://x.org/b).":        "(\n), [a](\n).",
		"www.example.org/a?b#c, then example.com/r/stupid!":            "\n, then \n!",
		"http://user@localhost:8080/a ftp://192.0.2.1 https://[::1]/b": "\n \n \n",
		"https://EXAMPLE.co.uk:443/?q=idiot.":                          "\n.",
		"<https://example.org/a> \"https://a.example/b\"":              "<\n> \"\n\"",
		"https://münchen.de/straße https://xn--mnchen-3ya.de/x":        "\n \n",
		// No server can have these names: they are what somebody says.
		"https://you.are.an.idiot/ http://idiot/ https:// a://b":     "https://you.are.an.idiot/ http://idiot/ https:// a://b",
		"and/or he.is/was 1/2 me@example.org/x /r/a ../b.com/ www.a": "and/or he.is/was 1/2 me@example.org/x /r/a ../b.com/ www.a",
		"example.org": "example.org",
	} {
		r := disguise.Reading{Text: text}.CutLinks()
		if r.Text != want {
			t.Errorf("%q without links is %q, want %q", text, r.Text, want)
		}
		checkReading(t, text, r)
	}
}

// A run of signs says what its beginning says. All of it counts as one: what is marked in what
// is left is marked in the whole run.
func TestCutRuns(t *testing.T) {
	stops := strings.Repeat(".", 64)
	for name, test := range map[string]struct{ text, want string }{
		"stops":                 {"so" + strings.Repeat(".", 5000) + "no", "so" + stops + "no"},
		"64 stops":              {"so" + stops + "no", "so" + stops + "no"},
		"signs of many kinds":   {"a" + strings.Repeat("!?.-;=", 50) + " b", "a" + strings.Repeat("!?.-;=", 11)[:64] + " " + "b"},
		"a line break stays":    {"a" + strings.Repeat("-", 100) + "\n\n" + "b", "a" + strings.Repeat("-", 64) + "\nb"},
		"wide signs":            {strings.Repeat("。", 100), strings.Repeat("。", 64)},
		"one letter":            {"w" + strings.Repeat("o", 5000) + "w", "w" + strings.Repeat("o", 256) + "w"},
		"one word":              {strings.Repeat("ha ", 5000), strings.Repeat("ha ", 85)},
		"a picture":             {"a" + strings.Repeat("😀", 5000) + "b", "a" + strings.Repeat("😀", 64) + "b"},
		"repeated 500 bytes":    {strings.Repeat("ab", 250), strings.Repeat("ab", 250)},
		"sentences":             {strings.Repeat("You are kind. ", 500), strings.Repeat("You are kind. ", 500)},
		"a table of one column": {strings.Repeat("| - |\n", 200), strings.Repeat("| - |\n", 11)[:64] + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := disguise.Reading{Text: test.text}.CutRuns()
			if r.Text != test.want {
				t.Fatalf("%q is left, want %q", r.Text, test.want)
			}
			checkReading(t, test.text, r)
		})
	}
	text := "you " + strings.Repeat("idiot ", 100) + "!"
	r := disguise.Reading{Text: text}.CutRuns()
	if start, end := r.Original(4, 9); text[start:end] != strings.Repeat("idiot ", 100) {
		t.Errorf("the first of a hundred words stands for %q", text[start:end])
	}
}

// FuzzCondense: runs of any kind, also beside each other, lead back in order, and cutting again
// changes nothing.
func FuzzCondense(f *testing.F) {
	f.Add("a.", "ha ", "https://example.org/b", uint16(300), uint16(200))
	f.Add("😀", "\xff", "é-", uint16(700), uint16(99))
	f.Fuzz(func(t *testing.T, one, two, three string, n, m uint16) {
		if len(one)*int(n%1024)+len(two)*int(m%1024) > 20_000 {
			t.Skip()
		}
		text := three + strings.Repeat(one, int(n%1024)) + three + strings.Repeat(two, int(m%1024)) + three
		for _, cut := range []func(disguise.Reading) disguise.Reading{disguise.Reading.CutRuns, disguise.Reading.CutLinks} {
			r := cut(disguise.Reading{Text: text})
			checkReading(t, text, r)
			if again := cut(disguise.Reading{Text: r.Text}); utf8.ValidString(text) && again.Text != r.Text {
				t.Errorf("%q is cut to %q, and then to %q", text, r.Text, again.Text)
			}
		}
	})
}

// BenchmarkCondense: prose costs a fraction of what its tokens cost, and no memory.
func BenchmarkCondense(b *testing.B) {
	prose := strings.Repeat("Thank you, that was a great help. I'll mend the other 12 pages (of 2019) tomorrow. ", 12)
	for name, text := range map[string]string{
		"prose":   prose,
		"links":   strings.Repeat("Thank you, see https://example.org/wiki/Page and www.example.com/a for the other pages. ", 12),
		"stops":   strings.Repeat(".", len(prose)),
		"slashes": strings.Repeat("a/", len(prose)/2),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				disguise.Reading{Text: text}.CutRuns().CutLinks()
			}
		})
	}
}
