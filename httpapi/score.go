package httpapi

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toxscreen/toxscreen"
)

// request is one text to score.
type request struct {
	text string
	// wait is how long the answer may wait for the judge; nil is what the
	// caller's key has, or the API.
	wait *time.Duration
	// forget keeps nothing of the text: no verdict, no late result.
	forget bool
	// thresholds take the place of the model's where they have one.
	thresholds toxscreen.Scores
	// turns is nil for the text that a request is let in with. The others of
	// the request wait for their turns however long that takes, but only so many
	// at once as turns has, so that other requests have theirs between them.
	turns *semaphore.Weighted
	// late returns what is kept of a final result that comes after the answer,
	// for whoever fetches it by its id; nil keeps nothing but the verdict.
	late func(final toxscreen.Result) ([]byte, error)
}

// score scores one text: all routes do it here. The error is a [*failure] or
// becomes one by [failureOf]. Where the time for the judge ends before it
// answers, the result says that it is pending, or why the judge is not asked.
func (s *Server) score(ctx context.Context, r request) (toxscreen.Result, error) {
	e := exchangeOf(ctx)
	e.count(len(r.text))
	if err := e.caller.allow(ctx, r.turns != nil); err != nil {
		return toxscreen.Result{}, s.ended(ctx, err)
	}
	if r.forget {
		ctx = toxscreen.WithoutStoring(ctx)
	}
	screener := s.screener
	if r.thresholds.Len() > 0 {
		screener = screener.With(toxscreen.WithThresholds(r.thresholds))
	}
	screening, err := s.begin(ctx, screener, r)
	if err != nil {
		return toxscreen.Result{}, s.ended(ctx, err)
	}
	if !screening.Result().Judge.Pending {
		return screening.Result(), nil
	}
	result, err := s.consult(ctx, screening, r)
	return result, s.ended(ctx, err)
}

// begin has a text classified when it is its turn.
func (s *Server) begin(ctx context.Context, screener *toxscreen.Screener, r request) (*toxscreen.Screening, error) {
	enter := s.queue.enter
	if r.turns != nil {
		if err := r.turns.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer r.turns.Release(1)
		enter = s.queue.await
	}
	leave, err := enter(ctx, len(r.text))
	if err != nil {
		return nil, err
	}
	defer leave()
	return screener.Begin(ctx, r.text)
}

// ended returns the error of a request whose client is gone as such, whatever
// it interrupted.
func (s *Server) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	return &failure{code: clientGone, message: "failed to score text: the client is gone", cause: ctx.Err()}
}
