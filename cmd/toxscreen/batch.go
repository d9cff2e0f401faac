package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) batchCommand() *cobra.Command {
	o := &rows.Options{}
	cmd := &cobra.Command{
		Use:   "batch -i FILE -o FILE",
		Short: "Score each row of a file",
		Long: `Score each row of a JSONL, CSV, TSV or Parquet file, or each line of a text file, and
write one result per row, in order, as JSONL, CSV, TSV or Parquet. The file extension
decides the format; - is standard input and output, which are JSONL. --input-format
names the format of an input whose name does not tell it. Text that is compressed with
gzip or zstd is unpacked, with or without .gz or .zst at the end of its name. A row that
cannot be scored gets a result with an error, and the run continues. --resume continues
an interrupted run. --redo judge asks the judge again about the rows of a complete output
whose verdict failed. The exit code is 3 if rows failed, if they are in a language that the
model does not know, or if the judge was asked and gave no verdict.

The input can also be a folder or a pattern in quotes. The output is then a folder with one
output per input. --shard 3/16 does one of 16 parts of that, numbered 0 to 15, so that
16 machines can share the work.`,
		Example: `  toxscreen batch -i comments.jsonl -o scored.jsonl
  toxscreen batch -i comments.csv.gz --text-column comment -o scored.parquet
  toxscreen batch -i export.csv --delimiter ';' -o scored.csv
  toxscreen batch -i comments.txt -o scored.jsonl --keep-text
  toxscreen batch -i comments.jsonl -o scored.jsonl --resume
  toxscreen batch -i comments.jsonl -o scored.jsonl --redo judge
  toxscreen batch -i 'comments/*.parquet' -o scored --shard 3/16 --resume
  ssh archive cat comments.parquet | toxscreen batch -i - --input-format parquet -o scored.parquet
  toxscreen batch -i comments.jsonl.zst -o - | jq 'select(.flagged)'`,
		SuggestFor: []string{"csv", "file", "files", "jsonl", "rows"},
		RunE:       config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error { return a.batch(cmd, s, *o) }),
	}
	config.AddRowFlags(cmd, o)
	cmd.Flags().String("redo", "", "judge: ask the judge again about rows of a complete output whose verdict failed, and keep the others")
	usage.InGroup(cmd, usage.InputOutput, "redo")
	_ = cmd.RegisterFlagCompletionFunc("redo", config.OneOf("judge"))
	config.AddPIIFlag(cmd)
	config.AddFlags(cmd, "fail_on")
	config.AddScreenerFlags(cmd)
	return cmd
}

// rowsFlags returns the flags with which batch reads a file, empty if the file's name is
// not that of a file with rows.
func rowsFlags(file string) string {
	for _, output := range []string{"results" + filepath.Ext(file), "results.jsonl", "results"} {
		if (rows.Options{Input: file, Output: output}).Validate() == nil {
			return "-i " + usage.Quoted(file) + " -o " + output
		}
	}
	return ""
}

func (a *app) batch(cmd *cobra.Command, s *config.Settings, o rows.Options) error {
	o.Stdin, o.Stdout = a.in, a.out
	o, err := s.RowOptions(cmd, o)
	if err != nil {
		return err
	}
	if err := s.ReadPIIFlag(cmd); err != nil {
		return err
	}
	quiet, _ := cmd.Flags().GetBool("quiet")
	shown := terminal.Progress{W: a.err}
	if !quiet && terminal.Is(a.err) {
		o.Progress = at(&shown)
	}
	job, err := rows.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer job.Close()
	// A judge that restarts delays the rows. Otherwise they would all be done before it is back.
	s.Judge.Patient = true
	warn := a.warnOnce()
	s.OnTrust = func(t screen.Trust) { shown.Aside(func() { warn(t) }) }
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	shown.Waits = screener.JudgeWaits
	settings, err := s.ThresholdSettings()
	if err != nil {
		return err
	}
	settings = append(settings,
		rows.Setting{Name: "--provider", Value: string(s.Provider)},
		rows.Setting{Name: "the judge", Value: screener.JudgedBy()},
		rows.Setting{Name: "--calibration", Value: screener.Calibration()})
	if s.WithPII {
		more, err := s.FinderSettings()
		if err != nil {
			return err
		}
		settings = append(settings, more...)
	}
	summary, err := job.Score(screener.Screener, settings...)
	shown.End()
	if err != nil {
		return toContinue(err, o)
	}
	if !quiet {
		a.noRows(job, o)
		notDecided := ""
		if summary.NotDecided > 0 {
			notDecided = fmt.Sprintf(", %d not decided", summary.NotDecided)
		}
		a.summarize(summary, o, fmt.Sprintf("%d flagged, %d failed%s", summary.Flagged, summary.Failed, notDecided))
	}
	if !quiet && screener.HasJudge() {
		a.summarizeJudge(summary, o.Output != rows.Standard && slices.Equal(job.Outputs(), []string{o.Output}))
	}
	return ended(summary.Reached > 0, summary.Failed > 0 || summary.NotDecided > 0 || summary.Unjudged() > 0)
}

// stateOf returns how far a run is.
func stateOf(s rows.Summary) terminal.State {
	return terminal.State{Rows: s.Rows, Before: s.Before, Duration: s.Duration}
}

// at returns a function that shows the progress of a run.
func at(shown *terminal.Progress) func(rows.Progress) {
	return func(now rows.Progress) {
		state := stateOf(now.Summary)
		state.At, state.Length = now.At, now.Length
		shown.At(state)
	}
}

// toContinue adds how to continue to the error of an interrupted run.
func toContinue(err error, o rows.Options) error {
	if _, ok := errors.AsType[*rows.UnfinishedError](err); ok && o.Overwrite {
		return usage.WithHint(err, "to continue, run the same command with --resume in place of --overwrite")
	} else if ok {
		return usage.WithHint(err, "to continue, run the same command with --resume")
	}
	return err
}

// noRows says that a shard has no rows, which is no failure.
func (a *app) noRows(job *rows.Job, o rows.Options) {
	if len(job.Outputs()) == 0 {
		fmt.Fprintf(a.err, "toxscreen: shard %s gets no rows: there are fewer files and row groups than shards\n", o.Shard)
	}
}

// summarize prints the summary of a complete output on standard error. counts are what was
// found.
func (a *app) summarize(s rows.Summary, o rows.Options, counts string) {
	before := ""
	if s.Before > 0 {
		before = fmt.Sprintf(" (%d of them in earlier runs)", s.Before)
	}
	fmt.Fprintf(a.err, "toxscreen: %s%s in %.1f s, %s per second: %s\n", plural.Count(s.Rows, "row", "rows"), before, s.Duration.Seconds(), stateOf(s).Rate(), counts)
	if s.Failed > 0 {
		fmt.Fprintf(a.err, "toxscreen: first failure: %s\n", terminal.Escape(s.FirstFailure))
	}
	if s.Undecodable > 0 {
		fmt.Fprintf(a.err, "toxscreen: %s\n", terminal.Escape(undecodable(s.Undecodable, o)))
	}
	if s.Nonfinite > 0 {
		fmt.Fprintf(a.err, "toxscreen: %s NaN or Infinity, which JSON does not have; they are null in the output\n", plural.Count(s.Nonfinite, "row holds", "rows hold"))
	}
}

// undecodable says that rows of an input are not in its encoding.
func undecodable(number int64, o rows.Options) string {
	hold := plural.Count(number, "row holds", "rows hold")
	if o.InputEncoding == "" {
		return fmt.Sprintf("%s bytes that are not UTF-8; if the input has another encoding, name it, like --input-encoding windows-1252", hold)
	}
	return fmt.Sprintf("%s bytes that are not %s; if the input has another encoding, name that with --input-encoding", hold, o.InputEncoding)
}

// summarizeJudge prints what the judge was asked and how it answered. again tells whether
// it can be asked again about the texts that have no verdict.
func (a *app) summarizeJudge(s rows.Summary, again bool) {
	fmt.Fprintf(a.err, "toxscreen: the judge: %d asked, %s, %d failed, %d not believed\n", s.Asked, plural.Count(s.Verdicts, "verdict", "verdicts"), s.Unjudged(), s.NotBelieved)
	if s.Unjudged() == 0 {
		return
	}
	fmt.Fprintf(a.err, "toxscreen: first text without a verdict: %s\n", terminal.Escape(s.FirstUnjudged))
	if again {
		fmt.Fprintln(a.err, "to ask the judge again about these texts only, run the same command with --redo judge")
	}
}
