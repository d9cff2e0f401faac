package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toxscreen/toxscreen"
)

// queue limits how many texts are classified at once to what keeps the model
// busy. A text takes one slot or several: those that are too long to share the
// model's runs take more. The others wait in the order of their arrival. A text
// that would wait too long is rejected at once, while its client can still do
// something about it, so that the wait of all others is bounded. It is safe for
// concurrent use.
type queue struct {
	slots    *semaphore.Weighted
	parallel int           // number of slots
	short    int           // see toxscreen.ModelInfo
	wait     time.Duration // that is accepted, as expected when a text arrives
	waiting  atomic.Int64  // cost of the texts that wait
	unit     atomic.Int64  // nanoseconds for which a unit of cost has recently held a slot
}

// textCost is the cost of a text beside its bytes: what scoring an empty one
// takes, in bytes.
const textCost = 200

// firstUnit is the nanoseconds a byte takes until some are measured: in a run of
// its own on a slow core.
const firstUnit = 10_000

func newQueue(model toxscreen.ModelInfo, wait time.Duration) *queue {
	parallel := max(model.Parallel, 1)
	q := &queue{slots: semaphore.NewWeighted(int64(parallel)), parallel: parallel, short: model.Short, wait: wait}
	q.unit.Store(firstUnit)
	return q
}

// slotsOf returns how many slots a text takes: one where length makes no
// difference to the model; else 1 to 8, and 8 from twice the length up to which
// texts share runs, see [toxscreen.ModelInfo].
func (q *queue) slotsOf(bytes int) int64 {
	if q.short == 0 {
		return 1
	}
	return int64(min(max(4*bytes/q.short, 1), 8, q.parallel))
}

// admit waits until a text has its slots, or rejects it where the expected wait is
// longer than q.wait. release must be called when the text was classified.
func (q *queue) admit(ctx context.Context, bytes int) (release func(), err error) {
	cost, slots := int64(bytes+textCost), q.slotsOf(bytes)
	if !q.slots.TryAcquire(slots) {
		if before := q.expected(q.waiting.Load()); before > q.wait {
			return nil, &Failure{Code: overloaded, Retry: before, Message: "failed to score text: the server is overloaded; try again later"}
		}
		q.waiting.Add(cost)
		// Twice the time, for what the estimate leaves out: the rest of the texts
		// that are being classified, and a machine that becomes slower.
		most := 2 * q.wait
		limited, cancel := context.WithTimeout(ctx, most)
		err := q.slots.Acquire(limited, slots)
		cancel()
		q.waiting.Add(-cost)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, &Failure{Code: noTime, Retry: time.Second, Message: fmt.Sprintf("failed to score text: it waited in the queue for %s, the limit; try again later", most)}
		}
		if err != nil {
			return nil, err
		}
	}
	return q.releaser(cost, slots), nil
}

// acquire is admit for a text of a request that was admitted already: it waits as
// long as ctx allows, and is never rejected.
func (q *queue) acquire(ctx context.Context, bytes int) (release func(), err error) {
	cost, slots := int64(bytes+textCost), q.slotsOf(bytes)
	q.waiting.Add(cost)
	err = q.slots.Acquire(ctx, slots)
	q.waiting.Add(-cost)
	if err != nil {
		return nil, err
	}
	return q.releaser(cost, slots), nil
}

// releaser returns the release function of a text that has its slots since now.
func (q *queue) releaser(cost, slots int64) (release func()) {
	began := time.Now()
	return func() {
		q.slots.Release(slots)
		q.learn(time.Since(began)*time.Duration(slots), cost)
	}
}

// expected returns how long texts of a total cost take.
func (q *queue) expected(cost int64) time.Duration {
	return time.Duration(math.Ceil(float64(cost) * float64(q.unit.Load()) / float64(q.parallel)))
}

// learn moves the estimated time of a unit by a sixteenth towards what a text
// took, summed over its slots. Concurrent calls may overwrite each other's
// result, which does not matter.
func (q *queue) learn(took time.Duration, cost int64) {
	before := q.unit.Load()
	q.unit.Store(before + (int64(took)/cost-before)/16)
}
