package toxscreen

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Language is the language that a text seems to be written in.
type Language struct {
	// Code is the ISO 639 code, such as "de"; empty if the language is unknown.
	Code string
	// Name is the English name, such as "German"; empty unless it is almost certain.
	Name string
	// Foreign is true if the text as a whole seems to be in none of the languages that the
	// model was trained on.
	Foreign bool
	// Certain is true if Foreign is almost certainly right, or if the model knows no letter
	// of the text.
	Certain bool
	// Stated is true if the caller named the language, see [WithLanguage].
	Stated bool
	// Mixed is true if only a part of the text seems to be in none of these languages.
	Mixed bool
}

// LanguageReader is a [Classifier] that tells the languages of a text.
type LanguageReader interface {
	// ReadLanguage returns the language of a text and the parts that it changes in, which
	// follow one another without gaps. A text without a change is one part or none.
	ReadLanguage(text string) (Language, []LanguagePart)
}

// LanguagePart is a part of a text in one language.
type LanguagePart struct {
	Start, End int // bytes of the text
	// Foreign is true if it seems to be in none of the languages that the model was
	// trained on.
	Foreign bool
}

// WithLanguage states the language of all texts by its ISO 639 or BCP 47 code, such as "en"
// or "en-GB". Nothing is then detected: a text in a language that the model was trained on
// is decided, a text in another only if a score reaches its threshold. An empty code states
// nothing.
func WithLanguage(code string) Option {
	return func(s *Screener) { s.language = code }
}

// ParseLanguage returns a code for [WithLanguage] in lower case with hyphens, or an error if it
// does not have the form of one.
func ParseLanguage(code string) (string, error) {
	lower := strings.ToLower(strings.ReplaceAll(code, "_", "-"))
	for i, part := range strings.Split(lower, "-") {
		strange := strings.IndexFunc(part, func(r rune) bool { return (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') }) >= 0
		if n := len(part); strange || n < 2 && i == 0 || n > 3 && i == 0 || n < 1 || n > 8 {
			return "", fmt.Errorf("%q is not the code of a language: it must be like en or en-GB", code)
		}
	}
	return lower, nil
}

// WithAnyLanguage decides a text in a language that the model was not trained on by its
// scores, although these mean little. Without it, [Result.NotDecided] says why such a
// text is not decided.
func WithAnyLanguage() Option {
	return func(s *Screener) { s.anyLanguage = true }
}

// foreignOdds is subtracted from the log-odds of what seems to be in a foreign language: the
// model knows a few words of it and takes the rest for odd spelling. It keeps harmless texts
// of every language that was measured below the default thresholds, all but one in a hundred;
// docs/decisions/0025-languages.md has the figures.
const foreignOdds = 0.7

// classifyLanguages classifies a text. If its language changes, what is in known
// languages is classified as one text, and the rest as another: the text is as toxic as the
// worse of both, and what stands beside a sentence in another language neither raises nor
// lowers its scores.
func (s *Screener) classifyLanguages(ctx context.Context, text string) (Classification, error) {
	if s.language != "" {
		found, err := s.run(ctx, text)
		if err != nil {
			return found, err
		}
		stated := s.stated()
		if stated.Foreign {
			found = doubted(found)
		}
		found.Language = stated.orUnread(found.Language)
		return found, nil
	}
	reader, ok := s.classifier.(LanguageReader)
	if !ok {
		return s.run(ctx, text)
	}
	language, parts := reader.ReadLanguage(text)
	if len(parts) <= 1 {
		found, err := s.run(ctx, text)
		if err != nil {
			return found, err
		}
		if language.Foreign {
			found = doubted(found)
		}
		found.Language = language.orUnread(found.Language)
		return found, nil
	}
	var known, foreign joined
	for _, p := range parts {
		to := &known
		if p.Foreign {
			to = &foreign
		}
		to.add(text, p.Start, p.End)
	}
	found, err := s.run(ctx, known.text.String())
	if err != nil {
		return found, err
	}
	other, err := s.run(ctx, foreign.text.String())
	if err != nil {
		return other, err
	}
	worst := known.original(found).with(foreign.original(doubted(other)))
	worst.Language = language
	return worst, nil
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
	if written := j.text.String(); written != "" && !strings.HasSuffix(written, "\n") {
		j.text.WriteByte('\n')
	}
	j.pieces = append(j.pieces, piece{j.text.Len(), start, end})
	j.text.WriteString(text[start:end])
}

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
func (j *joined) original(c Classification) Classification {
	if len(c.Windows) == 0 {
		c.Windows = []Window{{0, j.text.Len(), c.Scores}}
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

// stated returns the language that the caller states.
func (s *Screener) stated() Language {
	for _, known := range s.info.Languages {
		if known == "multilingual" || SameLanguage(known, s.language) {
			return Language{Code: known, Stated: true}
		}
	}
	foreign := len(s.info.Languages) > 0
	return Language{Code: s.language, Foreign: foreign, Certain: foreign, Stated: true}
}

// SameLanguage reports whether two codes are of the same language, whatever country or
// script follows.
func SameLanguage(a, b string) bool {
	base := func(code string) string {
		language, _, _ := strings.Cut(strings.ReplaceAll(code, "_", "-"), "-")
		return language
	}
	return strings.EqualFold(base(a), base(b))
}

// orUnread returns the language that was read, or that of the classifier if it knows no letter
// of the text: then it is certain and names no language.
func (l Language) orUnread(classified Language) Language {
	switch {
	case !classified.Certain || classified.Code != "":
		return l
	case l.Foreign:
		l.Certain = true
		return l
	}
	return classified
}

// reason says that the model does not know the language of a text.
func (l Language) reason() string {
	switch {
	case l.Stated:
		return fmt.Sprintf("the language of the text is stated as %s, which the model does not know", l.Code)
	case l.Name != "":
		return fmt.Sprintf("the text seems to be %s, which the model does not know", l.Name)
	}
	return "the text seems to be in a language that the model does not know"
}

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

// with returns the classification of a text whose two parts c and other classify. Each
// attribute takes the higher score.
func (c Classification) with(other Classification) Classification {
	asWritten := func(c Classification, a Attribute, score float64) float64 {
		if plain, ok := c.Plain.Get(a); ok {
			return plain
		}
		return score
	}
	var plain Scores
	for a, score := range other.Scores.All() {
		before, _ := c.Scores.Get(a)
		higher := max(before, score)
		if written := max(asWritten(c, a, before), asWritten(other, a, score)); written != higher && c.Plain.Len()+other.Plain.Len() > 0 {
			plain.Set(a, written)
		}
		c.Scores.Set(a, higher)
	}
	c.Plain = plain
	if c.Exit == 0 || other.Exit == 0 {
		c.Exit = 0
	} else {
		c.Exit = max(c.Exit, other.Exit)
	}
	c.Windows = append(c.Windows, other.Windows...)
	if c.Spans != nil {
		c.Spans = append(c.Spans, other.Spans...)
		slices.SortFunc(c.Spans, func(a, b Span) int { return a.Start - b.Start })
	}
	c.Readings = append(c.Readings, other.Readings...)
	slices.SortFunc(c.Readings, func(a, b Reading) int { return a.Start - b.Start })
	for _, w := range other.Warnings {
		if !slices.Contains(c.Warnings, w) {
			c.Warnings = append(c.Warnings, w)
		}
	}
	return c
}
