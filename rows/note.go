package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// note tells what an unfinished output was made from. It lies beside the
// output until that is complete: to resume a run with another input, model or
// option would mix two results in one file.
type note struct {
	Format int    `json:"format"`
	Input  string `json:"input"` // SHA-256
	// What the results depend on, by the name that a person knows it by.
	Settings []Setting `json:"settings"`
}

const noteFormat = 1

// noteOf returns the file of an output's note.
func noteOf(path string) string { return path + ".resume.json" }

// newNote makes the note of a run. It reads the whole input once: what takes
// the disk seconds here takes the model days.
func newNote(ctx context.Context, o Options, model string, settings []Setting) (note, error) {
	n := note{Format: noteFormat}
	sum, err := hashOf(ctx, o.Input)
	if err != nil {
		return n, fmt.Errorf("failed to read %s: %w", o.Input, files.Cause(err))
	}
	n.Input = sum
	n.Settings = append([]Setting{{"toxscreen's version", toxscreen.Version()}, {"the model", model}}, settings...)
	n.Settings = append(n.Settings, []Setting{
		{"--max-bytes", fmt.Sprint(o.MaxBytes)},
		{"--offset-unit", string(o.OffsetUnit)},
		{"--text-column", o.TextColumn},
		{"--id-column", o.idColumn()},
		{"--keep-text", fmt.Sprint(o.KeepText)},
		{"--row-group", fmt.Sprint(o.rowGroup())},
	}...)
	return n, nil
}

func hashOf(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := file.Read(buffer)
		h.Write(buffer[:n])
		if err == io.EOF {
			return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// write puts the note beside the output, whole or not at all.
func (n note) write(path string) error {
	var b bytes.Buffer
	if err := plainjson.Write(&b, n, "  "); err != nil {
		return err
	}
	return files.WriteBytes(noteOf(path), 0o666, b.Bytes())
}

// check reports why an output that lies at path is not the beginning of this
// run's.
func (n note) check(path string) error {
	data, err := os.ReadFile(noteOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists, but no run has left it unfinished: %s is not there; to write it anew use --overwrite", path, noteOf(path))
	}
	if err != nil {
		return err
	}
	var before note
	if err := json.Unmarshal(data, &before); err != nil {
		return fmt.Errorf("%s is broken: %w; to begin anew use --overwrite", noteOf(path), err)
	}
	if before.Format != n.Format {
		return fmt.Errorf("%s is of another version of toxscreen; to begin anew use --overwrite", noteOf(path))
	}
	if before.Input != n.Input {
		return errors.New("the input is not the one that the run began with; to begin anew use --overwrite")
	}
	for _, now := range n.Settings {
		i := slices.IndexFunc(before.Settings, func(b Setting) bool { return b.Name == now.Name })
		if i < 0 || before.Settings[i].Value != now.Value {
			was := "not known"
			if i >= 0 {
				was = before.Settings[i].Value
			}
			return fmt.Errorf("the run began with other settings: %s was %q and is %q now; use the same again, or begin anew with --overwrite", now.Name, was, now.Value)
		}
	}
	return nil
}

// hold locks the note of an output, if there is one, until release is called,
// so that no two runs write one output: a supervisor may take a run for dead
// that is not.
func hold(path string) (release func(), err error) {
	file, err := os.OpenFile(noteOf(path), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return func() {}, files.Cause(err)
	}
	if err := lock(file); err != nil {
		return func() {}, errors.Join(fmt.Errorf("another run is writing it: %w", err), file.Close())
	}
	return func() { file.Close() }, nil // nothing was written to it
}

// done removes the note of a complete output.
func (note) done(path string) error {
	if err := os.Remove(noteOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files.Cause(err)
	}
	return nil
}
