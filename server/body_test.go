package server_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

func zipped(t testing.TB, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// raw posts bytes that need not be JSON, and are not validated against the document.
func raw(t testing.TB, h http.Handler, path, body string, headers ...string) reply {
	t.Helper()
	in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	in.Host = "localhost"
	for i := 0; i < len(headers); i += 2 {
		in.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, in)
	return reply{Status: answer.Code, Header: answer.Header(), Body: answer.Body.String()}
}

// Bodies of all APIs may be compressed, and may begin with a byte order mark, as
// programs on Windows write it. A batch has no JSON of its own.
func TestBodiesMayBeCompressedOrBeginWithAMark(t *testing.T) {
	srv, _ := fuzzing(t)
	for _, r := range routes {
		if r.method != http.MethodPost {
			continue
		}
		for _, seed := range r.seeds {
			for why, answer := range map[string]reply{
				"gzip": raw(t, srv, r.path, zipped(t, seed), "Content-Type", r.contentType, "Content-Encoding", "GZIP"),
				"mark": raw(t, srv, r.path, "\ufeff"+seed, "Content-Type", r.contentType, "Content-Encoding", "identity"),
			} {
				if answer.Status >= 300 {
					t.Errorf("%s, %s: %d %s", r.path, why, answer.Status, answer.Body)
				}
			}
		}
	}
}

// What is compressed counts against the limits as it is sent and as it is decoded: a
// few bytes that are decoded to many are refused before they are.
func TestCompressedBodiesKeepToTheLimits(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{MaxBody: 2000})
	bomb := zipped(t, `{"text": "`+strings.Repeat("x", 1<<20)+`"}`)
	if len(bomb) > 2000 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	for why, c := range map[string]struct{ body, encoding, want string }{
		"a bomb":       {bomb, "gzip", "413 body_too_large it has more than 2000 bytes"},
		"long as sent": {zipped(t, "{}") + strings.Repeat(" ", 2000), "gzip", "413 body_too_large it has 2026 bytes"},
		"cut off":      {zipped(t, `{"text": "hello"}`)[:20], "gzip", "400 invalid_request its body is not valid gzip"},
		"not gzip":     {`{"text": "hello"}`, "gzip", "400 invalid_request its body is not valid gzip"},
		"more after":   {zipped(t, `{"text": "hello"}`) + "x", "gzip", "400 invalid_request its body is not valid gzip"},
		"deflate":      {"x", "deflate", `415 unsupported_encoding its Content-Encoding is "deflate": send it as gzip`},
		"twice":        {"x", "gzip, gzip", `415 unsupported_encoding its Content-Encoding is "gzip, gzip"`},
	} {
		r := raw(t, s.API, "/v1/score", c.body, "Content-Type", "application/json", "Content-Encoding", c.encoding)
		status, rest, _ := strings.Cut(c.want, " ")
		code, message, _ := strings.Cut(rest, " ")
		if strconv.Itoa(r.Status) != status || r.Code(t) != code || !strings.Contains(r.Body, strings.ReplaceAll(message, `"`, `\"`)) {
			t.Errorf("%s: %d %s", why, r.Status, r.Body)
		}
		if accepts := r.Header.Get("Accept-Encoding"); (accepts == "gzip") != (r.Status == http.StatusUnsupportedMediaType) {
			t.Errorf("%s: Accept-Encoding: %q", why, accepts)
		}
	}
}

// The memory of all bodies is limited as they are sent and decoded together.
func TestCompressedBodiesKeepToTheMemory(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	s.API.SetMaxMemory(1000)
	if r := raw(t, s.API, "/v1/score", zipped(t, `{"text": "`+strings.Repeat("x", 2000)+`"}`), "Content-Encoding", "gzip"); r.Code(t) != "overloaded" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if r := raw(t, s.API, "/v1/score", zipped(t, `{"text": "x"}`), "Content-Encoding", "gzip"); r.Status != http.StatusOK {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// A field of the wrong type is named in the form of each API, without the types of Go.
func TestErrorsNameTheField(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	for _, c := range []struct{ path, body, want string }{
		{"/v1/score", `{"text": "x", "thresholds": []}`, `{"error":{"code":"invalid_request","message":"failed to read the request: thresholds: expected an object, found a list"}}`},
		{"/v1/score", `{"text": "x", "thresholds": {"insult": "high"}}`, `{"error":{"code":"invalid_request","message":"failed to read the request: failed to read scores: insult must be a number"}}`},
		{"/v1/feedback", `{"text": "x", "weight": "1"}`, `{"error":{"code":"invalid_request","message":"failed to read the request: weight: expected a number, found a string"}}`},
		{"/v1/toxic-check", `{"prompt": ["x"]}`, `{"error":{"code":"invalid_request","message":"failed to read the request: prompt: expected a string, found a list"}}`},
		{"/v1alpha1/comments:analyze", `{"comment": {"text": ["x"]}}`, `{"error":{"code":400,"message":"Invalid value at 'comment.text': expected a string","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.commentanalyzer.v1alpha1.Error","errorType":"INVALID_REQUEST"}]}}`},
		{"/v1/moderations", `{"input": "x", "model": ["m"]}`, `{"error":{"message":"failed to read the request: model: expected a string, found a list","type":"invalid_request_error","param":"model","code":null}}`},
		{"/v1/moderations", `[]`, `{"error":{"message":"failed to read the request: expected an object, found a list","type":"invalid_request_error","param":null,"code":null}}`},
		{"/beta/litellm_basic_guardrail_api", `{"texts": "x"}`, `{"error":{"code":"invalid_request","message":"failed to read the request: texts: expected a list, found a string"}}`},
		{"/beta/litellm_basic_guardrail_api", `{"texts": [], "additional_provider_specific_params": {"threshold": "0.8"}}`,
			`{"error":{"code":"invalid_request","message":"failed to read additional_provider_specific_params: threshold: expected a number, found a string; there are threshold, thresholds, language and on_flagged"}}`},
		{"/v1/evaluate", `{"evaluated_model_output": 1}`, `{"detail":"failed to read the request: evaluated_model_output: expected a string, found a number"}`},
	} {
		if r := s.Post(c.path, c.body); r.Status != http.StatusBadRequest || strings.TrimSpace(r.Body) != c.want {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.Status, r.Body)
		}
	}
}
