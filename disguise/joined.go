package disguise

import (
	"slices"
	"strings"
)

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
