package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/sentence"
)

// part is a part of a text, in byte offsets.
type part struct{ start, end int }

// sight is what a judge sees of a text.
type sight struct {
	// parts is the passage, or several parts of a long text of which nothing is known.
	parts []part
	// core has the parts of the passage that the classifier's score rests on, ordered;
	// nil if they are all of it.
	core []part
	// cut is true if the core is longer than the limit, so that the passage is its
	// middle.
	cut bool
}

// sight returns what the judge sees of a case if limit bytes are the most.
func (c Case) sight(limit int) sight {
	if len(c.Found.Windows) > 0 || len(c.Found.Spans) > 0 {
		return passageOf(c.Text, c.Found, limit)
	}
	return sight{parts: excerpt(c.Text, limit, 0, len(c.Text)/2, len(c.Text))}
}

// shown returns the parts of the text that a question quotes, and the warnings about
// what it leaves out.
func (c Case) shown(limit int) (parts []part, warnings []string) {
	seen := c.sight(limit)
	if c.alone && seen.core != nil {
		return seen.core, nil
	}
	first, size := seen.parts[0], shownBytes(seen.parts)
	switch {
	case size == len(c.Text):
	case len(seen.parts) > 1:
		warnings = append(warnings, fmt.Sprintf("the judge saw %d of %d bytes: the beginning, the middle and the end", size, len(c.Text)))
	case seen.cut:
		warnings = append(warnings, fmt.Sprintf("the judge saw bytes %d–%d of %d: the middle of the worst passage, which is too long for it", first.start, first.end, len(c.Text)))
	default:
		warnings = append(warnings, fmt.Sprintf("the judge saw bytes %d–%d of %d: the worst passage", first.start, first.end, len(c.Text)))
	}
	return seen.parts, warnings
}

// shownBytes returns the number of bytes of the parts.
func shownBytes(parts []part) int {
	sum := 0
	for _, p := range parts {
		sum += p.end - p.start
	}
	return sum
}

const (
	// around is how many words of a clause beside its spans belong to the core: enough
	// for a negation or an object. A sentence that has no more words is not divided.
	around = 12
	// leastClause is the number of words below which a clause is no clause: a text must
	// not hide what it says by a mark after each word.
	leastClause = 3
	// reach is how many bytes before and after the core the passage has at most: two
	// sentences of average length, or one long one.
	reach = 400
)

// passageOf returns the worst passage of a text that a classifier found something in.
//
// The core is the clauses with spans in the window with the highest toxicity, or that
// window if it has no spans. The passage is from the sentence before the core to the one
// after it, as far as they reach. It has at most limit bytes, in the text and as the
// prompt shows it.
func passageOf(text string, found toxscreen.Classification, limit int) sight {
	window := worst(text, found)
	var spans []part
	focus, most := window, -1.0 // the most probable span, or the window
	for _, s := range found.Spans {
		p := within(text, s.Start, s.End)
		if p.start == p.end || !overlap(p, window) {
			continue
		}
		spans = append(spans, p)
		if weight := highest(s); weight > most {
			focus, most = p, weight
		}
	}
	cut := !fits(text, focus, limit)
	if cut {
		focus = middle(text, focus, limit)
	}
	// Nothing farther away can be in the passage.
	near := within(text, focus.start-limit, focus.end+limit)
	spans = slices.DeleteFunc(spans, func(s part) bool { return s.start < near.start || s.end > near.end })
	sentences := sentencesIn(text, near)

	core := []part{focus}
	if len(spans) > 0 && !cut {
		core = narrowed(text, clausesWith(text, sentences, spans), focus, limit)
	}
	whole := part{core[0].start, core[len(core)-1].end}
	passage := withNeighbours(text, sentences, whole, limit)
	return sight{parts: []part{passage}, core: distinct(text, core, passage), cut: cut}
}

// worst returns the window with the highest toxicity; of equal ones, the one whose
// highest attribute is the highest relative to its threshold; of these, the first.
// Without windows it is the text.
func worst(text string, found toxscreen.Classification) part {
	if len(found.Windows) == 0 {
		return part{0, len(text)}
	}
	relative := func(w toxscreen.Window) float64 {
		most := 0.0
		for a, p := range w.Scores.All() {
			if threshold, ok := found.Thresholds.Get(a); ok && threshold > 0 {
				most = max(most, p/threshold)
			}
		}
		return most
	}
	w := slices.MaxFunc(found.Windows, func(a, b toxscreen.Window) int {
		first, _ := a.Scores.Get(toxscreen.Toxicity)
		second, _ := b.Scores.Get(toxscreen.Toxicity)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(relative(a), relative(b)))
	})
	return within(text, w.Start, w.End)
}

// highest returns the highest probability of a span.
func highest(s toxscreen.Span) float64 {
	most := 0.0
	for _, p := range s.Attributes.All() {
		most = max(most, p)
	}
	return most
}

// clausesWith returns the clauses that have spans, each without what is more than
// [around] words or [reach] bytes away from them. Clauses with fewer than [leastClause]
// words between them are one part.
func clausesWith(text string, sentences, spans []part) []part {
	var core []part
	for _, s := range sentences {
		if !slices.ContainsFunc(spans, func(span part) bool { return overlap(span, s) }) {
			continue
		}
		for _, c := range clauses(text, s, spans) {
			held := part{c.end, c.start}
			for _, span := range spans {
				if overlap(span, c) {
					held.start = min(held.start, max(span.start, c.start))
					held.end = max(held.end, min(span.end, c.end))
				}
			}
			if held.start >= held.end {
				continue
			}
			p := wordsAround(text, c, held)
			if last := len(core) - 1; last >= 0 && words(text, part{core[last].end, p.start}) < leastClause {
				core[last].end = p.end
				continue
			}
			core = append(core, p)
		}
	}
	return core
}

// clauses divides a sentence of more than [around] words at its quotation marks,
// brackets, dashes, colons and semicolons, but not inside a span.
func clauses(text string, s part, spans []part) []part {
	if words(text, s) <= around {
		return []part{s}
	}
	var ends []int
	for i, c := range text[s.start:s.end] {
		at := s.start + i
		if !divides(text[:s.end], at, c) {
			continue
		}
		end := at + utf8.RuneLen(c)
		if !slices.ContainsFunc(spans, func(span part) bool { return span.start < end && end < span.end }) {
			ends = append(ends, end)
		}
	}
	var all []part
	at := s.start
	for _, end := range append(ends, s.end) {
		last := len(all) - 1
		switch short := words(text, part{at, end}) < leastClause; {
		case short && last >= 0:
			all[last].end = end
		case short && end < s.end:
			continue // what follows belongs to it
		default:
			all = append(all, part{at, end})
		}
		at = end
	}
	return all
}

// words returns the number of words in a part of a text, divided by blanks.
func words(text string, p part) int {
	n := 0
	for word := range strings.FieldsSeq(text[p.start:p.end]) {
		if scorable(word) {
			n++
		}
	}
	return n
}

// divides reports whether the rune c at an offset of a text ends a clause.
func divides(text string, at int, c rune) bool {
	if c == utf8.RuneError {
		return false // perhaps a byte that is not UTF-8
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	behind, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(c):])
	switch c {
	case '"', ';', '；', '：':
		return true
	case ':': // of no time or address
		return !wordRune(behind) && behind != '/'
	case '\'', '’', '‘', '`': // no apostrophe
		return !wordRune(before) || !wordRune(behind)
	case '-', '\u2010', '\u2011': // no hyphen
		return before == c || behind == c || unicode.IsSpace(before) && unicode.IsSpace(behind)
	}
	return unicode.In(c, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Pd)
}

// wordsAround returns the part of a clause from [around] words before its spans
// to [around] words after them, without blanks and marks of clauses at its ends.
func wordsAround(text string, clause, held part) part {
	blank := unicode.IsSpace
	word := func(c rune) bool { return !unicode.IsSpace(c) }
	from, to := max(clause.start, snap(text, held.start-reach)), min(clause.end, snap(text, held.end+reach))
	before := strings.TrimRightFunc(text[from:held.start], word) // the beginning of the word that they start in
	after := strings.TrimLeftFunc(text[held.end:to], word)
	for range around {
		before = strings.TrimRightFunc(strings.TrimRightFunc(before, blank), word)
		after = strings.TrimLeftFunc(strings.TrimLeftFunc(after, blank), word)
	}
	edge := func(c rune) bool { return blank(c) || divides(" "+string(c)+" ", 1, c) }
	p := part{from + len(before), to - len(after)}
	p.start = held.start - len(strings.TrimLeftFunc(text[p.start:held.start], edge))
	p.end = held.end + len(strings.TrimRightFunc(text[held.end:p.end], edge))
	return p
}

// narrowed returns a core without the parts that are the farthest from the focus, so that
// it fits with everything between its parts.
func narrowed(text string, core []part, focus part, limit int) []part {
	for len(core) > 1 && !fits(text, part{core[0].start, core[len(core)-1].end}, limit) {
		if focus.start-core[0].end > core[len(core)-1].start-focus.end {
			core = core[1:]
		} else {
			core = core[:len(core)-1]
		}
	}
	if !fits(text, core[0], limit) {
		core[0] = focus
	}
	return core
}

// withNeighbours returns a core with the rest of its sentences, the sentence before them
// and the one after them, as far as [reach] and limit allow.
func withNeighbours(text string, sentences []part, core part, limit int) part {
	most := core
	for i, s := range sentences {
		if overlap(s, core) {
			most.start = min(most.start, sentences[max(i-1, 0)].start)
			most.end = max(most.end, sentences[min(i+1, len(sentences)-1)].end)
		}
	}
	for room := reach; ; room = room * 3 / 4 {
		p := most
		// A neighbour that is cut is cut between words, if it has any.
		if at := snap(text, max(core.start-room, 0)); at > p.start {
			p.start = at
			if first := strings.IndexFunc(text[at:core.start], unicode.IsSpace); first >= 0 {
				p.start = core.start - len(strings.TrimLeftFunc(text[at+first:core.start], unicode.IsSpace))
			}
		}
		if at := snap(text, min(core.end+room, len(text))); at < p.end {
			p.end = at
			if last := strings.LastIndexFunc(text[core.end:at], unicode.IsSpace); last >= 0 {
				p.end = core.end + last
			}
		}
		if room == 0 || fits(text, p, limit) {
			return p
		}
	}
}

// distinct returns the core of a passage, or nil if either of them has nothing that the
// other lacks but blanks and punctuation.
func distinct(text string, core []part, passage part) []part {
	inside, outside := false, false
	at := passage.start
	for _, p := range core {
		inside = inside || scorable(text[p.start:p.end])
		outside = outside || scorable(text[at:p.start])
		at = p.end
	}
	if !inside || !outside && !scorable(text[at:passage.end]) {
		return nil
	}
	return core
}

// scorable reports whether a piece of a text has a letter, a number or a symbol, such as
// an emoji.
func scorable(piece string) bool {
	return strings.ContainsFunc(piece, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsSymbol(c) })
}

// within returns the part of a text between two offsets, which may be outside it or
// inside a rune.
func within(text string, start, end int) part {
	p := part{snap(text, min(max(start, 0), len(text))), min(max(end, 0), len(text))}
	if at := snap(text, p.end); at < p.end { // inside a rune
		_, size := utf8.DecodeRuneInString(text[at:])
		p.end = at + size
	}
	p.end = max(p.start, p.end)
	return p
}

// sentencesIn returns the sentences of a part of a text.
func sentencesIn(text string, p part) []part {
	var all []part
	at := p.start
	for _, end := range sentence.Ends(text[p.start:p.end]) {
		all = append(all, part{at, p.start + end})
		at = p.start + end
	}
	return all
}

// middle returns as much of the middle of a part as fits.
func middle(text string, p part, limit int) part {
	centre := (p.start + p.end) / 2
	for width := limit; ; width = width * 3 / 4 {
		m := part{snap(text, max(centre-width/2, p.start)), snap(text, min(centre+width/2, p.end))}
		if fits(text, m, limit) {
			return m
		}
	}
}

// fits reports whether a part has at most limit bytes, also as the prompt shows it.
func fits(text string, p part, limit int) bool {
	return p.end-p.start <= limit && len(marked(text[p.start:p.end])) <= limit
}

func overlap(a, b part) bool { return a.start < b.end && b.start < a.end }
