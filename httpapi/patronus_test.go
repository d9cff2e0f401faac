package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/httpapi"
)

// The evaluator toxicity over HTTP, with the key where Patronus' client puts it.
func TestPatronusEvaluate(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(words), httpapi.Config{Keys: []httpapi.Key{a}})
	r := s.post("/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity","criteria":null,"explain_strategy":"always"},{"evaluator":"pii"}],"evaluated_model_input":"you idiot",
		"evaluated_model_output":"H\u00e9llo. You idiot! Bye.","project_name":"p","capture":"all","tags":{"k":"v"}}`, "X-API-KEY", alice)
	var got struct {
		Results []struct {
			EvaluatorID  string  `json:"evaluator_id"`
			Status       string  `json:"status"`
			ErrorMessage *string `json:"error_message"`
			Evaluation   *struct {
				Pass      bool
				CreatedAt time.Time `json:"created_at"`
				Info      struct {
					Score     float64 `json:"score_raw"`
					Positions [][2]int
					Extra     struct {
						Attributes []map[string]struct{ Positions [][2]int } `json:"toxicity_additional_attributes"`
					}
				} `json:"additional_info"`
			} `json:"evaluation_result"`
		}
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != http.StatusOK || len(got.Results) != 2 {
		t.Fatalf("%d %v %s", r.status, err, r.body)
	}
	e := got.Results[0].Evaluation
	if e.Pass || e.Info.Score != 0.9 || time.Since(e.CreatedAt) > time.Hour {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([][2]int{{7, 18}}, e.Info.Positions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][2]int{{0, 7}, {7, 18}, {18, 22}}, e.Info.Extra.Attributes[0]["INSULT"].Positions); diff != "" {
		t.Error(diff)
	}
	if pii := got.Results[1]; pii.Status != "validation_error" || pii.ErrorMessage == nil || pii.Evaluation != nil {
		t.Errorf("%+v", pii)
	}
	for body, want := range map[string]string{
		`{}`:                                   "400",
		`{"evaluators":[{"evaluator":"pii"}]}`: "200",
	} {
		if r := s.post("/v1/evaluate", body, "X-API-KEY", alice); statusOf(r) != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	// What the client asks for first.
	for path, want := range map[string]string{
		"/v1/evaluators?by_alias_or_id=toxicity":                                                     `"default_criteria":"system:detect-all-toxicity:1"`,
		"/v1/evaluator-criteria?name=patronus%3Atoxicity&get_last_revision=true&limit=1000&offset=0": `"name":"patronus:toxicity","revision":1`,
	} {
		if r := s.get(path, "X-API-KEY", alice); r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := s.post("/v1/evaluate", `{}`); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A text that passes is classified once. Where it fails, so are its sentences: the
// answer has the positions of those that make it fail.
func TestPatronusScoresSentencesOnlyOfTextsThatFail(t *testing.T) {
	var classified atomic.Int64
	counting := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		classified.Add(1)
		return words(ctx, text)
	})
	s := serve(t, toxscreen.New(counting), httpapi.Config{})
	for _, c := range []struct {
		text       string
		classified int64
		positions  string // of the attribute INSULT: all sentences
	}{
		{"Hello. Thank you. Bye.", 1, "[[0,7],[7,18],[18,22]]"},
		{"Hello. You idiot! Bye.", 4, "[[0,7],[7,18],[18,22]]"},
		{"You idiot!", 1, "[[0,10]]"}, // a single sentence
		{"", 1, "[]"},
	} {
		classified.Store(0)
		r := s.post("/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"`+c.text+`"}`)
		if r.status != http.StatusOK || classified.Load() != c.classified || !strings.Contains(r.body, `{"INSULT":{"score_raw":`) || !strings.Contains(r.body, `"positions":`+c.positions+"}}") {
			t.Errorf("%q: the classifier saw %d texts, want %d: %d %s", c.text, classified.Load(), c.classified, r.status, r.body)
		}
	}
}
