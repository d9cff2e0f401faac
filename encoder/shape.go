package encoder

import (
	"unicode"

	"github.com/toxscreen/toxscreen/tokenize"
)

// The shapes of tokens. Networks are trained with these numbers: training/entities.py has
// the same.
const (
	noLetter int64 = iota // neither letters nor digits; also the special tokens
	lower
	title // the first letter is upper case, the others are not
	upper
	mixed
	digits // no letters
	glued  // added to the shape of a token that begins where the one before ends
)

// shapeOf returns the shape of token i of a text.
func shapeOf(text string, offsets []tokenize.Offset, i int) int64 {
	o, before := offsets[i], offsets[:i]
	shape := lettersOf(text[o.Start:max(o.Start, o.End)])
	if last := len(before) - 1; last >= 0 && before[last].End == o.Start {
		shape += glued
	}
	return shape
}

// lettersOf returns the shape of the text of a token, without its place.
func lettersOf(token string) int64 {
	letters, capitals, first, digit := 0, 0, false, false
	for _, c := range token {
		switch {
		case unicode.IsLetter(c):
			if unicode.IsUpper(c) {
				capitals++
				first = first || letters == 0
			}
			letters++
		case unicode.IsDigit(c):
			digit = true
		}
	}
	switch {
	case letters == 0 && digit:
		return digits
	case letters == 0:
		return noLetter
	case capitals == 0:
		return lower
	case first && capitals == 1:
		return title
	case capitals == letters:
		return upper
	}
	return mixed
}
