package patronus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/patronus"
	"github.com/toxscreen/toxscreen/server/servertest"
)

func readPatronus(t *testing.T, request string) patronus.Request {
	t.Helper()
	r, err := patronus.Read([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The example of Patronus' documentation with a milder text of the same lengths, with
// all of its keys and no others. The first sentence is 0 to 15, with the space after
// it, the second 15 to 40.
func TestExample(t *testing.T) {
	request, err := os.ReadFile("testdata/request.json")
	if err != nil {
		t.Fatal(err)
	}
	r := readPatronus(t, string(request))
	if !r.Scores() {
		t.Error("the output is not scored")
	}
	servertest.Documented(t, "testdata/toxicity.json", patronus.ToAnswer(r, patronus.Scored{
		Result: servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{
			toxscreen.Toxicity: 0.94, toxscreen.SevereToxicity: 0.45895407, toxscreen.IdentityAttack: 0.09328204,
			toxscreen.Insult: 0.8012121, toxscreen.Profanity: 0.8907955, toxscreen.Threat: 0.014911477,
		}),
		Parts:    servertest.Sentences(*r.Output, 0.97, 0.1),
		At:       time.Date(2024, 8, 8, 21, 54, 23, 284104000, time.UTC),
		Duration: 122 * time.Millisecond,
	}))
}

// A text that passes has no position. A text that fails while none of its sentences
// does has the position of the worst.
func TestPositions(t *testing.T) {
	const text = "\U0001F600 e\u0301. Who? You."
	for _, c := range []struct {
		whole toxscreen.Probability
		parts []toxscreen.Probability
		want  string
	}{
		{0.2, []toxscreen.Probability{0.1, 0.9}, `[]`},
		{0.9, []toxscreen.Probability{0.8, 0.1, 0.6}, `[[0,6],[11,15]]`},
		{0.6, []toxscreen.Probability{0.1, 0.4, 0.2}, `[[6,11]]`},
	} {
		r := readPatronus(t, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":`+servertest.JSON(t, text)+`}`)
		got := patronus.ToAnswer(r, patronus.Scored{Result: servertest.Toxicity(c.whole), Parts: servertest.Sentences(text, c.parts...)})
		if diff := cmp.Diff(c.want, servertest.JSON(t, got.Results[0].Evaluation.AdditionalInfo.Positions)); diff != "" {
			t.Errorf("%v: %s", c, diff)
		}
	}
}

// Evaluators have an alias and a version, and each has its own result. One that is
// not available says so, and neither passes nor fails.
func TestEvaluators(t *testing.T) {
	r := readPatronus(t, `{"evaluated_model_output":"x","evaluators":[
		{"evaluator":"toxicity-2024-05-16","criteria":"patronus:toxicity","explain_strategy":"always"},
		{"evaluator":"toxicity","criteria":"my-own"},{"evaluator":"pii"},{"evaluator":"phi-2024-05-31"},{"evaluator":"pii","criteria":"system:detect-all-toxicity"},{"evaluator":"lynx"}]}`)
	got := patronus.ToAnswer(r, patronus.Scored{Result: servertest.Toxicity(0.1), Parts: servertest.Sentences("x")})
	for i, want := range []struct{ id, criteria, status, message string }{
		{"toxicity-2024-05-16", "patronus:toxicity", "success", ""},
		{"toxicity-2024-05-16", "my-own", "validation_error", `no criteria "my-own"`},
		{"pii-2024-05-31", "system:detect-personally-identifiable-information", "validation_error", "does not look for personal data"},
		{"phi-2024-05-31", "system:detect-protected-health-information", "validation_error", "does not look for personal data"},
		{"pii-2024-05-31", "system:detect-all-toxicity", "validation_error", `the evaluator pii has no criteria`},
		{"lynx", "", "validation_error", `there is no evaluator "lynx"`},
	} {
		result := got.Results[i]
		message := ""
		if result.ErrorMessage != nil {
			message = *result.ErrorMessage
		}
		if result.EvaluatorID != want.id || result.Criteria != want.criteria || result.Status != want.status || !strings.Contains(message, want.message) {
			t.Errorf("%d: %s", i, servertest.JSON(t, result))
		}
		if (result.Evaluation != nil) != (want.status == "success") {
			t.Errorf("%d: %s has %v", i, want.status, result.Evaluation)
		}
	}
	if e := got.Results[0].Evaluation; !e.Pass || e.ExplainStrategy != "always" || e.Explain {
		t.Errorf("%s", servertest.JSON(t, e))
	}
}

// An output that was not decided has neither passed nor failed. The reasons of the other
// evaluators come first.
func TestNeitherPassesNorFailsWhatWasNotDecided(t *testing.T) {
	r := readPatronus(t, `{"evaluated_model_output":"x","evaluators":[{"evaluator":"toxicity"},{"evaluator":"pii"}]}`)
	foreign := servertest.Toxicity(0.9)
	foreign.NotDecided = "the text seems to be German, which the model does not know"
	got := patronus.ToAnswer(r, patronus.Scored{Result: foreign, Parts: servertest.Sentences("x")})
	for i, want := range []string{"the evaluator toxicity did not decide: the text seems to be German, which the model does not know", "the evaluator pii is not available: this server"} {
		if result := got.Results[i]; result.Status != "validation_error" || result.Evaluation != nil || result.ErrorMessage == nil || !strings.HasPrefix(*result.ErrorMessage, want) {
			t.Errorf("%d: %s", i, servertest.JSON(t, result))
		}
	}
}

// The example of Patronus' documentation. Where Patronus has the name alone, the number
// beside it is there, too, if both were found.
func TestEntities(t *testing.T) {
	const text = "Sure! Happy to provide the SSN of John Doe - it's 123-45-6789."
	john, number := strings.Index(text, "John"), strings.Index(text, "123")
	entities := []toxscreen.Entity{
		{Type: "PERSON", Start: john, End: john + len("John Doe"), Score: 0.9, Why: []string{"network"}},
		{Type: "US_SSN", Start: number, End: len(text) - 1, Score: 0.5, Why: []string{"pattern", `cue "ssn"`}},
	}
	r := readPatronus(t, `{"evaluators":[{"evaluator":"pii"},{"evaluator":"phi"}],"evaluated_model_output":`+servertest.JSON(t, text)+`}`)
	if r.Scores() || !r.Finds() {
		t.Errorf("scores %v, finds %v: only personal data is asked for", r.Scores(), r.Finds())
	}
	got := patronus.ToAnswer(r, patronus.Scored{Entities: entities, Health: entities[:1], HIPAA: patronus.HIPAA{LookedFor: []string{"names"}, NotLookedFor: []string{"full-face photographs: no text"}}})
	for i, want := range []string{
		`{"score_raw":0,"positions":[[34,42],[50,61]],"extra":{"entities":[{"entity_type":"PERSON","position":[34,42],"score":0.9,"why":["network"]},` +
			`{"entity_type":"US_SSN","position":[50,61],"score":0.5,"why":["pattern","cue \"ssn\""]}]},"confidence_interval":null}`,
		`{"score_raw":0,"positions":[[34,42]],"extra":{"entities":[{"entity_type":"PERSON","position":[34,42],"score":0.9,"why":["network"]}],` +
			`"hipaa_identifiers":{"looked_for":["names"],"not_looked_for":["full-face photographs: no text"]}},"confidence_interval":null}`,
	} {
		e := got.Results[i].Evaluation
		if diff := cmp.Diff(want, servertest.JSON(t, e.AdditionalInfo)); diff != "" || e.Pass || e.ScoreRaw != 0 {
			t.Errorf("%+v: %s", e, diff)
		}
	}
	clean := patronus.ToAnswer(r, patronus.Scored{Entities: []toxscreen.Entity{}, Health: []toxscreen.Entity{}}).Results[0].Evaluation
	if !clean.Pass || clean.ScoreRaw != 1 || len(clean.AdditionalInfo.Positions) != 0 {
		t.Errorf("%s", servertest.JSON(t, clean))
	}
}

// Patronus' client looks up an evaluator and its criteria first, and then sends the
// names that it found, with the revision as suffix.
func TestLists(t *testing.T) {
	for name, want := range map[string]string{
		"": `{"evaluators":[{"id":"phi-2024-05-31","name":"phi","evaluator_family":"phi","aliases":["phi"],"default_criteria":"system:detect-protected-health-information:1"},` +
			`{"id":"pii-2024-05-31","name":"pii","evaluator_family":"pii","aliases":["pii"],"default_criteria":"system:detect-personally-identifiable-information:1"},` +
			`{"id":"toxicity-2024-05-16","name":"toxicity","evaluator_family":"toxicity","aliases":["toxicity"],"default_criteria":"system:detect-all-toxicity:1"}]}`,
		"toxicity-2024-05-16": `{"evaluators":[{"id":"toxicity-2024-05-16","name":"toxicity","evaluator_family":"toxicity","aliases":["toxicity"],"default_criteria":"system:detect-all-toxicity:1"}]}`,
		"pii":                 `{"evaluators":[{"id":"pii-2024-05-31","name":"pii","evaluator_family":"pii","aliases":["pii"],"default_criteria":"system:detect-personally-identifiable-information:1"}]}`,
		"lynx":                `{"evaluators":[]}`,
	} {
		if diff := cmp.Diff(want, servertest.JSON(t, patronus.ListEvaluators(name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n := len(patronus.ListCriteria("mine").Criteria); n != 0 {
		t.Errorf("%d criteria of that name", n)
	}
	for _, c := range patronus.ListCriteria("").Criteria {
		r := readPatronus(t, fmt.Sprintf(`{"evaluators":[{"evaluator":"%s","criteria":"%s:%d"}],"evaluated_model_output":"x"}`, c.Family, c.Name, c.Revision))
		none := []toxscreen.Entity{}
		if got := patronus.ToAnswer(r, patronus.Scored{Entities: none, Health: none}).Results[0]; got.Evaluation == nil {
			t.Errorf("%s is listed, but not taken: %s", c.Name, *got.ErrorMessage)
		}
	}
}

// Only the output is evaluated, as Patronus documents it. Without an output nothing
// is scored.
func TestWithoutAnOutput(t *testing.T) {
	r := readPatronus(t, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_input":"x"}`)
	if r.Scores() {
		t.Error("the input is scored")
	}
	got := patronus.ToAnswer(r, patronus.Scored{}).Results[0]
	if got.Evaluation != nil || got.ErrorMessage == nil || !strings.Contains(*got.ErrorMessage, "needs evaluated_model_output") {
		t.Errorf("%s", servertest.JSON(t, got))
	}
}

// The answer repeats the fields of the client.
func TestEcho(t *testing.T) {
	r := readPatronus(t, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"x","evaluated_model_retrieved_context":"c",
		"evaluated_model_system_prompt":"s","evaluated_model_gold_answer":"g","app":"mine","tags":{"k":"v"},"capture":"none","confidence_interval_strategy":"none"}`)
	e := patronus.ToAnswer(r, patronus.Scored{Result: servertest.Toxicity(0)}).Results[0].Evaluation
	shown := servertest.JSON(t, e)
	for _, want := range []string{`"evaluated_model_retrieved_context":["c"]`, `"evaluated_model_system_prompt":"s"`, `"evaluated_model_gold_answer":"g"`, `"app":"mine"`, `"tags":{"k":"v"}`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	for request, want := range map[string]string{
		``:                    "failed to read the request",
		`{}`:                  "it has no evaluators",
		`{"evaluators":[{}]}`: "evaluators[0] has no evaluator",
		`{"evaluators":[{"evaluator":"toxicity"}],"capture":"some"}`: `capture is "some"`,
		`{"evaluators":[{"evaluator":"pii"}],"evaluated_model_attachments":[{"url":"x","media_type":"application/pdf","usage_type":"evaluated_model_output"}]}`: `evaluated_model_attachments[0] is part of the output and of type "application/pdf": evaluators read text only`,
		`{"evaluators":[` + strings.Repeat(`{"evaluator":"x"},`, 10) + `{"evaluator":"x"}]}`:                                                                    "11 evaluators, the limit is 10",
	} {
		if _, err := patronus.Read([]byte(request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", request, err, want)
		}
	}
}

// Images of the output belong to what evaluators read, and the answer names them as not
// measured. Those of the input do not, like its text.
func TestNamesImagesThatAreNotMeasured(t *testing.T) {
	for usage, want := range map[string][]string{
		``: nil, `,"usage_type":null`: nil, `,"usage_type":"evaluated_model_input"`: nil,
		`,"usage_type":"evaluated_model_output"`: {"evaluated_model_attachments[0]"},
	} {
		r := readPatronus(t, `{"evaluators":[{"evaluator":"toxicity"}],"evaluated_model_output":"a","evaluated_model_attachments":[{"url":"x","media_type":"Image/png"`+usage+`}]}`)
		answer := servertest.JSON(t, patronus.ToAnswer(r, patronus.Scored{Result: servertest.Toxicity(0.1)}))
		if diff := cmp.Diff(want, r.Images()); diff != "" || strings.HasSuffix(answer, `,"toxscreen":{"not_measured":["images"]}}`) != (want != nil) {
			t.Errorf("%s: %s %s", usage, diff, answer)
		}
	}
}

// Positions cover the whole output in order, in code points.
func FuzzPatronus(f *testing.F) {
	f.Add([]byte(`{"evaluators":[{"evaluator":"toxicity"},{"evaluator":"pii"}],"evaluated_model_output":"a\ud83d\ude00. B\u0301! \ud800","tags":{}}`), 0.7)
	f.Add([]byte(`{"evaluators":[{"evaluator":"toxicity","criteria":null}],"evaluated_model_output":"","evaluated_model_retrieved_context":["x"]}`), 0.1)
	f.Fuzz(func(t *testing.T, data []byte, score float64) {
		r, err := patronus.Read(data)
		if err != nil || !(score >= 0 && score <= 1) {
			return
		}
		scored := patronus.Scored{Result: servertest.Toxicity(toxscreen.Probability(score))}
		scored.Result.Attributes[toxscreen.Insult] = scored.Result.Attributes[toxscreen.Toxicity]
		if r.Output != nil {
			scored.Parts = servertest.Sentences(*r.Output, toxscreen.Probability(score))
		}
		answer := patronus.ToAnswer(r, scored)
		if len(answer.Results) != len(r.Evaluators) {
			t.Fatalf("%d results for %d evaluators", len(answer.Results), len(r.Evaluators))
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Fatal(err)
		}
		for _, result := range answer.Results {
			if (result.Evaluation == nil) == (result.ErrorMessage == nil) {
				t.Fatalf("%+v is neither an error nor a result, or both", result)
			}
			if result.Evaluation == nil {
				continue
			}
			at := 0
			for _, position := range result.Evaluation.AdditionalInfo.Extra.Attributes[0]["INSULT"].Positions {
				if position[0] != at || position[1] <= at {
					t.Fatalf("a sentence at %v, behind one that ends at %d", position, at)
				}
				at = position[1]
			}
			if n := utf8.RuneCountInString(*r.Output); at != n {
				t.Fatalf("the sentences end at %d of %d", at, n)
			}
		}
	})
}
