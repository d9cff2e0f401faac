package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/csv"
	"github.com/toxscreen/toxscreen/rows/input"
	"github.com/toxscreen/toxscreen/rows/parts"
)

// rowWriter writes rows in their order.
type rowWriter[V any] interface {
	// write writes a row, with the id and the other fields of the input's row.
	write(in input.Row, r *Row[V]) error
	// finish completes the output and syncs it to disk.
	finish() error
	// stop ends an incomplete output. Its rows stay, for a run that resumes it.
	stop() error
}

// output is the output of a job.
type output[V any] struct {
	*pair

	task task[V]
}

func (o output[V]) format() Format {
	format, _ := o.outputFormat() // checked when the job was opened
	return format
}

// mayWrite refuses to replace an existing output without Overwrite, and an output in a
// folder where no file can be created. It reports whether there is a run to resume.
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

// exists reports which files of an output exist.
func exists(output string) (file, unfinished bool, err error) {
	for path, there := range map[string]*bool{output: &file, noteOf(output): &unfinished, parts.Folder(output): &unfinished} {
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

// remove removes an existing output before it is written again. The note of the new run
// covers all files beside it, so none of the old ones may be left by then.
func (o output[V]) remove() error {
	if err := os.RemoveAll(parts.Folder(o.Output)); err != nil {
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
		return &lineWriter[V]{out: o.Stdout, encode: o.encoder()}, nil
	}
	if o.format() == Parquet {
		return o.parts(nil)
	}
	file, err := os.OpenFile(o.Output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, files.Cause(err)
	}
	if err := o.writeHeader(file); err != nil {
		return nil, errors.Join(files.Cause(err), file.Close())
	}
	return &lineWriter[V]{out: file, file: file, encode: o.encoder()}, nil
}

// writeHeader writes the header of an output that has one.
func (o output[V]) writeHeader(w io.Writer) error {
	if !o.format().HasCells() {
		return nil
	}
	header, err := csv.Encode(o.csvHeader(o.in.Columns()), o.format().Delimiter())
	if err == nil {
		_, err = w.Write(header)
	}
	return err
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

// lineWriter writes JSONL, CSV and TSV, with one Write for each row. So a reader of a pipe
// gets each row at once, and a kill leaves at most the last row incomplete.
type lineWriter[V any] struct {
	out    io.Writer
	file   *os.File // out, unless that is a stream
	encode func(input.Row, *Row[V]) ([]byte, error)
}

func (w *lineWriter[V]) write(in input.Row, r *Row[V]) error {
	encoded, err := w.encode(in, r)
	if err != nil {
		return fmt.Errorf("row %d: %w", in.Number, err)
	}
	_, err = w.out.Write(encoded)
	return files.Cause(err)
}

func (w *lineWriter[V]) finish() error { return w.stop() }

func (w *lineWriter[V]) stop() error {
	if w.file == nil {
		return nil
	}
	info, err := w.file.Stat()
	if err == nil && info.Mode().IsRegular() { // neither a device nor a pipe
		err = w.file.Sync()
	}
	return errors.Join(err, w.file.Close())
}
