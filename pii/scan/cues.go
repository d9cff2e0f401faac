package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// A cue raises the score of an entity near it by cueLift, less cueFade for each word
// between them. Of several cues the nearest decides.
const (
	cueLift = 0.4
	cueFade = 0.01
)

const (
	wordsBefore = 8   // the widest reach of cues, in words
	wordsAfter  = 3   //
	cueWindow   = 160 // bytes on each side of an entity that are searched for cues
	cueWords    = 4   // the most words of a cue
)

// Cues are words and phrases that support entities near them, by their first word in lower
// case.
type Cues map[string][]cue

type cue struct {
	words []string
	text  string
	types typeSet
}

// typeSet is a set of the kinds of [Patterns]: a bit for each.
type typeSet uint64

// maxKinds is how many kinds fit into a typeSet, whose last bit is [against].
const maxKinds = 63

const everyType = ^against

// setOf returns the set of the kinds with a type. It is empty if the patterns lack the
// type.
func (p *Patterns) setOf(t toxscreen.EntityType) typeSet {
	i, ok := p.numbers[t]
	if !ok {
		return 0
	}
	return 1 << i
}

// against is the bit of words which say that a number belongs to no person, like "order".
const against typeSet = 1 << 63

var againstWords = []string{
	"isbn", "issn", "doi", "version", "build", "invoice", "order", "tracking", "serial", "sku", "ean", "upc", "ticket", "epoch", "timestamp", "commit",
	"revision", "rev", "release", "firmware", "id", "error", "code", "part", "model", "size", "byte", "hash", "checksum", "seed", "port", "pid", "lot", "batch", "issue",
	"page", "line", "row", "population", "index", "v", "section", "figure", "item", "request", "asset", "article", "catalogue", "catalog", "sample", "probe", "ts", "ms", "ns",
	"ref", "reference", "claim", "po", "purchase order", "pnr", "quote", "docket", "case no", "case number",
}

// maxCue is the limit of a cue in bytes.
const maxCue = 200

// Add adds a cue that supports every type. It fails unless the cue has 1 to 4 words and at
// most 200 bytes. It must not run while a scan uses x.
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

// find appends the cues that begin at one of words to found. after says that the words
// follow the entity.
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

// best returns the nearest cue that supports one of types within reach.
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

// leading appends the words of text from offset from to offset at that stand last, in lower
// case and in their order. It stops at a blank line, but not at the end of a line: the
// label of a value may stand in the line above.
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

// maskedWords stand for a mask like <CREDIT_CARD>: its words are not cues, and it counts as
// six words, like an account number in groups. So masking brings no cue nearer to an
// entity.
var maskedWords = make([]string, 6)

// isMask tells whether a part of a text is like <CREDIT_CARD>.
func isMask(part string) bool {
	return len(part) > 2 && len(part) < 40 && strings.Trim(part[1:len(part)-1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// humps tells whether a word begins at an offset because a capital follows a small letter,
// like the N of cardNumber.
func humps(text string, at int) bool { return Is(text, at, Upper) && Is(text, at-1, Lower) }

// trailing appends the first words after an offset, in lower case, and returns how many of
// them stand before a comma. It stops at the end of the sentence or line.
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
