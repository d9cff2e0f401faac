package toxscreen

import (
	"context"
	"iter"
	"sync"
)

// Outcome is what became of one row of a [Batch].
type Outcome[Row any] struct {
	Row    Row
	Result Result // valid where Err is nil
	Err    error
}

// Batch scores as many rows at once as the model can use and yields their
// outcomes in the order of the rows. text returns a row's text, or an error,
// which then is the row's outcome; it is called in order, from one goroutine at
// a time.
//
// A row that fails does not end the batch. In memory are at most 128 rows, two
// more for each that is classified at once and 64 for each that is judged at
// once, however many there are and however long one of them takes. Texts that
// wait for a judge keep the classifier from nothing until so many are in memory.
// When ctx ends, rows are no longer read, those under way end with its error, and
// the sequence ends after them. All goroutines are gone when the sequence ends or
// its consumer stops early; rows must return for that, so a source that waits for
// input has to watch ctx itself.
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
		// To the judge. All that are in memory have room, those in the hands of
		// the reader and of the consumer included: the classifier never waits.
		worthy := make(chan *job, window+2)
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
				// A job that the consumer waits for must be finished by
				// someone: hand it over even when ctx has ended, Score then
				// returns at once.
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
							worthy <- j
							continue
						}
					}
					finish(j)
				}
			})
		}
		for range judging {
			judges.Go(func() {
				for j := range worthy {
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
			close(worthy)
			judges.Wait()
		}()
		defer func() {
			cancel()
			for range ordered { // lets the reader end
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
