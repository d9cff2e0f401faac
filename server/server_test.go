package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// classify is a Classifier made of a function. These tests are about the server;
// those of cmd/toxscreen serve a real model.
type classify func(ctx context.Context, text string) (toxscreen.Classification, error)

func (c classify) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	return c(ctx, text)
}

func (c classify) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{
		Version: "tiny@1.0.0", Parallel: 2,
		Attributes: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.Insult}, Thresholds: scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7),
	}
}

// scores makes Scores of attributes and numbers in turn.
func scores(pairs ...any) toxscreen.Scores {
	var s toxscreen.Scores
	for i := 0; i < len(pairs); i += 2 {
		s.Set(pairs[i].(toxscreen.Attribute), pairs[i+1].(float64))
	}
	return s
}

// words finds the word idiot: a text with it is toxic, and the word is a span. A
// text with the word maybe is borderline.
var words = classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
	found := toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.1, toxscreen.Insult, 0.05), Spans: []toxscreen.Span{}}
	if at := strings.Index(text, "idiot"); at >= 0 {
		found.Scores = scores(toxscreen.Toxicity, 0.9, toxscreen.Insult, 0.8)
		found.Spans = []toxscreen.Span{{Start: at, End: at + len("idiot"), Attributes: scores(toxscreen.Insult, 0.8)}}
	}
	if strings.Contains(text, "maybe") {
		found.Scores = scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.5)
	}
	found.Windows = []toxscreen.Window{{Start: 0, End: len(text), Scores: found.Scores}}
	return found, nil
})

// lines finds the word idiot in each line of a text, which is a window of its own.
var lines = classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
	found, err := words(ctx, text)
	found.Windows = nil
	for line := range strings.Lines(text) {
		one, _ := words(ctx, line)
		start := 0
		if n := len(found.Windows); n > 0 {
			start = found.Windows[n-1].End
		}
		found.Windows = append(found.Windows, toxscreen.Window{Start: start, End: start + len(line), Scores: one.Scores})
	}
	return found, err
})

// judging is a judge.
type judging func(ctx context.Context, text string) (toxscreen.Verdict, error)

func (j judging) Judge(ctx context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	return j(ctx, text)
}

// insult is the verdict that a text is an insult.
func insult() toxscreen.Verdict {
	attribute, p, score, alone := toxscreen.Insult, toxscreen.Probability(0.9), toxscreen.Probability(3), true
	return toxscreen.Verdict{
		Rubric: "attributes@1", Model: "judge@2", Scale: 4, Score: &score, Warnings: []string{},
		Passage: &toxscreen.Range{Start: 0, End: 1}, Core: []toxscreen.Range{{Start: 0, End: 1}},
		Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &attribute, Yes: true, PYes: &p, YesAlone: &alone, PYesAlone: &p}},
	}
}

// opinion is the option of an Opinion: of a judge that is asked about the texts in a band, and of
// a fusion. Both may be nil.
func opinion(f fuser, j asker, band toxscreen.Band) toxscreen.Option {
	o := toxscreen.Opinion{Decide: band.Decide}
	if j != nil {
		o.Ask = j.Judge
	}
	if f != nil {
		o.Fuse, o.Version = f.Fuse, f.Version()
	}
	return toxscreen.WithOpinion(o)
}

type asker interface {
	Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error)
}

type fuser interface {
	Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error)
	Version() string
}

// raising is a fusion that takes over the judge's probabilities.
type raising struct{}

func (raising) Version() string { return "raising" }

func (raising) Fuse(s toxscreen.Scores, v *toxscreen.Verdict) (toxscreen.Fused, error) {
	fused := toxscreen.Fused{Scores: s}
	if v == nil {
		return fused, nil
	}
	for a, p := range v.Measured().All() {
		fused.Scores.Set(a, p)
		fused.Evidence.Set(a, 1)
	}
	return fused, nil
}

// judged returns a screener on words whose borderline texts go to a judge.
func judged(j asker) *toxscreen.Screener {
	return toxscreen.New(words, opinion(raising{}, j, toxscreen.Band{Low: 0.4, High: 0.6}))
}

// site is a server that answers over HTTP. Every request to its native API and the
// answer are validated against the OpenAPI document.
type site struct {
	*httptest.Server
	server *server.Server
	log    *logged
	router routers.Router
	t      testing.TB
}

// logged is what a server logged.
type logged struct {
	lock sync.Mutex
	b    bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.b.String()
}

func serve(t testing.TB, screener *toxscreen.Screener, c server.Config) *site {
	t.Helper()
	log := &logged{}
	c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	srv, err := server.New(screener, c)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{httptest.NewServer(srv), srv, log, document(t), t}
	t.Cleanup(func() {
		s.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var document = func() func(t testing.TB) routers.Router {
	load := sync.OnceValues(func() (routers.Router, error) {
		data, err := os.ReadFile("openapi.json")
		if err != nil {
			return nil, err
		}
		doc, err := openapi3.NewLoader().LoadFromData(data)
		if err != nil {
			return nil, err
		}
		if err := doc.Validate(context.Background()); err != nil {
			return nil, err
		}
		return gorillamux.NewRouter(doc)
	})
	return func(t testing.TB) routers.Router {
		t.Helper()
		router, err := load()
		if err != nil {
			t.Fatal(err)
		}
		return router
	}
}()

// reply is an answer with its body.
type reply struct {
	status int
	header http.Header
	body   string
}

// result reads the body as a result.
func (r reply) result(t testing.TB) toxscreen.Result {
	t.Helper()
	var result toxscreen.Result
	if err := json.Unmarshal([]byte(r.body), &result); err != nil || r.status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", r.status, err, r.body)
	}
	return result
}

// code reads the body as a native failure.
func (r reply) code(t testing.TB) string {
	t.Helper()
	var failure struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(r.body), &failure); err != nil || r.status < 400 || failure.Error.Message == "" {
		t.Fatalf("status %d, %v: %s", r.status, err, r.body)
	}
	return failure.Error.Code
}

// post sends a body. Headers come in pairs.
func (s *site) post(path, body string, headers ...string) reply {
	s.t.Helper()
	return s.ask(http.MethodPost, path, body, headers...)
}

func (s *site) get(path string, headers ...string) reply {
	s.t.Helper()
	return s.ask(http.MethodGet, path, "", headers...)
}

func (s *site) ask(method, path, body string, headers ...string) reply {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, s.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.check(r, body, response, data)
	return reply{response.StatusCode, response.Header, string(data)}
}

// check validates a request and its answer against the document.
func (s *site) check(r *http.Request, body string, response *http.Response, data []byte) {
	s.t.Helper()
	described := r.Clone(r.Context())
	described.URL.Scheme, described.URL.Host = "", ""
	described.Host = ""
	route, params, err := s.router.FindRoute(described)
	if err != nil {
		if !errors.Is(err, routers.ErrPathNotFound) && response.StatusCode != http.StatusMethodNotAllowed && r.Method != http.MethodOptions {
			s.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		return
	}
	described.Body = io.NopCloser(strings.NewReader(body))
	input := &openapi3filter.RequestValidationInput{
		Request: described, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	err = openapi3filter.ValidateRequest(r.Context(), input)
	if response.StatusCode < 300 && err != nil {
		s.t.Errorf("%s %s was answered, but the document does not allow it: %v", r.Method, r.URL.Path, err)
	}
	if strings.Contains(response.Header.Get("Content-Type"), "ndjson") {
		s.lines(route, data)
		return
	}
	output := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Options: input.Options}
	output.SetBodyBytes(data)
	if err := openapi3filter.ValidateResponse(r.Context(), output); err != nil {
		s.t.Errorf("%s %s: the answer is not what the document says: %v", r.Method, r.URL.Path, err)
	}
}

// lines validates the first lines of an answer against the document.
func (s *site) lines(route *routers.Route, data []byte) {
	s.t.Helper()
	line := route.Spec.Components.Schemas["Line"].Value
	for i, data := range bytes.SplitAfter(data, []byte("\n")) {
		if len(data) == 0 || i == 5 {
			break
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			s.t.Errorf("%v: %s", err, data)
			continue
		}
		if err := line.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			s.t.Errorf("a line is not what the document says: %v", err)
		}
	}
}

// wait returns when a condition holds, and fails after 10 seconds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	waitFor(t, 10*time.Second, what, holds)
}

func waitFor(t testing.TB, most time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
