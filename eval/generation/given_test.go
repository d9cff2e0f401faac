package generation

import (
	"reflect"
	"strings"
	"testing"
)

func TestFormatsOfGenerations(t *testing.T) {
	dog, cat := Prompt{ID: "1", Text: "The dog"}, Prompt{ID: "2", Text: "The cat"}
	for name, test := range map[string]struct {
		content string
		want    []Sample
	}{
		// As Gehman et al. published them, shortened.
		"RealToxicityPrompts": {
			`{"filename":"a","prompt":{"text":"The dog","toxicity":0.6},"generations":[{"text":" barks","toxicity":0.1},{"text":" bites","toxicity":0.2}]}`,
			[]Sample{{Prompt{ID: "1", Text: "The dog", Band: "toxic"}, []Generation{{Text: " barks"}, {Text: " bites"}}}},
		},
		"RealToxicityPrompts, written again by Python": {
			`{"prompt":{"text":"The dog","toxicity":NaN},"generations":[{"text":" barks","toxicity":NaN}]}`,
			[]Sample{{dog, []Generation{{Text: " barks"}}}},
		},
		"lists of texts": {
			"{\"prompt\":\"The dog\",\"generations\":[\" barks\"]}\n{\"prompt\":\"The cat\",\"generations\":[\"\"]}",
			[]Sample{{dog, []Generation{{Text: " barks"}}}, {cat, []Generation{{}}}},
		},
		"a run": {
			`{"id":"x","prompt":"The dog","band":"b","group":"g","generations":[{"text":" barks","scores":{"toxicity":0.1},"finish":"length"},{"text":"","error":"the model wrote nothing"}]}`,
			[]Sample{{Prompt{ID: "x", Text: "The dog", Band: "b", Group: "g"}, []Generation{{Text: " barks", Finish: "length"}, {Error: "the model wrote nothing"}}}},
		},
		// Names as other tools write them, in any order.
		"a row for each": {
			"{\"prompt\":\"The dog\",\"response\":\" barks\"}\n{\"prompt\":\"The cat\",\"text\":\" sleeps\"}\n{\"prompt\":\"The cat\",\"generation\":\" eats\"}\n{\"prompt\":\"The dog\",\"id\":9,\"response\":\" bites\"}",
			[]Sample{{dog, []Generation{{Text: " barks"}, {Text: " bites"}}}, {cat, []Generation{{Text: " sleeps"}, {Text: " eats"}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			given, err := OpenGenerations(save(t, "g.jsonl", test.content))
			if err != nil || !reflect.DeepEqual(given.Samples, test.want) || given.Name != "g.jsonl" || len(given.Digest) != 64 {
				t.Errorf("%v: %+v, want %+v", err, given, test.want)
			}
		})
	}
}

func TestGenerationsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"different numbers": {
			"{\"prompt\":\"a\",\"generations\":[\"x\",\"y\"]}\n{\"prompt\":\"b\",\"generations\":[\"x\"]}",
			"row 1 has 2 generations for its prompt, row 2 has 1: the highest of more scores is higher",
		},
		"different numbers of rows": {
			"{\"prompt\":\"a\",\"text\":\"x\"}\n{\"prompt\":\"b\",\"text\":\"x\"}\n{\"prompt\":\"b\",\"text\":\"y\"}",
			"row 1 has 1 generation for its prompt, row 2 has 2",
		},
		"the same prompt twice":  {"{\"prompt\":\"a\",\"generations\":[\"x\"]}\n{\"prompt\":\"a\",\"generations\":[\"x\"]}", "row 2: it has the same prompt as row 1"},
		"an empty prompt":        {`{"prompt":"","text":"x"}`, "row 1: the prompt is empty: remove the row"},
		"no prompt":              {`{"text":"x"}`, `row 1: it has no "prompt"`},
		"no generation":          {`{"prompt":"a"}`, `row 1: it has neither "generations" nor "generation", "text" or "response"`},
		"an empty list":          {`{"prompt":"a","generations":[]}`, "row 1: generations: the list is empty"},
		"a list of numbers":      {`{"prompt":"a","generations":[1]}`, "row 1: generations: expected a string, found a number"},
		"an object without text": {`{"prompt":"a","generations":[{"toxicity":1}]}`, `row 1: generations: a generation has no "text"`},
		"a text that is none":    {`{"prompt":"a","response":{}}`, "row 1: response: expected a string, found an object"},
		"nothing":                {"", "it has no generations"},
	} {
		t.Run(name, func(t *testing.T) {
			path := save(t, "g.jsonl", test.content)
			_, err := OpenGenerations(path)
			if err == nil || !strings.HasPrefix(err.Error(), "failed to read generations: "+path+": "+test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Generations that are read have the same number for each prompt, and one at least.
func FuzzGenerations(f *testing.F) {
	for _, seed := range []string{
		`{"prompt":{"text":"a"},"generations":[{"text":"x"},"y"]}`, "{\"prompt\":\"a\",\"text\":\"x\"}\n{\"prompt\":\"b\",\"response\":\"x\"}",
		`{"id":"1","prompt":"a","generations":[{"text":"","error":"e"}]}`, `{"prompt":"a","generations":null}`, `{"prompt":"a","generations":[null]}`, "", "[]", "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		samples, err := readGenerations(strings.NewReader(content))
		if err != nil {
			return
		}
		for _, s := range samples {
			if s.ID == "" || strings.TrimSpace(s.Text) == "" || len(s.Generations) == 0 || len(s.Generations) != len(samples[0].Generations) {
				t.Fatalf("%+v", s)
			}
		}
	})
}
