package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

const wait30s = 30 * time.Second

func TestAnAnswerWaitsForTheJudge(t *testing.T) {
	judge := servertest.NewSlow()
	close(judge.Answer)
	s := serve(t, judged(judge.Judge), server.Config{JudgeWait: map[string]time.Duration{"native": wait30s}})
	result := s.Post("/v1/score", `{"text": "maybe"}`).Result(t)
	if result.Source != toxscreen.SourceFused || result.Judge.Pending || len(result.Judge.Verdicts) != 1 || result.Attributes[toxscreen.Insult].Score != 0.9 {
		t.Errorf("%+v", result)
	}
}

// When the judge takes longer than the request may wait, the answer has the
// classifier's result and says that the judge is pending. The final result can be
// fetched later.
func TestALateVerdictCanBeFetched(t *testing.T) {
	judge := servertest.NewSlow()
	kept, all := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{Results: kept})
	for _, body := range []string{`{"text": "maybe"}`, `{"text": "maybe", "id": "mine", "judge_wait": "1ms", "offset_unit": "utf16"}`} {
		first := s.Post("/v1/score", body).Result(t)
		if !first.Judge.Asked || !first.Judge.Pending || first.Judge.ID == "" || first.Source != toxscreen.SourceClassifier {
			t.Fatalf("%+v", first)
		}
		path := "/v1/score/" + first.Judge.ID
		if pending := s.Get(path).Result(t); !pending.Judge.Pending || pending.ID != first.ID {
			t.Errorf("%+v", pending)
		}
		judge.Answer <- struct{}{}
		servertest.Wait(t, "the verdict is there", func() bool { return !s.Get(path).Result(t).Judge.Pending })
		final := s.Get(path).Result(t)
		if final.ID != first.ID || final.Judge.ID != first.Judge.ID || final.Source != toxscreen.SourceFused || final.OffsetUnit != first.OffsetUnit || final.Attributes[toxscreen.Insult].Score != 0.9 {
			t.Errorf("%+v", final)
		}
	}
	if n := len(all()); n != 2 {
		t.Errorf("%d results are kept, want 2", n)
	}
	for id, data := range all() {
		if strings.Contains(data, "maybe") {
			t.Errorf("what is kept by %s holds the text: %s", id, data)
		}
	}
}

// The header is for clients that cannot change the body.
func TestTheHeaderSaysHowLongToWait(t *testing.T) {
	judge := servertest.NewSlow()
	results, _ := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{JudgeWait: map[string]time.Duration{"native": wait30s}, Results: results})
	if result := s.Post("/v1/score", `{"text": "maybe"}`, "Toxscreen-Judge-Wait", "0s").Result(t); !result.Judge.Pending {
		t.Errorf("%+v", result.Judge)
	}
	if r := s.Post("/v1/score", `{"text": "maybe"}`, "Toxscreen-Judge-Wait", "-1s"); r.Code(t) != "invalid_request" {
		t.Errorf("%s", r.Body)
	}
}

// Nothing of a text that must not be stored outlives its request: where the answer
// does not wait long enough, there is no verdict, and the answer says so.
func TestNothingIsKeptOfATextThatMustNotBeStored(t *testing.T) {
	judge := servertest.NewSlow()
	kept, all := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{Results: kept})
	at := s.Post("/v1/score", `{"text": "maybe", "do_not_store": true}`).Result(t)
	if at.Judge.Pending || at.Judge.Asked || !strings.Contains(at.Judge.Why, "nothing of the text may be kept") || judge.Asked.Load() != 0 {
		t.Errorf("%+v", at.Judge)
	}
	soon := s.Post("/v1/score", `{"text": "maybe", "do_not_store": true, "judge_wait": "1ms"}`).Result(t)
	if soon.Judge.Pending || !soon.Judge.Asked || !strings.Contains(soon.Judge.Error, "gave no verdict within 1ms") {
		t.Errorf("%+v", soon.Judge)
	}
	servertest.Wait(t, "the judge is left alone", func() bool { return judge.Ended.Load() == 1 })
	close(judge.Answer)
	if late := s.Post("/v1/score", `{"text": "maybe", "do_not_store": true, "judge_wait": "30s"}`).Result(t); late.Source != toxscreen.SourceFused {
		t.Errorf("%+v", late.Judge)
	}
	if len(all()) != 0 || judge.Stored.Load() != 0 {
		t.Errorf("%d results are kept, %d verdicts might have been", len(all()), judge.Stored.Load())
	}
}

// The number of outstanding verdicts is limited: beyond it, the answer says that
// there will be no verdict.
func TestOutstandingVerdictsAreBounded(t *testing.T) {
	judge := servertest.NewSlow()
	results, _ := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{Results: results})
	s.API.SetMaxLate(2)
	for range 2 {
		if r := s.Post("/v1/score", `{"text": "maybe"}`).Result(t); !r.Judge.Pending {
			t.Errorf("%+v", r.Judge)
		}
	}
	if r := s.Post("/v1/score", `{"text": "maybe"}`).Result(t); r.Judge.Pending || r.Judge.Asked || !strings.Contains(r.Judge.Why, "too many verdicts outstanding") {
		t.Errorf("%+v", r.Judge)
	}
	if r := s.Post("/v1/score", `{"text": "maybe", "judge_wait": "1ms"}`).Result(t); r.Judge.Pending || !strings.Contains(r.Judge.Error, "too many verdicts are outstanding") {
		t.Errorf("%+v", r.Judge)
	}
	close(judge.Answer)
	servertest.Wait(t, "another verdict may be outstanding again", func() bool { return s.Post("/v1/score", `{"text": "maybe"}`).Result(t).Judge.Pending })
}

// When a client disconnects, its work is cancelled.
func TestTheJudgeIsLeftAloneWhenTheClientIsGone(t *testing.T) {
	judge := servertest.NewSlow()
	s := serve(t, judged(judge.Judge), server.Config{JudgeWait: map[string]time.Duration{"native": wait30s}})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/score", strings.NewReader(`{"text": "maybe"}`))
		if err == nil {
			var response *http.Response
			if response, err = s.Client().Do(r); err == nil {
				err = response.Body.Close()
			}
		}
		gone <- err
	}()
	servertest.Wait(t, "the judge is asked", func() bool { return judge.Asked.Load() == 1 })
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	servertest.Wait(t, "the judge is left alone", func() bool { return judge.Ended.Load() == 1 })
	servertest.Wait(t, "the log says so", func() bool { return strings.Contains(s.Log.String(), "client_gone") })
}

// known is a judge of a server, as package screen looks it up.
type known struct {
	err   error // of every check
	trust atomic.Pointer[screen.Trust]
	calls struct{ find, recheck atomic.Int64 }
}

func (k *known) FindJudge(context.Context) error {
	k.calls.find.Add(1)
	return k.err
}

func (k *known) RecheckJudge(context.Context) error {
	k.calls.recheck.Add(1)
	return k.err
}

func (k *known) JudgeTrust() (screen.Trust, bool) {
	if t := k.trust.Load(); t != nil {
		return *t, true
	}
	return screen.Trust{}, false
}

// Readiness says whether the judge answers before a text needs it, and when it no
// longer does.
func TestReadinessTellsOfTheJudge(t *testing.T) {
	if r := serve(t, toxscreen.New(words), server.Config{}).Get("/readyz"); r.Body != `{"ready":true,"model":"tiny@1.0.0","judge":"none"}`+"\n" {
		t.Errorf("%s", r.Body)
	}
	for want, err := range map[string]error{"answers": nil, "fails": errors.New("nobody listens")} {
		fails := func(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
			return toxscreen.Verdict{}, errors.New("broken")
		}
		s := serve(t, judged(fails), server.Config{Judge: &known{err: err}, JudgeWait: map[string]time.Duration{"native": wait30s}})
		servertest.Wait(t, "the judge "+want, func() bool { return strings.Contains(s.Get("/readyz").Body, `"judge":"`+want+`"`) })
		if r := s.Post("/v1/score", `{"text": "maybe"}`).Result(t); r.Judge.Error != "broken" {
			t.Errorf("%+v", r.Judge)
		}
		if r := s.Get("/readyz"); !strings.Contains(r.Body, `"ready":true`) || !strings.Contains(r.Body, `"judge":"fails"`) {
			t.Errorf("%s", r.Body)
		}
	}
}

// Readiness says whether labels are stored, so that pages offer to send them only then.
func TestReadinessTellsOfFeedback(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{Feedback: servertest.Feedback(t, store.FeedbackOptions{})})
	if r := s.Get("/readyz"); r.Body != `{"ready":true,"model":"tiny@1.0.0","judge":"none","feedback":true}`+"\n" {
		t.Errorf("%s", r.Body)
	}
}

// Readiness and metrics say what the judge's verdicts may change, from when that is
// known, and follow its changes.
func TestTheServerTellsWhatTheJudgeIsTrustedFor(t *testing.T) {
	never := func(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
		return insult(), nil
	}
	judge := &known{}
	s := serve(t, judged(never), server.Config{Judge: judge})
	says := func(readiness string, insults string) {
		t.Helper()
		if r := s.Get("/readyz"); !strings.HasSuffix(r.Body, readiness+"}\n") {
			t.Errorf("%s, want …%s", r.Body, readiness)
		}
		metrics := servertest.Debug(t, s.API, "/metrics")
		for _, line := range []string{`toxscreen_judge_trusted{attribute="insult"} ` + insults, `toxscreen_judge_trusted{attribute="toxicity"} 0`} {
			if !strings.Contains(metrics, line+"\n") {
				t.Errorf("there is no line %s in\n%s", line, metrics)
			}
		}
	}
	servertest.Wait(t, "the judge is found", func() bool { return strings.Contains(s.Get("/readyz").Body, `"judge":"answers"`) })
	says(`"judge":"answers"`, "0")
	judge.trust.Store(&screen.Trust{State: screen.Untested, Why: "no self-test"})
	says(`"judge_trust":{"state":"untested","why":"no self-test"}`, "0")
	judge.trust.Store(&screen.Trust{State: screen.Trusted, Attributes: []toxscreen.Attribute{toxscreen.Insult}, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Why: "it passed"})
	says(`"judge_trust":{"state":"trusted","attributes":["insult"],"since":"2026-01-02T03:04:05Z","why":"it passed"}`, "1")

	if metrics := servertest.Debug(t, serve(t, toxscreen.New(words), server.Config{}).API, "/metrics"); strings.Contains(metrics, "judge_trusted") {
		t.Error("a server without a judge has metrics of its trust")
	}
}

// A judge that answers is checked again, without loading its model, since its model
// or its self-test may change. One that fails is searched for.
func TestTheJudgeIsCheckedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge := &known{}
		srv, err := servertest.New(toxscreen.New(words), server.Config{Judge: judge})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Minute + time.Second)
		if find, again := judge.calls.find.Load(), judge.calls.recheck.Load(); find != 1 || again != 10 {
			t.Errorf("in ten minutes it was searched for %d times and checked %d times, want 1 and 10", find, again)
		}
		srv.Close()
	})
}
