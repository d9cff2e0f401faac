package httpapi

import (
	"context"
	"net/http"
	"time"
)

// The states of the judge, as GET /readyz shows them.
const (
	judgeNone    = "none"    // not configured
	judgeUnknown = "unknown" // not asked yet
	judgeAnswers = "answers" // the last call succeeded
	judgeFails   = "fails"   // the last call failed
)

// judgePause is the time between two checks of the judge.
const judgePause = 30 * time.Second

// watch checks the judge until it answers, and again when it no longer does, until
// ctx ends. So the judge's model is loaded before the first text needs it, and
// readiness does not depend on a text.
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
}

// healthRoutes adds the routes for probes: whether the process is alive, and
// whether it is ready.
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
