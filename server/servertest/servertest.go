// Package servertest serves models and judges made of functions, for tests of the server and
// of its formats:
//
//	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
//	s.Post("/v1/score", `{"text": "you idiot"}`)
package servertest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/language"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/formats"
)

// Classify is a Classifier made of a function. Tests of cmd/toxscreen serve a real model.
type Classify func(ctx context.Context, text string) (toxscreen.Classification, error)

// Classify implements [toxscreen.Classifier].
func (c Classify) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	return c(ctx, text)
}

// Info implements [toxscreen.Classifier].
func (c Classify) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{
		Version: "tiny@1.0.0", Parallel: 2,
		Attributes: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.Insult}, Thresholds: Scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7),
	}
}

// Scores makes Scores of attributes and numbers in turn.
func Scores(pairs ...any) toxscreen.Scores {
	var s toxscreen.Scores
	for pair := range slices.Chunk(pairs, 2) {
		s.Set(pair[0].(toxscreen.Attribute), pair[1].(float64))
	}
	return s
}

// Words finds the word idiot: a text with it is toxic, and the word is a span. A
// text with the word maybe is borderline.
var Words = Classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
	found := toxscreen.Classification{Scores: Scores(toxscreen.Toxicity, 0.1, toxscreen.Insult, 0.05), Spans: []toxscreen.Span{}}
	if at := strings.Index(text, "idiot"); at >= 0 {
		found.Scores = Scores(toxscreen.Toxicity, 0.9, toxscreen.Insult, 0.8)
		found.Spans = []toxscreen.Span{{Start: at, End: at + len("idiot"), Attributes: Scores(toxscreen.Insult, 0.8)}}
	}
	if strings.Contains(text, "maybe") {
		found.Scores = Scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.5)
	}
	found.Windows = []toxscreen.Window{{Start: 0, End: len(text), Scores: found.Scores}}
	return found, nil
})

// Perspective is a model on Perspective's scale.
type Perspective struct{ toxscreen.Classifier }

// Info implements [toxscreen.Classifier].
func (p Perspective) Info() toxscreen.ModelInfo {
	info := p.Classifier.Info()
	info.Scale = toxscreen.PerspectiveScale
	return info
}

// Insult is the verdict that a text is an insult.
func Insult() toxscreen.Verdict {
	attribute, p, score, alone := toxscreen.Insult, toxscreen.Probability(0.9), toxscreen.Probability(3), true
	return toxscreen.Verdict{
		Rubric: "attributes@1", Model: "judge@2", Scale: 4, Score: &score, Warnings: []string{},
		Passage: &toxscreen.Range{Start: 0, End: 1}, Core: []toxscreen.Range{{Start: 0, End: 1}},
		Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &attribute, Yes: true, PYes: &p, YesAlone: &alone, PYesAlone: &p}},
	}
}

// Ask is a judge, as [toxscreen.Opinion] has it.
type Ask = func(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error)

// Judged returns a screener on words whose borderline texts go to a judge.
func Judged(ask Ask) *toxscreen.Screener { return toxscreen.New(Words, Raised(ask)) }

// Raised is the option of a judge that is asked about borderline texts and whose probabilities
// become the scores.
func Raised(ask Ask) toxscreen.Option {
	return toxscreen.WithOpinion(toxscreen.Opinion{
		Decide: toxscreen.Band{Low: 0.4, High: 0.6}.Decide, Ask: ask, Version: "raising",
		Fuse: func(s toxscreen.Scores, v *toxscreen.Verdict) (toxscreen.Fused, error) {
			fused := toxscreen.Fused{Scores: s}
			if v == nil {
				return fused, nil
			}
			for a, p := range v.Measured().All() {
				fused.Scores.Set(a, p)
				fused.Evidence.Set(a, 1)
			}
			return fused, nil
		},
	})
}

// Site is a server that answers over HTTP. Every request to its native API and the
// answer are validated against the OpenAPI document.
type Site struct {
	*httptest.Server
	API *server.Server // the server itself
	Log *Logged

	router routers.Router // of the document
	tb     testing.TB
}

// Logged is what a server logged.
type Logged struct {
	lock sync.Mutex
	b    bytes.Buffer
}

// Write implements [io.Writer].
func (l *Logged) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.b.Write(p)
}

// String returns all lines.
func (l *Logged) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.b.String()
}

// New is [server.New] with all formats, unless c has others.
func New(screener *toxscreen.Screener, c server.Config) (*server.Server, error) {
	if c.Formats == nil {
		c.Formats = formats.All(formats.Config{})
	}
	return server.New(screener, c)
}

// Serve serves all formats, unless c has others, until the test ends.
func Serve(tb testing.TB, screener *toxscreen.Screener, c server.Config) *Site {
	tb.Helper()
	log := &Logged{}
	c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	srv, err := New(screener, c)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Site{httptest.NewServer(srv), srv, log, documentOf(tb, srv), tb}
	tb.Cleanup(func() {
		s.Close()
		srv.Close()
	})
	return s
}

// document is the parsed document of the native format, the same for all servers.
var document struct {
	sync.Once
	router routers.Router
	err    error
}

// documentOf returns the document of a server; nil if it does not serve the native format.
func documentOf(tb testing.TB, srv *server.Server) routers.Router {
	tb.Helper()
	answer := httptest.NewRecorder()
	srv.ServeHTTP(answer, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/v1/openapi.json", nil))
	if answer.Code != http.StatusOK {
		return nil
	}
	document.Do(func() { document.router, document.err = parse(answer.Body.Bytes()) })
	if document.err != nil {
		tb.Fatal(document.err)
	}
	return document.router
}

func parse(data []byte) (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
}

// Reply is an answer with its body.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Result reads the body as a result.
func (r Reply) Result(tb testing.TB) toxscreen.Result {
	tb.Helper()
	var result toxscreen.Result
	if err := json.Unmarshal([]byte(r.Body), &result); err != nil || r.Status != http.StatusOK {
		tb.Fatalf("status %d, %v: %s", r.Status, err, r.Body)
	}
	return result
}

// Code reads the body as a native failure.
func (r Reply) Code(tb testing.TB) string {
	tb.Helper()
	var failure struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(r.Body), &failure); err != nil || r.Status < 400 || failure.Error.Message == "" {
		tb.Fatalf("status %d, %v: %s", r.Status, err, r.Body)
	}
	return failure.Error.Code
}

// Post sends a body. Headers come in pairs.
func (s *Site) Post(path, body string, headers ...string) Reply {
	s.tb.Helper()
	return s.Ask(http.MethodPost, path, body, headers...)
}

// Get asks for a path. Headers come in pairs.
func (s *Site) Get(path string, headers ...string) Reply {
	s.tb.Helper()
	return s.Ask(http.MethodGet, path, "", headers...)
}

// Ask sends a request. Headers come in pairs.
func (s *Site) Ask(method, path, body string, headers ...string) Reply {
	s.tb.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(s.tb.Context()), method, s.URL+path, in)
	if err != nil {
		s.tb.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client().Do(r)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.check(r, body, response, data)
	return Reply{response.StatusCode, response.Header, string(data)}
}

// check validates a request and its answer against the document.
func (s *Site) check(r *http.Request, body string, response *http.Response, data []byte) {
	s.tb.Helper()
	described := r.Clone(r.Context())
	described.URL.Scheme, described.URL.Host = "", ""
	described.Host = ""
	if s.router == nil {
		return
	}
	route, params, err := s.router.FindRoute(described)
	if err != nil {
		if !errors.Is(err, routers.ErrPathNotFound) && response.StatusCode != http.StatusMethodNotAllowed && r.Method != http.MethodOptions {
			s.tb.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
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
		s.tb.Errorf("%s %s was answered, but the document does not allow it: %v", r.Method, r.URL.Path, err)
	}
	if strings.Contains(response.Header.Get("Content-Type"), "ndjson") {
		s.lines(route, data)
		return
	}
	output := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Options: input.Options}
	output.SetBodyBytes(data)
	if err := openapi3filter.ValidateResponse(r.Context(), output); err != nil {
		s.tb.Errorf("%s %s: the answer is not what the document says: %v", r.Method, r.URL.Path, err)
	}
}

// lines validates the first lines of an answer against the document.
func (s *Site) lines(route *routers.Route, data []byte) {
	s.tb.Helper()
	line := route.Spec.Components.Schemas["Line"].Value
	for i, data := range bytes.SplitAfter(data, []byte("\n")) {
		if len(data) == 0 || i == 5 {
			break
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			s.tb.Errorf("%v: %s", err, data)
			continue
		}
		if err := line.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			s.tb.Errorf("a line is not what the document says: %v", err)
		}
	}
}

// Wait returns when a condition holds, and fails after 30 seconds.
func Wait(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("waited in vain until %s", what)
		}
	}
}

// NewKey returns a new key and the server's side of it.
func NewKey(tb testing.TB, name, settings string) (string, server.Key) {
	tb.Helper()
	key, line, err := server.NewKey(name)
	if err != nil {
		tb.Fatal(err)
	}
	if strings.Contains(line, strings.TrimPrefix(key, "tox_")) {
		tb.Fatalf("the line %s holds the key", line)
	}
	keys, err := server.ParseKeys([]byte("# the clients\n\n" + line + " " + settings + "\n"))
	if err != nil {
		tb.Fatal(err)
	}
	return key, keys[0]
}

// Debug returns what the debug handler of a server answers for a path.
func Debug(tb testing.TB, srv *server.Server, path string) string {
	tb.Helper()
	w := httptest.NewRecorder()
	srv.Debug().ServeHTTP(w, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, path, nil))
	return w.Body.String()
}

// Finder returns a finder of what has a form.
func Finder(tb testing.TB, s pii.Settings) *pii.Finder {
	tb.Helper()
	f, err := pii.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// English is a Classifier of English, made of one that does not look at the language.
type English struct{ Of toxscreen.Classifier }

// Classify implements [toxscreen.Classifier].
func (e English) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	found, err := e.Of.Classify(ctx, text, depth)
	found.Language.Code = "en"
	if read := language.New([]string{"en"}).Read(text); read.Foreign {
		found.Language = toxscreen.Language{Code: read.Other.Code, Foreign: true, Certain: read.Certain}
	}
	return found, err
}

// Info implements [toxscreen.Classifier].
func (e English) Info() toxscreen.ModelInfo {
	info := e.Of.Info()
	info.Languages = []string{"en"}
	return info
}

// Batch is a batch of calls of the Perspective API, paths and bodies, as
// google-api-python-client sends it, each named after its place.
func Batch(calls ...[2]string) (contentType, body string) {
	var b strings.Builder
	for i, c := range calls {
		fmt.Fprintf(&b, "--===============1==\nContent-Type: application/http\nMIME-Version: 1.0\nContent-Transfer-Encoding: binary\nContent-ID: <b2f7b5f2-0000-4000-8000-000000000000 +\n call%%20%d>\n\n"+
			"POST %s HTTP/1.1\nContent-Type: application/json\nMIME-Version: 1.0\nHost: 127.0.0.1\ncontent-length: %d\n\n%s\n", i, c[0], len(c[1]), c[1])
	}
	return `multipart/mixed; boundary="===============1=="`, b.String() + "--===============1==--\n"
}

// Text returns the status and the body.
func (r Reply) Text() string { return fmt.Sprint(r.Status, " ", r.Body) }

// Attributes returns a result with these scores and a threshold of 0.5 for each.
func Attributes(scores map[toxscreen.Attribute]toxscreen.Probability) toxscreen.Result {
	r := toxscreen.Result{Attributes: toxscreen.AttributeResults{}, OffsetUnit: toxscreen.Bytes}
	for a, p := range scores {
		r.Attributes[a] = toxscreen.AttributeResult{Score: p, Classifier: p, Threshold: 0.5, Flagged: p >= 0.5}
		r.Flagged = r.Flagged || p >= 0.5
	}
	r.Score = scores[toxscreen.Toxicity]
	return r
}

// Toxicity returns a result with toxicity alone.
func Toxicity(p toxscreen.Probability) toxscreen.Result {
	return Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: p})
}

// Sentences splits a text into sentences and gives each its toxicity, 0 where none is
// given.
func Sentences(text string, scores ...toxscreen.Probability) []server.Sentence {
	var all []server.Sentence
	for i, sentence := range server.SplitSentences(text) {
		score := toxscreen.Probability(0)
		if i < len(scores) {
			score = scores[i]
		}
		all = append(all, server.Sentence{Text: sentence, Result: Toxicity(score)})
	}
	return all
}

// JSON returns the JSON form of a value.
func JSON(tb testing.TB, value any) string {
	tb.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

// Documented compares a value with an example in a system's documentation, with
// all of its keys and no others.
func Documented(tb testing.TB, file string, got any) {
	tb.Helper()
	example, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var want, shown any
	if err := json.Unmarshal(example, &want); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	if err := json.Unmarshal([]byte(JSON(tb, got)), &shown); err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		tb.Errorf("%s: %s", file, diff)
	}
}

// Slow is a judge that answers when the test says so.
type Slow struct {
	Answer chan struct{}
	Asked  atomic.Int64
	Ended  atomic.Int64 // calls that the server cancelled
	Stored atomic.Int64 // calls whose verdict may be stored
}

// NewSlow returns a judge that waits for one value of Answer for each text.
func NewSlow() *Slow { return &Slow{Answer: make(chan struct{})} }

// Judge returns the verdict when the test says so, for [toxscreen.Opinion].Ask.
func (s *Slow) Judge(ctx context.Context, _ string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	s.Asked.Add(1)
	if toxscreen.MayStore(ctx) {
		s.Stored.Add(1)
	}
	select {
	case <-s.Answer:
		return Insult(), nil
	case <-ctx.Done():
		s.Ended.Add(1)
		return toxscreen.Verdict{}, ctx.Err()
	}
}

// Results opens a file of late results. all returns those that are in it, by id.
func Results(tb testing.TB) (kept *store.Results, all func() map[string]string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "results.db")
	kept, err := store.OpenResults(path, 1000, time.Hour)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	return kept, func() map[string]string {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			tb.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(tb.Context(), "SELECT key, value FROM results")
		if err != nil {
			tb.Fatal(err)
		}
		defer rows.Close()
		found := map[string]string{}
		for rows.Next() {
			var id, value string
			if err := rows.Scan(&id, &value); err != nil {
				tb.Fatal(err)
			}
			found[id] = value
		}
		if err := rows.Err(); err != nil {
			tb.Fatal(err)
		}
		return found
	}
}

// Feedback opens a file of label sets.
func Feedback(tb testing.TB, o store.FeedbackOptions) *store.Feedback {
	tb.Helper()
	f, err := store.OpenFeedback(filepath.Join(tb.TempDir(), "feedback.db"), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}
