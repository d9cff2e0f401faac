package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/toxscreen/toxscreen"
)

// request is one text to score.
type request struct {
	text string
	// wait is how long the answer may wait for the judge; nil is what the
	// caller's key or the route has.
	wait *time.Duration
	// forget keeps nothing of the text: no verdict, no late result.
	forget bool
	// thresholds take the place of the model's.
	thresholds toxscreen.Scores
	// admitted is true for a text of a request whose first one was admitted.
	admitted bool
}

// score scores one text: all routes do it here. The error is a [*failure] or
// becomes one by [failureOf].
func (s *Server) score(ctx context.Context, r request) (toxscreen.Result, error) {
	enter := s.queue.enter
	if r.admitted {
		enter = s.queue.await
	}
	leave, err := enter(ctx, len(r.text))
	if err != nil {
		return toxscreen.Result{}, err
	}
	screener := s.screener
	if r.thresholds.Len() > 0 {
		screener = screener.With(toxscreen.WithThresholds(r.thresholds))
	}
	result, err := screener.Score(ctx, r.text)
	leave()
	if err != nil && errors.Is(err, ctx.Err()) {
		return result, context.Cause(ctx)
	}
	return result, err
}
