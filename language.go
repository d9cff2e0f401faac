package toxscreen

import (
	"fmt"
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
	// ReadLanguage returns the language of a text and its parts, which follow one another
	// without gaps. Neighbours differ in Foreign or in Sure.
	ReadLanguage(text string) (Language, []LanguagePart)
}

// LanguagePart is a part of a text in one language.
type LanguagePart struct {
	Start, End int // bytes of the text
	// Foreign is true if it seems to be in none of the languages that the model was
	// trained on.
	Foreign bool
	// Sure is true if hardly a part like this is otherwise. A part that is not sure is also
	// classified by the other one of two models, see [WithMultilingual].
	Sure bool
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

// stated returns the language that the caller states, for models that know some languages;
// none: any.
func (s *Screener) stated(languages []string) Language {
	for _, known := range languages {
		if known == "multilingual" || SameLanguage(known, s.language) {
			return Language{Code: known, Stated: true}
		}
	}
	foreign := len(languages) > 0
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
