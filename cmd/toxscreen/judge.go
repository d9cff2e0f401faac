package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server/mastra"
)

// judgeOptions are the flags of judge that are not configuration keys.
type judgeOptions struct {
	selfTest bool
	list     bool // the outcomes of self-tests
	forget   bool // those of a model
	reason   bool
	prompt   string  // that the text answers
	scale    float64 // of Mastra's formats; 0 is the rubric's
}

func (a *app) judgeCommand() *cobra.Command {
	o := &judgeOptions{}
	cmd := &cobra.Command{
		Use:   "judge [TEXT | -]",
		Short: "Ask the judge about one text, or test the judge",
		Long: `Ask a language model on an Ollama server for its verdict on one text. The text is
the argument, or standard input if the argument is - or missing. It is sent to
that server and nowhere else.

--format mastra uses the rubric toxicity and prints what Mastra's toxicity scorer
returns; mastra-measure prints what its older metric returns.

--self-test asks the judge about some 280 built-in texts instead. The outcome says
for which attributes its verdicts count; score, batch and serve ask only a judge that
passed or was fitted by calibrate, and redteam none that failed. --list shows the stored outcomes, and --forget removes
those of a model, the configured one if none is named. Neither uses the network.`,
		Example: `  toxscreen judge --judge-model MODEL "you are a stupid idiot"
  toxscreen judge --judge-model MODEL --format mastra --prompt "How is Sarah?" - < reply.txt
  toxscreen judge --judge-model MODEL --self-test
  toxscreen judge --list
  toxscreen judge --forget MODEL`,
		Args:       usage.Arguments(0, 1, "one text (in quotes)"),
		SuggestFor: []string{"llm", "ollama"},
		RunE:       config.Run(func(cmd *cobra.Command, s *config.Settings, args []string) error { return a.judge(cmd, s, args, *o) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.selfTest, "self-test", false, "test whether the judge is reliable, and store the outcome")
	flags.BoolVar(&o.list, "list", false, "list the judges with self-tests, and what they are trusted for")
	flags.BoolVar(&o.forget, "forget", false, "remove the self-tests of a model: its name, with @ and the beginning of its digest if several models had the name")
	flags.BoolVar(&o.reason, "reason", false, "ask for a reason in words, which takes longer; default with Mastra's formats: true")
	flags.StringVar(&o.prompt, "prompt", "", "prompt that the text answers, for rubrics that use it")
	flags.Float64Var(&o.scale, "scale", 0, "highest score in Mastra's formats; default: the rubric's")
	usage.InGroup(cmd, usage.Judge, "self-test", "list", "forget", "reason")
	config.AddFlags(cmd, "format", "offset_unit", "max_bytes")
	usage.InGroup(cmd, usage.InputOutput, "prompt", "scale")
	config.AddFlags(cmd, config.JudgeKeys...)
	config.OfferMastra(cmd)
	flags.Lookup("offset-unit").Usage = "unit of the offsets of quotations: byte, utf16 or code_point"
	return cmd
}

// errNoJudge is the error of commands that need a judge.
var errNoJudge = usage.WithHint(
	usage.Wrong("no judge is named: use --judge-model, TOXSCREEN_JUDGE_MODEL or judge_model in toxscreen.yaml"),
	"`ollama list` shows which models the server has; docs/judge.md explains how to choose one",
)

// complete checks the options. For Mastra's formats it also sets the rubric of the
// settings if none is named.
func (o judgeOptions) complete(cmd *cobra.Command, s *config.Settings, args []string) (_ judgeOptions, err error) {
	flags := cmd.Flags()
	asMastra := config.IsMastra(s.Format)
	switch {
	case s.Judge.Model == "":
		return o, errNoJudge
	case o.selfTest && (len(args) > 0 || o.reason || flags.Changed("prompt") || asMastra):
		return o, usage.Wrong("--self-test has its own texts: it cannot be combined with a text, --reason, --prompt or --format %s", config.FormatMastra)
	case asMastra && s.IsSet("judge_rubric") && s.Judge.Rubric.Name != mastra.Rubric:
		return o, usage.Wrong("--format %s uses the rubric %s, not %s", s.Format, mastra.Rubric, s.Judge.Rubric.Name)
	case flags.Changed("scale") && !asMastra:
		return o, usage.Wrong("--scale is only for --format %s: a rubric has its own scale", config.FormatMastra)
	case flags.Changed("scale") && !(o.scale > 0 && o.scale <= 1000):
		return o, usage.Wrong("--scale: %v must be greater than 0 and at most 1000", o.scale)
	}
	if asMastra {
		if s.Judge.Rubric.Name != mastra.Rubric {
			if s.Judge.Rubric, err = judge.OpenRubric(mastra.Rubric); err != nil {
				return o, err
			}
		}
		o.reason = o.reason || !flags.Changed("reason")
	}
	if flags.Changed("prompt") && !slices.Contains(s.Judge.Rubric.Fields, "input") {
		return o, usage.Wrong("--prompt: rubric %s does not use it", s.Judge.Rubric.Name)
	}
	return o, nil
}

func (a *app) judge(cmd *cobra.Command, s *config.Settings, args []string, o judgeOptions) error {
	if o.list || o.forget {
		return a.selfTests(cmd, s, args, o)
	}
	o, err := o.complete(cmd, s, args)
	if err != nil {
		return err
	}
	s.Judge.Reason = o.reason
	if o.selfTest {
		return a.selfTest(cmd, s)
	}
	opened, err := screen.OpenJudge(s.Settings)
	if err != nil {
		return cacheHint(err)
	}
	defer opened.Close()
	if config.IsMastra(s.Format) {
		if err := opened.Graded(); err != nil {
			return usage.Wrong("--format %s needs a score: %w", s.Format, err)
		}
	}

	text, err := a.textOf(cmd, args, s.MaxBytes)
	if err != nil {
		return err
	}
	if len(text) > s.MaxBytes {
		return fmt.Errorf("failed to judge text: %w: it has %d bytes, the limit is %d; raise --max-bytes or split the text", toxscreen.ErrTooLong, len(text), s.MaxBytes)
	}
	c := judge.Case{Text: text}
	if o.prompt != "" {
		c.Fields = map[string]string{"input": o.prompt}
	}
	verdict, err := opened.JudgeCase(cmd.Context(), c)
	if err != nil {
		if abstained, ok := errors.AsType[*toxscreen.AbstentionError](err); ok {
			return usage.WithHint(err, fmt.Sprintf("the judge answered: %s", abstained.Raw))
		}
		return err
	}
	// Whether labelled texts make up for a self-test depends on the classifier's model,
	// which this command does not open.
	if s.Format == "text" && s.JudgeTrust == screen.TrustTested && s.Calibration == "" {
		if trust, err := opened.Trust(cmd.Context()); err == nil && !trust.Asked() {
			a.warn("other commands do not ask this judge: " + trust.Why)
		}
	}
	switch s.Format {
	case config.FormatMastra:
		prompt, err := opened.Prompt(cmd.Context(), c)
		if err != nil {
			return err
		}
		run, err := mastra.ToRun(verdict, text, mastra.Options{Scale: o.scale, RunID: rand.Text(), Prompt: prompt})
		if err != nil {
			return err
		}
		return plainjson.Write(a.out, run, "")
	case config.FormatMastraMeasure:
		measure, err := mastra.ToMeasure(verdict, text, mastra.Options{Scale: o.scale})
		if err != nil {
			return err
		}
		return plainjson.Write(a.out, measure, "")
	case "json":
		return plainjson.Write(a.out, verdict.In(s.OffsetUnit, text), "")
	}
	return a.view().Verdict(text, verdict)
}

// selfTest tests the judge, stores the outcome and prints it. The exit code says whether
// its verdicts count for any attribute.
func (a *app) selfTest(cmd *cobra.Command, s *config.Settings) error {
	screener, err := screen.Open(s.Settings)
	if err != nil {
		return cacheHint(err)
	}
	defer screener.Close()
	outcome, err := screener.SelfTest(cmd.Context(), func(p selftest.Progress) {
		line := fmt.Sprintf("%d of at most %d texts", p.Done, p.All)
		if p.Left > 0 {
			line += fmt.Sprintf(", %v left", p.Left.Round(time.Second))
		}
		a.showLine(line)
	})
	a.showLine("")
	if err != nil {
		return err
	}
	err = a.show(s.Format, outcome.Report(), outcome.Text())
	if err == nil && outcome.Failed != "" {
		err = exit{code: exitFailed}
	}
	return err
}

// selfTests lists the outcomes of self-tests, or removes those of a model.
func (a *app) selfTests(cmd *cobra.Command, s *config.Settings, args []string, o judgeOptions) error {
	folder, err := screen.SelfTests()
	if err != nil {
		return err
	}
	switch {
	case o.selfTest || o.list && o.forget:
		return usage.Wrong("--self-test, --list and --forget do different things: use one of them")
	case config.IsMastra(s.Format) || o.reason || cmd.Flags().Changed("prompt") || cmd.Flags().Changed("scale"):
		return usage.Wrong("--list and --forget ask no judge: they cannot be combined with --reason, --prompt, --scale or --format %s", config.FormatMastra)
	case o.list && len(args) > 0:
		return usage.Wrong("--list shows all self-tests: unexpected argument %q", args[0])
	case o.list:
		tests, err := selftest.List(folder)
		if err != nil {
			return err
		}
		return a.showSelfTests(s.Format, tests, "there are no self-tests in "+folder)
	}
	model := s.Judge.Model
	if len(args) > 0 {
		model = args[0]
	}
	if model == "" {
		return usage.Wrong("the model is missing: name the one whose self-tests are removed; --list shows them")
	}
	removed, err := selftest.Forget(folder, model)
	if err != nil {
		return err
	}
	if s.Format == "text" {
		fmt.Fprintln(a.out, "removed:")
	}
	return a.showSelfTests(s.Format, removed, "")
}

// shownSelfTest is a self-test as --list shows it.
type shownSelfTest struct {
	Model  string       `json:"model"`
	Rubric string       `json:"rubric"`
	Trust  screen.Trust `json:"trust"` // by this self-test
	File   string       `json:"file"`
}

// showSelfTests prints self-tests, or a sentence if there are none.
func (a *app) showSelfTests(format string, tests []selftest.Stored, none string) error {
	shown := []shownSelfTest{}
	for _, t := range tests {
		model := judge.Model{Name: t.Model, Digest: t.Digest}
		shown = append(shown, shownSelfTest{model.String(), t.Rubric, screen.TrustByTest(t.Test), t.File})
	}
	var b strings.Builder
	for _, t := range shown {
		fmt.Fprintf(&b, "%s by %s\n  %s\n  %s\n", t.Model, t.Rubric, t.Trust, t.File)
	}
	if len(shown) == 0 {
		b.WriteString(none + "\n")
	}
	return a.show(format, shown, b.String())
}
