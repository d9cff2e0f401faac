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
// Input and output are JSONL, CSV, TSV or Parquet, in any combination; an input can also be
// plain text, with a row on each line. Each row gets one result, in the order of the rows.
// If a row cannot be scored, its result is an error, and the run continues. Memory does not
// grow with the input. [Options].Resume continues an interrupted run, even after a kill.
// [Job.Find] finds personal data instead of toxicity. A folder or a pattern of inputs has a
// folder of outputs, and [Options].Shard shares the work between machines. [Result] is a
// row of an output in JSONL; package labelled reads such rows.
//
// Errors, and the note beside an unfinished output, name an option by its field in
// [Options], or by the name that [Options].OptionName returns.
package rows

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/resume"
	"github.com/toxscreen/toxscreen/rows/input"
)

// Standard is the path that means [Options].Stdin or [Options].Stdout.
const Standard = "-"

// Options are the options of a job. The zero value of a field means its default.
type Options struct {
	// Input and Output are paths. The extension tells the format: .jsonl or .ndjson, .csv,
	// .tsv, .parquet and, for inputs only, .txt. An empty path or [Standard] means Stdin or
	// Stdout, in JSONL. Input text that is compressed with gzip or zstd is unpacked, up to
	// a zstd window of 128 MiB; its name may end in .gz or .zst.
	//
	// Input can also be a folder, or a pattern of [filepath.Glob]. Then Output is a folder
	// with an output for each input, and is created if it is missing. The output of a Shard
	// is such a folder, too. Its folder _done records the complete outputs, which Resume
	// skips.
	Input, Output string
	Stdin         io.Reader
	Stdout        io.Writer // gets one Write for each row
	// InputFormat is the format of the input; default: the format of its extension. Parquet
	// outside a regular file is copied to a temporary file of at most 8 GiB.
	InputFormat Format
	// Shard is the part of the inputs to process; default: all.
	Shard Shard
	// OutputFormat is the format of the outputs in a folder; default: the format of each
	// input, but JSONL for plain text.
	OutputFormat Format
	// InputEncoding is the encoding of an input other than Parquet, by a name of
	// https://encoding.spec.whatwg.org, such as windows-1252 (the same as latin1), utf-16le
	// or shift_jis; default: UTF-8. A byte order mark of UTF-8 or UTF-16 overrides
	// InputEncoding. Offsets refer to the text in UTF-8.
	InputEncoding string
	// Delimiter separates the cells of an input in CSV: an ASCII character other than a
	// quote or a line break; default: a comma, or the one that a first line like sep=;
	// names.
	Delimiter byte
	// Escape is an ASCII character that, inside the quotes of CSV or TSV, makes a quote or
	// itself after it a part of the text: a backslash in files of Spark. Elsewhere it is an
	// ordinary character. With and without Escape, a doubled quote is one quote of the
	// text.
	Escape byte
	// TextColumn is the column or field with the text; default: "text". Plain text has
	// no columns.
	TextColumn string
	// IDColumn is the column or field with the id of a row. CSV and Parquet must have a
	// column that is named here. Default: "id", which may be missing.
	IDColumn string
	// KeepText writes the text beside its result.
	KeepText bool
	// Resume continues an unfinished output, or begins a new one if there is none; input
	// and output must be regular files. Overwrite replaces an existing output. Without
	// either, an existing output is an error.
	Resume, Overwrite bool
	// Redo changes a complete output in JSONL, CSV or TSV: rows whose verdict failed are
	// scored again, and other rows stay byte for byte. The output is replaced as a whole,
	// or not at all.
	Redo bool
	// RowGroup is the number of rows in a Parquet row group, in 1..[MaxRowGroup]; default:
	// 10000. A kill loses the rows of an unfinished group.
	RowGroup int
	// MaxBytes is the screener's limit for a text in bytes; default:
	// [toxscreen.DefaultMaxBytes]. [RowBytes] gives the limit for a row.
	MaxBytes int
	// OffsetUnit is the unit of offsets; default: bytes.
	OffsetUnit toxscreen.OffsetUnit
	// Limits decide which rows [Summary].Reached counts for [Job.Score]: those that reach
	// one.
	Limits toxscreen.Limits
	// OptionName returns the name that errors use for a field of Options, such as
	// --text-column for TextColumn in a command. Default: the name of the field.
	OptionName func(field string) string
	// Progress is called before the first row and after each row, by the goroutine of
	// [Job.Score] or [Job.Find].
	Progress func(Progress)

	inFolder bool         // Output is one of several
	groups   input.Groups // of the input
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

// option returns the name that errors use for a field of Options.
func (o Options) option(field string) string {
	if o.OptionName == nil {
		return field
	}
	return o.OptionName(field)
}

// idColumn returns the name of the id column.
func (o Options) idColumn() string { return cmp.Or(o.IDColumn, "id") }

// rowGroup returns the number of rows per row group.
func (o Options) rowGroup() int { return cmp.Or(o.RowGroup, 10_000) }

// RowBytes returns the limit for a row in JSONL or CSV, in bytes, given the limit for its
// text: JSON can need six bytes for one byte, and other fields need space, too.
func RowBytes(maxBytes int) int { return 8*maxBytes + 1<<20 }

// Validate checks the options, as [Open] does, but opens no file.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Input == Standard && o.Stdin == nil:
		return errors.New("the input is missing: there is neither a file nor Stdin")
	case o.Output == Standard && o.Stdout == nil:
		return errors.New("the output is missing: there is neither a file nor Stdout")
	case o.Resume && o.Overwrite:
		return fmt.Errorf("%s continues an output, but %s replaces it: use only one of them", o.option("Resume"), o.option("Overwrite"))
	case o.TextColumn == o.idColumn():
		return fmt.Errorf("%s and %s are both %q: a column cannot be both", o.option("TextColumn"), o.option("IDColumn"), o.TextColumn)
	case o.rowGroup() < 1 || o.rowGroup() > MaxRowGroup:
		return fmt.Errorf("%s: %d is not in 1..%d", o.option("RowGroup"), o.RowGroup, MaxRowGroup)
	case o.toFolder():
		return o.validateFolder()
	case o.OutputFormat != "":
		return fmt.Errorf("%s is for a folder of outputs: the ending of %s decides the format of one", o.option("OutputFormat"), o.option("Output"))
	}
	if err := o.validateInput(); err != nil {
		return err
	}
	output, err := o.outputFormat()
	if err != nil {
		return err
	}
	if o.RowGroup != 0 && output != Parquet {
		return fmt.Errorf("%s is for Parquet, but the output is %s", o.option("RowGroup"), output)
	}
	if o.Resume {
		if err := o.resumable(); err != nil {
			return fmt.Errorf("%s: %w", o.option("Resume"), err)
		}
	}
	if o.Redo {
		if err := o.redoable(); err != nil {
			return fmt.Errorf("%s: %w", o.option("Redo"), err)
		}
	}
	if files.Same(o.Input, o.Output) {
		return fmt.Errorf("%s is both input and output", o.Input)
	}
	return nil
}

// validateInput checks the options that say how to read the input.
func (o Options) validateInput() error {
	format, err := o.ReadFormat()
	if err != nil {
		return err
	}
	switch {
	case o.Delimiter != 0 && format != CSV:
		return fmt.Errorf("%s is for CSV, but the input is %s; use %s csv if it is not", o.option("Delimiter"), format, o.option("InputFormat"))
	case !marks(o.Delimiter):
		return fmt.Errorf("%s: %q cannot separate cells", o.option("Delimiter"), o.Delimiter)
	case o.Escape != 0 && !format.HasCells():
		return fmt.Errorf("%s is for CSV and TSV, but the input is %s; use %s csv if it is not", o.option("Escape"), format, o.option("InputFormat"))
	case o.Escape != 0 && (!marks(o.Escape) || o.Escape == o.delimiter(format)):
		return fmt.Errorf("%s: %q cannot escape a quote; without %[1]s, a quote is doubled", o.option("Escape"), o.Escape)
	case o.InputEncoding != "" && format == Parquet:
		return fmt.Errorf("%s is for text, but the input is Parquet, whose strings are UTF-8", o.option("InputEncoding"))
	case format == Lines && (o.IDColumn != "" || o.TextColumn != "" && o.TextColumn != "text"):
		return fmt.Errorf("%s and %s are for formats with columns, but the input is plain text; name its format with %s if it is not", o.option("TextColumn"), o.option("IDColumn"), o.option("InputFormat"))
	}
	if _, err := input.EncodingOf(o.InputEncoding); err != nil {
		return fmt.Errorf("%s: %w", o.option("InputEncoding"), err)
	}
	return nil
}

// resumable returns why an interrupted run could not be resumed, or nil: input and output
// must be files that still exist and have not changed.
func (o Options) resumable() error {
	for _, path := range []string{o.Input, o.Output} {
		if path == Standard {
			return fmt.Errorf("standard input and output cannot be resumed: %s needs files", o.option("Resume"))
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file, which %s needs", path, o.option("Resume"))
		}
	}
	return nil
}

// inputName and outputName are the names of input and output in errors.
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

// Summary counts the rows of the outputs, including rows of earlier runs that this run
// resumed.
type Summary struct {
	Rows       int64 `json:"rows"`   // written
	Before     int64 `json:"before"` // rows among Rows that earlier runs wrote
	Failed     int64 `json:"failed"` // rows among Rows with an error instead of a result
	Flagged    int64 `json:"flagged"`
	NotDecided int64 `json:"not_decided"` // rows with a [toxscreen.Result].NotDecided
	Reached    int64 `json:"reached"`     // rows that reach [Options].Limits, or have an entity of [Finding].FailOn
	// Undecodable counts rows with bytes that are not text in the encoding of the input:
	// not UTF-8, without [Options].InputEncoding. It leaves out Parquet.
	Undecodable int64 `json:"undecodable"`
	// Nonfinite counts rows in JSONL with NaN, Infinity or -Infinity. JSON lacks these, so
	// they are null in the output.
	Nonfinite    int64  `json:"nonfinite"`
	FirstFailure string `json:"first_failure"` // such as "row 17: …", with the error of the first failed row; after the name of its input if there are several
	// Asked counts the rows about which the judge was asked, and Verdicts those for which
	// it gave a verdict. FirstUnjudged says why the first of the others has none.
	// NotBelieved counts verdicts that count for no attribute: they could not change a
	// score.
	Asked         int64  `json:"asked"`
	Verdicts      int64  `json:"verdicts"`
	NotBelieved   int64  `json:"not_believed"`
	FirstUnjudged string `json:"first_unjudged"` // such as "row 17: …"
	// Entities counts the entities of all rows, and WithEntities the rows with an entity.
	// Only [Job.Find] sets them.
	Entities     int64 `json:"entities"`
	WithEntities int64 `json:"with_entities"`
	// Duration is the time since this run read its first row.
	Duration time.Duration `json:"-"`
}

// add counts one row.
func add[V any](s *Summary, r *Row[V], t task[V]) {
	s.Rows++
	if r.Error == "" {
		t.count(s, r)
	} else if s.Failed++; s.Failed == 1 {
		s.FirstFailure = fmt.Sprintf("row %d: %s", r.Number, r.Error)
	}
}

// addInput counts irregular content in a row of the input.
func (s *Summary) addInput(r input.Row) {
	if r.Undecodable {
		s.Undecodable++
	}
	if r.Nonfinite {
		s.Nonfinite++
	}
}

// include adds the summary of one output, whose input is the file from, to that of several.
func (s *Summary) include(from string, one Summary) {
	if s.Failed == 0 && one.Failed > 0 {
		s.FirstFailure = from + ": " + one.FirstFailure
	}
	if s.Unjudged() == 0 && one.Unjudged() > 0 {
		s.FirstUnjudged = from + ": " + one.FirstUnjudged
	}
	s.Rows += one.Rows
	s.Before += one.Before
	s.Failed += one.Failed
	s.Flagged += one.Flagged
	s.NotDecided += one.NotDecided
	s.Reached += one.Reached
	s.Undecodable += one.Undecodable
	s.Nonfinite += one.Nonfinite
	s.Asked += one.Asked
	s.Verdicts += one.Verdicts
	s.NotBelieved += one.NotBelieved
	s.Entities += one.Entities
	s.WithEntities += one.WithEntities
	s.Duration += one.Duration
}

// Unjudged returns the number of rows for which the judge was asked but gave no verdict.
func (s Summary) Unjudged() int64 { return s.Asked - s.Verdicts }

// Progress is the progress of a run.
type Progress struct {
	Summary
	// At is the position in the input up to which rows are written, and Length the end of
	// the input, both in bytes of its unpacked content, or of the texts of Parquet. Length
	// is 0 if it is unknown, as for a pipe. With several inputs, both count bytes of files.
	At, Length int64
}

// Setting is a setting on which the results depend.
type Setting = resume.Setting

// UnfinishedError is the error of an interrupted run that [Options].Resume can continue.
type UnfinishedError struct{ error }

// Unwrap returns why the run was interrupted.
func (u *UnfinishedError) Unwrap() error { return u.error }
