package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toxscreen/toxscreen/store"
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

func TestVerdictsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?", "100% of #1.db")
	v := open(t, path, 10)
	if got := get(t, v, "a"); got != "" {
		t.Errorf("an empty cache has %q", got)
	}
	put(t, v, "a", "one")
	put(t, v, "a", "two")
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	v = open(t, path, 10)
	defer v.Close()
	if got := get(t, v, "a"); got != "two" {
		t.Errorf("got %q, want two", got)
	}
}

// What was used last stays.
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

func TestManyMayUseOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.db")
	var all sync.WaitGroup
	for i := range 4 {
		v := open(t, path, 10_000)
		defer v.Close()
		all.Go(func() {
			for j := range 100 {
				key := fmt.Sprint(j)
				if err := v.Put(t.Context(), key, []byte(key)); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				if value, err := v.Get(t.Context(), key); err != nil || string(value) != key {
					t.Errorf("%d: %q, %v", i, value, err)
				}
			}
		})
	}
	all.Wait()
}

func TestAFileThatIsNoCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenVerdicts(path, 10); err == nil || !strings.Contains(err.Error(), "failed to open the cache "+path) || !strings.Contains(err.Error(), "it may be deleted") {
		t.Error(err)
	}
}
