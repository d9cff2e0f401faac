package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// LanguageAction is what happens to a text in a language that the model does not know, in
// formats whose answer must say yes or no, see [Call.Decide]. A text that the judge has
// decided is answered like any other.
type LanguageAction string

// The values of [Config.OnUnsupportedLanguage].
const (
	// BlockLanguage answers as for a toxic text, and says that the text was not
	// screened. A format that cannot say so does as with RefuseLanguage.
	BlockLanguage LanguageAction = "block"
	// RefuseLanguage fails the request.
	RefuseLanguage LanguageAction = "refuse"
	// WarnLanguage answers by the scores, although they mean little.
	WarnLanguage LanguageAction = "warn"
)

var languageActions = []LanguageAction{BlockLanguage, RefuseLanguage, WarnLanguage}

// ParseLanguageAction returns the action with the given name: block, refuse or warn.
func ParseLanguageAction(name string) (LanguageAction, error) {
	if action := LanguageAction(name); slices.Contains(languageActions, action) {
		return action, nil
	}
	return "", fmt.Errorf("unknown action %q: it must be block, refuse or warn", name)
}

// unsupportedLanguageHeader lists the languages of the texts of a request that the model
// does not know, each once, in the order of the texts. It is absent where there are none,
// and in an answer with a line for each of many texts, since it would come too early.
const unsupportedLanguageHeader = "Toxscreen-Unsupported-Language"

// ShowLanguages sets the header for the results of a request.
func ShowLanguages(header http.Header, results ...toxscreen.Result) {
	var found []string
	for _, r := range results {
		if r.UnsupportedLanguage != "" && !slices.Contains(found, r.UnsupportedLanguage) {
			found = append(found, r.UnsupportedLanguage)
		}
	}
	if len(found) > 0 {
		header.Set(unsupportedLanguageHeader, strings.Join(found, ", "))
	}
}

// Decide is [Call.ScoreAll] for a format whose answer must say yes or no about each
// text. A result that is not decided must be blocked.
func (c *Call) Decide(ctx context.Context, texts []string, base Text) ([]toxscreen.Result, error) {
	action := c.server.config.OnUnsupportedLanguage
	base.AnyLanguage = action == WarnLanguage
	results, err := c.ScoreAll(ctx, texts, base)
	if err != nil {
		return nil, err
	}
	ShowLanguages(c.Header(), results...)
	if action == RefuseLanguage {
		return results, AllDecided(results)
	}
	return results, nil
}

// AllDecided returns the failure for the first result that is not decided.
func AllDecided(results []toxscreen.Result) error {
	for i, r := range results {
		if r.NotDecided != "" {
			return Fail(WrongLanguage, "failed to screen text %d of %d: %s; the server decides about such texts if its setting on_unsupported_language is warn", i+1, len(results), r.NotDecided)
		}
	}
	return nil
}
