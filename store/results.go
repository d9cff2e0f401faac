package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Results keeps results that come later than the answer, by ids: the newest of
// them, for a while. It is safe for concurrent use.
type Results struct{ *kept }

// OpenResults opens the file at path, which is made where it is not there. It
// keeps at most some 256 rows more than most, and gives none that is older than
// age.
func OpenResults(path string, most int, age time.Duration) (*Results, error) {
	if most < 1 || age <= 0 {
		return nil, fmt.Errorf("failed to open late results %s: a limit of %d results for %v makes no sense", path, most, age)
	}
	k, err := openKept(table{what: "late results", name: "results"}, path, most, age)
	if err != nil {
		return nil, err
	}
	// A process that had little to do, or was killed, has left what is too old.
	if err := k.trim(context.Background()); err != nil {
		return nil, errors.Join(err, k.db.Close())
	}
	return &Results{k}, nil
}

// Get returns the value of an id, or nil where there is none or it is too old.
func (r *Results) Get(ctx context.Context, id string) ([]byte, error) {
	return r.get(ctx, "SELECT value FROM $name WHERE key = ? AND used >= ?", id, r.oldest())
}
