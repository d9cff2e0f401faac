// Package store keeps what outlives a process in SQLite:
//
//	verdicts, err := store.OpenVerdicts("verdicts.db", 100_000)
//
// A file may be deleted whenever no process has it open: what it held is then
// computed again.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Verdicts keeps verdicts of judges by their keys, a bounded number of them:
// those that were used last. It is safe for concurrent use, and several
// processes may have one file open.
type Verdicts struct {
	db    *sql.DB
	most  int
	puts  atomic.Int64
	clock atomic.Int64
}

// schemaVersion is the version of the tables. A file with another one is
// emptied: it is a cache.
const schemaVersion = 1

// trimEvery is how many rows may be over the limit before the oldest go.
const trimEvery = 256

// OpenVerdicts opens the file at path, which is made where it is not there. It
// keeps at most some 256 rows more than most.
func OpenVerdicts(path string, most int) (*Verdicts, error) {
	if most < 1 {
		return nil, fmt.Errorf("failed to open the cache %s: a limit of %d verdicts makes no sense", path, most)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("failed to open the cache %s: %w", path, err)
	}
	// Readers do not wait for a writer (WAL), and a writer waits for another.
	// A loss of power may cost the last verdicts, but not the file.
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)",
	}}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, fmt.Errorf("failed to open the cache %s: %w", path, err)
	}
	// SQLite has one writer; more connections would only wait for each other.
	db.SetMaxOpenConns(1)
	v := &Verdicts{db: db, most: most}
	if err := v.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to open the cache %s: %w; it may be deleted", path, err), db.Close())
	}
	v.clock.Store(time.Now().UnixNano())
	return v, nil
}

func (v *Verdicts) prepare() error {
	ctx := context.Background()
	var version int
	if err := v.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != 0 && version != schemaVersion {
		if _, err := v.db.ExecContext(ctx, "DROP TABLE IF EXISTS verdicts"); err != nil {
			return err
		}
	}
	_, err := v.db.ExecContext(ctx, fmt.Sprintf(`
		CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
		CREATE INDEX IF NOT EXISTS verdicts_used ON verdicts (used);
		PRAGMA user_version = %d`, schemaVersion))
	return err
}

// now returns a time that only grows, so that of two verdicts one is older.
func (v *Verdicts) now() int64 { return v.clock.Add(1) }

// Get returns the value of a key, or nil where there is none.
func (v *Verdicts) Get(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	err := v.db.QueryRowContext(ctx, "UPDATE verdicts SET used = ? WHERE key = ? RETURNING value", v.now(), key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the cache: %w", err)
	}
	return value, nil
}

// Put keeps a value, in place of the one that the key had.
func (v *Verdicts) Put(ctx context.Context, key string, value []byte) error {
	if _, err := v.db.ExecContext(ctx, "INSERT INTO verdicts (key, used, value) VALUES (?, ?, ?) "+
		"ON CONFLICT (key) DO UPDATE SET used = excluded.used, value = excluded.value", key, v.now(), value); err != nil {
		return fmt.Errorf("failed to write the cache: %w", err)
	}
	if v.puts.Add(1)%trimEvery != 0 {
		return nil
	}
	return v.trim(ctx)
}

// trim removes what was not used for the longest time.
func (v *Verdicts) trim(ctx context.Context) error {
	if _, err := v.db.ExecContext(ctx, "DELETE FROM verdicts WHERE key IN (SELECT key FROM verdicts ORDER BY used DESC LIMIT -1 OFFSET ?)", v.most); err != nil {
		return fmt.Errorf("failed to trim the cache: %w", err)
	}
	return nil
}

// Close trims and closes the file. No call may be under way.
func (v *Verdicts) Close() error {
	return errors.Join(v.trim(context.Background()), v.db.Close())
}
