package rows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/toxscreen/toxscreen/rows/input"
	"io"
	"iter"
)

// Record is a row of an input as it was written.
type Record struct {
	Row int64 // its number, from 1; blank lines and the header are not counted
	// ID is empty if the row has none.
	ID string
	// Fields is a JSON object of the other fields, the text among them; nil if there are
	// none. Cells of CSV and TSV are strings.
	Fields json.RawMessage
	// Undecodable reports whether the row holds bytes as in [Summary].Undecodable.
	Undecodable bool
}

// Records yields the rows of an input for callers who need more of them than a text to
// score. Of o, it uses the input and how it is read, the id's column and MaxBytes. The
// first row that cannot be read ends the sequence with an error, which names the file.
func Records(ctx context.Context, o Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		o = o.withDefaults()
		o.TextColumn = "" // it is a field like the others
		fail := func(err error) { yield(Record{}, fmt.Errorf("failed to read %s: %w", o.inputName(), err)) }
		if err := o.validateInput(); err != nil {
			fail(err)
			return
		}
		if o.Input == Standard && o.Stdin == nil {
			fail(errors.New("there is neither a file nor Stdin"))
			return
		}
		in, err := o.open(ctx)
		if err != nil {
			fail(err)
			return
		}
		defer in.Close()
		for {
			r, err := in.Next()
			switch err {
			case io.EOF:
				return
			case nil:
				err = errors.Join(r.Err, ctx.Err())
			}
			record := Record{Row: r.Number, Undecodable: r.Undecodable}
			if err == nil {
				var id []byte
				if id, record.Fields, err = r.Fields.JSON(); err == nil {
					record.ID = input.IDText(id)
				}
			}
			if err != nil {
				fail(err)
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}
