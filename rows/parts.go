package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/input"
)

// partBytes is the maximum of input bytes in one part file. The writer holds about
// as much in memory before a row group is complete.
const partBytes = 64 << 20

// partsWriter writes Parquet. A Parquet file is unreadable without its end, so rows
// are written to part files with one row group each. At the end, the row groups are
// copied into one file.
type partsWriter[V any] struct {
	output[V]

	schema *parquet.Schema
	encode func(input.Row, *Row[V]) (parquet.Row, error)
	number int // number of the current or next part, from 1

	// Of the current part; w is nil if there is none.
	file  *os.File
	w     *parquet.GenericWriter[any]
	rows  int
	bytes int
}

// partsOf returns the folder for the part files of a Parquet output.
func partsOf(path string) string { return path + ".parts" }

// parts returns the writer for the first part and all others.
func (o output[V]) parts() (_ *partsWriter[V], err error) {
	defer input.Damaged(&err)
	if err := os.Mkdir(partsOf(o.Output), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, files.Cause(err)
	}
	schema := o.parquetSchema(o.in)
	return &partsWriter[V]{output: o, schema: schema, encode: o.parquetRow(len(schema.Columns())), number: 1}, nil
}

// The files in the folder of parts: finished parts, the incomplete part of an
// interrupted run, and the part that is being written.
func (o output[V]) partFile(number int) string {
	return filepath.Join(partsOf(o.Output), fmt.Sprintf("part-%06d.parquet", number))
}

func (o output[V]) partialFile(number int) string {
	return filepath.Join(partsOf(o.Output), fmt.Sprintf("part-%06d.partial.parquet", number))
}

func (o output[V]) unfinishedFile() string {
	return filepath.Join(partsOf(o.Output), "unfinished")
}

func (p *partsWriter[V]) newWriter(file io.Writer) *parquet.GenericWriter[any] {
	options := []parquet.WriterOption{
		p.schema,
		parquet.Compression(&parquet.Snappy), // all readers support it
		parquet.CreatedBy("toxscreen", toxscreen.Version(), ""),
	}
	for name, value := range p.task.metadata() {
		options = append(options, parquet.KeyValueMetadata(name, value))
	}
	return parquet.NewGenericWriter[any](file, options...)
}

func (p *partsWriter[V]) begin() (err error) {
	if p.file, err = os.Create(p.unfinishedFile()); err != nil {
		return files.Cause(err)
	}
	p.w, p.rows, p.bytes = p.newWriter(p.file), 0, 0
	return nil
}

func (p *partsWriter[V]) write(in input.Row, r *Row[V]) (err error) {
	defer input.Damaged(&err)
	if p.w == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	values, err := p.encode(in, r)
	if err != nil {
		return fmt.Errorf("row %d: %w", in.Number, err)
	}
	if _, err := p.w.WriteRows([]parquet.Row{values}); err != nil {
		return files.Cause(err)
	}
	p.rows++
	p.bytes += in.Size
	if p.rows < p.rowGroup() && p.bytes < partBytes {
		return nil
	}
	return p.end(p.partFile(p.number))
}

// end completes the current part and gives it its final name.
func (p *partsWriter[V]) end(name string) error {
	if err := p.complete(p.w, p.file, name); err != nil {
		p.w = nil
		return err
	}
	p.w = nil
	if name == p.partFile(p.number) {
		if err := os.Remove(p.partialFile(p.number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files.Cause(err)
		}
		p.number++
	}
	return nil
}

// complete writes the end of a Parquet file, syncs it to disk and renames it: under
// its name there is a complete file or none.
func (p *partsWriter[V]) complete(w *parquet.GenericWriter[any], file *os.File, name string) error {
	err := w.Close()
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(files.Cause(err), file.Close()); err != nil {
		return err
	}
	return files.Cause(os.Rename(file.Name(), name))
}

// stop stores the rows of the current part in a separate file. A resumed run writes
// the part again from this file, so the row groups are the same as without an
// interruption.
func (p *partsWriter[V]) stop() error {
	if p.w == nil {
		return nil
	}
	return p.end(p.partialFile(p.number))
}

// finish copies the row groups of all parts into one file and removes the parts.
func (p *partsWriter[V]) finish() (err error) {
	defer input.Damaged(&err)
	if p.w != nil {
		if err := p.end(p.partFile(p.number)); err != nil {
			return err
		}
	}
	file, err := os.Create(p.unfinishedFile())
	if err != nil {
		return files.Cause(err)
	}
	whole := p.newWriter(file)
	for number := 1; number < p.number; number++ {
		if err := p.copyPart(whole, number); err != nil {
			return errors.Join(fmt.Errorf("part %d: %w", number, err), file.Close())
		}
	}
	if err := p.complete(whole, file, p.Output); err != nil {
		return err
	}
	return os.RemoveAll(partsOf(p.Output))
}

func (p *partsWriter[V]) copyPart(whole *parquet.GenericWriter[any], number int) (err error) {
	file, part, err := openPart(p.partFile(number))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, group := range part.RowGroups() {
		if _, err := whole.WriteRowGroup(group); err != nil {
			return files.Cause(err)
		}
	}
	return nil
}

func openPart(path string) (*os.File, *parquet.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	part, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return file, part, nil
}

// resumeParts counts the rows of the finished parts and begins the next part with
// the rows of the interrupted run.
func (o output[V]) resumeParts() (rowWriter[V], Summary, error) {
	var done Summary
	p, err := o.parts()
	if err != nil {
		return nil, done, err
	}
	// If the file exists, it is complete: it is created in one step after all rows,
	// and the run was interrupted after that.
	switch err := p.eachRow(o.Output, &done, nil); {
	case err == nil:
		return &wholeParquet[V]{p}, done, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, done, err
	}
	for ; ; p.number++ {
		err := p.eachRow(p.partFile(p.number), &done, nil)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, done, err
		}
	}
	err = p.eachRow(p.partialFile(p.number), &done, func(r parquet.Row) error {
		if p.w == nil {
			if err := p.begin(); err != nil {
				return err
			}
		}
		p.rows++
		_, err := p.w.WriteRows([]parquet.Row{r})
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, done, err
	}
	return p, done, nil
}

// wholeParquet is a complete file whose parts were not removed yet.
type wholeParquet[V any] struct{ *partsWriter[V] }

func (w *wholeParquet[V]) finish() error { return os.RemoveAll(partsOf(w.Output)) }

// eachRow counts the rows of a part and passes them to use, unless it is nil.
func (p *partsWriter[V]) eachRow(path string, done *Summary, use func(parquet.Row) error) (err error) {
	defer input.Damaged(&err)
	file, part, err := openPart(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	place, number := p.places(), p.groups.Before+done.Rows
	buffer := make([]parquet.Row, 64)
	for _, group := range part.RowGroups() {
		rows := group.Rows()
		for ended := false; !ended; {
			n, err := rows.ReadRows(buffer)
			if ended = err == io.EOF; err != nil && !ended {
				return errors.Join(err, rows.Close())
			}
			for _, values := range buffer[:n] {
				if number++; values[place["row"]].Int64() != number {
					return errors.Join(p.foreign(number), rows.Close())
				}
				r, err := p.counted(number, place, func(i int) string { return cellOf(values[i]) })
				if err != nil {
					return errors.Join(err, rows.Close())
				}
				add(done, r, p.task)
				if use != nil {
					if err := use(values); err != nil {
						return errors.Join(err, rows.Close())
					}
				}
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// cellOf returns the value of a result column as it is in CSV.
func cellOf(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	default:
		return string(v.ByteArray())
	}
}
