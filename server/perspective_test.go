package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/language"
	"github.com/toxscreen/toxscreen/server"
)

// english is a Classifier of English.
type english struct{ classify }

func (e english) Info() toxscreen.ModelInfo {
	info := e.classify.Info()
	info.Languages = []string{"en"}
	return info
}

func (e english) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	found, err := e.classify.Classify(ctx, text, toxscreen.Full)
	found.Language.Code = "en"
	if read := language.New([]string{"en"}).Read(text); read.Foreign {
		found.Language = toxscreen.Language{Code: read.Other.Code, Foreign: true, Certain: read.Certain}
	}
	return found, err
}

const analyze = "/v1alpha1/comments:analyze"

// perspectiveError reads the body of a google.rpc.Status.
func (r reply) perspectiveError(t testing.TB) string {
	t.Helper()
	var body struct {
		Error struct {
			Code            int
			Message, Status string
			Details         []struct{ ErrorType, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.Error.Code != r.status {
		t.Fatalf("status %d, %v: %s", r.status, err, r.body)
	}
	shown := fmt.Sprintf("%d %s %s", r.status, body.Error.Status, body.Error.Message)
	for _, d := range body.Error.Details {
		if d.ErrorType+d.Reason != "" {
			shown += " [" + d.ErrorType + d.Reason + "]"
		}
	}
	return shown
}

// Clients of Google's API need to change only the address. Other query parameters
// are ignored, and a base path before the method, as Coral sends it, is accepted.
func TestPerspectiveAnalyze(t *testing.T) {
	external, err := url.Parse("https://tox.example.org/screen")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, toxscreen.New(english{words}), server.Config{External: external})
	const want = `{"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":20,"score":{"value":0.9,"type":"PROBABILITY"}}],` +
		`"summaryScore":{"value":0.9,"type":"PROBABILITY"}}},"languages":["en"],"detectedLanguages":["en"],"clientToken":"c1"}` + "\n"
	for _, path := range []string{
		analyze, analyze + "?key=K", "/screen" + analyze,
		analyze + "?alt=json&key=K&prettyPrint=false&fields=x&quotaUser=u&%24.xgafv=2&access_token=a&oauth_token=o&callback=&uploadType=&upload_protocol=",
	} {
		r := s.post(path, `{comment: {text: "You idiot. Thank you."}, requestedAttributes: {TOXICITY: {}}, clientToken: "c1"}`, "Content-Type", "")
		if r.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
		if diff := cmp.Diff(strings.ReplaceAll(want, `"end":20`, `"end":21`), r.body); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// The requests of clients that need neither Google's libraries nor valid JSON of
// protobuf, see testdata/clients. n8n sends the token of its user at Google, which a
// server without keys ignores.
func TestPerspectiveRequestsOfClients(t *testing.T) {
	s := serve(t, toxscreen.New(english{words}), server.Config{})
	const span = `{"spanScores":[{"begin":0,"end":40,"score":{"value":%[1]v,"type":"PROBABILITY"}}],"summaryScore":{"value":%[1]v,"type":"PROBABILITY"}}`
	want := fmt.Sprintf(`{"attributeScores":{"INSULT":`+span+`,"TOXICITY":`+strings.ReplaceAll(span, "[1]", "[2]")+`},"languages":["en"],"detectedLanguages":["en"]}`+"\n", 0.8, 0.9)
	for _, c := range []struct {
		file, notMeasured string
		headers           []string
	}{
		{"n8n.json", "FLIRTATION", []string{"Accept", "application/json", "Authorization", "Bearer ya29.token"}},
		{"perspective-r.json", "", []string{"Accept", "application/json, text/xml, application/xml, */*", "User-Agent", "libcurl/7.88.1 r-curl/5.0.0 httr/1.4.5"}},
	} {
		body, err := os.ReadFile("testdata/clients/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		r := s.post(analyze+"?key=any", string(body), c.headers...)
		if diff := cmp.Diff(want, r.body); r.status != http.StatusOK || diff != "" || r.header.Get("Toxscreen-Not-Measured") != c.notMeasured {
			t.Errorf("%s: %d %s %s", c.file, r.status, diff, r.header)
		}
	}
}

// With spanAnnotations each sentence has its own score. Sentences do not count for
// the rate limit, and the judge is not asked about them.
func TestPerspectiveSentences(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=0.001 burst=1")
	judge := newSlow()
	s := serve(t, judged(judge), server.Config{Keys: []server.Key{a}})
	r := s.post(analyze+"?key="+alice, `{"comment":{"text":"\ud83d\ude00 You idiot. Thank you. Or maybe?"},"requestedAttributes":{"TOXICITY":{},"INSULT":{"scoreThreshold":0.3},"FLIRTATION":{}},"spanAnnotations":true,"doNotStore":true}`)
	const want = `{"attributeScores":{` +
		`"INSULT":{"spanScores":[{"begin":0,"end":14,"score":{"value":0.8,"type":"PROBABILITY"}},{"begin":25,"end":34,"score":{"value":0.5,"type":"PROBABILITY"}}],"summaryScore":{"value":0.5,"type":"PROBABILITY"}},` +
		`"TOXICITY":{"spanScores":[{"begin":0,"end":14,"score":{"value":0.9,"type":"PROBABILITY"}},{"begin":14,"end":25,"score":{"value":0.1,"type":"PROBABILITY"}},{"begin":25,"end":34,"score":{"value":0.5,"type":"PROBABILITY"}}],"summaryScore":{"value":0.5,"type":"PROBABILITY"}}}}` + "\n"
	if diff := cmp.Diff(want, r.body); diff != "" {
		t.Error(diff)
	}
	if got := r.header.Get("Toxscreen-Not-Measured"); got != "FLIRTATION" {
		t.Errorf("not measured: %q", got)
	}
	if n := judge.asked.Load(); n > 0 {
		t.Errorf("the judge was asked %d times, though nothing may be kept and the answer does not wait", n)
	}
	if got := s.post(analyze+"?key="+alice, `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}}}`); !strings.HasPrefix(got.perspectiveError(t), "429 RESOURCE_EXHAUSTED") || got.header.Get("Retry-After") == "" {
		t.Errorf("the second text: %d %s", got.status, got.body)
	}
}

// The classifier's answer comes at once, since Coral gives up after 300 ms. Clients
// that can wait may get the judge's.
func TestPerspectiveWaitsForTheJudgeOnlyIfTold(t *testing.T) {
	const maybe = `{"comment":{"text":"maybe"},"requestedAttributes":{"INSULT":{}}}`
	s := serve(t, judged(newSlow()), server.Config{})
	if r := s.post(analyze, maybe); !strings.Contains(r.body, `"value":0.5`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	quick := judging(func(context.Context, string) (toxscreen.Verdict, error) { return insult(), nil })
	s = serve(t, judged(quick), server.Config{JudgeWait: map[string]time.Duration{"perspective": time.Minute}})
	if r := s.post(analyze, maybe); !strings.Contains(r.body, `"value":0.9`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A community may have its own thresholds, by which it is decided whether to ask the judge.
func TestPerspectiveCommunities(t *testing.T) {
	seen := make(chan toxscreen.Scores, 2)
	never := func(_ toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision {
		seen <- thresholds
		return toxscreen.Decision{Why: "never"}
	}
	screener := toxscreen.New(words, toxscreen.WithOpinion(toxscreen.Opinion{Decide: never, Ask: newSlow().Judge}))
	s := serve(t, screener, server.Config{Communities: map[string]toxscreen.Scores{"Coral:news": scores(toxscreen.Toxicity, 0.8)}})
	for _, c := range []struct {
		community string
		want      toxscreen.Scores
	}{
		{"Coral:news", scores(toxscreen.Toxicity, 0.8, toxscreen.Insult, 0.7)},
		{"Coral:other", scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7)},
	} {
		s.post(analyze, `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}},"communityId":"`+c.community+`"}`)
		if got := <-seen; got != c.want {
			t.Errorf("%s: %v", c.community, got)
		}
	}
}

// Failures have Google's form and words, which clients look for.
func TestPerspectiveFailures(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(english{words}, toxscreen.WithMaxBytes(60)), server.Config{Keys: []server.Key{a}, MaxBody: 1000})
	ask := func(text, more string) string {
		return `{"comment":{"text":"` + text + `"},"requestedAttributes":{"TOXICITY":{},"THREAT":{}}` + more + `}`
	}
	const german = "Das Wetter ist heute wirklich schön, wir gehen raus."
	for _, c := range []struct{ key, body, want string }{
		{alice, ask("", ""), "400 INVALID_ARGUMENT Comment must be non-empty. [COMMENT_EMPTY]"},
		{alice, ask(strings.Repeat("x", 61), ""), "400 INVALID_ARGUMENT Comment text too long. [COMMENT_TOO_LONG]"},
		{alice, ask("x", `,"languages":["om"]`), "400 INVALID_ARGUMENT Attribute THREAT does not support request languages: om [LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE]"},
		{alice, ask(german, ""), "400 INVALID_ARGUMENT Attribute THREAT does not support request languages: de [LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE]"},
		{alice, `{"comment":{"text":"x"},"requestedAttributes":{"FLIRTATION":{}}}`, "400 INVALID_ARGUMENT Unknown requested attribute: FLIRTATION [INVALID_REQUEST]"},
		{alice, `{`, "400 INVALID_ARGUMENT Invalid JSON payload received. unexpected end of JSON input [INVALID_REQUEST]"},
		{alice, strings.Repeat("[", 100), "400 INVALID_ARGUMENT failed to read the request: its JSON is nested deeper than 64"},
		{alice, strings.Repeat(" ", 1001), "413 INVALID_ARGUMENT failed to read the request: it has 1001 bytes, the limit is 1000; send fewer texts at once"},
		{alice + "x", ask("x", ""), "400 INVALID_ARGUMENT API key not valid. Please pass a valid API key. [API_KEY_INVALID]"},
		{"", ask("x", ""), "403 PERMISSION_DENIED The request is missing a valid API key."},
	} {
		path := analyze
		if c.key != "" {
			path += "?key=" + c.key
		}
		if diff := cmp.Diff(c.want, s.post(path, c.body).perspectiveError(t)); diff != "" {
			t.Errorf("%.80s: %s", c.body, diff)
		}
	}
	// A client may name the language, or ask for no error.
	for _, more := range []string{`,"languages":["en"]`, `,"dropUnsupportedAttributes":true`} {
		if r := s.post(analyze+"?key="+alice, ask(german, more)); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", more, r.status, r.body)
		}
	}
	if strings.Contains(s.log.String(), "Wetter") {
		t.Error("the log has a text")
	}
}

// Moderators' labels of a comment are stored with their community and token.
func TestPerspectiveSuggestScore(t *testing.T) {
	f := openFeedback(t, store.FeedbackOptions{})
	s := serve(t, toxscreen.New(english{words}), server.Config{Feedback: f})
	const suggestion = `{"comment":{"text":"you idiot"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":1}},"FLIRTATION":{"summaryScore":{"value":0}}},"languages":["en"],"communityId":"Coral:t","clientToken":"comment-53922"}`
	r := s.post("/v1alpha1/comments:suggestscore", suggestion)
	const want = `{"clientToken":"comment-53922","requestedLanguages":["en"],"detectedLanguages":["en"]}` + "\n"
	if diff := cmp.Diff(want, r.body); diff != "" || r.status != http.StatusOK {
		t.Error(r.status, diff)
	}
	if got := r.header.Get("Toxscreen-Not-Measured"); got != "FLIRTATION" {
		t.Errorf("the answer says that %q is not kept, want FLIRTATION", got)
	}
	n := 0
	for l, err := range f.All(t.Context()) {
		if n++; err != nil || l.Source != "perspective" || l.Community != "Coral:t" || l.Token != "comment-53922" || l.Labels != scores(toxscreen.Toxicity, 1.0) || l.Result.Score != 0.9 {
			t.Errorf("%v %+v", err, l)
		}
	}
	if n != 1 {
		t.Errorf("%d label sets", n)
	}
	if got := s.post("/v1alpha1/comments:suggestscore", `{"comment":{"text":"x"}}`).perspectiveError(t); got != "400 INVALID_ARGUMENT attribute_scores must not be empty [INVALID_REQUEST]" {
		t.Error(got)
	}
}

// batchOf is a batch of calls as google-api-python-client sends it, each named
// after its place.
func batchOf(calls ...[2]string) (contentType, body string) {
	var b strings.Builder
	for i, c := range calls {
		fmt.Fprintf(&b, "--===============1==\nContent-Type: application/http\nMIME-Version: 1.0\nContent-Transfer-Encoding: binary\nContent-ID: <b2f7b5f2-0000-4000-8000-000000000000 +\n call%%20%d>\n\n"+
			"POST %s HTTP/1.1\nContent-Type: application/json\nMIME-Version: 1.0\nHost: 127.0.0.1\ncontent-length: %d\n\n%s\n", i, c[0], len(c[1]), c[1])
	}
	return `multipart/mixed; boundary="===============1=="`, b.String() + "--===============1==--\n"
}

// parts takes the answer to a batch apart as that client does: names to statuses
// and bodies.
func (r reply) parts(t testing.TB) map[string]string {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil || r.status != http.StatusOK {
		t.Fatalf("%v: %d %s", err, r.status, r.body)
	}
	found := map[string]string{}
	for parts := multipart.NewReader(strings.NewReader(r.body), parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(strings.Trim(part.Header.Get("Content-ID"), "<>"), " + ")
		head, body, _ := bytes.Cut(content, []byte("\r\n\r\n"))
		status, _, _ := bytes.Cut(head, []byte("\r\n"))
		found[id] = strings.Fields(string(status))[1] + " " + strings.TrimSpace(string(body))
	}
}

// HELM sends its texts as one batch, with sentences. Each call has its own answer
// under its ID; an invalid call does not affect the others.
func TestPerspectiveBatch(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=1000 burst=1")
	s := serve(t, toxscreen.New(english{words}), server.Config{Keys: []server.Key{a}, MaxTexts: 50})
	calls := [][2]string{
		{analyze + "?key=" + alice + "&alt=json", `{"comment":{"text":"You idiot. Thank you."},"requestedAttributes":{"TOXICITY":{},"FLIRTATION":{}},"languages":["en"],"spanAnnotations":true}`},
		{analyze + "?key=" + alice + "&alt=json", `{"comment":{"text":""},"requestedAttributes":{"TOXICITY":{}}}`},
		{"/batch?key=" + alice, ``},
		{analyze + "?key=other", `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}}}`},
		{"/v1alpha1/comments:suggestscore?key=" + alice, `{"comment":{"text":"x"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":0}}},"clientToken":"t"}`},
	}
	for range 40 { // more than the queue admits as single requests
		calls = append(calls, [2]string{analyze + "?key=" + alice, `{"comment":{"text":"hello"},"requestedAttributes":{"TOXICITY":{}}}`})
	}
	contentType, body := batchOf(calls...)
	r := s.post("/batch", body, "Content-Type", contentType)
	got := r.parts(t)
	if n := strings.Count(r.body, "\r\nToxscreen-Not-Measured: FLIRTATION\r\n"); n != 1 {
		t.Errorf("%d answers say that FLIRTATION is not measured, want that of the call that asks for it", n)
	}
	if len(got) != len(calls) {
		t.Errorf("%d answers to %d calls", len(got), len(calls))
	}
	for id, want := range map[string]string{
		"call%200":  `200 {"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":11,"score":{"value":0.9,"type":"PROBABILITY"}},{"begin":11,"end":21,"score":{"value":0.1,"type":"PROBABILITY"}}],"summaryScore":{"value":0.9`,
		"call%201":  `400 {"error":{"code":400,"message":"Comment must be non-empty."`,
		"call%202":  `404 {"error":{"code":404,"message":"failed to answer a call of a batch: there are POST /v1alpha1/comments:analyze and /v1alpha1/comments:suggestscore"`,
		"call%203":  `400 {"error":{"code":400,"message":"API key not valid`,
		"call%204":  `200 {"clientToken":"t","detectedLanguages":["en"]}`,
		"call%2044": `200 {"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":5,"score":{"value":0.1`,
	} {
		if !strings.HasPrefix(got[id], want) {
			t.Errorf("%s is %s, want %s", id, got[id], want)
		}
	}
	// Without a key, or with too many calls, no call is answered.
	contentType, body = batchOf([2]string{analyze, `{}`})
	if got := s.post("/batch", body, "Content-Type", contentType).perspectiveError(t); !strings.HasPrefix(got, "400 INVALID_ARGUMENT API key") && !strings.HasPrefix(got, "403 ") {
		t.Error(got)
	}
	contentType, body = batchOf(make([][2]string, 51)...)
	if got := s.post("/batch", strings.ReplaceAll(body, "POST  HTTP", "POST / HTTP"), "Content-Type", contentType).perspectiveError(t); !strings.HasSuffix(got, "it has more than 50 calls; send fewer at once") {
		t.Error(got)
	}
}

// Clients are generated from the document, whose URLs are those of this server.
func TestPerspectiveDiscovery(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	for _, path := range []string{"/$discovery/rest?version=v1alpha1", "/%24discovery/rest?version=v1alpha1", "/$discovery/rest"} {
		r := s.get(path)
		if r.status != http.StatusOK || !strings.Contains(r.body, `"rootUrl":"`+s.URL+`/"`) {
			t.Errorf("%s: %d %.300s", path, r.status, r.body)
		}
	}
	if r := s.get("/$discovery/rest?version=v2"); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
	external, err := url.Parse("https://tox.example.org/screen/")
	if err != nil {
		t.Fatal(err)
	}
	s = serve(t, toxscreen.New(words), server.Config{External: external})
	if r := s.get("/screen/$discovery/rest?version=v1alpha1"); !strings.Contains(r.body, `"rootUrl":"https://tox.example.org/screen/"`) {
		t.Errorf("%d %.300s", r.status, r.body)
	}
}
