// Package disguise reads text as people do: [Fold] undoes odd typography, and [Read] spelling
// that hides words from filters.
//
//	reading := disguise.Read("you are an 1d10t", tokenizer)
//	fmt.Println(reading.Text)              // you are an idiot
//	start, end := reading.Original(11, 16) // the bytes of 1d10t: 11 and 16
//
// A [Vocabulary] decides what is a word; a tokenize.Tokenizer is one. There is no list
// of bad words, see docs/decisions/0006-disguise.md.
package disguise

import (
	"slices"
	"sort"
)

// Vocabulary knows which strings of letters are words. Its methods must be safe for
// concurrent use if Read is called concurrently.
type Vocabulary interface {
	// Weigh returns how many tokens a word takes, 1 for a word of the vocabulary, and
	// its rank, which decides between readings with the same number of tokens: a lower
	// rank is more frequent. The word is given with a blank before it. A word that no
	// tokens spell counts as one token per byte.
	Weigh(spaced string) (tokens int, rank int64)
	// Complete returns the only word of the vocabulary that fits a pattern of the
	// letters a to z, in which each star stands for one letter. It returns "" if no
	// word fits, or more than one, or if the vocabulary cannot be searched.
	Complete(pattern string) string
	// OneLanguage reports whether the words are those of one language. In several, letters
	// that are swapped and words that are joined too often look like another word.
	OneLanguage() bool
}

// Reading is a text with disguise undone. Text is the new text; Original maps its bytes
// to the old one.
type Reading struct {
	Text     string
	original string
	steps    [][]edit // from the original to Text; steps are not empty
}

// edit says that bytes from to to of the new text stand for bytes start to end of the
// old. Text between two edits is copied.
type edit struct{ from, to, start, end int32 }

// Original returns the bytes of the original that bytes from to to of Text stand for.
// Both ranges are end exclusive. The result lies on character boundaries if from and to
// do. It needs 0 ≤ from < to ≤ len(Text).
func (r *Reading) Original(from, to int) (start, end int) {
	start, end = from, to
	for _, edits := range slices.Backward(r.steps) {
		start, end = original(edits, start, end)
	}
	return start, end
}

// original undoes one step.
func original(edits []edit, from, to int) (start, end int) {
	start, end = from, to
	if n := sort.Search(len(edits), func(i int) bool { return int(edits[i].from) > from }); n > 0 {
		e := edits[n-1]
		start = from - int(e.to) + int(e.end)
		if from < int(e.to) {
			start = int(e.start)
		}
	}
	if n := sort.Search(len(edits), func(i int) bool { return int(edits[i].from) >= to }); n > 0 {
		e := edits[n-1]
		end = max(to, int(e.to)) - int(e.to) + int(e.end)
	}
	return start, end
}

// A Change is a part of a text, one word or several, that is read differently than it is
// written.
type Change struct {
	Start, End int    // bytes of the original, end exclusive
	ReadAs     string // what stands for them in Text
}

// Changes returns the parts of the original that are read differently, in their order. A
// part begins and ends where words do: at a blank, or at punctuation that stays as it is.
// The original with each part replaced by its reading is Text.
func (r *Reading) Changes() []Change {
	var changes []Change
	for _, part := range r.changed() {
		from, to := r.reading(part.start), r.reading(part.end)
		c := Change{part.start, part.end, r.Text[from:to]}
		for c.Start < c.End && c.ReadAs != "" && isPunctuation(c.ReadAs[0]) && r.original[c.Start] == c.ReadAs[0] {
			c.Start, c.ReadAs = c.Start+1, c.ReadAs[1:]
		}
		for last := len(c.ReadAs) - 1; c.Start < c.End && last >= 0 && isPunctuation(c.ReadAs[last]) && r.original[c.End-1] == c.ReadAs[last]; last-- {
			c.End, c.ReadAs = c.End-1, c.ReadAs[:last]
		}
		if r.original[c.Start:c.End] != c.ReadAs {
			changes = append(changes, c)
		}
	}
	return changes
}

// changed returns the parts of the original that any step edits, in their order, widened
// to the blanks around them.
func (r *Reading) changed() []stretch {
	var edited []stretch
	for i, edits := range r.steps {
		for _, e := range edits {
			part := stretch{int(e.start), int(e.end)}
			for _, earlier := range slices.Backward(r.steps[:i]) {
				part.start, part.end = original(earlier, part.start, part.end)
			}
			edited = append(edited, part)
		}
	}
	slices.SortFunc(edited, func(a, b stretch) int { return a.start - b.start })
	var parts []stretch
	end := 0 // of the last part
	for _, part := range edited {
		if len(parts) == 0 || part.start > end {
			for part.start > end && byteKinds[r.original[part.start-1]] != blank {
				part.start--
			}
			parts = append(parts, part)
		}
		for end = max(end, part.end); end < len(r.original) && byteKinds[r.original[end]] != blank; {
			end++
		}
		parts[len(parts)-1].end = end
	}
	return parts
}

// reading returns the byte of Text that byte at of the original became. No step may have
// edited a part that at is inside of.
func (r *Reading) reading(at int) int {
	for _, edits := range r.steps {
		if n := sort.Search(len(edits), func(i int) bool { return int(edits[i].start) >= at }); n > 0 {
			at += int(edits[n-1].to) - int(edits[n-1].end)
		}
	}
	return at
}

func isPunctuation(b byte) bool { return byteKinds[b]&(letter|digit|wide|blank) == 0 }

// rewriting builds a Reading while scanning a text. It takes no memory until something
// is replaced.
type rewriting struct {
	text  string
	out   []byte
	at    int // how much of text has been processed
	edits []edit
}

// replace substitutes bytes start to end, at least one, which must not lie before those
// of the previous call.
func (w *rewriting) replace(start, end int, by string) {
	if w.text[start:end] == by {
		return
	}
	w.out = append(w.out, w.text[w.at:start]...)
	from := len(w.out)
	w.out = append(w.out, by...)
	w.edits = append(w.edits, edit{int32(from), int32(len(w.out)), int32(start), int32(end)})
	w.at = end
}

// divide puts blanks between adjacent words, the first of which begins at start.
func (w *rewriting) divide(start int, words []string) {
	for _, word := range words[:len(words)-1] {
		start += len(word)
		w.replace(start, start+1, " "+w.text[start:start+1])
	}
}

// step adds the replacements to a reading and reports whether there are any.
func (w rewriting) step(r *Reading) bool {
	if len(w.edits) == 0 {
		return false
	}
	r.Text, r.steps = string(append(w.out, w.text[w.at:]...)), append(r.steps, w.edits)
	return true
}

// Read returns the reading of text. It undoes letters of other alphabets and styles
// ("іdіоt", "ｉｄｉｏｔ", "𝓲𝓭𝓲𝓸𝓽"), letters turned upside down ("ʇoıpı"), invisible
// characters and stacked combining marks, digits and signs for letters ("1d10t"), stars
// in a word that only one word fits ("id*ot"), letters with blanks or stops between them
// ("i d i o t"), repeated letters ("idiooot"), swapped neighbours ("idoit"), joined words
// ("stupid_idiot", "StupidIdiot", "stupididiot"), and flags whose letters spell a word.
//
// If a word can be read in several ways, or may not be a disguise, the vocabulary
// decides: a reading must take fewer tokens than the original, since a vocabulary holds
// words and not disguises. Text that looks like code, an address, a number, a unit or a
// model's name is not changed, and neither are words entirely in another alphabet.
// Invalid UTF-8 is copied.
//
// The time is linear in the length of the text.
func Read(text string, words Vocabulary) Reading {
	rd := reader{words}
	reading := Reading{Text: text, original: text}
	rd.readFlags(text).step(&reading)
	// One disguise may hide another: "s t u u u p i d".
	for range maxPasses {
		inLetters := rd.readLetters(reading.Text).step(&reading)
		inWords := rd.readWords(reading.Text).step(&reading)
		if !inLetters && !inWords {
			break
		}
	}
	return reading
}

// maxPasses bounds the time; no known text needs more than three.
const maxPasses = 6

// reader reads with one vocabulary.
type reader struct{ Vocabulary }

// cost is how many tokens a word takes: 1 for a word of the vocabulary.
func (rd reader) cost(word string) int {
	tokens, _ := rd.Weigh(" " + word)
	return tokens
}
