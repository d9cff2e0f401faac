package rows

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/csv"
	"github.com/toxscreen/toxscreen/rows/input"
)

// writtenRow is a row of a complete output.
type writtenRow struct {
	line []byte // with its line break
	row  *Result
	// same reports whether the row was written for a row of the input, as far as the
	// output tells.
	same func(in input.Row) (bool, error)
}

// redoable returns why the verdicts of an output cannot be asked for again.
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

// redo asks the judge again about the rows of a complete output whose verdict failed,
// and keeps the others. The output is replaced as a whole, or not at all.
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
	before := writtenLines(out, file)
	if out.format().HasCells() {
		before = writtenRecords(out, file)
	}
	p.read = together(p.in, before)
	err = files.Write(path, 0o666, func(w io.Writer) error {
		if out.format().HasCells() {
			header, err := csv.Encode(out.csvHeader(p.in.Columns()), out.format().Delimiter())
			if err == nil {
				_, err = w.Write(header)
			}
			if err != nil {
				return err
			}
		}
		none := func() error { return nil }
		p.w = &lineWriter[toxscreen.Result]{out: w, encode: out.encoder(), sync: none, close: none}
		p.keep = func(in row) error {
			if _, err := w.Write(in.was.line); err != nil {
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

// together returns a function that reads the next row of an input, with what was written for it.
func together(in input.Reader, before func() (writtenRow, error)) func() (row, error) {
	return func() (row, error) {
		r, err := in.Next()
		if err != nil && err != io.EOF {
			return row{}, err
		}
		was, wasErr := before()
		switch {
		case wasErr != nil && wasErr != io.EOF:
			return row{}, fmt.Errorf("the output: %w", wasErr)
		case err == io.EOF && wasErr == io.EOF:
			return row{}, io.EOF
		case err == io.EOF || wasErr == io.EOF:
			return row{}, errors.New("it has not as many rows as the output: it is not the input of that run")
		}
		if r.Fields != nil {
			same, err := was.same(r)
			if err != nil {
				return row{}, err
			}
			if !same {
				return row{}, notItsInput(r.Number)
			}
		}
		r.Size += len(was.line)
		return row{r, &was}, nil
	}
}

func notItsInput(row int64) error {
	return fmt.Errorf("row %d is not what the output was made of: use the input and the settings of that run", row)
}

// kept reports whether the row stays as it was written.
func (r row) kept() bool {
	return r.was != nil && (r.was.row.Error != "" || !r.was.row.Value.Judge.Missing())
}

// errKept is the outcome of a row that is not scored.
var errKept = errors.New("the row stays as it was written")

// unchanged returns why the classifier's part in a row is not what it was.
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

// writtenLines returns a function that returns the rows of an output in JSONL.
func writtenLines(o output[toxscreen.Result], file io.Reader) func() (writtenRow, error) {
	in, number := bufio.NewReaderSize(file, 1<<20), int64(0)
	return func() (writtenRow, error) {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			err = o.foreign(number + 1)
		}
		if err != nil {
			return writtenRow{}, files.Cause(err)
		}
		number++
		var r Result
		if err := json.Unmarshal(line, &r); err != nil || r.Number != number || r.Error == "" && (r.Text != nil) != o.KeepText {
			return writtenRow{}, o.foreign(number)
		}
		return writtenRow{line, &r, func(in input.Row) (bool, error) {
			id, others, err := in.Fields.JSON()
			same := bytes.Equal(id, r.ID) && bytes.Equal(others, r.Input)
			return same && (r.Text == nil || in.Err != nil || *r.Text == in.Text), err
		}}, nil
	}
}

// writtenRecords returns a function that returns the rows of an output in CSV.
func writtenRecords(o output[toxscreen.Result], file io.ReaderAt) func() (writtenRow, error) {
	all := io.NewSectionReader(file, 0, math.MaxInt64)
	records := csv.NewReader(bufio.NewReaderSize(all, 1<<20), csv.Options{Comma: o.format().Delimiter(), Limit: math.MaxInt})
	header, place, number := o.csvHeader(o.in.Columns()), o.places(), int64(0)
	return func() (writtenRow, error) {
		for {
			begin := records.Offset()
			cells, err := records.Next()
			switch {
			case err == io.EOF:
				return writtenRow{}, io.EOF
			case err != nil || !records.Ended() || len(cells) != len(header):
				return writtenRow{}, o.foreign(number + 1)
			case begin == 0:
				if !slices.Equal(cells, header) {
					return writtenRow{}, errors.New("the header of the output is not what this run would write: use the settings of that run")
				}
				continue
			}
			number++
			if cells[place["row"]] != strconv.FormatInt(number, 10) {
				return writtenRow{}, o.foreign(number)
			}
			result, err := o.writtenCells(number, cells, place)
			if err != nil {
				return writtenRow{}, err
			}
			line := make([]byte, records.Offset()-begin)
			if _, err := file.ReadAt(line, begin); err != nil {
				return writtenRow{}, files.Cause(err)
			}
			return writtenRow{line, result, func(in input.Row) (bool, error) {
				id, others, err := in.Fields.Cells()
				same := cells[place["id"]] == id && slices.Equal(cells[len(place):], others)
				if text, ok := place["text"]; ok && in.Err == nil {
					same = same && cells[text] == in.Text
				}
				return same, err
			}}, nil
		}
	}
}
