package models

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Maximum file sizes in bytes.
const (
	maxTokenizer = 64 << 20  // the largest known tokenizers have 35 MB
	maxModel     = 2<<30 - 1 // protobuf's limit for a message
)

// limitOf returns the maximum size of one of the manifest's files.
func (m Manifest) limitOf(name string) int64 {
	if name == m.Tokenizer {
		return maxTokenizer
	}
	return maxModel
}

// Verify reads the manifest of a model's folder and compares each file that it
// lists with its SHA-256. It reports all faulty files and ignores files that the
// manifest does not list.
func Verify(fsys fs.FS) (Manifest, error) {
	m, err := ReadManifest(fsys)
	if err != nil {
		return Manifest{}, err
	}
	return m, m.verify(fsys)
}

// verify compares the files with their hashes, except those in checked.
func (m Manifest) verify(fsys fs.FS, checked ...string) error {
	var found []error
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if slices.Contains(checked, name) {
			continue
		}
		sum, err := hashFile(fsys, name, m.limitOf(name))
		found = append(found, cmp.Or(wayOut(err), m.compare(name, sum)))
	}
	return errors.Join(found...)
}

// read returns the content of one of the manifest's files after comparing its
// hash: the returned bytes are the compared ones. Files that are part of the
// program need no comparison.
func (m Manifest) read(fsys fs.FS, name string) ([]byte, error) {
	if p, ok := fsys.(program); ok {
		if data, ok := p.content(name); ok {
			return data, nil
		}
	}
	data, sum, err := readFile(fsys, name, m.limitOf(name))
	if err := cmp.Or(wayOut(err), m.compare(name, sum)); err != nil {
		return nil, err
	}
	return data, nil
}

const getAgain = "import or download the model again"

func wayOut(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("failed to verify model: %w; %s", err, getAgain)
}

func (m Manifest) compare(name string, sum Hash) error {
	if want := m.Files[name]; sum != want {
		return fmt.Errorf("failed to verify model: %s is not the file that %s lists: it has %s, it should have %s; %s", name, ManifestName, sum, want, getAgain)
	}
	return nil
}

// hashFile returns the hash of a file of at most limit bytes without holding it
// in memory.
func hashFile(fsys fs.FS, name string, limit int64) (sum Hash, err error) {
	file, err := openFile(fsys, name, limit)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	// A file that grows meanwhile becomes one byte too long, and its hash is
	// not in the manifest.
	if _, err := io.Copy(h, io.LimitReader(file, limit+1)); err != nil {
		return sum, fmt.Errorf("failed to read %s: %w", name, err)
	}
	return Hash(h.Sum(nil)), nil
}

// readFile returns the content of a file of at most limit bytes and its hash.
func readFile(fsys fs.FS, name string, limit int64) (data []byte, sum Hash, err error) {
	file, err := openFile(fsys, name, limit)
	if err != nil {
		return nil, sum, err
	}
	defer file.Close()
	var content bytes.Buffer
	if info, err := file.Stat(); err == nil {
		content.Grow(int(info.Size()) + bytes.MinRead) // avoids moving it while reading
	}
	if _, err := content.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, sum, fmt.Errorf("failed to read %s: %w", name, err)
	}
	return content.Bytes(), sha256.Sum256(content.Bytes()), nil
}

// copyFile copies a file of at most limit bytes to a new path and
// returns its hash.
func copyFile(fsys fs.FS, name, to string, limit int64) (sum Hash, err error) {
	from, err := openFile(fsys, name, limit)
	if err != nil {
		return sum, err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, h), io.LimitReader(from, limit+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return sum, fmt.Errorf("failed to copy %s: %w", name, err)
	}
	return Hash(h.Sum(nil)), nil
}

// openFile opens a file after comparing its size with a limit.
func openFile(fsys fs.FS, name string, limit int64) (fs.File, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a file", name)
	case info.Size() > limit && limit == maxModel:
		err = fmt.Errorf("%s has %d bytes, over the 2 GiB that an ONNX file can have: the weights of larger models are in separate files, which toxscreen does not read", name, info.Size())
	case info.Size() > limit:
		err = fmt.Errorf("%s has %d bytes, the limit is %d", name, info.Size(), limit)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
