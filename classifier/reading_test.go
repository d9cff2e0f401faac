package classifier

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/internal/sentence"
	"github.com/toxscreen/toxscreen/tokenize"
)

// TestEncodeReading: offsets point into the given text, and a reading with the same
// ids as the text does not differ.
func TestEncodeReading(t *testing.T) {
	data, err := os.ReadFile("../models/toxicity-en/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenize.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	var plain, enc tokenize.Encoding
	for text, want := range map[string][]toxscreen.Reading{
		"you 1d10t":             {{Start: 4, End: 9, ReadAs: "idiot"}},
		"a plain text":          nil,
		"i\u200bd\u200biot":     nil, // BERT drops zero-width characters
		"\u00efdi\u0335ot":      nil, // and accents
		"you \u0456diot, 1d10t": {{Start: 4, End: 10, ReadAs: "idiot"}, {Start: 12, End: 17, ReadAs: "idiot"}},
	} {
		if err := tok.Encode(text, &plain); err != nil {
			t.Fatal(err)
		}
		readings, err := encodeReading(tok, text, &plain, &enc)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(readings, want) {
			t.Errorf("encodeReading(%q) = %v, want %v", text, readings, want)
		}
	}
	if err := tok.Encode("you 1d10t", &plain); err != nil {
		t.Fatal(err)
	}
	if _, err := encodeReading(tok, "you 1d10t", &plain, &enc); err != nil {
		t.Fatal(err)
	}
	if want := []tokenize.Offset{{Start: 0, End: 3}, {Start: 4, End: 9}}; !slices.Equal(enc.Offsets, want) {
		t.Errorf("offsets %v, want %v", enc.Offsets, want)
	}
}

// No sentence ends inside words that are read as one: a caller who scores sentence by sentence
// must not get two harmless halves.
func TestSentencesKeepReadings(t *testing.T) {
	data, err := os.ReadFile("../models/toxicity-en/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenize.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, word := range []string{"idiot", "bitch", "stupid", "asshole", "shit", "fucking", "disgusting", "kill"} {
		for _, alike := range []*strings.Replacer{
			strings.NewReplacer("i", "!"), strings.NewReplacer("i", "!", "s", "$", "o", "0"), strings.NewReplacer("a", "@", "s", "$", "i", "!"), strings.NewReplacer(),
		} {
			for _, gap := range []string{"", " ", ".", "-", "_", "*"} {
				for _, capitals := range []bool{false, true} {
					disguised := strings.Join(strings.Split(alike.Replace(word), ""), gap)
					if capitals {
						disguised = strings.ToUpper(disguised)
					}
					text := "Well. You " + disguised + "! Go."
					r := Seen(text)
					read := disguise.Read(r.Text, tok)
					for _, change := range read.Changes() {
						found++
						for _, end := range sentence.Ends(text) {
							if change.Start < end && end < change.End {
								t.Errorf("a sentence of %q ends inside %q at %d", text, text[change.Start:change.End], end)
							}
						}
					}
				}
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d words are read", found)
	}
}
