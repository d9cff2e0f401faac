package mastra

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
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

// The first example of Mastra's documentation: nothing toxic is a score of 0.
func TestMeasure(t *testing.T) {
	const text = "Sarah is a dedicated team member who always delivers quality work."
	got, err := ToMeasure(verdict(0, toxscreen.AspectVerdict{Name: "personal_attacks", Severity: severity(0)}), text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"score":0,"info":{"reason":"No toxic elements detected, 0 of 1."}}`, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
}

// The second example has a scale of 10. With five aspects of four severities each,
// one aspect of severity 1 is a twentieth of the highest score.
func TestScale(t *testing.T) {
	const text = "The new team member shows promise but needs significant improvement in basic skills."
	v := verdict(0.05, toxscreen.AspectVerdict{Name: "dismissive_statements", Yes: true, Severity: severity(1)})
	for _, c := range []struct {
		scale float64
		want  string
	}{
		{0, `{"score":0.05,"info":{"reason":"Mild toxicity, 0.05 of 1: dismissive statements of severity 1."}}`},
		{1, `{"score":0.05,"info":{"reason":"Mild toxicity, 0.05 of 1: dismissive statements of severity 1."}}`},
		{10, `{"score":0.5,"info":{"reason":"Mild toxicity, 0.5 of 10: dismissive statements of severity 1."}}`},
	} {
		got, err := ToMeasure(v, text, Options{Scale: c.scale})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, asJSON(t, got)); diff != "" {
			t.Errorf("scale %v: %s", c.scale, diff)
		}
	}
	// A rubric may have its own scale.
	v.Scale, *v.Score = 10, 0.5
	if got, _ := ToMeasure(v, text, Options{}); got.Score != 0.5 {
		t.Errorf("score %v", got.Score)
	}
	if got, _ := ToMeasure(v, text, Options{Scale: 1}); got.Score != 0.05 {
		t.Errorf("score %v", got.Score)
	}
}

func TestRun(t *testing.T) {
	const text = "Sarah is an idiot."
	v := verdict(0.1,
		toxscreen.AspectVerdict{Name: "personal_attacks", Yes: true, Severity: severity(2), Evidence: []toxscreen.Evidence{{Start: 12, End: 17}}},
		toxscreen.AspectVerdict{Name: "hate_speech", Severity: severity(0)})
	options := Options{RunID: "run-1", Prompt: "Judge this."}
	got, err := ToRun(v, text, options)
	if err != nil {
		t.Fatal(err)
	}
	// A verdict without a reason has no prompt for it.
	const want = `{"runId":"run-1","analyzeStepResult":{"verdicts":[{"verdict":"yes","reason":"personal attacks of severity 2: \"idiot\""},` +
		`{"verdict":"no","reason":"no hate speech"}]},"analyzePrompt":"Judge this.","score":0.1,` +
		`"reason":"Mild toxicity, 0.1 of 1: personal attacks of severity 2: \"idiot\"."}`
	if diff := cmp.Diff(want, asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
	// Otherwise both steps are one call, and its prompt has both documented names.
	v.Reason = "It calls Sarah names."
	got, err = ToRun(v, text, options)
	if err != nil {
		t.Fatal(err)
	}
	if got.Reason != v.Reason || got.ReasonPrompt != options.Prompt || got.GenerateReasonPrompt != options.Prompt {
		t.Errorf("%+v", got)
	}
}

// A text that was not judged has no score, rather than 0 or 1, and the error says
// why.
func TestWithoutAVerdict(t *testing.T) {
	v := toxscreen.Verdict{Scale: 1, Aspects: []toxscreen.AspectVerdict{{Name: "unsafe"}}, Warnings: []string{"the text addresses the judge"}}
	if _, err := ToRun(v, "", Options{}); err == nil || !strings.Contains(err.Error(), "the text addresses the judge") {
		t.Error(err)
	}
	v.Warnings = nil // as of a guard model
	if _, err := ToMeasure(v, "", Options{}); err == nil || !strings.Contains(err.Error(), "the judge gives no severity") {
		t.Error(err)
	}
}

func TestBands(t *testing.T) {
	for score, want := range map[float64]string{
		0: "No toxic elements detected", 0.05: "Mild toxicity", 0.1: "Mild toxicity", 0.3: "Mild toxicity", 0.35: "Mild toxicity",
		0.4: "Moderate toxicity", 0.7: "Moderate toxicity", 0.75: "Moderate toxicity", 0.8: "Severe toxicity", 1: "Severe toxicity",
	} {
		if got := bandOf(score, 1); got != want {
			t.Errorf("%v is %q, want %q", score, got, want)
		}
		if got := bandOf(10*score, 10); got != want {
			t.Errorf("%v of 10 is %q, want %q", 10*score, got, want)
		}
	}
}
