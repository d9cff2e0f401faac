package toxscreen

import (
	"context"
	"iter"
	"sync"
)

// Outcome is the outcome of one row of a [Batch] or a [FindBatch].
type Outcome[Row, R any] struct {
	Row    Row
	Result R // valid where Err is nil
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
func Batch[Row any](ctx context.Context, s *Screener, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row, Result]] {
	judging := 0
	if s.HasJudge() {
		judging = max(s.opinion.Parallel, 1)
	}
	return inOrder(ctx, steps[*Screening, Result]{
		parallel: s.first.info.Parallel, later: judging, first: s.Begin, result: (*Screening).Result,
		pending: func(r Result) bool { return r.Judge.Pending }, second: (*Screening).Consult,
	}, rows, text)
}

// FindBatch is [Batch] for the personal data in texts.
func FindBatch[Row any](ctx context.Context, f EntityFinder, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row, []Entity]] {
	return inOrder(ctx, steps[[]Entity, []Entity]{
		parallel: f.Parallel(), first: f.Find, result: func(found []Entity) []Entity { return found },
		pending: func([]Entity) bool { return false },
	}, rows, text)
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

// inOrder is [Batch] for any steps.
func inOrder[Row, Begun, R any](ctx context.Context, s steps[Begun, R], rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row, R]] {
	return func(yield func(Outcome[Row, R]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		beginning := max(s.parallel, 1)
		type job struct {
			text    string
			begun   Begun
			outcome Outcome[Row, R]
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
				j := &job{outcome: Outcome[Row, R]{Row: row}, done: make(chan struct{})}
				j.text, j.outcome.Err = text(row)
				select {
				case ordered <- j:
				case <-ctx.Done():
					return
				}
				if j.outcome.Err != nil {
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
					if j.outcome.Err = ctx.Err(); j.outcome.Err == nil {
						j.begun, j.outcome.Err = s.first(ctx, j.text)
					}
					if j.outcome.Err == nil {
						if j.outcome.Result = s.result(j.begun); s.pending(j.outcome.Result) {
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
					if j.outcome.Err = ctx.Err(); j.outcome.Err == nil {
						j.outcome.Result, j.outcome.Err = s.second(j.begun, ctx)
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
