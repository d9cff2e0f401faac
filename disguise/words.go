package disguise

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// Kinds of bytes in words.
const (
	lowerLetter = 1 << iota
	upperLetter
	digit
	sign      // may stand for a letter
	blank     // ends a chunk
	separator // may stand between spaced letters
	technical // in an address, a path or code
	wide      // not ASCII

	letter = lowerLetter | upperLetter
)

var byteKinds = func() (kinds [256]uint8) {
	for b := range kinds {
		switch {
		case b >= 'a' && b <= 'z':
			kinds[b] = lowerLetter
		case b >= 'A' && b <= 'Z':
			kinds[b] = upperLetter
		case b >= '0' && b <= '9':
			kinds[b] = digit
		case b <= ' ':
			kinds[b] = blank
		case b >= 0x80:
			kinds[b] = wide
		}
	}
	for _, b := range []byte("@$!+*") {
		kinds[b] |= sign
	}
	for _, b := range []byte(".-_*,|/~+:") {
		kinds[b] |= separator
	}
	for _, b := range []byte("/\\=<>{}[]#&%^`") {
		kinds[b] |= technical
	}
	return kinds
}()

// standsFor maps digits and signs to the letters that they are read as. 1 and ! may also be
// an l.
var standsFor = [256]byte{
	'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '6': 'g', '7': 't', '8': 'b', '9': 'g',
	'@': 'a', '$': 's', '!': 'i', '+': 't',
}

// A stretch is part of a text, end exclusive.
type stretch struct{ start, end int }

// readWords undoes disguises made with ASCII characters.
func (rd reader) readWords(text string) rewriting {
	w := rewriting{text: text}
	var spaced stretch // of single letters with a blank between
	letters := 0
	for i := 0; i < len(text); {
		if byteKinds[text[i]] == blank {
			i++
			continue
		}
		start, seen, run, longest := i, uint8(0), 0, 0
		for ; i < len(text) && byteKinds[text[i]] != blank; i++ {
			seen |= byteKinds[text[i]]
			if run++; i > start && text[i]|0x20 != text[i-1]|0x20 {
				run = 1
			}
			longest = max(longest, run)
		}
		if at, last, ok := single(text, stretch{start, i}); ok {
			if letters == 0 || at.start != start || start-spaced.end != 1 || text[spaced.end] != ' ' {
				rd.readSpaced(&w, spaced, letters)
				letters, spaced = 0, stretch{at.start, at.start}
			}
			letters, spaced.end = letters+1, at.end
			if last {
				rd.readSpaced(&w, spaced, letters)
				letters = 0
			}
			continue
		}
		rd.readSpaced(&w, spaced, letters)
		letters = 0
		if i-start >= minGuess || i-start > 2 && (seen&(digit|sign) != 0 || longest > 2) {
			rd.readChunk(&w, stretch{start, i}, seen)
		}
	}
	rd.readSpaced(&w, spaced, letters)
	return w
}

// bare returns a chunk without the quotes, brackets and punctuation around it, but for its
// first character.
func bare(text string, chunk stretch) stretch {
	for chunk.start < chunk.end && strings.IndexByte(opening, text[chunk.start]) >= 0 {
		chunk.start++
	}
	for chunk.end > chunk.start+1 && strings.IndexByte(closing, text[chunk.end-1]) >= 0 {
		chunk.end--
	}
	return chunk
}

// single returns the position of a chunk's only letter, or of a digit or sign that may
// stand for one. Quotes and brackets may precede it; last says that the characters after
// it end a word.
func single(text string, chunk stretch) (at stretch, last, ok bool) {
	at = bare(text, chunk)
	if at.end-at.start != 1 || byteKinds[text[at.start]]&letter == 0 && standsFor[text[at.start]] == 0 {
		return at, false, false
	}
	return at, at.end < chunk.end, true
}

// Characters that may precede and follow the letters of a word.
const (
	opening = "\"'(["
	closing = "\"')].,!?;:"
)

// minGuess is the minimum number of letters of a word that may have swapped letters, be
// several joined words, or have separators between its letters.
const minGuess = 5

// minSpaced is the minimum number of single letters that may spell words, and
// longestWord the maximum number of them in one word.
const (
	minSpaced   = 3
	longestWord = 14
)

// readSpaced joins single letters that spell words.
func (rd reader) readSpaced(w *rewriting, at stretch, letters int) {
	if letters < minSpaced {
		return
	}
	places := make([]int, letters)
	for i := range places {
		places[i] = at.start + 2*i
	}
	rd.joinLetters(w, places, at.end)
}

// joinLetters replaces letters and the separators between them by the words that they
// spell, if they do.
func (rd reader) joinLetters(w *rewriting, places []int, end int) {
	letters, rising := 0, 0
	spelt := make([]byte, len(places))
	for i, at := range places {
		b := w.text[at]
		if byteKinds[b]&letter != 0 {
			letters++
		} else {
			b = standsFor[b]
		}
		spelt[i] = b
		if i > 0 && b|0x20 == spelt[i-1]|0x20+1 {
			rising++
		}
	}
	// "a b c d" is the alphabet, not a word, and "1 3 4 5 a" a row of numbers.
	if letters < 2 || letters*3 < len(spelt) || rising*2 >= len(spelt) {
		return
	}
	words, cost := rd.segment(string(spelt), 1)
	if strings.ContainsAny(w.text[places[0]:end], "1!") {
		for i, at := range places {
			switch w.text[at] {
			case '1', '!':
				spelt[i] = 'l'
			}
		}
		if others, c := rd.segment(string(spelt), 1); c < cost {
			words, cost = others, c
		}
	}
	if len(words) == 1 {
		cost--
	}
	switch {
	case w.text[places[0]+1] == '.' && strings.ToUpper(string(spelt)) == string(spelt) && cost > 0.3*float64(len(spelt)): // L.A.P.D.
		return
	case len(spelt) == minSpaced && (cost > 1 || strings.ToLower(string(spelt)) != string(spelt)): // U.S.A., D A D
		return
	case cost > 0.6*float64(len(spelt)): // no words are spelt
		return
	}
	at := 0
	for i, word := range words {
		if i > 0 {
			from := end
			if at < len(places) {
				from = places[at]
			}
			w.replace(places[at-1]+1, from, " ")
		}
		for j := range len(word) {
			from := places[at]
			to := from + 1
			if j+1 < len(word) {
				to = places[at+1]
			}
			w.replace(from, to, word[j:j+1])
			at++
		}
	}
}

// joining are short words that occur between others, true for those that begin many
// longer words.
var joining = func() map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq("an is it my of one so to we all and any are been being but for from had has have her him his how its just like " +
		"not our she such than that the them then these they this those too very was were what when who why will with you your") {
		words[word] = false
	}
	for word := range strings.FieldsSeq("a i am as at be by do he if in me no on or up us") {
		words[word] = true
	}
	return words
}()

// twoLetters are two-letter words that are not in joining, each followed by a blank.
const twoLetters = "ah go ha hi oh ok ur ya ye yo "

// segment divides letters into the words with the lowest cost and returns them and the
// cost. A token costs 1 and a word half a token more, so that "moron" is one word and not
// "mo" and "ron". A word in joining costs 1, a single a or i less. Other single letters
// and two letters that are not a word cost as much as three tokens. Each further token of
// a word costs further: 1, or more if words should be known: "idiot we", not "idiotwe".
func (rd reader) segment(letters string, further float64) (words []string, cost float64) {
	lower := strings.ToLower(letters)
	best := make([]float64, len(letters)+1)
	from := make([]int, len(letters)+1)
	for end := 1; end <= len(letters); end++ {
		best[end] = 1e9
		for start := max(0, end-longestWord); start < end; start++ {
			part := lower[start:end]
			_, joins := joining[part]
			c := 3.0
			switch {
			case joins && len(part) == 1:
				c = 0.8
			case joins:
				c = 1
			case len(part) > 2 || len(part) == 2 && strings.Contains(twoLetters, part):
				c = 1.5 + further*float64(rd.cost(letters[start:end])-1)
			}
			if best[start]+c < best[end] {
				best[end], from[end] = best[start]+c, start
			}
		}
	}
	for end := len(letters); end > 0; end = from[end] {
		words = append(words, letters[from[end]:end])
	}
	slices.Reverse(words)
	return words, best[len(letters)]
}

// readChunk undoes disguises inside a chunk, which is the text between two blanks.
func (rd reader) readChunk(w *rewriting, at stretch, seen uint8) {
	text := w.text[:at.end]
	if seen&separator != 0 && rd.readDotted(w, at) {
		return
	}
	chunk := text[at.start:]
	if isHandle(chunk) {
		return
	}
	if seen&technical != 0 && strings.IndexFunc(chunk[1:], func(r rune) bool { return r < 0x80 && byteKinds[r]&technical != 0 }) >= 0 || isAddress(chunk) {
		return
	}
	underscored := seen&separator != 0 && joins(chunk)
	for i := at.start; i < at.end; {
		start := i
		for i < at.end && byteKinds[text[i]]&(letter|digit|sign) != 0 {
			i++
		}
		if i == start {
			if text[i] == '_' && i > at.start && i+1 < at.end && underscored {
				w.replace(i, i+1, " ")
			}
			i++
			continue
		}
		if start > 0 && byteKinds[text[start-1]]&wide != 0 || i < at.end && byteKinds[text[i]]&wide != 0 {
			continue // the rest of a word that is not ASCII
		}
		rd.readWord(w, stretch{start, i}, at)
	}
}

// isHandle reports whether a chunk is an account name, @somebody. One word is disguised
// like that too often to be excluded.
func isHandle(chunk string) bool {
	if chunk[0] != '@' {
		return false
	}
	rest, found := strings.CutPrefix(strings.ToLower(chunk), "@ss")
	return !found || rest != "" && byteKinds[rest[0]]&(letter|digit) != 0 && strings.IndexByte("hecwf", rest[0]) < 0
}

// isAddress reports whether a chunk is an address, a file, a version or similar: it has
// a stop, a colon or an @ with text after it.
func isAddress(chunk string) bool {
	stop := strings.LastIndexByte(chunk, '.')
	for i := 1; i+1 < len(chunk); i++ {
		next := byteKinds[chunk[i+1]]&(letter|digit) != 0
		switch chunk[i] {
		case '.', ':':
			if next && byteKinds[chunk[i-1]]&(letter|digit) != 0 {
				return true
			}
		case '@':
			if i < stop && stop < len(chunk)-1 {
				return true
			}
		}
	}
	return false
}

// joins reports whether a chunk is words joined by underscores: each has only letters,
// two or more, and only punctuation surrounds them.
func joins(chunk string) bool {
	for part := range strings.SplitSeq(strings.Trim(chunk, ".,;:!?\"'()"), "_") {
		if len(part) < 2 {
			return false
		}
		for i := range len(part) {
			if byteKinds[part[i]]&letter == 0 {
				return false
			}
		}
	}
	return true
}

// readDotted joins a chunk of single letters with the same separator between them. It
// reports whether the chunk is one.
func (rd reader) readDotted(w *rewriting, at stretch) bool {
	at = bare(w.text, at)
	start, end := at.start, at.end
	if (end-start)%2 == 0 || (end-start)/2+1 < minSpaced {
		return false
	}
	between := w.text[start+1]
	if byteKinds[between]&separator == 0 {
		return false
	}
	var places []int
	for i := start; i < end; i++ {
		switch {
		case (i-start)%2 == 1:
			if w.text[i] != between {
				return false
			}
		case byteKinds[w.text[i]]&letter == 0 && standsFor[w.text[i]] == 0:
			return false
		default:
			places = append(places, i)
		}
	}
	rd.joinLetters(w, places, end)
	return true
}

// readWord undoes disguises inside one word of a chunk: consecutive letters, digits and signs.
func (rd reader) readWord(w *rewriting, at, whole stretch) {
	text, chunk := w.text, w.text[whole.start:whole.end]
	at.end = at.start + len(strings.TrimRight(text[at.start:at.end], "!+@"))
	at.start = at.end - len(strings.TrimLeft(text[at.start:at.end], "+"))
	at.end = at.start + len(strings.TrimRight(text[at.start:at.end], "*"))
	at.start = at.end - len(strings.TrimLeft(text[at.start:at.end], "*"))
	if at.end-at.start < 3 || at.end-at.start > maxGuess {
		return
	}
	word := text[at.start:at.end]
	if strings.IndexByte(word, '*') > 0 {
		rd.readStars(w, at)
		return
	}
	leet, repeated, lower := false, false, false
	for i := range len(word) {
		leet = leet || byteKinds[word[i]]&(digit|sign) != 0
		lower = lower || byteKinds[word[i]]&lowerLetter != 0
		repeated = repeated || i > 1 && word[i]|0x20 == word[i-1]|0x20 && word[i]|0x20 == word[i-2]|0x20
	}
	switch {
	case !lower && isJoined(word, chunk): // a part of a code
	case leet:
		if tokens := mayBeLetters(text, at, whole); tokens > 0 {
			rd.readSpelling(w, at.start, word, tokens)
		}
	case repeated:
		if !isNumeral(word, chunk) {
			rd.readSpelling(w, at.start, word, len(word)/2)
		}
	default:
		spaced := " " + word
		if at.start > 0 && text[at.start-1] == ' ' {
			spaced = text[at.start-1 : at.end] // no allocation for most words
		}
		if cost, _ := rd.Weigh(spaced); cost > 1 {
			_ = rd.readCapitals(w, at, cost) || rd.readSwapped(w, at) || rd.readJoined(w, at, cost)
		}
	}
}

// readStars replaces stars between letters, at most half of the word, if exactly one word
// of the vocabulary fits: id*ot, but not f**k, which may be folk.
func (rd reader) readStars(w *rewriting, at stretch) {
	word := w.text[at.start:at.end]
	stars := strings.Count(word, "*")
	if len(word) < 4 || 2*stars > len(word) {
		return
	}
	for i := range len(word) {
		if byteKinds[word[i]]&letter == 0 && word[i] != '*' {
			return
		}
	}
	small := strings.ToUpper(word) != word // else insert capitals
	found := rd.Complete(strings.ToLower(word))
	for i := range len(found) {
		if b := found[i : i+1]; word[i] == '*' {
			if !small {
				b = strings.ToUpper(b)
			}
			w.replace(at.start+i, at.start+i+1, b)
		}
	}
}

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

// mayBeShouted is mayBeLetters for a word of capitals and digits, which is more likely a number
// plate, a licence key or the number of an order than a word, unless the words around it are in
// capitals, too. Else its digits must not be at its end, or at both ends. A short one has four
// characters with one digit, or twice the same, between letters, and nothing joined to it: SH1T,
// F00L. Words of the vocabulary are read (1D10T), and those of two tokens whose digits are
// vowels (M0R0N, N1TWIT).
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

// vowels returns how many digits of a word stand for vowels between two consonants. It is 0 if
// others are among them, or if one of these consonants is rare in English, which is as
// frequent as others in codes.
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

// isShouted reports whether words in capitals are around a chunk: of the four before it and the
// four behind it, two more are than are not. Words without letters and those with digits do not
// count.
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

// A letterGroup is a letter and its repetitions.
type letterGroup struct {
	start, end int
	letter     byte
	ambiguous  bool // read as i; may be an l
}

// choices are the groups that can be read in two ways.
type choices struct{ repeated, ambiguous []int }

// group divides a word into its letters with their repetitions.
func group(word string) (groups []letterGroup, either choices) {
	small := strings.ToUpper(word) != word // else insert capitals
	for i := range len(word) {
		b := word[i]
		ambiguous := b == '1' || b == '!'
		if byteKinds[b]&letter == 0 {
			b = standsFor[b]
			if !small {
				b &^= 0x20
			}
		}
		if n := len(groups); n > 0 && groups[n-1].letter|0x20 == b|0x20 && groups[n-1].ambiguous == ambiguous {
			groups[n-1].end = i + 1
			continue
		}
		groups = append(groups, letterGroup{i, i + 1, b, ambiguous})
	}
	for i, g := range groups {
		if g.end-g.start > 2 {
			either.repeated = append(either.repeated, i)
		}
		if g.ambiguous {
			either.ambiguous = append(either.ambiguous, i)
		}
	}
	return groups, either
}

// maxChoices is how many letters of a word are tried both ways; later ones are read the
// first way.
const maxChoices = 3

// readSpelling replaces a word by its cheapest reading, if that is a word: each repeated
// letter once or twice, each 1 as i or l. The reading must take no more than tokens.
func (rd reader) readSpelling(w *rewriting, at int, word string, tokens int) {
	groups, either := group(word)
	if len(groups) == 1 {
		return // zzz, xxx, hm
	}
	repeated := either.repeated[:min(maxChoices, len(either.repeated))]
	ambiguous := either.ambiguous[:min(maxChoices, len(either.ambiguous))]
	spell := func(choice int) [][]byte {
		parts := make([][]byte, len(groups))
		for i, g := range groups {
			n := min(g.end-g.start, 2)
			if g.end-g.start > 2 {
				n = 1
			}
			read := g.letter
			for bit, j := range ambiguous {
				if i == j && choice>>bit&1 == 1 {
					read = 'l'
				}
			}
			for bit, j := range repeated {
				if i == j && choice>>(len(ambiguous)+bit)&1 == 1 {
					n = 2
				}
			}
			for k := range n {
				b := read
				if from := word[g.start+k]; byteKinds[from]&letter != 0 {
					b = from
				}
				parts[i] = append(parts[i], b)
			}
		}
		return parts
	}
	var best [][]byte
	cost, rank := min(tokens, rd.cost(word)-1), int64(math.MaxInt64) // must take fewer
	for choice := range 1 << (len(ambiguous) + len(repeated)) {
		parts := spell(choice)
		c, r := rd.Weigh(" " + string(bytes.Join(parts, nil)))
		if c < cost || c == cost && r < rank {
			best, cost, rank = parts, c, r
		}
	}
	for i, p := range best {
		w.replace(at+groups[i].start, at+groups[i].end, string(p))
	}
}

// readCapitals puts blanks between words that are separated only by capitals, if that
// makes them known: StupidIdiot, but not YouTube. It reports whether it did.
func (rd reader) readCapitals(w *rewriting, at stretch, cost int) bool {
	word := w.text[at.start:at.end]
	var words []string
	from := 0
	for i := 1; i < len(word); i++ {
		if byteKinds[word[i]]&upperLetter != 0 && byteKinds[word[i-1]]&lowerLetter != 0 {
			words, from = append(words, word[from:i]), i
		}
	}
	if len(words) == 0 || len(words)+1 >= cost {
		return false
	}
	words = append(words, word[from:])
	for _, one := range words {
		if len(one) < 3 || rd.cost(one) > 1 {
			return false // a brand or a name: eBay, LaTeX, McKnight
		}
	}
	w.divide(at.start, words)
	return true
}

// readSwapped swaps two neighbouring letters after the first if that makes a word known:
// idoit. It reports whether it did. Shorter words too often look like a known word with
// swapped letters, such as King Cnut.
func (rd reader) readSwapped(w *rewriting, at stretch) bool {
	word := w.text[at.start:at.end]
	if len(word) < minGuess {
		return false
	}
	found, best := 0, int64(math.MaxInt64)
	swapped := []byte(word)
	for i := 1; i+1 < len(word); i++ {
		swapped[i], swapped[i+1] = word[i+1], word[i]
		if tokens, rank := rd.Weigh(" " + string(swapped)); tokens == 1 && rank < best {
			found, best = i, rank
		}
		swapped[i], swapped[i+1] = word[i], word[i+1]
	}
	if found == 0 {
		return false
	}
	w.replace(at.start+found, at.start+found+2, string([]byte{word[found+1], word[found]}))
	return true
}

// readJoined puts blanks between joined words if all of them are then known:
// youstupididiot, theidiot, but not Penistone, Allcock or misconceptions. Short words must
// be in joining. If there are two words, the short one must not begin many longer words,
// and the other must be long. It reports whether it did.
func (rd reader) readJoined(w *rewriting, at stretch, cost int) bool {
	word := w.text[at.start:at.end]
	if len(word) < 8 || cost < 3 {
		return false
	}
	words, _ := rd.segment(word, 3)
	if len(words) < 2 || len(words) >= cost || len(words)*3 > len(word) {
		return false
	}
	for _, one := range words {
		prefix, joins := joining[strings.ToLower(one)]
		long := 4
		if len(words) == 2 {
			joins, long = joins && !prefix, minGuess
		}
		if !joins && (len(one) < long || rd.cost(one) > 1) {
			return false
		}
	}
	w.divide(at.start, words)
	return true
}
