package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

// simulateOptions are the flags of simulate that are not configuration keys.
type simulateOptions struct {
	fusion.Options

	dev, test, plot string
	prior           float64
	seed            uint64
}

func (a *app) simulateCommand() *cobra.Command {
	o := &simulateOptions{}
	cmd := &cobra.Command{
		Use:   "simulate --dev FILE --test FILE",
		Short: "Show what judges with known error rates would be worth",
		Long: `Show what judges with known error rates would be worth on labelled texts: the
JSONL output of batch --no-judge --full for rows with "labels". Parameters are fitted on
the dev rows and everything is measured on the test rows. Only the answers of the
judges are simulated, by random numbers.`,
		Example: `  toxscreen batch --no-judge --full -i dev.jsonl -o dev-scored.jsonl
  toxscreen batch --no-judge --full -i test.jsonl -o test-scored.jsonl
  toxscreen simulate --dev dev-scored.jsonl --test test-scored.jsonl --plot simulation.svg`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.simulate(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dev, "dev", "", "`FILE` of labelled results to fit on")
	flags.StringVar(&o.test, "test", "", "`FILE` of labelled results to measure on")
	flags.Float64Var(&o.prior, "prior", 0.1, "weight the rows so that this share of them is toxic; 0: weights as given")
	flags.StringVar(&o.plot, "plot", "", "`FILE` for the plot, as SVG")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the random numbers that decide the judges' answers")
	addPriceFlags(cmd, &o.Options, 0.15) // the budget of the goals in docs/fusion.md
	inGroup(cmd, ioGroup, "dev", "test", "plot")
	inGroup(cmd, sampleGroup, "seed")
	inGroup(cmd, decisionGroup, "prior")
	addThresholdFlag(cmd, "as in the results")
	addFlags(cmd, "format")
	for _, name := range []string{"dev", "test"} {
		_ = cmd.MarkFlagFilename(name, "jsonl", "ndjson")
	}
	_ = cmd.MarkFlagFilename("plot", "svg")
	return cmd
}

func (a *app) simulate(cmd *cobra.Command, o *simulateOptions) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	switch {
	case o.dev == "" || o.test == "":
		return wrongUsage("the rows are missing: name them with --dev FILE and --test FILE")
	case !(o.prior >= 0 && o.prior < 1):
		return wrongUsage("--prior: %v is not a share of toxic texts: it must be 0 or more and less than 1", o.prior)
	}
	if err := checkPrices(o.Prices, o.Budget); err != nil {
		return err
	}
	dev, err := labelled.Read(o.dev, a.in)
	if err != nil {
		return err
	}
	test, err := labelled.Read(o.test, a.in)
	if err != nil {
		return err
	}
	if dev.Model != test.Model {
		return fmt.Errorf("failed to simulate: %s was scored by %s, %s by %s: score both with one model", o.dev, dev.Model, o.test, test.Model)
	}
	if o.prior > 0 {
		for _, scored := range []*labelled.Results{&dev, &test} {
			if err := scored.SetPrior(o.prior); err != nil {
				return err
			}
		}
	}
	thresholds := dev.Thresholds
	for attribute, threshold := range s.Thresholds.All() {
		thresholds.Set(attribute, threshold)
	}
	sim := eval.Simulation{
		Dev: dev.Rows, Test: test.Rows, Model: dev.Model, Thresholds: thresholds, Judges: eval.SimulatedJudges,
		FalseAlarm: o.Prices.FalseAlarm, Miss: o.Prices.Miss, Call: o.Prices.Call, Budget: o.Budget.Share, Texts: o.Budget.Texts, Fixed: toxscreen.DefaultBand, Seed: o.seed,
		Fit: func(rows []toxscreen.Labelled, price float64) (eval.Combined, error) {
			fit := fusion.Options{Model: dev.Model, Thresholds: thresholds, Prices: o.Prices, Budget: o.Budget}
			fit.Prices.Call += price
			return fusion.Fitted(rows, fit)
		},
	}
	if o.Prices.FalseAlarm == 0 {
		threshold, _ := thresholds.Get(toxscreen.Toxicity)
		sim.FalseAlarm, sim.Miss = 2*threshold, 2*(1-threshold) // derived from the threshold
	}
	outcomes, err := eval.Simulate(cmd.Context(), sim)
	if err != nil {
		return err
	}
	if o.plot != "" {
		err := files.Write(o.plot, 0o644, func(w io.Writer) error { return eval.PlotSimulation(w, outcomes) })
		if err != nil {
			return fmt.Errorf("failed to write %s: %w", o.plot, err)
		}
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, outcomes, "  ")
	}
	_, err = a.out.Write([]byte(sim.Table(outcomes)))
	return err
}
