package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/migration"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
)

// migrateOptions are the flags of migrate that are not configuration keys.
type migrateOptions struct {
	columns migration.Columns
	reading rows.Options // how files are read

	input, old, updated, output string
	newColumn                   string
	thresholds                  []string
	examples                    int
	overwrite                   bool
}

func (a *app) migrateCommand() *cobra.Command {
	o := &migrateOptions{columns: migration.Columns{Old: true}}
	cmd := &cobra.Command{
		Use:   "migrate -i FILE -o FOLDER",
		Short: "Compare old scores with toxscreen's and carry thresholds over",
		Long: `Compare scores of another system, such as the Perspective API, or labels with
toxscreen's scores of the same texts, and write a report into a folder: how alike
both rank the texts, which new threshold stands for each old one, and which texts
are decided otherwise. The whole network scores the texts of -i; or name two files
that have scores already, with --old and --new, whose rows are matched by id.
Files are JSONL, CSV, TSV or Parquet. Old scores are in "old", like {"toxicity": 0.7},
with toxscreen's or Perspective's names, or as whole answers of the Perspective API;
labels, the share of people who say that an attribute applies, are in "labels".
Texts of -i are scored on each scale that the model has. The report proposes thresholds and changes none.`,
		Example: `  toxscreen migrate -i comments.jsonl -o report
  toxscreen migrate -i comments.csv --old-column perspective --old-threshold 0.8 --group-column forum -o report
  toxscreen migrate --old perspective.jsonl --new scored.jsonl -o report`,
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error { return a.migrate(cmd, s, o) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input, "input", "i", "", "`FILE` with texts and old scores or labels, or - for standard input")
	flags.StringVar(&o.old, "old", "", "`FILE` with the old scores, in place of --input")
	flags.StringVar(&o.updated, "new", "", "`FILE` with the new scores, such as an output of batch --full")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for report.html, report.md and report.json; created if missing")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing report")
	config.AddReadFlags(cmd, &o.reading)
	flags.StringVar(&o.columns.Text, "text-column", "text", "column or field with the text")
	flags.StringVar(&o.reading.IDColumn, "id-column", "", "column or field with the id of the row; default: id")
	flags.StringVar(&o.columns.Scores, "old-column", "", "column or field with the old scores; a number is the toxicity; default: old, attributes, attributeScores, or columns with the attributes' names")
	flags.StringVar(&o.newColumn, "new-column", "", "column or field with the new scores of --new; default: as for --old-column, without old")
	flags.StringVar(&o.columns.Labels, "label-column", "labels", "column or field with the labels")
	flags.StringVar(&o.columns.Language, "language-column", "language", "column or field with the language of the text")
	flags.StringArrayVar(&o.columns.Groups, "group-column", nil, "`COLUMN` or field with a group of the text, to report each group; repeatable")
	flags.StringArrayVar(&o.thresholds, "old-threshold", nil, "`SCORE` that is the threshold in use on the old scores, like 0.8 for all attributes or threat=0.5; repeatable; default: "+strconv.FormatFloat(migration.InUse, 'f', -1, 64))
	flags.IntVar(&o.examples, "examples", 10, "texts to show for each attribute and direction; 0: no texts in the report")
	usage.InGroup(cmd, usage.InputOutput, "input", "old", "new", "output", "overwrite", "input-format", "input-encoding", "delimiter", "escape", "text-column", "id-column", "old-column", "new-column", "label-column", "language-column", "group-column", "examples")
	usage.InGroup(cmd, usage.Decisions, "old-threshold")
	config.AddFlags(cmd, "format", "max_bytes", "calibration")
	config.AddFlags(cmd, config.ModelKeys...)
	for _, name := range []string{"input", "old", "new"} {
		_ = cmd.MarkFlagFilename(name, "jsonl", "ndjson", "csv", "tsv", "parquet", "gz", "zst")
	}
	_ = cmd.RegisterFlagCompletionFunc("old-threshold", config.CompleteAttributes)
	return cmd
}

// check refuses an invalid command line and returns the options of the comparison.
func (o *migrateOptions) check() (migration.Options, error) {
	c := migration.Options{Groups: o.columns.Groups, Examples: o.examples, Input: cmp.Or(o.input, o.old+" and "+o.updated)}
	switch {
	case o.input == "" && o.old == "" && o.updated == "":
		return c, usage.Wrong("the input is missing: name it with -i FILE, or -i - for standard input; or name two scored files with --old and --new")
	case o.input != "" && (o.old != "" || o.updated != ""):
		return c, usage.Wrong("-i is scored by toxscreen, --old and --new have scores already: use either of them")
	case o.input == "" && (o.old == "" || o.updated == ""):
		return c, usage.Wrong("--old and --new belong together: give both")
	case o.input != "" && o.newColumn != "":
		return c, usage.Wrong("--new-column is for --new: the new scores of -i are computed")
	case o.old == rows.Standard && o.updated == rows.Standard:
		return c, usage.Wrong("only one of --old and --new can be standard input")
	case o.output == "":
		return c, usage.Wrong("the output is missing: name a folder with -o FOLDER")
	case o.examples < 0 || o.examples > 1000:
		return c, usage.Wrong("--examples: %d is not in 0..1000", o.examples)
	}
	var all []float64
	for _, given := range o.thresholds {
		if strings.Contains(given, "=") {
			if err := config.SetScore(&c.InUse, given); err != nil {
				return c, usage.Wrong("--old-threshold: %w", err)
			}
			continue
		}
		p, err := config.ParseProbability(given)
		if err != nil {
			return c, usage.Wrong("--old-threshold: %w; it must be like 0.8 or threat=0.5", err)
		}
		all = append(all, p)
	}
	if len(all) > 1 {
		return c, usage.Wrong("--old-threshold is there twice for all attributes: give one, and others like threat=0.5")
	}
	for _, attribute := range toxscreen.Attributes() {
		if _, ok := c.InUse.Get(attribute); !ok && len(all) > 0 {
			c.InUse.Set(attribute, all[0])
		}
	}
	return c, nil
}

func (a *app) migrate(cmd *cobra.Command, s *config.Settings, o *migrateOptions) error {
	c, err := o.check()
	if err != nil {
		return err
	}
	if err := config.ReadOptions(cmd, &o.reading); err != nil {
		return err
	}
	if err := mayReport(o.output, o.overwrite); err != nil {
		return err
	}
	var pairs []migration.Pair
	if o.input != "" {
		pairs, err = a.scorePairs(cmd.Context(), s, o, &c)
	} else {
		pairs, err = a.matchPairs(cmd.Context(), s, o, &c)
	}
	if err != nil {
		return columnHint(err)
	}
	results, err := migration.Measure(cmd.Context(), pairs, c)
	if err != nil {
		return columnHint(err)
	}
	if err := results.Document().Save(o.output, results); err != nil {
		return err
	}
	err = a.show(s.Format, results, results.Summary()+"report: "+filepath.Join(o.output, report.HTMLFile)+"\n")
	if err == nil && results.LeftOut.Failed > 0 {
		return exit{code: exitPartly}
	}
	return err
}

// columnHint adds the flags for a column that was looked for in vain.
func columnHint(err error) error {
	if missing, ok := errors.AsType[*migration.ColumnError](err); ok {
		return usage.WithHint(err, "name their column with --"+strings.Join(missing.Columns, "-column or --")+"-column")
	}
	return err
}

// readRows reads all rows of a file.
func (a *app) readRows(ctx context.Context, s *config.Settings, o *migrateOptions, path string, columns migration.Columns) (migration.Table, error) {
	in := migration.Reading(o.reading, path, o.input == "")
	in.Stdin, in.MaxBytes = a.in, s.MaxBytes
	table, err := migration.Read(ctx, in, columns)
	if err == nil && table.Undecodable > 0 {
		a.warn(fmt.Sprintf("%s: %s", path, undecodable(table.Undecodable, in)))
	}
	return table, err
}

// scorePairs reads the rows of --input and scores their texts with the whole network.
func (a *app) scorePairs(ctx context.Context, s *config.Settings, o *migrateOptions, c *migration.Options) ([]migration.Pair, error) {
	table, err := a.readRows(ctx, s, o, o.input, o.columns)
	if err != nil {
		return nil, err
	}
	s.Scale, s.Full, s.NoJudge = "", true, "a migration compares the scores of the classifier" // on all scales
	screener, err := openScreener(s)
	if err != nil {
		return nil, err
	}
	defer screener.Close()
	c.Old, c.New = table.Scored(o.columns.Scores), screener.Info().Version
	failed := false
	defer a.showLine("")
	return migration.Score(ctx, screener.Screener, screener.OtherScales(), table.Rows, func(pair migration.Pair) {
		if pair.Failed != "" && !failed {
			failed = true
			a.warn(fmt.Sprintf("first failure: row %d: %s", pair.Number, pair.Failed))
		}
	}, func(done, of int) { a.showLine(fmt.Sprintf("%d of %s", done, plural.Count(of, "score", "scores"))) })
}

// matchPairs reads the rows of --old and --new and matches them.
func (a *app) matchPairs(ctx context.Context, s *config.Settings, o *migrateOptions, c *migration.Options) ([]migration.Pair, error) {
	before, err := a.readRows(ctx, s, o, o.old, o.columns)
	if err != nil {
		return nil, err
	}
	columns := o.columns
	columns.Scores, columns.Old = o.newColumn, false
	after, err := a.readRows(ctx, s, o, o.updated, columns)
	if err != nil {
		return nil, err
	}
	c.Old, c.New = before.Scored(o.columns.Scores), cmp.Or(after.Model, o.updated)
	pairs, unmatched, err := migration.Match(before.Rows, after.Rows)
	c.Unmatched = unmatched
	return pairs, err
}
