package toxscreen

import (
	"context"
	"iter"
	"sync"
)

// Outcome is the outcome of one row of a [Batch].
type Outcome[Row any] struct {
	Row    Row
	Result Result // valid where Err is nil
	Err    error
}

// Batch scores rows in parallel, as many at once as the model can use, and yields
// their outcomes in the order of the rows. text returns the text of a row, or an
// error, which becomes the outcome of the row; it is called in order, from one
// goroutine at a time.
//
// A failed row does not end the batch. At most 128 rows are in memory, plus two for
// each row that is classified at once and 64 for each that is judged at once,
// regardless of the number of rows and of how long one of them takes. Until that
// many rows are in memory, texts that wait for the judge do not delay the
// classifier. When ctx ends, no more rows are read, rows in progress end with its
// error, and the sequence ends after them. All goroutines have ended when the
// sequence ends or its consumer stops early. They wait for rows to return: a source
// that waits for input must watch ctx itself.
func Batch[Row any](ctx context.Context, s *Screener, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row]] {
	judging := 0
	if s.HasJudge() {
		judging = max(s.opinion.Parallel, 1)
	}
	steps := steps[*Screening, Result]{
		parallel: s.info.Parallel, later: judging, first: s.Begin, result: (*Screening).Result,
		pending: func(r Result) bool { return r.Judge.Pending }, second: (*Screening).Consult,
	}
	return func(yield func(Outcome[Row]) bool) {
		for o := range inOrder(ctx, steps, rows, text) {
			if !yield(Outcome[Row]{o.row, o.result, o.err}) {
				return
			}
		}
	}
}

// FoundEntities is the outcome of one row of a [FindBatch].
type FoundEntities[Row any] struct {
	Row      Row
	Entities []Entity // valid where Err is nil
	Err      error
}

// FindBatch is [Batch] for the personal data in texts.
func FindBatch[Row any](ctx context.Context, f EntityFinder, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[FoundEntities[Row]] {
	steps := steps[[]Entity, []Entity]{
		parallel: f.Parallel(), first: f.Find, result: func(found []Entity) []Entity { return found },
		pending: func([]Entity) bool { return false },
	}
	return func(yield func(FoundEntities[Row]) bool) {
		for o := range inOrder(ctx, steps, rows, text) {
			if !yield(FoundEntities[Row]{o.row, o.result, o.err}) {
				return
			}
		}
	}
}

// steps are what a batch does with each text. The second step is for results of the first that
// are pending; all others are final.
type steps[Begun, R any] struct {
	parallel int // texts in the first step at once
	later    int // texts in the second step at once
	first    func(ctx context.Context, text string) (Begun, error)
	result   func(Begun) R
	pending  func(R) bool
	second   func(Begun, context.Context) (R, error)
}

// rowOutcome is the outcome of a row.
type rowOutcome[Row, R any] struct {
	row    Row
	result R
	err    error
}

// inOrder is [Batch] for any steps.
func inOrder[Row, Begun, R any](ctx context.Context, s steps[Begun, R], rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[rowOutcome[Row, R]] {
	return func(yield func(rowOutcome[Row, R]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		beginning := max(s.parallel, 1)
		type job struct {
			text    string
			begun   Begun
			outcome rowOutcome[Row, R]
			done    chan struct{}
		}
		window := 128 + 2*beginning + 64*s.later
		jobs := make(chan *job)            // to the first step
		ordered := make(chan *job, window) // to the consumer, in order; its capacity bounds the read-ahead
		// To the second step. It has room for all rows in memory, including the ones that
		// the reader and the consumer hold: the first step never waits.
		pending := make(chan *job, window+2)
		var first, second sync.WaitGroup

		go func() {
			defer close(ordered)
			defer close(jobs)
			for row := range rows {
				j := &job{outcome: rowOutcome[Row, R]{row: row}, done: make(chan struct{})}
				j.text, j.outcome.err = text(row)
				select {
				case ordered <- j:
				case <-ctx.Done():
					return
				}
				if j.outcome.err != nil {
					close(j.done)
					continue
				}
				// The consumer waits for every job in ordered, so each must reach the
				// first step, even when ctx has ended, which then returns at once.
				jobs <- j
			}
		}()
		finish := func(j *job) {
			var none Begun
			j.text, j.begun = "", none
			close(j.done)
		}
		for range beginning {
			first.Go(func() {
				for j := range jobs {
					if j.outcome.err = ctx.Err(); j.outcome.err == nil {
						j.begun, j.outcome.err = s.first(ctx, j.text)
					}
					if j.outcome.err == nil {
						if j.outcome.result = s.result(j.begun); s.pending(j.outcome.result) {
							pending <- j
							continue
						}
					}
					finish(j)
				}
			})
		}
		for range s.later {
			second.Go(func() {
				for j := range pending {
					if j.outcome.err = ctx.Err(); j.outcome.err == nil {
						j.outcome.result, j.outcome.err = s.second(j.begun, ctx)
					}
					finish(j)
				}
			})
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			first.Wait()
			close(pending)
			second.Wait()
		}()
		defer func() {
			cancel()
			for range ordered { // unblocks the reader
			}
			<-ended
		}()
		for j := range ordered {
			<-j.done
			if !yield(j.outcome) {
				return
			}
		}
	}
}
