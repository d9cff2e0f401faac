package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Results stores results that arrive after their answers, by id. It keeps a limited number,
// the newest, for a limited time. It is safe for concurrent use.
type Results struct{ *kept }

// OpenResults opens the file at path, and creates it if it does not exist. It stores at
// most most results (for a while up to 256 more) and returns only those younger than age.
// The error for a damaged file says what to do about it.
func OpenResults(path string, most int, age time.Duration) (*Results, error) {
	if most < 1 || age <= 0 {
		return nil, fmt.Errorf("failed to open late results %s: the limits of %d results and %v must be over 0", path, most, age)
	}
	k, err := openKept(table{what: "late results", name: "results"}, path, most, age)
	if err != nil {
		return nil, err
	}
	// A process that wrote little, or was killed, may have left expired results.
	if err := k.trim(context.Background()); err != nil {
		return nil, errors.Join(err, k.db.Close())
	}
	return &Results{k}, nil
}

// Get returns the result of an id, or nil if it is missing or has expired.
func (r *Results) Get(ctx context.Context, id string) ([]byte, error) {
	return r.get(ctx, "SELECT value FROM $name WHERE key = ? AND used >= ?", id, r.oldest())
}
