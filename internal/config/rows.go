package config

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/input"
)

// AddRowFlags adds the flags of commands that read and write rows.
func AddRowFlags(cmd *cobra.Command, o *rows.Options) {
	flags := cmd.Flags()
	flags.StringVarP(&o.Input, "input", "i", "", "`FILE` to read: .jsonl, .ndjson, .csv, .tsv, .txt, also with .gz or .zst, .parquet, or - for standard input; a folder or a pattern for many")
	flags.StringVarP(&o.Output, "output", "o", "", "`FILE` to write: .jsonl, .ndjson, .csv, .tsv, .parquet, or - for JSONL; a folder for many inputs")
	flags.StringVar(&o.TextColumn, "text-column", "text", "column or field with the text")
	flags.String("id-column", "id", "column or field with the id of the row")
	flags.BoolVar(&o.KeepText, "keep-text", false, "write the text beside its result")
	flags.BoolVar(&o.Resume, "resume", false, "continue an interrupted run")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace an existing output")
	flags.BoolP("quiet", "q", false, "show neither progress nor summary")
	AddReadFlags(cmd, o)
	flags.StringVar((*string)(&o.OutputFormat), "output-format", "", "format of the outputs in a folder: jsonl, csv, tsv or parquet; default: that of each input, jsonl for text")
	flags.String("shard", "", "part of many inputs to do, like `3/16`: number 3 of 16 parts, counted from 0; all of them by default")
	flags.Int("row-group", 10000, "rows per Parquet row group; after a kill, --resume repeats at most one group")
	usage.InGroup(cmd, usage.InputOutput, "input", "output", "text-column", "id-column", "keep-text", "resume", "overwrite", "quiet",
		"input-format", "input-encoding", "delimiter", "escape", "output-format", "shard", "row-group")
	_ = cmd.MarkFlagFilename("input", append(fileTypes(rows.InputFormats()), "gz", "zst")...)
	_ = cmd.MarkFlagFilename("output", fileTypes(rows.OutputFormats())...)
	_ = cmd.RegisterFlagCompletionFunc("output-format", OneOf(rows.OutputFormats()...))
}

// optionFlags maps the fields of [rows.Options] to flags, for errors.
var optionFlags = map[string]string{
	"Input": "--input", "Output": "--output", "InputFormat": "--input-format", "OutputFormat": "--output-format", "InputEncoding": "--input-encoding",
	"Delimiter": "--delimiter", "Escape": "--escape", "TextColumn": "--text-column", "IDColumn": "--id-column", "KeepText": "--keep-text", "Shard": "--shard",
	"Resume": "--resume", "Overwrite": "--overwrite", "Redo": "--redo judge", "RowGroup": "--row-group", "MaxBytes": "--max-bytes", "OffsetUnit": "--offset-unit",
	"Limits": "--fail-on",
}

// AddReadFlags adds the flags of commands that read rows.
func AddReadFlags(cmd *cobra.Command, o *rows.Options) {
	o.OptionName = func(field string) string { return optionFlags[field] }
	flags := cmd.Flags()
	flags.StringVar((*string)(&o.InputFormat), "input-format", "", "format of the input: jsonl, csv, tsv, parquet, or lines for plain text; default: as its name says, jsonl for -")
	flags.StringVar(&o.InputEncoding, "input-encoding", "", "`NAME` of the encoding of an input in text, like windows-1252; default: UTF-8, or UTF-16 by its byte order mark")
	flags.String("delimiter", "", "what separates the columns of a CSV input: one `CHARACTER`, or tab; default: a comma, or as its first line says, like sep=;")
	flags.String("escape", "", "`CHARACTER` before a quote inside the quotes of a CSV or TSV input, like \\ in what Spark writes; default: quotes are doubled")
	_ = cmd.RegisterFlagCompletionFunc("input-format", OneOf(rows.InputFormats()...))
	_ = cmd.RegisterFlagCompletionFunc("input-encoding", OneOf("windows-1252", "latin1", "utf-16le", "shift_jis"))
}

// ThresholdSettings returns the settings on which thresholds depend.
func (s *Settings) ThresholdSettings() ([]rows.Setting, error) {
	thresholds, err := json.Marshal(s.Thresholds)
	return []rows.Setting{{Name: "--sensitivity", Value: string(s.Sensitivity)}, {Name: "the thresholds", Value: string(thresholds)}}, err
}

// fileTypes returns the file endings of formats in the form of completions.
func fileTypes(formats []rows.Format) []string {
	var types []string
	for _, ending := range input.Endings(formats) {
		types = append(types, strings.TrimPrefix(ending, "."))
	}
	return types
}

// ReadOptions completes the options with the values of the flags of [AddReadFlags].
func ReadOptions(cmd *cobra.Command, o *rows.Options) error {
	for name, character := range map[string]*byte{"delimiter": &o.Delimiter, "escape": &o.Escape} {
		if !cmd.Flags().Changed(name) {
			continue
		}
		value, _ := cmd.Flags().GetString(name)
		if value == "tab" || value == `\t` {
			value = "\t"
		}
		if len(value) != 1 {
			return usage.Wrong("--%s: %q is neither one ASCII character nor tab", name, value)
		}
		*character = value[0]
	}
	return nil
}

// RowOptions completes the options with the values of the flags of [AddRowFlags], and
// checks them.
func (s *Settings) RowOptions(cmd *cobra.Command, o rows.Options) (rows.Options, error) {
	flags := cmd.Flags()
	o.MaxBytes, o.OffsetUnit, o.Limits = s.MaxBytes, s.OffsetUnit, s.FailOn
	if flags.Changed("id-column") {
		o.IDColumn, _ = flags.GetString("id-column")
	}
	if flags.Changed("row-group") {
		o.RowGroup, _ = flags.GetInt("row-group")
	}
	if flags.Changed("redo") {
		if what, _ := flags.GetString("redo"); what != "judge" {
			return o, usage.Wrong("--redo: %q is unknown: it must be judge", what)
		}
		o.Redo = true
	}
	if flags.Changed("shard") {
		value, _ := flags.GetString("shard")
		var err error
		if o.Shard, err = rows.ParseShard(value); err != nil {
			return o, usage.Wrong("--shard: %w", err)
		}
	}
	if err := ReadOptions(cmd, &o); err != nil {
		return o, err
	}
	switch {
	case o.Input == "":
		return o, usage.Wrong("the input is missing: name it with -i FILE, or -i - for standard input")
	case o.Output == "":
		return o, usage.Wrong("the output is missing: name it with -o FILE, or -o - for standard output")
	// Empty and zero options mean their defaults, so a flag must not set them.
	case o.TextColumn == "":
		return o, usage.Wrong("--text-column: the name is empty")
	case o.IDColumn == "" && flags.Changed("id-column"):
		return o, usage.Wrong("--id-column: the name is empty")
	case o.RowGroup == 0 && flags.Changed("row-group"):
		return o, usage.Wrong("--row-group: 0 is not in 1..%d", rows.MaxRowGroup)
	}
	if err := o.Validate(); err != nil {
		return o, usage.Wrong("%w", err)
	}
	return o, nil
}
