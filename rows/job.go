package rows

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/input"
)

// Job reads one or several inputs and writes their outputs. It serves one goroutine.
type Job struct {
	ctx    context.Context
	cancel context.CancelFunc
	pieces []piece
	open   *pair // nil before the first is done if there is none
	total  uint64

	// Of the pieces that are complete.
	done   Summary
	passed uint64
}

// Open opens the input and checks that the output may be written, so that a caller learns
// about a wrong name before opening a model. With several inputs, it does so for each. ctx
// applies to the whole job: when it ends, [Job.Score] or [Job.Find] stops.
func Open(ctx context.Context, o Options) (*Job, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	j := &Job{ctx: ctx, cancel: cancel, pieces: []piece{{Options: o}}}
	if err := j.prepare(o); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Job) prepare(o Options) (err error) {
	if o.toFolder() {
		if j.pieces, err = o.plan(j.ctx); err != nil {
			return err
		}
		if err := os.MkdirAll(o.Output, 0o777); err != nil {
			return fmt.Errorf("failed to create the folder %s: %w", o.Output, files.Cause(err))
		}
	}
	for i, p := range j.pieces {
		j.total += p.size
		opened, err := j.openPiece(i)
		switch {
		case err != nil:
		case i == 0:
			j.open = opened
		default:
			err = opened.close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Outputs returns the paths of the outputs in their order. It is empty if the shard gets no
// input.
func (j *Job) Outputs() []string {
	var paths []string
	for _, p := range j.pieces {
		paths = append(paths, p.Output)
	}
	return paths
}

// Close closes the input. Call it after Score or Find has returned, or instead of them.
func (j *Job) Close() error {
	j.cancel()
	if j.open == nil {
		return nil
	}
	return j.open.close()
}

// Score scores the rows that earlier runs have left, and completes the outputs. Call it
// once. With an error, it returns the summary of the rows written so far. The error chain
// has an [UnfinishedError] if the run can be resumed, and the error of [Open]'s context if
// that has ended.
//
// settings are what the results depend on besides the model and the options, such as
// thresholds and a judge. A run cannot be resumed with other settings.
func (j *Job) Score(screener *toxscreen.Screener, settings ...Setting) (Summary, error) {
	return j.each(func(p *pair) (Summary, error) {
		r := begin(p, newScoring(screener, p.Options))
		if p.Redo {
			return redo(r, screener)
		}
		return r.do(settings)
	})
}

// each calls do for the pieces, one after another.
func (j *Job) each(do func(*pair) (Summary, error)) (Summary, error) {
	for i, p := range j.pieces {
		if i > 0 {
			var err error
			if j.open, err = j.openPiece(i); err != nil {
				return j.done, &UnfinishedError{err}
			}
		}
		done, err := do(j.open)
		if !p.inFolder {
			return done, err
		}
		j.done.include(p.Input, done)
		j.passed += p.size
		if _, unfinished := errors.AsType[*UnfinishedError](err); err != nil && i > 0 && !unfinished {
			err = &UnfinishedError{err} // the outputs before it are complete
		}
		if closeErr := j.open.close(); err == nil && closeErr != nil {
			err = &UnfinishedError{fmt.Errorf("failed to read %s: %w", p.Input, files.Cause(closeErr))}
		}
		j.open = nil
		if err != nil {
			return j.done, err
		}
	}
	return j.done, nil
}

// openPiece opens a piece, and reports its progress as a part of the job's.
func (j *Job) openPiece(i int) (*pair, error) {
	p := j.pieces[i]
	o := p.Options
	if show := o.Progress; show != nil && o.inFolder {
		o.Progress = func(now Progress) {
			all, at := j.done, 0.0
			all.include(p.Input, now.Summary)
			if now.Length > 0 {
				at = float64(now.At) / float64(now.Length) * float64(p.size)
			}
			show(Progress{all, int64(j.passed) + int64(at), int64(j.total)})
		}
	}
	return openPair(j.ctx, o)
}

// pair is an open input with its output.
type pair struct {
	Options

	ctx      context.Context
	cancel   context.CancelFunc
	in       input.Reader
	resuming bool // an output exists
}

func openPair(ctx context.Context, o Options) (*pair, error) {
	resuming, err := mayWrite(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	in, err := o.open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = interruption{ctx.Err()}
		}
		cancel()
		return nil, fmt.Errorf("failed to read %s: %w", o.inputName(), err)
	}
	return &pair{o, ctx, cancel, in, resuming}, nil
}

func (p *pair) close() error {
	p.cancel()
	return p.in.Close()
}

// recordOf returns the path of the note about a complete output in a folder of outputs. Its
// name begins with an underscore, so that programs which read the folder skip it.
func recordOf(path string) string {
	return filepath.Join(filepath.Dir(path), "_done", filepath.Base(path)+".json")
}
