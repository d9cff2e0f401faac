package toxscreen_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// written is a Classifier of texts in a language: "toxic" is, others are not.
func written(l toxscreen.Language) classify {
	return func(_ context.Context, text string) (toxscreen.Classification, error) {
		s := scores(toxscreen.Toxicity, 0.4, toxscreen.Insult, 0.4)
		if text == "toxic" {
			s.Set(toxscreen.Toxicity, 0.8)
		}
		return toxscreen.Classification{
			Scores: s, Language: l, Spans: []toxscreen.Span{},
			Windows: []toxscreen.Window{{Start: 0, End: 6, Scores: s}},
		}, nil
	}
}

var german = toxscreen.Language{Code: "de", Name: "German", Foreign: true, Certain: true}

// A text that is certainly in a language that the model does not know, and scores low, is
// called neither toxic nor clean: in JSON, it has numbers but no flags, no severity and no
// passages.
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
	const want = `{"score":0.4,"not_decided":"the text seems to be German, which the model does not know","unsupported_language":"de",` +
		`"direction":"higher_is_more_toxic","spans":[],"offset_unit":"byte","source":"classifier","judge":{"asked":false,"why":"no judge is configured"},` +
		`"warnings":["the text seems to be German, which the model does not know: its scores mean little"],"versions":{"toxscreen":"1.2.3","model":"tiny@1.0.0"},` +
		`"attributes":{"toxicity":{"score":0.4,"classifier":0.4,"threshold":0.5},"insult":{"score":0.4,"classifier":0.4,"threshold":0.7}}}`
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

// A score at its threshold is a flag in any language. Doubt about the language only adds a
// warning.
func TestWhatReachesAThresholdIsFlaggedInAnyLanguage(t *testing.T) {
	doubtful := german
	doubtful.Certain = false
	for _, c := range []struct {
		language toxscreen.Language
		text     string
		flagged  bool
	}{{german, "toxic", true}, {doubtful, "toxic", true}, {doubtful, "a text", false}} {
		result, err := toxscreen.New(written(c.language)).Score(t.Context(), c.text)
		if err != nil || result.NotDecided != "" || result.Flagged != c.flagged || result.Severity == "" || result.UnsupportedLanguage != "de" {
			t.Errorf("%+v, %q: %v, %+v", c.language, c.text, err, result)
		}
		if warned := strings.Join(result.Warnings, "; "); !strings.Contains(warned, "the text seems to be German, which the model does not know: its scores mean little") {
			t.Errorf("%+v, %q: the warnings are %q", c.language, c.text, warned)
		}
	}
}

// Whoever states the language is believed: nothing is detected then.
func TestAStatedLanguageIsBelieved(t *testing.T) {
	for _, c := range []struct {
		stated, text, notDecided, unsupported string
	}{
		{"en", "a text", "", ""},
		{"EN-gb", "a text", "", ""},
		{"fr", "a text", "the language of the text is stated as fr, which the model does not know", "fr"},
		{"fr", "toxic", "", "fr"},
	} {
		result, err := toxscreen.New(english{written(german)}, toxscreen.WithLanguage(c.stated)).Score(t.Context(), c.text)
		if err != nil || result.NotDecided != c.notDecided || result.UnsupportedLanguage != c.unsupported {
			t.Errorf("%s, %q: %v, %+v", c.stated, c.text, err, result)
		}
	}
	for code, want := range map[string]string{"en": "en", "EN-GB": "en-gb", "haw": "haw", "zh_Hant": "zh-hant", "": "", "english": "", "e1": "", "en-": "", "en-💥": ""} {
		got, err := toxscreen.ParseLanguage(code)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", code, got, err)
		}
	}
}

// english is a Classifier of English.
type english struct{ classify }

func (e english) Info() toxscreen.ModelInfo {
	info := e.classify.Info()
	info.Languages = []string{"en"}
	return info
}

// lines is a Classifier that takes each line for a part; those with ß are foreign.
type lines struct{ classify }

func (lines) ReadLanguage(text string) (l toxscreen.Language, parts []toxscreen.LanguagePart) {
	at := 0
	for line := range strings.Lines(text) {
		foreign := strings.Contains(line, "ß")
		parts = append(parts, toxscreen.LanguagePart{Start: at, End: at + len(line), Foreign: foreign})
		at += len(line)
		l.Foreign = l.Foreign || foreign
	}
	l.Mixed = l.Foreign && len(parts) > 1
	l.Foreign = l.Foreign && len(parts) == 1
	return l, parts
}

// A text whose language changes is scored part by part, and is as toxic as its worst part.
// Offsets are those of the whole text.
func TestAMixedTextIsScoredPartByPart(t *testing.T) {
	classified := classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
		s := scores(toxscreen.Toxicity, 0.4, toxscreen.Insult, 0.4)
		found := toxscreen.Classification{Scores: s, Spans: []toxscreen.Span{}, Exit: 1}
		if i := strings.Index(text, "idiot"); i >= 0 {
			found.Scores.Set(toxscreen.Toxicity, 0.6)
			found.Spans = append(found.Spans, toxscreen.Span{Start: i, End: i + 5, Attributes: scores(toxscreen.Toxicity, 0.9)})
			found.Exit = 0
		}
		found.Windows = []toxscreen.Window{{Start: 0, End: len(text), Scores: found.Scores}}
		return found, nil
	})
	s := toxscreen.New(lines{classified})
	alone, err := s.Score(t.Context(), "you idiot")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Großes Haus\nyou idiot", "you idiot\nGroßes Haus", "Großes Haus\nyou idiot\nGroßes Haus"} {
		result, err := s.Score(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if result.Score != alone.Score || !result.Flagged || len(result.Spans) != 1 || text[result.Spans[0].Start:result.Spans[0].End] != "idiot" ||
			len(result.Passages) != 1 || !strings.HasPrefix(text[result.Passages[0].Start:], "you idiot") || result.Exit != 0 {
			t.Errorf("%q: %+v", text, result)
		}
		if warned := strings.Join(result.Warnings, "; "); !strings.Contains(warned, "a part of the text seems to be in a language that the model does not know") {
			t.Errorf("%q: the warnings are %q", text, warned)
		}
	}
	// The model is less sure about foreign text, so its odds count for about half.
	foreign, err := s.Score(t.Context(), "Großer idiot")
	if err != nil || foreign.Score >= 0.45 || foreign.Score <= 0.4 {
		t.Errorf("%v, %+v", err, foreign)
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
		{toxscreen.Language{Code: "nb", Foreign: true, Certain: true}, "the text seems to be in a language that the model does not know", "nb"},
		{toxscreen.Language{Foreign: true, Certain: true}, "the text seems to be in a language that the model does not know", "und"},
	} {
		result, err := toxscreen.New(written(c.language)).Score(t.Context(), "a text")
		if err != nil || result.NotDecided != c.reason || result.UnsupportedLanguage != c.code {
			t.Errorf("%+v: %q, language %q, error %v", c.language, result.NotDecided, result.UnsupportedLanguage, err)
		}
	}
}

// What is not decided reaches no limit.
func TestATextThatIsNotDecidedReachesNoLimit(t *testing.T) {
	limits := toxscreen.Limits{Flagged: true, Scores: scores(toxscreen.Toxicity, 0.3)}
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
		"with a fusion":    {[]toxscreen.Option{opinion(fusing{}, judge, all)}, true},
		"without a fusion": {[]toxscreen.Option{opinion(nil, judge, all)}, false},
		"not asked":        {[]toxscreen.Option{opinion(fusing{}, judge, toxscreen.Band{Low: 0.9, High: 1})}, false},
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
	if err != nil || result.NotDecided != "" || result.Severity != toxscreen.SeverityMild || result.UnsupportedLanguage != "de" {
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
