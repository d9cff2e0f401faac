package httpapi

import (
	"cmp"
	"crypto/rand"
	"net/http"

	"github.com/toxscreen/toxscreen/formats"
)

// openAI is OpenAI's moderations API.
var openAI = api{name: "openai", fail: failOpenAI, routes: (*Server).openAIRoutes}

func (s *Server) openAIRoutes() []route {
	return []route{{pattern: "POST /v1/moderations", handle: s.moderate}}
}

func failOpenAI(w http.ResponseWriter, _ *http.Request, f *failure) {
	kind, param, name := "invalid_request_error", "", ""
	switch {
	case f.code == wrongKey:
		name = "invalid_api_key"
	case f.code == wrongLanguage:
		param, name = "input", string(f.code)
	case f.retry > 0:
		kind, name = "requests", "rate_limit_exceeded"
	case f.status() >= http.StatusInternalServerError:
		kind = "server_error"
	case f.code == invalidRequest, f.code == tooLong, f.code == tooManyTexts:
		param = "input"
	}
	writeJSON(w, f.status(), formats.NewOpenAIError(f.message, kind, param, name))
}

func (s *Server) moderate(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	if err := checkDepth(data); err != nil {
		return err
	}
	in, err := formats.ReadOpenAI(data)
	if err != nil {
		return fail(invalidRequest, "%v", err)
	}
	results, err := s.decisions(r.Context(), w.Header(), in.Texts, request{})
	if err != nil {
		return err
	}
	out := formats.OpenAIModeration{ID: "modr-" + rand.Text(), Model: cmp.Or(s.screener.Info().Version, in.Model)}
	for _, result := range results {
		out.Results = append(out.Results, formats.ToOpenAI(result))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
