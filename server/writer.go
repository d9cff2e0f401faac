package server

import (
	"context"
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
	labels, err := s.writerLabels(r.Context(), w.Header(), texts, request{})
	if err != nil {
		return err
	}
	var out formats.WriterCheck
	if in.Prompt != nil {
		out.PromptLabels, labels = labels[0], labels[1:]
	}
	if in.Completion != nil {
		out.CompletionLabels = labels[0]
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// writerLabels returns the labels of texts. A text that is not decided is a failure,
// since Writer has no label for it.
func (s *Server) writerLabels(ctx context.Context, header http.Header, texts []string, base request) ([][]formats.WriterLabel, error) {
	results, err := s.decisions(ctx, header, texts, base)
	if err == nil {
		err = allDecided(results)
	}
	if err != nil {
		return nil, err
	}
	labels := make([][]formats.WriterLabel, len(results))
	for i, result := range results {
		labels[i] = formats.ToWriterLabels(result)
	}
	return labels, nil
}
