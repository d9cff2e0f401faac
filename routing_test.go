package toxscreen_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// speaker is a Classifier that reads the language of each line by a letter in it: ß is German and
// β is Greek, which are surely not English; "?" may be anything.
type speaker struct {
	classify

	version    string
	languages  []string
	thresholds toxscreen.Scores
}

func (s speaker) Info() toxscreen.ModelInfo {
	info := s.classify.Info()
	info.Version, info.Languages, info.Thresholds = s.version, s.languages, s.thresholds
	return info
}

func (s speaker) ReadLanguage(text string) (l toxscreen.Language, parts []toxscreen.LanguagePart) {
	at, foreign := 0, 0
	for line := range strings.Lines(text) {
		p := toxscreen.LanguagePart{Start: at, End: at + len(line), Sure: !strings.Contains(line, "?")}
		for letter, code := range map[string]string{"ß": "de", "β": "el"} {
			if strings.Contains(line, letter) && !strings.Contains(strings.Join(s.languages, " "), code) {
				l.Code, p.Foreign = code, true
				foreign++
			}
		}
		parts = append(parts, p)
		at = p.End
	}
	l.Foreign = foreign > 0 && foreign == len(parts)
	l.Certain, l.Mixed = l.Foreign, foreign > 0 && !l.Foreign
	return l, parts
}

// bilingual is a Screener of English and, by a second model, of German. Each model knows an insult;
// the second one flags toxicity from 0.6 on instead of 0.5.
func bilingual(options ...toxscreen.Option) *toxscreen.Screener {
	says := func(word string, toxicity float64) classify {
		return func(_ context.Context, text string) (toxscreen.Classification, error) {
			s := scores(toxscreen.Toxicity, 0.1, toxscreen.Insult, 0.1)
			found := toxscreen.Classification{Scores: s, Spans: []toxscreen.Span{}}
			if i := strings.Index(text, word); i >= 0 {
				found.Scores.Set(toxscreen.Toxicity, toxicity)
				found.Spans = append(found.Spans, toxscreen.Span{Start: i, End: i + len(word), Attributes: found.Scores})
			}
			found.Windows = []toxscreen.Window{{Start: 0, End: len(text), Scores: found.Scores}}
			return found, nil
		}
	}
	first := speaker{says("idiot", 0.7), "english@1", []string{"en"}, scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7)}
	second := speaker{says("Depp", 0.7), "german@1", []string{"de"}, scores(toxscreen.Toxicity, 0.6, toxscreen.Insult, 0.7)}
	return toxscreen.New(first, toxscreen.WithMultilingual(second, toxscreen.Scores{})).With(options...)
}

// A text is classified by the model that knows its language, and by both where the language is not
// sure. The result names the models and the language.
func TestATextGoesToTheModelOfItsLanguage(t *testing.T) {
	s := bilingual()
	for text, want := range map[string]struct {
		model, language string
		flagged         bool
	}{
		"you idiot":     {"english@1", "", true},
		"you Depp":      {"english@1", "", false},
		"großer Depp":   {"german@1", "de", true},
		"großer idiot":  {"german@1", "de", false},
		"idiot?":        {"english@1 + german@1", "", true},
		"Depp?":         {"english@1 + german@1", "", true},
		"großer Depp?":  {"english@1 + german@1", "de", true},
		"großer idiot?": {"english@1 + german@1", "de", true},
	} {
		result := score(t, s, text)
		check(t, text+": the model", result.Versions.Model, want.model)
		check(t, text+": the language", result.Language, want.language)
		check(t, text+": flagged", result.Flagged, want.flagged)
		check(t, text+": why it is not decided", result.NotDecided, "")
		check(t, text+": the unsupported language", result.UnsupportedLanguage, "")
	}
}

// Of two models, the score that is the furthest over its own threshold counts, with that threshold.
func TestTheFurthestScoreCounts(t *testing.T) {
	for text, want := range map[string]float64{"Depp?": 0.6, "idiot?": 0.5, "idiot Depp?": 0.5} {
		toxicity := score(t, bilingual(), text).Attributes[toxscreen.Toxicity]
		check(t, text+": the score", toxicity.Score, 0.7)
		check(t, text+": the threshold", toxicity.Threshold, toxscreen.Probability(want))
	}
	toxicity := score(t, bilingual(toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.65))), "Depp?").Attributes[toxscreen.Toxicity]
	check(t, "the caller's threshold", toxicity.Threshold, 0.65)
}

// What stands beside a text in another language takes no flag from it, and offsets are those of
// the whole text.
func TestOneLanguageBesideAnother(t *testing.T) {
	s := bilingual()
	for _, text := range []string{
		"großer Depp", "großer Depp\nhello", "hello\ngroßer Depp", "hello\ngroßer Depp\nhello", "Straße\nidiot", "idiot\nStraße", "ok?\ngroßer Depp", "idiot\nok?", "αβγ\nidiot", "αβγ\ngroßer Depp",
	} {
		result := score(t, s, text)
		if !result.Flagged || len(result.Spans) != 1 || len(result.Passages) == 0 {
			t.Fatalf("%q: flagged is %v, the spans are %v and the passages %v", text, result.Flagged, result.Spans, result.Passages)
		}
		if marked := text[result.Spans[0].Start:result.Spans[0].End]; marked != "idiot" && marked != "Depp" {
			t.Errorf("%q: the span is %q", text, marked)
		}
		worst := text[result.Passages[0].Start:result.Passages[0].End]
		if !strings.Contains(worst, "idiot") && !strings.Contains(worst, "Depp") {
			t.Errorf("%q: the worst passage is %q", text, worst)
		}
		mixed := strings.Contains(strings.Join(result.Warnings, "; "), "a part of the text seems to be in a language that the model does not know")
		check(t, text+": warned of an unknown language", mixed, strings.Contains(text, "β"))
	}
}

// A language that neither model knows is not decided.
func TestALanguageThatNeitherModelKnows(t *testing.T) {
	result := score(t, bilingual(), "αβγ")
	check(t, "the language", result.UnsupportedLanguage, "el")
	if result.NotDecided == "" {
		t.Error("the text is decided")
	}
}

// A stated language selects the model.
func TestAStatedLanguageSelectsTheModel(t *testing.T) {
	for code, want := range map[string]struct{ model, notDecided string }{
		"en-GB": {"english@1", ""},
		"de":    {"german@1", ""},
		"fi":    {"german@1", "the language of the text is stated as fi, which the model does not know"},
	} {
		result := score(t, bilingual(toxscreen.WithLanguage(code)), "hello")
		check(t, code+": the model", result.Versions.Model, want.model)
		check(t, code+": why it is not decided", result.NotDecided, want.notDecided)
	}
}

// Verdicts and their parameters are about the first model: no judge is asked about what only the
// second one classifies.
func TestNoJudgeIsAskedAboutOtherLanguages(t *testing.T) {
	judge := judging(func(string) (toxscreen.Verdict, error) { return verdictOf(toxscreen.Insult, true, 0.9), nil })
	s := bilingual(opinion(fusing{}, judge, all))
	for text, want := range map[string]bool{"hello": true, "hello?": true, "hello\nStraße": true, "Straße": false} {
		result := score(t, s, text)
		check(t, text+": asked", result.Judge.Asked, want)
		check(t, text+": fused", result.Source == toxscreen.SourceFused, want)
	}
}

// The versions of a Screener are those of all models that may classify a text.
func TestVersionsOfTwoModels(t *testing.T) {
	s := bilingual()
	check(t, "the models", s.Versions().Model, "english@1 + german@1")
	check(t, "the languages", strings.Join(s.Info().Languages, " "), "de en")
}
