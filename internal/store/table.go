package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite" // the driver "sqlite" too
	codes "modernc.org/sqlite/lib"
)

// table is a table that has an SQLite file to itself.
type table struct {
	what    string // that it stores, for errors
	name    string
	schema  string // statements that make it
	version int    // of the schema
	pragmas []string
	cache   bool   // whether a table of another version is emptied, and not an error
	out     string // what can be done about an unusable file, for errors
}

// busyTimeout is how long a process waits for another one that uses the same file.
const busyTimeout = 5 * time.Second

// Settings for the durability of writes. With either, a killed process loses nothing.
var (
	// A power failure may lose the last rows, but does not damage the file.
	soon = []string{"synchronous(NORMAL)"}
	// A power failure loses nothing either. Only fullfsync flushes the disk's cache
	// on macOS.
	durable = []string{"synchronous(FULL)", "fullfsync(1)"}
)

// open opens the file at path, and creates it if it does not exist, with mode 0600, since
// results may quote texts.
func (t table) open(path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, t.failed("open", path, err)
	}
	// An existing file is not opened here: closing it would release the locks that
	// this process may have on it.
	made, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = made.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, t.failed("open", path, err)
	}
	// Readers do not wait for a writer (WAL); a writer waits for another.
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: url.Values{
		"_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)"}, t.pragmas...),
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, t.failed("open", path, err)
	}
	// SQLite has one writer; more connections would only wait for each other.
	db.SetMaxOpenConns(1)
	// The first connection switches the file to WAL. Where several do so at once,
	// SQLite fails at once in those that would deadlock, whatever busy_timeout says.
	err = t.prepare(db)
	for end := time.Now().Add(busyTimeout); code(err) == codes.SQLITE_BUSY && time.Now().Before(end); err = t.prepare(db) {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(t.failed("open", path, err), db.Close())
	}
	return db, nil
}

// prepare creates the table if it does not exist.
func (t table) prepare(db *sql.DB) error {
	ctx := context.Background()
	version, ours, others := 0, false, false
	look := func(row *sql.Row) error { return row.Scan(&version, &ours, &others) }
	const query = `SELECT (SELECT user_version FROM pragma_user_version), count(*) FILTER (WHERE name = ?), count(*) FILTER (WHERE name <> ?)
		FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	// Where the table exists, there is no need to wait for its writers.
	if err := look(db.QueryRowContext(ctx, query, t.name, t.name)); err != nil || ours && version == t.version {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if err := look(tx.QueryRowContext(ctx, query, t.name, t.name)); err != nil {
		return err
	}
	switch {
	case ours && version == t.version: // another process created it meanwhile
		return nil
	case others:
		return fmt.Errorf("%w: it holds something else", errForeign)
	case ours && !t.cache:
		return fmt.Errorf("%w: it has version %d, and this toxscreen knows version %d", errForeign, version, t.version)
	case ours:
		if _, err := tx.ExecContext(ctx, t.on("DROP TABLE $name")); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", t.schema, t.version)); err != nil {
		return err
	}
	return tx.Commit()
}

// on replaces $name in a statement by the name of the table.
func (t table) on(statement string) string { return strings.ReplaceAll(statement, "$name", t.name) }

var errForeign = errors.New("it was not made by this toxscreen")

// failed returns the error of a step. If the file itself is the cause, the error says what
// to do about it.
func (t table) failed(step, path string, err error) error {
	err = fmt.Errorf("failed to %s %s %s: %w", step, t.what, path, err)
	if c := code(err); c == codes.SQLITE_CORRUPT || c == codes.SQLITE_NOTADB || errors.Is(err, errForeign) {
		return fmt.Errorf("%w; %s", err, t.out)
	}
	return err
}

// code returns the primary SQLite result code of an error, 0 if it has none.
func code(err error) int {
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		return failed.Code() & 0xff
	}
	return 0
}
