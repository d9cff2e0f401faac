package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/judge"
)

// A self-test is stored in a folder, in a file named after the model's digest and the
// rubric's version.

func fileOf(folder, digest, rubric string) string {
	return filepath.Join(folder, digest[:min(len(digest), 64)]+"-"+strings.NewReplacer("/", "-", "@", "-").Replace(rubric)+".json")
}

// Save writes the self-test into a folder, which is created if necessary.
func (t *Test) Save(folder string) (file string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	file = fileOf(folder, t.Digest, t.Rubric)
	if err := files.WriteBytes(file, 0o644, append(data, '\n')); err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	return file, nil
}

// Read returns the complete self-test of a model from a folder; nil if the model was not
// tested with its rubric. A file in another format or of other texts counts as none.
func Read(folder string, m judge.Model) (*Test, error) {
	t, err := readFile(fileOf(folder, m.Digest, m.Rubric))
	if t != nil && (!t.Complete || t.Digest != m.Digest) {
		return nil, err
	}
	return t, err
}

func readFile(file string) (*Test, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nil: there is none
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the self-test: %w", err)
	}
	var t Test
	if json.Unmarshal(data, &t) == nil && t.Format == format && t.Version == Version() && t.Digest != "" {
		return &t, nil
	}
	return nil, nil //nolint:nilnil // nil: there is none that counts
}

// Stored is a self-test with its file.
type Stored struct {
	Test

	File string
}

// List returns the self-tests in a folder, by the model's name and the latest first. A
// folder that does not exist has none. Files that do not hold a self-test of this version
// are left out.
func List(folder string) ([]Stored, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("failed to read self-tests: %w", err)
	}
	var all []Stored
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		if filepath.Ext(file) != ".json" || !e.Type().IsRegular() {
			continue
		}
		t, err := readFile(file)
		if err != nil {
			return nil, err
		}
		if t != nil {
			all = append(all, Stored{*t, file})
		}
	}
	slices.SortStableFunc(all, func(a, b Stored) int {
		if byName := strings.Compare(a.Model, b.Model); byName != 0 {
			return byName
		}
		return b.When.Compare(a.When)
	})
	return all, nil
}

// Forget removes the self-tests of one model from a folder and returns them. model is its
// name, with or without @ and the beginning of the digest, or only @ and that. Forget
// refuses a name that several models had, and one without a self-test.
func Forget(folder, model string) ([]Stored, error) {
	all, err := List(folder)
	if err != nil {
		return nil, err
	}
	name, digest, _ := strings.Cut(model, "@")
	var found []Stored
	var which []string // the different models among them
	for _, t := range all {
		if name != "" && !strings.EqualFold(t.Model, name) && !strings.EqualFold(t.Model, name+":latest") || !strings.HasPrefix(t.Digest, digest) {
			continue
		}
		found = append(found, t)
		if m := (judge.Model{Name: t.Model, Digest: t.Digest}).String(); !slices.Contains(which, m) {
			which = append(which, m)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("failed to forget self-tests: %s has none in %s", model, folder)
	case len(which) > 1:
		return nil, fmt.Errorf("failed to forget self-tests: %s can be each of %s: name one of these", model, strings.Join(which, ", "))
	}
	for _, t := range found {
		if err := os.Remove(t.File); err != nil {
			return nil, fmt.Errorf("failed to forget self-tests: %w", err)
		}
	}
	return found, nil
}
