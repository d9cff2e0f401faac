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
)

// writtenRow is a row of a complete output.
type writtenRow struct {
	line []byte // with its line break
	row  *Result
	// same reports whether the row was written for a row of the input, as far as the
	// output tells.
	same func(in row) (bool, error)
}

// redoable returns why the verdicts of an output cannot be asked for again.
func (o Options) redoable() error {
	format, err := o.outputFormat()
	switch {
	case err != nil:
		return err
	case o.Resume || o.Overwrite:
		return errors.New("it changes a complete output: it cannot be combined with --resume or --overwrite")
	case format == Parquet:
		return errors.New("rows of Parquet cannot be replaced: use --overwrite in its place, which takes the verdicts that there are from the cache")
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
	if out.format().hasCells() {
		before = writtenRecords(out, file)
	}
	p.in = &redoReader{rowReader: p.in, before: before}
	err = files.Write(path, 0o666, func(w io.Writer) error {
		if out.format().hasCells() {
			header, err := encodeRecord(out.csvHeader(p.in.columns()), out.format().delimiter())
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
			p.done.addInput(in)
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

// redoReader reads the input together with its output.
type redoReader struct {
	rowReader

	before func() (writtenRow, error)
}

// next returns the next row, with what was written for it.
func (r *redoReader) next() (row, error) {
	in, err := r.rowReader.next()
	if err != nil && err != io.EOF {
		return row{}, err
	}
	was, wasErr := r.before()
	switch {
	case wasErr != nil && wasErr != io.EOF:
		return row{}, fmt.Errorf("the output: %w", wasErr)
	case err == io.EOF && wasErr == io.EOF:
		return row{}, io.EOF
	case err == io.EOF || wasErr == io.EOF:
		return row{}, errors.New("it has not as many rows as the output: it is not the input of that run")
	}
	if in.fields != nil {
		same, err := was.same(in)
		if err != nil {
			return row{}, err
		}
		if !same {
			return row{}, notItsInput(in.number)
		}
	}
	in.was = &was
	in.size += len(was.line)
	return in, nil
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
	now, err := screener.With(toxscreen.WithoutJudge("only the classifier is compared"), toxscreen.WithFullNetwork()).Score(ctx, in.text)
	if err != nil {
		return err
	}
	for a, was := range in.was.row.Value.Attributes {
		if is, ok := now.Attributes[a]; !ok || math.Abs(float64(is.Score-was.Score)) > 1e-4 {
			return notItsInput(in.number)
		}
	}
	if now.Flagged != in.was.row.Value.Flagged {
		return notItsInput(in.number)
	}
	return nil
}

// writtenLines returns a function that returns the rows of an output in JSONL.
func writtenLines(o output[toxscreen.Result], file io.Reader) func() (writtenRow, error) {
	in, number := bufio.NewReaderSize(file, 1<<20), int64(0)
	return func() (writtenRow, error) {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			err = foreign(number + 1)
		}
		if err != nil {
			return writtenRow{}, files.Cause(err)
		}
		number++
		var r Result
		if err := json.Unmarshal(line, &r); err != nil || r.Number != number || r.Error == "" && (r.Text != nil) != o.KeepText {
			return writtenRow{}, foreign(number)
		}
		return writtenRow{line, &r, func(in row) (bool, error) {
			id, others, err := in.fields.json()
			same := bytes.Equal(id, r.ID) && bytes.Equal(others, r.Input)
			return same && (r.Text == nil || in.err != nil || *r.Text == in.text), err
		}}, nil
	}
}

// writtenRecords returns a function that returns the rows of an output in CSV.
func writtenRecords(o output[toxscreen.Result], file io.ReaderAt) func() (writtenRow, error) {
	all := io.NewSectionReader(file, 0, math.MaxInt64)
	records := csvRecords{in: bufio.NewReaderSize(all, 1<<20), comma: o.format().delimiter(), limit: int(^uint(0) >> 1)}
	header, place, number := o.csvHeader(o.in.columns()), o.places(), int64(0)
	return func() (writtenRow, error) {
		for {
			begin := records.offset
			cells, err := records.next()
			switch {
			case err == io.EOF:
				return writtenRow{}, io.EOF
			case err != nil || !records.ended || len(cells) != len(header):
				return writtenRow{}, foreign(number + 1)
			case begin == 0:
				if !slices.Equal(cells, header) {
					return writtenRow{}, errors.New("the header of the output is not what this run would write: use the settings of that run")
				}
				continue
			}
			number++
			if cells[place["row"]] != strconv.FormatInt(number, 10) {
				return writtenRow{}, foreign(number)
			}
			result, err := o.writtenCells(number, cells, place)
			if err != nil {
				return writtenRow{}, err
			}
			line := make([]byte, records.offset-begin)
			if _, err := file.ReadAt(line, begin); err != nil {
				return writtenRow{}, files.Cause(err)
			}
			return writtenRow{line, result, func(in row) (bool, error) {
				id, others, err := in.fields.cells()
				same := cells[place["id"]] == id && slices.Equal(cells[len(place):], others)
				if text, ok := place["text"]; ok && in.err == nil {
					same = same && cells[text] == in.text
				}
				return same, err
			}}, nil
		}
	}
}
