package disguise

import "strings"

// mayBeLetters returns how many tokens a word may take when its digits and signs are read
// as letters: 0 if it is likely a number, unit, model name, abbreviation, handle, price
// or chess move, and 1 if only a known word leaves no doubt.
func mayBeLetters(text string, at, whole stretch) int {
	word, chunk := text[at.start:at.end], text[whole.start:whole.end]
	c := characters(word)
	n, first, last := len(word), byteKinds[word[0]], byteKinds[word[len(word)-1]]
	switch {
	case c.lower+c.upper == 0, !c.readable, strings.Contains(word, "!!"):
		return 0
	case c.lower == 0 && strings.Count(word, "$") == 1 && word[0]|0x20 == 'u': // US$, US$5
		return 0
	case word[0] == '$' && (c.lower == 0 && c.digits == 0 || byteKinds[word[1]]&digit != 0 && n < 5): // $AAPL, $3bn
		return 0
	case c.digits == 0:
		return n / 2
	case chunk[0] == '#', isModel(word, c):
		return 0
	case c.lower == 0:
		return mayBeShouted(text, at, whole, c)
	case c.lower+c.upper == 1, c.longest > 2, c.digits == c.final, first&byteKinds[word[1]]&digit != 0:
		return 1
	case (first|last)&digit != 0 && strings.ContainsAny(word, "689"):
		return 1
	}
	return n / 2
}

// mayBeShouted is mayBeLetters for a word of capitals and digits. Such a word is more likely a
// number plate, a licence key or the number of an order, unless the words around it are in
// capitals, too. Otherwise its digits must stand neither at its end nor at both ends, and a word
// of four characters must have one digit, or the same one twice, between letters, with nothing
// joined to it: SH1T, F00L. A word of the vocabulary is then read (1D10T), and one of two tokens
// if its digits stand for vowels (M0R0N, N1TWIT).
func mayBeShouted(text string, at, whole stretch, c composition) int {
	word, n := text[at.start:at.end], at.end-at.start
	ends := byteKinds[word[0]] & byteKinds[word[n-1]]
	alone := len(strings.Trim(text[whole.start:whole.end], "\"'()[].,;:!?")) == n
	switch {
	case n < 4:
		return 0
	case alone && isShouted(text, whole):
		return n / 2
	case c.digits == c.final, ends&digit != 0, n == 4 && !(alone && ends&letter != 0 && (c.digits == 1 || word[1] == word[2])):
		return 0
	}
	if stands := vowels(word); alone && (stands > 1 || stands > 0 && n > 5) {
		return 2
	}
	return 1
}

// vowels returns how many digits of a word stand for vowels between two consonants. It returns 0
// if the word has any other digit, or if one of these consonants is rare in English: in codes,
// rare letters are as frequent as others.
func vowels(word string) int {
	const consonants = "BCDFGHKLMNPRSTW"
	n := 0
	for i := range len(word) {
		if byteKinds[word[i]]&digit == 0 {
			continue
		}
		if strings.IndexByte("0134", word[i]) < 0 || i == 0 || i == len(word)-1 ||
			strings.IndexByte(consonants, word[i-1]) < 0 || strings.IndexByte(consonants, word[i+1]) < 0 {
			return 0
		}
		n++
	}
	return n
}

// isShouted reports whether the words around a chunk are in capitals: among the four before it
// and the four behind it, those in capitals must outnumber the others by two. Words without
// letters and words with digits do not count.
func isShouted(text string, chunk stretch) bool {
	const around, most = 4, 64 // words and bytes
	capitals := 0
	count := func(words []string) {
		for _, word := range words {
			switch upper := strings.ToUpper(word); {
			case strings.ContainsAny(word, "0123456789"):
			case word != upper:
				capitals--
			case upper != strings.ToLower(word):
				capitals++
			}
		}
	}
	before := strings.Fields(text[max(0, chunk.start-most):chunk.start])
	after := strings.Fields(text[chunk.end:min(len(text), chunk.end+most)])
	count(before[max(0, len(before)-around):])
	count(after[:min(around, len(after))])
	return capitals > 1
}

// isJoined reports whether a word of a chunk has a word with digits beside it.
func isJoined(word, chunk string) bool {
	before, after, _ := strings.Cut(chunk, word)
	return strings.ContainsAny(before, "0123456789") || strings.ContainsAny(after, "0123456789")
}

// composition counts the characters of a word by kind.
type composition struct {
	lower, upper, digits int
	longest, behind      int  // digit sequences: the longest, and the last
	final                int  // digits at the end
	readable             bool // every character is a letter or may stand for one
}

func characters(word string) composition {
	c := composition{readable: true}
	for i := range len(word) {
		kind := byteKinds[word[i]]
		switch {
		case kind&lowerLetter != 0:
			c.lower++
		case kind&upperLetter != 0:
			c.upper++
		case standsFor[word[i]] == 0:
			c.readable = false
		}
		if kind&digit == 0 {
			c.final = 0
			continue
		}
		c.digits++
		c.final++
		c.behind, c.longest = c.final, max(c.longest, c.final)
	}
	return c
}

// isModel reports whether a word with digits is a number with a unit, a model name or an
// abbreviation.
func isModel(word string, c composition) bool {
	n, first, last := len(word), byteKinds[word[0]], byteKinds[word[len(word)-1]]
	switch {
	case c.longest > 4, c.lower == 0 && c.upper == 1, c.lower == 1 && c.upper == 0 && n < 4, strings.HasPrefix(word, "0x"):
		return true
	case word[n-1]|0x20 == 's' && byteKinds[word[n-2]]&digit != 0 && c.digits == c.behind: // 747s, AK47s, iPhone4s
		return true
	case c.upper > 1 && c.lower > 0: // GPT4o, BERT4Rec
		return true
	case first&digit != 0 && c.digits == 1 && isUnit(word[1:]):
		return true
	case n == 4 && c.longest == 2 && word[1] == '1' && first&last&letter != 0: // l10n, a11y
		return true
	case n < 4 && (c.longest > 1 || strings.ContainsAny(word, "1789") || (first|last)&digit != 0): // 5pm, k8s, p1n, mp3
		return true
	}
	return isName(strings.ToLower(word)) || isMove(word)
}

// isUnit reports whether the text after a digit is an ordinal suffix or a unit, so the
// digit is a number.
func isUnit(rest string) bool {
	switch strings.ToLower(strings.TrimSuffix(rest, "s")) {
	case "st", "nd", "rd", "th", "am", "pm", "k", "m", "km", "cm", "mm", "ft", "in", "inch", "inche", "yd", "mi", "mile", "kg", "mg", "lb", "oz", "ml",
		"min", "minute", "sec", "second", "hr", "hour", "day", "week", "wk", "month", "mo", "yr", "year", "x", "d", "g", "p", "fp", "hz", "khz", "mhz",
		"ghz", "mb", "gb", "tb", "kb", "bit", "byte", "star", "way", "man", "men", "person", "people", "time", "point", "pt", "page", "pg", "part", "player",
		"mil", "million", "billion", "bn", "thousand", "hundred", "dollar", "buck", "cent", "percent", "degree", "chan", "some", "runner", "ever", "life",
		"yo", "of", "to", "and", "or", "word", "letter", "foot", "feet", "gram", "liter", "litre", "meter", "metre", "watt", "volt", "amp", "mph", "kph",
		"ish", "ply", "post", "vote", "comment", "edit", "revert", "rr", "kid", "child", "children", "guy", "girl", "hole", "piece", "pc", "pack", "step",
		"side", "sided", "fold", "head", "door":
		return true
	}
	return false
}

// isName reports whether a word with digits is a known name.
func isName(word string) bool {
	switch word {
	case "w3c", "m4a", "m4v", "f4v", "s3d", "x3d", "b4u", "d3js", "log4j", "log4net", "o3de", "p5js":
		return true
	}
	return false
}

// isNumeral reports whether a word is or ends in a Roman numeral, is a size, or is a
// colour in a style sheet: XXXL, WWIII, #FFFFFF.
func isNumeral(word, chunk string) bool {
	hex := chunk[0] == '#' && (len(word) == 3 || len(word) == 6) && strings.Trim(word, "abcdefABCDEF") == ""
	return hex || strings.Trim(word, "IVXLCDM") == "" || strings.HasSuffix(word, "III") && !strings.HasSuffix(word, "IIII")
}

// isMove reports whether a word is a chess move that ends in a letter or begins with a
// piece, such as N5f3; other moves end in a digit.
func isMove(word string) bool {
	if len(word) < 4 || strings.IndexByte("KQRBN", word[0]) < 0 {
		return false
	}
	for i := 1; i < len(word); i++ {
		if b := word[i]; (b < 'a' || b > 'h') && (b < '1' || b > '8') && b != 'x' && b != '+' {
			return false
		}
	}
	return true
}
