package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
)

func openResults(t *testing.T, path string, most int, age time.Duration) *store.Results {
	t.Helper()
	r, err := store.OpenResults(path, most, age)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Expired results are not returned, and are removed from the file.
func TestResultsAreThereForAWhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	r := openResults(t, path, 10, time.Hour)
	if err := r.Put(t.Context(), "id", []byte("pending")); err != nil {
		t.Fatal(err)
	}
	if err := r.Put(t.Context(), "id", []byte("final")); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(t.Context(), "id"); err != nil || string(got) != "final" {
		t.Errorf("%q, %v", got, err)
	}
	short := openResults(t, path, 10, time.Nanosecond)
	if got, err := short.Get(t.Context(), "id"); err != nil || got != nil {
		t.Errorf("what is too old: %q, %v", got, err)
	}
	if got, err := r.Get(t.Context(), "id"); err != nil || got != nil {
		t.Errorf("what was removed: %q, %v", got, err)
	}
	for _, r := range []*store.Results{r, short} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The newest results stay: fetching one does not extend its life.
func TestResultsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	r := openResults(t, path, 10, time.Hour)
	for i := range 600 {
		if err := r.Put(t.Context(), fmt.Sprint(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Get(t.Context(), "0"); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openResults(t, path, 10, time.Hour)
	defer r.Close()
	for i := range 600 {
		got, err := r.Get(t.Context(), fmt.Sprint(i))
		if err != nil || (got != nil) != (i >= 590) {
			t.Errorf("%d: %q, %v", i, got, err)
		}
	}
}

func TestLimitsThatMakeNoSense(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.db")
	for what, err := range map[string]error{
		"no verdicts":      second(store.OpenVerdicts(path, 0)),
		"no results":       second(store.OpenResults(path, 0, time.Hour)),
		"no time":          second(store.OpenResults(path, 10, 0)),
		"no room":          second(store.OpenFeedback(path, store.FeedbackOptions{MaxBytes: 1000})),
		"less than no one": second(store.OpenFeedback(path, store.FeedbackOptions{MaxBytes: -1})),
	} {
		if err == nil {
			t.Errorf("%s: it was opened", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }
