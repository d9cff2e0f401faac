// Package disguise reads text as people do: it undoes spelling that hides words
// from filters.
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

// Vocabulary distinguishes words from other strings of letters. Its methods must be
// safe for concurrent use if Read is called concurrently.
type Vocabulary interface {
	// Weigh returns how many tokens a word takes, 1 for a word of the vocabulary, and
	// its rank, which decides between readings with the same number of tokens: a lower
	// rank is more frequent. The word is given with a blank before it. A word that no
	// tokens spell counts as one token per byte.
	Weigh(spaced string) (tokens int, rank int64)
}

// Completer is implemented by vocabularies that can find words with missing letters.
// With others, [Read] leaves stars in words as they are.
type Completer interface {
	// Complete returns the only word of the vocabulary that fits a pattern of the
	// letters a to z, in which each star stands for one letter. It returns "" if no
	// word fits, or more than one.
	Complete(pattern string) string
}

// Reading is a text with disguise undone. Text is the new text; Original maps its bytes
// to the old one.
type Reading struct {
	Text  string
	steps [][]edit // from the original to Text; steps are not empty
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
// ("i d i o t"), repeated letters ("idiooot"), swapped neighbours ("idoit"), and joined
// words ("stupid_idiot", "StupidIdiot", "stupididiot").
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
	reading := Reading{Text: text}
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
