package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// englishWords is words for English: a text with ß is German and one with ç French,
// which it does not know.
var englishWords = classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
	found, err := words(ctx, text)
	switch {
	case strings.Contains(text, "ß"):
		found.Language = toxscreen.Language{Code: "de", Name: "German", Foreign: true, Certain: true}
	case strings.Contains(text, "ç"):
		found.Language = toxscreen.Language{Code: "fr", Name: "French", Foreign: true, Certain: true}
	}
	return found, err
})

const unsupportedLanguage = "Toxscreen-Unsupported-Language"

// A native result says that a text is not decided, whatever the server does in other
// formats.
func TestNativeResultsAreNotDecided(t *testing.T) {
	for _, action := range []server.LanguageAction{"", server.BlockLanguage, server.RefuseLanguage, server.WarnLanguage} {
		s := serve(t, toxscreen.New(englishWords), server.Config{OnUnsupportedLanguage: action})
		r := s.Post("/v1/score", `{"text": "große Straße"}`)
		if result := r.Result(t); result.NotDecided != "the text seems to be German, which the model does not know" || result.Flagged || result.Score != 0.1 || r.Header.Get(unsupportedLanguage) != "de" {
			t.Errorf("%s: %s %s", action, r.Header, r.Body)
		}
		// What reaches a threshold is flagged, in whatever language it seems to be.
		r = s.Post("/v1/score", `{"text": "großer idiot"}`)
		if result := r.Result(t); result.NotDecided != "" || !result.Flagged || result.UnsupportedLanguage != "de" || !strings.Contains(strings.Join(result.Warnings, "; "), "the text seems to be German, which the model does not know: its scores mean little") {
			t.Errorf("%s: %s %s", action, r.Header, r.Body)
		}
		// A caller who states the language is believed.
		if r := s.Post("/v1/score", `{"text": "große Straße", "language": "en"}`); r.Result(t).NotDecided != "" || r.Header.Get(unsupportedLanguage) != "" {
			t.Errorf("%s: %s %s", action, r.Header, r.Body)
		}
		if r := s.Post("/v1/score", `{"text": "you idiot"}`); !r.Result(t).Flagged || len(r.Header.Values(unsupportedLanguage)) > 0 {
			t.Errorf("%s: %s %s", action, r.Header, r.Body)
		}
		r = s.Post("/v1/score", `{"texts": ["great", "große", "garçon"]}`)
		lines := strings.Split(r.Body, "\n")
		if !strings.Contains(lines[0], `"flagged":false`) || !strings.Contains(lines[1], `"unsupported_language":"de"`) || !strings.Contains(lines[2], `"unsupported_language":"fr"`) || strings.Contains(lines[1]+lines[2], "flagged") {
			t.Errorf("%s: %s", action, r.Body)
		}
	}
}

// An API that must say yes or no does what the server is told. In every case, the header
// names the languages of the texts, each once and in their order.
func TestOnUnsupportedLanguage(t *testing.T) {
	const (
		openAI   = "/v1/moderations"
		liteLLM  = "/beta/litellm_basic_guardrail_api"
		patronus = "/v1/evaluate"
		writer   = "/v1/toxic-check"
		native   = "/v1/score?format=writer"

		refused = `"failed to screen text 2 of 4: the text seems to be French, which the model does not know; the server decides about such texts if its setting on_unsupported_language is warn"`
		alone   = `"failed to screen text 1 of 1: the text seems to be German, which the model does not know; the server decides about such texts if its setting on_unsupported_language is warn"`
	)
	texts := `["great","garçon","große","Straße"]`
	for _, c := range []struct {
		action     server.LanguageAction
		path, body string
		status     int
		want       string // in the answer
		languages  string
	}{
		{"block", openAI, `{"input":` + texts + `}`, 200, `"flagged":true`, "fr, de"},
		{"refuse", openAI, `{"input":` + texts + `}`, 422, `{"error":{"message":` + refused + `,"type":"invalid_request_error","param":"input","code":"unsupported_language"}}`, "fr, de"},
		{"warn", openAI, `{"input":` + texts + `}`, 200, `"flagged":false`, "fr, de"},

		{"block", liteLLM, `{"texts":` + texts + `}`, 200, `{"action":"BLOCKED","blocked_reason":"Text 2 of 4 was not screened and is blocked: the text seems to be French, which the model does not know."}`, "fr, de"},
		{"block", liteLLM, `{"texts":["große Straße"],"additional_provider_specific_params":{"on_flagged":"mask"}}`, 200, `{"action":"BLOCKED","blocked_reason":"The text was not screened and is blocked: the text seems to be German, which the model does not know."}`, "de"},
		{"block", liteLLM, `{"texts":["große Straße"],"additional_provider_specific_params":{"language":"en"}}`, 200, `{"action":"NONE"}`, ""},
		{"block", liteLLM, `{"texts":["große Straße"],"additional_provider_specific_params":{"language":"english"}}`, 400, `language: \"english\" is not the code of a language: it must be like en or en-GB`, ""},
		{"block", liteLLM, `{"texts":["großer idiot"],"additional_provider_specific_params":{"on_flagged":"mask"}}`, 200, `{"action":"GUARDRAIL_INTERVENED","texts":["großer *****"]}`, "de"},
		{"refuse", liteLLM, `{"texts":` + texts + `}`, 422, `{"error":{"code":"unsupported_language","message":` + refused + `}}`, "fr, de"},
		{"warn", liteLLM, `{"texts":` + texts + `}`, 200, `{"action":"NONE"}`, "fr, de"},
		{"warn", liteLLM, `{"texts":["großer idiot"],"additional_provider_specific_params":{"on_flagged":"mask"}}`, 200, `{"action":"GUARDRAIL_INTERVENED","texts":["großer *****"]}`, "de"},

		{"block", patronus, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"große"}`, 200, `"status":"validation_error","error_message":"the evaluator toxicity did not decide: the text seems to be German, which the model does not know","evaluation_result":null`, "de"},
		{"refuse", patronus, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"große"}`, 422, `{"detail":` + alone + `}`, "de"},
		{"warn", patronus, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"große"}`, 200, `"pass":true`, "de"},

		{"block", writer, `{"completion":"große"}`, 422, `{"error":{"code":"unsupported_language","message":` + alone + `}}`, "de"},
		{"refuse", writer, `{"completion":"große"}`, 422, `{"error":{"code":"unsupported_language","message":` + alone + `}}`, "de"},
		{"warn", writer, `{"prompt":"great","completion":"großer idiot"}`, 200, `"completion_labels":[{"class_name":"toxic","score":0.1}]`, "de"},
		{"block", native, `{"text":"große"}`, 422, alone, "de"},
		{"warn", native, `{"text":"große"}`, 200, `{"completion_labels":[{"class_name":"nontoxic","score":0.9}]}`, "de"},
	} {
		s := serve(t, toxscreen.New(englishWords), server.Config{OnUnsupportedLanguage: c.action})
		r := s.Post(c.path, c.body)
		if r.Status != c.status || !strings.Contains(r.Body, c.want) || r.Header.Get(unsupportedLanguage) != c.languages {
			t.Errorf("%s %s: %d, languages %q, %s", c.action, c.path, r.Status, r.Header.Get(unsupportedLanguage), r.Body)
		}
		if c.action != server.BlockLanguage {
			continue
		}
		// It is the default.
		again := serve(t, toxscreen.New(englishWords), server.Config{}).Post(c.path, c.body)
		if c.path != openAI && c.path != patronus && again.Body != r.Body || again.Status != r.Status { // they have ids and times
			t.Errorf("%s without a setting: %d %s", c.path, again.Status, again.Body)
		}
	}
}

// Texts in the model's languages are answered as ever, in the same request too.
func TestKnownLanguagesAreDecided(t *testing.T) {
	s := serve(t, toxscreen.New(englishWords), server.Config{})
	r := s.Post("/v1/moderations", `{"input":["great","große","you idiot"]}`)
	flagged := strings.Split(r.Body, `"flagged":`)
	if len(flagged) != 4 || !strings.HasPrefix(flagged[1], "false") || !strings.HasPrefix(flagged[2], "true") || strings.Contains(flagged[2], ":true") || !strings.HasPrefix(flagged[3], "true") || !strings.Contains(flagged[3], `"harassment":true`) {
		t.Error(r.Body)
	}
	r = s.Post("/v1/moderations", `{"input":"you idiot"}`)
	if len(r.Header.Values(unsupportedLanguage)) > 0 || !strings.Contains(r.Body, `"harassment":true`) {
		t.Errorf("%s %s", r.Header, r.Body)
	}
}

// The language is that of the whole text: a sentence in another one has a decision of
// its own, and so has what masking leaves.
func TestPartsOfATextAreDecided(t *testing.T) {
	mixed := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		if strings.Contains(text, "Hello") {
			return words(ctx, text)
		}
		return englishWords(ctx, text)
	})
	s := serve(t, toxscreen.New(mixed), server.Config{})
	r := s.Post("/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"Hello idiot. Großer idiot! Bye."}`)
	if !strings.Contains(r.Body, `"positions":[[0,13],[13,27]]`) {
		t.Error(r.Body)
	}
	left := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		if strings.Contains(text, "idiot") {
			return words(ctx, text)
		}
		return englishWords(ctx, text)
	})
	s = serve(t, toxscreen.New(left), server.Config{})
	r = s.Post("/beta/litellm_basic_guardrail_api", `{"texts":["großer idiot"],"additional_provider_specific_params":{"on_flagged":"mask"}}`)
	if want := `{"action":"GUARDRAIL_INTERVENED","texts":["großer *****"]}` + "\n"; r.Body != want {
		t.Error(r.Body)
	}
}

// A verdict of the judge decides a text in any language.
func TestAVerdictIsNotBlocked(t *testing.T) {
	quick := func(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
		verdict := insult()
		verdict.Passage = nil // it is about the whole text
		*verdict.Aspects[0].PYes = 0.1
		return verdict, nil
	}
	screener := toxscreen.New(englishWords, servertest.Raised(quick))
	s := serve(t, screener, server.Config{})
	const body = `{"texts":["große maybe"],"additional_provider_specific_params":{"thresholds":{"insult":0.4}}}`
	if r := s.Post("/beta/litellm_basic_guardrail_api", body); !strings.Contains(r.Body, "BLOCKED") {
		t.Errorf("the answer does not wait for the judge: %s", r.Body)
	}
	s = serve(t, screener, server.Config{JudgeWait: map[string]time.Duration{"litellm": time.Minute}})
	if r := s.Post("/beta/litellm_basic_guardrail_api", body); r.Body != `{"action":"NONE"}`+"\n" || r.Header.Get(unsupportedLanguage) != "de" {
		t.Errorf("%s %s", r.Header, r.Body)
	}
}

// Google's API refuses such a text in Google's words. A client that names a language of
// the model is believed.
func TestPerspectiveNamesTheLanguage(t *testing.T) {
	s := serve(t, toxscreen.New(english{Of: englishWords}), server.Config{})
	r := s.Post("/v1alpha1/comments:analyze", `{"comment":{"text":"Ich verstehe das alles nicht so richtig, aber das macht gar nichts."},"requestedAttributes":{"TOXICITY":{}},"languages":["en"]}`)
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `"value":0.1`) || r.Header.Get(unsupportedLanguage) != "" {
		t.Errorf("%d %s %s", r.Status, r.Header, r.Body)
	}
	// What reaches a threshold is answered in any language.
	r = s.Post("/v1alpha1/comments:analyze", `{"comment":{"text":"Ich verstehe das alles nicht so richtig, aber das macht gar nichts, du idiot."},"requestedAttributes":{"TOXICITY":{}}}`)
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `"value":0.9`) || r.Header.Get(unsupportedLanguage) != "de" {
		t.Errorf("%d %s %s", r.Status, r.Header, r.Body)
	}
}

func TestUnknownLanguageAction(t *testing.T) {
	const unknown = `unknown action "pass": it must be block, refuse or warn`
	_, err := servertest.New(toxscreen.New(words), server.Config{OnUnsupportedLanguage: "pass"})
	if err == nil || !strings.HasSuffix(err.Error(), unknown) {
		t.Error(err)
	}
	if _, err := server.ParseLanguageAction("pass"); err == nil || err.Error() != unknown {
		t.Error(err)
	}
}
