package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// A cue lifts the score of an entity near it by cueLift, less cueFade for each word between
// them, so that the nearest of several cues decides.
const (
	cueLift = 0.4
	cueFade = 0.01
)

const (
	wordsBefore = 8   // the widest reach of cues, in words
	wordsAfter  = 3   //
	cueWindow   = 160 // bytes that are looked through for them
	cueWords    = 4   // the most words of a cue
)

// Cues finds cues in a text: by their first word, in lower case.
type Cues map[string][]cue

type cue struct {
	words []string
	text  string
	types typeSet
}

// typeSet has a bit for each of the kinds of [Patterns].
type typeSet uint64

// maxKinds is how many kinds a typeSet can have beside against.
const maxKinds = 63

const everyType = ^against

// setOf returns the set of a type, which is empty if no kind is of it.
func (p *Patterns) setOf(t toxscreen.EntityType) typeSet {
	i, ok := p.numbers[t]
	if !ok {
		return 0
	}
	return 1 << i
}

// against is the bit of words that speak against a number being anybody's.
const against typeSet = 1 << 63

var againstWords = []string{
	"isbn", "issn", "doi", "version", "build", "invoice", "order", "tracking", "serial", "sku", "ean", "upc", "ticket", "epoch", "timestamp", "commit",
	"revision", "rev", "release", "firmware", "id", "error", "code", "part", "model", "size", "byte", "hash", "checksum", "seed", "port", "pid", "lot", "batch", "issue",
	"page", "line", "row", "population", "index", "v", "section", "figure", "item", "request", "asset", "article", "catalogue", "catalog", "sample", "probe", "ts", "ms", "ns",
	"ref", "reference", "claim", "po", "purchase order", "pnr", "quote", "docket", "case no", "case number",
}

// maxCue is how many bytes a cue may have.
const maxCue = 200

// Add adds a cue of one or several words that supports every type.
func (x Cues) Add(text string) error { return x.add(text, everyType) }

// add adds a cue that supports types.
func (x Cues) add(text string, types typeSet) error {
	var words []string
	for at := 0; at < len(text); {
		end := Run(text, at, Word)
		if end > at {
			words = append(words, strings.ToLower(text[at:end]))
		}
		at = end + 1
	}
	if len(words) == 0 || len(words) > cueWords || len(text) > maxCue {
		return fmt.Errorf("the cue %.40q must have 1 to %d words and at most %d bytes", text, cueWords, maxCue)
	}
	for i, c := range x[words[0]] {
		if slices.Equal(c.words, words) {
			x[words[0]][i].types |= types
			return nil
		}
	}
	x[words[0]] = append(x[words[0]], cue{words, strings.Join(words, " "), types})
	return nil
}

// near is a cue near an entity.
type near struct {
	text     string
	types    typeSet
	distance int // words between
	after    bool
}

// find appends the cues among words; distance tells how far words from to to are.
func (x Cues) find(found []near, words []string, after bool) []near {
	for i, w := range words {
		entries, ok := x[w]
		if !ok && len(w) > 2 && w[len(w)-1] == 's' {
			entries = x[w[:len(w)-1]]
		}
		for _, c := range entries {
			if len(c.words) > len(words)-i || !follows(words[i+1:], c.words[1:]) {
				continue
			}
			distance := i
			if !after {
				distance = len(words) - i - len(c.words)
			}
			found = append(found, near{c.text, c.types, distance, after})
		}
	}
	return found
}

func follows(words, rest []string) bool {
	for i, w := range rest {
		if words[i] != w && strings.TrimSuffix(words[i], "s") != w {
			return false
		}
	}
	return true
}

// best returns the nearest of the cues that support a type within its reach.
func best(found []near, types typeSet, reach Reach) (near, bool) {
	var nearest near
	ok := false
	for _, n := range found {
		within := reach.Before
		if n.after {
			within = reach.After
		}
		if n.types&types != 0 && n.distance <= within && (!ok || n.distance < nearest.distance || n.distance == nearest.distance && len(n.text) > len(nearest.text)) {
			nearest, ok = n, true
		}
	}
	return nearest, ok
}

// leading appends the last words before an offset, in lower case and in their order. A
// blank line ends them; an end of line does not, since a label may stand in the line above.
// None begins before from.
func leading(words []string, text string, from, at int) []string {
	for from = max(from, at-cueWindow); len(words) < wordsBefore+cueWords; {
		end := at
		for end > from && classes[text[end-1]]&Word == 0 && !(text[end-1] == '\n' && Has(text, end-2, '\n')) {
			end--
			switch text[end] {
			case '>':
				if start := strings.LastIndexByte(text[from:end], '<'); start >= 0 && isMask(text[from+start:end+1]) {
					words = append(words, maskedWords...)
					end = from + start
				}
			case '#': // as in "policy #"
				if !Has(text, end-1, '#') {
					words = append(words, "number")
				}
			}
		}
		start := end
		for start > from && classes[text[start-1]]&Word != 0 && (start == end || !humps(text, start)) {
			start--
		}
		if start == end {
			break
		}
		if !(end-start == 1 && text[start] == 's' && Has(text, start-1, '\'')) { // as in "driver's"
			words = append(words, strings.ToLower(text[start:end]))
		}
		at = start
	}
	slices.Reverse(words)
	return words
}

// maskedWords stand for what was masked: a type in angle brackets is not a cue, and counts as many
// words as an account number in groups. So masked texts have no entities that they had not before.
var maskedWords = make([]string, 6)

// isMask tells whether a part of a text is like <CREDIT_CARD>.
func isMask(part string) bool {
	return len(part) > 2 && len(part) < 40 && strings.Trim(part[1:len(part)-1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// humps tells whether a capital after a small letter begins a word at an offset, as in
// cardNumber.
func humps(text string, at int) bool { return Is(text, at, Upper) && Is(text, at-1, Lower) }

// trailing appends the first words after an offset, in lower case, and returns how many of
// them stand before a comma. The end of a sentence or a line ends them.
func trailing(words []string, text string, at int) (all []string, clause int) {
	clause = -1
	to := min(len(text), at+cueWindow)
read:
	for at < to && len(words) < wordsAfter+cueWords {
		if classes[text[at]]&Word != 0 {
			end := at + 1
			for end < to && classes[text[end]]&Word != 0 && !humps(text, end) {
				end++
			}
			words = append(words, strings.ToLower(text[at:end]))
			at = end
			continue
		}
		switch text[at] {
		case '\n', '!', '?', ';':
			break read
		case '.':
			if !Is(text, at+1, Word) {
				break read
			}
		case ',':
			if clause < 0 {
				clause = len(words)
			}
		case '<':
			if i := strings.IndexByte(text[at:to], '>'); i > 0 && isMask(text[at:at+i+1]) {
				words = append(words, maskedWords...)
				at += i
			}
		}
		at++
	}
	if clause < 0 {
		clause = len(words)
	}
	return words, clause
}
