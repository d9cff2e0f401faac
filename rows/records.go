package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/toxscreen/toxscreen/rows/input"
)

// Record is a row of an input in its original form.
type Record struct {
	Row int64 // its number, from 1; blank lines and the header are not counted
	// ID is empty if the row has no id.
	ID string
	// Fields is a JSON object of the other fields, the text included; nil if the row has
	// only an id. Cells of CSV and TSV are strings.
	Fields json.RawMessage
	// Undecodable says that the row has bytes as in [Summary].Undecodable.
	Undecodable bool
}

// Records yields the rows of an input, for callers who need more than a text to score. Of
// o, it uses the options of the input, IDColumn and MaxBytes. A row that cannot be read
// ends the sequence with an error, which names the file.
func Records(ctx context.Context, o Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		o = o.withDefaults()
		o.TextColumn = "" // it is a field like the others
		if err := o.records(ctx, func(r Record) bool { return yield(r, nil) }); err != nil {
			yield(Record{}, fmt.Errorf("failed to read %s: %w", o.inputName(), err))
		}
	}
}

func (o Options) records(ctx context.Context, use func(Record) bool) error {
	if err := o.validateInput(); err != nil {
		return err
	}
	if o.Input == Standard && o.Stdin == nil {
		return errors.New("there is neither a file nor Stdin")
	}
	in, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		r, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err := cmp.Or(err, r.Err, ctx.Err()); err != nil {
			return err
		}
		id, fields, err := r.Fields.JSON()
		if err != nil {
			return err
		}
		if !use(Record{r.Number, input.IDText(id), fields, r.Undecodable}) {
			return nil
		}
	}
}
