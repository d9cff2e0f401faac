package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/sentence"
)

// part is a part of a text, in byte offsets.
type part struct{ start, end int }

// sight is what a judge sees of a text.
type sight struct {
	// parts is the passage, or several parts of a long text of which nothing is known.
	parts []part
	// clauses are those of the passage, ordered; nil if there is nothing to choose from.
	clauses []part
	// cut is true if what was found is longer than the limit, so that the passage is its
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
	if c.core != nil {
		return c.core, nil
	}
	seen := c.sight(limit)
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
	// around is how many words of a clause beside its spans belong to it: enough for a
	// negation or an object. A sentence that has no more words is not divided.
	around = 12
	// leastClause is the least number of words of a clause: otherwise a text could hide
	// what it says by a mark after each word.
	leastClause = 3
	// explained is the share of the passage's score that the worst clause must reach by
	// itself to explain that score.
	explained = 0.5
	// leastCode is the mean length in bytes from which on runs of letters between two
	// blanks are code instead of words.
	leastCode = 24
	// reach is how many bytes before and after what was found the passage has at most: two
	// sentences of average length, or one long one.
	reach = 400
	// nearWorst is the share of the worst clause's score that makes another clause a part
	// of the core, too: the classifier may find the worst clause worse than the judge does.
	// With the attacks in testdata/attacks/tuning.jsonl, a judge that obeys them lowered 30
	// of 720 scores at 0.85, and 37 at 0.7.
	nearWorst = 0.85
)

// passageOf returns the worst passage of a text that a classifier found something in: from
// the sentence before the spans in the window with the highest toxicity to the one after
// them, as far as they reach. Without spans it is from the sentence before the window to
// the one after it. It has at most limit bytes, in the text and as the prompt shows it.
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

	core := focus
	if len(spans) > 0 && !cut {
		core = narrowed(text, spans, focus, limit)
	}
	passage := withNeighbours(text, sentences, core, limit)
	return sight{parts: []part{passage}, clauses: clausesOf(text, passage, spans), cut: cut}
}

// worst returns the window with the highest toxicity; of equal ones, the one whose
// highest attribute is the highest relative to its threshold; of these, the first.
// Without windows it is the text.
func worst(text string, found toxscreen.Classification) part {
	if len(found.Windows) == 0 {
		return part{0, len(text)}
	}
	w := slices.MaxFunc(found.Windows, func(a, b toxscreen.Window) int {
		first, _ := a.Scores.Get(toxscreen.Toxicity)
		second, _ := b.Scores.Get(toxscreen.Toxicity)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(relative(a.Scores, found.Thresholds), relative(b.Scores, found.Thresholds)))
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

// clausesOf returns the clauses of a passage. A clause with spans is cut [around] words or
// [reach] bytes before and after them. If the only clause is the whole passage, blanks and
// punctuation aside, clausesOf returns nil.
func clausesOf(text string, passage part, spans []part) []part {
	var all []part
	for _, s := range sentencesIn(text, passage) {
		for _, c := range clauses(text, s, spans) {
			held := part{c.end, c.start}
			for _, span := range spans {
				if overlap(span, c) {
					held.start = min(held.start, max(span.start, c.start))
					held.end = max(held.end, min(span.end, c.end))
				}
			}
			if held.start < held.end {
				c = wordsAround(text, c, held)
			} else {
				c = trimmed(text, c)
			}
			if scorable(text[c.start:c.end]) {
				all = append(all, c)
			}
		}
	}
	if len(all) == 0 || len(all) == 1 && !moreThan(text, passage, all) {
		return nil
	}
	return all
}

// moreThan reports whether a passage has more than the given parts of it, blanks and
// punctuation aside.
func moreThan(text string, passage part, parts []part) bool {
	at := passage.start
	for _, p := range parts {
		if scorable(text[at:p.start]) {
			return true
		}
		at = p.end
	}
	return scorable(text[at:passage.end])
}

// core returns the clauses of a passage that its score rests on: those that the classifier
// scores nearly as high as the worst one, relative to the thresholds. If no clause explains
// the score of the passage, all clauses are the core. Clauses with fewer than [leastClause]
// words between them become one part.
func (j *Judge) core(ctx context.Context, text string, seen sight) ([]part, error) {
	if len(seen.clauses) < 2 || j.config.Classifier == nil {
		return seen.clauses, nil
	}
	var scores []float64 // of the clauses, then of the passage
	for _, p := range append(slices.Clip(seen.clauses), seen.parts[0]) {
		found, err := j.config.Classifier.Classify(ctx, text[p.start:p.end])
		if err != nil {
			return nil, fmt.Errorf("failed to score a clause of the passage: %w", err)
		}
		scores = append(scores, relative(found.Scores, found.Thresholds))
	}
	worst := slices.Max(scores[:len(seen.clauses)])
	if worst < explained*scores[len(seen.clauses)] {
		return seen.clauses, nil
	}
	var core []part
	for i, c := range seen.clauses {
		if scores[i] < nearWorst*worst {
			continue
		}
		if last := len(core) - 1; last >= 0 && words(text, part{core[last].end, c.start}) < leastClause {
			core[last].end = c.end
			continue
		}
		core = append(core, c)
	}
	return core, nil
}

// relative returns the highest of scores relative to the thresholds.
func relative(scores, thresholds toxscreen.Scores) float64 {
	most := 0.0
	for a, p := range scores.All() {
		if threshold, ok := thresholds.Get(a); ok && threshold > 0 {
			most = max(most, p/threshold)
		}
	}
	return most
}

// clauses divides a sentence of more than [around] words at its commas, colons, semicolons,
// quotation marks, brackets, dashes, symbols and line breaks, but not inside a span. What has
// fewer than [leastClause] words belongs to what follows.
func clauses(text string, s part, spans []part) []part {
	if words(text, s) <= around {
		return codes(text, s)
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
		switch short := words(text, part{at, end}) < leastClause; {
		case short && end < s.end:
			continue // what follows belongs to it
		case short && len(all) > 0:
			all[len(all)-1].end = end
		default:
			all = append(all, codes(text, part{at, end})...)
		}
		at = end
	}
	return all
}

// codes divides a clause before and behind code, such as Base64, which may say something to
// a model.
func codes(text string, clause part) []part {
	var all []part
	at := clause.start
	for end := at; end < clause.end; {
		start := clause.end - len(strings.TrimLeftFunc(text[end:clause.end], unicode.IsSpace))
		end = start + len(text[start:clause.end])
		if blank := strings.IndexFunc(text[start:clause.end], unicode.IsSpace); blank >= 0 {
			end = start + blank
		}
		runs := strings.FieldsFunc(text[start:end], func(c rune) bool { return !wordRune(c) })
		if len(runs) > 0 && end-start >= leastCode*len(runs) && words(text, part{start, end}) < leastCode/2 {
			if at < start {
				all = append(all, part{at, start})
			}
			all = append(all, part{start, end})
			at = end
		}
	}
	if at < clause.end {
		all = append(all, part{at, clause.end})
	}
	return all
}

// words returns the number of words in a part of a text, by Unicode Standard Annex #29: in
// scripts without blanks, each character is one.
func words(text string, p part) int {
	n, state := 0, -1
	for rest := text[p.start:p.end]; rest != ""; {
		var word string
		if word, rest, state = uniseg.FirstWordInString(rest, state); scorable(word) {
			n++
		}
	}
	return n
}

// divides reports whether the rune c at an offset of a text ends a clause.
func divides(text string, at int, c rune) bool {
	if c == utf8.RuneError {
		return false // it may be a byte that is not UTF-8
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	behind, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(c):])
	switch c {
	case '"', '\n', ';', '；', '：', '，', '、', '。', '！', '？', '،', '؛':
		return true
	case ',', '.', '!', '?', '…': // unless inside a number, an abbreviation or a name
		return !wordRune(behind)
	case ':': // unless in a time or an address
		return !wordRune(behind) && behind != '/'
	case '\'', '’', '‘', '`': // unless it is an apostrophe
		return !wordRune(before) || !wordRune(behind)
	case '-', '\u2010', '\u2011': // unless it is a hyphen
		return before == c || behind == c || unicode.IsSpace(before) && unicode.IsSpace(behind)
	}
	return unicode.In(c, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Pd, unicode.So)
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
	p := part{from + len(before), to - len(after)}
	p.start = held.start - len(strings.TrimLeftFunc(text[p.start:held.start], edge))
	p.end = held.end + len(strings.TrimRightFunc(text[held.end:p.end], edge))
	return p
}

// trimmed returns a clause without blanks and marks of clauses at its ends.
func trimmed(text string, clause part) part {
	clause.start = clause.end - len(strings.TrimLeftFunc(text[clause.start:clause.end], edge))
	clause.end = clause.start + len(strings.TrimRightFunc(text[clause.start:clause.end], edge))
	return clause
}

// edge reports whether a rune at the end of a clause can be left out: a blank, or a mark
// that divides clauses and says nothing itself.
func edge(c rune) bool {
	return unicode.IsSpace(c) || !unicode.IsSymbol(c) && !strings.ContainsRune(".!?…。！？", c) && divides(" "+string(c)+" ", 1, c)
}

// narrowed returns what is between the first and the last span, without the spans that are
// the farthest from the focus, so that it fits.
func narrowed(text string, spans []part, focus part, limit int) part {
	whole := func() part { return part{spans[0].start, max(spans[len(spans)-1].end, focus.end)} }
	for len(spans) > 1 && !fits(text, whole(), limit) {
		if focus.start-spans[0].end > spans[len(spans)-1].start-focus.end {
			spans = spans[1:]
		} else {
			spans = spans[:len(spans)-1]
		}
	}
	if !fits(text, whole(), limit) {
		return focus
	}
	return whole()
}

// withNeighbours returns a part of a text with the rest of its sentences, the sentence
// before them and the one after them, as far as [reach] and limit allow.
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
