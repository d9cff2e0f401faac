package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
)

func (a *app) simulateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate --dev SCORED --test SCORED",
		Short: "Show what judges of known error rates would be worth",
		Long: `Show what judges of known error rates would be worth on labelled texts: the
JSONL that batch --no-judge wrote of rows with "labels". Parameters are fitted on
the dev rows and everything is measured on the test rows. All of it is real but
the judges' answers, which are drawn.`,
		Example: `  toxscreen batch --no-judge -i dev.jsonl -o dev-scored.jsonl
  toxscreen batch --no-judge -i test.jsonl -o test-scored.jsonl
  toxscreen simulate --dev dev-scored.jsonl --test test-scored.jsonl --plot simulation.svg`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.simulate,
	}
	flags := cmd.Flags()
	flags.String("dev", "", "`FILE` of labelled results to fit on")
	flags.String("test", "", "`FILE` of labelled results to measure on")
	flags.Float64("prior", 0.1, "weigh the rows so that this share of them is toxic; 0: as they are")
	flags.String("plot", "", "`FILE` for the plot, as SVG")
	flags.Uint64("seed", 1, "of the judges' answers")
	addPriceFlags(cmd, 0.15) // what the goals in docs/fusion.md are for
	flags.StringArray("threshold", nil, "flag an attribute from this probability, like toxicity=0.7; repeatable; default: as the results were")
	addFormatFlag(cmd)
	for _, name := range []string{"dev", "test"} {
		_ = cmd.MarkFlagFilename(name, "jsonl", "ndjson")
	}
	_ = cmd.MarkFlagFilename("plot", "svg")
	return cmd
}

func (a *app) simulate(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	flags := cmd.Flags()
	devFile, _ := flags.GetString("dev")
	testFile, _ := flags.GetString("test")
	prior, _ := flags.GetFloat64("prior")
	plot, _ := flags.GetString("plot")
	prices, budget, err := pricesOf(cmd)
	switch {
	case err != nil:
		return err
	case devFile == "" || testFile == "":
		return wrongUsage("the rows are missing: name them with --dev FILE and --test FILE")
	case !(prior >= 0 && prior < 1):
		return wrongUsage("--prior: %v is no share of toxic texts", prior)
	}
	dev, err := readLabelled(devFile, a.in)
	if err != nil {
		return err
	}
	test, err := readLabelled(testFile, a.in)
	if err != nil {
		return err
	}
	if dev.model != test.model {
		return fmt.Errorf("failed to simulate: %s was scored by %s, %s by %s: score both with one model", devFile, dev.model, testFile, test.model)
	}
	if prior > 0 {
		for _, rows := range []labelledRows{dev, test} {
			if err := rows.withPrior(prior); err != nil {
				return err
			}
		}
	}
	thresholds := dev.thresholds
	for attribute, threshold := range s.Thresholds.All() {
		thresholds.Set(attribute, threshold)
	}
	threshold, _ := thresholds.Get(toxscreen.Toxicity)
	sim := eval.Simulation{
		Dev: dev.rows, Test: test.rows, Model: dev.model, Thresholds: thresholds, Judges: eval.SimulatedJudges,
		FalseAlarm: prices.FalseAlarm, Miss: prices.Miss, Call: prices.Call, Budget: budget.Share, Texts: budget.Texts, Fixed: toxscreen.DefaultBand,
		Fit: func(rows []toxscreen.Labelled, price float64) (eval.Combined, error) {
			o := fusion.Options{Model: dev.model, Thresholds: thresholds, Prices: prices, Budget: budget}
			o.Prices.Call += price
			return fitted(rows, o)
		},
	}
	if prices.FalseAlarm == 0 {
		sim.FalseAlarm, sim.Miss = 2*threshold, 2*(1-threshold) // as the threshold implies
	}
	sim.Seed, _ = flags.GetUint64("seed")
	outcomes, err := eval.Simulate(cmd.Context(), sim)
	if err != nil {
		return err
	}
	if plot != "" {
		var b bytes.Buffer
		if err := eval.PlotSimulation(&b, outcomes); err != nil {
			return err
		}
		if err := os.WriteFile(plot, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("failed to write %s: %w", plot, cause(err))
		}
	}
	if s.Format == "json" {
		return writeJSON(a.out, outcomes, "  ")
	}
	_, err = a.out.Write([]byte(simulationText(outcomes, sim)))
	return err
}

// fitted returns what is fitted on rows, for their judge.
func fitted(rows []toxscreen.Labelled, o fusion.Options) (*fusion.Fusion, error) {
	params, _, err := fusion.Fit(rows, o)
	if err != nil {
		return nil, err
	}
	_, file, err := params.Encode()
	if err != nil {
		return nil, err
	}
	f, err := fusion.New(file, o.Model)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if v := row.Verdict; v != nil {
			return f.With(fusion.Judge{Model: v.Model, Rubric: v.Rubric}), nil
		}
	}
	return f, nil
}

// simulationText is the table, in Markdown, and how far the goals are met.
func simulationText(outcomes []eval.Outcome, sim eval.Simulation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows to fit on, %d to measure on, scored by %s.\n\n", len(sim.Dev), len(sim.Test), sim.Model)
	b.WriteString("| judge | system | cost of 1,000 | with calls | accuracy | F1 | AP | ECE | log loss | judged |\n|---|---|---|---|---|---|---|---|---|---|\n")
	kinds := map[string]string{}
	for _, j := range sim.Judges {
		kinds[j.Name] = j.String()
	}
	by := map[[2]string]eval.Outcome{}
	for _, o := range outcomes {
		by[[2]string{o.Judge, o.System}] = o
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.4f | %.3f | %.3f | %.4f | %.4f | %.1f %% |\n",
			kinds[o.Judge], o.System, o.Cost, o.CostWithCalls, o.Accuracy, o.F1, o.AP, o.ECE, o.LogLoss, 100*o.Judged)
	}
	b.WriteString("\nOn the texts that toxscreen has judged:\n\n| judge | log loss of the classifier | of the judge | fused | ECE over a perfect predictor's | cost saved, of what judging everything saves | budget held |\n|---|---|---|---|---|---|---|\n")
	for _, j := range sim.Judges {
		o, alone, everything := by[[2]string{j.Name, eval.Ours}], by[[2]string{j.Name, eval.Alone}], by[[2]string{j.Name, eval.Everything}]
		if o.Judged == 0 {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | nothing is judged |\n", j.Name)
			continue
		}
		saved := "–"
		if all := alone.Cost - everything.Cost; all > 0 {
			saved = fmt.Sprintf("%.0f %%", 100*(alone.Cost-o.Cost)/all)
		}
		kept := "–"
		if o.Held != nil {
			kept = fmt.Sprintf("%d of 100", *o.Held)
		}
		fmt.Fprintf(&b, "| %s | %.4f | %.4f | %.4f | %+.4f ± %.4f | %s | %s |\n", j.Name, o.JudgedClassifier, o.JudgedJudge, o.JudgedFused, o.JudgedECE, o.JudgedECENoise, saved, kept)
	}
	return b.String()
}
