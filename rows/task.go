package rows

import (
	"context"
	"iter"
)

// task is what a [Job] does with the texts of its rows, and how the results are written
// and counted.
type task interface {
	// versions name what finds the results, for the note of an output that can be resumed.
	versions() []Setting
	// metadata is that of an output in Parquet.
	metadata() map[string]string
	// outcomes yields the outcomes of rows in their order, like [toxscreen.Batch].
	outcomes(ctx context.Context, rows iter.Seq[row], text func(row) (string, error)) iter.Seq[outcome]
	// columns are the result columns after those of the row.
	columns() []resultColumn
	// fromJSON returns a line of an output in JSONL, and fromCells the parts of the value
	// of a row that count in a [Summary]. cell returns what a result column has as in CSV,
	// empty if there is nothing.
	fromJSON(encoded []byte) (*line, error)
	fromCells(cell func(column string) string) (any, error)
	// failOn names what [Summary].Reached counts.
	failOn() string
	// count counts a row without an error.
	count(s *Summary, l *line)
}

// outcome is the outcome of a row.
type outcome struct {
	row   row
	value any // of the task
	err   error
}

// FatalError is an error that ends the run, and not only its row. It is for [Finding].Mask.
type FatalError struct{ Err error }

// Error implements error.
func (f *FatalError) Error() string { return f.Err.Error() }

// Unwrap returns the reason.
func (f *FatalError) Unwrap() error { return f.Err }
