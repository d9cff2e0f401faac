package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/toxscreen/toxscreen"
)

// Feedback stores the labels that people give to texts, together with the screener's
// results. It never removes anything. It is safe for concurrent use.
type Feedback struct {
	table
	path    string
	db      *sql.DB
	options FeedbackOptions
}

// FeedbackOptions configures a [Feedback]. The zero value of a field means its
// default.
type FeedbackOptions struct {
	// KeepText stores the texts themselves. Without it, only their SHA-256 hashes are
	// stored. Hashes tell texts apart, and whoever has a text can look it up.
	KeepText bool
	// MaxBytes is the highest size of the file in bytes, apart from its write-ahead log of
	// a few MB; default: 1 GiB. A label set takes a few kB. When the file is full, Add
	// fails with [ErrFull] in the error chain, and every stored set stays.
	MaxBytes int64
}

// ErrFull is in the error chain where the disk or the file is full.
var ErrFull = errors.New("there is no room")

// LabelSet holds the labels that one person or one program gives a text.
type LabelSet struct {
	Time time.Time // of the call of Add
	// Text is the text, empty if it is not stored.
	Text string
	// Hash is the SHA-256 of the text in hexadecimal digits. [Feedback.Add] computes it.
	Hash string
	// Source is the name of the API through which the labels came, like native.
	Source string
	// Caller is the name of the client's API key. Community is the group of people that the
	// client names. Both may be empty.
	Caller, Community string
	// Token is the client's own name for the text. Later labels of the same caller,
	// community, token and text correct earlier ones; both stay in the file. With an empty
	// token, they are the opinion of another person.
	Token string
	// Labels holds, for each labelled attribute, the share in 0..1 of people who say that
	// the text has it. At least one attribute has a label.
	Labels toxscreen.Scores
	// Weight is the number of texts in the traffic that this text represents, in 1e-6..1e6;
	// 0 means 1.
	Weight float64
	// Result is the screener's result of the text, with its own thresholds.
	Result toxscreen.Result
}

// The limits of a [LabelSet].
const (
	maxName   = 1024 // bytes of a token or a community
	minWeight = 1e-6 // so that sums of weights stay finite and over 0
	maxWeight = 1e6
)

// Validate returns an error, in words for the client that sent the labels, if a field is
// missing or out of range.
func (l LabelSet) Validate() error {
	if l.Labels.Len() == 0 {
		return errors.New("there are no labels: give at least one, like toxicity 1")
	}
	for a, share := range l.Labels.All() {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("the label %v for %s is not a share of people: it must be in 0..1", share, a)
		}
	}
	if l.Weight != 0 && !(l.Weight >= minWeight && l.Weight <= maxWeight) {
		return fmt.Errorf("the weight %v is not a number of texts: it must be in %v..%v, or left out for 1", l.Weight, minWeight, maxWeight)
	}
	for _, name := range []struct{ what, value string }{{"token", l.Token}, {"community", l.Community}} {
		if len(name.value) > maxName {
			return fmt.Errorf("the %s has %d bytes: it may have %d", name.what, len(name.value), maxName)
		}
	}
	return nil
}

var feedback = table{
	what: "the feedback", name: "feedback", version: 1, pragmas: durable,
	// The index is the order in which All reads.
	schema: `CREATE TABLE feedback (
			id INTEGER PRIMARY KEY,
			time INTEGER NOT NULL, -- Unix time in milliseconds
			source TEXT NOT NULL, caller TEXT NOT NULL, community TEXT NOT NULL, token TEXT NOT NULL,
			hash TEXT NOT NULL, text BLOB,
			labels TEXT NOT NULL, weight REAL NOT NULL,
			model TEXT NOT NULL, calibration TEXT NOT NULL, rubric TEXT NOT NULL, judge_model TEXT NOT NULL,
			result TEXT NOT NULL
		) STRICT;
		CREATE INDEX feedback_hash ON feedback (hash, id)`,
	out: "move it away to begin a new one; `sqlite3 FILE .recover` shows the rows that can still be read",
}

// OpenFeedback opens the file at path, and creates it if it does not exist. The error for a
// damaged file says what to do about it. The caller closes the Feedback.
func OpenFeedback(path string, o FeedbackOptions) (*Feedback, error) {
	o.MaxBytes = cmp.Or(o.MaxBytes, 1<<30)
	const page = 4096 // bytes: SQLite's own for a new file
	if o.MaxBytes < 16*page {
		return nil, fmt.Errorf("failed to open the feedback %s: the limit of %d bytes is too small", path, o.MaxBytes)
	}
	t := feedback
	t.pragmas = append(slices.Clone(t.pragmas), fmt.Sprintf("max_page_count(%d)", o.MaxBytes/page))
	db, err := t.open(path)
	if err != nil {
		return nil, err
	}
	return &Feedback{table: t, path: path, db: db, options: o}, nil
}

// Add stores a label set. Once it returns nil, the set is on disk and survives a killed
// process and a power failure. Without KeepText, it leaves out the parts of the result that
// may quote the text. The error chain has [ErrFull] if the file or the disk is full.
func (f *Feedback) Add(ctx context.Context, l LabelSet) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("failed to keep feedback: %w", err)
	}
	hash := sha256.Sum256([]byte(l.Text))
	var text []byte // as a blob: it may have invalid UTF-8 and zero bytes
	result := l.Result
	result.ID, result.Judge.ID = "", "" // of the request
	if f.options.KeepText {
		text = append([]byte{}, l.Text...)
	} else {
		result = unquoted(result)
	}
	labels, err := json.Marshal(l.Labels)
	if err != nil {
		return fmt.Errorf("failed to keep feedback: %w", err)
	}
	numbers, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("failed to keep feedback: %w", err)
	}
	v := result.Versions
	_, err = f.db.ExecContext(ctx, `INSERT INTO feedback
		(time, source, caller, community, token, hash, text, labels, weight, model, calibration, rubric, judge_model, result)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		time.Now().UnixMilli(), l.Source, l.Caller, l.Community, l.Token, hex.EncodeToString(hash[:]), text, string(labels), l.Weight,
		v.Model, v.Calibration, v.Rubric, v.JudgeModel, string(numbers))
	if code(err) == codes.SQLITE_FULL {
		return fmt.Errorf("failed to keep feedback: %w: %s has reached its limit of %d bytes or the disk is full: "+
			"export it with `toxscreen feedback export` and move it away, or raise the limit: %w", ErrFull, f.path, f.options.MaxBytes, err)
	}
	if err != nil {
		return f.failed("write", f.path, err)
	}
	return nil
}

// unquoted returns a result without the fields that may contain parts of the text:
// the judge's own words and its errors.
func unquoted(r toxscreen.Result) toxscreen.Result {
	r.Judge.Error, r.Judge.Raw = "", ""
	r.Judge.Verdicts = slices.Clone(r.Judge.Verdicts)
	for i := range r.Judge.Verdicts {
		v := &r.Judge.Verdicts[i]
		v.Reason, v.Warnings = "", []string{}
		v.Aspects = slices.Clone(v.Aspects)
		for j := range v.Aspects {
			v.Aspects[j].NotInText = nil
		}
	}
	return r
}

// Newest returns the versions of three things: the model and the scale that scored the newest
// label set, and the rubric and the judge of the newest verdict on a text that this model scored.
// Unknown versions are empty.
func (f *Feedback) Newest(ctx context.Context) (toxscreen.Versions, error) {
	var v toxscreen.Versions
	err := f.db.QueryRowContext(ctx, "SELECT model, coalesce(json_extract(result, '$.versions.scale'), '') FROM feedback ORDER BY id DESC LIMIT 1").Scan(&v.Model, &v.Scale)
	if err == nil {
		err = f.db.QueryRowContext(ctx, "SELECT rubric, judge_model FROM feedback WHERE model = ? AND judge_model <> '' ORDER BY id DESC LIMIT 1", v.Model).
			Scan(&v.Rubric, &v.JudgeModel)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return v, f.failed("read", f.path, err)
	}
	return v, nil
}

// All yields the label sets that were added before the call: those of one text together,
// the oldest first. An error ends the sequence. Other calls of f wait until the sequence
// ends.
func (f *Feedback) All(ctx context.Context) iter.Seq2[LabelSet, error] {
	return func(yield func(LabelSet, error) bool) {
		rows, err := f.db.QueryContext(ctx, `SELECT id, time, source, caller, community, token, hash, text, labels, weight, result
			FROM feedback ORDER BY hash, id`)
		if err != nil {
			yield(LabelSet{}, f.failed("read", f.path, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			l, err := read(rows)
			if err != nil {
				yield(LabelSet{}, f.failed("read", f.path, err))
				return
			}
			if !yield(l, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(LabelSet{}, f.failed("read", f.path, err))
		}
	}
}

// read reads a row of the query in All.
func read(rows *sql.Rows) (LabelSet, error) {
	var l LabelSet
	var id, milliseconds int64
	var text, labels, result []byte
	if err := rows.Scan(&id, &milliseconds, &l.Source, &l.Caller, &l.Community, &l.Token, &l.Hash, &text, &labels, &l.Weight, &result); err != nil {
		return l, err
	}
	l.Time, l.Text = time.UnixMilli(milliseconds).UTC(), string(text)
	if err := json.Unmarshal(labels, &l.Labels); err != nil {
		return l, fmt.Errorf("row %d: %w", id, err)
	}
	if err := json.Unmarshal(result, &l.Result); err != nil {
		return l, fmt.Errorf("row %d: its result is not valid: %w", id, err)
	}
	return l, nil
}

// Close closes the file. Call it after all other calls have returned.
func (f *Feedback) Close() error {
	if err := f.db.Close(); err != nil {
		return f.failed("close", f.path, err)
	}
	return nil
}
