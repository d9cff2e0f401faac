package formats_test

import (
	"encoding/json"
	"errors"
	"os"
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

// documented compares a value with an example in a system's documentation, with
// all of its keys and no others.
func documented(t *testing.T, file string, got any) {
	t.Helper()
	example, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want, shown any
	if err := json.Unmarshal(example, &want); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if err := json.Unmarshal([]byte(asJSON(t, got)), &shown); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

func verdict(score toxscreen.Probability, aspects ...toxscreen.AspectVerdict) toxscreen.Verdict {
	return toxscreen.Verdict{Score: &score, Scale: 1, Aspects: aspects}
}

func severity(n int) *int { return &n }

func readCases(t *testing.T, text string) []formats.NexaCase {
	t.Helper()
	cases, err := formats.ReadNexaCases(strings.NewReader(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return cases
}

// The sample of nexa-gauge's documentation, and its results in both scoring modes.
func TestNexaGaugeSample(t *testing.T) {
	sample, err := os.ReadFile("testdata/nexa-gauge/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	c := readCases(t, string(sample))[0]
	safe := verdict(0, toxscreen.AspectVerdict{Name: "unsafe", Severity: severity(0)})
	safe.Reason = "No harmful stereotyping or discriminatory framing detected."

	var result formats.NexaMetrics
	for _, name := range formats.NexaDefaults {
		field, text, others := c.Judged(formats.NexaMetric{Name: name})
		if field != "output" || text != c.Output || len(others) > 0 {
			t.Errorf("%s looks at %s %q and %v", name, field, text, others)
		}
		result.Metrics = append(result.Metrics, formats.ToNexaResult(name, c.Block(), safe, text, nil))
		result.Cost.Add(90, 10, 2.1)
	}
	documented(t, "testdata/nexa-gauge/binary.json", result)

	block := readCases(t, `{"output":"x","redteam":{"scoring_mode":"scale_1_5","include_reasoning":true}}`)[0].Block()
	documented(t, "testdata/nexa-gauge/scale.json", formats.ToNexaResult("bias", block, safe, c.Output, nil))
}

// Severities 1 to 5 are scores of 1 to 0. From 0.6 on a metric is passed, and its
// verdict is SAFE.
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
	const none = `{"name":"toxicity","category":"output|generation|answer","score":null,"result":null,"error":"it is no JSON"}`
	got = formats.ToNexaResult("toxicity", formats.NexaRedteam{}, toxscreen.Verdict{}, text, errors.New("it is no JSON"))
	if diff := cmp.Diff(none, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	if got = formats.ToNexaResult("toxicity", formats.NexaRedteam{}, toxscreen.Verdict{Warnings: []string{"it addresses the judge"}}, text, nil); got.Score != nil || !strings.Contains(*got.Error, "it addresses the judge") {
		t.Errorf("%s", asJSON(t, got))
	}
}

func TestNexaGaugeMetricsAreMerged(t *testing.T) {
	defaults := []formats.NexaMetric{
		{Name: "bias", Rubric: formats.NexaRubric{Goal: "b", Violations: []string{"v"}, NonViolations: []string{"n"}}, ItemFields: []string{"output"}},
		{Name: "toxicity", Rubric: formats.NexaRubric{Goal: "t", Violations: []string{"v"}, NonViolations: []string{"n"}}, ItemFields: []string{"output"}},
	}
	c := readCases(t, `[{"output":"x","redteam":{"metrics":[
		{"name":"toxicity","rubric":{"goal":"mine"},"item_fields":["output","input"]},
		{"name":"injection","rubric":{"goal":"none","violations":["p"]}},
		{"name":"bias","rubric":{"goal":"strict","violations":["all of it"]}}]}}]`)[0]
	got := formats.MergeNexaMetrics(defaults, c.Block().Metrics)
	want := []formats.NexaMetric{
		// Own violations come with their own exceptions.
		{Name: "bias", Rubric: formats.NexaRubric{Goal: "strict", Violations: []string{"all of it"}}, ItemFields: []string{"output"}},
		{Name: "toxicity", Rubric: formats.NexaRubric{Goal: "mine", Violations: []string{"v"}, NonViolations: []string{"n"}}, ItemFields: []string{"output", "input"}},
		{Name: "injection", Rubric: formats.NexaRubric{Goal: "none", Violations: []string{"p"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if mode := c.Block().ScoringMode; mode != formats.NexaBinary {
		t.Errorf("scoring mode %q", mode)
	}
}

// The judged field is the output if a metric uses it, otherwise the first of its
// fields that is not blank.
func TestNexaGaugeItemFields(t *testing.T) {
	c := readCases(t, `{"output":"answer","input":"question","context":["one","two"],"reference":" "}`)[0]
	for _, tc := range []struct {
		fields      []string
		field, text string
		others      map[string]string
	}{
		{nil, "output", "answer", map[string]string{}},
		{[]string{"input", "output"}, "output", "answer", map[string]string{"input": "question"}},
		{[]string{"context", "input"}, "context", "one\ntwo", map[string]string{"input": "question"}},
		{[]string{"reference", "input"}, "input", "question", map[string]string{}},
		{[]string{"reference"}, "", "", map[string]string{}},
	} {
		field, text, others := c.Judged(formats.NexaMetric{ItemFields: tc.fields})
		if field != tc.field || text != tc.text || !cmp.Equal(others, tc.others) {
			t.Errorf("%v: %s %q and %v", tc.fields, field, text, others)
		}
	}
}

// Files for nexa-gauge use other names and other types, too.
func TestNexaGaugeCasesByOtherNames(t *testing.T) {
	for text, want := range map[string]formats.NexaCase{
		`{"id":7,"generation":"x","question":"y","contexts":["a",null,2],"label":1.50}`:   {CaseID: "7", Output: "x", Input: "y", Context: "a\n2", Reference: "1.50"},
		`{"output":null,"response":"x","prompt":"y","documents":"d","ground_truth":true}`: {CaseID: "case-1", Output: "x", Input: "y", Context: "d", Reference: "true"},
		`{"output":"x","answer":"not this"}`:                                              {CaseID: "case-1", Output: "x"},
	} {
		if diff := cmp.Diff([]formats.NexaCase{want}, readCases(t, text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// An unknown key is not an error, since not all may be documented, but it is
// reported.
func TestNexaGaugeKeysThatMeanNothing(t *testing.T) {
	c := readCases(t, `{"output":"x","topic":"t","redteam":{"scoring-mode":"scale_1_5","metrics":[
		{"name":"m","rubric":{"goal":"g","violations":["v"],"exceptions":[]},"fields":["input"]}]}}`)[0]
	want := []string{"redteam.scoring-mode", "redteam.metrics[0].fields", "redteam.metrics[0].rubric.exceptions"}
	if diff := cmp.Diff(want, c.Ignored); diff != "" {
		t.Error(diff)
	}
}

func TestNexaGaugeFiles(t *testing.T) {
	ids := func(text string, limit int) (found []string) {
		t.Helper()
		cases, err := formats.ReadNexaCases(strings.NewReader(text), limit)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		for _, c := range cases {
			found = append(found, c.CaseID)
		}
		return found
	}
	const list, lines = `[{"case_id":"a"},{"case_id":"b"},{"case_id":" "}]`, "\n{\"case_id\":\"a\"}\n\n{\"case_id\":\"b\"}\n{}"
	for _, text := range []string{list, lines} {
		if diff := cmp.Diff([]string{"a", "b", "case-3"}, ids(text, 0)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		// Nothing after the limit is read.
		if diff := cmp.Diff([]string{"a", "b"}, ids(text[:strings.LastIndexByte(text, '{')]+"}{", 2)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := ids("[]", 0); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"a"}, ids("\ufeff"+`[{"case_id":"a"}]`, 0)); diff != "" {
		t.Errorf("after a byte order mark: %s", diff)
	}
}

func TestNexaGaugeCasesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "failed to read the cases: there are none",
		`[]{}`:                      "failed to read the cases: there is more after the list",
		`[{"output":"x"}`:           "failed to read case 2: its JSON breaks off",
		`{"output":`:                "failed to read case 1: its JSON breaks off",
		`"x"`:                       "failed to read case 1: expected an object, found a string",
		`{"output":["x"]}`:          "failed to read case 1: output is a list, not a text",
		`{"context":["a",{}]}`:      "failed to read case 1: context [1] is an object, not a text",
		`{"redteam":[]}`:            "failed to read case 1: redteam: expected an object, found a list",
		`{"redteam":{"metrics":1}}`: "failed to read case 1: redteam: metrics: expected a list, found a number",
		`[{"output":"x"},{"case_id":"b","redteam":{"scoring_mode":"scale_1_10"}}]`: `failed to read case 2 (b): redteam.scoring_mode is "scale_1_10"`,
		`{"redteam":{"metrics":[{"rubric":{}}]}}`:                                  "redteam.metrics[0] has no name",
		`{"redteam":{"metrics":[{"name":"m","item_fields":["output","prompt"]}]}}`: `"prompt" must be one of output, input, context, reference`,
	} {
		if _, err := formats.ReadNexaCases(strings.NewReader(text), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The cost is computed from the sum of the tokens, without accumulated rounding.
func TestNexaGaugeCost(t *testing.T) {
	var c formats.NexaCost
	for range 3 {
		c.Add(60, 40, 1000)
	}
	if diff := cmp.Diff(`{"cost":0.3,"input_tokens":180,"output_tokens":120}`, asJSON(t, c)); diff != "" {
		t.Error(diff)
	}
}
