package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/rows/input"
)

// run does a task for the rows of one pair of input and output.
type run[V any] struct {
	output[V]

	read func() (row, error)
	w    rowWriter[V]
	keep func(row) error // writes and counts a row as it was; nil without Redo
	done Summary
}

func begin[V any](p *pair, t task[V]) *run[V] {
	read := func() (row, error) {
		r, err := p.in.Next()
		return row{Row: r}, err
	}
	return &run[V]{output: output[V]{p, t}, read: read}
}

// do does the task for the rows that earlier runs have left.
func (p *run[V]) do(settings []Setting) (Summary, error) {
	o := p.Options

	// The note lets a later run check that it can resume this one.
	canResume := o.resumable() == nil
	var memo note
	if canResume {
		var err error
		if memo, err = newNote(p.ctx, o, p.in, p.task, settings); err != nil {
			return p.done, err
		}
	}
	release, err := hold(o.Output)
	if err != nil {
		return p.done, fmt.Errorf("failed to write %s: %w", o.Output, err)
	}
	defer func() { release() }()
	if p.resuming && o.inFolder {
		switch complete, err := memo.complete(o); {
		case err == nil:
			return complete, removeUnfinished(o.Output)
		case !errors.Is(err, errIncomplete):
			return p.done, fmt.Errorf("failed to resume %s: %w", o.Output, err)
		}
	}
	if p.resuming {
		if err := memo.check(o); err != nil {
			return p.done, fmt.Errorf("failed to resume%s: %w", o.among(), err)
		}
		p.w, p.done, err = p.resume()
		p.done.Before = p.done.Rows
	} else {
		if o.Output != Standard {
			err = p.remove()
		}
		if err == nil && canResume {
			if err = memo.save(noteOf(o.Output)); err == nil {
				release() // the earlier note
				release, err = hold(o.Output)
			}
		}
		if err == nil {
			if p.w, err = p.create(); err != nil && canResume {
				err = errors.Join(err, memo.done(o.Output))
			}
		}
	}
	if err != nil {
		return p.done, fmt.Errorf("failed to write %s: %w", o.outputName(), err)
	}
	if err := p.work(nil); err != nil {
		if canResume {
			err = &UnfinishedError{err}
		}
		return p.done, err
	}
	if o.inFolder {
		if err := memo.record(o.Output, p.done); err != nil {
			return p.done, &UnfinishedError{fmt.Errorf("failed to write %s: %w", recordOf(o.Output), files.Cause(err))}
		}
	}
	if canResume {
		if err := memo.done(o.Output); err != nil {
			return p.done, fmt.Errorf("failed to remove %s: %w", noteOf(o.Output), err)
		}
	}
	if o.Resume {
		return p.done, removeUnfinished(o.Output)
	}
	return p.done, nil
}

// removeUnfinished removes the files beside an output that a run created right before a
// kill.
func removeUnfinished(output string) error {
	if err := errors.Join(files.RemoveUnfinished(noteOf(output)), files.RemoveUnfinished(recordOf(output))); err != nil {
		return fmt.Errorf("failed to remove what a killed run left: %w", err)
	}
	return nil
}

// work does the task for the remaining rows and completes the output. check, unless it is
// nil, checks each row of the output whose result will be replaced.
func (p *run[V]) work(check func(row) error) error {
	ctx := p.ctx
	before, err := input.Skip(ctx, p.in, p.done.Rows)
	if err != nil {
		return p.cutOff(ctx, fmt.Errorf("failed to read %s: %w", p.inputName(), err))
	}
	p.done.Undecodable, p.done.Nonfinite = before.Undecodable, before.Nonfinite
	began := time.Now()
	defer func() { p.done.Duration = time.Since(began) }()
	report := func(at int64) {
		if p.Progress != nil {
			p.done.Duration = time.Since(began)
			p.Progress(Progress{p.done, at, p.in.Length()})
		}
	}
	report(before.UpTo)

	memory := semaphore.NewWeighted(readAhead)
	var readErr, writeErr error
	ended, interrupted := false, false
	weight := func(r row) int64 { return min(int64(r.Size), readAhead) }
	rows := func(yield func(row) bool) {
		for ctx.Err() == nil {
			r, err := p.read()
			if err == io.EOF {
				ended = true
				return
			}
			if err != nil {
				readErr = fmt.Errorf("failed to read %s: %w", p.inputName(), err)
				return
			}
			if memory.Acquire(ctx, weight(r)) != nil || !yield(r) {
				return
			}
		}
	}
	text := func(r row) (string, error) {
		if r.kept() {
			return "", errKept
		}
		return r.Text, r.Err
	}
	for o := range p.task.outcomes(ctx, rows, text) {
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
			writeErr = p.write(o)
		}
		if writeErr != nil {
			p.cancel() // the reader may wait for input or memory, and Batch waits for the reader
			break
		}
		memory.Release(weight(o.row))
		report(o.row.UpTo)
	}
	switch {
	case writeErr != nil:
		return p.cutOff(context.Background(), writeErr)
	case interrupted || !ended:
		return p.cutOff(ctx, readErr)
	}
	if err := p.w.finish(); err != nil {
		return fmt.Errorf("failed to write %s: %w", p.outputName(), err)
	}
	return nil
}

// write writes and counts the outcome of a row.
func (p *run[V]) write(o outcome[V]) error {
	if o.row.kept() {
		if err := p.keep(o.row); err != nil {
			return fmt.Errorf("failed to write %s: %w", p.outputName(), err)
		}
		return nil
	}
	r := &Row[V]{Number: o.row.Number, Value: o.value}
	if p.KeepText && o.row.Err == nil {
		r.Text = &o.row.Text
	}
	if o.err != nil {
		r.Error = o.err.Error()
	}
	if err := p.w.write(o.row.Row, r); err != nil {
		return fmt.Errorf("failed to write %s: %w", p.outputName(), err)
	}
	add(&p.done, r, p.task)
	p.done.addInput(o.row.Row)
	return nil
}

// interruption is the error of an ended context, which users see as "interrupted".
type interruption struct{ error }

func (interruption) Error() string   { return "interrupted" }
func (i interruption) Unwrap() error { return i.error }

// among names the output in a sentence, if there are several.
func (o Options) among() string {
	if !o.inFolder {
		return ""
	}
	return " of " + o.Output
}

// cutOff stops an incomplete output and returns the error of the run.
func (p *run[V]) cutOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = interruption{ctx.Err()}
	}
	err = fmt.Errorf("%w; %s%s %s done", err, plural.Count(p.done.Rows, "row", "rows"), p.among(), plural.Word(p.done.Rows, "is", "are"))
	if stopErr := p.w.stop(); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("failed to write %s: %w", p.outputName(), stopErr))
	}
	return err
}

// readAhead is the limit, in bytes, of the rows in memory, but a single row may have more.
// Batch limits only the number of rows, which is not enough if each has megabytes.
const readAhead = 64 << 20
