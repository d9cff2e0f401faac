package server

import (
	"net/http"
	"slices"

	"github.com/toxscreen/toxscreen/formats"
)

// liteLLM is the API of LiteLLM's generic guardrail. Its failures are native ones:
// LiteLLM reads only their status, and blocks the request.
var liteLLM = api{name: "litellm", fail: failNative, routes: (*Server).liteLLMRoutes}

func (s *Server) liteLLMRoutes() []route {
	return []route{{pattern: "POST /beta/litellm_basic_guardrail_api", handle: s.guard}}
}

func (s *Server) guard(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	if err := checkDepth(data); err != nil {
		return err
	}
	in, err := formats.ReadLiteLLM(data)
	if err != nil {
		return fail(invalidRequest, "%v", err)
	}
	if slices.Contains(in.NotMeasured(), formats.Images) && !s.config.IgnoreImages {
		showNotMeasured(w.Header(), in.NotMeasured())
		writeJSON(w, http.StatusOK, formats.NewLiteLLMImages(in))
		return nil
	}
	base := request{thresholds: in.Parameters.Thresholds, language: in.Parameters.Language}
	results, err := s.decisions(r.Context(), w.Header(), in.Texts, base)
	if err != nil {
		return err
	}
	answer, left, err := formats.ToLiteLLM(in, results)
	if err != nil {
		return fail(invalidRequest, "%v", err)
	}
	if len(left) > 0 {
		base.anyLanguage = true // it was decided for the texts with the masked words
		if results, err = s.results(r.Context(), left, base); err != nil {
			return err
		}
		in.Texts, in.Parameters.OnFlagged = left, formats.LiteLLMBlock
		rest, _, err := formats.ToLiteLLM(in, results)
		if err != nil {
			return fail(invalidRequest, "%v", err)
		}
		if rest.BlockedReason != "" {
			answer = rest
			answer.BlockedReason += " That is without the words that could be masked."
		}
	}
	showNotMeasured(w.Header(), answer.Own.NotMeasured)
	writeJSON(w, http.StatusOK, answer)
	return nil
}
