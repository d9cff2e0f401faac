package httpapi

import (
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

// patronus is Patronus' evaluation API.
var patronus = api{name: "patronus", fail: failPatronus}

func (s *Server) patronusRoutes(mux *http.ServeMux) {
	s.handle(mux, "POST /v1/evaluate", patronus, s.evaluate)
	s.handle(mux, "GET /v1/evaluators", patronus, func(w http.ResponseWriter, r *http.Request) error {
		writeJSON(w, http.StatusOK, formats.ListPatronusEvaluators(r.URL.Query().Get("by_alias_or_id")))
		return nil
	})
	s.handle(mux, "GET /v1/evaluator-criteria", patronus, func(w http.ResponseWriter, r *http.Request) error {
		writeJSON(w, http.StatusOK, formats.ListPatronusCriteria(r.URL.Query().Get("name")))
		return nil
	})
}

func failPatronus(w http.ResponseWriter, _ *http.Request, f *failure) {
	writeJSON(w, f.status(), formats.NewPatronusError(f.message))
}

func (s *Server) evaluate(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	if err := checkDepth(data); err != nil {
		return err
	}
	in, err := formats.ReadPatronus(data)
	if err != nil {
		return fail(invalidRequest, "%v", err)
	}
	scored := formats.PatronusScored{At: time.Now()}
	if in.Scores() {
		if scored.Result, err = s.score(r.Context(), request{text: *in.Output, forget: in.Capture == "none"}); err != nil {
			return err
		}
		if scored.Parts, err = s.sentences(r.Context(), *in.Output, scored.Result, toxscreen.Scores{}); err != nil {
			return err
		}
		scored.Duration = time.Since(scored.At)
	}
	writeJSON(w, http.StatusOK, formats.ToPatronus(in, scored))
	return nil
}
