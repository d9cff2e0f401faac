package server

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Turn is the place of a text among those of its request, as [Each] gives it. The zero Turn
// is for a request with a single text.
type Turn struct {
	group *group
	first bool // of the group
}

// group is a request with many texts. It is admitted or rejected with its first
// text. The others then wait for slots of the queue as long as it takes, but hold
// and wait for only as many slots at once as the queue has: texts of other
// requests get slots in between. The sentences of a text belong to the group of the text;
// those of a single text form a group that is admitted from the start.
type group struct {
	queue    *queue
	slots    *semaphore.Weighted
	admitted chan struct{} // closed when the request is admitted
}

func newGroup(q *queue) *group {
	return &group{queue: q, slots: semaphore.NewWeighted(int64(q.parallel)), admitted: make(chan struct{})}
}

func (g *group) isAdmitted() bool {
	select {
	case <-g.admitted:
		return true
	default:
		return false
	}
}

// acquire waits for the slots of a text whose request was admitted.
func (g *group) acquire(ctx context.Context, bytes int) (release func(), err error) {
	slots := g.queue.slotsOf(bytes)
	if err := g.slots.Acquire(ctx, slots); err != nil {
		return nil, err
	}
	free, err := g.queue.acquire(ctx, bytes)
	if err != nil {
		g.slots.Release(slots)
		return nil, err
	}
	return func() {
		free()
		g.slots.Release(slots)
	}, nil
}

// inTurn works on a text of some bytes when it has its slots. The first text of a request
// is admitted or rejected, and the others with it.
func (c *Call) inTurn(ctx context.Context, bytes int, t Turn, work func() error) error {
	defer c.clock.work()()
	begin := c.follow
	if t.group == nil || t.first {
		begin = c.enter
	}
	release, err := begin(ctx, bytes, t.group)
	if err != nil {
		return err
	}
	defer release()
	return work()
}

// enter admits or rejects a request with its first text. g is nil for a request with a single
// text.
func (c *Call) enter(ctx context.Context, bytes int, g *group) (release func(), err error) {
	if err := c.caller.allow(); err != nil {
		return nil, err
	}
	release, err = c.server.queue.admit(ctx, bytes)
	if err == nil && g != nil {
		close(g.admitted)
	}
	return release, err
}

// follow waits until the request is admitted, then until one of its other texts is within the
// caller's rate limit and has its slots.
func (c *Call) follow(ctx context.Context, bytes int, g *group) (release func(), err error) {
	select {
	case <-g.admitted:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := c.caller.wait(ctx); err != nil {
		return nil, err
	}
	return g.acquire(ctx, bytes)
}

// Outcome is the result of one of many texts, or its error.
type Outcome[T any] struct {
	Result T
	Err    error
}

// Each calls do for each of the n texts of a request, and yields their outcomes in
// order, each as soon as it and those before it are known. Where the request is rejected,
// the first outcome has the failure, with a time to retry after, and do is called for no
// other text. When the sequence ends, all work has ended but late verdicts.
func Each[T any](ctx context.Context, c *Call, n int, do func(ctx context.Context, i int, t Turn) (T, error)) iter.Seq2[int, Outcome[T]] {
	g := newGroup(c.server.queue)
	return each(ctx, g, n, func(ctx context.Context, i int) (T, error) { return do(ctx, i, Turn{g, i == 0}) })
}

// window is how many texts of a request are processed at once. It exceeds the
// slots, since texts that wait for the judge hold none.
const window = 64

// each is [Each] for the texts, or for sentences, of a group.
func each[T any](ctx context.Context, g *group, n int, do func(ctx context.Context, i int) (T, error)) iter.Seq2[int, Outcome[T]] {
	return func(yield func(int, Outcome[T]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var calls sync.WaitGroup
		defer calls.Wait()
		defer cancel()
		outcomes := make([]chan Outcome[T], n)
		begun := 0
		begin := func() {
			if begun == n {
				return
			}
			i := begun
			begun++
			outcomes[i] = make(chan Outcome[T], 1)
			calls.Go(func() {
				var o Outcome[T]
				o.Err = Guarded(func() (err error) {
					o.Result, err = do(ctx, i)
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

// all calls do for each text of a request and returns the results in order, or the error of
// the first text that failed.
func all[T any](ctx context.Context, c *Call, texts []string, do func(ctx context.Context, text string, t Turn) (T, error)) ([]T, error) {
	if most := c.server.config.MaxTexts; len(texts) > most {
		return nil, Fail(TooManyTexts, "failed to read the request: it has %d texts, the limit is %d; send fewer at once", len(texts), most)
	}
	return collect(len(texts), Each(ctx, c, len(texts), func(ctx context.Context, i int, t Turn) (T, error) { return do(ctx, texts[i], t) }))
}

// collect returns n results, or the first error.
func collect[T any](n int, outcomes iter.Seq2[int, Outcome[T]]) ([]T, error) {
	results := make([]T, n)
	for i, o := range outcomes {
		if o.Err != nil {
			return nil, o.Err
		}
		results[i] = o.Result
	}
	return results, nil
}
