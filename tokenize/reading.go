package tokenize

import (
	"math"
	"slices"
	"sort"
	"sync"
)

// Reading is a text as a reader reads it: with the disguise undone by which people
// slip past filters. Text is the new text; Original leads back to the old one.
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
// tokenizer decides: a reading must take fewer tokens than the original, since
// a vocabulary holds words and not disguises. What is spelt like code, an address, a
// number, a unit or a name of a model is left alone, and so are words wholly in
// another alphabet. Invalid UTF-8 is copied.
//
// Time is linear in the text.
func (t *Tokenizer) Read(text string) Reading {
	reading := Reading{Text: text}
	// One disguise may hide another: "s t u u u p i d".
	for range maxPasses {
		letters := t.readLetters(reading.Text).step(&reading)
		words := t.readWords(reading.Text).step(&reading)
		if !letters && !words {
			break
		}
	}
	return reading
}

// maxPasses bounds the time; no text was found that needs more than three.
const maxPasses = 6

// EncodeReading fills enc with the tokens of text as a reader reads it, their offsets
// pointing into text itself. It reports false, and leaves enc empty, where that gives
// the ids that plain has, which must be what Encode gave for text.
//
// A normaliser that drops accents or invisible characters thus makes readings that
// differ in nothing else the same.
func (t *Tokenizer) EncodeReading(text string, plain, enc *Encoding) (differs bool, err error) {
	enc.IDs, enc.Offsets, enc.Words = enc.IDs[:0], enc.Offsets[:0], enc.Words[:0]
	reading := t.Read(text)
	if reading.Text == text {
		return false, nil
	}
	if err := t.Encode(reading.Text, enc); err != nil {
		return false, err
	}
	if slices.Equal(plain.IDs, enc.IDs) {
		enc.IDs, enc.Offsets, enc.Words = enc.IDs[:0], enc.Offsets[:0], enc.Words[:0]
		return false, nil
	}
	for i, o := range enc.Offsets {
		if o.Start < o.End {
			start, end := reading.Original(int(o.Start), int(o.End))
			enc.Offsets[i] = Offset{int32(start), int32(end)}
		}
	}
	return true, nil
}

var encodings = sync.Pool{New: func() any { return new(Encoding) }}

// cost is how many tokens a word takes: 1 for one of the vocabulary's words.
func (t *Tokenizer) cost(word string) int {
	tokens, _ := t.weigh(" " + word)
	return tokens
}

// weigh returns how many tokens a word takes and the highest id of them: vocabularies
// begin with what is frequent. The word must have a blank before it, without which a
// model of bytes has another token for it.
func (t *Tokenizer) weigh(spaced string) (tokens int, rank int64) {
	enc := encodings.Get().(*Encoding)
	defer encodings.Put(enc)
	if err := t.Encode(spaced, enc); err != nil || len(enc.IDs) == 0 {
		return len(spaced), math.MaxInt64
	}
	return len(enc.IDs), slices.Max(enc.IDs)
}
