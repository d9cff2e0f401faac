// Package disguise reads text as people do: it undoes the spelling by which words
// slip past filters.
//
//	reading := disguise.Read("you are an 1d10t", tokenizer)
//	fmt.Println(reading.Text)              // you are an idiot
//	start, end := reading.Original(11, 16) // the bytes of 1d10t: 11 and 16
//
// A [Vocabulary] decides what is a word; a tokenize.Tokenizer is one. There is no list
// of bad words: see docs/decisions/0006-disguise.md.
package disguise

import (
	"slices"
	"sort"
)

// Vocabulary tells words from other strings of letters. Its methods must be safe for
// concurrent use where Read is called concurrently.
type Vocabulary interface {
	// Weigh returns how many tokens a word takes, 1 for a word of the vocabulary, and
	// its rank, which decides between readings of as many tokens: the lower the more
	// frequent. The word is given with a blank before it. One that no tokens spell
	// counts as one token a byte.
	Weigh(spaced string) (tokens int, rank int64)
}

// Completer is implemented by vocabularies that find words of which some letters are
// missing. With others, [Read] leaves stars in words as they are.
type Completer interface {
	// Complete returns the only word of the vocabulary that fits a pattern of the
	// letters a to z, in which each star stands for one of them. It returns "" where
	// no word fits, or more than one.
	Complete(pattern string) string
}

// Reading is a text as a reader reads it. Text is the new text; Original leads back to
// the old one.
type Reading struct {
	Text  string
	steps [][]edit // from the original to Text; no step is empty
}

// edit says that the bytes from to to of a new text stand for start to end of the old.
// What lies between two edits was copied.
type edit struct{ from, to, start, end int32 }

// Original returns the bytes of the original that the bytes from to to of Text stand
// for. Both ranges are end exclusive and lie on the boundaries of characters, if from
// and to do. It needs 0 ≤ from < to ≤ len(Text).
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

// rewriting builds a Reading while a text is walked through. It takes no memory until
// something is replaced.
type rewriting struct {
	text  string
	out   []byte
	at    int // how much of text is dealt with
	edits []edit
}

// replace puts a new text for the bytes start to end, at least one, which must not lie
// before those of the call before.
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

// divide puts blanks between words that lie side by side from start on.
func (w *rewriting) divide(start int, words []string) {
	for _, word := range words[:len(words)-1] {
		start += len(word)
		w.replace(start, start+1, " "+w.text[start:start+1])
	}
}

// step adds to a reading what was replaced in its text, and reports whether that is
// anything.
func (w rewriting) step(r *Reading) bool {
	if len(w.edits) == 0 {
		return false
	}
	r.Text, r.steps = string(append(w.out, w.text[w.at:]...)), append(r.steps, w.edits)
	return true
}

// Read returns text as a reader reads it. It undoes letters of other alphabets and
// styles ("іdіоt", "ｉｄｉｏｔ", "𝓲𝓭𝓲𝓸𝓽"), letters turned upside down ("ʇoıpı"),
// invisible characters and heaps of combining ones, digits and signs for letters
// ("1d10t"), stars in a word that can be no other ("id*ot"), letters with blanks or
// stops between them ("i d i o t"), letters repeated ("idiooot"), neighbours swapped
// ("idoit"), and words joined ("stupid_idiot", "StupidIdiot", "stupididiot").
//
// Where a word can be read in several ways, or need not be a disguise at all, the
// vocabulary decides: a reading must take fewer tokens than the original, since
// a vocabulary holds words and not disguises. What is spelt like code, an address, a
// number, a unit or a name of a model is left alone, and so are words wholly in
// another alphabet. Invalid UTF-8 is copied.
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

// maxPasses bounds the time; no text was found that needs more than three.
const maxPasses = 6

// reader reads with one vocabulary.
type reader struct{ Vocabulary }

// cost is how many tokens a word takes: 1 for one of the vocabulary's words.
func (rd reader) cost(word string) int {
	tokens, _ := rd.Weigh(" " + word)
	return tokens
}
