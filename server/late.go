package server

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
)

// late tracks the verdicts that come after their answers. It is safe for
// concurrent use.
type late struct {
	lock    sync.Mutex
	pending map[string][]byte // the results that were sent, by id
	out     int               // verdicts that are outstanding
	most    int               // that may be
}

// reserve counts one more outstanding verdict, or returns false where there are
// as many as there may be.
func (l *late) reserve() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.out == l.most {
		return false
	}
	l.out++
	return true
}

// release ends what reserve began.
func (l *late) release() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.out--
}

// outstanding returns the number of outstanding verdicts.
func (l *late) outstanding() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.out
}

// set sets the pending result of an id; nil removes it.
func (l *late) set(id string, standing []byte) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if standing == nil {
		delete(l.pending, id)
		return
	}
	l.pending[id] = standing
}

// get returns the pending result of an id, or nil where there is none.
func (l *late) get(id string) []byte {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.pending[id]
}

// Late returns what [Text.Encode] made of the final result of a text whose first result was
// pending, or of the first one while it still is; nil where there is none with the id.
func (c *Call) Late(ctx context.Context, id string) ([]byte, error) {
	data := c.server.late.get(id)
	if data == nil && c.server.config.Results != nil {
		return c.server.config.Results.Get(ctx, id)
	}
	return data, nil
}

// budget returns how long a request waits for the judge.
func (c *Call) budget(t Text) time.Duration {
	switch {
	case t.Wait != nil:
		return *t.Wait
	case c.caller.JudgeWait != nil:
		return *c.caller.JudgeWait
	}
	return c.server.config.JudgeWait[c.format.Name]
}

// consult asks the judge about a text and waits as long as the request may. After
// that the verdict is completed in the background and the result says that it is
// pending, unless too many verdicts are outstanding already.
func (c *Call) consult(ctx context.Context, screening *toxscreen.Screening, t Text) (toxscreen.Result, error) {
	s := c.server
	standing := screening.Result()
	wait := c.budget(t)
	const soon = ", but the answer does not wait for the judge"
	if wait <= 0 {
		if t.Forget {
			return unasked(standing, soon+", and nothing of the text may be kept"), nil
		}
		if !s.late.reserve() {
			return unasked(standing, soon+", which has too many verdicts outstanding"), nil
		}
	}

	// The judge may take longer than the request, but not than the server.
	judging, cancel := context.WithCancel(context.WithoutCancel(ctx))
	end := context.AfterFunc(s.running, cancel)
	judged := make(chan Outcome[toxscreen.Result], 1)
	s.work.Go(func() {
		defer end()
		defer cancel()
		result, err := screening.Consult(judging)
		s.judged(result, err)
		judged <- Outcome[toxscreen.Result]{result, err}
	})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if wait > 0 {
		defer c.clock.judge()()
		ended := ", but gave no verdict within " + wait.String()
		select {
		case o := <-judged:
			return o.Result, o.Err
		case <-ctx.Done():
			if !isTimeOver(ctx) {
				cancel()
				return toxscreen.Result{}, ctx.Err()
			}
			// Other texts took the time of the request. This one has its scores.
			ended = ", but gave no verdict in the time of the request"
		case <-timer.C:
		}
		if t.Forget {
			cancel()
			return unjudged(standing, "the judge was asked"+ended+", and nothing of the text may be kept"), nil
		}
		if !s.late.reserve() {
			cancel()
			return unjudged(standing, "the judge was asked"+ended+"; too many verdicts are outstanding to wait for it"), nil
		}
	}
	id := ""
	if t.Encode != nil && s.config.Results != nil {
		id = rand.Text()
		standing.Judge.ID = id
		kept, err := t.Encode(standing)
		if err != nil {
			cancel()
			s.late.release()
			return toxscreen.Result{}, err
		}
		s.late.set(id, kept)
	}
	s.work.Go(func() {
		defer s.late.release()
		o := <-judged
		if id == "" || o.Err != nil {
			s.late.set(id, nil)
			return
		}
		o.Result.Judge.ID = id
		kept, err := t.Encode(o.Result)
		if err == nil {
			err = s.config.Results.Put(context.WithoutCancel(ctx), id, kept)
		}
		s.late.set(id, nil)
		if err != nil {
			s.config.Log.Error("failed to store a late result", "error", err)
		}
	})
	return standing, nil
}

// unasked returns a result whose judge is not asked after all; why continues the
// sentence of Judge.Why.
func unasked(r toxscreen.Result, why string) toxscreen.Result {
	r.Judge.Pending, r.Judge.Asked = false, false
	r.Judge.Why += why
	return r
}

// unjudged returns a result whose judge did not answer in time.
func unjudged(r toxscreen.Result, why string) toxscreen.Result {
	r.Judge.Pending, r.Judge.Error = false, why
	return r
}
