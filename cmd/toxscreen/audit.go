package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/audit"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
)

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Tell how much abuse there is, from few labels",
		Long: `Tell how much abuse there is in scored texts, and what a threshold does to them,
from the labels that people give to a sample: the prevalence with its interval, precision
and recall, and thresholds with a guarantee. docs/audit.md describes it.`,
		Example: `  toxscreen batch --full --keep-text -i comments.jsonl -o scored.jsonl
  toxscreen audit sample -i scored.jsonl -o audit --labels 400
  toxscreen audit report -i scored.jsonl --sample audit -o report`,
	}
	return group(cmd, a.auditSampleCommand(), a.auditReportCommand())
}

// auditSampleOptions are the flags of audit sample.
type auditSampleOptions struct {
	input, texts, output string
	attributes           []string
	plan                 audit.Plan
	overwrite            bool
}

func (a *app) auditSampleCommand() *cobra.Command {
	o := &auditSampleOptions{}
	cmd := &cobra.Command{
		Use:   "sample -i FILE -o FOLDER",
		Short: "Draw a sample of scored texts for people to label",
		Long: `Draw a sample of scored texts for people to label: the JSONL output of batch
--full --keep-text. FOLDER gets sample.csv, which people fill in with 0 or 1, and
design.json, which the report needs. The texts whose scores say least are drawn
most often; sample.csv has them in random order and without their scores. People may stop
at any row: the labelled part of the sheet is a smaller sample.`,
		Example: `  toxscreen audit sample -i scored.jsonl -o audit --labels 400
  toxscreen audit sample -i scored.jsonl -o audit --attribute toxicity,threat --labels 400 --held-back 200`,
		RunE: func(*cobra.Command, []string) error { return a.auditSample(o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input, "input", "i", "", "`FILE` of results in JSONL")
	flags.StringVar(&o.texts, "texts", "", "`FILE` in JSONL with the texts, the input of batch; default: in the results, by batch --keep-text")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for the sample")
	flags.StringSliceVar(&o.attributes, "attribute", []string{toxscreen.Toxicity.String()}, "`ATTRIBUTE` that people label; the first decides the strata; repeatable")
	flags.IntVar(&o.plan.Labels, "labels", 400, "number of texts to label")
	flags.IntVar(&o.plan.HeldBack, "held-back", 0, "number of further texts to label, which only confirm guarantees")
	flags.Uint64Var(&o.plan.Seed, "seed", 1, "seed of the random numbers that draw the texts")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing sample, with its labels")
	usage.InGroup(cmd, usage.InputOutput, "input", "texts", "output", "overwrite")
	usage.InGroup(cmd, usage.Sample, "attribute", "labels", "held-back", "seed")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("texts", "jsonl", "ndjson")
	_ = cmd.RegisterFlagCompletionFunc("attribute", config.OneOf(attributeNames()...))
	return cmd
}

func (a *app) auditSample(o *auditSampleOptions) error {
	switch {
	case o.input == "" || o.input == rows.Standard:
		return usage.Wrong("the input is missing: name a file with -i FILE; it is read twice, so it cannot be standard input")
	case o.output == "":
		return usage.Wrong("the output is missing: name a folder with -o FOLDER")
	case o.plan.Labels < 1:
		return usage.Wrong("--labels: %d is not 1 or more", o.plan.Labels)
	case o.plan.HeldBack < 0:
		return usage.Wrong("--held-back: %d is not 0 or more", o.plan.HeldBack)
	}
	attributes, err := audit.ParseAttributes(o.attributes)
	if err != nil {
		return usage.Wrong("--attribute: %w", err)
	}
	for _, name := range []string{audit.SheetFile, audit.DesignFile} {
		if err := mayWrite(filepath.Join(o.output, name), o.overwrite); err != nil {
			return err
		}
	}
	corpus, err := audit.OpenCorpus(o.input, attributes)
	if err != nil {
		return err
	}
	design, err := corpus.Draw(o.plan)
	if err != nil {
		return err
	}
	entries, err := corpus.OpenEntries(design, cmp.Or(o.texts, o.input))
	if err != nil {
		return err
	}
	if err := design.Save(o.output, entries); err != nil {
		return err
	}
	if corpus.Failed > 0 {
		a.warn(fmt.Sprintf("%s no score: the audit leaves %s out", plural.Count(corpus.Failed, "row failed and has", "rows failed and have"), plural.Word(corpus.Failed, "it", "them")))
	}
	if same := audit.Repeats(entries); same > 0 {
		a.warn(fmt.Sprintf("texts of the sample that repeat others: %d; people label each, as each stands for texts of the corpus", same))
	}
	if corpus.Len() < o.plan.Labels {
		a.warn(fmt.Sprintf("there %s only %s: all are in the sample", plural.Word(corpus.Len(), "is", "are"), plural.Count(corpus.Len(), "text", "texts")))
	}
	_, err = fmt.Fprintf(a.out, "%d of %s to be labelled in %s; strata: %d\n",
		len(entries), plural.Count(corpus.Len(), "text is", "texts are"), terminal.Escape(filepath.Join(o.output, audit.SheetFile)), len(design.Strata))
	return err
}

// auditReportOptions are the flags of audit report.
type auditReportOptions struct {
	input, sample, output string
	labelled              []string
	atMost, atLeast       []string
	bands                 []string
	confidence            float64
	overwrite             bool
}

func (a *app) auditReportCommand() *cobra.Command {
	o := &auditReportOptions{}
	cmd := &cobra.Command{
		Use:   "report -i FILE --sample FOLDER",
		Short: "Report prevalence, precision and recall from the labels of a sample",
		Long: `Report what the labels of a sample say about all scored texts. The labels are
read from sample.csv of the sample's folder, or from the sheets of several people
that --labelled names.`,
		Example: `  toxscreen audit report -i scored.jsonl --sample audit -o report
  toxscreen audit report -i scored.jsonl --sample audit --labelled ann.csv --labelled bob.csv
  toxscreen audit report -i scored.jsonl --sample audit --at-most false_positive_rate=0.01 --confidence 0.95`,
		RunE: config.Run(func(_ *cobra.Command, s *config.Settings, _ []string) error { return a.auditReport(s, o) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input, "input", "i", "", "`FILE` of results that the sample was drawn from")
	flags.StringVar(&o.sample, "sample", "", "`FOLDER` of the sample")
	flags.StringArrayVar(&o.labelled, "labelled", nil, "`FILE` with labels, repeatable; default: sample.csv of the sample")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for report.html, report.md and report.json")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing report")
	flags.StringArrayVar(&o.atMost, "at-most", nil, "find a threshold that keeps a `LIMIT` for sure, like false_positive_rate=0.01 or miss_rate=0.1; repeatable")
	flags.StringArrayVar(&o.atLeast, "at-least", nil, "find a threshold that keeps a `LIMIT` for sure, like precision=0.9 or recall=0.8; repeatable")
	flags.Float64Var(&o.confidence, "confidence", 0.95, "confidence of --at-most and --at-least")
	flags.StringArrayVar(&o.bands, "band", nil, "also report what it costs to let people decide about a `BAND` of scores, like 0.3-0.7; repeatable")
	usage.InGroup(cmd, usage.InputOutput, "input", "sample", "labelled", "output", "overwrite")
	usage.InGroup(cmd, usage.Decisions, "at-most", "at-least", "confidence", "band")
	config.AddFlags(cmd, "format")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("labelled", "csv", "tsv")
	return cmd
}

func (a *app) auditReport(s *config.Settings, o *auditReportOptions) error {
	questions, err := o.questions()
	if err != nil {
		return err
	}
	if err := mayReport(o.output, o.overwrite); err != nil {
		return err
	}
	design, err := audit.OpenDesign(o.sample)
	if errors.Is(err, fs.ErrNotExist) {
		return usage.WithHint(err, "toxscreen audit sample creates it")
	}
	if err != nil {
		return err
	}
	corpus, err := audit.OpenCorpus(o.input, design.Attributes)
	if err != nil {
		return err
	}
	if len(o.labelled) == 0 {
		o.labelled = []string{filepath.Join(o.sample, audit.SheetFile)}
	}
	labels := audit.NewLabels(design)
	for _, path := range o.labelled {
		if err := labels.Open(path); err != nil {
			return err
		}
	}
	results, err := audit.Measure(corpus, design, labels, questions)
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
	a.warn(results.Warnings...)
	err = a.show(s.Format, results, summary)
	if err == nil && results.Refused() {
		return exit{code: exitPartly}
	}
	return err
}

// questions reads the flags of audit report.
func (o *auditReportOptions) questions() (audit.Questions, error) {
	q := audit.Questions{Confidence: o.confidence}
	switch {
	case o.input == "" || o.input == rows.Standard:
		return q, usage.Wrong("the input is missing: name the results that the sample was drawn from with -i FILE")
	case o.sample == "":
		return q, usage.Wrong("the sample is missing: name its folder with --sample FOLDER")
	case !(o.confidence >= 0.5 && o.confidence < 1):
		return q, usage.Wrong("--confidence: %v is not 0.5 or more and less than 1", o.confidence)
	}
	for _, limits := range []struct {
		flag  string
		texts []string
		upper bool
	}{{"--at-most", o.atMost, true}, {"--at-least", o.atLeast, false}} {
		for _, text := range limits.texts {
			requirement, err := audit.ParseRequirement(text, limits.upper)
			if err != nil {
				return q, usage.Wrong("%s %s: %w", limits.flag, text, err)
			}
			q.Requirements = append(q.Requirements, requirement)
		}
	}
	for _, text := range o.bands {
		band, err := config.ParseBand(text)
		if err != nil {
			return q, usage.Wrong("--band: %w", err)
		}
		q.Bands = append(q.Bands, band)
	}
	return q, nil
}
