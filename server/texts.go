package server

import (
	"context"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

// results scores the texts of a request, each with the settings of base, and
// returns their results in order, or the error of the first text that failed.
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

// maxSentences is how many pieces a text is split into. Beyond that, neighbouring
// sentences are joined. Classifying all pieces takes about as long as the text.
const maxSentences = 100

// sentences returns the sentences of a text with their own results, for the
// formats that use them to say where a text is toxic. The judge is not asked about
// a sentence, and nothing of it is stored. g is the group of the text, nil for the
// only text of a request.
func (s *Server) sentences(ctx context.Context, text string, whole toxscreen.Result, thresholds toxscreen.Scores, g *group) ([]formats.Part, error) {
	pieces := formats.Sentences(text, maxSentences)
	if len(pieces) == 1 {
		return []formats.Part{{Text: text, Result: whole}}, nil
	}
	wait := time.Duration(0)
	results, err := s.results(ctx, pieces, request{wait: &wait, forget: true, thresholds: thresholds, turn: turn{sentence: true, group: g}})
	if err != nil {
		return nil, err
	}
	parts := make([]formats.Part, len(pieces))
	for i, piece := range pieces {
		parts[i] = formats.Part{Text: piece, Result: results[i]}
	}
	return parts, nil
}

// withSentences returns the result of a text with its sentences, if there are any. An only
// sentence has the score of the text, which a verdict may have changed.
func withSentences(whole toxscreen.Result, parts []formats.Part) toxscreen.Result {
	if len(parts) == 0 {
		return whole
	}
	if len(parts) == 1 {
		parts = []formats.Part{{Text: parts[0].Text, Result: whole}}
	}
	whole.Sentences = make([]toxscreen.Passage, len(parts))
	at := 0
	for i, p := range parts {
		whole.Sentences[i] = toxscreen.Passage{Start: at, End: at + len(p.Text), Score: p.Result.Score}
		at += len(p.Text)
	}
	return whole
}
