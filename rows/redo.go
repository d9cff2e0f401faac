package rows

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/input"
)

// redoable returns why the verdicts of an output cannot be requested again, or nil.
func (o Options) redoable() error {
	format, err := o.outputFormat()
	switch {
	case err != nil:
		return err
	case o.Resume || o.Overwrite:
		return fmt.Errorf("it changes a complete output: it cannot be combined with %s or %s", o.option("Resume"), o.option("Overwrite"))
	case format == Parquet:
		return fmt.Errorf("rows of Parquet cannot be replaced: use %s in its place, which takes the verdicts that there are from the cache", o.option("Overwrite"))
	}
	return o.resumable()
}

// redo asks the judge again about the rows of a complete output whose verdict failed. The
// other rows stay. The output is replaced as a whole, or not at all.
func redo(p *run[toxscreen.Result], screener *toxscreen.Screener) (Summary, error) {
	out := p.output
	path, err := filepath.EvalSymlinks(out.Output)
	if err == nil && !screener.HasJudge() {
		err = errors.New("no judge is configured")
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	if err != nil {
		return p.done, fmt.Errorf("failed to judge %s again: %w", out.Output, files.Cause(err))
	}
	defer file.Close()
	p.read = together(out, file)
	err = files.Write(path, 0o666, func(w io.Writer) error {
		if err := out.writeHeader(w); err != nil {
			return err
		}
		p.w = &lineWriter[toxscreen.Result]{out: w, encode: out.encoder()}
		p.keep = func(in row) error {
			line := make([]byte, in.was.end-in.was.begin)
			_, err := file.ReadAt(line, in.was.begin)
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return files.Cause(err)
			}
			add(&p.done, in.was.row, p.task)
			p.done.addInput(in.Row)
			p.done.Before++
			return nil
		}
		return p.work(func(in row) error { return unchanged(p.ctx, screener, in) })
	})
	if err != nil {
		return p.done, fmt.Errorf("failed to judge %s again: %w; the file is as it was", out.Output, err)
	}
	return p.done, nil
}

// together returns a function that reads the next row of an input, with the row that was
// written for it.
func together(out output[toxscreen.Result], file io.Reader) func() (row, error) {
	before, number := out.written(file), int64(0)
	return func() (row, error) {
		r, err := out.in.Next()
		if err != nil && err != io.EOF {
			return row{}, err
		}
		was, wasErr := before()
		number++
		if wasErr == io.ErrUnexpectedEOF || wasErr == nil && was.cells == nil && was.row.Error == "" && (was.row.Text != nil) != out.KeepText {
			wasErr = out.foreign(number)
		}
		switch {
		case wasErr != nil && wasErr != io.EOF:
			return row{}, fmt.Errorf("the output: %w", files.Cause(wasErr))
		case err == io.EOF && wasErr == io.EOF:
			return row{}, io.EOF
		case err == io.EOF || wasErr == io.EOF:
			return row{}, errors.New("it has more or fewer rows than the output: it is not the input of that run")
		}
		if same, err := out.isOf(was, r); err != nil || !same {
			return row{}, cmp.Or(err, notItsInput(r.Number))
		}
		r.Size += int(was.end - was.begin)
		return row{r, &was}, nil
	}
}

// isOf reports whether a row was written for a row of the input, as far as the written row
// can tell.
func (o output[V]) isOf(w writtenRow[V], in input.Row) (bool, error) {
	if in.Fields == nil {
		return true, nil
	}
	if w.cells == nil {
		id, others, err := in.Fields.JSON()
		same := bytes.Equal(id, w.row.ID) && bytes.Equal(others, w.row.Input)
		return same && (w.row.Text == nil || in.Err != nil || *w.row.Text == in.Text), err
	}
	place := o.places()
	id, others, err := in.Fields.Cells()
	same := w.cells[place["id"]] == id && slices.Equal(w.cells[len(place):], others)
	if i, ok := place["text"]; ok && in.Err == nil {
		same = same && w.cells[i] == in.Text
	}
	return same, err
}

func notItsInput(row int64) error {
	return fmt.Errorf("row %d is not what the output was made of: use the input and the settings of that run", row)
}

// kept reports whether the written row stays.
func (r row) kept() bool {
	return r.was != nil && (r.was.row.Error != "" || !r.was.row.Value.Judge.Missing())
}

// errKept is the outcome of a row that is not scored.
var errKept = errors.New("the row stays as it was written")

// unchanged returns an error if the classifier's part of a row has changed.
func unchanged(ctx context.Context, screener *toxscreen.Screener, in row) error {
	now, err := screener.With(toxscreen.WithoutJudge("only the classifier is compared"), toxscreen.WithFullNetwork()).Score(ctx, in.Text)
	if err != nil {
		return err
	}
	for a, was := range in.was.row.Value.Attributes {
		if is, ok := now.Attributes[a]; !ok || math.Abs(float64(is.Score-was.Score)) > 1e-4 {
			return notItsInput(in.Number)
		}
	}
	if now.Flagged != in.was.row.Value.Flagged {
		return notItsInput(in.Number)
	}
	return nil
}
