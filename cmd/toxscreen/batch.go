package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/rows"
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
		Args:              arguments(0, 0, ""),
		SuggestFor:        []string{"csv", "file", "files", "jsonl", "rows"},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.batch(cmd, *o) },
	}
	addRowFlags(cmd, o)
	cmd.Flags().String("redo", "", "judge: ask the judge again about rows of a complete output whose verdict failed, and keep the others")
	inGroup(cmd, ioGroup, "redo")
	_ = cmd.RegisterFlagCompletionFunc("redo", oneOf("judge"))
	addPIIFlag(cmd)
	addFlags(cmd, "fail_on")
	addScreenerFlags(cmd)
	return cmd
}

// addRowFlags adds the flags of commands that read and write rows.
func addRowFlags(cmd *cobra.Command, o *rows.Options) {
	flags := cmd.Flags()
	flags.StringVarP(&o.Input, "input", "i", "", "`FILE` to read: .jsonl, .ndjson, .csv, .tsv, .txt, also with .gz or .zst, .parquet, or - for standard input; a folder or a pattern for many")
	flags.StringVarP(&o.Output, "output", "o", "", "`FILE` to write: .jsonl, .ndjson, .csv, .tsv, .parquet, or - for JSONL; a folder for many inputs")
	flags.StringVar(&o.TextColumn, "text-column", "text", "column or field with the text")
	flags.String("id-column", "id", "column or field with the id of the row")
	flags.BoolVar(&o.KeepText, "keep-text", false, "write the text beside its result")
	flags.BoolVar(&o.Resume, "resume", false, "continue an interrupted run")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace an existing output")
	flags.BoolP("quiet", "q", false, "show neither progress nor summary")
	addReadFlags(cmd, o)
	flags.StringVar((*string)(&o.OutputFormat), "output-format", "", "format of the outputs in a folder: jsonl, csv, tsv or parquet; default: that of each input, jsonl for text")
	flags.String("shard", "", "part of many inputs to do, like `3/16`: number 3 of 16 parts, counted from 0; all of them by default")
	flags.Int("row-group", 10000, "rows per Parquet row group; after a kill, --resume repeats at most one group")
	inGroup(cmd, ioGroup, "input", "output", "text-column", "id-column", "keep-text", "resume", "overwrite", "quiet",
		"input-format", "input-encoding", "delimiter", "escape", "output-format", "shard", "row-group")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson", "csv", "tsv", "parquet", "txt", "gz", "zst")
	_ = cmd.MarkFlagFilename("output", "jsonl", "ndjson", "csv", "tsv", "parquet")
	_ = cmd.RegisterFlagCompletionFunc("output-format", completeRowFormats(rows.OutputFormats()))
}

// optionFlags are the flags of the options in fields of [rows.Options], for its errors.
var optionFlags = map[string]string{
	"Input": "--input", "Output": "--output", "InputFormat": "--input-format", "OutputFormat": "--output-format", "InputEncoding": "--input-encoding",
	"Delimiter": "--delimiter", "Escape": "--escape", "TextColumn": "--text-column", "IDColumn": "--id-column", "KeepText": "--keep-text", "Shard": "--shard",
	"Resume": "--resume", "Overwrite": "--overwrite", "Redo": "--redo judge", "RowGroup": "--row-group", "MaxBytes": "--max-bytes", "OffsetUnit": "--offset-unit",
	"Limits": "--fail-on",
}

// addReadFlags adds the flags of commands that read rows.
func addReadFlags(cmd *cobra.Command, o *rows.Options) {
	o.OptionName = func(field string) string { return optionFlags[field] }
	flags := cmd.Flags()
	flags.StringVar((*string)(&o.InputFormat), "input-format", "", "format of the input: jsonl, csv, tsv, parquet, or lines for plain text; default: as its name says, jsonl for -")
	flags.StringVar(&o.InputEncoding, "input-encoding", "", "`NAME` of the encoding of an input in text, like windows-1252; default: UTF-8, or UTF-16 by its byte order mark")
	flags.String("delimiter", "", "what separates the columns of a CSV input: one `CHARACTER`, or tab; default: a comma, or as its first line says, like sep=;")
	flags.String("escape", "", "`CHARACTER` before a quote inside the quotes of a CSV or TSV input, like \\ in what Spark writes; default: quotes are doubled")
	_ = cmd.RegisterFlagCompletionFunc("input-format", completeRowFormats(rows.InputFormats()))
	_ = cmd.RegisterFlagCompletionFunc("input-encoding", oneOf("windows-1252", "latin1", "utf-16le", "shift_jis"))
}

func completeRowFormats(formats []rows.Format) cobra.CompletionFunc {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return oneOf(names...)
}

// readOptions completes the options that the flags of [addReadFlags] set.
func readOptions(cmd *cobra.Command, o *rows.Options) error {
	for name, character := range map[string]*byte{"delimiter": &o.Delimiter, "escape": &o.Escape} {
		if !cmd.Flags().Changed(name) {
			continue
		}
		value, _ := cmd.Flags().GetString(name)
		if value == "tab" || value == `\t` {
			value = "\t"
		}
		if len(value) != 1 {
			return wrongUsage("--%s: %q is neither one ASCII character nor tab", name, value)
		}
		*character = value[0]
	}
	return nil
}

// batchOptions completes the options that the flags set.
func (a *app) batchOptions(cmd *cobra.Command, s *settings, o rows.Options) (rows.Options, error) {
	flags := cmd.Flags()
	o.Stdin, o.Stdout, o.MaxBytes, o.OffsetUnit, o.Limits = a.in, a.out, s.MaxBytes, s.OffsetUnit, s.FailOn
	if flags.Changed("id-column") {
		o.IDColumn, _ = flags.GetString("id-column")
	}
	if flags.Changed("row-group") {
		o.RowGroup, _ = flags.GetInt("row-group")
	}
	if flags.Changed("redo") {
		if what, _ := flags.GetString("redo"); what != "judge" {
			return o, wrongUsage("--redo: %q is unknown: it must be judge", what)
		}
		o.Redo = true
	}
	if flags.Changed("shard") {
		value, _ := flags.GetString("shard")
		var err error
		if o.Shard, err = rows.ParseShard(value); err != nil {
			return o, wrongUsage("--shard: %w", err)
		}
	}
	if err := readOptions(cmd, &o); err != nil {
		return o, err
	}
	switch {
	case o.Input == "":
		return o, wrongUsage("the input is missing: name it with -i FILE, or -i - for standard input")
	case o.Output == "":
		return o, wrongUsage("the output is missing: name it with -o FILE, or -o - for standard output")
	// Empty or zero options mean their defaults, so flags must not set them.
	case o.TextColumn == "":
		return o, wrongUsage("--text-column: the name is empty")
	case o.IDColumn == "" && flags.Changed("id-column"):
		return o, wrongUsage("--id-column: the name is empty")
	case o.RowGroup == 0 && flags.Changed("row-group"):
		return o, wrongUsage("--row-group: 0 is not in 1..%d", rows.MaxRowGroup)
	}
	if err := o.Validate(); err != nil {
		return o, wrongUsage("%w", err)
	}
	return o, nil
}

func (a *app) batch(cmd *cobra.Command, o rows.Options) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	if o, err = a.batchOptions(cmd, s, o); err != nil {
		return err
	}
	if err := withPII(cmd, s); err != nil {
		return err
	}
	quiet, _ := cmd.Flags().GetBool("quiet")
	shown := progress{w: a.err}
	if !quiet && isTerminal(a.err) {
		o.Progress = shown.at
	}
	job, err := rows.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer job.Close()
	// A judge that restarts delays the rows. Otherwise they would all be done before it is back.
	s.Judge.Patient = true
	s.Judge.OnTrust = shown.aside(a.warnOnce())
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	shown.waits = screener.JudgeWaits
	thresholds, err := json.Marshal(s.Thresholds)
	if err != nil {
		return err
	}
	settings := []rows.Setting{
		{Name: "--provider", Value: string(s.Provider)},
		{Name: "the judge", Value: screener.JudgedBy()},
		{Name: "--calibration", Value: screener.Calibration()},
		{Name: "the thresholds", Value: string(thresholds)},
	}
	if s.WithPII {
		more, err := finderSettings(s)
		if err != nil {
			return err
		}
		settings = append(settings, more...)
	}
	summary, err := job.Score(screener.Screener, settings...)
	shown.end()
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
	switch {
	case summary.Reached > 0:
		return exit{code: exitReached}
	case summary.Failed > 0 || summary.NotDecided > 0 || summary.Unjudged() > 0:
		return exit{code: exitPartly}
	}
	return nil
}

// toContinue adds how to continue to the error of an interrupted run.
func toContinue(err error, o rows.Options) error {
	if _, ok := errors.AsType[*rows.UnfinishedError](err); ok && o.Overwrite {
		return hinted{err, "to continue, run the same command with --resume in place of --overwrite"}
	} else if ok {
		return hinted{err, "to continue, run the same command with --resume"}
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
	fmt.Fprintf(a.err, "toxscreen: %s%s in %.1f s, %s per second: %s\n", plural.Count(s.Rows, "row", "rows"), before, s.Duration.Seconds(), rate(s), counts)
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
