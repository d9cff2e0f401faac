package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/fairness"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
)

// fairnessOptions are the flags of evaluate fairness that are not configuration keys.
type fairnessOptions struct {
	fairness.Run

	output           string
	overwrite, quiet bool
	attribute        string
	failOn           []string
}

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
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error { return a.fairness(cmd, s, o) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.Input.Input, "input", "i", "", "`FILE` of rows, as for batch, or - for standard input; default: the templates")
	config.AddReadFlags(cmd, &o.Input)
	flags.StringVar(&o.Input.TextColumn, "text-column", "text", "column or field with the text")
	flags.StringVar(&o.Label, "label-column", "label", "column or field with the label, in 0..1; default: label, else the attribute in labels")
	flags.StringSliceVar(&o.Groups, "group-column", nil, "`COLUMN` or field with the groups of a row; repeatable")
	flags.StringVar(&o.Template, "template-column", "", "column or field that is equal in rows that differ in the group only")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for report.html, report.md and report.json")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace the reports in the folder")
	flags.StringVar(&o.attribute, "attribute", toxscreen.Toxicity.String(), "attribute whose scores are measured")
	flags.IntVar(&o.MinSize, "min-size", 30, "toxic or clean texts, or templates, that a measure of a group needs")
	flags.IntVar(&o.Sample, "sample", fairness.DefaultSample, "sentences drawn of each set of templates; 0: all")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the sample and of the intervals")
	flags.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 4 if the lowest subgroup_auc, bpsn_auc or bnsp_auc of a group is under a `LIMIT`, like subgroup_auc=0.9; repeatable")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	usage.InGroup(cmd, usage.InputOutput, "input", "output", "overwrite", "quiet", "text-column", "label-column", "group-column", "template-column", "input-format", "input-encoding", "delimiter", "escape")
	usage.InGroup(cmd, usage.Sample, "attribute", "sample", "min-size", "seed")
	usage.InGroup(cmd, usage.Decisions, "fail-on")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson", "csv", "tsv", "parquet", "gz", "zst")
	_ = cmd.RegisterFlagCompletionFunc("attribute", cobra.FixedCompletions(attributeNames(), cobra.ShellCompDirectiveNoFileComp))
	config.AddThresholdFlag(cmd, "those of the scale and the sensitivity")
	config.AddFlags(cmd, "format", "max_bytes", "calibration", "scale", "sensitivity")
	config.AddFlags(cmd, config.ModelKeys...)
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
		return nil, usage.Wrong("--attribute: %w", err)
	}
	switch {
	case o.MinSize < 2:
		return nil, usage.Wrong("--min-size: %d is too small: it must be 2 or more", o.MinSize)
	case o.Sample < 0:
		return nil, usage.Wrong("--sample: %d is negative: it must be a number of sentences, or 0 for all", o.Sample)
	}
	if err := config.ReadOptions(cmd, &o.Input); err != nil {
		return nil, err
	}
	if o.Input.Input == "" {
		for _, name := range []string{"input-format", "input-encoding", "delimiter", "escape", "text-column", "label-column", "group-column", "template-column"} {
			if cmd.Flags().Changed(name) {
				return nil, usage.Wrong("--%s is for rows: name them with -i FILE", name)
			}
		}
	} else {
		switch {
		case cmd.Flags().Changed("sample"):
			return nil, usage.Wrong("--sample is for the templates: it cannot be combined with -i")
		case len(o.Groups) == 0:
			return nil, usage.Wrong("the groups are missing: name their column with --group-column NAME")
		case slices.Contains(o.Groups, ""), o.Label == "", o.Input.TextColumn == "":
			return nil, usage.Wrong("the name of a column is empty")
		case slices.Contains(o.Groups, o.Input.TextColumn) || slices.Contains(o.Groups, o.Label) || o.Label == o.Input.TextColumn:
			return nil, usage.Wrong("--text-column, --label-column and --group-column must name different columns")
		}
	}
	if limits, err = fairness.ParseLimits(o.failOn); err != nil {
		return nil, usage.Wrong("--fail-on: %w", err)
	}
	return limits, nil
}

func (a *app) fairness(cmd *cobra.Command, s *config.Settings, o *fairnessOptions) error {
	limits, err := o.check(cmd)
	if err != nil {
		return err
	}
	if err := mayReport(o.output, o.overwrite); err != nil {
		return err
	}
	o.Input.Stdin, o.Input.Stdout, o.Input.MaxBytes = a.in, io.Discard, s.MaxBytes
	if err := o.Input.Validate(); o.Input.Input != "" && err != nil {
		return usage.Wrong("%w", err)
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
	shown := terminal.Progress{W: a.err}
	if !o.quiet && terminal.Is(a.err) {
		o.Progress = at(&shown)
	}
	manifest := screener.Manifest()
	o.Settings = fairness.Settings{Use: manifest.Card.Use, Misuse: manifest.Card.Misuse, Data: manifest.Provenance.Data, Calibration: screener.Calibration()}
	o.Undecodable = func(n int64) string { return undecodable(n, o.Input) }
	results, err := o.Measure(cmd.Context(), screener.Screener)
	shown.End()
	if err != nil {
		return err
	}
	summary := results.Summary()
	if o.output != "" {
		if err := results.Document().Save(o.output, results); err != nil {
			return err
		}
		summary += filepath.Join(o.output, report.HTMLFile) + "\n"
	}
	if s.Format == "text" {
		a.warn(results.Warnings...)
	}
	if err := a.show(s.Format, results, summary); err != nil {
		return err
	}
	under, err := results.Under(limits)
	if err != nil {
		return fmt.Errorf("failed to check --fail-on: %w", err)
	}
	return ended(under, o.Failed > 0)
}
