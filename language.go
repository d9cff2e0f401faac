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
	// Certain is true if Foreign is almost certainly right, or if the model knows none of
	// the text's letters.
	Certain bool
	// Mixed is true if a part of the text seems to be in none of these languages, but not
	// the text as a whole.
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
// is decided, and of any other only what reaches a threshold. An empty code states nothing.
func WithLanguage(code string) Option {
	return func(s *Screener) { s.language = code }
}

// ParseLanguage returns a code for [WithLanguage] in lower case, or an error if it does not
// have the form of one.
func ParseLanguage(code string) (string, error) {
	base, _, _ := strings.Cut(strings.ReplaceAll(code, "_", "-"), "-")
	letters := strings.IndexFunc(base, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
	if n := len(base); n < 2 || n > 3 || !letters {
		return "", fmt.Errorf("%q is not the code of a language: it must be like en or en-GB", code)
	}
	return strings.ToLower(code), nil
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

// classifyLanguages classifies a text with one, part by part if its language changes. A text
// is as toxic as its worst part: what stands beside a sentence in another language neither
// raises nor lowers its scores.
func (s *Screener) classifyLanguages(ctx context.Context, text string, one func(context.Context, string) (Classification, error)) (Classification, error) {
	if s.language != "" {
		found, err := one(ctx, text)
		if found.Language = s.stated(); found.Language.Foreign {
			found = doubted(found)
		}
		return found, err
	}
	reader, ok := s.classifier.(LanguageReader)
	if !ok {
		return one(ctx, text)
	}
	language, parts := reader.ReadLanguage(text)
	if len(parts) <= 1 {
		found, err := one(ctx, text)
		if err != nil {
			return found, err
		}
		if language.Foreign {
			found = doubted(found)
		}
		found.Language = language.orUnread(found.Language)
		return found, nil
	}
	var worst Classification
	for i, p := range parts {
		found, err := one(ctx, text[p.Start:p.End])
		if err != nil {
			return found, err
		}
		if p.Foreign {
			found = doubted(found)
		}
		found = found.shifted(p.Start, p.End)
		if i == 0 {
			worst = found
		} else {
			worst = worst.with(found)
		}
	}
	worst.Language = language
	return worst, nil
}

// stated returns the language that the caller states.
func (s *Screener) stated() Language {
	for _, known := range s.info.Languages {
		if known == "multilingual" || SameLanguage(known, s.language) {
			return Language{Code: known}
		}
	}
	foreign := len(s.info.Languages) > 0
	return Language{Code: s.language, Name: "in the stated language " + s.language, Foreign: foreign, Certain: foreign}
}

// SameLanguage reports whether two codes are of the same language, whatever country or
// script follows.
func SameLanguage(a, b string) bool {
	base := func(code string) string {
		language, _, _ := strings.Cut(strings.ReplaceAll(code, "_", "-"), "-")
		return strings.ToLower(language)
	}
	return base(a) == base(b)
}

// orUnread keeps that the classifier knows none of a text's letters.
func (l Language) orUnread(classified Language) Language {
	if classified.Certain {
		l.Foreign, l.Certain = true, true
	}
	return l
}

// reason says that the model does not know the language of a text.
func (l Language) reason() string {
	if l.Name != "" {
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

// shifted returns the classification of text[start:end] as a part of the whole text, with at
// least one window.
func (c Classification) shifted(start, end int) Classification {
	if len(c.Windows) == 0 {
		c.Windows = []Window{{0, end - start, c.Scores}}
	}
	for i := range c.Windows {
		c.Windows[i].Start += start
		c.Windows[i].End += start
	}
	for i := range c.Spans {
		c.Spans[i].Start += start
		c.Spans[i].End += start
	}
	for i := range c.Readings {
		c.Readings[i].Start += start
		c.Readings[i].End += start
	}
	return c
}

// with returns the classification of two parts of a text that follow one another.
func (c Classification) with(next Classification) Classification {
	for a, score := range next.Scores.All() {
		if before, ok := c.Scores.Get(a); ok && before >= score {
			continue
		}
		c.Scores.Set(a, score)
		plain, ok := next.Plain.Get(a)
		if !ok {
			plain = score
		}
		if _, had := c.Plain.Get(a); had || ok {
			c.Plain.Set(a, plain)
		}
	}
	if c.Exit == 0 || next.Exit == 0 {
		c.Exit = 0
	} else {
		c.Exit = max(c.Exit, next.Exit)
	}
	c.Windows = append(c.Windows, next.Windows...)
	if next.Spans != nil {
		c.Spans = append(c.Spans, next.Spans...)
	}
	c.Readings = append(c.Readings, next.Readings...)
	for _, w := range next.Warnings {
		if !slices.Contains(c.Warnings, w) {
			c.Warnings = append(c.Warnings, w)
		}
	}
	return c
}
