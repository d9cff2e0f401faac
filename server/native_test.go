package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

func TestOneTextIsScored(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	r := s.post("/v1/score", `{"id": "a", "text": "you idiot"}`)
	result := r.result(t)
	if result.ID != "a" || result.Score != 0.9 || !result.Flagged || len(result.Spans) != 1 || result.Spans[0].Start != 4 {
		t.Errorf("%s", r.body)
	}
}

// Offsets have the unit, and thresholds the values, that the client asks for.
func TestARequestHasItsOwnUnitsAndThresholds(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	result := s.post("/v1/score", `{"text": "😀 idiot", "offset_unit": "utf16", "thresholds": {"insult": 0.95}}`).result(t)
	if result.OffsetUnit != toxscreen.UTF16Units || result.Spans[0].Start != 3 || result.Attributes[toxscreen.Insult].Flagged || !result.Attributes[toxscreen.Toxicity].Flagged {
		t.Errorf("%+v", result)
	}
}

// A long text has the passages to look at, in the unit and for the thresholds that the
// client asks for.
func TestPassagesOfALongText(t *testing.T) {
	s := serve(t, toxscreen.New(lines), server.Config{})
	const text = `"text": "hello 😀\nyou idiot\nbye"`
	result := s.post("/v1/score", `{`+text+`, "offset_unit": "utf16"}`).result(t)
	if want := []toxscreen.Passage{{Start: 9, End: 19, Score: 0.9}}; !slices.Equal(result.Passages, want) {
		t.Errorf("the passages are %v, want %v", result.Passages, want)
	}
	r := s.post("/v1/score", `{`+text+`, "thresholds": {"toxicity": 0.95, "insult": 0.95}}`)
	if result := r.result(t); result.Flagged || strings.Contains(r.body, "passages") {
		t.Errorf("a text that is not flagged has passages: %s", r.body)
	}
}

// Sentences have the scores that they have as texts of their own, for one text and for
// many. They count neither as texts nor for the rate limit.
func TestSentencesOnRequest(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=0.001 burst=2")
	s := serve(t, toxscreen.New(words), server.Config{Keys: []server.Key{a}, MaxTexts: 2})
	const text = `"😀 Hello there. You idiot! Thank you. Bye."`
	want := []toxscreen.Passage{{Start: 0, End: 16, Score: 0.1}, {Start: 16, End: 27, Score: 0.9}, {Start: 27, End: 38, Score: 0.1}, {Start: 38, End: 42, Score: 0.1}}
	if got := s.post("/v1/score", `{"text": `+text+`, "sentences": true, "offset_unit": "utf16"}`, "x-api-key", alice).result(t).Sentences; !slices.Equal(got, want) {
		t.Errorf("the sentences are %v, want %v", got, want)
	}
	r := s.post("/v1/score", `{"text": `+text+`}`, "x-api-key", alice)
	if strings.Contains(r.body, "sentences") {
		t.Errorf("nobody asked for sentences: %s", r.body)
	}
	if r := s.post("/v1/score", `{"text": "x"}`, "x-api-key", alice); r.code(t) != "rate_limited" {
		t.Errorf("%d %s", r.status, r.body)
	}

	s = serve(t, toxscreen.New(words, toxscreen.WithMaxBytes(100)), server.Config{})
	r = s.post("/v1/score", `{"texts": [`+text+`, "", {"id": "b", "text": "You idiot"}, "`+strings.Repeat("x", 101)+`"], "sentences": true, "offset_unit": "utf16"}`)
	lines := strings.Split(strings.TrimSpace(r.body), "\n")
	for i, want := range []string{`"sentences":[{"start":0,"end":16,"score":0.1},{"start":16,"end":27,"score":0.9},`, `{"score":0.1,`, `"sentences":[{"start":0,"end":9,"score":0.9}]`, `"code":"too_long"`} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d has no %s: %s", i, want, lines[i])
		}
	}
	if strings.Contains(lines[1], "sentences") {
		t.Errorf("an empty text has sentences: %s", lines[1])
	}
	if r := s.post("/v1/score?format=writer", `{"text": "x", "sentences": true}`); !strings.Contains(r.body, "sentences is only for the native format, not for writer") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A late result has the sentences too. The judge reads the whole text and no sentence;
// an only sentence has the score of the text.
func TestSentencesOfALateResult(t *testing.T) {
	verdict := insult()
	toxic := toxscreen.Toxicity
	verdict.Aspects[0].Attribute = &toxic
	for text, want := range map[string][]toxscreen.Passage{
		"Hello. You idiot, maybe.": {{Start: 0, End: 7, Score: 0.1}, {Start: 7, End: 24, Score: 0.5}},
		"Oh, maybe.":               {{Start: 0, End: 10, Score: 0.9}},
	} {
		asked, answer := make(chan string, 3), make(chan struct{})
		judge := judging(func(_ context.Context, text string) (toxscreen.Verdict, error) {
			asked <- text
			<-answer
			return verdict, nil
		})
		s := serve(t, judged(judge), server.Config{Results: newResults()})
		first := s.post("/v1/score", `{"text": "`+text+`", "sentences": true}`).result(t)
		if !first.Judge.Pending || len(first.Sentences) != len(want) {
			t.Errorf("%+v", first)
		}
		path := "/v1/score/" + first.Judge.ID
		close(answer)
		wait(t, "the verdict is there", func() bool { return !s.get(path).result(t).Judge.Pending })
		if got := s.get(path).result(t).Sentences; !slices.Equal(got, want) {
			t.Errorf("the sentences are %v, want %v", got, want)
		}
		if got := <-asked; got != text || len(asked) > 0 {
			t.Errorf("the judge read %q and %d more", got, len(asked))
		}
	}
}

func TestManyTextsAreAnsweredInOrder(t *testing.T) {
	s := serve(t, toxscreen.New(words, toxscreen.WithMaxBytes(1000)), server.Config{})
	texts := []any{"you idiot", map[string]string{"id": "b", "text": "hello"}, strings.Repeat("x", 1001)}
	for i := range 200 {
		texts = append(texts, map[string]string{"id": fmt.Sprint(i), "text": "hello"})
	}
	body, err := json.Marshal(map[string]any{"texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	r := s.post("/v1/score", string(body))
	lines := strings.Split(strings.TrimSpace(r.body), "\n")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/x-ndjson" || len(lines) != len(texts) {
		t.Fatalf("status %d, %d lines of %s", r.status, len(lines), r.header.Get("Content-Type"))
	}
	if !strings.HasPrefix(lines[0], `{"score":0.9`) || !strings.HasPrefix(lines[1], `{"id":"b","score":0.1`) || !strings.HasPrefix(lines[2], `{"error":{"code":"too_long"`) {
		t.Errorf("%s", strings.Join(lines[:3], "\n"))
	}
	for i, line := range lines[3:] {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"id":"%d",`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	if r := s.post("/v1/score", `{"texts": []}`); r.status != http.StatusOK || r.body != "" {
		t.Errorf("no texts: status %d, %q", r.status, r.body)
	}
}

// Every rejection names the reason, and has a status of the client's fault.
func TestBadRequestsAreRefusedWithTheReason(t *testing.T) {
	s := serve(t, toxscreen.New(words, toxscreen.WithMaxBytes(100)), server.Config{MaxTexts: 2, MaxBody: 1000})
	for body, want := range map[string]string{
		``:                                     "it is empty",
		`{}`:                                   "it has no text",
		`[]`:                                   "expected an object, found a list",
		`{"text": 1}`:                          "text: expected a string, found a number",
		`{"text": "x"`:                         "its JSON breaks off",
		`{"text": "x"} {"text": "y"}`:          "more data after its JSON",
		`{"texts": ["x", 1]}`:                  "texts: expected a string, found a number",
		`{"do_not_store": "yes", "text": "x"}`: "do_not_store: expected true or false, found a string",
		`{"txt": "x"}`:                         `unknown field "txt"`,
		`{"text": "x", "texts": ["y"]}`:        "a text or id beside them",
		`{"texts": ["x", {"id": "y"}]}`:        "texts[1] has no text",
		`{"texts": ["x", {"txt": "y"}]}`:       `unknown field "txt"`,
		`{"texts": ["x", "y", "z"]}`:           "it has 3 texts, the limit is 2",
		`{"text": "x", "offset_unit": "bits"}`: `unknown offset unit "bits"`,
		`{"text": "x", "judge_wait": "soon"}`:  `"soon" is not a duration`,
		`{"text": "x", "judge_wait": "11m"}`:   "is not a duration up to 10m0s",
		`{"text": "x", "thresholds": {"insult": 2}}`:    "2 for insult is not in 0..1",
		`{"text": "x", "thresholds": {"threat": 1}}`:    "does not measure threat",
		`{"text": "x", "thresholds": {"rude": 1}}`:      `rude`,
		"{\"text\": \"\xff\"}":                          "not valid UTF-8",
		strings.Repeat("[", 100):                        "nested deeper than 64",
		`{"text": "` + strings.Repeat("x", 101) + `"}`:  "it has 101 bytes, the limit is 100",
		`{"text": "` + strings.Repeat("x", 1000) + `"}`: "the limit is 1000",
	} {
		r := s.post("/v1/score", body)
		if r.status < 400 || r.status >= 500 || !strings.Contains(r.body, want[:1]) {
			t.Errorf("%.60s: status %d, %s", body, r.status, r.body)
		}
		var failure struct{ Error struct{ Message string } }
		if err := json.Unmarshal([]byte(r.body), &failure); err != nil || !strings.Contains(failure.Error.Message, want) {
			t.Errorf("%.60s: %q does not say %q", body, failure.Error.Message, want)
		}
	}
}

// A body without a Content-Length is limited, too.
func TestABodyOfUnknownLengthIsBounded(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{MaxBody: 1000})
	endless := struct{ *strings.Reader }{strings.NewReader(`{"text": "` + strings.Repeat("x", 5000) + `"}`)}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/score", endless)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", response.StatusCode)
	}
}

// What is not there is an error in the form of the API that the path belongs to.
func TestWhatIsNotThereIsNamed(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	if r := s.get("/v1/scores"); r.status != http.StatusNotFound || r.code(t) != "not_found" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := s.get("/v1/score"); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" || r.code(t) != "method_not_allowed" {
		t.Errorf("%d %s", r.status, r.body)
	}
	for _, c := range []struct{ method, path, allow, want string }{
		{"POST", "/v1alpha1/comments:foo", "", `404 {"error":{"code":404,"message":"there is nothing here`},
		{"GET", analyze, "POST", `405 {"error":{"code":405,"message":"failed to answer GET: this route takes POST","status":"UNIMPLEMENTED"}}`},
		{"GET", "/batch", "POST", `405 {"error":{"code":405,`},
		{"POST", "/$discovery/rest", "GET", `405 {"error":{"code":405,`},
		{"GET", "/v1/moderations", "POST", `405 {"error":{"message":"failed to answer GET: this route takes POST","type":"invalid_request_error","param":null,"code":null}}`},
		{"POST", "/v1/moderations/x", "", `404 {"error":{"message":"there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all","type":"invalid_request_error","param":null,"code":"unknown_url"}}`},
		{"DELETE", "/v1/models/tiny@1.0.0", "GET", `405 {"error":{"message":`},
		{"GET", "/v1/evaluate", "POST", `405 {"detail":"failed to answer GET: this route takes POST"}`},
		{"POST", "/", "GET", `405 {"error":{"code":"method_not_allowed",`},
	} {
		if r := s.ask(c.method, c.path, ""); !strings.HasPrefix(statusOf(r)+" "+r.body, c.want) || r.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %s %s", c.method, c.path, r.status, r.header, r.body)
		}
	}
	if r := s.get("/v1/score/nothing"); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	if r := s.get("/v1/openapi.json"); r.status != http.StatusOK || !strings.Contains(r.body, `"openapi": "3.1.0"`) {
		t.Errorf("%d %.100s", r.status, r.body)
	}
}

// Some formats are verdicts of the judge, whatever the classifier finds.
func TestAFormatMayBeAVerdict(t *testing.T) {
	says := func(ctx context.Context, id, text, input string) (any, error) {
		if text == "odd" {
			return nil, errors.New("the judge gave no verdict: it wrote nothing")
		}
		return []any{id, text, input, toxscreen.MayStore(ctx)}, nil
	}
	alice, a := newKey(t, "alice", "rate=0.001 burst=2")
	s := serve(t, toxscreen.New(words), server.Config{Keys: []server.Key{a}, VerdictFormats: map[string]server.VerdictFormat{"mastra": says}})
	ask := func(format, body string) reply {
		t.Helper()
		response, err := s.Client().Do(must(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/score?key="+alice+"&format="+format, strings.NewReader(body))))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply{response.StatusCode, response.Header, string(data)}
	}
	if r := ask("mastra", `{"text": "so", "id": "a", "input": "how?", "do_not_store": true}`); r.body != `["a","so","how?",false]`+"\n" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := ask("mastra", `{"text": "odd"}`); r.status != http.StatusBadGateway || r.code(t) != "not_judged" || !strings.Contains(r.body, "it wrote nothing") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := ask("mastra", `{"text": "so"}`); r.code(t) != "rate_limited" {
		t.Errorf("%d %s", r.status, r.body)
	}
	for body, want := range map[string]string{`{"texts": ["so"]}`: "is for one text", `{"text": "so"}`: "this server has none"} {
		if r := ask("nexa", body); r.status != http.StatusBadRequest || !strings.Contains(r.body, want) {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if r := ask("native", `{"text": "so", "input": "how?"}`); !strings.Contains(r.body, "mastra and nexa") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
