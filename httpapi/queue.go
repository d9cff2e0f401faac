package httpapi

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// queue lets as many texts be classified at once as keep the model busy. The
// others wait in their order, and none is let in that would wait too long: what
// can only be answered too late is refused while the client can still do
// something about it, and those who wait keep their time.
type queue struct {
	turns    *semaphore.Weighted
	parallel float64
	most     time.Duration // that a text may wait
	waiting  atomic.Int64  // cost of the texts that wait
	unit     atomic.Int64  // nanoseconds that a unit of cost took of late
}

// textCost is what a text costs beside its bytes: what scoring an empty one
// takes, in bytes.
const textCost = 200

// unitAtFirst is the nanoseconds of a byte before any was measured, on a slow
// core.
const unitAtFirst = 10_000

func newQueue(parallel int, most time.Duration) *queue {
	parallel = max(parallel, 1)
	q := &queue{turns: semaphore.NewWeighted(int64(parallel)), parallel: float64(parallel), most: most}
	q.unit.Store(unitAtFirst)
	return q
}

// enter waits for a text's turn and returns what must be called when it was
// classified.
func (q *queue) enter(ctx context.Context, bytes int) (leave func(), err error) {
	cost := int64(bytes + textCost)
	if !q.turns.TryAcquire(1) {
		// Half of the time is for what the estimate does not know: what is left of
		// the texts that have their turn, and a machine that becomes slower.
		if before := q.expected(q.waiting.Load()); before > q.most/2 {
			return nil, &failure{code: overloaded, retry: before, message: "failed to score text: the server has as much to do as it can; come again later"}
		}
		q.waiting.Add(cost)
		limited, cancel := context.WithTimeout(ctx, q.most)
		err := q.turns.Acquire(limited, 1)
		cancel()
		q.waiting.Add(-cost)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, &failure{code: noTime, retry: time.Second, message: "failed to score text: it was not its turn in time; come again later"}
		}
		if err != nil {
			return nil, err
		}
	}
	return q.entered(cost), nil
}

// await is enter for a text of a request that was let in already: it waits as
// long as it takes.
func (q *queue) await(ctx context.Context, bytes int) (leave func(), err error) {
	cost := int64(bytes + textCost)
	q.waiting.Add(cost)
	err = q.turns.Acquire(ctx, 1)
	q.waiting.Add(-cost)
	if err != nil {
		return nil, err
	}
	return q.entered(cost), nil
}

// entered returns what must be called when a text that had its turn was
// classified.
func (q *queue) entered(cost int64) (leave func()) {
	began := time.Now()
	return func() {
		q.turns.Release(1)
		q.learn(time.Since(began), cost)
	}
}

// expected returns how long texts of a cost take.
func (q *queue) expected(cost int64) time.Duration {
	return time.Duration(math.Ceil(float64(cost) * float64(q.unit.Load()) / q.parallel))
}

// learn moves the time of a unit by a sixteenth towards what a text took. That
// two goroutines may overwrite each other's does not matter.
func (q *queue) learn(took time.Duration, cost int64) {
	before := q.unit.Load()
	q.unit.Store(before + (int64(took)/cost-before)/16)
}
