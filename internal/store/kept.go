package store

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

// kept is a table of values by keys, with a limited number of rows.
type kept struct {
	table
	path  string
	db    *sql.DB
	most  int           // rows, see trimEvery
	age   time.Duration // after which values have expired; 0: never
	puts  atomic.Int64
	clock atomic.Int64
}

// trimEvery is the number of writes after which the rows over the limit are removed.
const trimEvery = 256

// schemaOfKept has used as Unix time in nanoseconds.
const schemaOfKept = `CREATE TABLE $name (key TEXT PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
	CREATE INDEX $name_used ON $name (used)`

func openKept(t table, path string, most int, age time.Duration) (*kept, error) {
	t.version, t.schema, t.pragmas, t.cache, t.out = 1, t.on(schemaOfKept), soon, true, "it may be deleted"
	db, err := t.open(path)
	if err != nil {
		return nil, err
	}
	return &kept{table: t, path: path, db: db, most: most, age: age}, nil
}

// now returns the time as Unix time in nanoseconds, and never the same time twice, so that
// values have an order.
func (k *kept) now() int64 {
	for {
		before := k.clock.Load()
		now := max(before+1, time.Now().UnixNano())
		if k.clock.CompareAndSwap(before, now) {
			return now
		}
	}
}

// oldest returns the time, as now does, before which values have expired.
func (k *kept) oldest() int64 {
	if k.age == 0 {
		return 0
	}
	return time.Now().Add(-k.age).UnixNano()
}

func (k *kept) get(ctx context.Context, query string, args ...any) ([]byte, error) {
	var value []byte
	err := k.db.QueryRowContext(ctx, k.on(query), args...).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, k.failed("read", k.path, err)
	}
	return value, nil
}

// Put stores the value of a key. It replaces the value before.
func (k *kept) Put(ctx context.Context, key string, value []byte) error {
	if _, err := k.db.ExecContext(ctx, k.on(`INSERT INTO $name (key, used, value) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET used = excluded.used, value = excluded.value`), key, k.now(), value); err != nil {
		return k.failed("write", k.path, err)
	}
	if k.puts.Add(1)%trimEvery != 0 {
		return nil
	}
	return k.trim(ctx)
}

// trim removes expired values, and then the least recently used ones over the limit.
func (k *kept) trim(ctx context.Context) error {
	if _, err := k.db.ExecContext(ctx, k.on("DELETE FROM $name WHERE used < ? OR key IN (SELECT key FROM $name ORDER BY used DESC LIMIT -1 OFFSET ?)"),
		k.oldest(), k.most); err != nil {
		return k.failed("trim", k.path, err)
	}
	return nil
}

// Close trims and closes the file. Call it after all other calls have returned.
func (k *kept) Close() error {
	return errors.Join(k.trim(context.Background()), k.db.Close())
}
