package openai_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/openai"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// Each category has a score where attributes can measure it. Others are not measured:
// they have 0, as OpenAI's clients expect a number, and no input type, and a field of our
// own names them.
func TestCategories(t *testing.T) {
	got := openai.ToResult(servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{
		toxscreen.Toxicity: 0.91, toxscreen.SevereToxicity: 0.2, toxscreen.Insult: 0.83, toxscreen.Profanity: 0.7,
		toxscreen.IdentityAttack: 0.66, toxscreen.Threat: 0.05, toxscreen.SexuallyExplicit: 0.3,
	}))
	servertest.Documented(t, "testdata/result.json", got)
}

// Threatening hate needs both attributes.
func TestHateThatThreatens(t *testing.T) {
	for _, c := range []struct {
		hate, threat toxscreen.Probability
		score        float64
		flagged      bool
	}{{0.9, 0.1, 0.1, false}, {0.1, 0.9, 0.1, false}, {0.8, 0.6, 0.6, true}} {
		got := openai.ToResult(servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.IdentityAttack: c.hate, toxscreen.Threat: c.threat}))
		if got.Scores["hate/threatening"] != c.score || got.Categories["hate/threatening"] != c.flagged {
			t.Errorf("%v: %v %v", c, got.Scores, got.Categories)
		}
	}
}

// Profanity alone is in none of OpenAI's categories.
func TestItIsNotFlaggedForWhatItHasNoCategoryFor(t *testing.T) {
	got := openai.ToResult(servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: 0.4, toxscreen.Profanity: 0.9}))
	if got.Flagged {
		t.Errorf("%s", servertest.JSON(t, got))
	}
	// With a model that does not measure insults, these are left out.
	got = openai.ToResult(servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Threat: 0.9}))
	if !got.Flagged || len(got.Applied["harassment"]) > 0 || len(got.Applied["violence"]) != 1 ||
		!slices.Contains(got.Own.NotMeasured, "harassment") || slices.Contains(got.Own.NotMeasured, "violence") {
		t.Errorf("%s", servertest.JSON(t, got))
	}
}

// A text that was not decided is flagged: a client that looks no further lets nothing
// through. It is called nothing in particular.
func TestFlagsWhatWasNotDecided(t *testing.T) {
	foreign := toxscreen.Result{NotDecided: "the text seems to be German", Attributes: toxscreen.AttributeResults{
		toxscreen.Toxicity: {Score: 0.9, Threshold: 0.5}, toxscreen.Threat: {Score: 0.9, Threshold: 0.5},
	}}
	got := openai.ToResult(foreign)
	if !got.Flagged || slices.Contains(slices.Collect(maps.Values(got.Categories)), true) || got.Scores["violence"] != 0.9 {
		t.Errorf("%s", servertest.JSON(t, got))
	}
}

func TestInputs(t *testing.T) {
	for input, want := range map[string][]string{
		`"a"`:              {"a"},
		`["a","b"]`:        {"a", "b"},
		`""`:               {""},
		"\t[\n\"a\"]":      {"a"},
		`["\ud83d\ude00"]`: {"\U0001F600"},
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: {"a\nb"},
	} {
		got, err := openai.Read([]byte(`{"model":"omni-moderation-latest","input":` + input + `}`))
		if diff := cmp.Diff(want, got.Texts); err != nil || diff != "" || got.Images != nil {
			t.Errorf("%s: %v %s %v", input, err, diff, got.Images)
		}
	}
	// Images are not measured. The caller refuses them by their names, or scores the texts.
	for input, want := range map[string]openai.Request{
		`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}},{"type":"text","text":"b"}]`: {Texts: []string{"a\nb"}, Images: []string{"input[1]"}},
		`[{"type":"image_url"},{"type":"image_url"}]`:                                                              {Images: []string{"input[0]", "input[1]"}},
	} {
		got, err := openai.Read([]byte(`{"input":` + input + `}`))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", input, err, diff)
		}
	}
	for request, want := range map[string]string{
		`{`:                            "failed to read the request",
		`{}`:                           "it has no input",
		`{"input":null}`:               "it has no input",
		`{"input":[]}`:                 "it is an empty list",
		`{"input":["a",null]}`:         "input[1]: it is null",
		`{"input":[null]}`:             "input[0]: it is null",
		`{"input":7}`:                  "it must be a text, a list of texts or a list of typed parts",
		`{"input":[1,2]}`:              "it must be a text, a list of texts or a list of typed parts",
		`{"input":[{"type":"text"}]}`:  "input[0]: a part of type text has no text",
		`{"input":[{"type":"audio"}]}`: `input[0]: its type "audio" must be`,
	} {
		if _, err := openai.Read([]byte(request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", request, err, want)
		}
	}
}

func TestError(t *testing.T) {
	const want = `{"error":{"message":"no","type":"invalid_request_error","param":"input","code":null}}`
	if diff := cmp.Diff(want, servertest.JSON(t, openai.NewError("no", "invalid_request_error", "input", ""))); diff != "" {
		t.Error(diff)
	}
}

func FuzzOpenAI(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":"a"}`))
	f.Add([]byte(`{"input":["a","b"]}`))
	f.Add([]byte(`{"input":[{"type":"text","text":"a"},{"type":"image_url"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openai.Read(data)
		if err == nil && len(r.Texts)+len(r.Images) == 0 {
			t.Fatalf("%q is a request without a text and an image", data)
		}
		if err != nil && json.Valid(data) && !strings.HasPrefix(err.Error(), "failed to read") {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
