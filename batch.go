package toxscreen

import (
	"context"
	"iter"
)

// Outcome is what became of one row of a [Batch].
type Outcome[Row any] struct {
	Row    Row
	Result Result // valid where Err is nil
	Err    error
}

// Batch scores as many rows at once as the model can use and yields their outcomes in the order of
// the rows. text returns a row's text, or an error, which then is the row's
// outcome; it is called in order, from one goroutine at a time.
//
// A row that fails does not end the batch. At most 64 rows for each that is
// under way are in memory at once, however many there are and however long one
// of them takes. When ctx ends, rows are no longer read, those under way end
// with its error, and the sequence ends after them. All goroutines are gone
// when the sequence ends or its consumer stops early; rows must return for
// that, so a source that waits for input has to watch ctx itself.
func Batch[Row any](ctx context.Context, s *Screener, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row]] {
	return func(yield func(Outcome[Row]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		parallel := max(s.info.Parallel, 1)
		if s.judge != nil {
			parallel += s.judge.Parallel() // they wait for it, and the classifier goes on meanwhile
		}
		type job struct {
			text    string
			outcome Outcome[Row]
			done    chan struct{}
		}
		jobs := make(chan *job)                 // to the workers
		ordered := make(chan *job, 64*parallel) // to the consumer, in order; its capacity bounds the read-ahead
		workers := make(chan struct{}, parallel)

		go func() {
			defer close(ordered)
			defer close(jobs)
			for row := range rows {
				j := &job{outcome: Outcome[Row]{Row: row}, done: make(chan struct{})}
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
				// A job that the consumer waits for must be finished by
				// someone: hand it over even when ctx has ended, Score then
				// returns at once.
				jobs <- j
			}
		}()
		for range parallel {
			go func() {
				defer func() { workers <- struct{}{} }()
				for j := range jobs {
					if err := ctx.Err(); err != nil {
						j.outcome.Err = err
					} else {
						j.outcome.Result, j.outcome.Err = s.Score(ctx, j.text)
					}
					j.text = ""
					close(j.done)
				}
			}()
		}
		defer func() {
			cancel()
			for range ordered { // lets the reader end
			}
			for range parallel {
				<-workers
			}
		}()
		for j := range ordered {
			<-j.done
			if !yield(j.outcome) {
				return
			}
		}
	}
}
