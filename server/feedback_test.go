package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/server"
)

func openFeedback(t testing.TB, o store.FeedbackOptions) *store.Feedback {
	t.Helper()
	f, err := store.OpenFeedback(filepath.Join(t.TempDir(), "feedback.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Labels are stored with their caller and the result of the text; the judge is not
// asked about it.
func TestFeedbackIsKept(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	f, judge := openFeedback(t, store.FeedbackOptions{}), newSlow()
	s := serve(t, judged(judge), server.Config{Keys: []server.Key{a}, Feedback: f})
	r := s.post("/v1/feedback", `{"text": "maybe", "labels": {"toxicity": 1, "insult": 0.5}, "weight": 3, "community": "news", "token": "c1"}`, "x-api-key", alice)
	if r.status != http.StatusCreated || r.body != `{"stored":true}`+"\n" {
		t.Fatalf("%d %s", r.status, r.body)
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
	if n != 1 || judge.asked.Load() != 0 {
		t.Errorf("%d label sets, and the judge was asked %d times", n, judge.asked.Load())
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
	f := openFeedback(t, store.FeedbackOptions{})
	s := serve(t, toxscreen.New(early{words}), server.Config{Feedback: f})
	const suggestion = `{"comment":{"text":"suggested tea"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":0}}}}`
	if r := s.post("/v1/score", `{"text":"tea"}`).result(t); r.Exit != 1 {
		t.Errorf("a text that is only scored leaves at exit %d, want 1", r.Exit)
	}
	contentType, body := batchOf([2]string{"/v1alpha1/comments:suggestscore", strings.Replace(suggestion, "suggested", "batched", 1)})
	for _, r := range []reply{
		s.post("/v1/feedback", `{"text":"native tea","labels":{"toxicity":0}}`),
		s.post("/v1alpha1/comments:suggestscore", suggestion),
		s.post("/batch", body, "Content-Type", contentType),
	} {
		if r.status >= 300 {
			t.Errorf("%d %s", r.status, r.body)
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
	f := openFeedback(t, store.FeedbackOptions{})
	s := serve(t, toxscreen.New(slow), server.Config{Feedback: f, QueueWait: time.Nanosecond})
	var clients sync.WaitGroup
	clients.Go(func() { s.post("/v1/score", `{"text":"the text that takes the only place"}`) })
	<-blocked
	for path, body := range map[string]string{
		"/v1/feedback":                    `{"text":"tea","labels":{"toxicity":0}}`,
		"/v1alpha1/comments:suggestscore": `{"comment":{"text":"tea"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":0}}}}`,
	} {
		if r := s.post(path, body); r.status != http.StatusServiceUnavailable && r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	close(release)
	clients.Wait()
	for l, err := range f.All(t.Context()) {
		t.Errorf("%v %+v was stored, and refused", err, l)
	}
}

func TestBadFeedbackIsRefusedWithTheReason(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{Feedback: openFeedback(t, store.FeedbackOptions{})})
	for body, want := range map[string]string{
		`{"labels": {"toxicity": 1}}`:                            "there is no text",
		`{"text": "x"}`:                                          "there are no labels",
		`{"text": "x", "labels": {}}`:                            "there are no labels",
		`{"text": "x", "labels": {"toxicity": 2}}`:               "must be in 0..1",
		`{"text": "x", "labels": {"rude": 1}}`:                   "rude",
		`{"text": "x", "labels": {"toxicity": 1}, "weight": 0}`:  "the weight is 0",
		`{"text": "x", "labels": {"toxicity": 1}, "weight": -1}`: "the weight -1",
	} {
		if r := s.post("/v1/feedback", body); r.status != http.StatusBadRequest || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if r := serve(t, toxscreen.New(words), server.Config{}).post("/v1/feedback", `{"text": "x", "labels": {"toxicity": 1}}`); r.code(t) != "unsupported" {
		t.Errorf("%s", r.body)
	}
}

// failing is a Feedback that is full, or broken.
type failing struct{ error }

func (f failing) Add(context.Context, store.LabelSet) error { return f }
func (f failing) Unwrap() error                             { return f.error }

// Feedback that is not on disk is never acknowledged.
func TestFeedbackThatIsNotStoredIsNotAcknowledged(t *testing.T) {
	for want, err := range map[int]error{
		http.StatusInsufficientStorage: fmt.Errorf("the disk: %w", store.ErrFull),
		http.StatusInternalServerError: errors.New("the file is broken"),
	} {
		s := serve(t, toxscreen.New(words), server.Config{Feedback: failing{err}})
		if r := s.post("/v1/feedback", `{"text": "x", "labels": {"toxicity": 1}}`); r.status != want || strings.Contains(r.body, "broken") {
			t.Errorf("%d %s", r.status, r.body)
		}
		if !strings.Contains(s.log.String(), err.Error()) {
			t.Errorf("the log does not tell why: %s", s.log)
		}
	}
}
