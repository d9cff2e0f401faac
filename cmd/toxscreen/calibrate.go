package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) calibrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calibrate -i SCORED -o FILE",
		Short: "Fit to labelled texts how scores and verdicts are fused",
		Long: `Fit the fusion parameters to texts that people labelled: the JSONL that batch
wrote of rows with "labels", like {"text": "…", "labels": {"toxicity": 1}}. A
label is the share of people who say so. Where results hold verdicts, what the
judge is worth is fitted too; --judge-band 0.05-0.95 has batch ask for enough of
them. Whatever does not show in cross-validation that it helps is left out.`,
		Example: `  toxscreen batch -i labelled.jsonl -o scored.jsonl --keep-text --judge-model MODEL --judge-band 0.05-0.95
  toxscreen calibrate -i scored.jsonl -o fusion.json --budget 0.15 --plots plots
  toxscreen batch -i comments.jsonl -o out.jsonl --judge-model MODEL --calibration fusion.json`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.calibrate,
	}
	flags := cmd.Flags()
	flags.StringP("input", "i", "", "`FILE` of labelled results, or - for standard input")
	flags.StringP("output", "o", "", "`FILE` to write the parameters to")
	flags.Bool("overwrite", false, "write anew what exists")
	flags.String("plots", "", "`FOLDER` for reliability diagrams and the escalation curve")
	flags.Float64("prior", 0, "weigh the rows so that this share of them is toxic; default: as they are")
	addPriceFlags(cmd, 0)
	flags.Float64("texts-a-minute", 0, "texts that are scored a minute, for the next two")
	flags.Float64("tokens-a-minute", 0, "tokens that the judge may read and write a minute; 0: no bound")
	flags.Float64("seconds-a-minute", 0, "seconds that verdicts may take a minute; 0: no bound")
	addFlags(cmd, "calibration")
	flags.Lookup("calibration").Usage = "`FILE` with parameters of other judges to keep"
	addThresholdFlag(cmd, "as the results were")
	_ = cmd.MarkFlagFilename("input", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("output", "json")
	_ = cmd.MarkFlagDirname("plots")
	return cmd
}

// addPriceFlags adds the flags of what decisions cost and of how many texts may
// be judged.
func addPriceFlags(cmd *cobra.Command, budget float64) {
	flags := cmd.Flags()
	flags.Float64("price-call", fusion.Default().Prices.Call, "price of a verdict; 1 is the price of an error")
	flags.Float64("price-false-alarm", 0, "price of a clean text that is flagged; default: as the threshold implies")
	flags.Float64("price-miss", 0, "price of a toxic text that is not; default: as the threshold implies")
	flags.Float64("budget", budget, "share of texts that may be judged at most; 0: no bound")
	flags.Int("budget-texts", 10_000, "number of texts of which the budget holds")
}

// pricesOf returns what the flags of addPriceFlags say.
func pricesOf(cmd *cobra.Command) (fusion.Prices, fusion.Budget, error) {
	flags := cmd.Flags()
	number := func(name string) float64 {
		value, _ := flags.GetFloat64(name)
		return value
	}
	texts, _ := flags.GetInt("budget-texts")
	prices := fusion.Prices{FalseAlarm: number("price-false-alarm"), Miss: number("price-miss"), Call: number("price-call")}
	budget := fusion.Budget{Share: number("budget"), Texts: texts}
	switch {
	case (prices.FalseAlarm > 0) != (prices.Miss > 0):
		return prices, budget, wrongUsage("--price-false-alarm and --price-miss belong together: give both or none")
	case !(prices.FalseAlarm >= 0) || !(prices.Miss >= 0) || !(prices.Call >= 0):
		return prices, budget, wrongUsage("a price must be 0 or more")
	case !(budget.Share >= 0 && budget.Share <= 1):
		return prices, budget, wrongUsage("--budget: %v is no share in 0..1", budget.Share)
	case texts < 1:
		return prices, budget, wrongUsage("--budget-texts: %d is no number of texts", texts)
	}
	return prices, budget, nil
}

func (a *app) calibrate(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	flags := cmd.Flags()
	input, _ := flags.GetString("input")
	output, _ := flags.GetString("output")
	overwrite, _ := flags.GetBool("overwrite")
	plots, _ := flags.GetString("plots")
	prior, _ := flags.GetFloat64("prior")
	o := fusion.Options{}
	if o.Prices, o.Budget, err = pricesOf(cmd); err != nil {
		return err
	}
	o.Traffic.Texts, _ = flags.GetFloat64("texts-a-minute")
	o.Traffic.Tokens, _ = flags.GetFloat64("tokens-a-minute")
	o.Traffic.Seconds, _ = flags.GetFloat64("seconds-a-minute")
	switch {
	case input == "":
		return wrongUsage("the input is missing: name it with -i FILE, or -i - for standard input")
	case output == "":
		return wrongUsage("the output is missing: name it with -o FILE")
	case !(prior >= 0 && prior < 1):
		return wrongUsage("--prior: %v is no share of toxic texts", prior)
	case (o.Traffic.Tokens != 0 || o.Traffic.Seconds != 0) && !(o.Traffic.Texts > 0):
		return wrongUsage("--tokens-a-minute and --seconds-a-minute need --texts-a-minute: they are made a share of texts")
	}
	if _, err := os.Stat(output); !overwrite && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: choose another name, or write it anew with --overwrite", output)
	}
	labelled, err := rows.ReadLabelled(input, a.in)
	if err != nil {
		return err
	}
	if prior > 0 {
		if err := labelled.SetPrior(prior); err != nil {
			return err
		}
	}
	o.Model, o.Thresholds = labelled.Model, labelled.Thresholds
	for attribute, threshold := range s.Thresholds.All() {
		o.Thresholds.Set(attribute, threshold)
	}
	if s.Calibration != "" {
		base, err := screen.ReadCalibration(s.Calibration)
		if err != nil {
			return err
		}
		if base.Model != o.Model {
			return fmt.Errorf("failed to keep the judges of %s: its parameters are for %s, these for %s", s.Calibration, base.Model, o.Model)
		}
		o.Base = base.Params
	}
	params, report, err := fusion.Fit(labelled.Rows, o)
	if err != nil {
		return err
	}
	data, file, err := params.Encode()
	if err != nil {
		return err
	}
	if plots != "" {
		if err := drawFit(plots, report); err != nil {
			return err
		}
	}
	if err := files.WriteBytes(output, 0o644, data); err != nil {
		return fmt.Errorf("failed to write %s: %w", output, err)
	}
	_, err = fmt.Fprintf(a.out, "%s\n%s, %s: use it with --calibration\n", printable(report.Text(params)), printable(output), file.Hash)
	return err
}

// drawFit writes the plots of a fit into a folder.
func drawFit(folder string, r fusion.Report) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to draw plots: %w", files.Cause(err))
	}
	for _, one := range r.Attributes {
		if len(one.Held) == 0 {
			continue
		}
		var before, after []eval.Scored
		for _, h := range one.Held {
			// A share of people is so many texts that are toxic and so many that
			// are not.
			for _, toxic := range []bool{true, false} {
				weight := h.Weight * h.Label
				if !toxic {
					weight = h.Weight - weight
				}
				if weight > 0 {
					before = append(before, eval.Scored{P: h.Before, Toxic: toxic, Weight: weight})
					after = append(after, eval.Scored{P: h.After, Toxic: toxic, Weight: weight})
				}
			}
		}
		var b bytes.Buffer
		if err := eval.PlotReliability(&b, "Reliability: "+one.Attribute.String(), before, after); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "reliability-"+one.Attribute.String()+".svg"), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("failed to draw plots: %w", files.Cause(err))
		}
	}
	if len(r.Curve) == 0 {
		return nil
	}
	var curve []eval.Saving
	for _, point := range r.Curve {
		curve = append(curve, eval.Saving{Share: point.Share, Worth: 1000 * point.Worth})
	}
	var b bytes.Buffer
	if err := eval.PlotEscalation(&b, "What verdicts are worth", curve, r.Share); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "escalation.svg"), b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("failed to draw plots: %w", files.Cause(err))
	}
	return nil
}
