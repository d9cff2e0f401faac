package classifier

import (
	"context"
	"errors"
	"fmt"
)

// runner computes single windows for many callers at once.
type runner interface {
	// run computes ids, which include the tokens that wrap a text, and
	// returns float32 [labels] and [tokens, span labels], which are the
	// caller's to keep.
	run(ctx context.Context, ids []int64) (scores, tokens []float32, err error)
	close() error
}

// errClosed is returned for a classifier that was closed.
var errClosed = errors.New("the classifier is closed")

// singleRunner computes one window a run, several runs side by side.
type singleRunner struct {
	session *session
	idle    chan *run // as many as may run side by side; closed never
	closed  chan struct{}
}

func newSingleRunner(s *session, threads int) (*singleRunner, error) {
	r := &singleRunner{session: s, idle: make(chan *run, threads), closed: make(chan struct{})}
	for range threads {
		one, err := s.newRun()
		if err != nil {
			return nil, err
		}
		r.idle <- one
	}
	return r, nil
}

func (r *singleRunner) run(ctx context.Context, ids []int64) (scores, tokens []float32, err error) {
	var one *run
	select {
	case one = <-r.idle:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-r.closed:
		return nil, nil, errClosed
	}
	defer func() { r.idle <- one }()
	scores, tokens, err = one.compute(ctx, [][]int64{ids}, 0)
	return append([]float32(nil), scores...), append([]float32(nil), tokens...), err
}

// close waits for the runs under way and frees the session.
func (r *singleRunner) close() error {
	close(r.closed)
	var errs []error
	for range cap(r.idle) {
		errs = append(errs, (<-r.idle).close())
	}
	return errors.Join(append(errs, r.session.close())...)
}

// Limits of one padded run. They bound the memory of a run on a GPU (tokens)
// and how long a text waits for those that share its run (texts).
const (
	maxPaddedTexts  = 64
	maxPaddedTokens = 32 * 512
)

// paddedRunner computes in one run whatever windows wait while the one before
// is under way: alone a text never waits, and under load runs fill up.
type paddedRunner struct {
	session *session
	padID   int64
	waiting chan *paddedWindow
	closing chan struct{}
	ended   chan error
}

type paddedWindow struct {
	ctx            context.Context
	ids            []int64
	scores, tokens []float32
	err            error
	done           chan struct{}
}

func newPaddedRunner(s *session, padID int64) (*paddedRunner, error) {
	one, err := s.newRun()
	if err != nil {
		return nil, err
	}
	r := &paddedRunner{
		session: s, padID: padID,
		waiting: make(chan *paddedWindow, maxPaddedTexts),
		closing: make(chan struct{}),
		ended:   make(chan error, 1),
	}
	go r.serve(one)
	return r, nil
}

func (r *paddedRunner) run(ctx context.Context, ids []int64) (scores, tokens []float32, err error) {
	w := &paddedWindow{ctx: ctx, ids: ids, done: make(chan struct{})}
	select {
	case r.waiting <- w:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-r.closing:
		return nil, nil, errClosed
	}
	select {
	case <-w.done:
		return w.scores, w.tokens, w.err
	case <-ctx.Done():
		return nil, nil, ctx.Err() // the run goes on for the others in it
	case <-r.closing:
		return nil, nil, errClosed
	}
}

func (r *paddedRunner) serve(one *run) {
	var held *paddedWindow // did not fit into the run before
	for {
		first := held
		held = nil
		if first == nil {
			select {
			case first = <-r.waiting:
			case <-r.closing:
				r.ended <- errors.Join(one.close(), r.session.close())
				return
			}
		}
		batch, longest := []*paddedWindow{first}, len(first.ids)
	collect:
		for len(batch) < maxPaddedTexts {
			select {
			case w := <-r.waiting:
				if l := max(longest, len(w.ids)); l*(len(batch)+1) > maxPaddedTokens {
					held = w
					break collect
				} else {
					longest = l
				}
				batch = append(batch, w)
			default:
				break collect
			}
		}
		r.compute(one, batch)
	}
}

// compute runs those windows of a batch that are still wanted.
func (r *paddedRunner) compute(one *run, batch []*paddedWindow) {
	wanted, texts, longest := batch[:0:0], [][]int64(nil), 0
	for _, w := range batch {
		if w.err = w.ctx.Err(); w.err != nil {
			close(w.done)
			continue
		}
		wanted, texts, longest = append(wanted, w), append(texts, w.ids), max(longest, len(w.ids))
	}
	if len(wanted) == 0 {
		return
	}
	ctx := context.Background() // a run of several callers ends with none of them
	if len(wanted) == 1 {
		ctx = wanted[0].ctx
	}
	scores, tokens, err := one.compute(ctx, texts, r.padID)
	for i, w := range wanted {
		w.err = err
		if err == nil {
			w.scores = append(w.scores, scores[i*r.session.scores:(i+1)*r.session.scores]...)
			if columns := r.session.spanLabels; columns > 0 {
				row := i * longest * columns
				w.tokens = append(w.tokens, tokens[row:row+len(w.ids)*columns]...)
			}
		}
		close(w.done)
	}
}

func (r *paddedRunner) close() error {
	close(r.closing)
	return <-r.ended
}

// newRunner opens the session and the runner that a configuration asks for.
func newRunner(c Config) (runner, error) {
	switch c.Batching {
	case Single:
		s, err := openSession(c, 1)
		if err != nil {
			return nil, err
		}
		return newSingleRunner(s, c.Threads)
	case Padded:
		s, err := openSession(c, c.Threads)
		if err != nil {
			return nil, err
		}
		return newPaddedRunner(s, c.Spec.PadID)
	}
	return nil, fmt.Errorf("unknown batching %q: it must be single or padded", c.Batching)
}
