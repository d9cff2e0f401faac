package httpapi

import (
	"context"
	"net/http"
	"time"
)

// The states of the judge.
const (
	judgeNone    = "none"    // there is none
	judgeUnknown = "unknown" // nobody has asked it yet
	judgeAnswers = "answers" // when it was asked last
	judgeFails   = "fails"   // when it was asked last
)

// lookAgain is how long a judge that does not answer is left alone.
const lookAgain = 30 * time.Second

// watch looks for the judge until it answers, and again when it no longer does,
// until ctx ends: so the first text that needs it does not wait for its model to
// be loaded, and readiness does not depend on a text.
func (s *Server) watch(ctx context.Context) {
	for {
		if s.judge.Load() != judgeAnswers {
			switch err := s.config.FindJudge(ctx); {
			case ctx.Err() != nil:
				return
			case err != nil:
				s.config.Log.Warn("the judge does not answer", "error", err)
				s.judge.Store(judgeFails)
			default:
				s.judge.Store(judgeAnswers)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
	}
}

// readiness is the body of GET /readyz.
type readiness struct {
	Ready bool   `json:"ready"`
	Model string `json:"model"`
	// Judge is one of the states of the judge. Without it, everything works on
	// the classifier.
	Judge string `json:"judge"`
}

// healthRoutes adds the routes that tell how the server is.
func (s *Server) healthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"alive": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		r := readiness{Ready: !s.ending.Load(), Model: s.screener.Info().Version, Judge: s.judge.Load().(string)}
		status := http.StatusOK
		if !r.Ready {
			status = http.StatusServiceUnavailable
		}
		writeJSON(w, status, r)
	})
}
