package presidio_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server/presidio"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// statusOf returns the status and the message of an error in Presidio's form.
func statusOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*presidio.Error](err)
	if !ok {
		t.Fatalf("%v is no error of Presidio", err)
	}
	return fmt.Sprint(e.Status, " ", e.Message)
}

// The requests of Presidio's documentation, with values as Python's clients write them.
func TestAnalysis(t *testing.T) {
	a, err := presidio.ReadAnalysis([]byte(`{"text": ["A", ""], "language": "en", "correlation_id": 7, "trace": "somedata", "return_decision_process": 1,
		"score_threshold": 0, "entities": ["US_SSN", "ZIP"], "context": ["zip"], "allow_list": ["", "a.c"], "allow_list_match": "regex", "regex_flags": 2,
		"ad_hoc_recognizers": [
			{"name": "Zip", "supported_language": "en", "patterns": [{"name": "weak", "regex": "\\d{5}", "score": 0.01}], "context": ["code"], "supported_entity": "ZIP"},
			{"supported_entities": ["TITLE"], "deny_list": ["Mr."], "deny_list_score": 1.0, "version": "0.0.1"},
			{"supported_language": "de", "supported_entity": "PLZ", "deny_list": ["x"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if !a.Many || !a.Explain || *a.Threshold != 0 || len(a.Allow) != 0 || !a.AllowPattern.MatchString("xABCx") {
		t.Errorf("%+v", a)
	}
	if diff := cmp.Diff([]string{"A", ""}, a.Texts); diff != "" {
		t.Error(diff)
	}
	// A recognizer without a name has that of its type; one for another language is not used.
	if len(a.Recognizers) != 2 || a.Recognizers[1].Name != "TitleRecognizer" || a.Recognizers[0].Patterns[0].Regex != `\d{5}` {
		t.Errorf("%+v", a.Recognizers)
	}

	// Only other flags than Presidio's are written.
	flags, err := presidio.ReadAnalysis([]byte(`{"text": "A", "language": "en", "ad_hoc_recognizers": [{"supported_entity": "A", "global_regex_flags": 0, "patterns": [{"name": "a", "regex": "x", "score": 1}]}]}`))
	if err != nil || flags.Recognizers[0].Patterns[0].Regex != "(?-ims)x" {
		t.Errorf("%+v %v", flags.Recognizers, err)
	}

	one, err := presidio.ReadAnalysis([]byte(`{"text": "A", "language": "en", "entities": [], "return_decision_process": 0, "score_threshold": null, "allow_list": ["a.c"]}`))
	if err != nil || one.Many || one.Explain || one.Types != nil || one.Threshold != nil || one.AllowPattern != nil || len(one.Allow) != 1 {
		t.Errorf("%+v %v", one, err)
	}
}

// The statuses are Presidio's: 500 for what it finds out late, although the request is at
// fault.
func TestAnalysesThatMakeNoSense(t *testing.T) {
	recognizer := func(r string) string {
		return `{"text": "A", "language": "en", "ad_hoc_recognizers": [` + r + `]}`
	}
	for request, want := range map[string]string{
		`{}`:                              "500 No text provided",
		`{"text": "", "language": "en"}`:  "500 No text provided",
		`{"text": [], "language": "en"}`:  "500 No text provided",
		`{"text": "A"}`:                   "500 No language provided",
		`{"text": "A", "language": "he"}`: "500 No matching recognizers were found to serve the request.",
		`{"text": 1, "language": "en"}`:   "400 failed to read the request:",
		`{"text": "A", "language": "en", "score_threshold": 5}`:                                                               "400 failed to read the request: score_threshold is 5: it must be in 0..1",
		`{"text": "A", "language": "en", "allow_list_match": "fuzzy"}`:                                                        "500 allow_list_match must either be set to 'exact' or 'regex'.",
		`{"text": "A", "language": "en", "allow_list": ["a", "b(?=c)"], "allow_list_match": "regex"}`:                         `400 failed to read the request: allow_list[1]: the expression "b(?=c)"`,
		`{"text": "A", "language": "en", "allow_list": ["a"], "allow_list_match": "regex", "regex_flags": 64}`:                "400 failed to read the request: regex_flags: the flags 64 are not available",
		`{"text": "A", "language": "en", "allow_list": ["` + strings.Repeat("a", 10_001) + `"], "allow_list_match": "regex"}`: "400 failed to read the request: allow_list has 1 expression of 10001 bytes",
		recognizer(`{"supported_entity": "A", "deny_list": ["x"], "global_regex_flags": 64}`):                                 "400 failed to read the request: ad_hoc_recognizers[0]: global_regex_flags: the flags 64 are not",
		recognizer(`{"supported_entity": "ZIP"}`):                                                                             "400 failed to read the request: ad_hoc_recognizers[0]: it has neither patterns nor a deny_list",
		recognizer(`{"deny_list": ["x"]}`):                                                                                    "400 failed to read the request: ad_hoc_recognizers[0]: it has no supported_entity",
		recognizer(`{"supported_entity": "ZIP", "deny_list": ["x"], "deny_list_score": 0.5}`):                                 "400 failed to read the request: ad_hoc_recognizers[0]: deny_list_score is 0.5",
		recognizer(`{"supported_entity": "ZIP", "patterns": [{"name": "a", "bebex": "x", "score": 1}]}`):                      "400 failed to read the request: ad_hoc_recognizers[0]:",
		recognizer(`{"supported_entity": "ZIP", "patterns": [{"name": "a", "score": 1}]}`):                                    "400 failed to read the request: ad_hoc_recognizers[0]: patterns[0]: it has no regex or no score",
		recognizer(`{"supported_entity": "ZIP", "patterns": [{"regex": "x", "score": 1.5}]}`):                                 "400 failed to read the request: ad_hoc_recognizers[0]: patterns[0]: the score 1.5 is not in 0..1",
	} {
		if _, err := presidio.ReadAnalysis([]byte(request)); err == nil || !strings.HasPrefix(statusOf(t, err), want) {
			t.Errorf("%.150s: %v, want %s", request, err, want)
		}
	}
}

// Offsets are code points. What an explanation does not know is null, and of a recognizer
// of the request with one expression it knows everything.
func TestEntities(t *testing.T) {
	const text = "\U0001F600 Zoe\u0308: 123-45-6789, zip 10023"
	number, zip := strings.Index(text, "123"), strings.Index(text, "10023")
	found := []toxscreen.Entity{
		{Type: "US_SSN", Start: number, End: number + 11, Score: 0.85, Why: []string{"pattern", "checksum"}},
		{Type: "ZIP", Start: zip, End: zip + 5, Score: 0.4, Why: []string{"pattern", `cue "zip"`}},
	}
	request := `{"text": "A", "language": "en", "return_decision_process": %v, "ad_hoc_recognizers": [{"name": "Zips", "supported_entity": "ZIP", "patterns": [{"name": "weak", "regex": "\\d+", "score": 0.25}]}]}`
	for explain, want := range map[bool]string{
		false: `[{"analysis_explanation":null,"end":19,"entity_type":"US_SSN","score":0.85,"start":8},{"analysis_explanation":null,"end":30,"entity_type":"ZIP","score":0.4,"start":25}]`,
		true: `[{"analysis_explanation":{"recognizer":"UsSsnRecognizer","pattern_name":null,"pattern":null,"original_score":null,"score":0.85,"textual_explanation":"found by pattern, checksum",` +
			`"score_context_improvement":null,"supportive_context_word":"","validation_result":true},"end":19,"entity_type":"US_SSN","score":0.85,"start":8},` +
			`{"analysis_explanation":{"recognizer":"Zips","pattern_name":"weak","pattern":"\\d+","original_score":0.25,"score":0.4,"textual_explanation":"found by pattern, cue \"zip\"",` +
			`"score_context_improvement":0.15,"supportive_context_word":"zip","validation_result":null},"end":30,"entity_type":"ZIP","score":0.4,"start":25}]`,
	} {
		a, err := presidio.ReadAnalysis(fmt.Appendf(nil, request, explain))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, servertest.JSON(t, presidio.ToEntities(a, text, found))); diff != "" {
			t.Error(diff)
		}
	}
	if got := servertest.JSON(t, presidio.ToEntities(presidio.Analysis{}, text, nil)); got != "[]" {
		t.Errorf("no entities are %s", got)
	}
}

// operator returns the operator of the type A in a request, or the error that it is.
func operator(t *testing.T, operators string) string {
	t.Helper()
	m, err := presidio.ReadAnonymize([]byte(`{"text": "abc", "anonymizers": ` + operators + `, "analyzer_results": [{"entity_type": "A", "start": 0, "end": 2, "score": 1, "analysis_explanation": null}]}`))
	if err != nil {
		return statusOf(t, err)
	}
	all, err := m.Operators()
	if err != nil {
		return statusOf(t, err)
	}
	return servertest.JSON(t, all["A"])
}

// Operators are validated where they are used, with Presidio's words.
func TestOperators(t *testing.T) {
	for operators, want := range map[string]string{
		`null`: `{"type":"replace"}`,
		`{"DEFAULT": {"type": "redact"}, "A": {"type": "replace", "new_value": "X"}}`:        `{"type":"replace","new_value":"X"}`,
		`{"DEFAULT": {"type": "redact"}}`:                                                    `{"type":"redact"}`,
		`{"A": {"type": "mask", "masking_char": "\u20ac", "chars_to_mask": -4}}`:             `{"type":"mask","masking_char":"€","chars_to_mask":-1}`,
		`{"A": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": true}}`: `{"type":"mask","masking_char":"*","chars_to_mask":4,"from_end":true}`,
		`{"A": {"type": "hash"}}`: `{"type":"hash","hash_type":"sha256"}`,
		`{"A": {"type": "hash", "hash_type": "sha512", "salt": "1111111111111111"}}`: `{"type":"hash","hash_type":"sha512","salt":"1111111111111111"}`,
		`{"A": {"type": "encrypt", "key": "1111111111111111"}}`:                      `{"type":"encrypt","key":"1111111111111111"}`,
		`{"A": {"type": "replace", "new_value": 7}}`:                                 `422 Invalid parameter value for new_value. Expecting 'string', but got 'number'.`,
		`{"A": {"type": "mask", "chars_to_mask": 4}}`:                                `422 Expected parameter masking_char`,
		`{"A": {"type": "mask", "masking_char": "**", "chars_to_mask": 4}}`:          `422 Invalid input, masking_char must be a character`,
		`{"A": {"type": "mask", "masking_char": "*", "chars_to_mask": "4"}}`:         `422 Invalid parameter value for chars_to_mask. Expecting 'number', but got 'string'.`,
		`{"A": {"type": "hash", "hash_type": "md5"}}`:                                `422 Parameter hash_type value md5 is not in range of values ['sha256', 'sha512']`,
		`{"A": {"type": "hash", "salt": ""}}`:                                        `422 Salt parameter cannot be empty.`,
		`{"A": {"type": "hash", "salt": "short"}}`:                                   `422 Salt must be at least 16 bytes (128 bits). Provided salt is 5 bytes.`,
		`{"A": {"type": "encrypt"}}`:                                                 `422 Expected parameter key`,
		`{"A": {"type": "encrypt", "key": "short"}}`:                                 `422 Invalid input, key must be of length 128, 192 or 256 bits`,
		`{"A": {"type": "decrypt", "key": "1111111111111111"}}`:                      `422 Invalid operator class 'decrypt'.`,
		`{"A": {"new_value": "x"}}`:                                                  `422 Invalid input, operator config must contain operator_name`,
		`{"A": null}`:                                                                `422 Invalid input, operator config must contain operator_name`,
		`{"B": {"type": "custom", "lambda": "x"}}`:                                   `400 Custom type anonymizer is not supported`,
		`{"B": {"type": "hash", "hash_type": "md5"}}`:                                `{"type":"replace"}`, // it is not used
		`[]`: `422 Invalid input, anonymizers must be an object of operators by entity type`,
	} {
		if got := operator(t, operators); !strings.HasPrefix(got, want) {
			t.Errorf("%.100s: %s, want %s", operators, got, want)
		}
	}
}

func TestMaskingsThatMakeNoSense(t *testing.T) {
	for request, want := range map[string]string{
		`{`:                                     "400 failed to read the request:",
		`{}`:                                    "400 Invalid request json",
		`{"text": "a"}`:                         "422 Invalid input, request must contain analyzer results",
		`{"text": 1, "analyzer_results": []}`:   "422 Invalid parameter value for text.",
		`{"text": "a", "analyzer_results": {}}`: "422 Invalid input, analyzer_results must be a list",
		`{"text": "a", "analyzer_results": [{"end": 1, "entity_type": "A", "score": 1}]}`:                    "422 Invalid input, result must contain start",
		`{"text": "a", "analyzer_results": [{"start": 0, "entity_type": "A", "score": 1}]}`:                  "422 Invalid input, result must contain end",
		`{"text": "a", "analyzer_results": [{"start": 0, "end": 1, "score": 1}]}`:                            "422 Invalid input, result must contain entity_type",
		`{"text": "a", "analyzer_results": [{"start": 0, "end": 1, "entity_type": "A"}]}`:                    "422 Invalid input, analyzer result must contain score",
		`{"text": "a", "analyzer_results": [{"start": -1, "end": 1, "entity_type": "A", "score": 1}]}`:       "422 Invalid input, result start and end must be positive",
		`{"text": "abc", "analyzer_results": [{"start": 2, "end": 1, "entity_type": "A", "score": 1}]}`:      "422 Invalid input, start index '2' must be smaller than end index '1'",
		`{"text": "\u00e4bc", "analyzer_results": [{"start": 1, "end": 4, "entity_type": "A", "score": 1}]}`: "422 Invalid analyzer result, start: 1 and end: 4, while text length is only 3.",
	} {
		if _, err := presidio.ReadAnonymize([]byte(request)); err == nil || !strings.HasPrefix(statusOf(t, err), want) {
			t.Errorf("%s: %v, want %s", request, err, want)
		}
	}
}

// A text without entities or operators is restored to itself, as in Presidio.
func TestDeanonymize(t *testing.T) {
	const key = `"1111111111111111"`
	for request, want := range map[string]string{
		`{}`:            "400 Invalid request json",
		`{"key": "x"}`:  ` []`,
		`{"text": "a"}`: `a []`,
		`{"text": "\u00e4 bcd", "deanonymizers": {"N": {"type": "decrypt", "key": ` + key + `}}, "anonymizer_results": [{"start": 2, "end": 5, "entity_type": "N", "text": "x"}, {"start": 0, "end": 1, "entity_type": "B"}]}`: "\u00e4 bcd [B 0 2 keep N 3 6 decrypt]",
		`{"text": "a", "deanonymizers": {"N": {"type": "decrypt", "key": "short"}}, "anonymizer_results": [{"start": 0, "end": 1, "entity_type": "N"}]}`:                                                                       "422 Invalid input, key must be of length 128, 192 or 256 bits",
		`{"text": "a", "deanonymizers": {"N": {"type": "redact"}}, "anonymizer_results": [{"start": 0, "end": 1, "entity_type": "N"}]}`:                                                                                        "422 Invalid operator class 'redact'.",
	} {
		m, err := presidio.ReadDeanonymize([]byte(request))
		var operators pii.Operators
		if err == nil {
			operators, err = m.Operators()
		}
		var got string
		if err != nil {
			got = statusOf(t, err)
		} else {
			var entities []string
			for _, e := range m.Entities {
				entities = append(entities, fmt.Sprint(e.Type, " ", e.Start, " ", e.End, " ", operators[e.Type].Kind))
			}
			got = fmt.Sprint(m.Text, " ", entities)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// The last item of the text comes first, and offsets are code points of the new text.
func TestMasked(t *testing.T) {
	masked := pii.Masked{Text: "\u00e4<A> b<B>", Items: []pii.MaskedItem{{Start: 2, End: 5, Type: "A", Text: "<A>", Operator: pii.Replace}, {Start: 7, End: 10, Type: "B", Text: "<B>", Operator: pii.Replace}}}
	want := `{"text":"ä<A> b<B>","items":[{"start":6,"end":9,"entity_type":"B","text":"<B>","operator":"replace"},{"start":1,"end":4,"entity_type":"A","text":"<A>","operator":"replace"}]}`
	if diff := cmp.Diff(want, string(plainjson.Append(nil, presidio.Masking{}.ToMasked(masked)))); diff != "" {
		t.Error(diff)
	}
	restoring, err := presidio.ReadDeanonymize([]byte(`{"text": "a"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := restoring.ToMasked(pii.Masked{Text: "a", Items: []pii.MaskedItem{{End: 1, Operator: pii.Keep}}}).Items[0].Operator; got != "deanonymize_keep" {
		t.Errorf("what is not restored was given to %s", got)
	}
	if got := servertest.JSON(t, presidio.Masking{}.ToMasked(pii.Masked{})); got != `{"text":"","items":[]}` {
		t.Error(got)
	}
}

// What is read from a request lies in its text, at beginnings of characters.
func FuzzMasking(f *testing.F) {
	f.Add([]byte(`{"text": "a\ud83d\ude00b c", "anonymizers": {"A": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": true}}, "analyzer_results": [
		{"entity_type": "A", "start": 0, "end": 2, "score": 1}, {"entity_type": "B", "start": 1, "end": 3, "score": 0.5}, {"entity_type": "A", "start": 4, "end": 5, "score": 0}]}`))
	f.Add([]byte(`{"text": "ab", "deanonymizers": {"DEFAULT": {"type": "decrypt", "key": "1111111111111111"}}, "anonymizer_results": [{"entity_type": "A", "start": 0, "end": 2}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func([]byte) (presidio.Masking, error){presidio.ReadAnonymize, presidio.ReadDeanonymize} {
			m, err := read(data)
			if err != nil {
				statusOf(t, err)
				continue
			}
			if _, err := m.Operators(); err != nil {
				statusOf(t, err)
			}
			for _, e := range m.Entities {
				if e.Start < 0 || e.Start > e.End || e.End > len(m.Text) || !utf8.ValidString(m.Text[e.Start:e.End]) {
					t.Fatalf("%+v is not in %q", e, m.Text)
				}
			}
		}
	})
}

// What is read from a request can be shown again, and its expressions are valid.
func FuzzAnalysis(f *testing.F) {
	f.Add([]byte(`{"text": ["a", "b"], "language": "en", "ad_hoc_recognizers": [{"name": "z", "supported_entity": "ZIP", "patterns": [{"name": "w", "regex": "\\d{5}", "score": 0.1}], "global_regex_flags": 26}]}`))
	f.Add([]byte(`{"text": "a", "language": "en", "allow_list": ["a|b", "(?i)c"], "allow_list_match": "regex", "regex_flags": 10, "return_decision_process": true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := presidio.ReadAnalysis(data)
		if err != nil {
			statusOf(t, err)
			return
		}
		for _, text := range a.Texts {
			entity := toxscreen.Entity{Type: "ZIP", Start: 0, End: len(text), Score: 0.5, Why: []string{"pattern", `cue "`}}
			got := presidio.ToEntities(a, text, []toxscreen.Entity{entity})
			if _, err := json.Marshal(got); err != nil || got[0].End != utf8.RuneCountInString(text) {
				t.Fatalf("%v: %+v of %q", err, got, text)
			}
		}
	})
}
