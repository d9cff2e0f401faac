// Package rows scores the rows of a file or a stream:
//
//	job, err := rows.Open(ctx, rows.Options{Input: "comments.csv", Output: "scored.parquet", TextColumn: "comment"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer job.Close()
//	summary, err := job.Score(toxscreen.New(model))
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(summary.Rows, summary.Flagged, summary.Failed)
//
// Input and output are JSONL, CSV or Parquet, in any combination. There is one
// result for each row, in the order of the rows; a row that cannot be scored
// gets a result with an error, and the run goes on. Memory does not grow with
// the input. A run that was cut off, by a kill too, goes on with
// [Options].Resume. [Result] is the shape of a row in JSONL, and [ReadLabelled]
// reads such rows back.
//
// Errors, and the note beside an unfinished output, call an option by the flag
// that `toxscreen batch` has for it: --text-column is TextColumn.
package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Standard is the name of [Options].Stdin and Stdout, which are JSONL.
const Standard = "-"

// Options says what is read and written. The zero value of a field is its
// default.
type Options struct {
	// Input and Output are paths. The ending tells the format: .jsonl or .ndjson,
	// .csv, or .parquet. Empty or [Standard] is Stdin or Stdout.
	Input, Output string
	Stdin         io.Reader
	Stdout        io.Writer // gets one Write for each row
	// TextColumn is the column or field that holds the text: "text".
	TextColumn string
	// IDColumn is the column or field that names a row, which must be there in
	// CSV and Parquet. Empty is "id", which may be missing.
	IDColumn string
	// KeepText writes the text beside its result.
	KeepText bool
	// Resume goes on with an output that a run has left unfinished, and begins
	// one where there is none; both ends must be regular files. Overwrite
	// replaces what is there. Without either of them an output that is there is
	// an error.
	Resume, Overwrite bool
	// RowGroup is how many rows a row group of Parquet has, in 1..[MaxRowGroup]:
	// 10000. A kill costs the rows of an unfinished one.
	RowGroup int
	// MaxBytes is the limit of a text in bytes that the screener has:
	// [toxscreen.DefaultMaxBytes]. A row may have [RowBytes] of it.
	MaxBytes int
	// OffsetUnit is what the offsets of spans count: bytes.
	OffsetUnit toxscreen.OffsetUnit
	// Limits are the scores from which [Summary].Reached counts a row.
	Limits toxscreen.Scores
	// Progress is called before the first row and after each, from the goroutine
	// of [Job.Score].
	Progress func(Progress)
}

// MaxRowGroup is the highest [Options].RowGroup.
const MaxRowGroup = 1 << 20

func (o Options) withDefaults() Options {
	o.Input, o.Output = cmp.Or(o.Input, Standard), cmp.Or(o.Output, Standard)
	o.TextColumn = cmp.Or(o.TextColumn, "text")
	o.MaxBytes = cmp.Or(o.MaxBytes, toxscreen.DefaultMaxBytes)
	o.OffsetUnit = cmp.Or(o.OffsetUnit, toxscreen.Bytes)
	return o
}

// idColumn returns the name of the id's column.
func (o Options) idColumn() string { return cmp.Or(o.IDColumn, "id") }

// rowGroup returns the rows of a row group.
func (o Options) rowGroup() int { return cmp.Or(o.RowGroup, 10_000) }

// RowBytes returns the limit in bytes of a row of JSONL or CSV for that of its
// text: JSON may need six bytes for one of it, and other fields want room.
func RowBytes(maxBytes int) int { return 8*maxBytes + 1<<20 }

// Validate returns what is wrong with the options themselves, before any file
// is opened. [Open] does the same.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Input == Standard && o.Stdin == nil:
		return errors.New("the input is missing: there is neither a file nor Stdin")
	case o.Output == Standard && o.Stdout == nil:
		return errors.New("the output is missing: there is neither a file nor Stdout")
	case o.Resume && o.Overwrite:
		return errors.New("--resume goes on with an output and --overwrite begins it anew: use one of them")
	case o.TextColumn == o.idColumn():
		return fmt.Errorf("--text-column and --id-column are both %q: a column cannot be both", o.TextColumn)
	case o.rowGroup() < 1 || o.rowGroup() > MaxRowGroup:
		return fmt.Errorf("--row-group: %d is not in 1..%d", o.RowGroup, MaxRowGroup)
	}
	if _, err := formatOf(o.Input); err != nil {
		return fmt.Errorf("--input %w", err)
	}
	format, err := formatOf(o.Output)
	if err != nil {
		return fmt.Errorf("--output %w", err)
	}
	if o.RowGroup != 0 && format != parquetFile {
		return fmt.Errorf("--row-group is for Parquet, but the output is %s", format)
	}
	if o.Resume {
		if err := o.resumable(); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
	}
	if in, err := os.Stat(o.Input); err == nil {
		if out, err := os.Stat(o.Output); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is both input and output", o.Input)
		}
	}
	return nil
}

// resumable returns why a run that is cut off cannot be resumed: both ends must
// be files that are still there as they were.
func (o Options) resumable() error {
	for _, path := range []string{o.Input, o.Output} {
		if path == Standard {
			return errors.New("standard input and output are gone when a run ends: --resume needs files")
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file, which --resume needs", path)
		}
	}
	return nil
}

// inputName and outputName are what errors call the two ends.
func (o Options) inputName() string {
	if o.Input == Standard {
		return "standard input"
	}
	return o.Input
}

func (o Options) outputName() string {
	if o.Output == Standard {
		return "standard output"
	}
	return o.Output
}

// Summary counts the rows of an output, those of earlier runs included where
// it was resumed.
type Summary struct {
	Rows         int64 // written
	Before       int64 // of them by earlier runs
	Failed       int64 // of them with an error in place of a result
	Flagged      int64
	Reached      int64  // rows with a score at or over one of [Options].Limits
	FirstFailure string // such as "row 17: …", with the error of the first row that failed
	// Duration is how long this run has taken since its first row was read.
	Duration time.Duration
}

// add counts one row.
func (s *Summary) add(r *Result, limits toxscreen.Scores) {
	s.Rows++
	if r.Error != "" {
		if s.Failed++; s.Failed == 1 {
			s.FirstFailure = fmt.Sprintf("row %d: %s", s.Rows, r.Error)
		}
		return
	}
	if r.Flagged {
		s.Flagged++
	}
	if r.Reaches(limits) {
		s.Reached++
	}
}

// Progress is how far a run is.
type Progress struct {
	Summary
	// At is the place in the input up to which rows are written, and Length its
	// end: in bytes, or in rows of Parquet. Length is 0 where it is not known.
	At, Length int64
}

// Setting is something that the results depend on.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// UnfinishedError is the error of a run that was cut off and has left an output
// that [Options].Resume goes on with.
type UnfinishedError struct{ Err error }

// Error implements error.
func (u *UnfinishedError) Error() string { return u.Err.Error() }

// Unwrap returns why the run was cut off.
func (u *UnfinishedError) Unwrap() error { return u.Err }

// Job is an input that is open and an output that may be written. It is not
// safe for concurrent use.
type Job struct {
	ctx      context.Context
	cancel   context.CancelFunc
	options  Options
	in       rowReader
	resuming bool // an output is there already
	w        rowWriter
	done     Summary
}

// Open opens the input and checks that the output may be written, so that a
// caller learns of a wrong name before it opens a model. ctx holds for the whole
// job: when it ends, so does [Job.Score].
func Open(ctx context.Context, o Options) (*Job, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	in, err := openInput(ctx, o)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("failed to read %s: %w", o.inputName(), err)
	}
	j := &Job{ctx: ctx, cancel: cancel, options: o, in: in}
	if j.resuming, err = mayWrite(o); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Close closes the input. It is called when Score has returned, or in place of
// it.
func (j *Job) Close() error {
	j.cancel()
	return j.in.close()
}
