// Package store keeps data between runs, each kind in an SQLite file of its own
// that several processes may have open:
//
//	feedback, err := store.OpenFeedback("feedback.db", store.FeedbackOptions{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer feedback.Close()
//	var labels toxscreen.Scores
//	labels.Set(toxscreen.Insult, 1)
//	err = feedback.Add(ctx, store.LabelSet{Text: "you idiot", Labels: labels})
//
// [Feedback] is durable: a label set that was added survives a killed process and
// a power failure. [Verdicts] and [Results] are bounded caches: their files may be
// deleted whenever no process has them open.
package store

import (
	"context"
	"fmt"
)

// Verdicts stores the verdicts of judges by key. It keeps a limited number, the most
// recently used. It is safe for concurrent use.
type Verdicts struct{ *kept }

// OpenVerdicts opens the file at path, and creates it if it does not exist. It stores at
// most most verdicts (for a while up to 256 more). The error for a damaged file says what
// to do about it.
func OpenVerdicts(path string, most int) (*Verdicts, error) {
	if most < 1 {
		return nil, fmt.Errorf("failed to open the cache %s: the limit of %d verdicts must be over 0", path, most)
	}
	k, err := openKept(table{what: "the cache", name: "verdicts"}, path, most, 0)
	if err != nil {
		return nil, err
	}
	return &Verdicts{k}, nil
}

// Get returns the value of a key, or nil if it is missing.
func (v *Verdicts) Get(ctx context.Context, key string) ([]byte, error) {
	return v.get(ctx, "UPDATE $name SET used = ? WHERE key = ? RETURNING value", v.now(), key)
}
