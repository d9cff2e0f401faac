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
// sequence ends or its consumer stops early. For that, rows must return, so a
// source that waits for input has to watch ctx itself.
func Batch[Row any](ctx context.Context, s *Screener, rows iter.Seq[Row], text func(Row) (string, error)) iter.Seq[Outcome[Row]] {
	return func(yield func(Outcome[Row]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		classifying, judging := max(s.info.Parallel, 1), 0
		if s.judge != nil {
			judging = max(s.judge.Parallel(), 1)
		}
		type job struct {
			text      string
			screening *Screening
			outcome   Outcome[Row]
			done      chan struct{}
		}
		window := 128 + 2*classifying + 64*judging
		jobs := make(chan *job)            // to the classifier
		ordered := make(chan *job, window) // to the consumer, in order; its capacity bounds the read-ahead
		// To the judge. It has room for all rows in memory, including the ones that
		// the reader and the consumer hold: the classifier never waits.
		escalated := make(chan *job, window+2)
		var classifiers, judges sync.WaitGroup

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
				// The consumer waits for every job in ordered, so each must reach a
				// classifier, even when ctx has ended; the classifier then returns
				// at once.
				jobs <- j
			}
		}()
		finish := func(j *job) {
			j.text, j.screening = "", nil
			close(j.done)
		}
		for range classifying {
			classifiers.Go(func() {
				for j := range jobs {
					if j.outcome.Err = ctx.Err(); j.outcome.Err == nil {
						j.screening, j.outcome.Err = s.Begin(ctx, j.text)
					}
					if j.outcome.Err == nil {
						if j.outcome.Result = j.screening.Result(); j.outcome.Result.Judge.Pending {
							escalated <- j
							continue
						}
					}
					finish(j)
				}
			})
		}
		for range judging {
			judges.Go(func() {
				for j := range escalated {
					if j.outcome.Err = ctx.Err(); j.outcome.Err == nil {
						j.outcome.Result, j.outcome.Err = j.screening.Consult(ctx)
					}
					finish(j)
				}
			})
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			classifiers.Wait()
			close(escalated)
			judges.Wait()
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
