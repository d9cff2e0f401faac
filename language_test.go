package toxscreen_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	result := score(t, toxscreen.New(written(german)), "a text")
	check(t, "flagged", result.Flagged, false)
	check(t, "flagged for toxicity", result.Attributes[toxscreen.Toxicity].Flagged, false)
	check(t, "the severity", result.Severity, "")
	check(t, "the number of passages", len(result.Passages), 0)
	result.Versions.Toxscreen = "1.2.3"
	got, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"score":0.4,"not_decided":"the text seems to be German, which the model does not know","language":"de","unsupported_language":"de",` +
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
		result := score(t, toxscreen.New(written(c.language)), c.text)
		check(t, "why it is not decided", result.NotDecided, "")
		check(t, "flagged", result.Flagged, c.flagged)
		check(t, "the language", result.UnsupportedLanguage, "de")
		if result.Severity == "" {
			t.Errorf("%+v, %q: there is no severity", c.language, c.text)
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
		result := score(t, toxscreen.New(english{written(german)}, toxscreen.WithLanguage(c.stated)), c.text)
		check(t, c.stated+": the language", result.UnsupportedLanguage, c.unsupported)
		check(t, c.stated+": why it is not decided", result.NotDecided, c.notDecided)
	}
	for code, want := range map[string]string{"en": "en", "EN-GB": "en-gb", "haw": "haw", "zh_Hant": "zh-hant", "": "", "english": "", "e1": "", "en-": "", "en-💥": ""} {
		got, err := toxscreen.ParseLanguage(code)
		check(t, fmt.Sprintf("%q", code), got, want)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", code, err)
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
	alone := score(t, s, "you idiot")
	for _, text := range []string{"Großes Haus\nyou idiot", "you idiot\nGroßes Haus", "Großes Haus\nyou idiot\nGroßes Haus"} {
		result := score(t, s, text)
		check(t, "the score", result.Score, alone.Score)
		check(t, "flagged", result.Flagged, true)
		check(t, "the exit", result.Exit, 0)
		if len(result.Spans) != 1 || len(result.Passages) != 1 {
			t.Fatalf("%q: the spans are %v and the passages %v", text, result.Spans, result.Passages)
		}
		check(t, "the span", text[result.Spans[0].Start:result.Spans[0].End], "idiot")
		if passage := text[result.Passages[0].Start:]; !strings.HasPrefix(passage, "you idiot") {
			t.Errorf("the passage begins with %q", passage)
		}
		if warned := strings.Join(result.Warnings, "; "); !strings.Contains(warned, "a part of the text seems to be in a language that the model does not know") {
			t.Errorf("%q: the warnings are %q", text, warned)
		}
	}
	// The model is less sure about foreign text, so its odds count for about half.
	if foreign := score(t, s, "Großer idiot"); foreign.Score >= 0.45 || foreign.Score <= 0.4 {
		t.Errorf("the score is %v", foreign.Score)
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
		result := score(t, toxscreen.New(written(c.language)), "a text")
		check(t, "the language", result.UnsupportedLanguage, c.code)
		check(t, "why it is not decided", result.NotDecided, c.reason)
	}
}

// What is not decided reaches no limit.
func TestATextThatIsNotDecidedReachesNoLimit(t *testing.T) {
	limits := toxscreen.Limits{Flagged: true, Scores: scores(toxscreen.Toxicity, 0.3)}
	for language, want := range map[toxscreen.Language]bool{{Code: "en"}: true, german: false} {
		result := score(t, toxscreen.New(written(language)), "a text")
		check(t, language.Code+" reaches a limit", result.Reaches(limits), want)
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
		if err != nil {
			t.Fatal(err)
		}
		check(t, name+": decided", result.NotDecided == "", c.decided)
		check(t, name+": flagged", result.Flagged, c.decided)
		check(t, name+": has a severity", result.Severity != "", c.decided)
		check(t, name+": the language", result.UnsupportedLanguage, "de")
		if warned := strings.Contains(strings.Join(result.Warnings, "; "), "the decision rests on the judge's verdict"); warned != c.decided {
			t.Errorf("%s: the warnings are %q", name, result.Warnings)
		}
	}
}

// A caller who prefers scores that mean little to none gets a decision.
func TestAnyLanguageMayBeDecided(t *testing.T) {
	result := score(t, toxscreen.New(written(german)).With(toxscreen.WithAnyLanguage()), "a text")
	check(t, "why it is not decided", result.NotDecided, "")
	check(t, "the severity", result.Severity, toxscreen.SeverityMild)
	check(t, "the language", result.UnsupportedLanguage, "de")
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
