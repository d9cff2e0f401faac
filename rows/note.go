package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/resume"
	"github.com/toxscreen/toxscreen/rows/input"
)

// note describes the run of an unfinished output. It is a file beside the output until the
// output is complete. A run with another input, model or option cannot resume the output,
// since one file would then mix different results.
type note struct {
	Input string `json:"input"` // SHA-256 of its content, unpacked
	// Settings are what the results depend on, with names for people.
	Settings []Setting `json:"settings"`
	// Done is the summary of a complete output in a folder of outputs, else nil.
	Done *Summary `json:"done,omitempty"`
}

// noteOf returns the path of an output's note.
func noteOf(path string) string { return path + ".resume.json" }

// newNote returns the note of a run. It reads the whole input once, which takes seconds
// where scoring takes days, and finds damage in compressed data.
func newNote[V any](ctx context.Context, o Options, in input.Reader, task task[V], settings []Setting) (note, error) {
	var n note
	var err error
	if n.Input, err = in.Digest(ctx); err != nil {
		if ctx.Err() != nil {
			err = interruption{ctx.Err()}
		}
		return n, fmt.Errorf("failed to read %s: %w", o.Input, files.Cause(err))
	}
	format, _ := o.ReadFormat() // checked when the job was opened
	escape := ""
	if o.Escape != 0 {
		escape = string(rune(o.Escape))
	}
	n.Settings = slices.Concat([]Setting{{Name: "toxscreen's version", Value: toxscreen.Version}}, task.versions(), settings)
	also := func(name, value string) { n.Settings = append(n.Settings, Setting{Name: name, Value: value}) }
	also(o.option("InputFormat"), string(format))
	also(o.option("InputEncoding"), o.InputEncoding)
	also(o.option("Escape"), escape)
	also(o.option("MaxBytes"), fmt.Sprint(o.MaxBytes))
	also(o.option("OffsetUnit"), string(o.OffsetUnit))
	also(o.option("TextColumn"), o.TextColumn)
	also(o.option("IDColumn"), o.idColumn())
	also(o.option("KeepText"), fmt.Sprint(o.KeepText))
	also(o.option("RowGroup"), fmt.Sprint(o.rowGroup()))
	if g := o.groups; g != (input.Groups{}) {
		also("the part of the input", fmt.Sprintf("row groups %d to %d", g.From+1, g.To))
	}
	if o.inFolder { // the rows of a complete output are not counted again
		also(o.option("Limits"), task.failOn())
	}
	if delimiter := o.delimiter(format); delimiter != 0 {
		also(o.option("Delimiter"), string(rune(delimiter)))
	}
	return n, nil
}

// save writes the note as a whole, or not at all.
func (n note) save(path string) error {
	return files.Write(path, 0o666, func(w io.Writer) error { return plainjson.Write(w, n, "  ") })
}

// readNote reads a note. The error chain has [fs.ErrNotExist] if the file is missing.
func (o Options) readNote(path string) (n note, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return n, fmt.Errorf("%s is broken: %w; use %s to start over", path, err, o.option("Overwrite"))
	}
	return n, nil
}

// check returns an error unless the output begins with results of this run.
func (n note) check(o Options) error {
	before, err := o.readNote(noteOf(o.Output))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists, but it is not the output of an interrupted run: %s is missing; use %s to replace it", o.Output, noteOf(o.Output), o.option("Overwrite"))
	}
	if err != nil {
		return err
	}
	return o.continues(n, before)
}

// continues returns an error if a run differs from the run of an earlier note.
func (o Options) continues(n, before note) error {
	if before.Input != n.Input {
		return fmt.Errorf("the input differs from the input of the interrupted run; use %s to start over", o.option("Overwrite"))
	}
	if err := resume.Changed(before.Settings, n.Settings); err != nil {
		return fmt.Errorf("%w; continue with the earlier one, or use %s to start over", err, o.option("Overwrite"))
	}
	return nil
}

// errIncomplete is the error for an output that is not recorded as complete.
var errIncomplete = errors.New("the output is not complete")

// complete returns the summary of an output in a folder of outputs, if an earlier run
// completed the output.
func (n note) complete(o Options) (Summary, error) {
	path := o.Output
	file, unfinished, err := exists(path)
	if err != nil || !file || unfinished {
		return Summary{}, cmp.Or(err, errIncomplete)
	}
	before, err := o.readNote(recordOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, errIncomplete
	}
	if err == nil {
		err = o.continues(n, before)
	}
	if err == nil && before.Done == nil {
		err = fmt.Errorf("%s is broken: it has no summary; use %s to start over", recordOf(path), o.option("Overwrite"))
	}
	if err != nil {
		return Summary{}, err
	}
	done := *before.Done
	done.Before = done.Rows
	return done, nil
}

// record writes that an output in a folder of outputs is complete.
func (n note) record(path string, done Summary) error {
	if err := os.Mkdir(filepath.Dir(recordOf(path)), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	done.Before = 0
	n.Done = &done
	return n.save(recordOf(path))
}

// hold locks the note of an output, if it exists, until release is called. So only one run
// writes the output, even if a supervisor wrongly takes a run for dead.
func hold(path string) (release func(), err error) {
	file, err := os.OpenFile(noteOf(path), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return func() {}, files.Cause(err)
	}
	if err := files.Lock(file); err != nil {
		return func() {}, errors.Join(fmt.Errorf("another run is writing it: %w", err), file.Close())
	}
	return func() { file.Close() }, nil // nothing was written, so the error does not matter
}

// done removes the note of a complete output.
func (note) done(path string) error {
	if err := os.Remove(noteOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files.Cause(err)
	}
	return nil
}
