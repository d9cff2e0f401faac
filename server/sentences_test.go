package server

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		why  string
		want []string // the text in its pieces
	}{
		{"a text of one sentence", []string{"You are an idiot"}},
		{"the example of Patronus, whose positions include the blank", []string{"What a fool! ", "Who do you think you are?"}},
		{"a dot that ends nothing", []string{"Version 2.5 is bad, e.g. the editor. ", "Go away."}},
		{"a quotation that goes on", []string{"\"You are stupid.\" he said. ", "She left."}},
		{"lines end sentences", []string{"no dot here\r\n", "nor here\n", "the end"}},
		{"empty lines belong to the sentence before", []string{"One.\n\n \n", "Two.\n"}},
		{"and those at the beginning to the first", []string{"\n\n  One. ", "Two."}},
		{"emoji are something to score, dots are not", []string{"Hello. ...\n", "\U0001F595"}},
		{"nothing but blanks", []string{" \n \n"}},
		{"bytes that are no UTF-8", []string{"a\xff\xfe. ", "B\xf0\x9f"}},
	} {
		text := strings.Join(c.want, "")
		if diff := cmp.Diff(c.want, split(text, 100)); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
	if got := split("", 100); len(got) > 0 {
		t.Errorf("an empty text: %q", got)
	}
}

// Beyond the limit, neighbouring sentences are joined.
func TestSentencesAreLimited(t *testing.T) {
	text := strings.Repeat("Go. ", 10)
	if diff := cmp.Diff([]string{"Go. Go. Go. Go. ", "Go. Go. Go. Go. ", "Go. Go. "}, split(text, 3)); diff != "" {
		t.Error(diff)
	}
}

// The rules look ahead, from every space to the next letter: without a limit, 1 MiB of
// spaces takes hours, and this test does not end.
func TestSentencesTakeTimeInProportion(t *testing.T) {
	for _, filler := range []string{" ", ")", "\u201d", "\u275d", " \u0301", ")1", "1 ", ". ", "a.", "\u200d)"} {
		text := "a. " + strings.Repeat(filler, 1<<20/len(filler))
		if got := strings.Join(split(text, maxSentences), ""); got != text {
			t.Errorf("%d bytes of %q became %d", len(text), filler, len(got))
		}
	}
}

func FuzzSentences(f *testing.F) {
	for _, text := range []string{"", "a. b", "\r\n\r", "e\u0301\u0301. \U0001F469\u200d\U0001F4BB!", "\xff.\xff", strings.Repeat("a. ) ", 50)} {
		f.Add(text, 5)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 1), 1000)
		pieces := split(text, most)
		if got := strings.Join(pieces, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if len(pieces) > most {
			t.Fatalf("%d pieces, more than %d", len(pieces), most)
		}
		at := 0
		for _, piece := range pieces {
			if piece == "" {
				t.Fatal("an empty piece")
			}
			at += len(piece)
			if at < len(text) && utf8.ValidString(text) && !utf8.RuneStart(text[at]) {
				t.Fatalf("%q is cut inside a character at %d", text, at)
			}
		}
	})
}
