package encoder

import (
	"context"
	"errors"
	"sync"
)

// errClosed is the error of a closed encoder.
var errClosed = errors.New("the encoder is closed")

// sharing says how many runs are concurrent and which of the waiting windows
// may share one.
type sharing struct {
	runs    int  // concurrent
	threads int  // inside a run
	windows int  // in a run, at most
	tokens  int  // in a run of more than one window, padding included, at most
	equal   bool // only windows of the same length share a run: there is no padding

	parallel int // concurrent texts that keep the runs busy, see Info
	short    int // see Info
	ofText   int // windows of one text that wait at the same time, so that other texts get their turn
}

// sharingOf returns what a batching means on a number of threads.
//
// Bucketed: runs of more than 96 tokens gain almost nothing, and a text in a
// shared run waits no longer than for a text of that length, see
// docs/decisions/0011-fixed-scales.md; English has about four bytes per token.
// Lengths differ, so many texts must wait before a run finds some of the same
// length. Padded: the limits bound the memory of a run on a GPU (tokens) and how
// long a text waits for the others in its run (texts); one run is active while
// the next one fills up.
func sharingOf(batching Batching, threads int) sharing {
	switch batching {
	case Single:
		return sharing{runs: threads, threads: 1, windows: 1, parallel: threads, ofText: threads}
	case Bucketed:
		return sharing{runs: threads, threads: 1, windows: 16, tokens: 96, equal: true, parallel: 32 * threads, short: 128, ofText: threads}
	default: // Padded
		return sharing{runs: 1, threads: threads, windows: 64, tokens: 32 * 512, parallel: 128, ofText: 128}
	}
}

// takes reports whether a window may join a run with the given number of windows,
// the longest of which has longest tokens.
func (s sharing) takes(windows, longest int, j *job) bool {
	if s.equal && len(j.ids) != longest {
		return false
	}
	return windows < s.windows && (windows+1)*max(longest, len(j.ids)) <= s.tokens
}

// runner runs windows for many callers. A window waits only if all runs are
// busy. The window that has waited longest runs next, together with others that
// may share its run.
type runner struct {
	session *session
	sharing sharing
	padID   int64

	lock    sync.Mutex
	arrived sync.Cond // waiting has grown, or the runner is closed
	waiting []*job    // in order of arrival
	closed  bool

	running sync.WaitGroup
	runs    []*run
}

// job is a window to run and its result.
type job struct {
	ctx      context.Context
	ids      []int64     // including special tokens
	skip     int         // number of ids before the first one that the window owns
	index    int         // of the window within its text
	from, to int         // tokens of the text that the window owns
	logits   [][]float32 // per head, for the whole text: receives the window's rows
	err      error
	done     chan struct{}
}

// newRunner opens the session for a configuration and
// starts its runs.
func newRunner(c Config, s sharing) (*runner, error) {
	opened, err := openSession(c, s.threads)
	if err != nil {
		return nil, err
	}
	r := &runner{session: opened, sharing: s, padID: c.PadID}
	r.arrived.L = &r.lock
	for range s.runs {
		one, err := opened.newRun()
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.runs = append(r.runs, one)
		r.running.Go(func() {
			for batch := r.next(); batch != nil; batch = r.next() {
				r.do(one, batch)
			}
		})
	}
	return r, nil
}

// run runs a window and writes its rows to the job's logits. After an error, a run
// that continues for other windows may still write to them.
func (r *runner) run(ctx context.Context, j *job) error {
	j.ctx, j.done = ctx, make(chan struct{})
	r.lock.Lock()
	if r.closed {
		r.lock.Unlock()
		return errClosed
	}
	r.waiting = append(r.waiting, j)
	r.lock.Unlock()
	r.arrived.Signal()
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// next waits for windows and takes those for one run. It returns nil if the
// runner is closed.
func (r *runner) next() []*job {
	r.lock.Lock()
	defer r.lock.Unlock()
	for {
		var batch []*job
		longest := 0
		rest := r.waiting[:0]
		for _, j := range r.waiting {
			switch {
			case j.ctx.Err() != nil: // its caller has cancelled
			case len(batch) == 0 || r.sharing.takes(len(batch), longest, j):
				batch, longest = append(batch, j), max(longest, len(j.ids))
			default:
				rest = append(rest, j)
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

// do runs a batch of windows.
func (r *runner) do(one *run, batch []*job) {
	windows, longest := make([][]int64, len(batch)), 0
	for i, j := range batch {
		windows[i], longest = j.ids, max(longest, len(j.ids))
	}
	ctx := context.Background() // a shared run does not end when one of its callers does
	if len(batch) == 1 {
		ctx = batch[0].ctx
	}
	logits, err := one.do(ctx, windows, r.padID)
	for i, j := range batch {
		if j.err = err; err == nil {
			for h, head := range r.session.heads {
				row, from, to := i, j.index, j.index+1
				if head.Task == TokenClassification {
					row, from, to = i*longest+j.skip, j.from, j.to
				}
				copy(j.logits[h][from*head.Columns:to*head.Columns], logits[h][row*head.Columns:])
			}
		}
		close(j.done)
	}
}

// close fails the waiting windows, waits for active runs and frees the session.
func (r *runner) close() error {
	r.lock.Lock()
	r.closed = true
	for _, j := range r.waiting {
		j.err = errClosed
		close(j.done)
	}
	r.waiting = nil
	r.lock.Unlock()
	r.arrived.Broadcast()
	r.running.Wait()
	var errs []error
	for _, one := range r.runs {
		errs = append(errs, one.close())
	}
	return errors.Join(append(errs, r.session.close())...)
}
