package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Score scores the rows that no earlier run has scored and completes the output.
// It is called once. With an error, it returns the summary of the written rows. The
// error chain has an [UnfinishedError] if the output can be resumed, and the error
// of [Open]'s context if that ended.
//
// settings are what the results depend on in addition to the model and the options,
// such as thresholds and a judge. Resuming a run with other settings is refused.
func (j *Job) Score(screener *toxscreen.Screener, settings ...Setting) (Summary, error) {
	task := newScoring(screener, j.options)
	if j.options.Redo {
		j.task = task
		return j.redo(screener, output{j.options, task, j.in})
	}
	return j.do(task, settings)
}

// do does the task for the rows for which no earlier run has done it.
func (j *Job) do(task task, settings []Setting) (Summary, error) {
	j.task = task
	o := j.options
	out := output{o, task, j.in}

	// The note lets a later run check that it can resume this one.
	canResume := o.resumable() == nil
	var memo note
	if canResume {
		var err error
		if memo, err = newNote(j.ctx, o, j.in, task, settings); err != nil {
			return j.done, err
		}
	}
	release, err := hold(o.Output)
	if err != nil {
		return j.done, fmt.Errorf("failed to write %s: %w", o.Output, err)
	}
	defer func() { release() }()
	if j.resuming {
		if err := memo.check(o.Output); err != nil {
			return j.done, fmt.Errorf("failed to resume: %w", err)
		}
		j.w, j.done, err = out.resume()
		j.done.Before = j.done.Rows
	} else {
		if o.Output != Standard {
			err = out.remove()
		}
		if err == nil && canResume {
			if err = memo.write(o.Output); err == nil {
				release() // the earlier note
				release, err = hold(o.Output)
			}
		}
		if err == nil {
			if j.w, err = out.create(); err != nil && canResume {
				err = errors.Join(err, memo.done(o.Output))
			}
		}
	}
	if err != nil {
		return j.done, fmt.Errorf("failed to write %s: %w", o.outputName(), err)
	}
	if err := j.run(nil); err != nil {
		if canResume {
			err = &UnfinishedError{err}
		}
		return j.done, err
	}
	if canResume {
		if err := memo.done(o.Output); err != nil {
			return j.done, fmt.Errorf("failed to remove %s: %w", noteOf(o.Output), err)
		}
	}
	return j.done, nil
}

// run does the task for the remaining rows and completes the output. check, unless it is nil,
// checks a row that is in the output already and whose result is replaced.
func (j *Job) run(check func(row) error) error {
	ctx := j.ctx
	at, err := j.in.skip(ctx, j.done.Rows)
	if err != nil {
		return j.cutOff(ctx, fmt.Errorf("failed to read %s: %w", j.options.inputName(), err))
	}
	began := time.Now()
	defer func() { j.done.Duration = time.Since(began) }()
	report := func(at int64) {
		if j.options.Progress != nil {
			j.done.Duration = time.Since(began)
			j.options.Progress(Progress{j.done, at, j.in.length()})
		}
	}
	report(at)

	memory := newBudget(readAhead)
	var readErr, writeErr error
	ended, interrupted := false, false
	rows := func(yield func(row) bool) {
		for ctx.Err() == nil {
			r, err := j.in.next()
			if err == io.EOF {
				ended = true
				return
			}
			if err != nil {
				readErr = fmt.Errorf("failed to read %s: %w", j.options.inputName(), err)
				return
			}
			if !memory.take(ctx, r.size) || !yield(r) {
				return
			}
		}
	}
	text := func(r row) (string, error) {
		if r.kept() {
			return "", errKept
		}
		return r.text, r.err
	}
	for o := range j.task.outcomes(ctx, rows, text) {
		if interrupted = o.err != nil && ctx.Err() != nil && errors.Is(o.err, ctx.Err()); interrupted {
			break // a resumed run begins with this row
		}
		if check != nil && !o.row.kept() && o.err == nil {
			writeErr = check(o.row)
		}
		if fatal, ok := errors.AsType[*FatalError](o.err); ok {
			writeErr = fatal
		}
		if writeErr == nil {
			writeErr = j.write(o)
		}
		if writeErr != nil {
			j.cancel() // the reader may wait for input or memory, and Batch waits for the reader
			break
		}
		memory.give(o.row.size)
		report(o.row.upTo)
	}
	switch {
	case writeErr != nil:
		return j.cutOff(context.Background(), writeErr)
	case interrupted || !ended:
		return j.cutOff(ctx, readErr)
	}
	if err := j.w.finish(); err != nil {
		return fmt.Errorf("failed to write %s: %w", j.options.outputName(), err)
	}
	return nil
}

// write writes and counts the outcome of a row.
func (j *Job) write(o outcome) error {
	if o.row.kept() {
		if err := j.keep(o.row.was.line); err != nil {
			return fmt.Errorf("failed to write %s: %w", j.options.outputName(), err)
		}
		j.done.add(o.row.was.result, j.task)
		j.done.Before++
		return nil
	}
	l := &line{row: o.row.number, value: o.value}
	if j.options.KeepText && o.row.err == nil {
		l.text = &o.row.text
	}
	if o.err != nil {
		l.err = o.err.Error()
	}
	if err := j.w.write(o.row, l); err != nil {
		return fmt.Errorf("failed to write %s: %w", j.options.outputName(), err)
	}
	j.done.add(l, j.task)
	return nil
}

// interruption is the error of an ended context, in words for users.
type interruption struct{ error }

func (interruption) Error() string   { return "interrupted" }
func (i interruption) Unwrap() error { return i.error }

// cutOff ends an incomplete output and returns the error.
func (j *Job) cutOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = interruption{ctx.Err()}
	}
	err = fmt.Errorf("%w; %d rows are done", err, j.done.Rows)
	if stopErr := j.w.stop(); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("failed to write %s: %w", j.options.outputName(), stopErr))
	}
	return err
}

// readAhead is the limit of the rows in memory in bytes; a single row may have
// more.
const readAhead = 64 << 20

// budget limits the memory of rows that are read but not written. Batch limits
// only their number, which is not enough if each row has megabytes.
type budget struct {
	lock  sync.Mutex
	left  int
	whole int
	freed chan struct{} // holds one signal
}

func newBudget(bytes int) *budget {
	return &budget{left: bytes, whole: bytes, freed: make(chan struct{}, 1)}
}

// take waits until the bytes fit. It returns false if ctx ends first. Only one
// goroutine may call it.
func (b *budget) take(ctx context.Context, bytes int) bool {
	for {
		b.lock.Lock()
		fits := bytes <= b.left || b.left == b.whole
		if fits {
			b.left -= bytes
		}
		b.lock.Unlock()
		if fits {
			return true
		}
		select {
		case <-b.freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *budget) give(bytes int) {
	b.lock.Lock()
	b.left += bytes
	b.lock.Unlock()
	select {
	case b.freed <- struct{}{}:
	default: // a signal is already pending
	}
}
