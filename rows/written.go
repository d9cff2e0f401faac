package rows

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/csv"
)

// writtenRow is a row of an existing output in JSONL, CSV or TSV.
type writtenRow[V any] struct {
	row        *Row[V]  // of CSV and TSV, what counts in a [Summary]
	cells      []string // nil in JSONL
	begin, end int64    // in the file
}

// errHeader is the error of an output whose header differs from this run's.
var errHeader = errors.New("the header of the output is not what this run would write: use the settings of that run")

// written returns a function that reads the rows of an output, one with each call. Its
// error is [io.EOF] at the end, and [io.ErrUnexpectedEOF] for an incomplete last row.
func (o output[V]) written(file io.Reader) func() (writtenRow[V], error) {
	in := bufio.NewReaderSize(file, 1<<20)
	if o.format().HasCells() {
		return o.writtenRecords(in)
	}
	number, end := o.groups.Before, int64(0)
	return func() (writtenRow[V], error) {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return writtenRow[V]{}, err
		}
		number++
		w := writtenRow[V]{row: &Row[V]{}, begin: end, end: end + int64(len(line))}
		end = w.end
		if err := json.Unmarshal(line, w.row); err != nil || w.row.Number != number {
			return w, o.foreign(number)
		}
		return w, nil
	}
}

func (o output[V]) writtenRecords(in *bufio.Reader) func() (writtenRow[V], error) {
	// No limit is needed: a run wrote the file.
	records := csv.NewReader(in, csv.Options{Comma: o.format().Delimiter(), Limit: math.MaxInt})
	header, place, number := o.csvHeader(o.in.Columns()), o.places(), o.groups.Before
	return func() (w writtenRow[V], err error) {
		for w.row == nil {
			w.begin = records.Offset()
			w.cells, err = records.Next()
			_, broken := errors.AsType[*csv.Error](err)
			switch {
			case err != nil && !broken: // also at the end
				return w, err
			case !records.Ended():
				return w, io.ErrUnexpectedEOF
			case w.begin == 0 && !slices.Equal(w.cells, header):
				return w, errHeader
			case w.begin == 0:
				continue
			}
			number++
			if broken || len(w.cells) != len(header) || w.cells[place["row"]] != strconv.FormatInt(number, 10) {
				return w, o.foreign(number)
			}
			w.end = records.Offset()
			if w.row, err = o.counted(number, place, func(i int) string { return w.cells[i] }); err != nil {
				return w, err
			}
		}
		return w, nil
	}
}

// counted returns a written row with the parts that count in a [Summary]. cell returns the
// cell that CSV has for a column, empty for no value.
func (o output[V]) counted(number int64, place map[string]int, cell func(i int) string) (*Row[V], error) {
	named := func(column string) string {
		if i, ok := place[column]; ok {
			return cell(i)
		}
		return ""
	}
	r := &Row[V]{Number: number, Error: named("error")}
	if r.Error != "" {
		return r, nil
	}
	var err error
	if r.Value, err = o.task.fromCells(named); err != nil {
		return nil, o.foreign(number)
	}
	return r, nil
}

// foreign is the error for an output with content that a run cannot have written.
func (o Options) foreign(row int64) error {
	return fmt.Errorf("row %d is not what the run wrote: the file was changed; use %s to start over", row, o.option("Overwrite"))
}

// resume opens an unfinished output, cuts off an incomplete last row, and counts the other
// rows.
func (o output[V]) resume() (rowWriter[V], Summary, error) {
	if o.format() == Parquet {
		return o.resumeParts()
	}
	var done Summary
	file, err := os.OpenFile(o.Output, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		w, err := o.create()
		return w, done, err
	}
	if err != nil {
		return nil, done, files.Cause(err)
	}
	var end int64
	for next := o.written(file); err == nil; {
		var w writtenRow[V]
		if w, err = next(); err == nil {
			add(&done, w.row, o.task)
			end = w.end
		}
	}
	switch err {
	case errHeader:
		err = fmt.Errorf("its header is not what the run wrote: the file was changed; use %s to start over", o.option("Overwrite"))
	case io.EOF, io.ErrUnexpectedEOF:
		err = file.Truncate(end)
	}
	if err == nil && end == 0 { // perhaps without a header
		if err = file.Close(); err != nil {
			return nil, done, err
		}
		w, err := o.create()
		return w, done, err
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, done, errors.Join(files.Cause(err), file.Close())
	}
	return &lineWriter[V]{out: file, file: file, encode: o.encoder()}, done, nil
}
