package rows

import (
	"context"
	"iter"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows/input"
)

// task is what a [Job] does with the texts of its rows: it finds a value of type V for
// each, and says how values are written and counted.
type task[V any] interface {
	// versions names what the results depend on, for the note of an output that can be
	// resumed.
	versions() []Setting
	// metadata returns the metadata of an output in Parquet.
	metadata() map[string]string
	// outcomes yields the outcomes of rows in their order, like [toxscreen.Batch].
	outcomes(ctx context.Context, rows iter.Seq[row], text func(row) (string, error)) iter.Seq[outcome[V]]
	// columns returns the result columns that follow those of the row.
	columns() []resultColumn[V]
	// fromCells returns the parts of a value that count in a [Summary]. cell returns what a
	// result column has as in CSV, empty if there is nothing.
	fromCells(cell func(column string) string) (V, error)
	// failOn says in words what [Summary].Reached counts.
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

// FatalError is an error of [Finding].Mask that ends the whole run, instead of failing one
// row.
type FatalError struct{ Err error }

func (f *FatalError) Error() string { return f.Err.Error() }
func (f *FatalError) Unwrap() error { return f.Err }
