package httpapi

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toxscreen/toxscreen"
)

// queue lets as many texts be classified at once as keep the model busy: those
// that are too long to share its runs take several turns each. The others wait
// in their order, and none is let in that would wait too long: what can only be
// answered too late is refused while the client can still do something about it,
// and those who wait keep their time.
type queue struct {
	turns    *semaphore.Weighted
	parallel int           // turns
	short    int           // see toxscreen.ModelInfo
	most     time.Duration // that a text may wait
	waiting  atomic.Int64  // cost of the texts that wait
	unit     atomic.Int64  // nanoseconds of a turn that a unit of cost took of late
}

// textCost is what a text costs beside its bytes: what scoring an empty one
// takes, in bytes.
const textCost = 200

// unitAtFirst is the nanoseconds of a byte before any was measured, in a run of its own on a
// slow core.
const unitAtFirst = 10_000

func newQueue(model toxscreen.ModelInfo, most time.Duration) *queue {
	parallel := max(model.Parallel, 1)
	q := &queue{turns: semaphore.NewWeighted(int64(parallel)), parallel: parallel, short: model.Short, most: most}
	q.unit.Store(unitAtFirst)
	return q
}

// share returns how many turns a text takes: one where length makes no difference
// to the model; else 1 to 8, and 8 from twice the length that shares runs on, see
// [toxscreen.ModelInfo].
func (q *queue) share(bytes int) int64 {
	if q.short == 0 {
		return 1
	}
	return int64(min(max(4*bytes/q.short, 1), 8, q.parallel))
}

// enter waits for a text's turn and returns what must be called when it was
// classified.
func (q *queue) enter(ctx context.Context, bytes int) (leave func(), err error) {
	cost, share := int64(bytes+textCost), q.share(bytes)
	if !q.turns.TryAcquire(share) {
		// Half of the time is for what the estimate does not know: what is left of
		// the texts that have their turn, and a machine that becomes slower.
		if before := q.expected(q.waiting.Load()); before > q.most/2 {
			return nil, &failure{code: overloaded, retry: before, message: "failed to score text: the server has as much to do as it can; come again later"}
		}
		q.waiting.Add(cost)
		limited, cancel := context.WithTimeout(ctx, q.most)
		err := q.turns.Acquire(limited, share)
		cancel()
		q.waiting.Add(-cost)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, &failure{code: noTime, retry: time.Second, message: "failed to score text: it was not its turn in time; come again later"}
		}
		if err != nil {
			return nil, err
		}
	}
	return q.entered(cost, share), nil
}

// await is enter for a text of a request that was let in already: it waits as
// long as it takes.
func (q *queue) await(ctx context.Context, bytes int) (leave func(), err error) {
	cost, share := int64(bytes+textCost), q.share(bytes)
	q.waiting.Add(cost)
	err = q.turns.Acquire(ctx, share)
	q.waiting.Add(-cost)
	if err != nil {
		return nil, err
	}
	return q.entered(cost, share), nil
}

// entered returns what must be called when a text that had its turn was
// classified.
func (q *queue) entered(cost, share int64) (leave func()) {
	began := time.Now()
	return func() {
		q.turns.Release(share)
		q.learn(time.Since(began)*time.Duration(share), cost)
	}
}

// expected returns how long texts of a cost take.
func (q *queue) expected(cost int64) time.Duration {
	return time.Duration(math.Ceil(float64(cost) * float64(q.unit.Load()) / float64(q.parallel)))
}

// learn moves the time of a unit by a sixteenth towards what a text took of turns. That
// two goroutines may overwrite each other's does not matter.
func (q *queue) learn(took time.Duration, cost int64) {
	before := q.unit.Load()
	q.unit.Store(before + (int64(took)/cost-before)/16)
}
