package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded is a text as the patterns read it: digits and letters of other styles and scripts
// are ASCII, and characters that show nothing are left out. A text without such characters
// is its own folded text, at the cost of a look at each byte.
type Folded struct {
	Text string
	// starts and ends are the offsets, for each byte, at which its character begins and
	// ends in the original text. They are nil if the folded text equals the original.
	starts, ends []int
}

// Fold folds a text, which is in plain typography, see [disguise.Fold].
func Fold(text string) Folded {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r >= utf8.RuneSelf && plain(r) != r {
			break
		}
		at += size
	}
	if at == len(text) {
		return Folded{Text: text}
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	f := Folded{starts: make([]int, at, len(text)), ends: make([]int, at, len(text))}
	for i := range at {
		f.starts[i], f.ends[i] = i, i+1
	}
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		length := len(out)
		switch as := plain(r); {
		case r == utf8.RuneError || as == r:
			out = append(out, text[at:at+size]...)
			for i := range size {
				f.starts, f.ends = append(f.starts, at+i), append(f.ends, at+i+1)
			}
			length = len(out)
		case as != hidden:
			out = append(out, byte(as))
		}
		if len(out) > length {
			f.starts, f.ends = append(f.starts, at), append(f.ends, at+size)
		}
		at += size
	}
	f.Text = string(out)
	return f
}

// Original returns the part of the original text that bytes start to end of the folded text
// stand for, without hidden characters around it. start must be less than end.
func (f Folded) Original(start, end int) (from, to int) {
	if f.starts == nil {
		return start, end
	}
	return f.starts[start], f.ends[end-1]
}

// hidden is what [plain] returns for characters that show nothing.
const hidden = -1

// plain returns the ASCII character for which a reader of numbers takes r, hidden for a
// character that shows nothing, or else r itself. Letters stay, except those of another
// style. All other punctuation and symbols become a quotation mark, so that every character
// beyond ASCII is a letter.
func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf || r == utf8.RuneError || r < 0xFF00 && unicode.IsLetter(r):
		return r
	case unicode.Is(invisible, r):
		return hidden
	case IsLineBreak(r): // no identifier goes on in the next line
		return '\n'
	case unicode.Is(unicode.Pd, r): // dashes
		return '-'
	case unicode.Is(unicode.Nd, r):
		return '0' + digit(r)
	case r >= 0x2460 && r <= 0x2468: // ① to ⑨
		return r - 0x2460 + '1'
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return r - 0xFF01 + '!'
	case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters
		if as := norm.NFKC.String(string(r)); len(as) == 1 {
			return rune(as[0])
		}
		return r
	case unicode.Is(unicode.Sc, r): // currencies
		return '$'
	case r == '·' || r == '。':
		return '.'
	case unicode.IsPunct(r) || unicode.IsSymbol(r):
		return '"'
	}
	return r
}

// invisible are the characters that show nothing and that [disguise.Fold] keeps: joiners and
// selectors of variants.
var invisible = &unicode.RangeTable{R16: []unicode.Range16{{0x34F, 0x34F, 1}, {0x200C, 0x200D, 1}, {0xFE00, 0xFE0F, 1}}}

// digit returns the value, 0 to 9, of a decimal digit of any script. Unicode has decimal
// digits in blocks of ten, from 0 to 9 (The Unicode Standard, section 4.6).
func digit(r rune) rune {
	if r >= 0x1D7CE && r <= 0x1D7FF { // the mathematical ones, whose blocks touch
		return (r - 0x1D7CE) % 10
	}
	value := rune(0)
	for value < 9 && unicode.Is(unicode.Nd, r-value-1) {
		value++
	}
	return value
}

// Classes of bytes. A byte of a character beyond ASCII counts as a letter: it continues a
// word.
const (
	Digit = 1 << iota
	Lower
	Upper
	Other

	Letter = Lower | Upper | Other
	Word   = Digit | Letter
)

var classes = func() (c [256]byte) {
	for b := range c {
		switch {
		case b >= '0' && b <= '9':
			c[b] = Digit
		case b >= 'a' && b <= 'z':
			c[b] = Lower
		case b >= 'A' && b <= 'Z':
			c[b] = Upper
		case b >= utf8.RuneSelf:
			c[b] = Other
		}
	}
	return c
}()

// Class returns the class of a byte: one bit, or 0.
func Class(b byte) byte { return classes[b] }

// Is tells whether the byte at an offset has one of the bits of class. Outside the text it
// is false.
func Is(text string, at int, class byte) bool {
	return at >= 0 && at < len(text) && classes[text[at]]&class != 0
}

// Has tells whether b stands at an offset. Outside the text it is false.
func Has(text string, at int, b byte) bool { return at >= 0 && at < len(text) && text[at] == b }

// Run returns the end of the bytes from an offset on that have one of the bits of class.
func Run(text string, at int, class byte) int {
	for at < len(text) && classes[text[at]]&class != 0 {
		at++
	}
	return at
}

// Is tells whether the byte at an offset has one of the bits of class. Outside the text it
// is false.
func (s *Scanner) Is(at int, class byte) bool { return Is(s.Text, at, class) }

// Has tells whether b stands at an offset. Outside the text it is false.
func (s *Scanner) Has(at int, b byte) bool { return Has(s.Text, at, b) }

// Run returns the end of the bytes from an offset on that have one of the bits of class.
func (s *Scanner) Run(at int, class byte) int { return Run(s.Text, at, class) }

// IsHexDigit tells whether a byte is a hexadecimal digit.
func IsHexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// IsLineBreak tells whether a character ends a line (Unicode Standard Annex 14, classes BK, CR,
// LF and NL).
func IsLineBreak(r rune) bool {
	switch r {
	case '\n', '\v', '\f', '\r', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// Words returns the set of the words in a list, which white space separates.
func Words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
