package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadSelfTest returns the complete self-test of a model from a folder; nil if the model
// was not tested with its rubric. A file that is unreadable, in another format or of other
// texts counts as none.
func ReadSelfTest(folder string, m Model) (*SelfTest, error) {
	t, err := readSelfTest(selfTestFile(folder, m))
	if t != nil && (!t.Complete || t.Digest != m.Digest) {
		return nil, err
	}
	return t, err
}

func readSelfTest(file string) (*SelfTest, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nil: there is none
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the self-test: %w", err)
	}
	if t, ok := parseSelfTest(data); ok {
		return &t, nil
	}
	return nil, nil //nolint:nilnil // nil: there is none that counts
}

func parseSelfTest(data []byte) (t SelfTest, ok bool) {
	ok = json.Unmarshal(data, &t) == nil && t.Format == selfTestFormat && t.Version == SelfTestVersion() && t.Digest != ""
	return t, ok
}

// StoredSelfTest is the outcome of a self-test with its file.
type StoredSelfTest struct {
	SelfTest
	File string
}

// SelfTests returns the outcomes in a folder, by the model's name and the latest
// first. A folder that does not exist has none. Files that are not outcomes of this
// version's self-test are left out.
func SelfTests(folder string) ([]StoredSelfTest, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("failed to read self-tests: %w", err)
	}
	var all []StoredSelfTest
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		if filepath.Ext(file) != ".json" || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("failed to read self-tests: %w", err)
		}
		if t, ok := parseSelfTest(data); ok {
			all = append(all, StoredSelfTest{t, file})
		}
	}
	slices.SortStableFunc(all, func(a, b StoredSelfTest) int {
		if byName := strings.Compare(a.Model, b.Model); byName != 0 {
			return byName
		}
		return b.When.Compare(a.When)
	})
	return all, nil
}

// ForgetSelfTests removes the outcomes of one model from a folder and returns them.
// model is its name, with or without @ and the beginning of the digest, or only @ and
// that. It refuses a name that several models had, and one without an outcome.
func ForgetSelfTests(folder, model string) ([]StoredSelfTest, error) {
	all, err := SelfTests(folder)
	if err != nil {
		return nil, err
	}
	name, digest, _ := strings.Cut(model, "@")
	var found []StoredSelfTest
	var which []string // the different models among them
	for _, t := range all {
		if name != "" && !strings.EqualFold(t.Model, name) && !strings.EqualFold(t.Model, name+":latest") || !strings.HasPrefix(t.Digest, digest) {
			continue
		}
		found = append(found, t)
		if m := (Model{Name: t.Model, Digest: t.Digest}).String(); !slices.Contains(which, m) {
			which = append(which, m)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("failed to forget self-tests: there is none of %s in %s", model, folder)
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
