package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/toxscreen/toxscreen/internal/store"
)

func open(t *testing.T, path string, most int) *store.Verdicts {
	t.Helper()
	v, err := store.OpenVerdicts(path, most)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func get(t *testing.T, v *store.Verdicts, key string) string {
	t.Helper()
	value, err := v.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

func put(t *testing.T, v *store.Verdicts, key, value string) {
	t.Helper()
	if err := v.Put(t.Context(), key, []byte(value)); err != nil {
		t.Fatal(err)
	}
}

func TestAVerdictTakesThePlaceOfTheOneBefore(t *testing.T) {
	v := open(t, filepath.Join(t.TempDir(), "verdicts.db"), 10)
	defer v.Close()
	put(t, v, "a", "one")
	put(t, v, "a", "two")
	if got := get(t, v, "a"); got != "two" {
		t.Errorf("got %q, want two", got)
	}
}

// The verdicts that were used last stay.
func TestTheCacheIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.db")
	v := open(t, path, 10)
	for i := range 1000 {
		put(t, v, fmt.Sprint(i), "x")
		get(t, v, "0")
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v = open(t, path, 10)
	defer v.Close()
	left := 0
	for i := range 1000 {
		if get(t, v, fmt.Sprint(i)) != "" {
			left++
			if i != 0 && i < 991 {
				t.Errorf("%d is left, which is older than others", i)
			}
		}
	}
	if left != 10 || get(t, v, "0") == "" {
		t.Errorf("%d are left, want 10, with the one that was used all the time", left)
	}
}
