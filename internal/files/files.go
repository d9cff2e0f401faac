// Package files writes files completely or not at all:
//
//	err := files.Write("fusion.json", 0o644, func(w io.Writer) error {
//		_, err := w.Write(data)
//		return err
//	})
//
// It also compares paths, reads terminals and pipes until a context ends, and removes file names from
// errors of the file system, for callers whose own errors begin with the name.
package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write calls content to write a new file and renames it to path when it is
// completely on disk: readers find the old or the new file, also after a crash. If
// content fails, Write returns its error and does not change path. Permissions are
// perm without the bits of the umask. Errors of the file system are as from [Cause].
func Write(path string, perm os.FileMode, content func(io.Writer) error) error {
	// In the same folder, because a rename cannot cross file systems.
	file, err := create(path, perm)
	if err != nil {
		return Cause(err)
	}
	err = content(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(Cause(err), Cause(os.Remove(file.Name())))
	}
	return nil
}

// MayCreate reports why [Write] could not create a file beside path. Errors are as from [Cause].
func MayCreate(path string) error {
	file, err := create(path, 0o600)
	if err != nil {
		return Cause(err)
	}
	return errors.Join(file.Close(), Cause(os.Remove(file.Name())))
}

func create(path string, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path+unfinished+rand.Text()[:8], os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// unfinished is in the names of files that are not completely on disk, between the path and
// random characters.
const unfinished = ".new-"

// RemoveUnfinished removes what is left beside path of a [Write] or a [MayCreate] that was killed. None may be
// under way.
func RemoveUnfinished(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}

// WriteBytes is [Write] for content in memory.
func WriteBytes(path string, perm os.FileMode, content []byte) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// InCache returns the path of a toxscreen file in the user's cache folder. The folder
// does not have to exist.
func InCache(name string) (string, error) { return in(os.UserCacheDir, "cache", name) }

// InConfig is like [InCache] for the user's configuration folder.
func InConfig(name string) (string, error) { return in(os.UserConfigDir, "configuration", name) }

func in(folder func() (string, error), kind, name string) (string, error) {
	path, err := folder()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's %s folder: %w", kind, err)
	}
	return filepath.Join(path, "toxscreen", name), nil
}

// Cause returns an error of the file system without the operation and the path. It
// returns every other error unchanged.
func Cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // a wrapping error has more information than the path
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// IsFolder reports whether there is a folder with a path.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Same reports whether two paths are of one file or folder.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
