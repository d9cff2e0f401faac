package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archive writes the program's files into one folder of a tar file, in order of their
// names, with one time and one owner.
func archive(_ context.Context, p program, out string, created time.Time) error {
	names, err := p.files()
	if err != nil {
		return err
	}
	path := filepath.Join(out, p.fileName(".tar.gz"))
	to, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("failed to make the archive: %w", err)
	}
	defer to.Close()
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	packed := tar.NewWriter(zipped)
	for _, name := range names {
		from := filepath.Join(p.dir, name)
		info, err := os.Stat(from)
		if err != nil {
			return fmt.Errorf("failed to add %s to the archive: %w", name, err)
		}
		header := tar.Header{
			Typeflag: tar.TypeReg, Format: tar.FormatPAX,
			Name: strings.TrimSuffix(filepath.Base(path), ".tar.gz") + "/" + name, Size: info.Size(), Mode: p.mode(name), ModTime: created,
		}
		if err := packed.WriteHeader(&header); err != nil {
			return fmt.Errorf("failed to add %s to the archive: %w", name, err)
		}
		if err := copyTo(packed, from); err != nil {
			return fmt.Errorf("failed to add %s to the archive: %w", name, err)
		}
	}
	if err := errors.Join(packed.Close(), zipped.Close(), to.Close()); err != nil {
		return fmt.Errorf("failed to make the archive: %w", err)
	}
	return nil
}

// mode returns the mode of a file: only the binary is executable, whatever the umask here.
func (p program) mode(name string) int64 {
	if name == filepath.Base(p.binary()) {
		return 0o755
	}
	return 0o644
}
