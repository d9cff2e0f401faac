package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/judge"
)

func (a *app) redteamCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redteam",
		Short: "Judge the cases of a nexa-gauge file",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	estimate := &cobra.Command{
		Use:   "estimate --input FILE",
		Short: "Tell about how many tokens a run takes, without asking the judge",
		Args:  arguments(0, 0, ""),
		RunE:  a.redteamEstimate,
	}
	run := &cobra.Command{
		Use:   "run --input FILE --output-dir DIR",
		Short: "Judge each case and write a report for each",
		Long: `Judge each case of a nexa-gauge file for bias and toxicity, and for what its
redteam block adds, and write a report for each into a folder. Scores are
nexa-gauge's: high is safe.`,
		Example: `  toxscreen redteam estimate --input sample.json --limit 5
  toxscreen redteam run --judge-model MODEL --input sample.json --output-dir out --limit 5`,
		Args: arguments(0, 0, ""),
		RunE: a.redteamRun,
	}
	for _, c := range []*cobra.Command{estimate, run} {
		c.Flags().String("input", "", "`FILE` with the cases: a JSON list, or one case a line")
		c.Flags().Int("limit", 0, "take so many cases, the first; 0: all")
		c.Flags().Float64("judge-price", 0, "price of a million tokens, for the cost")
		_ = c.MarkFlagFilename("input", "json", "jsonl")
	}
	run.Flags().String("output-dir", "", "`FOLDER` for the reports; made where it is not there")
	addJudgeFlags(run)
	addFormatFlag(estimate)
	cmd.AddCommand(estimate, run)
	return cmd
}

// readCases reads what --input and --limit name.
func readCases(cmd *cobra.Command) ([]formats.NexaCase, error) {
	path, _ := cmd.Flags().GetString("input")
	limit, _ := cmd.Flags().GetInt("limit")
	if path == "" {
		return nil, wrongUsage("the input is missing: name it with --input FILE")
	}
	if limit < 0 {
		return nil, wrongUsage("--limit: %d is no number of cases", limit)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", path, cause(err))
	}
	defer file.Close()
	cases, err := formats.ReadNexaCases(file)
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", path, err)
	}
	if limit > 0 && limit < len(cases) {
		cases = cases[:limit]
	}
	return cases, nil
}

// nexaDefaults are the metrics that every case has.
func nexaDefaults() ([]formats.NexaMetric, error) {
	var all []formats.NexaMetric
	for _, name := range []string{"bias", "toxicity"} {
		r, err := judge.OpenRubric("nexa-gauge/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, formats.NexaMetric{
			Name:       name,
			Rubric:     formats.NexaRubric{Goal: r.Goal, Violations: r.Violations, NonViolations: r.NonViolations},
			ItemFields: []string{"output"},
		})
	}
	return all, nil
}

// nexaRubric returns the rubric of a metric: one question, with the severities
// of the scoring mode.
func nexaRubric(m formats.NexaMetric, mode string) (judge.Rubric, error) {
	levels, err := judge.OpenRubric("nexa-gauge/toxicity")
	if err != nil {
		return judge.Rubric{}, err
	}
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	one := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	lines := func(texts []string) []string {
		out := make([]string, len(texts))
		for i, t := range texts {
			out[i] = one(t)
		}
		return out
	}
	r := judge.Rubric{
		Name:          "nexa-gauge/" + strings.Map(plain, strings.ToLower(m.Name)),
		Goal:          cmp.Or(one(m.Rubric.Goal), "Decide whether the output is safe."),
		Violations:    lines(m.Rubric.Violations),
		NonViolations: lines(m.Rubric.NonViolations),
		Aspects:       levels.Aspects[:1:1],
		Severity:      levels.Severity,
		Scale:         1,
	}
	r.Aspects = slices.Clone(r.Aspects)
	r.Aspects[0].Attribute = nil
	if mode == formats.NexaBinary {
		r.Severity = []string{"It matches a violation"}
	}
	for _, field := range m.ItemFields {
		if field != "output" && !slices.Contains(r.Fields, field) {
			r.Fields = append(r.Fields, field)
		}
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("metric %q: %w", m.Name, err)
	}
	return r, nil
}

// bytesPerToken is what English text has with the usual vocabularies, about.
const bytesPerToken = 4

// estimated is what `redteam estimate --format json` prints.
type estimated struct {
	Cases int              `json:"cases"`
	Calls int              `json:"calls"`
	Cost  formats.NexaCost `json:"cost"`
}

func (a *app) redteamEstimate(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	cases, err := readCases(cmd)
	if err != nil {
		return err
	}
	defaults, err := nexaDefaults()
	if err != nil {
		return err
	}
	e := estimated{Cases: len(cases)}
	for _, c := range cases {
		if strings.TrimSpace(c.Output) == "" {
			continue
		}
		block := c.Block()
		for _, m := range formats.MergeNexaMetrics(defaults, block.Metrics) {
			r, err := nexaRubric(m, block.ScoringMode)
			if err != nil {
				return fmt.Errorf("failed to estimate case %s: %w", c.CaseID, err)
			}
			e.Calls++
			in, out := judge.PromptBytes(r, judge.Case{Text: c.Output, Fields: c.Fields()}, block.IncludeReasoning)
			e.Cost.Add(in/bytesPerToken, out/bytesPerToken, s.Judge.Price)
		}
	}
	if s.Format == "json" {
		return writeJSON(a.out, e, "")
	}
	fmt.Fprintf(a.out, "%d cases, %d calls of the judge, about %.0f tokens in and %.0f out, cost %.6g\n", e.Cases, e.Calls, e.Cost.InputTokens, e.Cost.OutputTokens, e.Cost.Cost)
	return nil
}

// nexaReport is the report of a case.
type nexaReport struct {
	CaseID  string              `json:"case_id"`
	Redteam formats.NexaMetrics `json:"redteam"`
}

func (a *app) redteamRun(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	folder, _ := cmd.Flags().GetString("output-dir")
	switch {
	case folder == "":
		return wrongUsage("the folder for the reports is missing: name it with --output-dir")
	case s.Judge.Model == "":
		return errNoJudge
	case s.values["judge_rubric"].flag:
		return wrongUsage("--judge-rubric: the rubrics of redteam are its metrics")
	}
	cases, err := readCases(cmd)
	if err != nil {
		return err
	}
	reports := map[string]string{}
	for _, c := range cases {
		name := reportName(c.CaseID)
		if other, ok := reports[name]; ok {
			return fmt.Errorf("failed to name the reports: cases %q and %q would have the same, %s", other, c.CaseID, name)
		}
		reports[name] = c.CaseID
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to make %s: %w", folder, cause(err))
	}
	judges := judgesByRubric{settings: s, opened: map[string]openedJudge{}}
	defer judges.close()
	failed := 0
	for _, c := range cases {
		metrics, err := redteamCase(cmd.Context(), s, &judges, c)
		if err != nil {
			return fmt.Errorf("failed to judge case %s: %w", c.CaseID, err)
		}
		for _, m := range metrics.Metrics {
			if m.Error != nil {
				failed++
				fmt.Fprintf(a.err, "toxscreen: case %s, metric %s: %s\n", printable(c.CaseID), printable(m.Name), printable(*m.Error))
			}
		}
		var b strings.Builder
		if err := writeJSON(&b, nexaReport{c.CaseID, metrics}, "  "); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, reportName(c.CaseID)), []byte(b.String()), 0o644); err != nil {
			return fmt.Errorf("failed to write the report of case %s: %w", c.CaseID, err)
		}
	}
	fmt.Fprintf(a.err, "toxscreen: %d cases, reports in %s\n", len(cases), printable(folder))
	if failed > 0 {
		return exit{code: exitRows}
	}
	return nil
}

// reportName returns the name of a case's report.
func reportName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, strings.TrimLeft(id, ".")) + ".json"
}

// judgesByRubric holds a judge for each rubric of a run, so that the server is
// asked for the model once for each.
type judgesByRubric struct {
	settings *settings
	opened   map[string]openedJudge
}

func (j *judgesByRubric) open(r judge.Rubric, reason bool) (openedJudge, error) {
	name := fmt.Sprint(r.Version(), reason)
	if opened, ok := j.opened[name]; ok {
		return opened, nil
	}
	opened, err := openJudge(j.settings, func(c *judge.Config) { c.Rubric, c.Reason, c.Violations = r, reason, true })
	if err == nil {
		j.opened[name] = opened
	}
	return opened, err
}

func (j *judgesByRubric) close() {
	for _, opened := range j.opened {
		opened.close()
	}
}

// redteamCase judges one case. A metric without a verdict has an error of its
// own; an error here ends the run.
func redteamCase(ctx context.Context, s *settings, judges *judgesByRubric, c formats.NexaCase) (formats.NexaMetrics, error) {
	found := formats.NexaMetrics{Metrics: []formats.NexaMetricResult{}}
	if strings.TrimSpace(c.Output) == "" {
		return found, nil // without an output the node does not run
	}
	defaults, err := nexaDefaults()
	if err != nil {
		return found, err
	}
	block := c.Block()
	for _, m := range formats.MergeNexaMetrics(defaults, block.Metrics) {
		rubric, err := nexaRubric(m, block.ScoringMode)
		if err != nil {
			return found, err
		}
		opened, err := judges.open(rubric, block.IncludeReasoning)
		if err != nil {
			return found, err
		}
		verdict, err := opened.JudgeCase(ctx, judge.Case{Text: c.Output, Fields: c.Fields()})
		if ctx.Err() != nil {
			return found, errors.New("interrupted")
		}
		found.Cost.Add(verdict.InputTokens, verdict.OutputTokens, s.Judge.Price)
		found.Metrics = append(found.Metrics, formats.ToNexaResult(m.Name, block, verdict, c.Output, err))
	}
	return found, nil
}
