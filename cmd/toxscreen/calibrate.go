package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows/labelled"
	"github.com/toxscreen/toxscreen/screen"
)

// calibrateOptions are the flags of calibrate that are not configuration keys.
type calibrateOptions struct {
	fit.Options

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
		RunE: config.Run(func(_ *cobra.Command, s *config.Settings, _ []string) error { return a.calibrate(s, o) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.input, "input", "i", "", "`FILE` of labelled results, or - for standard input")
	flags.StringVarP(&o.output, "output", "o", "", "`FILE` to write the parameters to")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing output")
	flags.StringVar(&o.plots, "plots", "", "`FOLDER` for reliability diagrams and the escalation curve")
	flags.Float64Var(&o.prior, "prior", 0, "weight the rows so that this share of them is toxic; default: weights as given")
	flags.Float64Var(&o.Prices.Call, "price-call", fusion.Default().Prices.Call, "price of a verdict; 1 is the price of an error")
	flags.Float64Var(&o.Prices.FalseAlarm, "price-false-alarm", 0, "price of a clean text that is flagged; default: derived from the threshold")
	flags.Float64Var(&o.Prices.Miss, "price-miss", 0, "price of a toxic text that is not flagged; default: derived from the threshold")
	flags.Float64Var(&o.Budget.Share, "budget", 0, "maximum share of texts that may be judged; 0: no limit")
	flags.IntVar(&o.Budget.Texts, "budget-texts", 10_000, "number of texts that the budget applies to")
	flags.Float64Var(&o.Traffic.Texts, "texts-a-minute", 0, "texts scored per minute, for --tokens-a-minute and --seconds-a-minute")
	flags.Float64Var(&o.Traffic.Tokens, "tokens-a-minute", 0, "tokens that the judge may read and write per minute; 0: no limit")
	flags.Float64Var(&o.Traffic.Seconds, "seconds-a-minute", 0, "seconds that verdicts may take per minute; 0: no limit")
	usage.InGroup(cmd, usage.InputOutput, "input", "output", "overwrite", "plots")
	usage.InGroup(cmd, usage.Decisions, "prior")
	usage.InGroup(cmd, usage.Prices, "price-call", "price-false-alarm", "price-miss", "budget", "budget-texts", "texts-a-minute", "tokens-a-minute", "seconds-a-minute")
	config.AddFlags(cmd, "calibration")
	flags.Lookup("calibration").Usage = "`FILE` with fusion parameters; its parameters of other judges are kept"
	config.AddThresholdFlag(cmd, "as in the results")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("output", "json")
	return cmd
}

func (a *app) calibrate(s *config.Settings, o *calibrateOptions) error {
	switch {
	case o.input == "":
		return usage.Wrong("the input is missing: name it with -i FILE, or -i - for standard input")
	case o.output == "":
		return usage.Wrong("the output is missing: name it with -o FILE")
	case !(o.prior >= 0 && o.prior < 1):
		return usage.Wrong("--prior: %v is not a share of toxic texts: it must be 0 or more and less than 1", o.prior)
	case (o.Traffic.Tokens != 0 || o.Traffic.Seconds != 0) && !(o.Traffic.Texts > 0):
		return usage.Wrong("--tokens-a-minute and --seconds-a-minute need --texts-a-minute, to compute a share of texts")
	case (o.Prices.FalseAlarm > 0) != (o.Prices.Miss > 0):
		return usage.Wrong("--price-false-alarm and --price-miss belong together: give both or none")
	case !(o.Prices.FalseAlarm >= 0) || !(o.Prices.Miss >= 0) || !(o.Prices.Call >= 0):
		return usage.Wrong("a price must be 0 or more")
	case !(o.Budget.Share >= 0 && o.Budget.Share <= 1):
		return usage.Wrong("--budget: %v is not a share in 0..1", o.Budget.Share)
	case o.Budget.Texts < 1:
		return usage.Wrong("--budget-texts: %d is not 1 or more", o.Budget.Texts)
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
		case s.ByFlag("calibration"):
			return fmt.Errorf("failed to keep the judges of %s: its parameters are for %s, the new ones for %s; leave out --calibration to fit without them", s.Calibration, base.Model, o.Model)
		default: // the parameters of an earlier model, which the new ones replace
			a.warn(fmt.Sprintf("%s from %s is for %s: its judges are not kept", s.Calibration, s.From("calibration"), base.Model))
		}
	}
	params, fitted, err := fit.Params(scored.Rows, o.Options)
	if errors.Is(err, fit.ErrVerdicts) {
		return usage.WithHint(err, "judge more texts with --judge-trust none --judge-band 0.05-0.95")
	}
	if err != nil {
		return err
	}
	data, file, err := params.Encode()
	if err != nil {
		return err
	}
	if o.plots != "" {
		if err := drawFit(o.plots, fitted); err != nil {
			return err
		}
	}
	if err := files.WriteBytes(o.output, 0o644, data); err != nil {
		return fmt.Errorf("failed to write %s: %w", o.output, err)
	}
	_, err = fmt.Fprintf(a.out, "%s\n%s\n%s, %s: use it with --calibration\n", assumed, terminal.Escape(fitted.Text(params)), terminal.Escape(o.output), file.Hash)
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
func drawFit(folder string, r fit.Report) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to draw plots: %w", files.Cause(err))
	}
	charts := map[string]report.Chart{}
	for _, one := range r.Attributes {
		if len(one.Held) > 0 {
			charts["reliability-"+one.Attribute.String()] = reliability(one)
		}
	}
	if len(r.Curve) > 0 {
		charts["escalation"] = escalation(r)
	}
	for name, chart := range charts {
		if err := files.Write(filepath.Join(folder, name+".svg"), 0o644, chart.SVG); err != nil {
			return fmt.Errorf("failed to draw plots: %w", err)
		}
	}
	return nil
}

// reliability draws the share of toxic texts by their mean probability, before and after
// calibration.
func reliability(r fit.AttributeReport) report.Chart {
	var before, after []eval.Scored
	for _, h := range r.Held {
		before = append(before, eval.Shared(h.Before, h.Label, h.Weight)...)
		after = append(after, eval.Shared(h.After, h.Label, h.Weight)...)
	}
	line := func(name string, texts []eval.Scored) report.Line {
		line := report.Line{Name: fmt.Sprintf("%s, ECE %.3f", name, eval.ECE(texts))}
		for i, bin := range eval.Reliability(texts) {
			line.X, line.Y, line.Dots = append(line.X, bin.Mean), append(line.Y, bin.Observed), append(line.Dots, i)
		}
		return line
	}
	return report.Lines("Reliability: "+r.Attribute.String(), "mean probability", "share of toxic texts", true, line("before", before), line("after", after))
}

// escalation draws the worth of verdicts by the share of judged texts, with a dot at the
// share that is judged.
func escalation(r fit.Report) report.Chart {
	line := report.Line{Name: fmt.Sprintf("%.3g %% are judged", 100*r.Share)}
	for i, point := range r.Curve {
		line.X, line.Y = append(line.X, point.Share), append(line.Y, 1000*point.Worth)
		if point.Share <= r.Share+1e-12 {
			line.Dots = []int{i}
		}
	}
	return report.Lines("Value of verdicts", "share of texts that are judged", "errors that verdicts prevent, per 1,000 texts", false, line)
}
