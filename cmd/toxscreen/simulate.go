package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/rows"
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
	addThresholdFlag(cmd, "as the results were")
	addFlags(cmd, "format")
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
	dev, err := rows.ReadLabelled(devFile, a.in)
	if err != nil {
		return err
	}
	test, err := rows.ReadLabelled(testFile, a.in)
	if err != nil {
		return err
	}
	if dev.Model != test.Model {
		return fmt.Errorf("failed to simulate: %s was scored by %s, %s by %s: score both with one model", devFile, dev.Model, testFile, test.Model)
	}
	if prior > 0 {
		for _, labelled := range []*rows.Labelled{&dev, &test} {
			if err := labelled.SetPrior(prior); err != nil {
				return err
			}
		}
	}
	thresholds := dev.Thresholds
	for attribute, threshold := range s.Thresholds.All() {
		thresholds.Set(attribute, threshold)
	}
	threshold, _ := thresholds.Get(toxscreen.Toxicity)
	sim := eval.Simulation{
		Dev: dev.Rows, Test: test.Rows, Model: dev.Model, Thresholds: thresholds, Judges: eval.SimulatedJudges,
		FalseAlarm: prices.FalseAlarm, Miss: prices.Miss, Call: prices.Call, Budget: budget.Share, Texts: budget.Texts, Fixed: toxscreen.DefaultBand,
		Fit: func(rows []toxscreen.Labelled, price float64) (eval.Combined, error) {
			o := fusion.Options{Model: dev.Model, Thresholds: thresholds, Prices: prices, Budget: budget}
			o.Prices.Call += price
			return fusion.Fitted(rows, o)
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
			return fmt.Errorf("failed to write %s: %w", plot, files.Cause(err))
		}
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, outcomes, "  ")
	}
	_, err = a.out.Write([]byte(sim.Table(outcomes)))
	return err
}
