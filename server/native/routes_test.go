package native_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/native"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// byLine finds the word idiot in each line of a text, which is a window of its own.
var byLine = servertest.Classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
	found, err := servertest.Words(ctx, text)
	found.Windows = nil
	for line := range strings.Lines(text) {
		one, _ := servertest.Words(ctx, line)
		start := 0
		if n := len(found.Windows); n > 0 {
			start = found.Windows[n-1].End
		}
		found.Windows = append(found.Windows, toxscreen.Window{Start: start, End: start + len(line), Scores: one.Scores})
	}
	return found, err
})

func TestOneTextIsScored(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	r := s.Post("/v1/score", `{"id": "a", "text": "you idiot"}`)
	result := r.Result(t)
	if result.ID != "a" || result.Score != 0.9 || !result.Flagged || len(result.Spans) != 1 || result.Spans[0].Start != 4 {
		t.Errorf("%s", r.Body)
	}
}

// Offsets have the unit, and thresholds the values, that the client asks for.
func TestARequestHasItsOwnUnitsAndThresholds(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	result := s.Post("/v1/score", `{"text": "😀 idiot", "offset_unit": "utf16", "thresholds": {"insult": 0.95}}`).Result(t)
	if result.OffsetUnit != toxscreen.UTF16Units || result.Spans[0].Start != 3 || result.Attributes[toxscreen.Insult].Flagged || !result.Attributes[toxscreen.Toxicity].Flagged {
		t.Errorf("%+v", result)
	}
}

// A long text has the passages to look at, in the unit and for the thresholds that the
// client asks for.
func TestPassagesOfALongText(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(byLine), server.Config{})
	const text = `"text": "hello 😀\nyou idiot\nbye"`
	result := s.Post("/v1/score", `{`+text+`, "offset_unit": "utf16"}`).Result(t)
	if want := []toxscreen.Passage{{Start: 9, End: 19, Score: 0.9}}; !slices.Equal(result.Passages, want) {
		t.Errorf("the passages are %v, want %v", result.Passages, want)
	}
	r := s.Post("/v1/score", `{`+text+`, "thresholds": {"toxicity": 0.95, "insult": 0.95}}`)
	if result := r.Result(t); result.Flagged || strings.Contains(r.Body, "passages") {
		t.Errorf("a text that is not flagged has passages: %s", r.Body)
	}
}

// Sentences have the scores that they have as texts of their own, for one text and for
// many. They count neither as texts nor for the rate limit.
func TestSentencesOnRequest(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "rate=0.001 burst=2")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Keys: []server.Key{a}, MaxTexts: 2})
	const text = `"😀 Hello there. You idiot! Thank you. Bye."`
	want := []toxscreen.Passage{{Start: 0, End: 16, Score: 0.1}, {Start: 16, End: 27, Score: 0.9}, {Start: 27, End: 38, Score: 0.1}, {Start: 38, End: 42, Score: 0.1}}
	if got := s.Post("/v1/score", `{"text": `+text+`, "sentences": true, "offset_unit": "utf16"}`, "x-api-key", alice).Result(t).Sentences; !slices.Equal(got, want) {
		t.Errorf("the sentences are %v, want %v", got, want)
	}
	r := s.Post("/v1/score", `{"text": `+text+`}`, "x-api-key", alice)
	if strings.Contains(r.Body, "sentences") {
		t.Errorf("nobody asked for sentences: %s", r.Body)
	}
	if r := s.Post("/v1/score", `{"text": "x"}`, "x-api-key", alice); r.Code(t) != "rate_limited" {
		t.Errorf("%d %s", r.Status, r.Body)
	}

	s = servertest.Serve(t, toxscreen.New(servertest.Words, toxscreen.WithMaxBytes(100)), server.Config{})
	r = s.Post("/v1/score", `{"texts": [`+text+`, "", {"id": "b", "text": "You idiot"}, "`+strings.Repeat("x", 101)+`"], "sentences": true, "offset_unit": "utf16"}`)
	lines := strings.Split(strings.TrimSpace(r.Body), "\n")
	for i, want := range []string{`"sentences":[{"start":0,"end":16,"score":0.1},{"start":16,"end":27,"score":0.9},`, `{"score":0.1,`, `"sentences":[{"start":0,"end":9,"score":0.9}]`, `"code":"too_long"`} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d has no %s: %s", i, want, lines[i])
		}
	}
	if strings.Contains(lines[1], "sentences") {
		t.Errorf("an empty text has sentences: %s", lines[1])
	}
	if r := s.Post("/v1/score?format=writer", `{"text": "x", "sentences": true}`); !strings.Contains(r.Body, "sentences is only for the native format, not for writer") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// A late result has the sentences too. The judge reads the whole text and no sentence;
// an only sentence has the score of the text.
func TestSentencesOfALateResult(t *testing.T) {
	verdict := servertest.Insult()
	toxic := toxscreen.Toxicity
	verdict.Aspects[0].Attribute = &toxic
	for text, want := range map[string][]toxscreen.Passage{
		"Hello. You idiot, maybe.": {{Start: 0, End: 7, Score: 0.1}, {Start: 7, End: 24, Score: 0.5}},
		"Oh, maybe.":               {{Start: 0, End: 10, Score: 0.9}},
	} {
		asked, answer := make(chan string, 3), make(chan struct{})
		judge := func(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
			asked <- text
			<-answer
			return verdict, nil
		}
		results, _ := servertest.Results(t)
		s := servertest.Serve(t, servertest.Judged(judge), server.Config{Results: results})
		first := s.Post("/v1/score", `{"text": "`+text+`", "sentences": true}`).Result(t)
		if !first.Judge.Pending || len(first.Sentences) != len(want) {
			t.Errorf("%+v", first)
		}
		path := "/v1/score/" + first.Judge.ID
		close(answer)
		servertest.Wait(t, "the verdict is there", func() bool { return !s.Get(path).Result(t).Judge.Pending })
		if got := s.Get(path).Result(t).Sentences; !slices.Equal(got, want) {
			t.Errorf("the sentences are %v, want %v", got, want)
		}
		if got := <-asked; got != text || len(asked) > 0 {
			t.Errorf("the judge read %q and %d more", got, len(asked))
		}
	}
}

func TestManyTextsAreAnsweredInOrder(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words, toxscreen.WithMaxBytes(1000)), server.Config{})
	texts := []any{"you idiot", map[string]string{"id": "b", "text": "hello"}, strings.Repeat("x", 1001)}
	for i := range 200 {
		texts = append(texts, map[string]string{"id": fmt.Sprint(i), "text": "hello"})
	}
	body, err := json.Marshal(map[string]any{"texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Post("/v1/score", string(body))
	lines := strings.Split(strings.TrimSpace(r.Body), "\n")
	if r.Status != http.StatusOK || r.Header.Get("Content-Type") != "application/x-ndjson" || len(lines) != len(texts) {
		t.Fatalf("status %d, %d lines of %s", r.Status, len(lines), r.Header.Get("Content-Type"))
	}
	if !strings.HasPrefix(lines[0], `{"score":0.9`) || !strings.HasPrefix(lines[1], `{"id":"b","score":0.1`) || !strings.HasPrefix(lines[2], `{"error":{"code":"too_long"`) {
		t.Errorf("%s", strings.Join(lines[:3], "\n"))
	}
	for i, line := range lines[3:] {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"id":"%d",`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	if r := s.Post("/v1/score", `{"texts": []}`); r.Status != http.StatusOK || r.Body != "" {
		t.Errorf("no texts: status %d, %q", r.Status, r.Body)
	}
}

// Every rejection names the reason, and has a status of the client's fault.
func TestBadRequestsAreRefusedWithTheReason(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words, toxscreen.WithMaxBytes(100)), server.Config{MaxTexts: 2, MaxBody: 1000})
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
		r := s.Post("/v1/score", body)
		if r.Status < 400 || r.Status >= 500 || !strings.Contains(r.Body, want[:1]) {
			t.Errorf("%.60s: status %d, %s", body, r.Status, r.Body)
		}
		var failure struct{ Error struct{ Message string } }
		if err := json.Unmarshal([]byte(r.Body), &failure); err != nil || !strings.Contains(failure.Error.Message, want) {
			t.Errorf("%.60s: %q does not say %q", body, failure.Error.Message, want)
		}
	}
}

// A body without a Content-Length is limited, too.
func TestABodyOfUnknownLengthIsBounded(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{MaxBody: 1000})
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
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	if r := s.Get("/v1/scores"); r.Status != http.StatusNotFound || r.Code(t) != "not_found" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if r := s.Get("/v1/score"); r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "POST" || r.Code(t) != "method_not_allowed" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	for _, c := range []struct{ method, path, allow, want string }{
		{"POST", "/v1alpha1/comments:foo", "", `404 {"error":{"code":404,"message":"there is nothing here`},
		{"GET", "/v1alpha1/comments:analyze", "POST", `405 {"error":{"code":405,"message":"failed to answer GET: this route takes POST","status":"UNIMPLEMENTED"}}`},
		{"GET", "/batch", "POST", `405 {"error":{"code":405,`},
		{"POST", "/$discovery/rest", "GET", `405 {"error":{"code":405,`},
		{"GET", "/v1/moderations", "POST", `405 {"error":{"message":"failed to answer GET: this route takes POST","type":"invalid_request_error","param":null,"code":null}}`},
		{"POST", "/v1/moderations/x", "", `404 {"error":{"message":"there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all","type":"invalid_request_error","param":null,"code":"unknown_url"}}`},
		{"DELETE", "/v1/models/tiny@1.0.0", "GET", `405 {"error":{"message":`},
		{"GET", "/v1/evaluate", "POST", `405 {"detail":"failed to answer GET: this route takes POST"}`},
		{"POST", "/", "GET", `405 {"error":{"code":"method_not_allowed",`},
	} {
		if r := s.Ask(c.method, c.path, ""); !strings.HasPrefix(r.Text(), c.want) || r.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %s %s", c.method, c.path, r.Status, r.Header, r.Body)
		}
	}
	if r := s.Get("/v1/score/nothing"); r.Status != http.StatusNotFound {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	if r := s.Get("/v1/openapi.json"); r.Status != http.StatusOK || !strings.Contains(r.Body, `"openapi": "3.1.0"`) {
		t.Errorf("%d %.100s", r.Status, r.Body)
	}
}

// Another shape has what the client sent, but for what it cannot use. Its own kind of
// question to the judge counts for the caller's rate, like scoring.
func TestAnAnswerMayHaveAnotherShape(t *testing.T) {
	says := native.Shape{Name: "says", Replies: true, Answer: func(ctx context.Context, c *server.Call, q native.Question) (any, error) {
		return c.Ask(ctx, q.Text, func(ctx context.Context) (any, error) {
			if q.Text.Text == "odd" {
				return nil, errors.New("the judge gave no verdict: it wrote nothing")
			}
			return []any{q.ID, q.Text.Text, q.Input, toxscreen.MayStore(ctx)}, nil
		})
	}}
	alice, a := servertest.NewKey(t, "alice", "rate=0.001 burst=2")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{
		Keys: []server.Key{a}, Formats: []server.Format{native.Format("", says, native.Shape{Name: "plain"})},
	})
	for _, test := range []struct {
		format, body string
		status       int
		want         string
	}{
		{"says", `{"text": "so", "id": "a", "input": "how?", "do_not_store": true}`, http.StatusOK, `["a","so","how?",false]`},
		{"says", `{"text": "odd"}`, http.StatusBadGateway, `{"error":{"code":"not_judged","message":"the judge gave no verdict: it wrote nothing"}}`},
		{"says", `{"text": "so"}`, http.StatusTooManyRequests, `{"error":{"code":"rate_limited"`},
		{"plain", `{"texts": ["so"]}`, http.StatusBadRequest, `{"error":{"code":"invalid_request","message":"failed to read the request: the format plain is for one text`},
		{"plain", `{"text": "so", "input": "how?"}`, http.StatusBadRequest, `{"error":{"code":"invalid_request","message":"failed to read the request: input is only for the formats says"}}`},
		{"native", `{"text": "so", "input": "how?"}`, http.StatusBadRequest, `{"error":{"code":"invalid_request","message":"failed to read the request: input is only for the formats says"}}`},
		{"other", `{"text": "so"}`, http.StatusBadRequest, `{"error":{"code":"invalid_request","message":"failed to read the request: there is no format \"other\": there are native and says, plain"}}`},
	} {
		// The document names the shapes that toxscreen has.
		answer := httptest.NewRecorder()
		s.API.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/score?key="+alice+"&format="+test.format, strings.NewReader(test.body)))
		if answer.Code != test.status {
			t.Errorf("%s %s: status %d, want %d", test.format, test.body, answer.Code, test.status)
		}
		if !strings.HasPrefix(answer.Body.String(), test.want) {
			t.Errorf("%s %s: %s, want %s", test.format, test.body, answer.Body, test.want)
		}
	}
}

// A server on another scale than the guideline's names it in each result, as the document says.
func TestResultsNameTheirScale(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Perspective{Classifier: servertest.Words}), server.Config{})
	r := s.Post("/v1/score", `{"text": "you idiot"}`)
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `"scale":"perspective"`) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
