package native_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// found is a native answer about personal data.
type found struct {
	ID       string
	Entities []toxscreen.Entity
	Masked   *string
	Items    []pii.MaskedItem
	Unit     toxscreen.OffsetUnit `json:"offset_unit"`
	Versions struct{ Toxscreen, Entities string }
}

func readFound(t *testing.T, body string) found {
	t.Helper()
	var f found
	if err := json.Unmarshal([]byte(body), &f); err != nil || f.Versions.Entities == "" {
		t.Fatalf("%v %s", err, body)
	}
	return f
}

// places shows entities briefly.
func places(entities []toxscreen.Entity) string {
	var all []string
	for _, e := range entities {
		all = append(all, fmt.Sprint(e.Type, " ", e.Start, "-", e.End))
	}
	return strings.Join(all, ", ")
}

func TestNativePII(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	const text = `"text": "Zo\u00eb: zoe@example.com, SSN 856-45-6789"`
	for parameters, want := range map[string]string{
		``:                              "EMAIL_ADDRESS 6-21, US_SSN 27-38",
		`, "offset_unit": "code_point"`: "EMAIL_ADDRESS 5-20, US_SSN 26-37",
		`, "types": ["us_ssn"]`:         "US_SSN 27-38",
		`, "types": []`:                 "EMAIL_ADDRESS 6-21, US_SSN 27-38",
		`, "types": ["EMAIL_ADDRESS"], "min_score": 1`:                                                                   "",
		`, "recognizers": [{"name": "nicks", "supported_entity": "NICK", "deny_list": ["Zo\u00eb"]}]`:                    "NICK 0-4, EMAIL_ADDRESS 6-21, US_SSN 27-38",
		`, "types": ["NICK"], "recognizers": [{"name": "nicks", "supported_entity": "NICK", "deny_list": ["Zo\u00eb"]}]`: "NICK 0-4",
	} {
		r := s.Post("/v1/pii", `{`+text+parameters+`}`)
		got := readFound(t, r.Body)
		if diff := cmp.Diff(want, places(got.Entities)); diff != "" || got.Masked != nil || got.Items != nil {
			t.Errorf("%s: %s %s", parameters, diff, r.Body)
		}
	}
	masked := readFound(t, s.Post("/v1/pii", `{"id": "a", `+text+`, "offset_unit": "utf16", "mask": {"DEFAULT": {"type": "redact"}, "US_SSN": {"type": "mask", "masking_char": "#", "chars_to_mask": 7}}}`).Body)
	if *masked.Masked != "Zo\u00eb: , SSN #######6789" || masked.ID != "a" || masked.Unit != "utf16" {
		t.Errorf("%+v %s", masked, *masked.Masked)
	}
	if diff := cmp.Diff([]pii.MaskedItem{{Type: "EMAIL_ADDRESS", Operator: "redact", Start: 5, End: 5, Original: "zoe@example.com"}, {Type: "US_SSN", Operator: "mask", Start: 11, End: 22, Text: "#######6789", Original: "856-45-6789"}}, masked.Items); diff != "" {
		t.Error(diff)
	}
}

// Ages under 90 and titles are found where a request or the settings of the server name them, in every
// format. Recognizers of a request change nothing about that.
func TestAgesAndTitlesAreAskedForByName(t *testing.T) {
	const text = "Dr. Berg is 93 years old, Mr. Berg 45 years old."
	const own = `[{"name": "a", "supported_entity": "OWN", "deny_list": ["x"]}]`
	const byDefault, all = "AGE 93 years old", "TITLE Dr., AGE 93 years old, TITLE Mr., AGE 45 years old"
	for _, c := range []struct {
		settings   pii.Settings
		path, body string
		want       string
	}{
		{pii.Settings{}, "/v1/pii", `{"text": %q}`, byDefault},
		{pii.Settings{}, "/v1/pii", `{"text": %q, "recognizers": ` + own + `}`, byDefault},
		{pii.Settings{}, "/v1/pii", `{"text": %q, "types": ["age", "TITLE"]}`, all},
		{pii.Settings{Types: []toxscreen.EntityType{kind.Age, kind.Title}}, "/v1/pii", `{"text": %q, "recognizers": ` + own + `}`, all},
		{pii.Settings{}, "/analyze", `{"text": %q, "language": "en"}`, byDefault},
		{pii.Settings{}, "/analyze", `{"text": %q, "language": "en", "ad_hoc_recognizers": ` + own + `}`, byDefault},
		{pii.Settings{}, "/analyze", `{"text": %q, "language": "en", "entities": ["AGE", "TITLE"]}`, all},
		{pii.Settings{Types: []toxscreen.EntityType{kind.Age, kind.Title}}, "/analyze", `{"text": %q, "language": "en"}`, all},
	} {
		s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, c.settings)})
		body := s.Post(c.path, fmt.Sprintf(c.body, text)).Body
		var native struct{ Entities []toxscreen.Entity }
		var presidio []struct {
			Type       toxscreen.EntityType `json:"entity_type"`
			Start, End int
		}
		var got []string
		if c.path == "/analyze" {
			if err := json.Unmarshal([]byte(body), &presidio); err != nil {
				t.Fatalf("%v %s", err, body)
			}
			for _, e := range presidio {
				got = append(got, string(e.Type)+" "+text[e.Start:e.End])
			}
		} else {
			if err := json.Unmarshal([]byte(body), &native); err != nil {
				t.Fatalf("%v %s", err, body)
			}
			for _, e := range native.Entities {
				got = append(got, string(e.Type)+" "+text[e.Start:e.End])
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s %s: %s", c.path, c.body, diff)
		}
	}
}

// Many texts have a line each, in order. One that fails does so by itself.
func TestNativePIIOfManyTexts(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{}), MaxBytes: 20})
	r := s.Post("/v1/pii", `{"texts": ["a@example.com", {"id": "b", "text": "a text that is too long"}, {"id": "c", "text": ""}], "mask": {}}`)
	lines := strings.Split(strings.TrimSpace(r.Body), "\n")
	if len(lines) != 3 || r.Status != http.StatusOK || !strings.Contains(lines[1], `{"id":"b","error":{"code":"too_long"`) {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	if first := readFound(t, lines[0]); *first.Masked != "<EMAIL_ADDRESS>" {
		t.Errorf("%+v", first)
	}
	if last := readFound(t, lines[2]); last.ID != "c" || last.Entities == nil || len(last.Entities) != 0 {
		t.Errorf("%+v", last)
	}
}

func TestNativePIIThatMakesNoSense(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	for body, want := range map[string]string{
		`{}`:                                 "invalid_request it has no text",
		`{"text": "a", "texts": []}`:         "invalid_request it has texts and a text",
		`{"text": "a", "types": ["SSN"]}`:    "invalid_request unknown type",
		`{"text": "a", "types": ["PERSON"]}`: "unsupported this server does not find PERSON",
		`{"text": "a", "min_score": 2}`:      "invalid_request min_score",
		`{"text": "a", "offset_unit": "x"}`:  "invalid_request offset_unit",
		`{"text": "a", "operators": {}}`:     "invalid_request operators",
		`{"text": "a@example.com", "mask": {"EMAIL_ADDRESS": {"type": "hide"}}}`: "invalid_request hide",
	} {
		r := s.Post("/v1/pii", body)
		code, message, _ := strings.Cut(want, " ")
		if r.Code(t) != code || !strings.Contains(r.Body, message) {
			t.Errorf("%s: %s, want %s", body, r.Body, want)
		}
	}
	for _, body := range []string{`{"text": "a", "pii": true}`} {
		if r := s.Post("/v1/score?format=writer", body); r.Code(t) != "invalid_request" || !strings.Contains(r.Body, "pii is only for the native format") {
			t.Errorf("%s", r.Body)
		}
	}
}

// A result has the personal data of its text if the request asks for it, and nothing of it
// otherwise.
func TestScoreWithPII(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	plain := s.Post("/v1/score", `{"text": "you idiot, a@example.com"}`)
	if strings.Contains(plain.Body, "entities") {
		t.Error(plain.Body)
	}
	r := s.Post("/v1/score", `{"text": "you \u00efdiot idiot, a@example.com", "pii": true, "offset_unit": "code_point"}`)
	result := r.Result(t)
	if got := places(result.Entities); got != "EMAIL_ADDRESS 17-30" || !result.Flagged || result.Versions.Entities == "" {
		t.Errorf("%s: %s", got, r.Body)
	}
	none := s.Post("/v1/score", `{"texts": ["hello"], "pii": true}`)
	if !strings.Contains(none.Body, `"entities":[]`) {
		t.Error(none.Body)
	}
}

// Finding takes a place in the queue and counts for the caller's rate, like scoring.
func TestFindingIsLimited(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "rate=0.001 burst=2")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{}), Keys: []server.Key{a}})
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if r := s.Post("/v1/pii", `{"text": "a"}`, "X-Api-Key", alice); r.Status != want {
			t.Errorf("%d: %d %s", i, r.Status, r.Body)
		}
	}
	if r := s.Post("/analyze", `{"text": "a", "language": "en"}`, "X-Api-Key", alice); r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
