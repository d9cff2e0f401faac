package classifier

import (
	"context"
	"errors"
	"sync"
)

// errClosed is returned for a classifier that was closed.
var errClosed = errors.New("the classifier is closed")

// sharing says how many runs go side by side, and which of the windows that
// wait at the same time may share one.
type sharing struct {
	runs    int  // side by side
	threads int  // inside a run
	texts   int  // in a run, at most
	tokens  int  // in a run of more than one text, padding included, at most
	equal   bool // only windows of the same length share a run: there is no padding

	parallel int // texts that keep the runs busy
	short    int // see toxscreen.ModelInfo
	windows  int // of one text that wait at the same time, so that others come between them
}

// sharingOf returns what a batching means on a number of threads.
//
// Bucketed: larger runs than those of 96 tokens gain next to nothing, and a text
// that shares one waits no longer than for a text of that length, see
// docs/decisions/0011-fixed-scales.md; English has some four bytes a token.
// Lengths differ, so that many texts must wait for a run to find some of the
// same. Padded: the limits bound the memory of a run on a GPU (tokens) and how
// long a text waits for those that share its run (texts); one run is under way
// while the next one fills up.
func sharingOf(batching Batching, threads int) sharing {
	switch batching {
	case Single:
		return sharing{runs: threads, threads: 1, texts: 1, parallel: threads, windows: threads}
	case Bucketed:
		return sharing{runs: threads, threads: 1, texts: 16, tokens: 96, equal: true, parallel: 32 * threads, short: 128, windows: threads}
	default: // Padded
		return sharing{runs: 1, threads: threads, texts: 64, tokens: 32 * 512, parallel: 128, windows: 128}
	}
}

// takes reports whether a window joins a run of so many texts, the longest of
// which has so many tokens.
func (s sharing) takes(texts, longest int, w *job) bool {
	if s.equal && len(w.ids) != longest {
		return false
	}
	return texts < s.texts && (texts+1)*max(longest, len(w.ids)) <= s.tokens
}

// runner computes windows for many callers at once. Alone a window never waits;
// of those that wait because all runs are under way, the one that has waited
// longest comes next, with others that may share its run.
type runner struct {
	session *session
	sharing sharing
	padID   int64

	lock    sync.Mutex
	arrived sync.Cond // waiting has grown, or the runner is closed
	waiting []*job    // in the order in which they came
	closed  bool

	computing sync.WaitGroup
	runs      []*run
}

// job is a window to compute, and what became of it.
type job struct {
	ctx            context.Context
	ids            []int64
	scores, tokens []float32
	err            error
	done           chan struct{}
}

// newRunner opens the session that a configuration asks for and starts its
// runs.
func newRunner(c Config, s sharing) (*runner, error) {
	opened, err := openSession(c, s.threads)
	if err != nil {
		return nil, err
	}
	r := &runner{session: opened, sharing: s, padID: c.Spec.PadID}
	r.arrived.L = &r.lock
	for range s.runs {
		one, err := opened.newRun()
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.runs = append(r.runs, one)
		r.computing.Go(func() {
			for batch := r.next(); batch != nil; batch = r.next() {
				r.compute(one, batch)
			}
		})
	}
	return r, nil
}

// run computes ids, which include the tokens that wrap a text, and returns
// float32 [labels] and [tokens, span labels], which are the caller's to keep.
func (r *runner) run(ctx context.Context, ids []int64) (scores, tokens []float32, err error) {
	w := &job{ctx: ctx, ids: ids, done: make(chan struct{})}
	r.lock.Lock()
	if r.closed {
		r.lock.Unlock()
		return nil, nil, errClosed
	}
	r.waiting = append(r.waiting, w)
	r.lock.Unlock()
	r.arrived.Signal()
	select {
	case <-w.done:
		return w.scores, w.tokens, w.err
	case <-ctx.Done():
		return nil, nil, ctx.Err() // a run goes on for the others in it
	}
}

// next waits for windows and takes those of one run. It returns nil when the
// runner is closed.
func (r *runner) next() []*job {
	r.lock.Lock()
	defer r.lock.Unlock()
	for {
		var batch []*job
		longest := 0
		rest := r.waiting[:0]
		for _, w := range r.waiting {
			switch {
			case w.ctx.Err() != nil: // its caller is gone
			case len(batch) == 0 || r.sharing.takes(len(batch), longest, w):
				batch, longest = append(batch, w), max(longest, len(w.ids))
			default:
				rest = append(rest, w)
			}
		}
		clear(r.waiting[len(rest):])
		r.waiting = rest
		if len(batch) > 0 {
			return batch
		}
		if r.closed {
			return nil
		}
		r.arrived.Wait()
	}
}

// compute runs windows together.
func (r *runner) compute(one *run, batch []*job) {
	texts, longest := make([][]int64, len(batch)), 0
	for i, w := range batch {
		texts[i], longest = w.ids, max(longest, len(w.ids))
	}
	ctx := context.Background() // a run of several callers ends with none of them
	if len(batch) == 1 {
		ctx = batch[0].ctx
	}
	scores, tokens, err := one.compute(ctx, texts, r.padID)
	labels, columns := r.session.scores, r.session.spanLabels
	for i, w := range batch {
		if w.err = err; err == nil {
			w.scores = append(w.scores, scores[i*labels:(i+1)*labels]...)
			row := i * longest * columns
			w.tokens = append(w.tokens, tokens[row:row+len(w.ids)*columns]...)
		}
		close(w.done)
	}
}

// close ends what waits, waits for the runs under way and frees the session.
func (r *runner) close() error {
	r.lock.Lock()
	r.closed = true
	for _, w := range r.waiting {
		w.err = errClosed
		close(w.done)
	}
	r.waiting = nil
	r.lock.Unlock()
	r.arrived.Broadcast()
	r.computing.Wait()
	var errs []error
	for _, one := range r.runs {
		errs = append(errs, one.close())
	}
	return errors.Join(append(errs, r.session.close())...)
}
