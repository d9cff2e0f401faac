package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/rows/labelled"
	"github.com/toxscreen/toxscreen/screen"
)

// calibrateOptions are the flags of calibrate that are not configuration keys.
type calibrateOptions struct {
	fusion.Options

	input, output, plots string
	overwrite            bool
	prior                float64
}

func (a *app) calibrateCommand() *cobra.Command {
	o := &calibrateOptions{}
	cmd := &cobra.Command{
		Use:   "calibrate -i FILE -o FILE",
		Short: "Fit fusion parameters to labelled texts",
		Long: `Fit the fusion parameters to labelled texts: the JSONL output of feedback export, or
of batch --full for rows with "labels", like {"text": "…", "labels": {"toxicity": 1}}.
A label is the share of people who say that the attribute applies. If results have verdicts, the weight
of the judge is fitted too; --judge-trust none --judge-band 0.05-0.95 makes batch ask
for enough of them, also of a judge that was not tested. Parameters that do not help in cross-validation are left out.`,
		Example: `  toxscreen batch -i labelled.jsonl -o scored.jsonl --keep-text --judge-model MODEL --judge-trust none --judge-band 0.05-0.95
  toxscreen calibrate -i scored.jsonl -o fusion.json --budget 0.15 --plots plots
  toxscreen batch -i comments.jsonl -o out.jsonl --judge-model MODEL --calibration fusion.json`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input, "input", "i", "", "`FILE` of labelled results, or - for standard input")
	flags.StringVarP(&o.output, "output", "o", "", "`FILE` to write the parameters to")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing output")
	flags.StringVar(&o.plots, "plots", "", "`FOLDER` for reliability diagrams and the escalation curve")
	flags.Float64Var(&o.prior, "prior", 0, "weight the rows so that this share of them is toxic; default: weights as given")
	addPriceFlags(cmd, &o.Options, 0)
	flags.Float64Var(&o.Traffic.Texts, "texts-a-minute", 0, "texts scored per minute, for --tokens-a-minute and --seconds-a-minute")
	flags.Float64Var(&o.Traffic.Tokens, "tokens-a-minute", 0, "tokens that the judge may read and write per minute; 0: no limit")
	flags.Float64Var(&o.Traffic.Seconds, "seconds-a-minute", 0, "seconds that verdicts may take per minute; 0: no limit")
	inGroup(cmd, ioGroup, "input", "output", "overwrite", "plots")
	inGroup(cmd, decisionGroup, "prior")
	inGroup(cmd, priceGroup, "texts-a-minute", "tokens-a-minute", "seconds-a-minute")
	addFlags(cmd, "calibration")
	flags.Lookup("calibration").Usage = "`FILE` with fusion parameters; its parameters of other judges are kept"
	addThresholdFlag(cmd, "as in the results")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("output", "json")
	_ = cmd.MarkFlagDirname("plots")
	return cmd
}

// addPriceFlags adds the flags for the prices of decisions and for the share of
// texts that may be judged.
func addPriceFlags(cmd *cobra.Command, o *fusion.Options, budget float64) {
	flags := cmd.Flags()
	flags.Float64Var(&o.Prices.Call, "price-call", fusion.Default().Prices.Call, "price of a verdict; 1 is the price of an error")
	flags.Float64Var(&o.Prices.FalseAlarm, "price-false-alarm", 0, "price of a clean text that is flagged; default: derived from the threshold")
	flags.Float64Var(&o.Prices.Miss, "price-miss", 0, "price of a toxic text that is not flagged; default: derived from the threshold")
	flags.Float64Var(&o.Budget.Share, "budget", budget, "maximum share of texts that may be judged; 0: no limit")
	flags.IntVar(&o.Budget.Texts, "budget-texts", 10_000, "number of texts that the budget applies to")
	inGroup(cmd, priceGroup, "price-call", "price-false-alarm", "price-miss", "budget", "budget-texts")
}

// checkPrices refuses invalid values of the flags of addPriceFlags.
func checkPrices(prices fusion.Prices, budget fusion.Budget) error {
	switch {
	case (prices.FalseAlarm > 0) != (prices.Miss > 0):
		return wrongUsage("--price-false-alarm and --price-miss belong together: give both or none")
	case !(prices.FalseAlarm >= 0) || !(prices.Miss >= 0) || !(prices.Call >= 0):
		return wrongUsage("a price must be 0 or more")
	case !(budget.Share >= 0 && budget.Share <= 1):
		return wrongUsage("--budget: %v is not a share in 0..1", budget.Share)
	case budget.Texts < 1:
		return wrongUsage("--budget-texts: %d is not 1 or more", budget.Texts)
	}
	return nil
}

func (a *app) calibrate(cmd *cobra.Command, o *calibrateOptions) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	switch {
	case o.input == "":
		return wrongUsage("the input is missing: name it with -i FILE, or -i - for standard input")
	case o.output == "":
		return wrongUsage("the output is missing: name it with -o FILE")
	case !(o.prior >= 0 && o.prior < 1):
		return wrongUsage("--prior: %v is not a share of toxic texts: it must be 0 or more and less than 1", o.prior)
	case (o.Traffic.Tokens != 0 || o.Traffic.Seconds != 0) && !(o.Traffic.Texts > 0):
		return wrongUsage("--tokens-a-minute and --seconds-a-minute need --texts-a-minute, to compute a share of texts")
	}
	if err := checkPrices(o.Prices, o.Budget); err != nil {
		return err
	}
	if err := mayWrite(o.output, o.overwrite); err != nil {
		return err
	}
	scored, err := labelled.Read(o.input, a.in)
	if err != nil {
		return err
	}
	if o.prior > 0 {
		if err := scored.SetPrior(o.prior); err != nil {
			return err
		}
	}
	assumed := assumedPrior(scored, o.prior > 0)
	o.Model, o.Thresholds = scored.Model, scored.Thresholds
	for attribute, threshold := range s.Thresholds.All() {
		o.Thresholds.Set(attribute, threshold)
	}
	if s.Calibration != "" {
		base, err := screen.ReadCalibration(s.Calibration)
		switch {
		case err != nil:
			return err
		case base.Model == o.Model:
			o.Base = base.Params
		case s.byFlag("calibration"):
			return fmt.Errorf("failed to keep the judges of %s: its parameters are for %s, the new ones for %s; leave out --calibration to fit without them", s.Calibration, base.Model, o.Model)
		default: // the parameters of an earlier model, which the new ones replace
			a.warn(fmt.Sprintf("%s from %s is for %s: its judges are not kept", s.Calibration, s.from("calibration"), base.Model))
		}
	}
	params, report, err := fusion.Fit(scored.Rows, o.Options)
	if err != nil {
		return err
	}
	data, file, err := params.Encode()
	if err != nil {
		return err
	}
	if o.plots != "" {
		if err := drawFit(o.plots, report); err != nil {
			return err
		}
	}
	if err := files.WriteBytes(o.output, 0o644, data); err != nil {
		return fmt.Errorf("failed to write %s: %w", o.output, err)
	}
	_, err = fmt.Fprintf(a.out, "%s\n%s\n%s, %s: use it with --calibration\n", assumed, terminal.Escape(report.Text(params)), terminal.Escape(o.output), file.Hash)
	return err
}

// assumedPrior says which share of toxic texts a fit assumes and where it comes from:
// fitted scores are only right for texts with that share.
func assumedPrior(scored labelled.Results, given bool) string {
	prior, ok := scored.Prior()
	if !ok {
		return "no row has a label for toxicity: the share of toxic texts is unknown"
	}
	source := "as --prior says"
	if !given {
		source = "as among the labels"
		if slices.ContainsFunc(scored.Rows, func(row toxscreen.Labelled) bool { return row.Weight != 1 }) {
			source += " with their weights"
		}
		source += "; set that of your traffic with --prior"
	}
	return fmt.Sprintf("the share of toxic texts is taken to be %.1f %%, %s", 100*prior, source)
}

// drawFit writes the plots of a fit into a folder.
func drawFit(folder string, r fusion.Report) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to draw plots: %w", files.Cause(err))
	}
	draw := func(name string, plot func(io.Writer) error) error {
		if err := files.Write(filepath.Join(folder, name+".svg"), 0o644, plot); err != nil {
			return fmt.Errorf("failed to draw plots: %w", err)
		}
		return nil
	}
	for _, one := range r.Attributes {
		if len(one.Held) == 0 {
			continue
		}
		var before, after []eval.Scored
		for _, h := range one.Held {
			before = append(before, eval.Shared(h.Before, h.Label, h.Weight)...)
			after = append(after, eval.Shared(h.After, h.Label, h.Weight)...)
		}
		err := draw("reliability-"+one.Attribute.String(), func(w io.Writer) error {
			return eval.PlotReliability(w, "Reliability: "+one.Attribute.String(), before, after)
		})
		if err != nil {
			return err
		}
	}
	if len(r.Curve) == 0 {
		return nil
	}
	var curve []eval.Saving
	for _, point := range r.Curve {
		curve = append(curve, eval.Saving{Share: point.Share, Worth: 1000 * point.Worth})
	}
	return draw("escalation", func(w io.Writer) error {
		return eval.PlotEscalation(w, "Value of verdicts", curve, r.Share)
	})
}
