package selftest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Self-tests are listed by the name of the model, the latest first, and removed for one
// model: a name that several models had is ambiguous.
func TestStoredSelfTests(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "judges")
	all, err := List(folder)
	if err != nil {
		t.Errorf("without a folder: %v", err)
	}
	if len(all) > 0 {
		t.Errorf("without a folder: %v", all)
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	for _, o := range []Test{
		{Model: "b:latest", Digest: "bbbbbbbbbbbbb1", Rubric: "attributes@1", When: day(1)},
		{Model: "a", Digest: "aaaaaaaaaaaaa1", Rubric: "attributes@1", When: day(2)},
		{Model: "a", Digest: "aaaaaaaaaaaaa1", Rubric: "nexa-gauge/bias@1", When: day(3)},
		{Model: "a", Digest: "ccccccccccccc1", Rubric: "attributes@1", When: day(4)},
	} {
		o.Format, o.Version = format, Version()
		if _, err := o.Save(folder); err != nil {
			t.Fatal(err)
		}
	}
	// Files of something else, or of an older self-test, are left alone.
	for name, content := range map[string]string{"old.json": `{"format": 0, "digest": "d"}`, "notes.txt": "a", "broken.json": "{"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names := func(all []Stored) string {
		var names []string
		for _, o := range all {
			names = append(names, o.Model+"@"+o.Digest[:1]+" "+o.Rubric)
		}
		return strings.Join(names, ", ")
	}
	all, err = List(folder)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a@c attributes@1, a@a nexa-gauge/bias@1, a@a attributes@1, b:latest@b attributes@1"; names(all) != want {
		t.Errorf("%s, want %s", names(all), want)
	}
	for _, c := range []struct{ model, removed, failure string }{
		{"a", "", "a can be each of a@cccccccccccc, a@aaaaaaaaaaaa: name one of these"},
		{"nonesuch", "", "nonesuch has none in " + folder},
		{"a@aaaaaaaaaaaa", "a@a nexa-gauge/bias@1, a@a attributes@1", ""},
		{"A", "a@c attributes@1", ""},
		{"b", "b:latest@b attributes@1", ""},
	} {
		removed, err := Forget(folder, c.model)
		if names(removed) != c.removed {
			t.Errorf("%s: removed %s, want %s", c.model, names(removed), c.removed)
		}
		if err == nil && c.failure != "" || err != nil && (c.failure == "" || !strings.Contains(err.Error(), c.failure)) {
			t.Errorf("%s: %v, want %q", c.model, err, c.failure)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"broken.json", "notes.txt", "old.json"}; !slices.Equal(left, want) {
		t.Errorf("%v is left, want %v", left, want)
	}
}
