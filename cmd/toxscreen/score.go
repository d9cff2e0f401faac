package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

func (a *app) scoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "score [TEXT | -]",
		Short: "Score one text",
		Long: `Score one text: the argument, or standard input for - or when there is no
argument. Every byte of it counts, a line break at its end too.`,
		Example: `  toxscreen score "you are a stupid idiot"
  toxscreen score --format json < comment.txt
  toxscreen score --mask "you are a stupid idiot"
  toxscreen score --fail-on 0.8 --fail-on threat=0.5 - < reply.txt`,
		Args:              arguments(0, 1, "one text (in quotes)"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.score,
	}
	cmd.Flags().Bool("explain", false, "show how the scores came about: prior, evidence and posterior")
	cmd.Flags().Bool("mask", false, "print the text with the words that make it score masked, and nothing else")
	addFormatFlag(cmd)
	addScoringFlags(cmd)
	addEscalationFlags(cmd)
	addModelFlags(cmd)
	return cmd
}

func (a *app) score(cmd *cobra.Command, args []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	mask, _ := cmd.Flags().GetBool("mask")
	explain, _ := cmd.Flags().GetBool("explain")
	if mask && cmd.Flags().Changed("format") {
		return wrongUsage("--mask prints the text and nothing else: it cannot be combined with --format")
	}
	if explain && (mask || s.Format != "text") {
		return wrongUsage("--explain is for people: it cannot be combined with --mask or --format json")
	}
	text, err := a.textOf(cmd.Context(), args, s.MaxBytes)
	if err != nil {
		return err
	}
	model, err := open(s)
	if err != nil {
		return err
	}
	defer model.Close()
	judges, err := openEscalation(cmd, s, model.Info().Version)
	if err != nil {
		return err
	}
	defer judges.close()
	screener := newScreener(s, model, judges.options...)
	result, err := screener.Score(cmd.Context(), text)
	if err != nil {
		return err
	}
	switch {
	case mask:
		err = a.printMasked(text, result, len(args) > 0 && args[0] != "-")
	case s.Format == "json":
		err = writeJSON(a.out, result.In(s.OffsetUnit, text), "")
	default:
		err = a.view().print(text, result, s.OffsetUnit)
		if err == nil && explain {
			err = a.printExplanation(judges, result)
		}
	}
	if err != nil {
		return err
	}
	if s.FailOn.reached(scoreOf(result)) {
		return exit{code: exitReached}
	}
	return nil
}

// textOf returns the text to score: at most one byte more than the limit,
// which suffices to refuse it.
func (a *app) textOf(ctx context.Context, args []string, limit int) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && isTerminal(a.in) {
		return "", wrongUsage("no text: give it as an argument in quotes, or - to type it and end with Ctrl-D")
	}
	text, err := io.ReadAll(io.LimitReader(newInterruptible(ctx, a.in), int64(limit)+1))
	if err != nil {
		return "", fmt.Errorf("failed to read standard input: %w", err)
	}
	if len(text) > limit {
		return "", fmt.Errorf("failed to score text: %w: standard input has more than %d bytes; raise --max-bytes or split the text", toxscreen.ErrTooLong, limit)
	}
	return string(text), nil
}

// printMasked prints the text with its spans masked. What comes from a pipe
// goes out byte by byte as it came in, apart from the masks; an argument gets
// the line break that it lacks.
func (a *app) printMasked(text string, result toxscreen.Result, argument bool) error {
	if result.Spans == nil {
		return fmt.Errorf("failed to mask text: model %s does not tell which words make a text score", result.Versions.Model)
	}
	for _, w := range result.Warnings {
		fmt.Fprintln(a.err, "toxscreen: warning: "+printable(w))
	}
	masked := toxscreen.Mask(text, result.Spans)
	if a.terminal {
		masked = printable(masked)
	}
	if argument || a.terminal && !strings.HasSuffix(masked, "\n") {
		masked += "\n"
	}
	_, err := io.WriteString(a.out, masked)
	return err
}

// printExplanation tells how the scores of a result came about.
func (a *app) printExplanation(judges escalation, result toxscreen.Result) error {
	steps, err := judges.explain(result)
	if err != nil {
		return err
	}
	v := a.view()
	asked := "not asked"
	if result.Judge.Asked {
		asked = "asked"
	}
	fmt.Fprintf(a.out, "\n%s %s: %s\n", v.style(bold, "judge"), asked, printable(result.Judge.Why))
	for _, step := range steps {
		fmt.Fprintln(a.out, step)
	}
	_, err = fmt.Fprintf(a.out, "%s\n", v.style(dim, "by fusion parameters "+result.Versions.Calibration))
	return err
}

// open opens the model of the settings.
func open(s *settings) (*models.Model, error) {
	model, err := models.Open(s.Model, models.Options{Library: s.ONNXRuntime, Provider: s.Provider, Threads: s.Threads})
	if err != nil {
		return nil, err
	}
	if err := fits(s, model.Info()); err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return model, nil
}

// newScreener returns the screener of the settings on a model.
func newScreener(s *settings, model *models.Model, more ...toxscreen.Option) *toxscreen.Screener {
	options := append([]toxscreen.Option{toxscreen.WithThresholds(s.Thresholds), toxscreen.WithMaxBytes(s.MaxBytes)}, more...)
	return toxscreen.New(model, options...)
}

// fits refuses what asks for an attribute that the model does not have: a
// gate that can never close is no gate. A threshold from a file or the
// environment is for whichever model has the attribute.
func fits(s *settings, info toxscreen.ModelInfo) error {
	for a := range toxscreen.Scores(s.FailOn).All() {
		if !slices.Contains(info.Attributes, a) {
			return fmt.Errorf("failed to apply fail_on from %s: model %s does not measure %s", s.values["fail_on"].from, info.Version, a)
		}
	}
	for a := range s.Thresholds.All() {
		if !slices.Contains(info.Attributes, a) && s.values["thresholds."+a.String()].flag {
			return fmt.Errorf("failed to apply --threshold: model %s does not measure %s", info.Version, a)
		}
	}
	return nil
}

// scoreOf returns the scores of a result as they are printed, so that what
// reads 0.8 is at 0.8.
func scoreOf(r toxscreen.Result) func(toxscreen.Attribute) (float64, bool) {
	return func(a toxscreen.Attribute) (float64, bool) {
		measured, ok := r.Attributes[a]
		return measured.Score.Rounded(), ok
	}
}

// writeJSON writes a value and a line break. It leaves <, > and & as they
// are: texts for people are full of them.
func writeJSON(w io.Writer, value any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(value)
}
