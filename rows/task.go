package rows

import (
	"context"
	"iter"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows/input"
)

// task is what a [Job] does with the texts of its rows: it finds a value of type V for each. It
// also says how values are written and counted.
type task[V any] interface {
	// versions name what finds the results, for the note of an output that can be resumed.
	versions() []Setting
	// metadata is that of an output in Parquet.
	metadata() map[string]string
	// outcomes yields the outcomes of rows in their order, like [toxscreen.Batch].
	outcomes(ctx context.Context, rows iter.Seq[row], text func(row) (string, error)) iter.Seq[outcome[V]]
	// columns are the result columns after those of the row.
	columns() []resultColumn[V]
	// fromCells returns the parts of a value that count in a [Summary]. cell returns what a
	// result column has as in CSV, empty if there is nothing.
	fromCells(cell func(column string) string) (V, error)
	// failOn names what [Summary].Reached counts.
	failOn() string
	// count counts a row without an error.
	count(s *Summary, r *Row[V])
}

// row is a row of the input.
type row struct {
	input.Row

	was *writtenRow[toxscreen.Result] // in the output that is judged again; else nil
}

// outcome is the outcome of a row.
type outcome[V any] struct {
	row   row
	value V // counts only without an error
	err   error
}

// FatalError is an error that ends the run, and not only its row. It is for [Finding].Mask.
type FatalError struct{ Err error }

func (f *FatalError) Error() string { return f.Err.Error() }
func (f *FatalError) Unwrap() error { return f.Err }
