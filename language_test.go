package toxscreen_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// written is a Classifier of toxic texts in a language.
func written(l toxscreen.Language) classify {
	return func(context.Context, string) (toxscreen.Classification, error) {
		s := scores(toxscreen.Toxicity, 0.6, toxscreen.Insult, 0.4)
		return toxscreen.Classification{
			Scores: s, Language: l, Spans: []toxscreen.Span{}, Warnings: []string{"its scores mean little"},
			Windows: []toxscreen.Window{{Start: 0, End: 6, Scores: s}},
		}, nil
	}
}

var german = toxscreen.Language{Code: "de", Name: "German", Foreign: true}

// A text in a language that the model does not know is called neither toxic nor clean:
// in JSON, it has numbers but no flags, no severity and no passages.
func TestATextInAForeignLanguageIsNotDecided(t *testing.T) {
	result, err := toxscreen.New(written(german)).Score(t.Context(), "a text")
	if err != nil {
		t.Fatal(err)
	}
	if result.Flagged || result.Severity != "" || result.Attributes[toxscreen.Toxicity].Flagged || result.Passages != nil {
		t.Errorf("it is decided: %+v", result)
	}
	result.Versions.Toxscreen = "1.2.3"
	got, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"score":0.6,"not_decided":"the text seems to be German, which the model does not know","unsupported_language":"de",` +
		`"direction":"higher_is_more_toxic","spans":[],"offset_unit":"byte","source":"classifier","judge":{"asked":false,"why":"no judge is configured"},` +
		`"warnings":["its scores mean little"],"versions":{"toxscreen":"1.2.3","model":"tiny@1.0.0"},` +
		`"attributes":{"toxicity":{"score":0.6,"classifier":0.6,"threshold":0.5},"insult":{"score":0.4,"classifier":0.4,"threshold":0.7}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var again toxscreen.Result
	if err := json.Unmarshal(got, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result, again, equalScores); diff != "" {
		t.Errorf("the result changes by way of JSON:\n%s", diff)
	}
}

// The reason names the language only if that is almost certain.
func TestTheReasonNamesTheLanguage(t *testing.T) {
	for _, c := range []struct {
		language     toxscreen.Language
		reason, code string
	}{
		{toxscreen.Language{Code: "en"}, "", ""},
		{toxscreen.Language{}, "", ""},
		{german, "the text seems to be German, which the model does not know", "de"},
		{toxscreen.Language{Code: "nb", Foreign: true}, "the text seems to be in a language that the model does not know", "nb"},
		{toxscreen.Language{Foreign: true}, "the text seems to be in a language that the model does not know", "und"},
	} {
		result, err := toxscreen.New(written(c.language)).Score(t.Context(), "a text")
		if err != nil || result.NotDecided != c.reason || result.UnsupportedLanguage != c.code || result.Flagged != (c.reason == "") {
			t.Errorf("%+v: %q, language %q, flagged %v, error %v", c.language, result.NotDecided, result.UnsupportedLanguage, result.Flagged, err)
		}
	}
}

// What is not decided reaches no limit.
func TestATextThatIsNotDecidedReachesNoLimit(t *testing.T) {
	limits := scores(toxscreen.Toxicity, 0.5)
	for language, want := range map[toxscreen.Language]bool{{Code: "en"}: true, german: false} {
		result, err := toxscreen.New(written(language)).Score(t.Context(), "a text")
		if err != nil || result.Reaches(limits) != want {
			t.Errorf("%+v: error %v, reaches the limit: %v", language, err, !want)
		}
	}
}

// A verdict that counts decides about the text. One that does not count leaves it
// undecided, like a judge that has not answered yet.
func TestAVerdictDecidesInAForeignLanguage(t *testing.T) {
	judge := judging(func(string) (toxscreen.Verdict, error) { return verdictOf(toxscreen.Insult, true, 0.9), nil })
	for name, c := range map[string]struct {
		options []toxscreen.Option
		decided bool
	}{
		"with a fusion":    {[]toxscreen.Option{toxscreen.WithJudge(judge, all), toxscreen.WithFusion(fusing{})}, true},
		"without a fusion": {[]toxscreen.Option{toxscreen.WithJudge(judge, all)}, false},
		"not asked":        {[]toxscreen.Option{toxscreen.WithJudge(judge, toxscreen.Band{Low: 0.9, High: 1}), toxscreen.WithFusion(fusing{})}, false},
	} {
		screening, err := toxscreen.New(written(german), c.options...).Begin(t.Context(), "a text")
		if err != nil {
			t.Fatal(err)
		}
		if standing := screening.Result(); standing.NotDecided == "" {
			t.Errorf("%s: decided before the judge has answered: %+v", name, standing)
		}
		result, err := screening.Consult(t.Context())
		if err != nil || (result.NotDecided == "") != c.decided || result.Flagged != c.decided || (result.Severity != "") != c.decided || result.UnsupportedLanguage != "de" {
			t.Errorf("%s: %v, %+v", name, err, result)
		}
		if warned := strings.Contains(strings.Join(result.Warnings, "; "), "the decision rests on the judge's verdict"); warned != c.decided {
			t.Errorf("%s: the warnings are %q", name, result.Warnings)
		}
	}
}

// A caller who prefers scores that mean little to none gets a decision.
func TestAnyLanguageMayBeDecided(t *testing.T) {
	result, err := toxscreen.New(written(german)).With(toxscreen.WithAnyLanguage()).Score(t.Context(), "a text")
	if err != nil || result.NotDecided != "" || !result.Flagged || result.Severity != toxscreen.SeverityModerate || len(result.Passages) != 1 || result.UnsupportedLanguage != "de" {
		t.Errorf("%v, %+v", err, result)
	}
}

// Encoders that keep <, > and & in texts keep them in results.
func TestTheEncoderDecidesAboutEscapes(t *testing.T) {
	result := toxscreen.Result{Warnings: []string{"<b>"}}
	escaped, err := json.Marshal(result)
	if err != nil || strings.Contains(string(escaped), "<b>") {
		t.Errorf("%v: %s", err, escaped)
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil || !strings.Contains(plain.String(), "<b>") {
		t.Errorf("%v: %s", err, &plain)
	}
}
