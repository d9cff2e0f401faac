package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// Labels are stored with their caller and the result of the text; the judge is not
// asked about it.
func TestFeedbackIsKept(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	f, judge := servertest.Feedback(t, store.FeedbackOptions{}), servertest.NewSlow()
	s := serve(t, judged(judge.Judge), server.Config{Keys: []server.Key{a}, Feedback: f})
	r := s.Post("/v1/feedback", `{"text": "maybe", "labels": {"toxicity": 1, "insult": 0.5}, "weight": 3, "community": "news", "token": "c1"}`, "x-api-key", alice)
	if r.Status != http.StatusCreated || r.Body != `{"stored":true}`+"\n" {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	n := 0
	for l, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if l.Source != "native" || l.Caller != "alice" || l.Community != "news" || l.Token != "c1" || l.Weight != 3 || l.Text != "" ||
			l.Labels != scores(toxscreen.Toxicity, 1.0, toxscreen.Insult, 0.5) || l.Result.Score != 0.5 || l.Result.Judge.Asked || l.Result.Judge.Pending {
			t.Errorf("%+v", l)
		}
	}
	if n != 1 || judge.Asked.Load() != 0 {
		t.Errorf("%d label sets, and the judge was asked %d times", n, judge.Asked.Load())
	}
}

// early is a model that leaves its network early on every text, where it may.
type early struct{ classify }

func (e early) Info() toxscreen.ModelInfo {
	info := e.classify.Info()
	info.Exits = 1
	return info
}

func (e early) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	found, err := e.classify.Classify(ctx, text, depth)
	if depth == toxscreen.Early {
		found.Exit, found.Spans = 1, nil
	}
	return found, err
}

// Nothing can be fitted on the estimates of a text that left the network early: whatever
// way a report comes in, its text is scored by the whole network. Texts that are only
// scored still leave early.
func TestFeedbackIsScoredByTheWholeNetwork(t *testing.T) {
	f := servertest.Feedback(t, store.FeedbackOptions{})
	s := serve(t, toxscreen.New(early{words}), server.Config{Feedback: f})
	const suggestion = `{"comment":{"text":"suggested tea"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":0}}}}`
	if r := s.Post("/v1/score", `{"text":"tea"}`).Result(t); r.Exit != 1 {
		t.Errorf("a text that is only scored leaves at exit %d, want 1", r.Exit)
	}
	contentType, body := servertest.Batch([2]string{"/v1alpha1/comments:suggestscore", strings.Replace(suggestion, "suggested", "batched", 1)})
	for _, r := range []reply{
		s.Post("/v1/feedback", `{"text":"native tea","labels":{"toxicity":0}}`),
		s.Post("/v1alpha1/comments:suggestscore", suggestion),
		s.Post("/batch", body, "Content-Type", contentType),
	} {
		if r.Status >= 300 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	n := 0
	for l, err := range f.All(t.Context()) {
		if n++; err != nil || l.Result.Exit != 0 || l.Result.Spans == nil {
			t.Errorf("%v %+v", err, l)
		}
	}
	if n != 3 {
		t.Errorf("%d label sets, want 3", n)
	}
}

// A report takes its place in the queue like a text to score. An overloaded server refuses
// it with a time to try again, and stores nothing of it.
func TestAnOverloadedServerRefusesFeedback(t *testing.T) {
	blocked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	slow := informed{info: toxscreen.ModelInfo{Version: "tiny@1.0.0", Parallel: 1, Attributes: words.Info().Attributes, Thresholds: words.Info().Thresholds}, classify: func(ctx context.Context, text string) (toxscreen.Classification, error) {
		once.Do(func() { close(blocked) })
		<-release
		return words(ctx, text)
	}}
	f := servertest.Feedback(t, store.FeedbackOptions{})
	s := serve(t, toxscreen.New(slow), server.Config{Feedback: f, QueueWait: time.Nanosecond})
	var clients sync.WaitGroup
	clients.Go(func() { s.Post("/v1/score", `{"text":"the text that takes the only place"}`) })
	<-blocked
	for path, body := range map[string]string{
		"/v1/feedback":                    `{"text":"tea","labels":{"toxicity":0}}`,
		"/v1alpha1/comments:suggestscore": `{"comment":{"text":"tea"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":0}}}}`,
	} {
		if r := s.Post(path, body); r.Status != http.StatusServiceUnavailable && r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	close(release)
	clients.Wait()
	for l, err := range f.All(t.Context()) {
		t.Errorf("%v %+v was stored, and refused", err, l)
	}
}

func TestBadFeedbackIsRefusedWithTheReason(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{Feedback: servertest.Feedback(t, store.FeedbackOptions{})})
	for body, want := range map[string]string{
		`{"labels": {"toxicity": 1}}`:                            "there is no text",
		`{"text": "x"}`:                                          "there are no labels",
		`{"text": "x", "labels": {}}`:                            "there are no labels",
		`{"text": "x", "labels": {"toxicity": 2}}`:               "must be in 0..1",
		`{"text": "x", "labels": {"rude": 1}}`:                   "rude",
		`{"text": "x", "labels": {"toxicity": 1}, "weight": 0}`:  "the weight is 0",
		`{"text": "x", "labels": {"toxicity": 1}, "weight": -1}`: "the weight -1",
	} {
		if r := s.Post("/v1/feedback", body); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, want) {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	if r := serve(t, toxscreen.New(words), server.Config{}).Post("/v1/feedback", `{"text": "x", "labels": {"toxicity": 1}}`); r.Code(t) != "unsupported" {
		t.Errorf("%s", r.Body)
	}
}

// Feedback that is not on disk is never acknowledged.
func TestFeedbackThatIsNotStoredIsNotAcknowledged(t *testing.T) {
	full, broken := servertest.Feedback(t, store.FeedbackOptions{MaxBytes: 64 << 10}), servertest.Feedback(t, store.FeedbackOptions{})
	var err error
	for i := 0; err == nil; i++ {
		err = full.Add(t.Context(), store.LabelSet{Text: fmt.Sprint(i), Labels: scores(toxscreen.Toxicity, 1.0)})
	}
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		feedback *store.Feedback
		status   int
		logged   string
	}{
		{full, http.StatusInsufficientStorage, "has reached its limit of 65536 bytes"},
		{broken, http.StatusInternalServerError, "database is closed"},
	} {
		s := serve(t, toxscreen.New(words), server.Config{Feedback: test.feedback})
		r := s.Post("/v1/feedback", `{"text": "x", "labels": {"toxicity": 1}}`)
		if r.Status != test.status {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		if strings.Contains(r.Body, test.logged) {
			t.Errorf("the client is told what only the log should say: %s", r.Body)
		}
		if !strings.Contains(s.Log.String(), test.logged) {
			t.Errorf("the log does not tell why: %s", s.Log)
		}
	}
}
