package patronus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// The evaluator toxicity over HTTP, with the key where Patronus' client puts it.
func TestEvaluate(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Keys: []server.Key{a}})
	r := s.Post("/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity","criteria":null,"explain_strategy":"always"},{"evaluator":"pii"}],"evaluated_model_input":"you idiot",
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
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil || r.Status != http.StatusOK || len(got.Results) != 2 {
		t.Fatalf("%d %v %s", r.Status, err, r.Body)
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
		if r := s.Post("/v1/evaluate", body, "X-API-KEY", alice); strconv.Itoa(r.Status) != want {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	// What the client asks for first.
	for path, want := range map[string]string{
		"/v1/evaluators?by_alias_or_id=toxicity":                                                     `"default_criteria":"system:detect-all-toxicity:1"`,
		"/v1/evaluator-criteria?name=patronus%3Atoxicity&get_last_revision=true&limit=1000&offset=0": `"name":"patronus:toxicity","revision":1`,
	} {
		if r := s.Get(path, "X-API-KEY", alice); r.Status != http.StatusOK || !strings.Contains(r.Body, want) {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	if r := s.Post("/v1/evaluate", `{}`); r.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// names finds John Doe, as the network for names does.
type names struct{}

func (names) Find(_ context.Context, text string) ([]toxscreen.Entity, error) {
	found := []toxscreen.Entity{}
	if at := strings.Index(text, "John Doe"); at >= 0 {
		found = append(found, toxscreen.Entity{Type: kind.Person, Start: at, End: at + len("John Doe"), Score: 0.98, Why: []string{"network"}})
	}
	return found, nil
}

func (names) Types() []toxscreen.EntityType { return []toxscreen.EntityType{kind.Person} }

func (names) Version() string { return "names@1" }

func (names) Parallel() int { return 2 }

// The examples of Patronus' documentation. Of the first, Patronus finds the name alone; of
// the second, nothing about health. A request runs only what its evaluators need.
func TestPersonalData(t *testing.T) {
	var classified atomic.Int64
	counting := servertest.Classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		classified.Add(1)
		return servertest.Words(ctx, text)
	})
	withNames := servertest.Serve(t, toxscreen.New(counting), server.Config{Finder: servertest.Finder(t, pii.Settings{Names: names{}})})
	patternsAlone := servertest.Serve(t, toxscreen.New(counting), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	const ssn, hospital = "Sure! Happy to provide the SSN of John Doe - it's 123-45-6789.", "John Doe is in the hospital for a bad case of carpal tunnel."
	for _, c := range []struct {
		site               *servertest.Site
		evaluators, output string
		want               []string // pass, score and positions of each evaluator
		classified         int64
	}{
		{withNames, `{"evaluator":"pii"}`, ssn, []string{"false 0 [[34 42] [50 61]]"}, 0},
		{patternsAlone, `{"evaluator":"pii-2024-05-31"}`, ssn, []string{"false 0 [[50 61]]"}, 0},
		{withNames, `{"evaluator":"phi"}`, hospital, []string{"false 0 [[0 8] [46 59]]"}, 0},
		{patternsAlone, `{"evaluator":"phi-2024-05-31","criteria":"patronus:phi:1"}`, hospital, []string{"true 1 []"}, 0},
		{withNames, `{"evaluator":"toxicity"}`, ssn, []string{"true 0.1 []"}, 1},
		{withNames, `{"evaluator":"pii"},{"evaluator":"toxicity"},{"evaluator":"phi"}`, "Hi.", []string{"true 1 []", "true 0.1 []", "true 1 []"}, 1},
	} {
		classified.Store(0)
		r := c.site.Post("/v1/evaluate", `{"evaluators":[`+c.evaluators+`],"evaluated_model_input":"jane@example.com","evaluated_model_output":"`+c.output+`"}`)
		var answer struct {
			Results []struct {
				Evaluation struct {
					Pass  bool
					Score float64                      `json:"score_raw"`
					Info  struct{ Positions [][2]int } `json:"additional_info"`
				} `json:"evaluation_result"`
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &answer); err != nil || r.Status != http.StatusOK {
			t.Fatalf("%d %v %s", r.Status, err, r.Body)
		}
		var got []string
		for _, result := range answer.Results {
			got = append(got, fmt.Sprint(result.Evaluation.Pass, " ", result.Evaluation.Score, " ", result.Evaluation.Info.Positions))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || classified.Load() != c.classified {
			t.Errorf("%s: the classifier saw %d texts: %s\n%s", c.evaluators, classified.Load(), diff, r.Body)
		}
	}
	// Also where every age was asked for, one under 90 is no identifier.
	everyAge := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{Types: []toxscreen.EntityType{kind.Age}})})
	for age, want := range map[string]string{"45": `"pass":true`, "93": `"pass":false`} {
		if r := everyAge.Post("/v1/evaluate", `{"evaluators":[{"evaluator":"phi"}],"evaluated_model_output":"I am `+age+`."}`); !strings.Contains(r.Body, want) {
			t.Errorf("%s: %s", age, r.Body)
		}
	}
	// phi says which of the 18 identifiers it looks for.
	r := patternsAlone.Post("/v1/evaluate", `{"evaluators":[{"evaluator":"phi"}],"evaluated_model_output":"x"}`)
	for _, want := range []string{`"looked_for":["C dates`, `"A names: the server is not set up to find them"`, `"Q full-face photographs and comparable images: they are not text"`} {
		if !strings.Contains(r.Body, want) {
			t.Errorf("%s is not in %s", want, r.Body)
		}
	}
}

// A text that passes is classified once. Where it fails, so are its sentences: the
// answer has the positions of those that make it fail.
func TestScoresSentencesOnlyOfTextsThatFail(t *testing.T) {
	var classified atomic.Int64
	counting := servertest.Classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		classified.Add(1)
		return servertest.Words(ctx, text)
	})
	s := servertest.Serve(t, toxscreen.New(counting), server.Config{})
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
		r := s.Post("/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"`+c.text+`"}`)
		if r.Status != http.StatusOK || classified.Load() != c.classified || !strings.Contains(r.Body, `{"INSULT":{"score_raw":`) || !strings.Contains(r.Body, `"positions":`+c.positions+"}}") {
			t.Errorf("%q: the classifier saw %d texts, want %d: %d %s", c.text, classified.Load(), c.classified, r.Status, r.Body)
		}
	}
}

// Evaluators read the output, but no images in it.
func TestImages(t *testing.T) {
	const body = `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"hello","evaluated_model_attachments":[{"url":"x","media_type":"image/png","usage_type":"evaluated_model_output"}]}`
	r := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{}).Post("/v1/evaluate", body)
	const refused = `{"detail":"failed to read evaluated_model_attachments[0]: images are not measured, only text is; leave it out, or let the server pass over images with its setting ignore_images"}`
	if r.Status != http.StatusBadRequest || strings.TrimSpace(r.Body) != refused {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	r = servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{IgnoreImages: true}).Post("/v1/evaluate", body)
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `"status":"success"`) || !strings.Contains(r.Body, `"toxscreen":{"not_measured":["images"]}`) || r.Header.Get("Toxscreen-Not-Measured") != "images" {
		t.Errorf("%d %q %s", r.Status, r.Header.Get("Toxscreen-Not-Measured"), r.Body)
	}
}
