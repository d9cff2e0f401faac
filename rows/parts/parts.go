// Package parts writes Parquet files whose rows survive a kill. A Parquet file is
// unreadable without its end. So rows are written to part files with one row group each,
// and at the end the row groups are copied into one file.
package parts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/input"
)

// partBytes is the highest number of input bytes in one part file. The writer holds about
// as much in memory until the row group is complete.
const partBytes = 64 << 20

// Options configure a [Writer].
type Options struct {
	Path     string // of the file
	Schema   *parquet.Schema
	Metadata map[string]string
	RowGroup int // rows of a row group; fewer if they are long
}

// Writer writes a Parquet file. It serves one goroutine.
type Writer struct {
	Options

	number int  // number of the current or next part, from 1
	whole  bool // the file is complete, and only its parts are to be removed

	// The current part. w is nil if no part is open.
	file  *os.File
	w     *parquet.GenericWriter[any]
	rows  int
	bytes int
}

// Folder returns the folder for the parts of a file.
func Folder(path string) string { return path + ".parts" }

// Open returns a writer. If each is nil, it begins a new file. Otherwise it continues the
// file of an interrupted writer, and calls each for the rows that are already written.
func Open(o Options, each func(parquet.Row) error) (*Writer, error) {
	if err := os.Mkdir(Folder(o.Path), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, files.Cause(err)
	}
	w := &Writer{Options: o, number: 1}
	if each == nil {
		return w, nil
	}
	return w, w.resume(each)
}

// The files in the folder of parts: finished parts, the incomplete part of an
// interrupted run, and the part that is being written.
func (p *Writer) partFile(number int) string {
	return filepath.Join(Folder(p.Path), fmt.Sprintf("part-%06d.parquet", number))
}

func (p *Writer) partialFile(number int) string {
	return filepath.Join(Folder(p.Path), fmt.Sprintf("part-%06d.partial.parquet", number))
}

func (p *Writer) unfinishedFile() string { return filepath.Join(Folder(p.Path), "unfinished") }

func (p *Writer) newWriter(file io.Writer) *parquet.GenericWriter[any] {
	options := []parquet.WriterOption{
		p.Schema,
		parquet.Compression(&parquet.Snappy), // all readers support it
		parquet.CreatedBy("toxscreen", toxscreen.Version, ""),
	}
	for name, value := range p.Metadata {
		options = append(options, parquet.KeyValueMetadata(name, value))
	}
	return parquet.NewGenericWriter[any](file, options...)
}

func (p *Writer) begin() (err error) {
	if p.file, err = os.Create(p.unfinishedFile()); err != nil {
		return files.Cause(err)
	}
	p.w, p.rows, p.bytes = p.newWriter(p.file), 0, 0
	return nil
}

// Write writes a row. size is its approximate length in memory, in bytes.
func (p *Writer) Write(row parquet.Row, size int) error {
	if p.w == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	if _, err := p.w.WriteRows([]parquet.Row{row}); err != nil {
		return files.Cause(err)
	}
	p.rows++
	p.bytes += size
	if p.rows < p.RowGroup && p.bytes < partBytes {
		return nil
	}
	return p.end(p.partFile(p.number))
}

// end completes the current part and gives it its final name.
func (p *Writer) end(name string) error {
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

// complete writes the end of a Parquet file, syncs it to disk and renames it, so that its
// name always stands for a complete file.
func (p *Writer) complete(w *parquet.GenericWriter[any], file *os.File, name string) error {
	err := w.Close()
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(files.Cause(err), file.Close()); err != nil {
		return err
	}
	return files.Cause(os.Rename(file.Name(), name))
}

// Stop stores the rows of the current part in a file of their own. A writer that continues
// writes the part again from this file, so the row groups are the same as without an
// interruption.
func (p *Writer) Stop() error {
	if p.w == nil {
		return nil
	}
	return p.end(p.partialFile(p.number))
}

// Finish copies the row groups of all parts into the file and removes the parts.
func (p *Writer) Finish() (err error) {
	defer input.Damaged(&err)
	if p.whole {
		return os.RemoveAll(Folder(p.Path))
	}
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
	if err := p.complete(whole, file, p.Path); err != nil {
		return err
	}
	return os.RemoveAll(Folder(p.Path))
}

func (p *Writer) copyPart(whole *parquet.GenericWriter[any], number int) (err error) {
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

// resume begins the next part with the rows of the part that was interrupted.
func (p *Writer) resume(each func(parquet.Row) error) (err error) {
	// If the file exists, it is complete: one rename creates it after all rows are written.
	// The run was interrupted later.
	err = eachRow(p.Path, each)
	if err == nil {
		p.whole = true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for ; ; p.number++ {
		err := eachRow(p.partFile(p.number), each)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
	}
	err = eachRow(p.partialFile(p.number), func(r parquet.Row) error {
		if err := each(r); err != nil {
			return err
		}
		if p.w == nil {
			if err := p.begin(); err != nil {
				return err
			}
		}
		p.rows++
		_, err := p.w.WriteRows([]parquet.Row{r})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachRow calls each for the rows of a file.
func eachRow(path string, each func(parquet.Row) error) (err error) {
	defer input.Damaged(&err)
	file, part, err := openPart(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := make([]parquet.Row, 64)
	for _, group := range part.RowGroups() {
		rows := group.Rows()
		for ended := false; !ended; {
			n, err := rows.ReadRows(buffer)
			if ended = err == io.EOF; err != nil && !ended {
				return errors.Join(err, rows.Close())
			}
			for _, r := range buffer[:n] {
				if err := each(r); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// group is a group of columns in their own order. [parquet.Group] would sort them by name.
type group struct {
	parquet.Group
	fields []parquet.Field
}

// Fields returns the columns in their order.
func (g group) Fields() []parquet.Field { return g.fields }

// Schema returns the schema of columns, in their order.
func Schema(columns []input.Column) *parquet.Schema {
	byName := parquet.Group{}
	for _, c := range columns {
		byName[c.Name] = c.Node
	}
	fields := map[string]parquet.Field{}
	for _, f := range byName.Fields() {
		fields[f.Name()] = f
	}
	g := group{Group: byName}
	for _, c := range columns {
		g.fields = append(g.fields, fields[c.Name])
	}
	return parquet.NewSchema("toxscreen", g)
}
