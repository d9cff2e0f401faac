package encoder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

	Info
	ofText int // windows of one text that wait at the same time, so that other texts get their turn
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
		return sharing{runs: threads, threads: 1, windows: 1, Info: Info{Parallel: threads}, ofText: threads}
	case Bucketed:
		return sharing{runs: threads, threads: 1, windows: 16, tokens: 96, equal: true, Info: Info{Parallel: 32 * threads, Short: 128}, ofText: threads}
	default: // Padded
		return sharing{runs: 1, threads: threads, windows: 64, tokens: 32 * 512, Info: Info{Parallel: 128}, ofText: 128}
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

// Tokens that arrive later may run before a waiting window: patience times as many as its text
// has, counting at most longText. So short texts do not wait for long ones, and no text waits
// for ever. docs/benchmarks.md has the figures.
const (
	patience = 4
	longText = 1024
)

// runner runs windows for many callers, stage by stage. A window waits only if all runs are
// busy. The window that is due first runs next, together with others that may share its run.
type runner struct {
	stages  []*session
	exits   []*session // after each stage; nil where it has none
	sharing sharing
	padID   int64

	lock    sync.Mutex
	arrived sync.Cond // waiting has grown, or the runner is closed
	clock   int       // tokens that have arrived
	waiting []*job    // those due first come first
	closed  bool

	running sync.WaitGroup
	runs    []*run
	spare   sync.Pool // of *[]float32, memory for hidden
}

// job is a window to run and its result.
type job struct {
	ctx      context.Context
	ids      []int64     // including special tokens
	shapes   []int64     // of ids, see [shapeOf]; nil if no stage takes them
	size     int         // tokens of the whole text
	skip     int         // number of ids before the first one that the window owns
	index    int         // of the window within its text
	from, to int         // tokens of the text that the window owns
	logits   [][]float32 // per head, for the whole text: receives the window's rows
	leave    Leave       // nil: runs all stages

	due    int       // by the runner's clock
	stage  int       // that runs next, or that ran last
	hidden []float32 // of the stage before, [tokens, width]; nil for the first stage
	err    error
	done   chan struct{}
}

// newRunner opens the sessions for a configuration and starts its runs.
func newRunner(c Config, s sharing) (*runner, error) {
	r := &runner{sharing: s, padID: c.PadID, spare: sync.Pool{New: func() any { return new([]float32) }}}
	r.arrived.L = &r.lock
	stages, exits := c.parts()
	open := func(p part, what string, i int) (*session, error) {
		opened, err := openSession(p, c.Provider, s.threads)
		if err != nil && len(stages) > 1 {
			err = fmt.Errorf("%s %d: %w", what, i+1, err)
		}
		return opened, err
	}
	for i, p := range stages {
		opened, err := open(p, "stage", i)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.stages = append(r.stages, opened)
	}
	for i, p := range exits {
		var opened *session
		if p != nil {
			var err error
			if opened, err = open(*p, "exit", i); err != nil {
				return nil, errors.Join(err, r.close())
			}
		}
		r.exits = append(r.exits, opened)
	}
	for range s.runs {
		one, err := newRun()
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
	r.add(j)
	r.lock.Unlock()
	r.arrived.Signal()
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add lets a new window wait.
func (r *runner) add(j *job) {
	j.due = r.clock + patience*min(j.size, longText)
	r.clock += len(j.ids)
	r.wait(j)
}

// wait adds a window to those that wait, behind those that are due at the same time.
func (r *runner) wait(j *job) {
	at, _ := slices.BinarySearchFunc(r.waiting, j.due+1, func(other *job, due int) int { return cmp.Compare(other.due, due) })
	r.waiting = slices.Insert(r.waiting, at, j)
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
			case len(batch) == 0 || j.runsWith(batch[0]) && r.sharing.takes(len(batch), longest, j):
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

// runsWith reports whether two windows need the same runs.
func (j *job) runsWith(other *job) bool {
	return j.stage == other.stage && (j.leave == nil) == (other.leave == nil)
}

// do runs a stage on a batch of windows, and its exit if they may leave. Those that stay wait
// for the next stage.
func (r *runner) do(one *run, batch []*job) {
	ctx := context.Background() // a shared run does not end when one of its callers does
	if len(batch) == 1 {
		ctx = batch[0].ctx
	}
	longest := 0
	for _, j := range batch {
		longest = max(longest, len(j.ids))
	}
	stage := batch[0].stage
	s, last := r.stages[stage], stage == len(r.stages)-1
	logits, hidden, err := one.do(ctx, s, batch, longest, r.padID, nil)
	mayLeave := r.exits[stage] != nil && batch[0].leave != nil
	if err == nil && mayLeave {
		s = r.exits[stage]
		logits, _, err = one.do(ctx, s, batch, longest, r.padID, hidden)
	}
	var staying []*job
	for i, j := range batch {
		r.keep(j, nil)
		if j.err = err; err == nil && (last || mayLeave) {
			j.err = j.take(s, logits, i, longest)
		}
		if j.err != nil || last || mayLeave && j.leave(stage, logits[0][i*s.heads[0].Columns:][:s.heads[0].Columns]) {
			close(j.done)
			continue
		}
		width := r.stages[stage].width
		r.keep(j, hidden[i*longest*width:][:len(j.ids)*width])
		j.stage++
		staying = append(staying, j)
	}
	if len(staying) == 0 {
		return
	}
	r.lock.Lock()
	if r.closed {
		r.fail(staying)
	} else {
		for _, j := range staying {
			r.wait(j)
		}
	}
	r.lock.Unlock()
	if len(staying) > 1 { // this run takes one itself
		r.arrived.Signal()
	}
}

// keep copies what a stage passes on into the job's own memory. nil frees that memory for other
// jobs.
func (r *runner) keep(j *job, hidden []float32) {
	if hidden == nil {
		if j.hidden != nil {
			memory := j.hidden
			j.hidden = nil
			r.spare.Put(&memory)
		}
		return
	}
	memory := r.spare.Get().(*[]float32)
	j.hidden = grow(*memory, len(hidden))
	copy(j.hidden, hidden)
}

// take copies the job's rows from the logits of a run. The job was window i of that run, whose
// longest window has longest tokens. A logit of a text classification that is not finite is an
// error.
func (j *job) take(s *session, logits [][]float32, i, longest int) error {
	for h, head := range s.heads {
		row, from, to := i, j.index, j.index+1
		if head.Task == TokenClassification {
			row, from, to = i*longest+j.skip, j.from, j.to
		}
		rows := logits[h][row*head.Columns:][:(to-from)*head.Columns]
		copy(j.logits[s.first+h][from*head.Columns:], rows)
		if head.Task != TextClassification {
			continue
		}
		for _, z := range rows {
			if z-z != 0 {
				return fmt.Errorf("the model returned the logit %v in window %d", z, j.index+1)
			}
		}
	}
	return nil
}

// fail ends waiting windows because the runner is closed.
func (r *runner) fail(jobs []*job) {
	for _, j := range jobs {
		j.err = errClosed
		close(j.done)
	}
}

// close fails the waiting windows, waits for active runs and frees the sessions.
func (r *runner) close() error {
	r.lock.Lock()
	r.closed = true
	r.fail(r.waiting)
	r.waiting = nil
	r.lock.Unlock()
	r.arrived.Broadcast()
	r.running.Wait()
	var errs []error
	for _, one := range r.runs {
		errs = append(errs, one.close())
	}
	for _, s := range slices.Concat(r.stages, r.exits) {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
