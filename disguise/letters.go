package disguise

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// turned maps letters that look like one of a to z upside down to that letter.
var turned = map[rune]byte{
	'ɐ': 'a', 'ɒ': 'a', 'ɔ': 'c', 'ǝ': 'e', 'ə': 'e', 'ɘ': 'e', 'ɟ': 'f', 'ƃ': 'g', 'ᵷ': 'g', 'ɓ': 'g', 'ɥ': 'h', 'ᴉ': 'i', 'ı': 'i', 'ᴑ': 'o',
	'ɾ': 'j', 'ɿ': 'j', 'ʞ': 'k', 'ꞁ': 'l', 'ɯ': 'm', 'ɹ': 'r', 'ʇ': 't', 'ʌ': 'v', 'ʍ': 'w', 'ʎ': 'y', 'Ɐ': 'A', 'Ɔ': 'C', 'Ǝ': 'E', 'Ⅎ': 'F',
	'⅁': 'G', 'ſ': 'J', '⅂': 'L', '˥': 'L', 'Ɯ': 'M', 'Ԁ': 'P', '┴': 'T', '∩': 'U', 'Λ': 'V', '⅄': 'Y', 'l': 'l',
	// Letters that become another letter, or the same one, when turned.
	'b': 'q', 'd': 'p', 'n': 'u', 'p': 'd', 'q': 'b', 'u': 'n', 'o': 'o', 's': 's', 'x': 'x', 'z': 'z', 'i': 'i',
	'H': 'H', 'I': 'I', 'M': 'W', 'N': 'N', 'O': 'O', 'S': 'S', 'W': 'M', 'X': 'X', 'Z': 'Z',
}

// letterTable is lookalikes inverted.
var letterTable = sync.OnceValue(func() map[rune]byte {
	table := make(map[rune]byte, 600)
	for letter, others := range lookalikes {
		for _, r := range others {
			table[r] = byte(letter)
		}
	}
	return table
})

// lookalike returns the letter that r looks like, without its accent, or 0.
func lookalike(r rune) byte {
	if letter := letterTable()[r]; letter != 0 {
		return letter
	}
	var buffer [utf8.UTFMax]byte
	n := utf8.EncodeRune(buffer[:], r)
	if whole := norm.NFD.Properties(buffer[:n]).Decomposition(); whole != nil {
		base, _ := utf8.DecodeRune(whole)
		return letterTable()[base]
	}
	return 0
}

// styled returns the letter or digit that r is a styled form of: full-width,
// mathematical, in a circle or box, raised. It returns 0 for other characters.
func styled(r rune) byte {
	switch {
	case r >= 0x249C && r <= 0x24B5: // in parentheses
		return byte('a' + r - 0x249C)
	case r >= 0x1F150 && r <= 0x1F169: // white in a black circle
		return byte('A' + r - 0x1F150)
	case r >= 0x1F170 && r <= 0x1F189: // white in a black box
		return byte('A' + r - 0x1F170)
	case r >= 0xFF01 && r <= 0xFF5E, r >= 0x1D400 && r <= 0x1D7FF, r >= 0x2100 && r <= 0x214F, r >= 0x24B6 && r <= 0x24E9,
		r >= 0x1F130 && r <= 0x1F149, r >= 0x1D2C && r <= 0x1D6A, r >= 0x2070 && r <= 0x209C, r >= 0x2B0 && r <= 0x2B8, r >= 0x1FBF0 && r <= 0x1FBF9:
		var buffer [utf8.UTFMax]byte
		n := utf8.EncodeRune(buffer[:], r)
		plain := norm.NFKC.Properties(buffer[:n]).Decomposition()
		if len(plain) == 1 && plain[0] > ' ' {
			return plain[0]
		}
		if r >= 0x1D6A8 && r <= 0x1D7CB { // mathematical Greek
			return letterTable()[r]
		}
	}
	return 0
}

// invisible reports whether r takes no space: zero-width characters, direction
// marks, tags, variation selectors, fillers.
func invisible(r rune) bool {
	switch {
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r >= 0x180B && r <= 0x180F:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

func isPlain(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// A glyph is a character of a word.
type glyph struct {
	start, end int
	r          rune
	kind       glyphKind
	plain      byte // the letter that it looks like, or the letter itself
}

type glyphKind uint8

const (
	plainGlyph   glyphKind = iota // a to z
	digitGlyph                    // 0 to 9
	styledGlyph                   // a styled form of these
	alikeGlyph                    // a letter that looks like one of a to z
	markGlyph                     // combining
	hiddenGlyph                   // takes no space
	latinGlyph                    // another letter of the Latin alphabet
	foreignGlyph                  // a letter of another alphabet that does not look like one of a to z
	otherGlyph                    // the word ends
)

func glyphOf(r rune) (glyphKind, byte) {
	switch {
	case r < utf8.RuneSelf && isPlain(byte(r)):
		return plainGlyph, byte(r)
	case r >= '0' && r <= '9':
		return digitGlyph, byte(r)
	case r < utf8.RuneSelf, r == utf8.RuneError:
		return otherGlyph, 0
	case unicode.Is(unicode.Mn, r) && !invisible(r), unicode.Is(unicode.Me, r):
		return markGlyph, 0
	case invisible(r):
		return hiddenGlyph, 0
	}
	if plain := styled(r); plain != 0 {
		return styledGlyph, plain
	}
	if !unicode.IsLetter(r) {
		if turned[r] != 0 {
			return latinGlyph, 0
		}
		return otherGlyph, 0
	}
	if plain := lookalike(r); plain != 0 {
		return alikeGlyph, plain
	}
	if unicode.Is(unicode.Latin, r) {
		return latinGlyph, 0
	}
	return foreignGlyph, 0
}

// readLetters replaces characters that stand for a letter and removes those hidden
// between letters.
func (rd reader) readLetters(text string) rewriting {
	first := 0
	for first < len(text) && text[first] < utf8.RuneSelf {
		first++
	}
	if first == len(text) {
		return rewriting{}
	}
	// A word may begin before its first non-ASCII letter.
	for first > 0 && (isPlain(text[first-1]) || text[first-1] >= '0' && text[first-1] <= '9') {
		first--
	}
	w := rewriting{text: text}
	var word []glyph
	inEnglish := sync.OnceValue(func() bool { return mostlyPlain(text) })
	suspicious := false
	for i := first; i <= len(text); {
		kind, plain, r, n := otherGlyph, byte(0), rune(0), 1
		if i < len(text) {
			r, n = utf8.DecodeRuneInString(text[i:])
			kind, plain = glyphOf(r)
		}
		if kind != otherGlyph {
			word = append(word, glyph{i, i + n, r, kind, plain})
			suspicious = suspicious || kind != plainGlyph && kind != digitGlyph
		} else {
			if suspicious {
				rd.readGlyphs(&w, word, inEnglish)
			}
			word, suspicious = word[:0], false
		}
		i += n
	}
	return w
}

// readFlags replaces rows of two flags or more whose letters together are a word.
func (rd reader) readFlags(text string) rewriting {
	const letter = 4 // bytes of a regional-indicator letter
	w := rewriting{text: text}
	for at := 0; ; {
		next := strings.Index(text[at:], string(rune(firstRegional))[:letter-1])
		if next < 0 {
			return w
		}
		at += next
		start, word := at, []byte{}
		for c, size := utf8.DecodeRuneInString(text[at:]); isRegional(c); c, size = utf8.DecodeRuneInString(text[at:]) {
			word = append(word, byte('a'+c-firstRegional))
			at += size
		}
		if len(word) >= 4 && len(word) <= maxGuess && rd.cost(string(word)) == 1 {
			for i := range word {
				w.replace(start+letter*i, start+letter*(i+1), string(word[i:i+1]))
			}
		}
		at = max(at, start+1)
	}
}

// mostlyPlain reports whether a text is written in the letters a to z: its only letters
// of other alphabets look like them.
func mostlyPlain(text string) bool {
	plain := 0
	for _, r := range text {
		kind, _ := glyphOf(r)
		if kind == foreignGlyph {
			return false
		}
		if kind == plainGlyph || kind == styledGlyph {
			plain++
		}
	}
	return plain > 0
}

// readGlyphs writes the reading of one word.
func (rd reader) readGlyphs(w *rewriting, word []glyph, inEnglish func() bool) {
	var count [otherGlyph + 1]int
	for _, g := range word {
		count[g.kind]++
	}
	if by := rd.turn(word, count[digitGlyph]); by != "" {
		w.replace(word[0].start, word[len(word)-1].end, by)
		return
	}
	letters := count[plainGlyph] + count[styledGlyph] + count[alikeGlyph] + count[latinGlyph]
	alike := count[alikeGlyph] > 0 && count[foreignGlyph] == 0 && letters > 2 && rd.meansLookalikes(word, letters, inEnglish)
	// In a word of another alphabet, marks and joiners are legitimate.
	foreign := count[foreignGlyph] > 0 || count[alikeGlyph] > 0 && !alike
	marks := 0
	for i, g := range word {
		switch g.kind {
		case styledGlyph:
			marks = 0
			if letters > 1 || g.r >= 0xFF01 && g.r <= 0xFF5E || g.r >= 0x1D400 && g.r <= 0x1D7FF {
				w.replace(g.start, g.end, string(rune(g.plain)))
			}
		case alikeGlyph:
			marks = 0
			if alike {
				w.replace(g.start, g.end, string(rune(g.plain)))
			}
		case markGlyph:
			marks++
			if !foreign && i > 0 && (marks > 1 || !composes(word[i-1].plain, g.r)) {
				w.replace(g.start, g.end, "")
			}
		case hiddenGlyph:
			if !foreign && letters > 0 && i > 0 && i < len(word)-1 {
				w.replace(g.start, g.end, "")
			}
		default:
			marks = 0
		}
	}
}

// meansLookalikes reports whether the lookalikes in a word stand for the letters that
// they look like.
func (rd reader) meansLookalikes(word []glyph, letters int, inEnglish func() bool) bool {
	others, capitals, small := 0, 0, 0 // lookalikes of other alphabets; capitals A to Z; small lookalikes
	for _, g := range word {
		if g.kind == alikeGlyph && !unicode.Is(unicode.Latin, g.r) {
			others++
			if g.plain >= 'a' {
				small++
			}
		}
		if g.kind == plainGlyph && g.plain < 'a' {
			capitals++
		}
	}
	if others > 0 && others < letters {
		// The only words that mix alphabets legitimately are like "TNFα" and "IFNγ".
		return small != 1 || others > 1 || capitals < letters-1
	}
	read := rd.cost(plainWord(word))
	if read*2 > letters {
		return false
	}
	if others > 0 {
		return inEnglish()
	}
	// Turkish and phonetic notation also use letters such as ı and ɪ.
	written := make([]rune, len(word))
	for i, g := range word {
		written[i] = g.r
	}
	return read < rd.cost(string(written))
}

// composes reports whether a letter and a mark form one letter, such as é.
func composes(letter byte, mark rune) bool {
	if letter == 0 {
		return true // an accented letter with a further accent, as in Vietnamese
	}
	return utf8.RuneCount(norm.NFC.AppendString(nil, string(rune(letter))+string(mark))) == 1
}

// plainWord returns a word with each letter replaced by the one that it looks like.
func plainWord(word []glyph) string {
	out := make([]rune, 0, len(word))
	for _, g := range word {
		switch {
		case g.plain != 0:
			out = append(out, rune(g.plain))
		case g.kind == latinGlyph:
			out = append(out, g.r)
		}
	}
	return string(out)
}

// maxGuess is the length in characters of the longest word with several readings tried.
const maxGuess = 40

// turn returns the word that is written upside down, or "" if there is none. All its
// letters must be turnable and a quarter of them visibly turned. Some people also reverse
// the order of the letters and some only replace them; the cheaper reading is used.
func (rd reader) turn(word []glyph, digits int) string {
	if len(word) < 2 || len(word) > maxGuess || digits > 0 {
		return ""
	}
	visible := 0
	inPlace, reversed := make([]byte, len(word)), make([]byte, len(word))
	for i, g := range word {
		letter := turned[g.r]
		if letter == 0 {
			return ""
		}
		if g.kind != plainGlyph {
			visible++
		}
		inPlace[i], reversed[len(word)-1-i] = letter, letter
	}
	if visible*4 < len(word) {
		return ""
	}
	by, cost := string(reversed), rd.cost(string(reversed))
	if other := rd.cost(string(inPlace)); other < cost {
		by, cost = string(inPlace), other
	}
	if cost*2 > len(word) {
		return ""
	}
	// A letter such as ı may also be meant literally.
	if plain := plainWord(word); len(plain) == len(word) && rd.cost(plain) <= cost {
		return ""
	}
	return by
}
