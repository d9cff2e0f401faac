package disguise

import "strings"

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
