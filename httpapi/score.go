package httpapi

import (
	"context"
	"errors"
	"iter"
	"sync"
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
	// check refuses a text by the language that the classifier takes it for,
	// before any judge is asked; nil refuses none.
	check func(toxscreen.Language) error
	// group is nil where there is no other text; see scoreAll, which sets both.
	group *group
	first bool
	// sentence is true for a sentence of a text that was scored already: it is let
	// in, and counts neither as a text nor for the caller's rate.
	sentence bool
	// late returns what is kept of a final result that comes after the answer,
	// for whoever fetches it by its id; nil keeps nothing but the verdict.
	late func(final toxscreen.Result) ([]byte, error)
}

// score scores one text: all routes do it here. The error is a [*failure] or
// becomes one by [failureOf]. Where the time for the judge ends before it
// answers, the result says that it is pending, or why the judge is not asked.
func (s *Server) score(ctx context.Context, r request) (toxscreen.Result, error) {
	if !r.sentence {
		exchangeOf(ctx).count(len(r.text))
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
	if r.check != nil {
		if err := r.check(screening.Language()); err != nil {
			return toxscreen.Result{}, err
		}
	}
	if !screening.Result().Judge.Pending {
		return screening.Result(), nil
	}
	result, err := s.consult(ctx, screening, r)
	return result, s.ended(ctx, err)
}

// begin has a text classified when it is its turn. The first text of a request is
// let in or refused.
func (s *Server) begin(ctx context.Context, screener *toxscreen.Screener, r request) (*toxscreen.Screening, error) {
	caller := exchangeOf(ctx).caller
	var leave func()
	var err error
	if r.group == nil || r.first {
		if err = caller.allow(); err == nil {
			leave, err = s.queue.enter(ctx, len(r.text))
		}
		if err == nil && r.first {
			close(r.group.in)
		}
	} else {
		select {
		case <-r.group.in:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !r.sentence {
			if err = caller.await(ctx); err != nil {
				return nil, err
			}
		}
		turns := s.queue.share(len(r.text))
		if err = r.group.turns.Acquire(ctx, turns); err != nil {
			return nil, err
		}
		defer r.group.turns.Release(turns)
		leave, err = s.queue.await(ctx, len(r.text))
	}
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
	if f, ok := errors.AsType[*failure](err); ok && f.code != notJudged {
		return err
	}
	return &failure{code: clientGone, message: "failed to score text: the client is gone", cause: ctx.Err()}
}

// group is a request with many texts. It is let in with its first one. The others
// wait for their turns however long that takes, but only so many at once as turns
// has, so that other requests have theirs between them. Sentences of a text belong to one
// that is in.
type group struct {
	turns *semaphore.Weighted
	in    chan struct{} // closed when the request is let in
}

// isIn tells whether the request is let in.
func (g *group) isIn() bool {
	select {
	case <-g.in:
		return true
	default:
		return false
	}
}

// outcome is what became of one of many texts.
type outcome struct {
	result toxscreen.Result
	err    error
}

// window is how many texts of a request are under way at once: those that wait
// for the judge keep the classifier from nothing.
const window = 64

// scoreAll scores the texts of one request and yields what becomes of them in
// their order, as soon as that is known. Where the request is not let in, the
// outcome of the first has the failure, with a time to retry after, and no other
// text is scored. All work has ended, or is behind the answer, when the sequence
// ends.
func (s *Server) scoreAll(ctx context.Context, requests []request) iter.Seq2[int, outcome] {
	return func(yield func(int, outcome) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var calls sync.WaitGroup
		defer calls.Wait()
		defer cancel()
		g := &group{turns: semaphore.NewWeighted(int64(s.queue.parallel)), in: make(chan struct{})}
		if len(requests) > 0 && requests[0].sentence {
			close(g.in)
		}
		outcomes := make([]chan outcome, len(requests))
		begun := 0
		begin := func() {
			if begun == len(requests) {
				return
			}
			i := begun
			begun++
			outcomes[i] = make(chan outcome, 1)
			calls.Go(func() {
				var o outcome
				o.err = guarded(func() (err error) {
					r := requests[i]
					r.group, r.first = g, i == 0 && !r.sentence
					o.result, err = s.score(ctx, r)
					return err
				})
				if i == 0 && !g.isIn() {
					cancel()
				}
				outcomes[i] <- o
			})
		}
		for range window {
			begin()
		}
		for i := range requests {
			o := <-outcomes[i]
			begin()
			if !yield(i, o) {
				return
			}
		}
	}
}
