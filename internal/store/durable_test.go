package store

import (
	"path/filepath"
	"testing"
)

// No test can cut the power. SQLite's promises for a power failure depend on these.
func TestFeedbackIsWrittenDurably(t *testing.T) {
	f, err := OpenFeedback(filepath.Join(t.TempDir(), "feedback.db"), FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "fullfsync": "1"} {
		got := ""
		if err := f.db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
}
