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
	"path/filepath"
	"slices"
	"strconv"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/csv"
	"github.com/toxscreen/toxscreen/rows/input"
)

// rowWriter writes rows in their order.
type rowWriter[V any] interface {
	// write writes a row with the id and the other fields of the input's.
	write(in input.Row, r *Row[V]) error
	// finish completes the output and syncs it to disk.
	finish() error
	// stop ends the output before it is complete. Finished rows stay, for a
	// resumed run.
	stop() error
}

// output is the output of a job.
type output[V any] struct {
	Options

	task task[V]
	in   input.Reader
}

func (o output[V]) format() Format {
	format, _ := o.outputFormat() // checked when the job was opened
	return format
}

// mayWrite refuses to replace an existing output without Overwrite, and an output in
// a folder where it cannot be created. It reports whether there is a run to resume.
func mayWrite(o Options) (resuming bool, err error) {
	if o.Output == Standard {
		return false, nil
	}
	folder := filepath.Dir(o.Output)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no folder %s; create it, or name another", folder)
		}
		return false, fmt.Errorf("failed to write %s: %w", o.Output, err)
	}
	file, unfinished, err := exists(o.Output)
	switch {
	case err != nil:
		return false, err
	case o.Redo && unfinished:
		return false, fmt.Errorf("%s is an unfinished output: continue it with %s before %s", o.Output, o.option("Resume"), o.option("Redo"))
	case o.Redo && !file:
		return false, fmt.Errorf("there is no output %s whose texts could be judged again", o.Output)
	case o.Redo:
	case o.Overwrite:
	case o.Resume:
		resuming = file || unfinished
	case unfinished:
		return false, fmt.Errorf("%s is an unfinished output: continue it with %s, or replace it with %s", o.Output, o.option("Resume"), o.option("Overwrite"))
	case file && o.inFolder:
		return false, fmt.Errorf("%s exists: continue the run with %s, which passes over complete outputs, or replace them with %s", o.Output, o.option("Resume"), o.option("Overwrite"))
	case file:
		return false, fmt.Errorf("%s exists: choose another name, or replace it with %s", o.Output, o.option("Overwrite"))
	}
	if format, _ := o.outputFormat(); !file || format == Parquet || o.resumable() == nil {
		if err := files.MayCreate(noteOf(o.Output)); err != nil {
			return false, fmt.Errorf("failed to write %s: no file can be created in the folder %s: %w; name another", o.Output, folder, err)
		}
	}
	return resuming, nil
}

// exists reports which parts of an output exist.
func exists(output string) (file, unfinished bool, err error) {
	for path, there := range map[string]*bool{output: &file, noteOf(output): &unfinished, partsOf(output): &unfinished} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, false, fmt.Errorf("failed to write %s: %w", output, err)
		case path == output && info.IsDir():
			return false, false, fmt.Errorf("failed to write %s: it is a folder; name a file in it", path)
		default:
			*there = true
		}
	}
	return file, unfinished, nil
}

// remove removes an existing output before it is written again. Nothing may be left
// when the note of the new run is written: the note covers all files next to it.
func (o output[V]) remove() error {
	if err := os.RemoveAll(partsOf(o.Output)); err != nil {
		return err
	}
	for _, note := range []string{noteOf(o.Output), recordOf(o.Output)} {
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if info, err := os.Stat(o.Output); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if o.format() == Parquet {
		return os.Remove(o.Output) // the complete file is created at the end
	}
	return os.Truncate(o.Output, 0) // keeps a link
}

// create creates a new output.
func (o output[V]) create() (rowWriter[V], error) {
	if o.Output == Standard {
		return &lineWriter[V]{out: o.Stdout, encode: o.encoder(), sync: func() error { return nil }, close: func() error { return nil }}, nil
	}
	if o.format() == Parquet {
		return o.parts()
	}
	file, err := os.OpenFile(o.Output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, files.Cause(err)
	}
	if o.format().HasCells() {
		header, err := csv.Encode(o.csvHeader(o.in.Columns()), o.format().Delimiter())
		if err == nil {
			_, err = file.Write(header)
		}
		if err != nil {
			return nil, errors.Join(files.Cause(err), file.Close())
		}
	}
	return o.lines(file), nil
}

// encoder returns the function that encodes a row as a line.
func (o output[V]) encoder() func(input.Row, *Row[V]) ([]byte, error) {
	if o.format().HasCells() {
		return o.csvRecord(len(o.csvHeader(o.in.Columns())), o.format().Delimiter())
	}
	return jsonLine[V]
}

// jsonLine returns the JSON line of a row.
func jsonLine[V any](in input.Row, r *Row[V]) (encoded []byte, err error) {
	if in.Fields != nil {
		if r.ID, r.Input, err = in.Fields.JSON(); err != nil {
			return nil, err
		}
	}
	if encoded, err = r.MarshalJSON(); err != nil {
		return nil, err
	}
	return append(encoded, '\n'), nil
}

func (o output[V]) lines(file *os.File) *lineWriter[V] {
	return &lineWriter[V]{out: file, encode: o.encoder(), sync: func() error { return toDisk(file) }, close: file.Close}
}

// toDisk syncs a file to disk, unless it is a device or a pipe.
func toDisk(file *os.File) error {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return file.Sync()
}

// lineWriter writes JSONL, CSV and TSV. Each row is one write, so that a reader of a
// pipe gets it at once, and only the last row can be incomplete after a kill.
type lineWriter[V any] struct {
	out         io.Writer
	encode      func(input.Row, *Row[V]) ([]byte, error)
	sync, close func() error
}

func (w *lineWriter[V]) write(in input.Row, r *Row[V]) error {
	encoded, err := w.encode(in, r)
	if err != nil {
		return fmt.Errorf("row %d: %w", in.Number, err)
	}
	_, err = w.out.Write(encoded)
	return files.Cause(err)
}

func (w *lineWriter[V]) finish() error { return errors.Join(w.sync(), w.close()) }
func (w *lineWriter[V]) stop() error   { return errors.Join(w.sync(), w.close()) }

// resume opens an unfinished output, cuts off an incomplete last row and counts the
// other rows.
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
	if o.format().HasCells() {
		end, err = o.countCSV(file, &done)
	} else {
		end, err = o.countJSON(file, &done)
	}
	if err == nil && end == 0 { // not even a header
		return o.again(file)
	}
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, done, errors.Join(files.Cause(err), file.Close())
	}
	return o.lines(file), done, nil
}

func (o output[V]) again(file *os.File) (rowWriter[V], Summary, error) {
	if err := file.Close(); err != nil {
		return nil, Summary{}, err
	}
	w, err := o.create()
	return w, Summary{}, err
}

// next returns the number of the row after those that are done.
func (o output[V]) next(done Summary) int64 { return o.groups.Before + done.Rows + 1 }

// foreign is the error for an output with content that no run has written.
func (o Options) foreign(row int64) error {
	return fmt.Errorf("row %d is not what the run wrote: the file was changed; use %s to start over", row, o.option("Overwrite"))
}

// writtenCells returns the parts of a row that was written as CSV.
func (o output[V]) writtenCells(row int64, cells []string, place map[string]int) (*Row[V], error) {
	return o.written(row, func(column string) string {
		if i, ok := place[column]; ok {
			return cells[i]
		}
		return ""
	})
}

// written returns the parts of a written row that count in a [Summary]. cell returns what
// a column has as in CSV, empty if there is nothing.
func (o output[V]) written(row int64, cell func(column string) string) (*Row[V], error) {
	r := &Row[V]{Number: row, Error: cell("error")}
	var err error
	if r.Error == "" {
		if r.Value, err = o.task.fromCells(cell); err != nil {
			return nil, o.foreign(row)
		}
	}
	return r, nil
}

// countJSON counts the complete lines and returns their end.
func (o output[V]) countJSON(file io.Reader, done *Summary) (end int64, err error) {
	in := bufio.NewReaderSize(file, 1<<20)
	for {
		encoded, err := in.ReadBytes('\n')
		if err == io.EOF {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		var r Row[V]
		if err := json.Unmarshal(encoded, &r); err != nil || r.Number != o.next(*done) {
			return 0, o.foreign(o.next(*done))
		}
		end += int64(len(encoded))
		add(done, &r, o.task)
	}
}

// countCSV counts the complete records after the header and returns their end.
func (o output[V]) countCSV(file io.Reader, done *Summary) (end int64, err error) {
	// No limit is needed: a run wrote the file.
	records := csv.NewReader(bufio.NewReaderSize(file, 1<<20), csv.Options{Comma: o.format().Delimiter(), Limit: math.MaxInt})
	header, place := o.csvHeader(o.in.Columns()), o.places()
	for begun := false; ; begun = true {
		cells, err := records.Next()
		_, broken := errors.AsType[*csv.Error](err)
		if err == io.EOF || !records.Ended() && (err == nil || broken) {
			return end, nil
		}
		if err != nil && !broken {
			return 0, err
		}
		if !begun {
			if !slices.Equal(cells, header) {
				return 0, fmt.Errorf("its header is not what the run wrote: the file was changed; use %s to start over", o.option("Overwrite"))
			}
			end = records.Offset()
			continue
		}
		if broken || len(cells) != len(header) || cells[place["row"]] != strconv.FormatInt(o.next(*done), 10) {
			return 0, o.foreign(o.next(*done))
		}
		end = records.Offset()
		r, err := o.writtenCells(o.next(*done), cells, place)
		if err != nil {
			return 0, err
		}
		add(done, r, o.task)
	}
}
