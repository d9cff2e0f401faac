package disguise

import (
	"bytes"
	"math"
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

// Characters that may precede and follow the letters of a word.
const (
	opening = "\"'(["
	closing = "\"')].,!?;:"
)

// minGuess is the minimum number of letters of a word that may have swapped letters, be
// several joined words, or have separators between its letters.
const minGuess = 5

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
			_ = rd.readCapitals(w, at, cost) || rd.OneLanguage() && (rd.readSwapped(w, at) || rd.readJoined(w, at, cost))
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
