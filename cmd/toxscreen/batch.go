package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
)

func (a *app) batchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch -i IN -o OUT",
		Short: "Score each row of a file",
		Long: `Score each row of a JSONL, CSV or Parquet file, told by its ending, and write
one result a row, in order, as any of the three; - is JSONL through standard
input and output. A row that cannot be scored gets a result with an error, and
the run goes on. A run that was cut off goes on with --resume.`,
		Example: `  toxscreen batch -i comments.jsonl -o scored.jsonl
  toxscreen batch -i comments.csv --text-column comment -o scored.parquet
  toxscreen batch -i comments.jsonl -o scored.jsonl --resume
  zcat comments.jsonl.gz | toxscreen batch -i - -o - | jq 'select(.flagged)'`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.batch,
	}
	flags := cmd.Flags()
	flags.StringP("input", "i", "", "`FILE` to read: .jsonl, .ndjson, .csv, .parquet, or - for JSONL")
	flags.StringP("output", "o", "", "`FILE` to write: .jsonl, .ndjson, .csv, .parquet, or - for JSONL")
	flags.String("text-column", "text", "the column or field that holds the text")
	flags.String("id-column", "id", "the column or field that names a row")
	flags.Bool("keep-text", false, "write the text beside its result")
	flags.Bool("resume", false, "go on with a run that was cut off")
	flags.Bool("overwrite", false, "write anew what exists")
	flags.Int("row-group", 10000, "rows of a row group of Parquet, and so of a part file that --resume needs not do again")
	flags.BoolP("quiet", "q", false, "show neither progress nor summary")
	for _, name := range []string{"input", "output"} {
		_ = cmd.MarkFlagFilename(name, "jsonl", "ndjson", "csv", "parquet")
	}
	addFlags(cmd, "fail_on")
	addScreenerFlags(cmd)
	return cmd
}

// batchOptions are the flags of batch that are no configuration.
type batchOptions struct {
	input, output     string
	inKind, outKind   kind
	text, id          string
	idGiven, keepText bool
	resume, overwrite bool
	rowGroup          int
	quiet             bool
}

func parseBatchOptions(cmd *cobra.Command) (*batchOptions, error) {
	flags := cmd.Flags()
	text := func(name string) string {
		value, _ := flags.GetString(name)
		return value
	}
	flag := func(name string) bool {
		value, _ := flags.GetBool(name)
		return value
	}
	o := &batchOptions{
		input: text("input"), output: text("output"),
		text: text("text-column"), id: text("id-column"), idGiven: flags.Changed("id-column"), keepText: flag("keep-text"),
		resume: flag("resume"), overwrite: flag("overwrite"), quiet: flag("quiet"),
	}
	o.rowGroup, _ = flags.GetInt("row-group")
	switch {
	case o.input == "":
		return nil, wrongUsage("the input is missing: name it with -i FILE, or -i - for standard input")
	case o.output == "":
		return nil, wrongUsage("the output is missing: name it with -o FILE, or -o - for standard output")
	case o.resume && o.overwrite:
		return nil, wrongUsage("--resume goes on with an output and --overwrite begins it anew: use one of them")
	case o.text == o.id:
		return nil, wrongUsage("--text-column and --id-column are both %q: a column cannot be both", o.text)
	case o.rowGroup < 1 || o.rowGroup > 1<<20:
		return nil, wrongUsage("--row-group: %d is not in 1..%d", o.rowGroup, 1<<20)
	}
	var err error
	if o.inKind, err = kindOf(o.input); err != nil {
		return nil, wrongUsage("--input %w", err)
	}
	if o.outKind, err = kindOf(o.output); err != nil {
		return nil, wrongUsage("--output %w", err)
	}
	if flags.Changed("row-group") && o.outKind != parquetFile {
		return nil, wrongUsage("--row-group is for Parquet, but the output is %s", o.outKind)
	}
	if o.resume {
		if err := resumable(o.input, o.output); err != nil {
			return nil, wrongUsage("--resume: %w", err)
		}
	}
	if in, err := os.Stat(o.input); err == nil {
		if out, err := os.Stat(o.output); err == nil && os.SameFile(in, out) {
			return nil, wrongUsage("%s is both input and output", o.input)
		}
	}
	return o, nil
}

// rowBytes is the limit of a row for a limit of its text: JSON may need six
// bytes for one, and other fields want room.
func rowBytes(maxBytes int) int { return 8*maxBytes + 1<<20 }

func (a *app) batch(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	o, err := parseBatchOptions(cmd)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()

	in, err := openRows(ctx, o.input, o.inKind, a.in, inputOptions{o.text, o.id, o.idGiven, rowBytes(s.MaxBytes)})
	if err != nil {
		return err
	}
	defer in.close()
	out := output{path: o.output, kind: o.outKind, in: in, layout: layout{keepText: o.keepText}, rowGroup: o.rowGroup, limits: s.FailOn}
	resuming, err := a.mayWrite(o, out)
	if err != nil {
		return err
	}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	out.judged = screener.HasJudge()
	out.model = screener.Info().Version

	// Whoever may want to resume this run needs to know what it was.
	canResume := resumable(o.input, o.output) == nil
	var memo note
	if canResume {
		if memo, err = newNote(ctx, o.input, o, s, screener); err != nil {
			return err
		}
	}
	release, err := hold(o.output)
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", o.output, err)
	}
	defer func() { release() }()
	var w rowWriter
	var done tally
	switch {
	case resuming:
		if err := memo.check(o.output); err != nil {
			return fmt.Errorf("failed to resume: %w", err)
		}
		w, done, err = out.resume()
	default:
		if o.output != standard {
			err = out.remove()
		}
		if err == nil && canResume {
			if err = memo.write(o.output); err == nil {
				release() // that was the note before
				release, err = hold(o.output)
			}
		}
		if err == nil {
			if w, err = out.create(a.out); err != nil && canResume {
				err = errors.Join(err, memo.done(o.output))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", outputName(o.output), err)
	}
	b := &batch{app: a, options: o, in: in, w: w, done: done, unit: s.OffsetUnit, limits: s.FailOn}
	if err := b.run(ctx, stop, screener.Screener); err != nil {
		switch {
		case canResume && o.overwrite:
			err = hinted{err, "the same command with --resume in place of --overwrite goes on from there"}
		case canResume:
			err = hinted{err, "the same command with --resume goes on from there"}
		}
		return err
	}
	if canResume {
		if err := memo.done(o.output); err != nil {
			return fmt.Errorf("failed to remove %s: %w", noteOf(o.output), err)
		}
	}
	b.summary()
	switch {
	case b.done.reached > 0:
		return exit{code: exitReached}
	case b.done.failed > 0:
		return exit{code: exitRows}
	}
	return nil
}

func outputName(path string) string {
	if path == standard {
		return "standard output"
	}
	return path
}

// mayWrite refuses to write over what exists, and tells whether there is a
// run to resume.
func (a *app) mayWrite(o *batchOptions, out output) (resuming bool, err error) {
	if o.output == standard {
		return false, nil
	}
	file, unfinished, err := out.exists()
	switch {
	case err != nil:
		return false, err
	case o.overwrite:
		return false, nil
	case o.resume:
		return file || unfinished, nil
	case unfinished:
		return false, fmt.Errorf("%s is an unfinished output: go on with --resume, or write it anew with --overwrite", o.output)
	case file:
		return false, fmt.Errorf("%s exists: choose another name, or write it anew with --overwrite", o.output)
	}
	return false, nil
}

// batch is one run.
type batch struct {
	*app
	options *batchOptions
	in      rowReader
	w       rowWriter
	done    tally
	unit    toxscreen.OffsetUnit
	limits  toxscreen.Scores
	shown   *progress
}

// run scores the rows that are not done yet and completes the output. stop
// ends ctx.
func (b *batch) run(ctx context.Context, stop func(), screener *toxscreen.Screener) error {
	skipped, err := b.in.skip(ctx, b.done.rows)
	if err != nil {
		return b.cutOff(ctx, fmt.Errorf("failed to read %s: %w", inputName(b.options.input), err))
	}
	b.shown = newProgress(b.err, !b.options.quiet && isTerminal(b.err), b.in.length(), skipped, b.done.rows)
	defer b.shown.end()

	memory := newBudget(readAhead)
	var readErr, writeErr error
	ended, interrupted := false, false
	rows := func(yield func(row) bool) {
		for ctx.Err() == nil {
			r, err := b.in.next()
			if err == io.EOF {
				ended = true
				return
			}
			if err != nil {
				readErr = fmt.Errorf("failed to read %s: %w", inputName(b.options.input), err)
				return
			}
			if !memory.take(ctx, r.size) || !yield(r) {
				return
			}
		}
	}
	for o := range toxscreen.Batch(ctx, screener, rows, func(r row) (string, error) { return r.text, r.err }) {
		if interrupted = o.Err != nil && ctx.Err() != nil && errors.Is(o.Err, ctx.Err()); interrupted {
			break // it is the first row that is to be resumed
		}
		if writeErr = b.one(o); writeErr != nil {
			stop() // the reader may wait for input or memory, and Batch for the reader
			break
		}
		memory.give(o.Row.size)
		b.shown.at(o.Row.upTo, b.done)
	}
	b.shown.end()
	switch {
	case writeErr != nil:
		return b.cutOff(context.Background(), writeErr)
	case interrupted || !ended:
		return b.cutOff(ctx, readErr)
	}
	if err := b.w.finish(); err != nil {
		return fmt.Errorf("failed to write %s: %w", outputName(b.options.output), err)
	}
	return nil
}

// cutOff leaves the output as far as it got and returns why.
func (b *batch) cutOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	err = fmt.Errorf("%w; %d rows are done", err, b.done.rows)
	if stopErr := b.w.stop(); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("failed to write %s: %w", outputName(b.options.output), stopErr))
	}
	return err
}

// one writes and counts the outcome of a row.
func (b *batch) one(o toxscreen.Outcome[row]) error {
	failure := ""
	if o.Err == nil {
		o.Result = o.Result.In(b.unit, o.Row.text)
	} else {
		failure = o.Err.Error()
	}
	if err := b.w.write(o); err != nil {
		return fmt.Errorf("failed to write %s: %w", outputName(b.options.output), err)
	}
	b.done.add(failure, o.Result.Flagged, b.limits, scoreOf(o.Result))
	return nil
}

// summary says on standard error what a complete output holds.
func (b *batch) summary() {
	if b.options.quiet {
		return
	}
	before := ""
	if b.shown.before > 0 {
		before = fmt.Sprintf(" (%d of them before)", b.shown.before)
	}
	fmt.Fprintf(b.err, "toxscreen: %d rows%s in %.1f s, %.0f a second: %d flagged, %d failed\n",
		b.done.rows, before, time.Since(b.shown.began).Seconds(), b.shown.rate(b.done), b.done.flagged, b.done.failed)
	if b.done.failed > 0 {
		fmt.Fprintf(b.err, "toxscreen: the first to fail was %s\n", printable(b.done.firstFailure))
	}
}

// readAhead is how many bytes of rows are in memory at once, unless a single
// row has more.
const readAhead = 64 << 20

// budget bounds the memory of the rows that are read but not written: Batch
// bounds their number, which is not enough where each has megabytes.
type budget struct {
	lock  sync.Mutex
	left  int
	whole int
	freed chan struct{} // holds one signal
}

func newBudget(bytes int) *budget {
	return &budget{left: bytes, whole: bytes, freed: make(chan struct{}, 1)}
}

// take waits until there is room. It returns false when ctx ends first. Only
// one goroutine may take.
func (b *budget) take(ctx context.Context, bytes int) bool {
	for {
		b.lock.Lock()
		fits := bytes <= b.left || b.left == b.whole
		if fits {
			b.left -= bytes
		}
		b.lock.Unlock()
		if fits {
			return true
		}
		select {
		case <-b.freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *budget) give(bytes int) {
	b.lock.Lock()
	b.left += bytes
	b.lock.Unlock()
	select {
	case b.freed <- struct{}{}:
	default: // the signal that is there already tells as much
	}
}
