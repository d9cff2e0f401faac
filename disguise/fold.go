package disguise

import (
	"html"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Fold returns a text in plain typography, as people write it who type ASCII's signs only:
//
//   - quotation marks and apostrophes of all shapes are ' and ", an ellipsis is three stops,
//     ligatures are their letters; a backtick is an apostrophe between two letters only,
//     since it quotes code elsewhere;
//   - blanks of all widths are a blank, line separators a line break, hyphens and minus signs
//     a hyphen; dashes stay;
//   - soft hyphens, zero-width blanks and marks of direction are left out; joiners, which
//     some scripts and emoji need, stay;
//   - character references of HTML (&#39;, &quot;, &amp;quot;) are the characters that they
//     stand for, if a semicolon ends them;
//   - UTF-8 that was read as Windows-1252 or Latin-1 (â€™, Ã©) is read again;
//   - regional-indicator letters are lower-case letters, unless all pairs in a row are the
//     flags of countries.
//
// Folding again changes nothing. Invalid UTF-8 is copied. A text in plain typography is
// returned as it is, without allocation. The time is linear in the length of the text.
func Fold(text string) Reading {
	r := Reading{Text: text, original: text}
	at := firstFoldable(text)
	if at == len(text) {
		return r
	}
	for at > 0 && byteKinds[text[at-1]] != blank { // no character is made of what blanks separate
		at--
	}
	f := folding{out: append(make([]byte, 0, len(text)), text[:at]...)}
	for at < len(text) {
		c, size := utf8.DecodeRuneInString(text[at:])
		if c == utf8.RuneError && size == 1 {
			f.settleFlags()
			f.settleBytes(0, at)
			f.copyInvalid(text[at], at)
		} else {
			f.put(c, stretch{at, at + size}, false)
		}
		at += size
	}
	f.settleFlags()
	f.settleBytes(0, len(text))
	if len(f.edits) > 0 {
		r.Text, r.steps = string(f.out), [][]edit{f.edits}
	}
	return r
}

// firstFoldable returns the offset from which on Fold may change a text: its length if it cannot.
func firstFoldable(text string) int {
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '&':
			if end := strings.IndexByte(text[i:min(len(text), i+maxReference)], ';'); end > 0 {
				return i
			}
		case b == '`':
			if i > 0 && isPlain(text[i-1]) && i+1 < len(text) && isPlain(text[i+1]) {
				return i
			}
		case b >= utf8.RuneSelf:
			c, size := utf8.DecodeRuneInString(text[i:])
			if _, changes := plainForm(c); changes || isRegional(c) {
				return i
			}
			if next, _ := utf8.DecodeRuneInString(text[i+size:]); sequenceLength(legacyByte(c)) > 0 && legacyByte(next) != 0 {
				return i
			}
			i += size - 1
		}
	}
	return len(text)
}

// folding writes a folded text. After each character it looks at the end of what is written:
// a character reference or a sequence of misread bytes that is complete is replaced by what
// it stands for. This is written like any other character and may complete another one, so
// that references in references (&amp;#8217;) and text that was misread twice take one pass,
// too.
type folding struct {
	out    []byte
	edits  []edit
	legacy []legacy   // what may be misread bytes since the last blank
	flags  []regional // regional-indicator letters that are not yet written
}

// legacy is a character that Windows-1252 or Latin-1 has as one byte beyond ASCII.
type legacy struct {
	b        byte
	from, to int // of the folded text; nothing for a soft hyphen
}

type regional struct {
	letter  byte // A to Z
	at      stretch
	decoded bool
}

// copyInvalid writes a byte that is not UTF-8. If the character before it was left out, the byte
// could complete a character together with invalid bytes before that one. It is then written as
// U+FFFD, which is how it is read anyway.
func (f *folding) copyInvalid(b byte, at int) {
	f.out = append(f.out, b)
	if _, size := utf8.DecodeLastRune(f.out); size > 1 {
		f.out = f.out[:len(f.out)-1]
		f.write("\uFFFD", stretch{at, at + 1})
	}
}

// put writes a character that bytes at of the text stand for. decoded says that these bytes are
// not the character itself, but a reference to it or misread bytes.
func (f *folding) put(c rune, at stretch, decoded bool) {
	b := legacyByte(c)
	plain, changes := plainForm(c)
	if changes && plain == "" && b == 0 { // between two characters it is as if it were not there
		f.settleFlags()
		f.write("", at)
		return
	}
	if isRegional(c) {
		f.settleBytes(c, at.start)
		f.flags = append(f.flags, regional{byte('A' + c - firstRegional), at, decoded})
		return
	}
	f.settleFlags()
	if b == 0 {
		f.settleBytes(c, at.start)
	}
	isLetter := changes && plain != "" && isPlain(plain[0]) || c < utf8.RuneSelf && isPlain(byte(c))
	if last := len(f.out) - 1; isLetter && last > 0 && f.out[last] == '`' && isPlain(f.out[last-1]) {
		f.write("'", stretch{f.cut(last), at.start})
	}
	from := len(f.out)
	switch {
	case changes:
		f.write(plain, at)
	case decoded:
		f.write(string(c), at)
	default:
		f.out = utf8.AppendRune(f.out, c)
	}
	switch {
	case b != 0:
		f.legacy = append(f.legacy, legacy{b, from, len(f.out)})
		if n := len(f.legacy); !f.readBytes(at.end) && from == len(f.out) {
			f.legacy = f.legacy[:n-1] // a soft hyphen
		}
	case c == ';':
		f.readReference(at.end)
	}
}

// write writes what stands for bytes at of the text.
func (f *folding) write(plain string, at stretch) {
	from := int32(len(f.out))
	f.out = append(f.out, plain...)
	if n := len(f.edits); plain == "" && n > 0 && f.edits[n-1].to == from && int(f.edits[n-1].end) == at.start && f.edits[n-1].from == from {
		f.edits[n-1].end = int32(at.end) // one edit for a row of characters that are left out
		return
	}
	f.edits = append(f.edits, edit{from, int32(len(f.out)), int32(at.start), int32(at.end)})
}

// cut removes what is written from an offset on, which is the beginning of a character, and
// returns where in the text that begins.
func (f *folding) cut(from int) (start int) {
	f.out = f.out[:from]
	for n := len(f.legacy); n > 0 && f.legacy[n-1].to > from; n-- {
		f.legacy = f.legacy[:n-1]
	}
	n := len(f.edits)
	// Characters that were left out before from stay, and so does their edit.
	for n > 0 && int(f.edits[n-1].to) > from {
		n--
	}
	f.edits = f.edits[:n]
	if n == 0 {
		return from
	}
	return from - int(f.edits[n-1].to) + int(f.edits[n-1].end)
}

// maxReference is the length of the longest character reference that has a name,
// &CounterClockwiseContourIntegral; with the & and the semicolon.
const maxReference = 33

// readReference replaces a character reference that has just been written, up to byte end of
// the text. References that stand for two characters, which are rare relations of
// mathematics, stay.
func (f *folding) readReference(end int) {
	from := len(f.out) - 2
	for lowest := max(0, len(f.out)-maxReference); from >= lowest && (byteKinds[f.out[from]]&(letter|digit) != 0 || f.out[from] == '#'); {
		from--
	}
	if from < 0 || f.out[from] != '&' {
		return
	}
	// Of &notit; the library reads &not only, so that more than one character remains.
	read := html.UnescapeString(string(f.out[from:]))
	if c, size := utf8.DecodeRuneInString(read); size == len(read) && c != utf8.RuneError {
		f.put(c, stretch{f.cut(from), end}, true)
	}
}

// readBytes replaces misread bytes that have just been written, up to byte end of the text,
// if they are the UTF-8 of a character that texts in Latin letters have: an accented letter
// or a sign of Latin-1, punctuation and symbols, a ligature or a mark of byte order, an emoji.
// Other sequences occur in text that was read correctly, such as É” at the end of a quotation.
// readBytes reports whether it replaced any.
func (f *folding) readBytes(end int) bool {
	for length := 2; length <= min(utf8.UTFMax, len(f.legacy)); length++ {
		first := len(f.legacy) - length
		if sequenceLength(f.legacy[first].b) != length {
			continue
		}
		var sequence [utf8.UTFMax]byte
		adjacent := true
		for i, l := range f.legacy[first:] {
			sequence[i] = l.b
			adjacent = adjacent && (i == 0 || l.from == f.legacy[first+i-1].to)
		}
		c, size := utf8.DecodeRune(sequence[:length])
		if !adjacent || size != length || c < 0xA0 || c > 0x2BFF && c < 0xFB00 || c > 0xFFFF && c>>12 != 0x1F {
			continue
		}
		f.put(c, stretch{f.cut(f.legacy[first].from), end}, true)
		return true
	}
	return false
}

// legacyByte returns the byte of Windows-1252, or of Latin-1 where that has no character, for
// a character beyond ASCII; 0 for others.
func legacyByte(c rune) byte {
	switch {
	case c < utf8.RuneSelf || c > 0x2122:
	case c <= 0xFF:
		return byte(c)
	case c >= 0x152:
		if b, ok := charmap.Windows1252.EncodeRune(c); ok {
			return b
		}
	}
	return 0
}

// sequenceLength returns the number of bytes of UTF-8 that begin with a byte, 0 for those
// that [folding.readBytes] never reads.
func sequenceLength(first byte) int {
	switch first {
	case 0xC2, 0xC3:
		return 2
	case 0xE2, 0xEF:
		return 3
	case 0xF0:
		return 4
	}
	return 0
}

const firstRegional = 0x1F1E6 // regional-indicator letter A

func isRegional(c rune) bool { return c >= firstRegional && c <= firstRegional+25 }

// settleBytes ends a row of misread bytes before the character next, which begins at byte at of
// the text. If the row ends with the first two bytes of a quotation mark, the mark is written:
// Windows-1252 has no character for its last byte, so that byte was lost. Before an & the row
// stays, since a reference to the last byte may follow.
func (f *folding) settleBytes(next rune, at int) {
	if n := len(f.legacy); n > 1 && next != '&' && f.legacy[n-2].b == 0xE2 && f.legacy[n-1].b == 0x80 &&
		f.legacy[n-2].to == f.legacy[n-1].from && f.legacy[n-1].to == len(f.out) {
		start := f.cut(f.legacy[n-2].from)
		f.settleBytes('"', start)
		f.write(`"`, stretch{start, at})
	}
	if next <= ' ' {
		f.legacy = f.legacy[:0]
	}
}

// settleFlags writes the regional-indicator letters that were held back: as flags, if they are
// flags, or else as letters.
func (f *folding) settleFlags() {
	if len(f.flags) == 0 {
		return
	}
	letters := f.flags
	f.flags = f.flags[:0]
	flags := areFlags(letters)
	for _, r := range letters {
		switch flag := firstRegional + rune(r.letter-'A'); {
		case !flags:
			f.put(rune(r.letter|0x20), r.at, true)
		case r.decoded:
			f.write(string(flag), r.at)
		default:
			f.out = utf8.AppendRune(f.out, flag)
		}
	}
}

func areFlags(letters []regional) bool {
	if len(letters)%2 != 0 {
		return false
	}
	for i := 0; i < len(letters); i += 2 {
		if !countries[[2]byte{letters[i].letter, letters[i+1].letter}] {
			return false
		}
	}
	return true
}

// countries are the codes that have a flag: those of ISO 3166-1, and AC, CP, DG, EA, EU, IC,
// TA, UN and XK (Unicode's emoji-sequences.txt, version 15.1).
var countries = func() map[[2]byte]bool {
	codes := make(map[[2]byte]bool)
	for code := range strings.FieldsSeq("AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC " +
		"CD CF CG CH CI CK CL CM CN CO CP CR CU CV CW CX CY CZ DE DG DJ DK DM DO DZ EA EC EE EG EH ER ES ET EU FI FJ FK FM FO FR GA GB GD GE GF GG " +
		"GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA " +
		"LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM " +
		"PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TF TG " +
		"TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM UN US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW") {
		codes[[2]byte{code[0], code[1]}] = true
	}
	return codes
}()

// plainForm returns what stands for a character in plain typography. changes is false if it
// stays.
func plainForm(c rune) (plain string, changes bool) {
	switch {
	case c < 0x85:
		return "", false
	case c >= 0x2000 && c <= 0x200A: // blanks from en quad to hair space
		return " ", true
	case c >= 0x202A && c <= 0x202E, c >= 0x2060 && c <= 0x206F: // direction, word joiner, invisible operators
		return "", true
	}
	switch c {
	case '‘', '’', '‚', '‛', '′', '‵', '‹', '›', 'ʹ', 'ʻ', 'ʼ', '´', '❛', '❜', '＇', '｀':
		return "'", true
	case '“', '”', '„', '‟', '«', '»', '″', '‶', 'ʺ', '❝', '❞', '〝', '〞', '〟', '＂':
		return `"`, true
	case '…':
		return "...", true
	case '‥':
		return "..", true
	case 0xA0, 0x1680, 0x202F, 0x205F, 0x3000: // no-break and other blanks
		return " ", true
	case 0x85, 0x2028, 0x2029: // next line, line and paragraph separators
		return "\n", true
	case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF: // soft hyphen, zero-width blanks, marks of direction
		return "", true
	case '‐', '‑', '⁃', '−', '﹣', '－':
		return "-", true
	case 'ﬀ':
		return "ff", true
	case 'ﬁ':
		return "fi", true
	case 'ﬂ':
		return "fl", true
	case 'ﬃ':
		return "ffi", true
	case 'ﬄ':
		return "ffl", true
	case 'ﬅ', 'ﬆ':
		return "st", true
	}
	return "", false
}
