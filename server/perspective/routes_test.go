package perspective_test

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
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/perspective"
	"github.com/toxscreen/toxscreen/server/servertest"
)

const analyze = "/v1alpha1/comments:analyze"

// errorOf reads the body of a google.rpc.Status.
func errorOf(t testing.TB, r servertest.Reply) string {
	t.Helper()
	var body struct {
		Error struct {
			Code            int
			Message, Status string
			Details         []struct{ ErrorType, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || body.Error.Code != r.Status {
		t.Fatalf("status %d, %v: %s", r.Status, err, r.Body)
	}
	shown := fmt.Sprintf("%d %s %s", r.Status, body.Error.Status, body.Error.Message)
	for _, d := range body.Error.Details {
		if d.ErrorType+d.Reason != "" {
			shown += " [" + d.ErrorType + d.Reason + "]"
		}
	}
	return shown
}

// Clients of Google's API need to change only the address. Other query parameters
// are ignored, and a base path before the method, as Coral sends it, is accepted.
func TestAnalyze(t *testing.T) {
	external, err := url.Parse("https://tox.example.org/screen")
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.Serve(t, toxscreen.New(servertest.English{Of: servertest.Words}), server.Config{External: external})
	const want = `{"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":21,"score":{"value":0.9,"type":"PROBABILITY"}}],` +
		`"summaryScore":{"value":0.9,"type":"PROBABILITY"}}},"languages":["en"],"detectedLanguages":["en"],"clientToken":"c1"}` + "\n"
	for _, path := range []string{
		analyze, analyze + "?key=K", "/screen" + analyze,
		analyze + "?alt=json&key=K&prettyPrint=false&fields=x&quotaUser=u&%24.xgafv=2&access_token=a&oauth_token=o&callback=&uploadType=&upload_protocol=",
	} {
		r := s.Post(path, `{comment: {text: "You idiot. Thank you."}, requestedAttributes: {TOXICITY: {}}, clientToken: "c1"}`, "Content-Type", "")
		if r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
		if diff := cmp.Diff(want, r.Body); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// Scores are on Perspective's scale if the server has it, those of sentences and by the thresholds of a
// community, too. The judge of the server's own scale is not asked. Feedback keeps the server's own scores.
func TestAnalyzeOnPerspectivesScale(t *testing.T) {
	feedback, err := store.OpenFeedback(t.TempDir()+"/feedback.db", store.FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer feedback.Close()
	judge := func(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
		t.Error("the judge was asked")
		return servertest.Insult(), nil
	}
	onScale := toxscreen.New(servertest.Perspective{Classifier: servertest.Classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
		found := toxscreen.Classification{Scores: servertest.Scores(toxscreen.Toxicity, 0.3), Spans: []toxscreen.Span{}}
		if strings.Contains(text, "maybe") {
			found.Scores = servertest.Scores(toxscreen.Toxicity, 0.6)
		}
		return found, nil
	})})
	s := servertest.Serve(t, servertest.Judged(judge), server.Config{
		OtherScales: map[toxscreen.Scale]*toxscreen.Screener{toxscreen.PerspectiveScale: onScale},
		JudgeWait:   map[string]time.Duration{"perspective": time.Minute}, Feedback: feedback,
	})
	r := s.Post(analyze, `{"comment": {"text": "It is a day. Well, maybe."}, "requestedAttributes": {"TOXICITY": {}}, "spanAnnotations": true}`)
	const want = `{"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":13,"score":{"value":0.3,"type":"PROBABILITY"}},` +
		`{"begin":13,"end":25,"score":{"value":0.6,"type":"PROBABILITY"}}],"summaryScore":{"value":0.6,"type":"PROBABILITY"}}}}` + "\n"
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Error(diff)
	}
	if r := s.Post("/v1alpha1/comments:suggestscore", `{"comment": {"text": "idiot"}, "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}}}`); r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
	for kept, err := range feedback.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if score := kept.Result.Score; score != 0.9 {
			t.Errorf("feedback keeps the score %v, want that of the server's own scale, 0.9", score)
		}
	}
}

// The requests of clients that need neither Google's libraries nor valid JSON of
// protobuf, see testdata/clients. n8n sends the token of its user at Google, which a
// server without keys ignores.
func TestRequestsOfClients(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.English{Of: servertest.Words}), server.Config{})
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
		r := s.Post(analyze+"?key=any", string(body), c.headers...)
		if diff := cmp.Diff(want, r.Body); r.Status != http.StatusOK || diff != "" || r.Header.Get("Toxscreen-Not-Measured") != c.notMeasured {
			t.Errorf("%s: %d %s %s", c.file, r.Status, diff, r.Header)
		}
	}
}

// With spanAnnotations each sentence has its own score. Sentences do not count for
// the rate limit, and the judge is not asked about them.
func TestSentences(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "rate=0.001 burst=1")
	judge := servertest.NewSlow()
	s := servertest.Serve(t, servertest.Judged(judge.Judge), server.Config{Keys: []server.Key{a}})
	r := s.Post(analyze+"?key="+alice, `{"comment":{"text":"\ud83d\ude00 You idiot. Thank you. Or maybe?"},"requestedAttributes":{"TOXICITY":{},"INSULT":{"scoreThreshold":0.3},"FLIRTATION":{}},"spanAnnotations":true,"doNotStore":true}`)
	const want = `{"attributeScores":{` +
		`"INSULT":{"spanScores":[{"begin":0,"end":14,"score":{"value":0.8,"type":"PROBABILITY"}},{"begin":25,"end":34,"score":{"value":0.5,"type":"PROBABILITY"}}],"summaryScore":{"value":0.5,"type":"PROBABILITY"}},` +
		`"TOXICITY":{"spanScores":[{"begin":0,"end":14,"score":{"value":0.9,"type":"PROBABILITY"}},{"begin":14,"end":25,"score":{"value":0.1,"type":"PROBABILITY"}},{"begin":25,"end":34,"score":{"value":0.5,"type":"PROBABILITY"}}],"summaryScore":{"value":0.5,"type":"PROBABILITY"}}}}` + "\n"
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Error(diff)
	}
	if got := r.Header.Get("Toxscreen-Not-Measured"); got != "FLIRTATION" {
		t.Errorf("not measured: %q", got)
	}
	if n := judge.Asked.Load(); n > 0 {
		t.Errorf("the judge was asked %d times, though nothing may be kept and the answer does not wait", n)
	}
	if got := s.Post(analyze+"?key="+alice, `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}}}`); !strings.HasPrefix(errorOf(t, got), "429 RESOURCE_EXHAUSTED") || got.Header.Get("Retry-After") == "" {
		t.Errorf("the second text: %d %s", got.Status, got.Body)
	}
}

// The classifier's answer comes at once, since Coral gives up after 300 ms. Clients
// that can wait may get the judge's.
func TestWaitsForTheJudgeOnlyIfTold(t *testing.T) {
	const maybe = `{"comment":{"text":"maybe"},"requestedAttributes":{"INSULT":{}}}`
	s := servertest.Serve(t, servertest.Judged(servertest.NewSlow().Judge), server.Config{})
	if r := s.Post(analyze, maybe); !strings.Contains(r.Body, `"value":0.5`) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	quick := func(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
		return servertest.Insult(), nil
	}
	s = servertest.Serve(t, servertest.Judged(quick), server.Config{JudgeWait: map[string]time.Duration{"perspective": time.Minute}})
	if r := s.Post(analyze, maybe); !strings.Contains(r.Body, `"value":0.9`) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// A community may have its own thresholds, by which it is decided whether to ask the judge.
func TestCommunities(t *testing.T) {
	seen := make(chan toxscreen.Scores, 2)
	never := func(_ toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision {
		seen <- thresholds
		return toxscreen.Decision{Why: "never"}
	}
	screener := toxscreen.New(servertest.Words, toxscreen.WithOpinion(toxscreen.Opinion{Decide: never, Ask: servertest.NewSlow().Judge}))
	s := servertest.Serve(t, screener, server.Config{
		Formats: []server.Format{perspective.Format(map[string]toxscreen.Scores{"Coral:news": servertest.Scores(toxscreen.Toxicity, 0.8)})},
	})
	for _, c := range []struct {
		community string
		want      toxscreen.Scores
	}{
		{"Coral:news", servertest.Scores(toxscreen.Toxicity, 0.8, toxscreen.Insult, 0.7)},
		{"Coral:other", servertest.Scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7)},
	} {
		s.Post(analyze, `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}},"communityId":"`+c.community+`"}`)
		if got := <-seen; got != c.want {
			t.Errorf("%s: %v", c.community, got)
		}
	}
}

// Failures have Google's form and words, which clients look for.
func TestFailures(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "")
	s := servertest.Serve(t, toxscreen.New(servertest.English{Of: servertest.Words}, toxscreen.WithMaxBytes(60)), server.Config{Keys: []server.Key{a}, MaxBody: 1000})
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
		if diff := cmp.Diff(c.want, errorOf(t, s.Post(path, c.body))); diff != "" {
			t.Errorf("%.80s: %s", c.body, diff)
		}
	}
	// A client may name the language, or ask for no error.
	for _, more := range []string{`,"languages":["en"]`, `,"dropUnsupportedAttributes":true`} {
		if r := s.Post(analyze+"?key="+alice, ask(german, more)); r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", more, r.Status, r.Body)
		}
	}
	if strings.Contains(s.Log.String(), "Wetter") {
		t.Error("the log has a text")
	}
}

// Moderators' labels of a comment are stored with their community and token.
func TestSuggestScore(t *testing.T) {
	f := servertest.Feedback(t, store.FeedbackOptions{})
	s := servertest.Serve(t, toxscreen.New(servertest.English{Of: servertest.Words}), server.Config{Feedback: f})
	const suggestion = `{"comment":{"text":"you idiot"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":1}},"FLIRTATION":{"summaryScore":{"value":0}}},"languages":["en"],"communityId":"Coral:t","clientToken":"comment-53922"}`
	r := s.Post("/v1alpha1/comments:suggestscore", suggestion)
	const want = `{"clientToken":"comment-53922","requestedLanguages":["en"],"detectedLanguages":["en"]}` + "\n"
	if diff := cmp.Diff(want, r.Body); diff != "" || r.Status != http.StatusOK {
		t.Error(r.Status, diff)
	}
	if got := r.Header.Get("Toxscreen-Not-Measured"); got != "FLIRTATION" {
		t.Errorf("the answer says that %q is not kept, want FLIRTATION", got)
	}
	n := 0
	for l, err := range f.All(t.Context()) {
		if n++; err != nil || l.Source != "perspective" || l.Community != "Coral:t" || l.Token != "comment-53922" || l.Labels != servertest.Scores(toxscreen.Toxicity, 1.0) || l.Result.Score != 0.9 {
			t.Errorf("%v %+v", err, l)
		}
	}
	if n != 1 {
		t.Errorf("%d label sets", n)
	}
	if got := errorOf(t, s.Post("/v1alpha1/comments:suggestscore", `{"comment":{"text":"x"}}`)); got != "400 INVALID_ARGUMENT attribute_scores must not be empty [INVALID_REQUEST]" {
		t.Error(got)
	}
}

// parts takes the answer to a batch apart as that client does: names to statuses
// and bodies.
func parts(t testing.TB, r servertest.Reply) map[string]string {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Status != http.StatusOK {
		t.Fatalf("%v: %d %s", err, r.Status, r.Body)
	}
	found := map[string]string{}
	for parts := multipart.NewReader(strings.NewReader(r.Body), parameters["boundary"]); ; {
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
func TestBatch(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "rate=1000 burst=1")
	s := servertest.Serve(t, toxscreen.New(servertest.English{Of: servertest.Words}), server.Config{Keys: []server.Key{a}, MaxTexts: 50})
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
	contentType, body := servertest.Batch(calls...)
	r := s.Post("/batch", body, "Content-Type", contentType)
	got := parts(t, r)
	if n := strings.Count(r.Body, "\r\nToxscreen-Not-Measured: FLIRTATION\r\n"); n != 1 {
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
	contentType, body = servertest.Batch([2]string{analyze, `{}`})
	if got := errorOf(t, s.Post("/batch", body, "Content-Type", contentType)); !strings.HasPrefix(got, "400 INVALID_ARGUMENT API key") && !strings.HasPrefix(got, "403 ") {
		t.Error(got)
	}
	contentType, body = servertest.Batch(make([][2]string, 51)...)
	if got := errorOf(t, s.Post("/batch", strings.ReplaceAll(body, "POST  HTTP", "POST / HTTP"), "Content-Type", contentType)); !strings.HasSuffix(got, "it has more than 50 calls; send fewer at once") {
		t.Error(got)
	}
}

// Clients are generated from the document, whose URLs are those of this server.
func TestDiscoveryIsServed(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for _, path := range []string{"/$discovery/rest?version=v1alpha1", "/%24discovery/rest?version=v1alpha1", "/$discovery/rest"} {
		r := s.Get(path)
		if r.Status != http.StatusOK || !strings.Contains(r.Body, `"rootUrl":"`+s.URL+`/"`) {
			t.Errorf("%s: %d %.300s", path, r.Status, r.Body)
		}
	}
	if r := s.Get("/$discovery/rest?version=v2"); r.Status != http.StatusNotFound {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	external, err := url.Parse("https://tox.example.org/screen/")
	if err != nil {
		t.Fatal(err)
	}
	s = servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{External: external})
	if r := s.Get("/screen/$discovery/rest?version=v1alpha1"); !strings.Contains(r.Body, `"rootUrl":"https://tox.example.org/screen/"`) {
		t.Errorf("%d %.300s", r.Status, r.Body)
	}
}
