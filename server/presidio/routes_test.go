package presidio_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// entitiesOf reads the answer of the analyzer to one text.
func entitiesOf(t *testing.T, r servertest.Reply) (found []string) {
	t.Helper()
	var entities []struct {
		Type  string `json:"entity_type"`
		Start int
		End   int
	}
	if err := json.Unmarshal([]byte(r.Body), &entities); err != nil || r.Status != http.StatusOK {
		t.Fatalf("%d %v %s", r.Status, err, r.Body)
	}
	for _, e := range entities {
		found = append(found, strings.Join([]string{e.Type, servertest.JSON(t, []int{e.Start, e.End})}, " "))
	}
	return found
}

// The analyzer's parameters decide what is found. Offsets are code points.
func TestAnalyze(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	const text = `"Zo\u00eb: zoe@example.com, SSN 856-45-6789, zip 10023"`
	const zips = `"ad_hoc_recognizers": [{"name": "Zips", "supported_language": "en", "supported_entity": "ZIP", "patterns": [{"name": "weak", "regex": "\\b\\d{5}\\b", "score": 0.01}]}]`
	for parameters, want := range map[string]string{
		`"correlation_id": "c"`:                        "EMAIL_ADDRESS [5,20] US_SSN [26,37]",
		`"entities": ["US_SSN"]`:                       "US_SSN [26,37]",
		`"entities": ["US_NPI"], "score_threshold": 1`: "",
		zips:                              "EMAIL_ADDRESS [5,20] US_SSN [26,37] ZIP [43,48]",
		zips + `, "entities": ["ZIP"]`:    "ZIP [43,48]",
		zips + `, "score_threshold": 0.3`: "EMAIL_ADDRESS [5,20] US_SSN [26,37]",
		`"ad_hoc_recognizers": [{"supported_entity": "NICK", "deny_list": ["zo\u00eb"]}]`: "NICK [0,3] EMAIL_ADDRESS [5,20] US_SSN [26,37]",
		`"allow_list": ["zoe@example.com"]`:                                               "US_SSN [26,37]",
		`"allow_list": ["@example"]`:                                                      "EMAIL_ADDRESS [5,20] US_SSN [26,37]",
		`"allow_list": ["@EXAMPLE"], "allow_list_match": "regex"`:                         "US_SSN [26,37]",
		`"allow_list": ["@E"], "allow_list_match": "regex", "regex_flags": 0`:             "EMAIL_ADDRESS [5,20] US_SSN [26,37]",
	} {
		if got := strings.Join(entitiesOf(t, s.Post("/analyze", `{"text": `+text+`, "language": "en", `+parameters+`}`)), " "); got != want {
			t.Errorf("%s: %s, want %s", parameters, got, want)
		}
	}
	r := s.Post("/analyze", `{"text": ["a@example.com", "", "none"], "language": "en", "entities": ["EMAIL_ADDRESS", "DE_PASSPORT", "DE_PASSPORT", "PERSON"]}`)
	var many [][]map[string]any
	if err := json.Unmarshal([]byte(r.Body), &many); err != nil || len(many) != 3 || len(many[0]) != 1 || many[1] == nil || many[0][0]["analysis_explanation"] != nil {
		t.Errorf("%v %s", err, r.Body)
	}
	// What the server cannot find is no error beside what it can, but is said.
	if got := r.Header.Get("Toxscreen-Unsupported-Entities"); got != "DE_PASSPORT, PERSON" {
		t.Errorf("%q", got)
	}
	explained := s.Post("/analyze", `{"text": `+text+`, "language": "en", "entities": ["EMAIL_ADDRESS"], "return_decision_process": true}`)
	if !strings.Contains(explained.Body, `"recognizer":"EmailAddressRecognizer"`) {
		t.Error(explained.Body)
	}
}

// The words of a request support all entities near them, as those of a recognizer do.
func TestContext(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	ask := func(context string) string {
		return strings.Join(entitiesOf(t, s.Post("/analyze", `{"text": "badge Xb", "language": "en", "score_threshold": 0.4, "entities": ["BADGE"], "context": [`+context+`],
			"ad_hoc_recognizers": [{"supported_entity": "BADGE", "patterns": [{"name": "weak", "regex": "\\bX\\w\\b", "score": 0.01}]}]}`)), " ")
	}
	if got := ask(``); got != "" {
		t.Error(got)
	}
	if got := ask(`"badge"`); got != "BADGE [6,8]" {
		t.Error(got)
	}
}

// Errors are in Presidio's form, with its statuses; what goes wrong before a request is
// read has this server's.
func TestFailures(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{}), MaxTexts: 2, MaxBytes: 20, Keys: []server.Key{a}})
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/analyze", `{}`, `500 {"error":"No text provided"}`},
		{"POST", "/analyze", `{"text": "a", "language": "en", "entities": ["PERSON"]}`, `500 {"error":"No matching recognizers were found to serve the request."}`},
		{"POST", "/analyze", `{"text": ["a", "b", "c"], "language": "en"}`, `413 {"error":"failed to read the request: it has 3 texts, the limit is 2`},
		{"POST", "/analyze", `{"text": "a b c d e f g h i j k l", "language": "en"}`, `413 {"error":"failed to find personal data: the text has 23 bytes, the limit is 20`},
		{"POST", "/analyze", `{"text": "a", "language": "en", "ad_hoc_recognizers": [{"name": "Zips", "supported_entity": "ZIP", "patterns": [{"name": "weak", "regex": "(?<!x)\\d{5}", "score": 0.01}]}]}`,
			`400 {"error":"failed to create a finder: recognizer \"Zips\": the expression \"(?<!x)\\\\d{5}\"`},
		{"POST", "/anonymize", `{"text": "a"}`, `422 {"error":"Invalid input, request must contain analyzer results"}`},
		{"POST", "/anonymize", strings.Repeat("[", 100), `400 {"error":"failed to read the request: its JSON is nested`},
		{"POST", "/deanonymize", `{"text": "a", "deanonymizers": {"DEFAULT": {"type": "decrypt", "key": "1111111111111111"}}, "anonymizer_results": [{"start": 0, "end": 1, "entity_type": "N"}]}`, `422 {"error":"failed to mask text: the entity N at 0 to 1:`},
		{"GET", "/supportedentities?language=he", "", `500 {"error":"No matching recognizers were found to serve the request."}`},
		{"GET", "/analyze", "", `405 {"error":"failed to answer GET: this route takes POST"}`},
		{"GET", "/recognizers/1", "", `404 {"error":"there is nothing here`},
	} {
		r := s.Ask(c.method, c.path, c.body, "Authorization", "Bearer "+alice)
		if got := r.Text(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %.100s: %s, want %s", c.method, c.path, c.body, got, c.want)
		}
	}
	if r := s.Post("/analyze", `{}`); r.Status != http.StatusUnauthorized || !strings.HasPrefix(r.Body, `{"error":"`) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if r := s.Get("/health"); r.Status != http.StatusOK || r.Body != "toxscreen is up" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

func TestLists(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{Recognizers: []pii.Recognizer{{Name: "badges", Type: "BADGE", DenyList: []string{"x1"}}}})})
	for path, want := range map[string]string{
		"/supportedentities?language=en": `"PL_PESEL"`,
		"/supportedentities":             `"BADGE"`,
		"/recognizers?language=en":       `"UsSsnRecognizer"`,
		"/anonymizers":                   `["encrypt","hash","keep","mask","redact","replace"]`,
		"/deanonymizers":                 `["decrypt","deanonymize_keep"]`,
	} {
		r := s.Get(path)
		if r.Status != http.StatusOK || !strings.Contains(r.Body, want) || strings.Contains(r.Body, `"PERSON"`) {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
}

// What one route answers is what the next one takes, also with letters before it that are
// several bytes long.
func TestRoundTrip(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Finder: servertest.Finder(t, pii.Settings{})})
	const text = `"\ud83d\ude00 Zo\u00eb writes to zoe@example.com about 856-45-6789."`
	found := s.Post("/analyze", `{"text": `+text+`, "language": "en"}`)
	const operator = `{"DEFAULT": {"type": "encrypt", "key": "1111111111111111"}, "US_SSN": {"type": "mask", "masking_char": "*", "chars_to_mask": 7, "from_end": false}}`
	masked := s.Post("/anonymize", `{"text": `+text+`, "anonymizers": `+operator+`, "analyzer_results": `+found.Body+`}`)
	var answer struct {
		Text  string
		Items []struct {
			Operator string
			Type     string `json:"entity_type"`
			Start    int
			End      int
			Text     string
		}
	}
	if err := json.Unmarshal([]byte(masked.Body), &answer); err != nil || len(answer.Items) != 2 {
		t.Fatalf("%v %s", err, masked.Body)
	}
	if strings.Contains(answer.Text, "zoe@") || !strings.HasSuffix(answer.Text, " about *******6789.") || answer.Items[0].Operator != "mask" {
		t.Errorf("%+v", answer)
	}
	for _, item := range answer.Items {
		if got := string([]rune(answer.Text)[item.Start:item.End]); got != item.Text {
			t.Errorf("%+v: there is %q", item, got)
		}
	}
	restored := s.Post("/deanonymize", servertest.JSON(t, map[string]any{
		"text": answer.Text, "anonymizer_results": answer.Items,
		"deanonymizers": map[string]any{"EMAIL_ADDRESS": map[string]string{"type": "decrypt", "key": "1111111111111111"}, "US_SSN": map[string]string{"type": "deanonymize_keep"}},
	}))
	if err := json.Unmarshal([]byte(restored.Body), &answer); err != nil || answer.Text != "\U0001F600 Zo\u00eb writes to zoe@example.com about *******6789." || answer.Items[1].Operator != "decrypt" {
		t.Errorf("%v %s", err, restored.Body)
	}
}

// Entities that other analyzers found may overlap: see pii.Merge. Of what Presidio masks,
// nothing is left.
func TestConflicts(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for results, want := range map[string]string{
		`{"start": 4, "end": 21, "score": 0.8, "entity_type": "NAME"}, {"start": 11, "end": 33, "score": 0.8, "entity_type": "LOCATION"}`: "I'm <NAME><LOCATION>",
		`{"start": 4, "end": 10, "score": 0.8, "entity_type": "FIRST"}, {"start": 4, "end": 21, "score": 0.1, "entity_type": "NAME"}`:     "I'm <NAME> Square Park",
		`{"start": 4, "end": 10, "score": 0.8, "entity_type": "NAME"}, {"start": 11, "end": 21, "score": 0.8, "entity_type": "NAME"}`:     "I'm <NAME> Square Park",
	} {
		var got struct{ Text string }
		r := s.Post("/anonymize", `{"text": "I'm George Washington Square Park", "analyzer_results": [`+results+`]}`)
		if err := json.Unmarshal([]byte(r.Body), &got); err != nil {
			t.Fatalf("%v %s", err, r.Body)
		}
		if diff := cmp.Diff(want, got.Text); diff != "" {
			t.Errorf("%s: %s", results, diff)
		}
	}
	// A replacement must not be written so often that the answer no longer fits anywhere.
	small := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{MaxBody: 1000})
	r := small.Post("/anonymize", `{"text": "a b c d", "anonymizers": {"DEFAULT": {"type": "replace", "new_value": "`+strings.Repeat("x", 500)+`"}},
		"analyzer_results": [{"start": 0, "end": 1, "score": 1, "entity_type": "A"}, {"start": 4, "end": 5, "score": 1, "entity_type": "B"}]}`)
	if r.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// Without a finder the routes say so, and masking still works.
func TestWithoutAFinder(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for _, r := range []servertest.Reply{s.Post("/analyze", `{"text": "a", "language": "en"}`), s.Get("/recognizers"), s.Post("/v1/pii", `{"text": "a"}`), s.Post("/v1/score", `{"text": "a", "pii": true}`)} {
		if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "this server does not look for it") {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}
