package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/encoder"
)

// installer puts the library for one provider and platform into a folder.
type installer struct {
	files    fileList // for that provider and platform
	provider encoder.Provider
	platform string
	sources  []source // in the order to try
	releases string   // URL of the folder with Microsoft's release archives
	client   *http.Client
	log      io.Writer
}

// install installs the files of one source in dir, or leaves dir unchanged.
func (in installer) install(ctx context.Context, dir string) error {
	if len(in.files) == 0 {
		return fmt.Errorf("failed to get ONNX Runtime: no SHA-256 is known for %s on %s; build it or get it another way and set its path in %s",
			in.provider, in.platform, encoder.LibraryEnv)
	}
	if in.installed(dir) {
		fmt.Fprintf(in.log, "ONNX Runtime %s is already in %s\n", encoder.LibraryVersion, dir)
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("failed to create the folder for ONNX Runtime: %w", err)
	}
	var tried []error
	for _, s := range in.sources {
		err := in.installFrom(ctx, s, dir)
		if err == nil {
			for _, err := range tried {
				fmt.Fprintf(in.log, "skipped %v\n", err)
			}
			fmt.Fprintf(in.log, "ONNX Runtime %s from %s is in %s\n", encoder.LibraryVersion, s.name, dir)
			return nil
		}
		tried = append(tried, fmt.Errorf("%s: %w", s.name, err))
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("failed to get ONNX Runtime %s for %s on %s; give this machine pip or npm and a network, or copy the files from another machine (-dir):\n%w",
		encoder.LibraryVersion, in.provider, in.platform, errors.Join(tried...))
}

// installed reports whether dir has all files of one of the sources.
func (in installer) installed(dir string) bool {
	return slices.ContainsFunc(in.sources, func(s source) bool {
		files := in.files.from(s.name)
		return len(files) > 0 && !slices.ContainsFunc(files, func(f file) bool {
			sum, err := sumOf(filepath.Join(dir, f.name))
			return err != nil || sum != f.sha256
		})
	})
}

// installFrom fetches a package, checks every file that is needed, and only then
// moves the files into dir.
func (in installer) installFrom(ctx context.Context, s source, dir string) error {
	files := in.files.from(s.name)
	if len(files) == 0 {
		return fmt.Errorf("no SHA-256 is known for %s on %s", in.provider, in.platform)
	}
	// Inside dir, so the moves below stay on one file system and are
	// atomic.
	temporary, err := os.MkdirTemp(dir, ".download-*")
	if err != nil {
		return fmt.Errorf("failed to create a folder for the download: %w", err)
	}
	defer os.RemoveAll(temporary)

	fmt.Fprintf(in.log, "getting ONNX Runtime %s from %s …\n", encoder.LibraryVersion, s.name)
	pack, err := s.fetch(ctx, in, temporary)
	if err != nil {
		return err
	}
	members := map[string]string{} // to the paths to unpack them to
	for _, f := range files {
		members[f.member] = filepath.Join(temporary, "checked-"+f.name)
	}
	if err := unpack(pack, members); err != nil {
		return fmt.Errorf("failed to unpack %s: %w", filepath.Base(pack), err)
	}
	for _, f := range files {
		sum, err := sumOf(members[f.member])
		if err != nil {
			return fmt.Errorf("failed to find %s in %s: %w", f.member, filepath.Base(pack), err)
		}
		if sum != f.sha256 {
			return fmt.Errorf("refused %s of %s: its SHA-256 is %s, not %s", f.member, filepath.Base(pack), sum, f.sha256)
		}
	}
	// The library comes last: once it can be found, its dependencies exist.
	for _, f := range slices.Backward(files) {
		if err := os.Rename(members[f.member], filepath.Join(dir, f.name)); err != nil {
			return fmt.Errorf("failed to install %s: %w", f.name, err)
		}
	}
	return nil
}

func sumOf(path string) (string, error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	h := sha256.New()
	if _, err := io.Copy(h, from); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unpack writes the named members of a zip or gzipped tar file to the given paths.
// A missing member is not an error.
func unpack(pack string, members map[string]string) error {
	if !strings.HasSuffix(pack, ".tgz") {
		return unpackZip(pack, members)
	}
	from, err := os.Open(pack)
	if err != nil {
		return err
	}
	defer from.Close()
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// Paths in Microsoft's archive for macOS begin with "./".
		if to, ok := members[path.Clean(header.Name)]; ok && header.Typeflag == tar.TypeReg {
			if err := write(to, archive); err != nil {
				return err
			}
		}
	}
}

func unpackZip(pack string, members map[string]string) error {
	archive, err := zip.OpenReader(pack)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, member := range archive.File {
		to, ok := members[member.Name]
		if !ok {
			continue
		}
		from, err := member.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(write(to, from), from.Close()); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, from io.Reader) error {
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
