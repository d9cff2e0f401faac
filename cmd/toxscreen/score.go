package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) scoreCommand() *cobra.Command {
	var mask, explain bool
	cmd := &cobra.Command{
		Use:   "score [TEXT… | -]",
		Short: "Score texts",
		Long: `Score texts. Each argument is one text. Without an argument, or with -, the text is
standard input, where every byte counts, also a line break at the end. The exit code
is 3 if a text is not decided, because it is in a language that the model does not
know, or if the judge was asked and gave no verdict.`,
		Example: `  toxscreen score "you are a stupid idiot"
  toxscreen score --format json "first text" "second text"
  toxscreen score --format json < comment.txt
  toxscreen score --mask "you are a stupid idiot"
  toxscreen score --fail-on flagged - < reply.txt`,
		Args:        cobra.ArbitraryArgs,
		SuggestFor:  []string{"analyse", "analyze", "check", "classify", "detect", "moderate", "predict", "scan", "screen"},
		Annotations: map[string]string{usage.RowsCommand: "toxscreen batch"},
		RunE:        func(cmd *cobra.Command, args []string) error { return a.score(cmd, args, mask, explain) },
	}
	config.AddFlags(cmd, "format")
	cmd.Flags().BoolVar(&mask, "mask", false, "print only the text, and mask the words that make it flagged")
	cmd.Flags().BoolVar(&explain, "explain", false, "explain each score: prior, evidence and posterior; implies --full")
	usage.InGroup(cmd, usage.InputOutput, "mask", "explain")
	config.AddFlags(cmd, "fail_on")
	config.AddPIIFlag(cmd)
	config.AddScreenerFlags(cmd)
	return cmd
}

// scoreSettings returns the settings of score.
func scoreSettings(cmd *cobra.Command, mask, explain bool) (*config.Settings, error) {
	s, err := config.Load(cmd)
	if err == nil {
		err = s.ReadPIIFlag(cmd)
	}
	if err != nil {
		return nil, err
	}
	if mask && cmd.Flags().Changed("format") {
		return nil, usage.Wrong("--mask prints only the text: it cannot be combined with --format")
	}
	if mask && s.WithPII {
		return nil, usage.Wrong("--mask masks what makes a text toxic: it cannot be combined with --pii; personal data is masked by toxscreen pii --mask")
	}
	if explain && (mask || s.Format != "text") {
		return nil, usage.Wrong("--explain is for the text format: it cannot be combined with --mask or --format json")
	}
	return s, nil
}

func (a *app) score(cmd *cobra.Command, args []string, mask, explain bool) error {
	s, err := scoreSettings(cmd, mask, explain)
	if err != nil {
		return err
	}
	texts, err := a.textsOf(cmd, args, s.MaxBytes)
	if err != nil {
		return err
	}
	if explain {
		s.Full = true
	}
	if s.Format == "text" {
		s.OnTrust = a.warnOnce()
	}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	show := func(text string, result toxscreen.Result) error {
		switch {
		case mask:
			return a.printMasked(text, result, len(args) > 0 && args[0] != "-")
		case s.Format == "json":
			return plainjson.Write(a.out, result.In(s.OffsetUnit, text), "")
		}
		if err := a.view().Result(text, result, s.OffsetUnit); err != nil || !explain {
			return err
		}
		steps, err := screener.Explain(result)
		if err != nil {
			return err
		}
		return a.view().Explanation(result, steps)
	}
	done, reached, partly := 0, false, false
	asIs := func(text string) (string, error) { return text, nil }
	for o := range toxscreen.Batch(cmd.Context(), screener.Screener, slices.Values(texts), asIs) {
		if o.Err != nil {
			err = o.Err
			break
		}
		if done > 0 && !mask && s.Format == "text" {
			fmt.Fprintln(a.out)
		}
		if err = show(o.Row, o.Result); err != nil {
			break
		}
		done++
		reached = reached || o.Result.Reaches(s.FailOn)
		partly = partly || o.Result.NotDecided != "" || o.Result.Judge.Missing()
	}
	if err != nil || done < len(texts) {
		return unfinished(cmd.Context(), err, done, len(texts))
	}
	return ended(reached, partly)
}

// unfinished returns the error of a command that scored only some of its texts.
func unfinished(ctx context.Context, err error, done, all int) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; %d of %s scored", done, plural.Count(all, "text is", "texts are"))
	case all > 1:
		return fmt.Errorf("text %d of %d: %w", done+1, all, err)
	}
	return err
}

// textsOf returns the texts to score: the arguments, or standard input.
func (a *app) textsOf(cmd *cobra.Command, args []string, limit int) ([]string, error) {
	if len(args) > 1 {
		if slices.Contains(args, "-") {
			return nil, usage.Wrong("- stands for standard input: it cannot be combined with other texts")
		}
		return args, usage.RefuseFiles(cmd, args, a.args, rowsFlags)
	}
	text, err := a.textOf(cmd, args, limit)
	return []string{text}, err
}

// textOf returns the one text of a command: its argument, or standard input. It reads
// at most one byte more than the limit, which is enough to refuse the text.
func (a *app) textOf(cmd *cobra.Command, args []string, limit int) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], usage.RefuseFiles(cmd, args, a.args, rowsFlags)
	}
	ctx := cmd.Context()
	if len(args) == 0 && terminal.Is(a.in) {
		return "", usage.Wrong("no text: pass it as an argument in quotes, or use - to type it and end with Ctrl-D")
	}
	text, err := io.ReadAll(io.LimitReader(files.Interruptible(ctx, a.in), int64(limit)+1))
	if ctx.Err() != nil {
		return "", errors.New("interrupted while standard input was read")
	}
	if err != nil {
		return "", fmt.Errorf("failed to read standard input: %w", err)
	}
	if len(text) > limit {
		return "", fmt.Errorf("failed to read text: %w: standard input has more than %s; raise --max-bytes or split the text", toxscreen.ErrTooLong, plural.Count(limit, "byte", "bytes"))
	}
	return string(text), nil
}

// printMasked prints the text with its spans masked.
func (a *app) printMasked(text string, result toxscreen.Result, argument bool) error {
	if result.Spans == nil {
		return fmt.Errorf("failed to mask text: model %s has no spans: it cannot find the words that raise the score", result.Versions.Model)
	}
	for _, w := range result.Warnings {
		a.warn(w)
	}
	return a.printText(toxscreen.Mask(text, result.FlaggedSpans()), argument)
}

// printText prints a text. What came from a pipe is copied byte by byte; an argument gets a
// line break.
func (a *app) printText(text string, argument bool) error {
	if a.terminal {
		text = terminal.Escape(text)
	}
	if argument || a.terminal && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(a.out, text)
	return err
}

// warnOnce returns a function that says why a judge is not asked, or what it is asked
// for. Of the same state it says so once.
func (a *app) warnOnce() func(screen.Trust) {
	said := map[screen.TrustState]bool{}
	return func(t screen.Trust) {
		if warning := t.Warning(); warning != "" && !said[t.State] {
			said[t.State] = true
			a.warn(warning)
		}
	}
}

// openScreener opens the screener of the settings.
func openScreener(s *config.Settings) (*screen.Screener, error) {
	screener, err := screen.Open(s.Settings)
	if err != nil {
		return nil, cacheHint(err)
	}
	if err := fits(s, screener.Info()); err != nil {
		return nil, errors.Join(err, screener.Close())
	}
	return screener, nil
}

// cacheHint adds a hint to the error of a verdict cache that cannot be opened.
func cacheHint(err error) error {
	if _, cache := errors.AsType[*screen.CacheError](err); cache {
		return usage.WithHint(err, "use --judge-cache off to run without it")
	}
	return err
}

// fits refuses settings for an attribute that the model does not measure: --fail-on
// could never fail. A threshold from a file or the environment is only used by
// models with the attribute.
func fits(s *config.Settings, info toxscreen.ModelInfo) error {
	for a := range s.FailOn.Scores.All() {
		if !slices.Contains(info.Attributes, a) {
			return fmt.Errorf("failed to apply fail_on from %s: model %s does not measure %s", s.From("fail_on"), info.Version, a)
		}
	}
	for a := range s.Thresholds.All() {
		if !slices.Contains(info.Attributes, a) && s.ByFlag("thresholds."+a.String()) {
			return fmt.Errorf("failed to apply --threshold: model %s does not measure %s", info.Version, a)
		}
	}
	return nil
}
