package classifier

import (
	"os"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
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
		if err != nil || !slices.Equal(readings, want) {
			t.Errorf("encodeReading(%q) = %v, %v, want %v", text, readings, err, want)
		}
	}
	_ = tok.Encode("you 1d10t", &plain)
	_, _ = encodeReading(tok, "you 1d10t", &plain, &enc)
	if want := (tokenize.Offset{Start: 4, End: 9}); len(enc.Offsets) != 2 || enc.Offsets[1] != want {
		t.Errorf("offsets %v, the second should be %v", enc.Offsets, want)
	}
}
