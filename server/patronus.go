package server

import (
	"context"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/pii"
)

// patronus is Patronus' evaluation API.
var patronus = api{
	name: "patronus", fail: failPatronus, routes: (*Server).patronusRoutes,
	paths: []string{"/v1/evaluate", "/v1/evaluators", "/v1/evaluator-criteria"},
}

func (s *Server) patronusRoutes() []route {
	return []route{
		{pattern: "POST /v1/evaluate", handle: s.evaluate},
		{pattern: "GET /v1/evaluators", handle: listEvaluators},
		{pattern: "GET /v1/evaluator-criteria", handle: listCriteria},
	}
}

func listEvaluators(w http.ResponseWriter, r *http.Request) error {
	writeJSON(w, http.StatusOK, formats.ListPatronusEvaluators(r.URL.Query().Get("by_alias_or_id")))
	return nil
}

func listCriteria(w http.ResponseWriter, r *http.Request) error {
	writeJSON(w, http.StatusOK, formats.ListPatronusCriteria(r.URL.Query().Get("name")))
	return nil
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
	if err := s.checkImages(in.Images()); err != nil {
		return err
	}
	scored := formats.PatronusScored{At: time.Now()}
	finds := in.Finds() && s.config.Finder != nil
	switch {
	case in.Scores():
		base := request{forget: in.Capture == "none"}
		if finds {
			base.entities = s.config.Finder
		}
		results, err := s.decisions(r.Context(), w.Header(), []string{*in.Output}, base)
		if err != nil {
			return err
		}
		scored.Result, scored.Entities = results[0], results[0].Entities
		if scored.Parts, err = s.patronusParts(r.Context(), *in.Output, scored.Result); err != nil {
			return err
		}
	case finds:
		if scored.Entities, err = s.find(r.Context(), s.config.Finder, *in.Output, turn{}); err != nil {
			return err
		}
	}
	if finds {
		scored.Health, scored.HIPAA = pii.HealthInformation(*in.Output, scored.Entities), hipaa(s.configured())
	}
	scored.Duration = time.Since(scored.At)
	answer := formats.ToPatronus(in, scored)
	showNotMeasured(w.Header(), answer.Own.NotMeasured)
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// patronusParts returns the sentences of a text. They are scored only where the
// text fails: for a text that passes, the answer needs only their positions.
func (s *Server) patronusParts(ctx context.Context, text string, whole toxscreen.Result) ([]formats.Part, error) {
	if whole.Attributes[toxscreen.Toxicity].Flagged {
		return s.sentences(ctx, text, whole, toxscreen.Scores{}, nil)
	}
	var parts []formats.Part
	for _, piece := range formats.Sentences(text, maxSentences) {
		parts = append(parts, formats.Part{Text: piece})
	}
	return parts, nil
}
