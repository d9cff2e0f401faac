package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/formats"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// route is a route that reads a body, or its URL.
type route struct {
	api          string
	method, path string
	contentType  string
	seeds        []string // valid bodies
}

// routes are the routes that are fuzzed: those of all APIs.
var routes = []route{
	{"native", http.MethodPost, "/v1/score", "application/json", []string{
		`{"text": "you idiot"}`,
		`{"id": "a", "text": "maybe 😀 e\u0301", "thresholds": {"insult": 0.95}, "offset_unit": "utf16", "judge_wait": "0s", "do_not_store": true}`,
		`{"texts": ["you idiot", {"id": "b", "text": "maybe \ud800\u0000"}, ""], "judge_wait": "1s", "id": null}`,
	}},
	{"native", http.MethodPost, "/v1/pii", "application/json", []string{
		`{"text": "zoe@example.com 😀, SSN 856-45-6789", "mask": {"US_SSN": {"type": "mask", "masking_char": "#", "chars_to_mask": 7}}, "offset_unit": "code_point"}`,
		`{"texts": ["idiot@example.com", {"id": "b", "text": "maybe"}], "types": ["EMAIL_ADDRESS", "BADGE"], "min_score": 0.1, "mask": {"DEFAULT": {"type": "encrypt", "key": "1111111111111111"}},
			"recognizers": [{"name": "badges", "supported_entity": "BADGE", "patterns": [{"name": "b", "regex": "b\\d+", "score": 0.5}], "deny_list": ["maybe"], "context": ["badge"]}]}`,
	}},
	{"native", http.MethodGet, "/v1/score/4YTBZK7SVWM2PNQ6", "", []string{""}},
	{"native", http.MethodPost, "/v1/feedback", "application/json", []string{
		`{"text": "you idiot", "labels": {"toxicity": 1, "insult": 0.5}, "weight": 2, "community": "news", "token": "a"}`,
	}},
	{"perspective", http.MethodPost, "/v1alpha1/comments:analyze", "application/json", []string{
		`{comment: {text: "you idiot. maybe not!"}, requestedAttributes: {TOXICITY: {}, "INSULT": []}, spanAnnotations: true}`,
		`{"comment": {"text": "maybe 😀", "type": "PLAIN_TEXT"}, "context": {"entries": [{"text": "hello"}]}, "languages": ["en"], "doNotStore": true,
			"requestedAttributes": {"TOXICITY@6": {"scoreType": "PROBABILITY", "scoreThreshold": 0.2}}, "clientToken": "a", "sessionId": "b", "communityId": "news"}`,
	}},
	{"perspective", http.MethodPost, "/v1alpha1/comments:suggestscore", "application/json", []string{
		`{"comment": {"text": "you idiot"}, "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}, "spanScores": [{"begin": 0, "end": 3, "score": {"value": 1}}]}},
			"languages": ["en"], "communityId": "Coral:a", "clientToken": "comment-1"}`,
	}},
	{"perspective", http.MethodPost, "/batch", `multipart/mixed; boundary="===1=="`, []string{strings.ReplaceAll(`--===1==
Content-Type: application/http
MIME-Version: 1.0
Content-ID: <4b2c + 1>

POST /v1alpha1/comments:analyze?key=k&alt=json HTTP/1.1
Content-Type: application/json
Host: tox.example.org

{"comment": {"text": "you idiot"}, "requestedAttributes": {"TOXICITY": {}}}
--===1==
Content-Type: application/http
Content-ID: <4b2c + a%20long%20id>

POST /v1alpha1/comments:suggestscore?key=k HTTP/1.1

{"comment": {"text": "maybe"}, "attributeScores": {"INSULT": {"summaryScore": {"value": 0}}}}
--===1==--
`, "\n", "\r\n")}},
	{"perspective", http.MethodGet, "/$discovery/rest", "", []string{""}},
	{"openai", http.MethodPost, "/v1/moderations", "application/json", []string{
		`{"model": "omni-moderation-latest", "input": "you idiot"}`, `{"input": ["you idiot", "maybe"]}`,
		`{"input": [{"type": "text", "text": "you idiot"}, {"type": "text", "text": "maybe 😀"}]}`,
	}},
	{"litellm", http.MethodPost, "/beta/litellm_basic_guardrail_api", "application/json", []string{
		`{"texts": ["you idiot", "maybe"], "images": [], "tools": [], "request_data": {}, "input_type": "request", "litellm_call_id": "a",
			"additional_provider_specific_params": {"threshold": 0.8, "thresholds": {"insult": 0.5}, "on_flagged": "mask"}}`,
	}},
	{"patronus", http.MethodPost, "/v1/evaluate", "application/json", []string{
		`{"evaluators": [{"evaluator": "toxicity", "criteria": "system:detect-all-toxicity", "explain_strategy": "never"}, {"evaluator": "pii"}], "evaluated_model_input": "hello",
			"evaluated_model_output": "you idiot. maybe 😀", "evaluated_model_retrieved_context": ["a"], "tags": {"a": "b"}, "capture": "none", "app": "x"}`,
	}},
	{"presidio", http.MethodPost, "/analyze", "application/json", []string{
		`{"text": "zoe@example.com 😀, SSN 856-45-6789", "language": "en", "return_decision_process": true, "allow_list": ["a.*b"], "allow_list_match": "regex", "regex_flags": 26}`,
		`{"text": ["idiot@example.com", "maybe"], "language": "en", "score_threshold": 0.1, "entities": ["EMAIL_ADDRESS", "ZIP"], "context": ["zip"],
			"ad_hoc_recognizers": [{"name": "z", "supported_language": "en", "supported_entity": "ZIP", "patterns": [{"name": "b", "regex": "\\d{5}", "score": 0.01}], "deny_list": ["maybe"]}]}`,
	}},
	{"presidio", http.MethodPost, "/anonymize", "application/json", []string{
		`{"text": "maybe 😀 idiot", "anonymizers": {"DEFAULT": {"type": "hash", "salt": "1111111111111111"}, "A": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": true}},
			"analyzer_results": [{"start": 0, "end": 5, "score": 0.8, "entity_type": "A"}, {"start": 2, "end": 7, "score": 0.6, "entity_type": "B"}, {"start": 8, "end": 13, "score": 1, "entity_type": "A"}]}`,
	}},
	{"presidio", http.MethodPost, "/deanonymize", "application/json", []string{
		`{"text": "e6HnOMnIxbd4a8Qea44LshQDnjvxwzBIaAz-YqHNnMW2mC5r3AWoay8Spsoajyyy", "deanonymizers": {"DEFAULT": {"type": "deanonymize_keep"}}, "anonymizer_results": [{"start": 0, "end": 64, "entity_type": "A"}]}`,
	}},
	{"writer", http.MethodPost, "/v1/toxic-check", "application/json", []string{`{"prompt": "you idiot", "completion": "maybe"}`}},
}

// weird are values that fields do not expect.
var weird = []any{
	nil, true, false, 0, -1, 1e308, 5e-324, 0.5, 1 << 53, "", "\x00", "idiot", "maybe", "ａ\u202eb\u0301", "\U0010ffff", "NaN", "1e999", "-1s", "9999999h",
	"\"}]", strings.Repeat("idiot ", 5000), []any{}, map[string]any{}, []any{nil}, []any{[]any{[]any{}}}, map[string]any{"text": "idiot"}, map[string]any{"": nil},
}

// scraps are bytes to insert.
var scraps = []string{
	"{", "}", "[", "]", `"`, ",", ":", `\`, `\u0000`, `\ud800`, `\udfff`, "\xff", "\xc3", "\x00", "null", "1e999", "-", "'", "/*", "//", "\r\n", "\r\n\r\n", "--===1==", "--",
	"\ufeff", "\u2028", "😀", strings.Repeat("[", 100), strings.Repeat(`{"a":`, 100), strings.Repeat("9", 400),
}

// mutant turns valid requests into invalid ones.
type mutant struct{ *rand.Rand }

func pick[T any](m mutant, from []T) T { return from[m.IntN(len(from))] }

// request returns a request, the same one for the same random numbers.
func (m mutant) request(r route) (in *http.Request, body string) {
	body = pick(m, r.seeds)
	for range m.IntN(4) {
		body = m.body(body, r.seeds)
	}
	method, path, query := r.method, r.path, ""
	switch m.IntN(20) {
	case 0:
		method = pick(m, []string{http.MethodGet, http.MethodPut, http.MethodOptions, http.MethodHead, "BREW"})
	case 1:
		path += pick(m, []string{"/", "//..//", "%00", "😀", ":analyze", strings.Repeat("a", 5000)})
	}
	if m.IntN(4) == 0 {
		query = pick(m, []string{"key=%zz", "key=k&key=l", "format=writer", "format=mastra", "format=nexa", "format=%00", "version=v1alpha1", "version=2", "alt=json&prettyPrint=false&$.xgafv=2", "&&=;;"})
	}
	header := http.Header{}
	if r.contentType != "" {
		header.Set("Content-Type", r.contentType)
	}
	if m.IntN(4) == 0 {
		name := pick(m, []string{"Content-Type", "Authorization", "X-Api-Key", "Toxscreen-Judge-Wait", "Accept", "Content-Encoding", "Origin", "Sec-Fetch-Site"})
		header.Set(name, pick(m, []string{
			"", "application/json; charset=utf-16", "multipart/mixed", "multipart/mixed; boundary=", `multipart/mixed; boundary="` + strings.Repeat("x", 80) + `"`,
			"Bearer", "Bearer \xff", "1s", "-1s", "1e9h", "gzip", "null", "cross-site", strings.Repeat("x", 10_000),
		}))
	}
	in = &http.Request{
		Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "tox.example.org", Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "192.0.2.1:1234",
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
	if m.IntN(10) == 0 {
		in.ContentLength = -1 // as for a chunked body
	}
	return in, body
}

// body changes one thing in a body: a value where it is JSON, or bytes.
func (m mutant) body(body string, seeds []string) string {
	var value any
	if m.IntN(2) == 0 && json.Unmarshal([]byte(body), &value) == nil {
		changed, err := json.Marshal(m.value(value))
		if err == nil {
			return string(changed)
		}
	}
	from, to := m.IntN(len(body)+1), m.IntN(len(body)+1)
	from, to = min(from, to), max(from, to)
	switch m.IntN(6) {
	case 0:
		return body[:from]
	case 1:
		return body[:from] + body[to:]
	case 2:
		return body[:to] + body[from:]
	case 3:
		return body[:from] + pick(m, scraps) + body[to:]
	case 4:
		return body[:from] + string([]byte{byte(m.Uint32())}) + body[min(from+1, len(body)):]
	}
	return body[:from] + pick(m, seeds)
}

// value changes something in a value, at any depth.
func (m mutant) value(value any) any {
	if m.IntN(4) == 0 {
		return pick(m, weird)
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return map[string]any{"text": pick(m, weird)}
		}
		key := pick(m, slices.Sorted(maps.Keys(value)))
		switch m.IntN(8) {
		case 0:
			delete(value, key)
		case 1:
			value[strings.ToUpper(key)] = value[key]
		case 2:
			value[key+"\x00"] = value[key]
		default:
			value[key] = m.value(value[key])
		}
		return value
	case []any:
		if len(value) == 0 {
			return pick(m, weird)
		}
		i := m.IntN(len(value))
		if m.IntN(4) == 0 {
			return append(value, value[:i]...)
		}
		value[i] = m.value(value[i])
		return value
	}
	return pick(m, weird)
}

// fuzzing returns a server with everything configured, and a check that it holds no
// resources of requests any more.
func fuzzing(t testing.TB) (srv *server.Server, idle func() bool) {
	t.Helper()
	feedback, err := store.OpenFeedback(filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { feedback.Close() })
	results, _ := servertest.Results(t)
	judge := func(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
		if len(text)%2 == 0 {
			return toxscreen.Verdict{}, &toxscreen.AbstentionError{Why: "it wrote nonsense", Raw: text}
		}
		return insult(), nil
	}
	srv, err = servertest.New(toxscreen.New(english{Of: words}, servertest.Raised(judge)), server.Config{
		Feedback: feedback, Results: results, Finder: servertest.Finder(t, pii.Settings{}), MaxTexts: 5, MaxBody: 64 << 10,
		Formats: formats.All(formats.Config{Communities: map[string]toxscreen.Scores{"news": scores(toxscreen.Toxicity, 0.7)}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	before := runtime.NumGoroutine()
	return srv, func() bool {
		metrics := httptest.NewRecorder()
		srv.Debug().ServeHTTP(metrics, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		return runtime.NumGoroutine() <= before &&
			strings.Contains(metrics.Body.String(), "toxscreen_body_bytes 0\n") && strings.Contains(metrics.Body.String(), "toxscreen_late_verdicts 0\n")
	}
}

// harmless fails where an answer shows an error of the server itself. 429 and 503
// are its answers to overload. 500 is Presidio's to requests without text or language, with
// a sentence that says so.
func harmless(t testing.TB, srv *server.Server, in *http.Request, body string) {
	t.Helper()
	answer := httptest.NewRecorder()
	srv.ServeHTTP(answer, in.WithContext(t.Context()))
	ours := answer.Code != http.StatusServiceUnavailable && (in.URL.Path != "/analyze" || strings.Contains(answer.Body.String(), "the server's log says why"))
	if answer.Code >= 500 && ours {
		t.Fatalf("%s %s with %v was answered with %d: %.1000s\nits body was %.2000q", in.Method, in.URL, in.Header, answer.Code, answer.Body, body)
	}
	if kind := answer.Header().Get("Content-Type"); strings.HasPrefix(kind, "application/json") && in.Method != http.MethodHead && !json.Valid(answer.Body.Bytes()) {
		t.Fatalf("%s %s was answered with no JSON: %.1000q\nits body was %.2000q", in.Method, in.URL, answer.Body, body)
	}
}

// Fuzzing proves nothing unless the requests that it begins with are valid.
func TestWhatIsFuzzedIsUnderstood(t *testing.T) {
	var fuzzed []string
	for _, r := range routes {
		fuzzed = append(fuzzed, r.api)
		srv, _ := fuzzing(t)
		for _, seed := range r.seeds {
			answer := httptest.NewRecorder()
			in := httptest.NewRequestWithContext(t.Context(), r.method, r.path, strings.NewReader(seed))
			in.Header.Set("Content-Type", r.contentType)
			srv.ServeHTTP(answer, in)
			if answer.Code >= 300 && !strings.HasPrefix(r.path, "/v1/score/") {
				t.Errorf("%s %s: status %d: %s\n%s", r.method, r.path, answer.Code, answer.Body, seed)
			}
		}
	}
	for _, format := range formats.All(formats.Config{}) {
		if !slices.Contains(fuzzed, format.Name) {
			t.Errorf("no route of the format %s is fuzzed: add its routes", format.Name)
		}
	}
}

// Whatever clients send is answered, never with an internal error, and leaves
// nothing behind: no goroutine, no memory, no outstanding verdict.
func TestFuzzedRequestsDoNoHarm(t *testing.T) {
	for _, r := range routes {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			srv, idle := fuzzing(t)
			m := mutant{rand.New(rand.NewPCG(1, 2))}
			for range fuzzedRequests {
				in, body := m.request(r)
				harmless(t, srv, in, body)
			}
			servertest.Wait(t, "nothing is left of the requests", idle)
		})
	}
}

// FuzzRequests looks for bodies that do harm, by route.
func FuzzRequests(f *testing.F) {
	for i, r := range routes {
		for _, seed := range r.seeds {
			f.Add(uint(i), r.contentType, []byte(seed))
		}
	}
	srv, _ := fuzzing(f)
	f.Fuzz(func(t *testing.T, i uint, contentType string, body []byte) {
		r := routes[i%uint(len(routes))]
		in := httptest.NewRequestWithContext(t.Context(), r.method, r.path, bytes.NewReader(body))
		in.Header = http.Header{"Content-Type": {contentType}}
		harmless(t, srv, in, string(body))
	})
}
