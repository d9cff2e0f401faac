package classifier

import (
	"slices"

	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

// encodeReading fills enc with the tokens of text as it is read once disguise is
// undone, with offsets that point into text itself. It reports false where the model
// would see the ids that plain has, which must be the encoding of text: enc is then
// not to be used. A normaliser that drops accents or invisible characters makes many
// readings the same as their text.
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
