package pii

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as the patterns read it: digits and letters of other styles and scripts
// are ASCII, and characters that nobody sees are left out. A text without such characters
// is its own folded text and costs a look at each byte.
type folded struct {
	text string
	// starts and ends tell where in the original the character begins and ends that each
	// byte belongs to. They are nil if nothing was folded.
	starts, ends []int
}

func fold(text string) folded {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r >= utf8.RuneSelf && plain(r) != r {
			break
		}
		at += size
	}
	if at == len(text) {
		return folded{text: text}
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	f := folded{starts: make([]int, at, len(text)), ends: make([]int, at, len(text))}
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
	f.text = string(out)
	return f
}

// original returns the bytes of the original that bytes start to end of the folded text
// stand for, without hidden characters around them. It needs start < end.
func (f folded) original(start, end int) (from, to int) {
	if f.starts == nil {
		return start, end
	}
	return f.starts[start], f.ends[end-1]
}

// hidden is what [plain] returns for characters that nobody sees.
const hidden = -1

// plain returns the ASCII character that a reader takes r for where numbers stand, hidden
// for a character that shows nothing, or r itself. Letters stay unless they are of another
// style; all other punctuation and symbols become a quotation mark, so that what is not
// ASCII is a letter.
func plain(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r == 0xA0 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F || r == 0x3000:
		return ' '
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xFE58 || r == 0xFE63:
		return '-'
	case r == 0xAD || r == 0x34F || r == 0x61C || r == 0x180E || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E ||
		r >= 0x2060 && r <= 0x2064 || r >= 0x2066 && r <= 0x206F || r >= 0xFE00 && r <= 0xFE0F || r == 0xFEFF:
		return hidden
	case r >= 0xC0 && r < 0x660 && r != 0xD7 && r != 0xF7:
		return r // Latin with accents, Greek, Cyrillic, Hebrew: the bulk of what is not ASCII
	case r == 0xB7 || r == 0x2026 || r == 0x3002:
		return '.'
	case r == 0x2018 || r == 0x2019:
		return '\''
	case r >= 0x2460 && r <= 0x2468: // ① to ⑨
		return r - 0x2460 + '1'
	case unicode.Is(unicode.Sc, r):
		return '$'
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return r - 0xFF01 + '!'
	case r != utf8.RuneError && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
		return '"'
	case unicode.Is(unicode.Nd, r):
		return '0' + digit(r)
	case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters
		if as := norm.NFKC.String(string(r)); len(as) == 1 {
			return rune(as[0])
		}
	}
	return r
}

// digit returns the value of a decimal digit. Unicode has them in blocks of ten, from 0 to
// 9 (The Unicode Standard, section 4.6).
func digit(r rune) rune {
	zero := r
	for range 9 {
		if !unicode.Is(unicode.Nd, zero-1) {
			break
		}
		zero--
	}
	// Blocks may touch, as the mathematical digits do: 0x1D7CE is divisible by neither 10
	// nor 16, but all of them follow one another.
	if r >= 0x1D7CE && r <= 0x1D7FF {
		return (r - 0x1D7CE) % 10
	}
	return r - zero
}

// Classes of bytes. A byte of a character beyond ASCII counts as a letter: where it stands,
// a word goes on.
const (
	digitClass = 1 << iota
	lowerClass
	upperClass
	otherClass

	letterClass = lowerClass | upperClass | otherClass
	wordClass   = digitClass | letterClass
)

var classes = func() (c [256]byte) {
	for b := range c {
		switch {
		case b >= '0' && b <= '9':
			c[b] = digitClass
		case b >= 'a' && b <= 'z':
			c[b] = lowerClass
		case b >= 'A' && b <= 'Z':
			c[b] = upperClass
		case b >= utf8.RuneSelf:
			c[b] = otherClass
		}
	}
	return c
}()

// is tells whether the byte at an offset is of a class; it is not outside the text.
func is(text string, at int, class byte) bool {
	return at >= 0 && at < len(text) && classes[text[at]]&class != 0
}

// has tells whether a byte stands at an offset; it does not outside the text.
func has(text string, at int, b byte) bool { return at >= 0 && at < len(text) && text[at] == b }

// run returns the end of the run of bytes of a class that begins at an offset.
func run(text string, at int, class byte) int {
	for at < len(text) && classes[text[at]]&class != 0 {
		at++
	}
	return at
}
