package httpapi

import (
	"context"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

// results scores the texts of a request, each as base says. It fails with the
// first that fails.
func (s *Server) results(ctx context.Context, texts []string, base request) ([]toxscreen.Result, error) {
	if len(texts) > s.config.MaxTexts && !base.sentence {
		return nil, fail(tooManyTexts, "failed to read the request: it has %d texts, the limit is %d; send fewer at once", len(texts), s.config.MaxTexts)
	}
	requests := make([]request, len(texts))
	for i, text := range texts {
		requests[i] = base
		requests[i].text = text
	}
	results := make([]toxscreen.Result, len(texts))
	for i, o := range s.scoreAll(ctx, requests) {
		if o.err != nil {
			return nil, o.err
		}
		results[i] = o.result
	}
	return results, nil
}

// mostSentences is how many pieces a text is cut into: of more, neighbours are
// one. Together they take about as long as the text.
const mostSentences = 100

// sentences returns the sentences of a text and what each scores by itself, for
// the formats that tell by them where a text is toxic. No judge is asked about a
// sentence, and nothing of it is kept.
func (s *Server) sentences(ctx context.Context, text string, whole toxscreen.Result, thresholds toxscreen.Scores) ([]formats.Part, error) {
	pieces := formats.Sentences(text, mostSentences)
	if len(pieces) == 1 {
		return []formats.Part{{Text: text, Result: whole}}, nil
	}
	wait := time.Duration(0)
	results, err := s.results(ctx, pieces, request{wait: &wait, forget: true, thresholds: thresholds, sentence: true})
	if err != nil {
		return nil, err
	}
	parts := make([]formats.Part, len(pieces))
	for i, piece := range pieces {
		parts[i] = formats.Part{Text: piece, Result: results[i]}
	}
	return parts, nil
}
