package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/fairness"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
)

// fairnessOptions are the flags of evaluate fairness that are not configuration keys.
type fairnessOptions struct {
	fairness.Rows

	input            rows.Options
	output           string
	overwrite, quiet bool
	attribute        string
	sample, minSize  int
	seed             uint64
	failOn           []string
}

// defaultSample is the number of sentences of each set of templates. Two cores score them
// in about a minute.
const defaultSample = 31_000

func (a *app) evaluateFairnessCommand() *cobra.Command {
	o := &fairnessOptions{}
	cmd := &cobra.Command{
		Use:   "fairness [-i FILE --group-column NAME] [-o FOLDER]",
		Short: "Measure whether texts about different people are scored alike",
		Long: `Measure whether texts about different people are scored alike: subgroup, BPSN and BNSP
AUC, average equality gaps and error rates for each group and each intersection of two,
and how scores shift when one group's name replaces another's, all with intervals of
95 %. Without -i, the texts are Perspective's Sentence Templates in English. With -i, they
are rows with a label and groups. The whole network scores them, without a judge.`,
		Example: `  toxscreen evaluate fairness -o fairness
  toxscreen evaluate fairness -m mine --sample 0 --fail-on subgroup_auc=0.95
  toxscreen evaluate fairness -i labelled.jsonl --group-column target -o fairness
  toxscreen evaluate fairness -i civil.csv --text-column comment_text --label-column target --group-column female,muslim,black`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.fairness(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input.Input, "input", "i", "", "`FILE` of rows, as for batch, or - for standard input; default: the templates")
	addReadFlags(cmd, &o.input)
	flags.StringVar(&o.input.TextColumn, "text-column", "text", "column or field with the text")
	flags.StringVar(&o.Label, "label-column", "label", "column or field with the label, in 0..1; default: label, else the attribute in labels")
	flags.StringSliceVar(&o.Groups, "group-column", nil, "`COLUMN` or field with the groups of a row; repeatable")
	flags.StringVar(&o.Template, "template-column", "", "column or field that is equal in rows that differ in the group only")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for report.html, report.md and report.json")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace the reports in the folder")
	flags.StringVar(&o.attribute, "attribute", toxscreen.Toxicity.String(), "attribute whose scores are measured")
	flags.IntVar(&o.minSize, "min-size", 30, "toxic or clean texts, or templates, that a measure of a group needs")
	flags.IntVar(&o.sample, "sample", defaultSample, "sentences drawn of each set of templates; 0: all")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the intervals")
	flags.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 4 if the lowest subgroup_auc, bpsn_auc or bnsp_auc of a group is under a `LIMIT`, like subgroup_auc=0.9; repeatable")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	inGroup(cmd, ioGroup, "input", "output", "overwrite", "quiet", "text-column", "label-column", "group-column", "template-column", "input-format", "input-encoding", "delimiter", "escape")
	inGroup(cmd, sampleGroup, "attribute", "sample", "min-size", "seed")
	inGroup(cmd, decisionGroup, "fail-on")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson", "csv", "tsv", "parquet", "gz", "zst")
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.RegisterFlagCompletionFunc("attribute", cobra.FixedCompletions(attributeNames(), cobra.ShellCompDirectiveNoFileComp))
	addThresholdFlag(cmd, "the model's")
	addFlags(cmd, "format", "max_bytes", "calibration")
	addFlags(cmd, modelFlags...)
	return cmd
}

func attributeNames() []string {
	var names []string
	for _, a := range toxscreen.Attributes() {
		names = append(names, a.String())
	}
	return names
}

// check refuses options that make no sense.
func (o *fairnessOptions) check(cmd *cobra.Command) (limits fairness.Estimates, err error) {
	if o.Attribute, err = toxscreen.ParseAttribute(o.attribute); err != nil {
		return nil, wrongUsage("--attribute: %w", err)
	}
	switch {
	case o.minSize < 2:
		return nil, wrongUsage("--min-size: %d is too small: it must be 2 or more", o.minSize)
	case o.sample < 0:
		return nil, wrongUsage("--sample: %d is negative: it must be a number of sentences, or 0 for all", o.sample)
	}
	if err := readOptions(cmd, &o.input); err != nil {
		return nil, err
	}
	if o.input.Input == "" {
		for _, name := range []string{"input-format", "input-encoding", "delimiter", "escape", "text-column", "label-column", "group-column", "template-column"} {
			if cmd.Flags().Changed(name) {
				return nil, wrongUsage("--%s is for rows: name them with -i FILE", name)
			}
		}
	} else {
		switch {
		case cmd.Flags().Changed("sample"):
			return nil, wrongUsage("--sample is for the templates: it cannot be combined with -i")
		case len(o.Groups) == 0:
			return nil, wrongUsage("the groups are missing: name their column with --group-column NAME")
		case slices.Contains(o.Groups, ""), o.Label == "", o.input.TextColumn == "":
			return nil, wrongUsage("the name of a column is empty")
		case slices.Contains(o.Groups, o.input.TextColumn) || slices.Contains(o.Groups, o.Label) || o.Label == o.input.TextColumn:
			return nil, wrongUsage("--text-column, --label-column and --group-column must name different columns")
		}
	}
	limits = fairness.Estimates{}
	for _, given := range o.failOn {
		name, value, _ := strings.Cut(given, "=")
		limit, err := strconv.ParseFloat(value, 64)
		if !slices.Contains(fairness.AUCs(), fairness.Metric(name)) || err != nil || !(limit >= 0 && limit <= 1) {
			return nil, wrongUsage("--fail-on: %q must be like subgroup_auc=0.9, with subgroup_auc, bpsn_auc or bnsp_auc and a number in 0..1", given)
		}
		at := limits[fairness.Metric(name)]
		at.Value = max(at.Value, limit)
		limits[fairness.Metric(name)] = at
	}
	return limits, nil
}

func (a *app) fairness(cmd *cobra.Command, o *fairnessOptions) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	limits, err := o.check(cmd)
	if err != nil {
		return err
	}
	if o.output != "" {
		if err := mayReport(o.output, o.overwrite); err != nil {
			return err
		}
	}
	s.Full, s.NoJudge, s.FailOn = true, "fairness is measured without a judge", toxscreen.Limits{}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	if !slices.Contains(screener.Info().Attributes, o.Attribute) {
		return fmt.Errorf("failed to measure fairness: model %s does not measure %s; name another with --attribute", screener.Info().Version, o.Attribute)
	}
	r := &fairnessRun{app: a, fairnessOptions: o, screener: screener, shown: progress{w: a.err, waits: screener.JudgeWaits}}
	results, err := r.measure(cmd.Context(), s.MaxBytes)
	if err != nil {
		return err
	}
	if o.output != "" {
		if err := results.Document().Save(o.output, results); err != nil {
			return err
		}
	}
	if s.Format == "json" {
		err = plainjson.Write(a.out, results, "  ")
	} else {
		for _, warning := range results.Warnings {
			a.warn(warning)
		}
		summary := results.Summary()
		if o.output != "" {
			summary += filepath.Join(o.output, report.HTMLFile) + "\n"
		}
		_, err = io.WriteString(a.out, terminal.Escape(summary))
	}
	if err != nil {
		return err
	}
	for _, m := range fairness.AUCs() {
		limit, limited := limits[m]
		lowest, ok := results.Groups.Lowest(m)
		switch {
		case !limited:
		case !ok:
			return fmt.Errorf("failed to check --fail-on: no group has a %s", m)
		case lowest.Metrics[m].Value < limit.Value:
			return exit{code: exitReached}
		}
	}
	if r.failed > 0 {
		return exit{code: exitPartly}
	}
	return nil
}

// fairnessRun scores texts and measures them.
type fairnessRun struct {
	*app
	*fairnessOptions

	screener  *screen.Screener
	shown     progress
	threshold float64
	failed    int64
	first     string // failure
	foreign   int    // texts that are not decided
	odd       string // rows that are not in the encoding of the input, in a sentence
	wrong     error  // of a row
}

func (r *fairnessRun) measure(ctx context.Context, maxBytes int) (fairness.Results, error) {
	manifest := r.screener.Manifest()
	settings := fairness.Settings{
		Attribute: r.Attribute, MinSize: r.minSize, Seed: r.seed, Model: r.screener.Info().Version, Calibration: r.screener.Calibration(),
		Toxscreen: toxscreen.Version(), Use: manifest.Card.Use, Misuse: manifest.Card.Misuse, Data: manifest.Provenance.Data,
	}
	var groups, intersections []fairness.Text
	var err error
	if r.input.Input == "" {
		sets := [][]fairness.Text{fairness.Templates(), fairness.CrossTemplates()}
		settings.Source, settings.Templates = "Perspective's Sentence Templates", true
		for i, set := range sets {
			settings.Sentences += len(set)
			sets[i] = fairness.Sample(set, r.sample, r.seed)
		}
		groups, intersections = sets[0], sets[1]
		err = r.scoreTemplates(ctx, groups, intersections)
	} else {
		settings.Source = cmp.Or(map[string]string{rows.Standard: "standard input"}[r.input.Input], filepath.Base(r.input.Input))
		r.input.MaxBytes = maxBytes
		groups, err = r.scoreRows(ctx)
		intersections = groups
	}
	if err != nil {
		return fairness.Results{}, err
	}
	settings.Threshold = r.threshold
	results, err := fairness.Measure(settings, groups, intersections)
	if err != nil {
		return results, err
	}
	if r.failed > 0 {
		results.Warnings = append(results.Warnings, fmt.Sprintf("rows that failed and are left out: %d; the first: %s", r.failed, r.first))
	}
	if n := r.Unlabelled(); n > 0 {
		results.Warnings = append(results.Warnings, fmt.Sprintf("rows without a label, which are left out: %d", n))
	}
	if r.odd != "" {
		results.Warnings = append(results.Warnings, r.odd)
	}
	if r.foreign > 0 {
		results.Warnings = append(results.Warnings, fmt.Sprintf("texts that seem to be in a language that the model does not know: %d; here they count by their scores", r.foreign))
	}
	return results, nil
}

// scoreTemplates sets the scores of texts.
func (r *fairnessRun) scoreTemplates(ctx context.Context, sets ...[]fairness.Text) error {
	total, done := 0, 0
	for _, texts := range sets {
		total += len(texts)
	}
	each := func(yield func(*fairness.Text) bool) {
		for _, texts := range sets {
			for i := range texts {
				if !yield(&texts[i]) {
					return
				}
			}
		}
	}
	began := time.Now()
	defer r.shown.end()
	for o := range toxscreen.Batch(ctx, r.screener.Screener, each, func(t *fairness.Text) (string, error) { return t.Text, nil }) {
		if o.Err != nil || ctx.Err() != nil {
			return unfinished(ctx, o.Err, done, total)
		}
		o.Row.Score = r.take(o.Result)
		done++
		if !r.quiet && isTerminal(r.err) {
			r.shown.at(rows.Progress{Summary: rows.Summary{Rows: int64(done), Duration: time.Since(began)}, At: int64(done), Length: int64(total)})
		}
	}
	if done < total {
		return unfinished(ctx, ctx.Err(), done, total)
	}
	return nil
}

// take returns the score of a text, and keeps what the run needs of its result.
func (r *fairnessRun) take(result toxscreen.Result) float64 {
	measured := result.Attributes[r.Attribute]
	r.threshold = float64(measured.Threshold)
	if result.NotDecided != "" {
		r.foreign++
	}
	return float64(measured.Score)
}

// scoreRows scores the rows of a file.
func (r *fairnessRun) scoreRows(ctx context.Context) ([]fairness.Text, error) {
	r.input.Stdin, r.input.Stdout, r.input.KeepText = r.in, r, true
	if !r.quiet && isTerminal(r.err) {
		r.input.Progress = r.shown.at
	}
	if err := r.input.Validate(); err != nil {
		return nil, wrongUsage("%w", err)
	}
	job, err := rows.Open(ctx, r.input)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	summary, err := job.Score(r.screener.Screener)
	r.shown.end()
	if r.wrong != nil {
		err = r.wrong
	}
	if err != nil {
		return nil, fmt.Errorf("failed to measure fairness: %s: %w", r.input.Input, err)
	}
	r.failed, r.first = summary.Failed, summary.FirstFailure
	if summary.Undecodable > 0 {
		r.odd = undecodable(summary.Undecodable, r.input)
	}
	texts, err := r.Texts()
	if err != nil && r.first != "" {
		err = fmt.Errorf("%w; %s failed, the first: %s", err, plural.Count(r.failed, "row", "rows"), r.first)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to measure fairness: %s: %w", r.input.Input, err)
	}
	return texts, nil
}

// Write takes one result of the job. A row that is wrong ends the run.
func (r *fairnessRun) Write(line []byte) (int, error) {
	var result rows.Result
	if err := json.Unmarshal(line, &result); err != nil {
		return 0, err
	}
	if result.Error == "" {
		text := ""
		if result.Text != nil {
			text = *result.Text
		}
		if r.wrong = r.Add(result.Row, text, r.take(result.Result), result.Input); r.wrong != nil {
			return 0, errors.New("a row is wrong")
		}
	}
	return len(line), nil
}
