package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// clock ends a request that takes too long. It stands still while nothing of the
// request but the judge's verdict is missing: that has a time limit of its own, and
// takes no slots. It is safe for concurrent use.
type clock struct {
	lock    sync.Mutex
	timer   *time.Timer
	running bool
	since   time.Time     // when it began to run
	left    time.Duration // then
	working int           // texts that wait for the model, or are in it
	judging int           // texts that wait for the judge
}

// withClock returns the context of a request, which ends with a [*Failure] as its
// cause when the time is over. stop must be called when the request was answered.
func withClock(ctx context.Context, most time.Duration) (limited context.Context, c *clock, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	c = &clock{running: true, since: time.Now(), left: most}
	c.timer = time.AfterFunc(most, func() {
		cancel(&Failure{Code: timedOut, Message: fmt.Sprintf("failed to answer: the request took longer than %s, the limit; send fewer or shorter texts", most)})
	})
	return limited, c, func() {
		c.timer.Stop()
		cancel(nil)
	}
}

// isTimeOver reports whether the context of a request has ended because its time is
// over.
func isTimeOver(ctx context.Context) bool {
	_, ok := errors.AsType[*Failure](context.Cause(ctx))
	return ok
}

// work counts a text that begins to need the model, until done is called.
func (c *clock) work() (done func()) {
	c.count(1, 0)
	return func() { c.count(-1, 0) }
}

// judge counts a text that begins to wait for the judge, until done is called.
func (c *clock) judge() (done func()) {
	c.count(0, 1)
	return func() { c.count(0, -1) }
}

func (c *clock) count(working, judging int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.working += working
	c.judging += judging
	run := c.working > 0 || c.judging == 0
	switch {
	case run && !c.running:
		c.since = time.Now()
		c.timer.Reset(c.left)
	case !run && c.running:
		c.timer.Stop()
		c.left -= time.Since(c.since)
	}
	c.running = run
}
