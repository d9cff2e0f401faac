package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/judge/cases"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) redteamCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redteam",
		Short: "Judge the cases of a nexa-gauge file",
	}
	estimate := &cobra.Command{
		Use:   "estimate --input FILE",
		Short: "Estimate the tokens of a run without asking the judge",
		RunE:  config.Run(a.redteamEstimate),
	}
	run := &cobra.Command{
		Use:   "run --input FILE --output-dir DIR",
		Short: "Judge each case and write a report for each",
		Long: `Judge each case of a nexa-gauge file for bias, for toxicity, and for the metrics
of its redteam block. Write a report for each case into a folder and replace an
existing report with the same name. Scores are nexa-gauge's: high is safe.

A judge that failed its self-test with the rubric nexa-gauge/toxicity is not
asked, unless --judge-trust none is given. Reports of such a judge and of an untested
one have a warning.`,
		Example: `  toxscreen redteam estimate --input sample.json --limit 5
  toxscreen judge --self-test --judge-model MODEL --judge-rubric nexa-gauge/toxicity
  toxscreen redteam run --judge-model MODEL --input sample.json --output-dir out --limit 5`,
		RunE: config.Run(a.redteamRun),
	}
	for _, c := range []*cobra.Command{estimate, run} {
		c.Flags().String("input", "", "`FILE` with the cases: a JSON list, or one case per line")
		c.Flags().Int("limit", 0, "use only this many cases from the start; 0: all")
		_ = c.MarkFlagFilename("input", "json", "jsonl")
		config.AddFlags(c, "judge_price")
	}
	run.Flags().String("output-dir", "", "`FOLDER` for the reports; created if missing")
	usage.InGroup(estimate, usage.InputOutput, "input", "limit")
	usage.InGroup(run, usage.InputOutput, "input", "output-dir", "limit")
	config.AddFlags(run, "judge_trust")
	config.AddFlags(run, config.JudgeKeys...)
	config.AddFlags(estimate, "format")
	return group(cmd, estimate, run)
}

// readCases reads the cases of --input, up to --limit.
func (a *app) readCases(cmd *cobra.Command) ([]cases.Case, error) {
	path, _ := cmd.Flags().GetString("input")
	limit, _ := cmd.Flags().GetInt("limit")
	if path == "" {
		return nil, usage.Wrong("the input is missing: name it with --input FILE")
	}
	if limit < 0 {
		return nil, usage.Wrong("--limit: %d is not 0 or more", limit)
	}
	read, err := cases.Open(path, limit)
	if err != nil {
		return nil, err
	}
	for _, c := range read {
		for _, key := range c.Ignored {
			a.warn(fmt.Sprintf("case %s: %s is not a known key and has no effect", c.CaseID, key))
		}
	}
	return read, nil
}

func (a *app) redteamEstimate(cmd *cobra.Command, s *config.Settings, _ []string) error {
	all, err := a.readCases(cmd)
	if err != nil {
		return err
	}
	plan, err := cases.NewPlan(all)
	if err != nil {
		return err
	}
	e := plan.Estimate(s.JudgePrice)
	if s.Format == "json" {
		return plainjson.Write(a.out, e, "")
	}
	_, err = fmt.Fprintf(a.out, "%s, %s, about %.0f tokens in and %.0f out, cost %.6g\n", plural.Count(e.Cases, "case", "cases"), plural.Count(e.Calls, "judge call", "judge calls"), e.Cost.InputTokens, e.Cost.OutputTokens, e.Cost.Cost)
	return err
}

func (a *app) redteamRun(cmd *cobra.Command, s *config.Settings, _ []string) error {
	folder, _ := cmd.Flags().GetString("output-dir")
	switch {
	case folder == "":
		return usage.Wrong("the folder for the reports is missing: name it with --output-dir")
	case s.Judge.Model == "":
		return errNoJudge
	case s.ByFlag("judge_rubric"):
		return usage.Wrong("--judge-rubric: redteam does not use it: its rubrics are the metrics of the cases")
	}
	all, err := a.readCases(cmd)
	if err != nil {
		return err
	}
	names, err := cases.ReportNames(all)
	if err != nil {
		return err
	}
	plan, err := cases.NewPlan(all)
	if err != nil {
		return err
	}
	judges, err := screen.OpenRedteam(s.Settings, plan, s.JudgePrice)
	if err != nil {
		return cacheHint(err)
	}
	defer judges.Close()
	warning, err := judges.Trust(cmd.Context())
	if _, failed := errors.AsType[*cases.DisbeliefError](err); failed {
		return usage.WithHint(err, "use another model: the scores of this one would mean nothing; --judge-trust none asks it all the same")
	}
	if err != nil {
		return err
	}
	if warning != "" {
		a.warn(warning)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to create %s: %w", folder, files.Cause(err))
	}

	asked := func(done, all int) {
		a.showLine(fmt.Sprintf("%d of %s", done, plural.Count(all, "metric", "metrics")))
		if done == all {
			a.showLine("")
		}
	}
	reports, failed, blank := 0, 0, 0
	for r := range judges.Run(cmd.Context(), plan, asked) {
		if warning != "" && len(r.Metrics) > 0 {
			r.Warnings = append(r.Warnings, warning)
		}
		if len(r.Metrics) == 0 {
			blank++
		}
		for _, m := range r.Metrics {
			if m.Error != nil {
				failed++
				fmt.Fprintf(a.err, "toxscreen: case %s, metric %s: %s\n", terminal.Escape(r.CaseID), terminal.Escape(m.Name), terminal.Escape(*m.Error))
			}
		}
		if err := writeReport(filepath.Join(folder, names[reports]), r); err != nil {
			return err
		}
		reports++
	}
	if reports < len(all) {
		err := fmt.Errorf("interrupted; %d of %s a report", reports, plural.Count(len(all), "case has", "cases have"))
		if s.JudgeCache != config.Off {
			err = usage.WithHint(err, "verdicts are stored: to continue, run the same command")
		}
		return err
	}
	fmt.Fprintf(a.err, "toxscreen: %s, %s in %s", plural.Count(len(all), "case", "cases"), plural.Word(len(all), "report", "reports"), terminal.Escape(folder))
	if blank > 0 {
		fmt.Fprintf(a.err, "; %s not judged", plural.Count(blank, "case has no output and was", "cases have no output and were"))
	}
	fmt.Fprintln(a.err)
	return ended(false, failed > 0)
}

func writeReport(path string, r cases.Report) error {
	err := files.Write(path, 0o644, func(w io.Writer) error { return plainjson.Write(w, r, "  ") })
	if err != nil {
		return fmt.Errorf("failed to write the report of case %s: %w", r.CaseID, err)
	}
	return nil
}
