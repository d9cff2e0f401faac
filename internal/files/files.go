// Package files writes files that are whole or not there:
//
//	err := files.Write("fusion.json", 0o644, func(w io.Writer) error {
//		_, err := w.Write(data)
//		return err
//	})
//
// It also takes the name of a file out of the errors of the file system, for
// callers whose own errors begin with it.
package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write has content write a new file and puts it at path when all of it is on
// the disk: a reader, and whoever looks after a crash, finds the file as it was
// before or as it is then. Where content fails, its error is returned and path
// is left alone. Permissions are perm less the umask. Errors of the file system
// are those of [Cause].
func Write(path string, perm os.FileMode, content func(io.Writer) error) error {
	// In the same folder, since a rename does not cross file systems.
	file, err := os.OpenFile(path+".new-"+rand.Text()[:8], os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
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

// WriteBytes is [Write] for content that is in memory.
func WriteBytes(path string, perm os.FileMode, content []byte) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// InCache returns the path of a file of toxscreen in the user's cache folder, and
// InConfig of one in the user's configuration folder. Neither folder need exist.
func InCache(name string) (string, error) { return in(os.UserCacheDir, "cache", name) }

// InConfig is described at [InCache].
func InConfig(name string) (string, error) { return in(os.UserConfigDir, "configuration", name) }

func in(folder func() (string, error), kind, name string) (string, error) {
	path, err := folder()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's %s folder: %w", kind, err)
	}
	return filepath.Join(path, "toxscreen", name), nil
}

// Cause returns an error of the file system without the operation and the path,
// and every other error as it is.
func Cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // what wraps such an error says more than the path
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
