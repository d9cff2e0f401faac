package toxscreen

import (
	"context"
	"math"
	"slices"
	"strings"
)

// WithMultilingual adds a classifier of many languages to one that is a [LanguageReader] of a few.
// What is surely in a language of the first is classified by that alone, what is surely in
// another by the second alone, and the rest, such as names and slang, by both: each attribute
// then has the score that is the furthest over its model's threshold. So a wrong guess of a
// language costs accuracy and never a flag. No text is undecided that is in a language of either.
//
// thresholds replace those of the second model for the attributes that have one in them.
func WithMultilingual(c Classifier, thresholds Scores) Option {
	return func(s *Screener) { s.multilingual = model{c, c.Info(), thresholds} }
}

// model is a classifier with its description. The zero value is none.
type model struct {
	Classifier

	info       ModelInfo
	thresholds Scores // replace the model's own
}

// inForce returns the thresholds that count.
func (m model) inForce() Scores {
	all := m.info.Thresholds
	for a, threshold := range m.thresholds.All() {
		all.Set(a, threshold)
	}
	return all
}

// classified is a text as one or two models classified it.
type classified struct {
	Classification

	models     []ModelInfo // that classified the text, or parts of it
	own        Scores      // for each of Scores, the threshold of its model
	thresholds Scores      // likewise, those in force
	limits     []Scores    // for each of Windows, the thresholds in force
}

// by reports whether a model classified a part of the text.
func (c classified) by(m model) bool {
	return slices.ContainsFunc(c.models, func(info ModelInfo) bool { return info.Version == m.info.Version })
}

// version names the models that classified a text.
func (c classified) version() string {
	var versions []string
	for _, m := range c.models {
		versions = append(versions, m.Version)
	}
	return strings.Join(versions, " + ")
}

// run runs a classifier on a text, or on a part of one.
func (s *Screener) run(ctx context.Context, m model, text string) (classified, error) {
	depth := Full
	if s.endsEarly(m) {
		depth = Early
	}
	found, err := m.Classify(ctx, text, depth)
	thresholds := m.inForce()
	return classified{
		Classification: found, models: []ModelInfo{m.info}, own: m.info.Thresholds,
		thresholds: thresholds, limits: slices.Repeat([]Scores{thresholds}, len(found.Windows)),
	}, err
}

// classifyLanguages classifies a text by the models that know its language. If its language
// changes, what is in known languages is classified as one text, and the rest as another: the
// text is as toxic as the worst of them, and what stands beside a sentence in another language
// neither raises nor lowers its scores.
func (s *Screener) classifyLanguages(ctx context.Context, text string) (classified, error) {
	if s.language != "" {
		return s.classifyStated(ctx, text)
	}
	reader, ok := s.first.Classifier.(LanguageReader)
	if !ok {
		return s.run(ctx, s.first, text)
	}
	language, parts := reader.ReadLanguage(text)
	if s.multilingual.Classifier != nil {
		language = s.knownToNeither(language, text)
	}
	var known, foreign, other joined // for the first model; for it, with doubt; for the second
	for _, p := range parts {
		if s.multilingual.Classifier != nil && (p.Foreign || !p.Sure) {
			other.add(text, p.Start, p.End)
		}
		switch {
		case !p.Foreign:
			known.add(text, p.Start, p.End)
		case s.multilingual.Classifier == nil || !p.Sure:
			foreign.add(text, p.Start, p.End)
		}
	}
	if len(parts) == 0 {
		known.add(text, 0, len(text))
	}
	var found *classified
	for _, by := range []struct {
		model    model
		parts    *joined
		doubtful bool
	}{{s.first, &known, false}, {s.first, &foreign, true}, {s.multilingual, &other, language.Foreign}} {
		if len(by.parts.pieces) == 0 {
			continue
		}
		c, err := s.run(ctx, by.model, by.parts.text.String())
		if err != nil {
			return c, err
		}
		if by.doubtful {
			c.Classification = doubted(c.Classification)
		}
		if !by.parts.isWhole(text) {
			c = by.parts.original(c)
		}
		if found != nil {
			c = worst(*found, c)
		}
		found = &c
	}
	found.Language = language.orUnread(found.Language)
	return *found, nil
}

// classifyStated classifies a text whose language the caller states.
func (s *Screener) classifyStated(ctx context.Context, text string) (classified, error) {
	m, language := s.first, s.stated(s.first.info.Languages)
	if language.Foreign && s.multilingual.Classifier != nil {
		m, language = s.multilingual, s.stated(s.multilingual.info.Languages)
	}
	found, err := s.run(ctx, m, text)
	if err != nil {
		return found, err
	}
	if language.Foreign {
		found.Classification = doubted(found.Classification)
	}
	found.Language = language.orUnread(found.Language)
	return found, nil
}

// knownToNeither returns the language of a text as the first model reads it; it is foreign, and
// parts of it are, only if the second model does not know it either. Of a short text, similar
// languages cannot be told apart.
func (s *Screener) knownToNeither(language Language, text string) Language {
	reader, ok := s.multilingual.Classifier.(LanguageReader)
	if !ok || !language.Foreign && !language.Mixed {
		language.Foreign, language.Certain, language.Mixed = false, false, false
		return language
	}
	other, _ := reader.ReadLanguage(text)
	language.Mixed = other.Mixed
	language.Certain = language.Certain && other.Certain
	language.Foreign = language.Foreign && other.Foreign && language.Certain
	return language
}

// joined is parts of a text, one after the other, each on lines of its own.
type joined struct {
	text   strings.Builder
	pieces []piece
}

// piece is where a part stands in a joined text and in the original, in bytes.
type piece struct{ at, start, end int }

// add appends text[start:end].
func (j *joined) add(text string, start, end int) {
	if last := len(j.pieces) - 1; last >= 0 && j.pieces[last].end == start {
		j.pieces[last].end = end
		j.text.WriteString(text[start:end])
		return
	}
	if written := j.text.String(); written != "" && !strings.HasSuffix(written, "\n") {
		j.text.WriteByte('\n')
	}
	j.pieces = append(j.pieces, piece{j.text.Len(), start, end})
	j.text.WriteString(text[start:end])
}

// isWhole reports whether nothing of the text is missing.
func (j *joined) isWhole(text string) bool { return len(j.pieces) == 1 && j.text.Len() == len(text) }

// position returns the original position of an offset into the joined text. byteAt selects the
// part: it is the offset of the byte that a start stands before or an end stands behind. The
// line break between two parts belongs to the end of the first.
func (j *joined) position(offset, byteAt int) int {
	i, found := slices.BinarySearchFunc(j.pieces, byteAt, func(p piece, at int) int { return p.at - at })
	if !found {
		i--
	}
	p := j.pieces[i]
	return min(p.start+offset-p.at, p.end)
}

// original returns the classification of the joined text with offsets into the original, and
// with at least one window.
func (j *joined) original(c classified) classified {
	if len(c.Windows) == 0 {
		c.Windows, c.limits = []Window{{0, j.text.Len(), c.Scores}}, []Scores{c.thresholds}
	}
	move := func(start, end *int) {
		*start, *end = j.position(*start, *start), j.position(*end, max(*end-1, *start))
	}
	for i := range c.Windows {
		move(&c.Windows[i].Start, &c.Windows[i].End)
	}
	for i := range c.Spans {
		move(&c.Spans[i].Start, &c.Spans[i].End)
	}
	for i := range c.Readings {
		move(&c.Readings[i].Start, &c.Readings[i].End)
	}
	return c
}

// foreignOdds is subtracted from the log-odds of what seems to be in a foreign language: the
// model knows a few words of it and takes the rest for odd spelling. It keeps harmless texts
// of every language that was measured below the default thresholds, all but one in a hundred;
// docs/decisions/0025-languages.md has the figures.
const foreignOdds = 0.7

// doubted returns a classification of foreign text, with [foreignOdds] subtracted.
func doubted(found Classification) Classification {
	lower := func(s *Scores) {
		for a, p := range s.All() {
			s.Set(a, 1/(1+(1-p)/p*math.Exp(foreignOdds)))
		}
	}
	lower(&found.Scores)
	lower(&found.Plain)
	for i := range found.Windows {
		lower(&found.Windows[i].Scores)
	}
	return found
}

// worst returns the classification of a text whose parts c and other classify. Each attribute
// has the score that is the furthest over its threshold. A model that knows no letter of its
// part says nothing.
func worst(c, other classified) classified {
	if unread := c.Language.Certain; unread != other.Language.Certain {
		if unread {
			return other
		}
		return c
	}
	both := classified{Classification: c.Classification, models: c.models}
	both.Scores, both.Plain = Scores{}, Scores{}
	for _, m := range other.models {
		if !slices.ContainsFunc(both.models, func(is ModelInfo) bool { return is.Version == m.Version }) {
			both.models = append(slices.Clip(both.models), m)
		}
	}
	for a := range attributeCount {
		from := further(a, c, other, classified.score)
		score, ok := from.Scores.Get(a)
		if !ok {
			continue
		}
		both.Scores.Set(a, score)
		own, _ := from.own.Get(a)
		threshold, _ := from.thresholds.Get(a)
		both.own.Set(a, own)
		both.thresholds.Set(a, threshold)
		if plain, _ := further(a, c, other, classified.asWritten).asWritten(a); plain != score && c.Plain.Len()+other.Plain.Len() > 0 {
			both.Plain.Set(a, plain)
		}
	}
	if c.Exit == 0 || other.Exit == 0 {
		both.Exit = 0
	} else {
		both.Exit = max(c.Exit, other.Exit)
	}
	both.Windows, both.limits = slices.Concat(c.Windows, other.Windows), slices.Concat(c.limits, other.limits)
	if c.Spans != nil {
		both.Spans = apart(c.Spans, other.Spans)
	}
	both.Readings = append(slices.Clip(c.Readings), other.Readings...)
	slices.SortStableFunc(both.Readings, func(a, b Reading) int { return a.Start - b.Start })
	end := 0 // two models read the same words alike
	both.Readings = slices.DeleteFunc(both.Readings, func(r Reading) bool {
		again := r.Start < end
		end = max(end, r.End)
		return again
	})
	for _, w := range other.Warnings {
		if !slices.Contains(both.Warnings, w) {
			both.Warnings = append(slices.Clip(both.Warnings), w)
		}
	}
	return both
}

// score returns the score of an attribute.
func (c classified) score(a Attribute) (float64, bool) { return c.Scores.Get(a) }

// asWritten returns the score of an attribute of the text as it is written.
func (c classified) asWritten(a Attribute) (float64, bool) {
	if plain, ok := c.Plain.Get(a); ok {
		return plain, true
	}
	return c.Scores.Get(a)
}

// further returns the one of two classifications whose probability of an attribute, as of says,
// is the furthest over the threshold in force, by the ratio of their odds.
func further(a Attribute, c, other classified, of func(classified, Attribute) (float64, bool)) classified {
	over := func(c classified) float64 {
		p, ok := of(c, a)
		if !ok {
			return -1
		}
		threshold, _ := c.thresholds.Get(a)
		return p * (1 - threshold) / ((1-p)*threshold + math.SmallestNonzeroFloat64)
	}
	first, second := over(c), over(other)
	if second > first {
		return other
	}
	return c
}

// apart returns the spans of two classifications in order. Those that overlap become one.
func apart(spans, others []Span) []Span {
	all := append(slices.Clip(spans), others...)
	slices.SortStableFunc(all, func(a, b Span) int { return a.Start - b.Start })
	kept := all[:0]
	for _, s := range all {
		last := len(kept) - 1
		if last < 0 || s.Start >= kept[last].End {
			kept = append(kept, s)
			continue
		}
		kept[last].End = max(kept[last].End, s.End)
		for a, p := range s.Attributes.All() {
			before, _ := kept[last].Attributes.Get(a)
			kept[last].Attributes.Set(a, max(before, p))
		}
	}
	return kept
}
