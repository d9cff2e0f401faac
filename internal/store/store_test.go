package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
)

// stores are the kinds of files: how one is opened, written and counted.
var stores = map[string]struct {
	open func(path string) (io.Closer, error)
	put  func(ctx context.Context, s io.Closer, name string) error
	has  func(ctx context.Context, s io.Closer, name string) (bool, error)
	what string // it is called in errors
	out  string // of a broken file
}{
	"verdicts": {
		open: func(path string) (io.Closer, error) { return store.OpenVerdicts(path, 10_000) },
		put: func(ctx context.Context, s io.Closer, name string) error {
			return s.(*store.Verdicts).Put(ctx, name, []byte(name))
		},
		has: func(ctx context.Context, s io.Closer, name string) (bool, error) {
			value, err := s.(*store.Verdicts).Get(ctx, name)
			return string(value) == name, err
		},
		what: "the cache", out: "it may be deleted",
	},
	"results": {
		open: func(path string) (io.Closer, error) { return store.OpenResults(path, 10_000, time.Hour) },
		put: func(ctx context.Context, s io.Closer, name string) error {
			return s.(*store.Results).Put(ctx, name, []byte(name))
		},
		has: func(ctx context.Context, s io.Closer, name string) (bool, error) {
			value, err := s.(*store.Results).Get(ctx, name)
			return string(value) == name, err
		},
		what: "late results", out: "it may be deleted",
	},
	"feedback": {
		open: func(path string) (io.Closer, error) {
			return store.OpenFeedback(path, store.FeedbackOptions{KeepText: true})
		},
		put: func(ctx context.Context, s io.Closer, name string) error {
			return s.(*store.Feedback).Add(ctx, said(name))
		},
		has: func(ctx context.Context, s io.Closer, name string) (found bool, err error) {
			for l, err := range s.(*store.Feedback).All(ctx) {
				if err != nil {
					return false, err
				}
				found = found || l.Text == name
			}
			return found, nil
		},
		what: "the feedback", out: "move it away to begin a new one",
	},
}

func TestWhatIsStoredOutlivesTheProcess(t *testing.T) {
	for name, kind := range stores {
		path := filepath.Join(t.TempDir(), "a folder?", "100% of #1.db")
		for round, want := range []bool{false, true} {
			s, err := kind.open(path)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := kind.has(t.Context(), s, "x"); err != nil || found != want {
				t.Errorf("%s, round %d: %v, %v", name, round, found, err)
			}
			if err := kind.put(t.Context(), s, "x"); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		// Results may quote texts: only the owner may read them.
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Several processes, or parts of one, may have a file open, and may all create it
// at the same time.
func TestManyMayUseOneFile(t *testing.T) {
	for name, kind := range stores {
		path := filepath.Join(t.TempDir(), "some.db")
		var everyone sync.WaitGroup
		for i := range 4 {
			everyone.Go(func() {
				s, err := kind.open(path)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				for j := range 6 {
					key := fmt.Sprint(i, "/", j)
					if err := kind.put(t.Context(), s, key); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if found, err := kind.has(t.Context(), s, key); err != nil || !found {
						t.Errorf("%s: %v, %v", name, found, err)
					}
				}
				if err := s.Close(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		everyone.Wait()
	}
}

// An unusable file is left as it is, and the error says what can be done about it.
func TestAFileThatCannotBeUsed(t *testing.T) {
	sqlite := func(statement string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, kind := range stores {
		for why, c := range map[string]struct {
			make func(t *testing.T, path string)
			want string
		}{
			"no database": {func(t *testing.T, path string) {
				if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
					t.Fatal(err)
				}
			}, "file is not a database"},
			"somebody else's": {sqlite("CREATE TABLE bookmarks (address TEXT); PRAGMA user_version = 1"), "it holds something else"},
		} {
			path := filepath.Join(t.TempDir(), "some.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = kind.open(path)
			if err == nil || !strings.Contains(err.Error(), "failed to open "+kind.what+" "+path) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), kind.out) {
				t.Errorf("%s, %s: %v", name, why, err)
			}
			if after, err := os.ReadFile(path); err != nil || why == "no database" && string(after) != string(before) {
				t.Errorf("%s, %s: the file was changed, %v", name, why, err)
			}
		}
	}
}

// A cache of another version is emptied. Feedback is not.
func TestAFileOfAnotherVersion(t *testing.T) {
	for name, kind := range stores {
		path := filepath.Join(t.TempDir(), "some.db")
		s, err := kind.open(path)
		if err == nil {
			err = kind.put(t.Context(), s, "x")
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, err = kind.open(path)
		if name == "feedback" {
			if err == nil || !strings.Contains(err.Error(), "it has version 99, and this toxscreen knows version 1") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if found, err := kind.has(t.Context(), s, "x"); err != nil || found {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that is damaged in the middle has another error than one that is full or
// busy.
func TestADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	f, err := store.OpenFeedback(path, store.FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := f.Add(t.Context(), said(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ { // the first page has the schema
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f = openFeedback(t, path, store.FeedbackOptions{})
	for step, err := range map[string]error{
		"write": f.Add(t.Context(), said("x")),
		"read": func() (err error) {
			for _, err = range f.All(t.Context()) {
			}
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "failed to "+step+" the feedback "+path) || !strings.Contains(err.Error(), "sqlite3 FILE .recover") {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// The error of a store in a read-only place says so.
func TestAFolderThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, kind := range stores {
		if _, err := kind.open(filepath.Join(file, "some.db")); err == nil || !strings.Contains(err.Error(), "failed to open "+kind.what+" "+file) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
