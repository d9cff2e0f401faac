package ollama

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Exchange is a group of questions that belong together, such as a first and a
// second attempt. They share one place in the queue and Config.Timeout. An Exchange
// is not safe for concurrent use.
type Exchange struct {
	client *Client
	// left is the rest of the time for calls and for waiting; loading the model
	// does not count.
	left time.Duration
}

// Begin returns an exchange, which the caller must end, or an error if 256
// exchanges wait for a free slot already.
func (c *Client) Begin() (*Exchange, error) {
	if in := c.in.Add(1); int(in) > c.queue+c.config.Parallel {
		c.in.Add(-1)
		return nil, fmt.Errorf("the %s is busy: %d texts are waiting already; send fewer at once", c.config.Name, c.queue)
	}
	return &Exchange{client: c, left: c.config.Timeout}, nil
}

// End releases the place in the queue.
func (e *Exchange) End() { e.client.in.Add(-1) }

// Ask asks one question in its own exchange. An error is the context's if that has
// ended, otherwise a sentence that says what to do.
func (c *Client) Ask(ctx context.Context, q Question) (Reply, error) {
	e, err := c.Begin()
	if err != nil {
		return Reply{}, err
	}
	defer e.End()
	return e.Ask(ctx, func(*Session) Question { return q })
}

// Ask is [Client.Ask] for a question that depends on the session. of is called for
// every attempt, since the server may have changed the model.
func (e *Exchange) Ask(ctx context.Context, of func(*Session) Question) (Reply, error) {
	c := e.client
	for {
		reply, err := c.breaker.Execute(func() (Reply, error) { return e.retry(ctx, of) })
		c.noted(err)
		paused := errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
		if c.patient(err, paused) {
			if err := c.wait(ctx); err != nil {
				return Reply{}, err
			}
			e.left = c.config.Timeout // the server did not use it
			continue
		}
		if paused {
			cause := errors.New("it failed")
			if last := c.last.Load(); last != nil {
				cause = c.public(last)
			}
			return reply, fmt.Errorf("the %s is paused for %v after %d failures in a row: %w", c.config.Name, breakerPause, breakerFailures, cause)
		}
		return reply, c.shown(err)
	}
}

// noted records the outcome of a question.
func (c *Client) noted(err error) {
	if err == nil {
		c.failing.Store(nil)
	} else if failed, ok := errors.AsType[*fault](err); ok {
		c.last.Store(failed)
		now := time.Now()
		c.failing.CompareAndSwap(nil, &now)
	}
}

// patient reports whether a question that got this error waits for the server. A
// server that was never reached may not exist, so nothing waits for it.
func (c *Client) patient(err error, paused bool) bool {
	failed, ok := errors.AsType[*fault](err)
	if !c.config.Patient || !c.reached.Load() || !paused && (!ok || !failed.again) {
		return false
	}
	since := c.failing.Load()
	return since == nil || time.Since(*since) < c.config.Timeout+breakerPause
}

// wait waits until a failing server may be tried again.
func (c *Client) wait(ctx context.Context) error {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	select {
	case <-time.After(recheck):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Waiting reports whether questions wait for a failing server; see [Config.Patient].
func (c *Client) Waiting() bool { return c.waiting.Load() > 0 }

func (e *Exchange) retry(ctx context.Context, of func(*Session) Question) (Reply, error) {
	c := e.client
	pause := 100 * time.Millisecond
	for attempt := 1; ; attempt++ {
		session, err := c.connect(ctx)
		if err == nil {
			q := of(session)
			if q.Prompt == "" {
				q.Predict += session.Thoughts
			}
			start := time.Now()
			var r Reply
			r, err = e.inTime(ctx, session, q)
			e.left -= time.Since(start)
			if err == nil {
				session.used.Store(time.Now().Unix())
				r.Session = session
				return r, nil
			}
		}
		failed, ok := errors.AsType[*fault](err)
		if ok {
			c.forget(session)
		}
		if !ok || !failed.again || attempt == attempts || ctx.Err() != nil || e.left <= 0 {
			return Reply{}, err
		}
		// Callers that failed together should not retry together.
		wait := rand.N(pause) + pause/2 //nolint:gosec // not a secret
		pause = min(2*pause, 2*time.Second)
		if wait > e.left {
			return Reply{}, err
		}
		e.left -= wait
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		}
	}
}

// inTime waits for a free slot and makes the call, within the rest of the time.
func (e *Exchange) inTime(ctx context.Context, session *Session, q Question) (Reply, error) {
	c := e.client
	within, cancel := context.WithTimeout(ctx, e.left)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-within.Done():
		if ctx.Err() != nil {
			return Reply{}, ctx.Err()
		}
		// The server has not failed: it was not asked.
		return Reply{}, fmt.Errorf("the %s was busy with other texts for %v: raise its time limit, or send fewer at once", c.config.Name, c.config.Timeout)
	}
	r, err := c.call(within, session, q)
	if err != nil {
		return Reply{}, c.explain(ctx, err)
	}
	return r, whole(session, q, r)
}
