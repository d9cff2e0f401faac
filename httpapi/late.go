package httpapi

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Results keeps final results for those who had a pending one. store.Results is
// one. Implementations must be safe for concurrent use.
type Results interface {
	// Get returns what is kept by an id, or nil where there is nothing.
	Get(ctx context.Context, id string) ([]byte, error)
	Put(ctx context.Context, id string, result []byte) error
}

// late are the verdicts that come after their answers.
type late struct {
	lock    sync.Mutex
	pending map[string][]byte // the standing results, by id
	out     int               // how many are outstanding
	most    int               // that may be
}

// take returns whether there is a place for a verdict that comes after its
// answer.
func (l *late) take() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.out == l.most {
		return false
	}
	l.out++
	return true
}

func (l *late) give() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.out--
}

// outstanding returns how many there are.
func (l *late) outstanding() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.out
}

func (l *late) set(id string, standing []byte) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if standing == nil {
		delete(l.pending, id)
		return
	}
	l.pending[id] = standing
}

func (l *late) get(id string) []byte {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.pending[id]
}

// budget returns how long a request waits for the judge.
func (s *Server) budget(ctx context.Context, r request) time.Duration {
	e := exchangeOf(ctx)
	switch {
	case r.wait != nil:
		return *r.wait
	case e.caller.JudgeWait != nil:
		return *e.caller.JudgeWait
	}
	return s.config.JudgeWait[e.api.name]
}

// consult asks the judge about a text and waits as long as the request does.
// After that the verdict is completed behind the answer, which then says that
// it is pending, unless too many are outstanding already.
func (s *Server) consult(ctx context.Context, screening *toxscreen.Screening, r request) (toxscreen.Result, error) {
	standing := screening.Result()
	wait := s.budget(ctx, r)
	const soon = ", but the answer does not wait for the judge"
	if wait <= 0 {
		if r.forget {
			return unasked(standing, soon+", and nothing of the text may be kept"), nil
		}
		if !s.late.take() {
			return unasked(standing, soon+", which has enough to do"), nil
		}
	}

	// What is asked for may outlive the request, but not the server.
	judging, cancel := context.WithCancel(context.WithoutCancel(ctx))
	end := context.AfterFunc(s.running, cancel)
	judged := make(chan outcome, 1)
	s.work.Go(func() {
		defer end()
		defer cancel()
		result, err := screening.Consult(judging)
		s.judged(result, err)
		judged <- outcome{result, err}
	})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if wait > 0 {
		select {
		case o := <-judged:
			return o.result, o.err
		case <-ctx.Done():
			cancel()
			return toxscreen.Result{}, ctx.Err()
		case <-timer.C:
		}
		ended := ", but gave no verdict within " + wait.String()
		if r.forget {
			cancel()
			return unjudged(standing, "the judge was asked"+ended+", and nothing of the text may be kept"), nil
		}
		if !s.late.take() {
			cancel()
			return unjudged(standing, "the judge was asked"+ended+"; too many verdicts are outstanding to wait for it"), nil
		}
	}
	id := ""
	if r.late != nil && s.config.Results != nil {
		id = rand.Text()
		standing.Judge.ID = id
		kept, err := r.late(standing)
		if err != nil {
			cancel()
			s.late.give()
			return toxscreen.Result{}, err
		}
		s.late.set(id, kept)
	}
	s.work.Go(func() {
		defer s.late.give()
		o := <-judged
		if id == "" || o.err != nil {
			s.late.set(id, nil)
			return
		}
		o.result.Judge.ID = id
		kept, err := r.late(o.result)
		if err == nil {
			err = s.config.Results.Put(context.WithoutCancel(ctx), id, kept)
		}
		s.late.set(id, nil)
		if err != nil {
			s.config.Log.Error("failed to keep a late result", "error", err)
		}
	})
	return standing, nil
}

// unasked returns a result whose judge is not asked after all.
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
