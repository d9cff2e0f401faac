package server

import (
	"context"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/sentence"
)

// Sentence is a sentence of a text with its own result.
type Sentence struct {
	Text   string
	Result toxscreen.Result
}

// maxSentences is how many pieces a text is split into. Beyond that, neighbouring
// sentences are joined. Classifying all pieces takes about as long as the text.
const maxSentences = 100

// Sentences returns the sentences of a text with their own results, for formats that say
// where a text is toxic. whole is the result of the text, whose scale they have, and t its
// turn, with which the request was admitted: sentences count neither as texts nor for the
// caller's rate limit. The judge is not asked about a sentence, and nothing of it is stored.
func (c *Call) Sentences(ctx context.Context, text string, whole toxscreen.Result, thresholds toxscreen.Scores, t Turn) ([]Sentence, error) {
	pieces := SplitSentences(text)
	if len(pieces) == 1 {
		return []Sentence{{text, whole}}, nil
	}
	g := t.group
	if g == nil {
		g = newGroup(c.server.queue)
		close(g.admitted)
	}
	screener := c.server.on(whole.Versions.Scale).With(toxscreen.WithAnyLanguage()) // it is decided for the whole text
	if thresholds.Len() > 0 {
		screener = screener.With(toxscreen.WithThresholds(thresholds))
	}
	return collect(len(pieces), each(toxscreen.WithoutStoring(ctx), g, len(pieces), func(ctx context.Context, i int) (Sentence, error) {
		defer c.clock.work()()
		release, err := g.acquire(ctx, len(pieces[i]))
		if err != nil {
			return Sentence{}, ended(ctx, err)
		}
		defer release()
		screening, err := screener.Begin(ctx, pieces[i])
		if err != nil {
			return Sentence{}, ended(ctx, err)
		}
		return Sentence{pieces[i], screening.Result()}, nil
	}))
}

// SplitSentences splits a text into its sentences, see [sentence.Ends]: joined, they are the
// text. There are at most 100 pieces: of more sentences, neighbours are joined. An empty
// text has none.
func SplitSentences(text string) []string { return split(text, maxSentences) }

func split(text string, most int) []string {
	ends := sentence.Ends(text)
	size := (len(ends) + most - 1) / most
	var pieces []string
	for begin := 0; len(ends) > 0; {
		n := min(size, len(ends))
		pieces = append(pieces, text[begin:ends[n-1]])
		begin, ends = ends[n-1], ends[n:]
	}
	return pieces
}
