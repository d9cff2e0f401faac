package classifier

import (
	"slices"

	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

// encodeReading fills enc with the tokens of text with disguise undone; the offsets
// point into text itself. plain must be the encoding of text. If the model would see
// the same ids as in plain, encodeReading returns false and enc must not be used. With
// a normaliser that drops accents or invisible characters, many readings have the same
// ids as their text.
func encodeReading(t *tokenize.Tokenizer, text string, plain, enc *tokenize.Encoding) (differs bool, err error) {
	reading := disguise.Read(text, t)
	if reading.Text == text {
		return false, nil
	}
	if err := t.Encode(reading.Text, enc); err != nil {
		return false, err
	}
	if slices.Equal(plain.IDs, enc.IDs) {
		return false, nil
	}
	for i, o := range enc.Offsets {
		if o.Start < o.End {
			start, end := reading.Original(int(o.Start), int(o.End))
			enc.Offsets[i] = tokenize.Offset{Start: int32(start), End: int32(end)}
		}
	}
	return true, nil
}
