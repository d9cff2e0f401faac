package litellm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/litellm"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// insulting is the result of a text with "idiot" from start to end.
func insulting(start, end int) toxscreen.Result {
	r := servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: 0.9, toxscreen.Insult: 0.7, toxscreen.Threat: 0.01})
	span := toxscreen.Span{Start: start, End: end}
	span.Attributes.Set(toxscreen.Toxicity, 0.95)
	span.Attributes.Set(toxscreen.Insult, 0.9)
	r.Spans = []toxscreen.Span{span}
	return r
}

func TestActions(t *testing.T) {
	clean := servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: 0.1, toxscreen.Insult: 0.1, toxscreen.Threat: 0.1})
	clean.Spans = []toxscreen.Span{}
	wordless := insulting(0, 0)
	wordless.Spans = nil
	foreign := servertest.Toxicity(0.1)
	foreign.NotDecided = "the text seems to be German, which the model does not know"
	foreign.Attributes[toxscreen.Insult] = toxscreen.AttributeResult{Score: 0.9, Threshold: 0.5}
	foreign.Attributes[toxscreen.Threat] = toxscreen.AttributeResult{Score: 0.9, Threshold: 0.5}
	for _, c := range []struct {
		why, parameters string
		results         []toxscreen.Result
		want            string
	}{
		{"nothing is toxic", `{}`, []toxscreen.Result{clean, clean}, `{"action":"NONE"}`},
		{
			"whoever says nothing wants it blocked", `null`, []toxscreen.Result{clean, insulting(2, 7)},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 is blocked as toxic: toxicity 0.90 reaches 0.50, insult 0.70 reaches 0.50."}`,
		},
		{
			"masked texts come with the others", `{"on_flagged":"mask"}`, []toxscreen.Result{clean, insulting(2, 7)},
			`{"action":"GUARDRAIL_INTERVENED","texts":["hello","u ***** \u0026 co"]}`,
		},
		{
			"what cannot be masked is blocked", `{"on_flagged":"mask"}`, []toxscreen.Result{clean, wordless},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 is blocked as toxic: toxicity 0.90 reaches 0.50, insult 0.70 reaches 0.50. No word stands out that could be masked."}`,
		},
		{
			"what was not decided is blocked", `{}`, []toxscreen.Result{clean, foreign},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 was not screened and is blocked: the text seems to be German, which the model does not know."}`,
		},
		{
			"and neither masked", `{"on_flagged":"mask"}`, []toxscreen.Result{insulting(0, 2), foreign},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 was not screened and is blocked: the text seems to be German, which the model does not know."}`,
		},
		{
			"nor compared with a threshold", `{"thresholds":{"insult":0.6,"threat":0.6}}`, []toxscreen.Result{clean, foreign},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 was not screened and is blocked: the text seems to be German, which the model does not know."}`,
		},
		{"with a threshold only toxicity counts", `{"threshold":0.95}`, []toxscreen.Result{clean, insulting(2, 7)}, `{"action":"NONE"}`},
		{
			"or the attributes that have one", `{"thresholds":{"insult":0.6,"threat":0.6}}`, []toxscreen.Result{clean, insulting(2, 7)},
			`{"action":"BLOCKED","blocked_reason":"Text 2 of 2 is blocked as toxic: insult 0.70 reaches 0.60."}`,
		},
	} {
		r, err := litellm.Read([]byte(`{"texts":["hello","u idiot & co"],"images":[],"input_type":"request","litellm_version":"1","additional_provider_specific_params":` + c.parameters + `}`))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		got, left, err := litellm.ToAnswer(r, c.results)
		if diff := cmp.Diff(c.want, servertest.JSON(t, got)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.why, err, diff)
		}
		if wanted := []string{"hello", "u  & co"}; got.Action == "GUARDRAIL_INTERVENED" && !cmp.Equal(wanted, left) || got.Action != "GUARDRAIL_INTERVENED" && left != nil {
			t.Errorf("%s: left is %q", c.why, left)
		}
	}
}

// What LiteLLM sends beside the texts is not measured, and every answer says so. Where
// images are not passed over, the answer blocks with the setting's name: LiteLLM shows its
// client a reason, but of an error only the status.
func TestNamesWhatIsNotMeasured(t *testing.T) {
	const own = `"toxscreen":{"not_measured":["images","tools","tool_calls"]}}`
	r, err := litellm.Read([]byte(`{"texts":["u idiot"],"images":["https://example.org/a.png"],"tools":[{"type":"function"}],"tool_calls":[{"id":"1"}],"additional_provider_specific_params":{"on_flagged":"mask"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for want, result := range map[string]toxscreen.Result{
		`{"action":"NONE",` + own:                                     servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: 0.1}),
		`{"action":"GUARDRAIL_INTERVENED","texts":["u *****"],` + own: insulting(2, 7),
		`{"action":"BLOCKED","blocked_reason":"The text was not screened and is blocked: it seems to be German.",` + own: {NotDecided: "it seems to be German"},
	} {
		got, _, err := litellm.ToAnswer(r, []toxscreen.Result{result})
		if diff := cmp.Diff(want, servertest.JSON(t, got)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	refused := litellm.NewImages(r)
	if refused.Action != "BLOCKED" || !strings.Contains(refused.BlockedReason, "ignore_images") || len(refused.Own.NotMeasured) != 3 {
		t.Errorf("%s", servertest.JSON(t, refused))
	}
	for _, nothing := range []string{`null`, `[]`, `[ ]`, `{}`} {
		r, err := litellm.Read([]byte(`{"texts":[],"images":` + nothing + `,"tools":` + nothing + `}`))
		if err != nil || r.NotMeasured() != nil {
			t.Errorf("%s: %v %q", nothing, err, r.NotMeasured())
		}
	}
}

// A guardrail with wrong settings lets nothing through.
func TestParametersThatMakeNoSense(t *testing.T) {
	for parameters, want := range map[string]string{
		`{"treshold":0.8}`:                                `unknown field "treshold"; there are threshold, thresholds, language and on_flagged`,
		`{"threshold":"0.8"}`:                             "params: threshold: expected a number, found a string; there are",
		`{"thresholds":{"insult":"0.8"}}`:                 "insult must be a number",
		`{"thresholds":0.8}`:                              "params: thresholds: expected an object, found a number",
		`{"threshold":0}`:                                 "the threshold of toxicity is 0",
		`{"threshold":1.5}`:                               "the threshold of toxicity is 1.5",
		`{"thresholds":{"rudeness":0.5}}`:                 `unknown attribute "rudeness"`,
		`{"on_flagged":"pass"}`:                           `on_flagged is "pass": it must be block or mask`,
		`{"threshold":0.5,"thresholds":{"toxicity":0.6}}`: "leave out one of them",
	} {
		if _, err := litellm.Read([]byte(`{"texts":[],"additional_provider_specific_params":` + parameters + `}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
	}
	r, err := litellm.Read([]byte(`{"texts":["x"],"additional_provider_specific_params":{"thresholds":{"threat":0.5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := litellm.ToAnswer(r, []toxscreen.Result{servertest.Toxicity(0.1)}); err == nil || !strings.Contains(err.Error(), "does not measure it") {
		t.Errorf("a model without threat: %v", err)
	}
}

func FuzzLiteLLM(f *testing.F) {
	f.Add([]byte(`{"texts":["a","b"],"images":null,"input_type":"response","additional_provider_specific_params":{"threshold":0.8,"on_flagged":"mask"}}`), true)
	f.Add([]byte(`{"texts":["u \ud83d\ude00"],"additional_provider_specific_params":{"thresholds":{"insult":0.1}}}`), false)
	f.Fuzz(func(t *testing.T, data []byte, spans bool) {
		r, err := litellm.Read(data)
		if err != nil {
			return
		}
		results := make([]toxscreen.Result, len(r.Texts))
		for i, text := range r.Texts {
			results[i] = insulting(0, len(text))
			for a := range r.Parameters.Thresholds.All() {
				results[i].Attributes[a] = toxscreen.AttributeResult{Score: 0.9, Threshold: 0.5, Flagged: true}
			}
			if !spans {
				results[i].Spans = nil
			}
		}
		answer, _, err := litellm.ToAnswer(r, results)
		if err != nil {
			t.Fatal(err)
		}
		switch answer.Action {
		case "BLOCKED":
			if answer.BlockedReason == "" || len(answer.Texts) > 0 {
				t.Fatalf("%+v", answer)
			}
		case "GUARDRAIL_INTERVENED":
			if len(answer.Texts) != len(r.Texts) {
				t.Fatalf("%d texts of %d came back", len(answer.Texts), len(r.Texts))
			}
		case "NONE":
		default:
			t.Fatalf("%+v", answer)
		}
	})
}
