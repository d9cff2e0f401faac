package server

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

// request is one text to score.
type request struct {
	text string
	// wait is how long the answer may wait for the judge; nil for the time of the
	// caller's key, or of the API.
	wait *time.Duration
	// forget keeps nothing of the text: no verdict, no late result.
	forget bool
	// thresholds replace those of the model, attribute by attribute.
	thresholds toxscreen.Scores
	// language is that of the text, if the caller states it.
	language string
	// full runs the whole network on the text. Nothing can be fitted on the estimates of
	// a text that left early.
	full bool
	// anyLanguage decides a text in a language that the model does not know by its
	// scores.
	anyLanguage bool
	// check rejects a text by what the classifier found, before the judge is asked; nil
	// rejects none.
	check func(*toxscreen.Screening) error
	// sentences adds the sentences to the result.
	sentences bool
	// entities also finds the personal data in the text; nil does not.
	entities toxscreen.EntityFinder
	turn
	// late encodes a final result that comes after the answer, to be fetched by
	// its id; nil where only the verdict is kept.
	late func(final toxscreen.Result) ([]byte, error)
}

// turn is the place of a text among those of its request.
type turn struct {
	// group is nil for the only text of a request; [each] sets group and first. A
	// sentence has the group of its text.
	group *group
	first bool
	// sentence is true for a sentence of a text that was scored already. It needs
	// no admission, and counts neither as a text nor for the caller's rate limit.
	sentence bool
}

// score scores one text; all routes use it. The error is a [*failure] or becomes
// one by [failureOf]. Where the judge does not answer in time, the result says
// that it is pending, or why the judge is not asked.
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
	if r.language != "" {
		screener = screener.With(toxscreen.WithLanguage(r.language))
	}
	if r.anyLanguage || r.sentence { // the language of a text is decided for the whole
		screener = screener.With(toxscreen.WithAnyLanguage())
	}
	if r.full {
		screener = screener.With(toxscreen.WithFullNetwork())
	}
	if r.entities != nil {
		screener = screener.With(toxscreen.WithEntities(r.entities))
	}
	screening, err := s.begin(ctx, screener, r)
	if err != nil {
		return toxscreen.Result{}, s.ended(ctx, err)
	}
	if !r.sentence && r.language == "" {
		s.metrics.classified(screening.Language())
	}
	if r.check != nil {
		if err := r.check(screening); err != nil {
			return toxscreen.Result{}, err
		}
	}
	// Before the judge is asked, since a late result has the sentences too.
	var parts []formats.Part
	if r.sentences {
		if parts, err = s.sentences(ctx, r.text, screening.Result(), r.thresholds, r.group); err != nil {
			return toxscreen.Result{}, s.ended(ctx, err)
		}
		if encode := r.late; encode != nil {
			r.late = func(final toxscreen.Result) ([]byte, error) { return encode(withSentences(final, parts)) }
		}
	}
	result := screening.Result()
	if result.Judge.Pending {
		if result, err = s.consult(ctx, screening, r); err != nil {
			return toxscreen.Result{}, s.ended(ctx, err)
		}
	}
	if !r.sentence {
		s.metrics.scored(exchangeOf(ctx).api.name, result)
	}
	return withSentences(result, parts), nil
}

// begin classifies a text in its turn.
func (s *Server) begin(ctx context.Context, screener *toxscreen.Screener, r request) (screening *toxscreen.Screening, err error) {
	err = s.inTurn(ctx, len(r.text), r.turn, func() (err error) {
		screening, err = screener.Begin(ctx, r.text)
		return err
	})
	return screening, err
}

// inTurn works on a text of some bytes when it has its slots. The first text of a request
// is admitted or rejected, and the others with it.
func (s *Server) inTurn(ctx context.Context, bytes int, t turn, work func() error) error {
	e := exchangeOf(ctx)
	defer e.clock.work()()
	caller := e.caller
	var release func()
	var err error
	if t.group == nil || t.first {
		if err = caller.allow(); err == nil {
			release, err = s.queue.admit(ctx, bytes)
		}
		if err == nil && t.first {
			close(t.group.admitted)
		}
	} else {
		select {
		case <-t.group.admitted:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !t.sentence {
			if err = caller.wait(ctx); err != nil {
				return err
			}
		}
		slots := s.queue.slotsOf(bytes)
		if err = t.group.slots.Acquire(ctx, slots); err != nil {
			return err
		}
		defer t.group.slots.Release(slots)
		release, err = s.queue.acquire(ctx, bytes)
	}
	if err != nil {
		return err
	}
	defer release()
	return work()
}

// ended replaces the error of a request whose time is over, or whose client has
// disconnected, whatever that interrupted, and returns any other as it is.
func (s *Server) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if f, ok := errors.AsType[*failure](err); ok && f.code != notJudged {
		return err
	}
	if isTimeOver(ctx) {
		return context.Cause(ctx)
	}
	return &failure{code: clientGone, message: "failed to score text: the client has disconnected", cause: ctx.Err()}
}

// group is a request with many texts. It is admitted or rejected with its first
// text. The others then wait for slots of the queue as long as it takes, but hold
// and wait for only as many slots at once as the queue has: texts of other
// requests get slots in between. Sentences of one of many texts belong to its group;
// those of an only text form a group that is admitted from the start.
type group struct {
	slots    *semaphore.Weighted
	admitted chan struct{} // closed when the request is admitted
}

func (g *group) isAdmitted() bool {
	select {
	case <-g.admitted:
		return true
	default:
		return false
	}
}

// outcome is the result of one of many texts, or its error.
type outcome[T any] struct {
	result T
	err    error
}

// window is how many texts of a request are processed at once. It exceeds the
// slots, since texts that wait for the judge hold none.
const window = 64

// scoreAll is [each] for texts to score.
func (s *Server) scoreAll(ctx context.Context, requests []request) iter.Seq2[int, outcome[toxscreen.Result]] {
	var whole turn
	if len(requests) > 0 {
		whole = requests[0].turn
	}
	return each(ctx, s, len(requests), whole, func(ctx context.Context, i int, t turn) (toxscreen.Result, error) {
		r := requests[i]
		r.turn = t
		return s.score(ctx, r)
	})
}

// each calls do for each of the n texts of one request, and yields their outcomes in
// order, each as soon as it and those before it are known. Where the request is rejected,
// the first outcome has the failure, with a time to retry after, and do is called for no
// other text. whole is the turn of the text whose sentences these are, and else zero. When
// the sequence ends, all work has ended but late verdicts.
func each[T any](ctx context.Context, s *Server, n int, whole turn, do func(ctx context.Context, i int, t turn) (T, error)) iter.Seq2[int, outcome[T]] {
	return func(yield func(int, outcome[T]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var calls sync.WaitGroup
		defer calls.Wait()
		defer cancel()
		g := &group{slots: semaphore.NewWeighted(int64(s.queue.parallel)), admitted: make(chan struct{})}
		switch {
		case !whole.sentence:
		case whole.group != nil:
			g = whole.group
		default:
			close(g.admitted)
		}
		outcomes := make([]chan outcome[T], n)
		begun := 0
		begin := func() {
			if begun == n {
				return
			}
			i := begun
			begun++
			outcomes[i] = make(chan outcome[T], 1)
			calls.Go(func() {
				var o outcome[T]
				o.err = guarded(func() (err error) {
					o.result, err = do(ctx, i, turn{group: g, first: i == 0 && !whole.sentence, sentence: whole.sentence})
					return err
				})
				if i == 0 && !g.isAdmitted() {
					cancel()
				}
				outcomes[i] <- o
			})
		}
		for range window {
			begin()
		}
		for i := range n {
			o := <-outcomes[i]
			begin()
			if !yield(i, o) {
				return
			}
		}
	}
}
