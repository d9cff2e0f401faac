package judge

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
	if all, err := SelfTests(folder); err != nil || len(all) > 0 {
		t.Errorf("without a folder: %v, %v", all, err)
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	for _, o := range []SelfTest{
		{Model: "b:latest", Digest: "bbbbbbbbbbbbb1", Rubric: "attributes@1", When: day(1)},
		{Model: "a", Digest: "aaaaaaaaaaaaa1", Rubric: "attributes@1", When: day(2)},
		{Model: "a", Digest: "aaaaaaaaaaaaa1", Rubric: "nexa-gauge/bias@1", When: day(3)},
		{Model: "a", Digest: "ccccccccccccc1", Rubric: "attributes@1", When: day(4)},
	} {
		o.Format, o.Version = selfTestFormat, SelfTestVersion()
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
	names := func(all []StoredSelfTest) string {
		var names []string
		for _, o := range all {
			names = append(names, o.Model+"@"+o.Digest[:1]+" "+o.Rubric)
		}
		return strings.Join(names, ", ")
	}
	all, err := SelfTests(folder)
	if want := "a@c attributes@1, a@a nexa-gauge/bias@1, a@a attributes@1, b:latest@b attributes@1"; err != nil || names(all) != want {
		t.Errorf("%v, %s, want %s", err, names(all), want)
	}
	for _, c := range []struct{ model, removed, failure string }{
		{"a", "", "a can be each of a@cccccccccccc, a@aaaaaaaaaaaa: name one of these"},
		{"nonesuch", "", "there is none of nonesuch in " + folder},
		{"a@aaaaaaaaaaaa", "a@a nexa-gauge/bias@1, a@a attributes@1", ""},
		{"A", "a@c attributes@1", ""},
		{"b", "b:latest@b attributes@1", ""},
	} {
		removed, err := ForgetSelfTests(folder, c.model)
		if names(removed) != c.removed || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: %v, removed %s, want %s%s", c.model, err, names(removed), c.removed, c.failure)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if want := []string{"broken.json", "notes.txt", "old.json"}; err != nil || len(left) != 3 || filepath.Base(left[0]) != want[0] || !slices.IsSorted(left) {
		t.Errorf("%v, %v is left, want %v", err, left, want)
	}
}
