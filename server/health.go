package server

import (
	"context"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen/screen"
)

// The states of the judge, as GET /readyz shows them.
const (
	judgeNone    = "none"    // not configured
	judgeUnknown = "unknown" // not asked yet
	judgeAnswers = "answers" // the last call succeeded
	judgeFails   = "fails"   // the last call failed
)

// judgePause is the time between two checks of a judge that fails, judgeRecheck that
// between two checks of one that answers.
const (
	judgePause   = 30 * time.Second
	judgeRecheck = time.Minute
)

// watch checks the judge until it answers, and again when it no longer does, until
// ctx ends. So the judge's model is loaded before the first text needs it, and
// readiness does not depend on a text. While it answers, its model or its self-test
// may change, which is noticed here, too.
func (s *Server) watch(ctx context.Context) {
	var checked time.Time
	for {
		check := s.config.Judge.FindJudge
		answers := s.judge.Load() == judgeAnswers
		if answers {
			check = s.config.Judge.RecheckJudge
		}
		if !answers || time.Since(checked) >= judgeRecheck {
			switch err := check(ctx); {
			case ctx.Err() != nil:
				return
			case err != nil:
				s.config.Log.Warn("the judge does not answer", "error", err)
				s.judge.Store(judgeFails)
			default:
				s.judge.Store(judgeAnswers)
			}
			checked = time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(judgePause):
		}
	}
}

// readiness is the body of GET /readyz.
type readiness struct {
	Ready bool   `json:"ready"`
	Model string `json:"model"`
	// Judge is the state of the judge. Without a judge, or while it fails, all
	// scores are those of the classifier.
	Judge string `json:"judge"`
	// JudgeTrust is what verdicts may change; absent without a judge, and until it is
	// known.
	JudgeTrust *screen.Trust `json:"judge_trust,omitempty"`
	// Entities is the version of what finds personal data; absent if the server does not look
	// for it.
	Entities string `json:"entities,omitempty"`
	// Feedback is true if the server stores the labels that clients send.
	Feedback bool `json:"feedback,omitempty"`
}

// judgeTrust returns what verdicts may change; ok is false without a judge, and until
// it is known.
func (s *Server) judgeTrust() (t screen.Trust, ok bool) {
	if s.config.Judge == nil {
		return screen.Trust{}, false
	}
	return s.config.Judge.JudgeTrust()
}

// healthRoutes adds the routes for probes: whether the process is alive, and
// whether it is ready.
func (s *Server) healthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"alive": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		r := readiness{Ready: !s.ending.Load(), Model: s.screener.Versions().Model, Judge: s.judge.Load().(string), Feedback: s.config.Feedback != nil}
		if t, ok := s.judgeTrust(); ok {
			r.JudgeTrust = &t
		}
		if s.config.Finder != nil {
			r.Entities = s.config.Finder.Version()
		}
		status := http.StatusOK
		if !r.Ready {
			status = http.StatusServiceUnavailable
		}
		writeJSON(w, status, r)
	})
}
