package classifier

import (
	"os"
	"testing"

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
	for text, want := range map[string]bool{
		"you 1d10t":             true,
		"a plain text":          false,
		"i\u200bd\u200biot":     false, // BERT drops zero-width characters
		"\u00efdi\u0335ot":      false, // and accents
		"you \u0456diot, 1d10t": true,
	} {
		if err := tok.Encode(text, &plain); err != nil {
			t.Fatal(err)
		}
		differs, err := encodeReading(tok, text, &plain, &enc)
		if err != nil || differs != want {
			t.Errorf("encodeReading(%q) = %v, %v, want %v", text, differs, err, want)
		}
	}
	_ = tok.Encode("you 1d10t", &plain)
	_, _ = encodeReading(tok, "you 1d10t", &plain, &enc)
	if want := (tokenize.Offset{Start: 4, End: 9}); len(enc.Offsets) != 2 || enc.Offsets[1] != want {
		t.Errorf("offsets %v, the second should be %v", enc.Offsets, want)
	}
}
