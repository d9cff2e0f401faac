package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toxscreen/toxscreen/internal/files"
)

func TestWriteReplacesAFileAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it")
	for _, content := range []string{"long content", "short"} {
		if err := files.WriteBytes(path, 0o600, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
	}
	alone(t, path, "short")
}

// If the source fails halfway, the old file stays and no other file remains.
func TestWriteLeavesAFileAloneWhenItsContentFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := files.Write(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of ")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the error of the content", err)
	}
	alone(t, path, "before")
}

// A killed Write leaves a part of a file, which another run removes.
func TestRemoveUnfinished(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "it")
	for _, name := range []string{"it", "it.new-ABCDEFGH", "it.new-IJKLMNOP"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.RemoveUnfinished(path); err != nil {
		t.Fatal(err)
	}
	alone(t, path, "content")
	if err := files.RemoveUnfinished(filepath.Join(folder, "missing", "it")); err != nil {
		t.Error(err)
	}
}

func alone(t *testing.T, path, want string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: there are other files", entries, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestErrorsDoNotRepeatThePath(t *testing.T) {
	err := files.WriteBytes(filepath.Join(t.TempDir(), "missing", "it"), 0o600, nil)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != fs.ErrNotExist.Error() && err.Error() != "no such file or directory" {
		t.Errorf("%v", err)
	}
}

// The check that a file may be written leaves nothing behind.
func TestMayCreate(t *testing.T) {
	folder := t.TempDir()
	if err := files.MayCreate(filepath.Join(folder, "it")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := files.MayCreate(filepath.Join(folder, "missing", "it")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing folder: %v", err)
	}
}
