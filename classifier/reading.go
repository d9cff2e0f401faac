package classifier

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

// encodeReading fills enc with the tokens of text with disguise undone; the offsets
// point into text itself. It returns the words that are read differently. plain must be
// the encoding of text. If the model would see the same ids as in plain, encodeReading
// returns nil and enc must not be used. With a normaliser that drops accents or invisible
// characters, many readings have the same ids as their text.
func encodeReading(t *tokenize.Tokenizer, text string, plain, enc *tokenize.Encoding) ([]toxscreen.Reading, error) {
	reading := disguise.Read(text, t)
	if reading.Text == text {
		return nil, nil
	}
	if err := t.Encode(reading.Text, enc); err != nil {
		return nil, err
	}
	if slices.Equal(plain.IDs, enc.IDs) {
		return nil, nil
	}
	for i, o := range enc.Offsets {
		if o.Start < o.End {
			start, end := reading.Original(int(o.Start), int(o.End))
			enc.Offsets[i] = tokenize.Offset{Start: int32(start), End: int32(end)}
		}
	}
	var changed []toxscreen.Reading
	for _, c := range reading.Changes() {
		changed = append(changed, toxscreen.Reading(c))
	}
	return changed, nil
}
