package formats_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

func asJSON(t *testing.T, value any) string {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func verdict(score toxscreen.Probability, aspects ...toxscreen.AspectVerdict) toxscreen.Verdict {
	return toxscreen.Verdict{Score: &score, Scale: 1, Aspects: aspects}
}

func severity(n int) *int { return &n }

// The example of Mastra's documentation: nothing toxic is a score of 0.
func TestMastraMeasure(t *testing.T) {
	const text = "Sarah is a dedicated team member who always delivers quality work."
	got, err := formats.ToMastraMeasure(verdict(0, toxscreen.AspectVerdict{Name: "personal_attacks", Severity: severity(0)}), text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"score":0,"info":{"reason":"The score is 0 of 1: none of the aspects was found."}}`, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
}

func TestMastraRun(t *testing.T) {
	const text = "Sarah is an idiot."
	v := verdict(0.1,
		toxscreen.AspectVerdict{Name: "personal_attacks", Yes: true, Severity: severity(2), Evidence: []toxscreen.Evidence{{Start: 12, End: 17}}},
		toxscreen.AspectVerdict{Name: "hate_speech", Severity: severity(0)})
	got, err := formats.ToMastraRun(v, text, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"runId":"run-1","analyzeStepResult":{"verdicts":[{"verdict":"yes","reason":"personal attacks of severity 2: \"idiot\""},` +
		`{"verdict":"no","reason":"no hate speech"}]},"score":0.1,"reason":"The score is 0.1 of 1: personal attacks of severity 2: \"idiot\"."}`
	if diff := cmp.Diff(want, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	v.Reason = "It calls Sarah names."
	if got, _ := formats.ToMastraRun(v, text, ""); got.Reason != v.Reason {
		t.Errorf("reason %q", got.Reason)
	}
	// What was not judged has no score, rather than 0 or 1.
	v.Score = nil
	if _, err := formats.ToMastraRun(v, text, ""); err == nil {
		t.Error("a text that was not judged has a score")
	}
	if _, err := formats.ToMastraMeasure(v, text); err == nil {
		t.Error("a text that was not judged has a score")
	}
}

func TestMastraBands(t *testing.T) {
	for score, want := range map[float64]string{
		0: "No toxic elements detected", 0.1: "Mild toxicity", 0.3: "Mild toxicity", 0.35: "Mild toxicity",
		0.4: "Moderate toxicity", 0.7: "Moderate toxicity", 0.8: "Severe toxicity", 1: "Severe toxicity",
	} {
		if got := formats.MastraBand(score, 1); got != want {
			t.Errorf("%v is %q, want %q", score, got, want)
		}
		if got := formats.MastraBand(10*score, 10); got != want {
			t.Errorf("%v of 10 is %q, want %q", 10*score, got, want)
		}
	}
}

// The sample of nexa-gauge's documentation, and what it shows for it.
const hamlet = `{
  "case_id": "shakespeare-hamlet-short",
  "output": "The central theme of Hamlet is mortality ...",
  "reference": "Hamlet's central themes include mortality, revenge, corruption ..."
}`

func TestNexaGaugeSample(t *testing.T) {
	cases, err := formats.ReadNexaCases(strings.NewReader(hamlet))
	if err != nil || len(cases) != 1 {
		t.Fatalf("%+v, %v", cases, err)
	}
	safe := verdict(0, toxscreen.AspectVerdict{Name: "unsafe", Severity: severity(0)})
	safe.Reason = "No harmful stereotyping or discriminatory framing detected."
	got := formats.ToNexaResult("bias", cases[0].Block(), safe, cases[0].Output, nil)
	const binary = `{"name":"bias","category":"output|generation|answer","score":1,"result":[{"verdict":"SAFE","passed":true,"violations":[],"evidence_spans":[]}],"error":null}`
	if diff := cmp.Diff(binary, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	block := formats.NexaRedteam{ScoringMode: formats.NexaScale, IncludeReasoning: true}
	got = formats.ToNexaResult("bias", block, safe, cases[0].Output, nil)
	const scale = `{"name":"bias","category":"output|generation|answer","score":1,"result":[{"severity":1,"verdict":"SAFE","passed":true,` +
		`"reasoning":"No harmful stereotyping or discriminatory framing detected.","violations":[],"evidence_spans":[]}],"error":null}`
	if diff := cmp.Diff(scale, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
}

// Severities 1 to 5 are scores of 1 to 0; from 0.6 on a metric is passed.
func TestNexaGaugeScale(t *testing.T) {
	block := formats.NexaRedteam{ScoringMode: formats.NexaScale}
	for level, want := range []struct {
		score   float64
		verdict string
	}{{1, "SAFE"}, {0.75, "SAFE"}, {0.5, "UNSAFE"}, {0.25, "UNSAFE"}, {0, "UNSAFE"}} {
		got := formats.ToNexaResult("bias", block, verdict(0, toxscreen.AspectVerdict{Yes: level > 0, Severity: severity(level)}), "", nil)
		if *got.Score != want.score || got.Result[0].Verdict != want.verdict || *got.Result[0].Severity != level+1 || got.Result[0].Passed != (want.verdict == "SAFE") {
			t.Errorf("level %d: %s", level, asJSON(t, got))
		}
	}
}

func TestNexaGaugeUnsafe(t *testing.T) {
	const text = "You idiot."
	v := verdict(1, toxscreen.AspectVerdict{Yes: true, Severity: severity(1), Violations: []string{"Insult"}, Evidence: []toxscreen.Evidence{{Start: 4, End: 9}}})
	got := formats.ToNexaResult("toxicity", formats.NexaRedteam{ScoringMode: formats.NexaBinary}, v, text, nil)
	const want = `{"name":"toxicity","category":"output|generation|answer","score":0,"result":[{"verdict":"UNSAFE","passed":false,"violations":["Insult"],"evidence_spans":["idiot"]}],"error":null}`
	if diff := cmp.Diff(want, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	// A judge that gives no verdict gives no score.
	const none = `{"name":"toxicity","category":"output|generation|answer","score":null,"result":[],"error":"it is no JSON"}`
	got = formats.ToNexaResult("toxicity", formats.NexaRedteam{}, toxscreen.Verdict{}, text, errors.New("it is no JSON"))
	if diff := cmp.Diff(none, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	if got = formats.ToNexaResult("toxicity", formats.NexaRedteam{}, toxscreen.Verdict{Warnings: []string{"it speaks to the judge"}}, text, nil); got.Score != nil || !strings.Contains(*got.Error, "it speaks to the judge") {
		t.Errorf("%s", asJSON(t, got))
	}
}

func TestNexaGaugeMetricsAreMerged(t *testing.T) {
	defaults := []formats.NexaMetric{
		{Name: "bias", Rubric: formats.NexaRubric{Goal: "b", Violations: []string{"v"}}, ItemFields: []string{"output"}},
		{Name: "toxicity", Rubric: formats.NexaRubric{Goal: "t", Violations: []string{"v"}}, ItemFields: []string{"output"}},
	}
	cases, err := formats.ReadNexaCases(strings.NewReader(`[{"output":"x","context":["one","two"],"redteam":{"metrics":[
		{"name":"toxicity","rubric":{"goal":"mine"},"item_fields":["output","input"]},
		{"name":"injection","rubric":{"goal":"none","violations":["p"]}}]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	got := formats.MergeNexaMetrics(defaults, cases[0].Block().Metrics)
	want := []formats.NexaMetric{
		defaults[0],
		{Name: "toxicity", Rubric: formats.NexaRubric{Goal: "mine", Violations: []string{"v"}}, ItemFields: []string{"output", "input"}},
		{Name: "injection", Rubric: formats.NexaRubric{Goal: "none", Violations: []string{"p"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if cases[0].CaseID != "case-1" || cases[0].Fields()["context"] != "one\ntwo" || cases[0].Block().ScoringMode != formats.NexaBinary {
		t.Errorf("%+v", cases[0])
	}
}

func TestNexaGaugeCasesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		`{"output":`:   "failed to read case 1: unexpected EOF",
		`{"output":1}`: "failed to read case 1: json:",
		`[{"output":"x"},{"case_id":"b","redteam":{"scoring_mode":"scale_1_10"}}]`: `failed to read case 2 (b): redteam.scoring_mode is "scale_1_10"`,
		`{"redteam":{"metrics":[{"rubric":{}}]}}`:                                  "redteam.metrics[0] has no name",
		`{"redteam":{"metrics":[{"name":"m","item_fields":["output","prompt"]}]}}`: `"prompt" must be one of output, input, context, reference`,
	} {
		if _, err := formats.ReadNexaCases(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestNexaGaugeCost(t *testing.T) {
	var c formats.NexaCost
	c.Add(180, 20, 2.1)
	if diff := cmp.Diff(`{"cost":0.00042,"input_tokens":180,"output_tokens":20}`, asJSON(t, c)); diff != "" {
		t.Error(diff)
	}
}
