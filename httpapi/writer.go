package httpapi

import (
	"net/http"

	"github.com/toxscreen/toxscreen/formats"
)

// writer is Writer's toxic check. Writer has no route for it, so the route and the
// failures are our own.
var writer = api{name: "writer", fail: failNative, routes: (*Server).writerRoutes}

func (s *Server) writerRoutes() []route {
	return []route{{pattern: "POST /v1/toxic-check", handle: s.toxicCheck}}
}

func (s *Server) toxicCheck(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	var in formats.WriterRequest
	if err := decode(data, &in); err != nil {
		return err
	}
	var texts []string
	for _, text := range []*string{in.Prompt, in.Completion} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	if len(texts) == 0 {
		return fail(invalidRequest, `failed to read the request: it has no text: send {"prompt": "…", "completion": "…"} or one of them`)
	}
	results, err := s.results(r.Context(), texts, request{})
	if err != nil {
		return err
	}
	var out formats.WriterCheck
	if in.Prompt != nil {
		out.PromptLabels, results = formats.ToWriterLabels(results[0]), results[1:]
	}
	if in.Completion != nil {
		out.CompletionLabels = formats.ToWriterLabels(results[0])
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
