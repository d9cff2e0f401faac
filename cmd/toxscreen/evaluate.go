package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/generation"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

func (a *app) evaluateCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "evaluate",
		Short: "Measure language models and classifiers",
	}, a.evaluateModelCommand(), a.evaluateCompareCommand(), a.evaluateFairnessCommand())
}

// evaluateOptions are the flags of evaluate model that are not configuration keys.
type evaluateOptions struct {
	ollamaModel, ollamaHost        string
	server, modelName, keyVariable string
	generations                    string

	prompts        string
	columns        generation.Columns
	skipDuplicates bool
	limit          int

	protocol generation.Protocol
	parallel int
	timeout  time.Duration

	output            string
	resume, overwrite bool
	examples          int
	failOn            []string
	quiet             bool
}

// maxExamples is how many of the worst generations the results have.
const maxExamples = 20

// ofGenerator are the flags that say how a model is asked, which a file of generations was
// not.
var ofGenerator = []string{
	"ollama-host", "key-variable", "prompts", "prompt-column", "id-column", "band-column", "group-column", "skip-duplicates",
	"limit", "n", "max-tokens", "top-p", "temperature", "chat", "seed", "timeout",
}

func (a *app) evaluateModelCommand() *cobra.Command {
	o := &evaluateOptions{protocol: generation.DefaultProtocol}
	cmd := &cobra.Command{
		Use:   "model -o FOLDER",
		Short: "Measure how toxic a model continues prompts",
		Long: `Measure how toxic a language model continues prompts, by the protocol of
RealToxicityPrompts: 25 generations of at most 20 tokens for each prompt. The model is
one of an Ollama server (--ollama-model), or of a server that speaks OpenAI's protocol,
such as vLLM, llama.cpp or LM Studio (--server); or the generations are in a file
(--generations). Nothing is sent anywhere else. The folder gets the generations with
their scores, and a report. A killed or interrupted run goes on with --resume. The exit
code is 3 if generations are missing.`,
		Example: `  toxscreen evaluate model --ollama-model smollm2:135m --limit 20 -o out
  toxscreen evaluate model --server http://127.0.0.1:8000/v1 --prompts prompts.jsonl --parallel 32 -o out
  toxscreen evaluate model --generations generations.jsonl -o out
  toxscreen evaluate model --ollama-model smollm2:135m -o out --fail-on expected_maximum_toxicity=0.4`,
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error { return a.evaluateModel(cmd, s, o) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.ollamaModel, "ollama-model", "", "`NAME` of the model in `ollama list`")
	flags.StringVar(&o.ollamaHost, "ollama-host", "", "`ADDRESS` of the Ollama server; default: OLLAMA_HOST, else 127.0.0.1:11434")
	flags.StringVar(&o.server, "server", "", "`URL` of a server with OpenAI's protocol, like http://127.0.0.1:8000/v1")
	flags.StringVar(&o.modelName, "model-name", "", "`NAME` of the model at --server, or of that which wrote --generations; default: the only one of the server, or the file's name")
	flags.StringVar(&o.keyVariable, "key-variable", "", "`NAME` of the environment variable with the key for --server; default: no key is sent")
	flags.StringVar(&o.generations, "generations", "", "JSONL `FILE` with generations, in place of a model")
	flags.StringVar(&o.prompts, "prompts", "", "`FILE` with prompts: .jsonl, also RealToxicityPrompts', .csv, .tsv, or BOLD's .json; default: 200 of our own")
	flags.StringVar(&o.columns.Text, "prompt-column", "", "column or field with the prompt; default: prompt, or else text")
	flags.StringVar(&o.columns.ID, "id-column", "", "column or field with the id of the prompt; default: id, or else the row's number")
	flags.StringVar(&o.columns.Band, "band-column", "", "column or field with the band of the prompt; default: band")
	flags.StringVar(&o.columns.Group, "group-column", "", "column or field with the group that the prompt is about; default: group")
	flags.BoolVar(&o.skipDuplicates, "skip-duplicates", false, "keep the first of several prompts with the same text")
	flags.IntVar(&o.limit, "limit", 0, "use only this `NUMBER` of prompts, drawn at random, of each band its share; 0: all")
	flags.IntVarP(&o.protocol.Generations, "n", "n", o.protocol.Generations, "generations of each prompt")
	flags.IntVar(&o.protocol.MaxTokens, "max-tokens", o.protocol.MaxTokens, "most tokens of a generation")
	flags.Float64Var(&o.protocol.TopP, "top-p", o.protocol.TopP, "nucleus: each token is one of the most probable, which together have this probability")
	flags.Float64Var(&o.protocol.Temperature, "temperature", o.protocol.Temperature, "temperature")
	flags.BoolVar(&o.protocol.Chat, "chat", false, "send a prompt as a message to answer, rather than as a text to continue")
	flags.IntVar(&o.protocol.Seed, "seed", o.protocol.Seed, "seed of the random numbers")
	flags.IntVar(&o.parallel, "parallel", 4, "prompts that are continued in parallel; more than the server answers in parallel wait there")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "time limit for a generation")
	flags.StringVarP(&o.output, "output", "o", "", "`FOLDER` for the run; created if missing")
	flags.BoolVar(&o.resume, "resume", false, "continue an interrupted run, and ask again for generations that failed")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace an existing run")
	flags.IntVar(&o.examples, "examples", maxExamples, "`NUMBER` of the worst generations that the report shows, after a click; 0: none")
	flags.StringArrayVar(&o.failOn, "fail-on", nil, "exit with 4 if a `METRIC` is at or over a number, like expected_maximum_toxicity=0.4 or insult.toxicity_probability=0.2; repeatable")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	usage.InGroup(cmd, usage.Writer, "ollama-model", "ollama-host", "server", "model-name", "key-variable", "n", "max-tokens", "top-p", "temperature", "chat", "parallel", "timeout")
	usage.InGroup(cmd, usage.InputOutput, "generations", "prompts", "output", "resume", "overwrite", "examples", "quiet", "prompt-column", "id-column", "band-column", "group-column")
	usage.InGroup(cmd, usage.Sample, "skip-duplicates", "limit", "seed")
	usage.InGroup(cmd, usage.Decisions, "fail-on")
	_ = cmd.MarkFlagFilename("generations", "jsonl", "ndjson")
	_ = cmd.MarkFlagFilename("prompts", "jsonl", "ndjson", "csv", "tsv", "json")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", completeMetrics)
	config.AddThresholdFlag(cmd, "0.5 for each")
	config.AddFlags(cmd, "format", "max_bytes")
	config.AddFlags(cmd, config.ModelKeys...)
	return cmd
}

func (a *app) evaluateModel(cmd *cobra.Command, s *config.Settings, o *evaluateOptions) error {
	limits, err := o.check(cmd)
	if err != nil {
		return err
	}
	job := generation.Job{
		Protocol: o.protocol, Model: o.modelName, Folder: o.output, Resume: o.resume, Overwrite: o.overwrite, Parallel: o.parallel,
	}
	if o.generations != "" {
		given, err := generation.OpenGenerations(o.generations)
		if err != nil {
			return err
		}
		job.Given = &given
	} else {
		job.Prompts = generation.OwnPrompts()
		if o.prompts != "" {
			if job.Prompts, err = generation.OpenPrompts(o.prompts, o.columns, o.skipDuplicates); err != nil {
				return err
			}
		}
		job.Prompts = job.Prompts.Draw(o.limit, o.protocol.Seed)
		generator, closeGenerator, err := o.generator(job.Prompts)
		if err != nil {
			return err
		}
		defer closeGenerator()
		job.Generator = generator
	}
	// The classifier's scores on their own: a judge, a calibration, a sensitivity and limits
	// of the configuration are for other texts than a model's.
	s.Full, s.Scale, s.Judge, s.Calibration, s.Sensitivity, s.FailOn = true, "", judge.Config{}, "", "", toxscreen.Limits{}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	for _, l := range limits {
		if !slices.Contains(screener.Info().Attributes, l.Attribute) {
			return fmt.Errorf("failed to apply --fail-on: model %s does not measure %s", screener.Info().Version, l.Attribute)
		}
	}
	job.Scorer, job.Thresholds = screener, s.Thresholds
	// The protocol and the published figures are about Perspective's scores.
	if scorer, ok := screener.OtherScales()[toxscreen.PerspectiveScale]; ok {
		job.Scorer = scorer
	}
	if !o.quiet && terminal.Is(a.err) {
		job.Progress = a.generated
	}
	run, err := generation.Generate(cmd.Context(), job)
	if job.Progress != nil {
		a.showLine("")
	}
	if _, ok := errors.AsType[*generation.UnfinishedError](err); ok {
		return usage.WithHint(err, "to continue, run the same command with --resume"+map[bool]string{true: " in place of --overwrite"}[o.overwrite])
	}
	if err != nil {
		return err
	}
	return a.evaluated(run, o, limits, s.Format)
}

// check refuses flags that do not belong together, and returns the limits of --fail-on.
func (o *evaluateOptions) check(cmd *cobra.Command) ([]generation.Limit, error) {
	sources := 0
	for _, given := range []string{o.ollamaModel, o.server, o.generations} {
		if given != "" {
			sources++
		}
	}
	flags := cmd.Flags()
	switch {
	case sources != 1:
		return nil, usage.Wrong("name one model with --ollama-model NAME or --server URL, or a file with --generations FILE")
	case o.output == "":
		return nil, usage.Wrong("the output is missing: name a folder with -o FOLDER")
	case o.resume && o.overwrite:
		return nil, usage.Wrong("--resume and --overwrite exclude each other")
	case o.ollamaModel == "" && o.ollamaHost != "":
		return nil, usage.Wrong("--ollama-host needs --ollama-model")
	case o.ollamaModel != "" && o.modelName != "":
		return nil, usage.Wrong("--model-name is for --server and --generations: --ollama-model is the name already")
	case o.server == "" && o.keyVariable != "":
		return nil, usage.Wrong("--key-variable needs --server")
	case o.prompts == "" && (o.columns != generation.Columns{} || o.skipDuplicates):
		return nil, usage.Wrong("--prompt-column, --id-column, --band-column, --group-column and --skip-duplicates need --prompts")
	case o.limit < 0:
		return nil, usage.Wrong("--limit: %d is not 0 or more", o.limit)
	case o.parallel < 1 || o.parallel > 1024:
		return nil, usage.Wrong("--parallel: %d is not in 1..1024", o.parallel)
	case o.examples < 0 || o.examples > maxExamples:
		return nil, usage.Wrong("--examples: %d is not in 0..%d", o.examples, maxExamples)
	case o.timeout <= 0:
		return nil, usage.Wrong("--timeout: %v is not a time limit", o.timeout)
	}
	if o.generations != "" {
		for _, name := range ofGenerator {
			if flags.Changed(name) {
				return nil, usage.Wrong("--%s is for a model: --generations takes all of its file as it is", name)
			}
		}
	}
	if err := o.protocol.Check(); err != nil {
		return nil, usage.Wrong("%w", err)
	}
	limits := make([]generation.Limit, len(o.failOn))
	for i, text := range o.failOn {
		var err error
		if limits[i], err = generation.ParseLimit(text); err != nil {
			return nil, usage.Wrong("--fail-on %s: %w", text, err)
		}
	}
	return limits, nil
}

// generator returns the model that continues the prompts.
func (o *evaluateOptions) generator(prompts generation.Set) (generation.Generator, func(), error) {
	if o.server != "" {
		key := ""
		if o.keyVariable != "" {
			if key = os.Getenv(o.keyVariable); key == "" {
				return nil, nil, fmt.Errorf("failed to read the server's key: the environment variable %s is empty", o.keyVariable)
			}
		}
		server, err := generation.NewServer(generation.ServerConfig{URL: o.server, Model: o.modelName, Key: key, Timeout: o.timeout, Parallel: o.parallel})
		if err != nil {
			return nil, nil, err
		}
		return server, server.Close, nil
	}
	model, err := generation.NewOllama(ollama.Config{Model: o.ollamaModel, Host: o.ollamaHost, Timeout: o.timeout, Parallel: o.parallel}, prompts.Longest(), o.protocol.MaxTokens)
	if err != nil {
		return nil, nil, err
	}
	return model, model.Close, nil
}

// generated shows the progress of a run on a terminal.
func (a *app) generated(p generation.Progress) {
	line := fmt.Sprintf("%d of %s", p.Done, plural.Count(p.All, "generation", "generations"))
	if left := p.Left.Round(time.Second); left > 0 {
		line += fmt.Sprintf(", about %v left", left)
	}
	a.showLine(line)
}

// evaluated measures a finished run, and writes its report into its folder.
func (a *app) evaluated(run generation.Run, o *evaluateOptions, limits []generation.Limit, format string) error {
	if missing := run.Missing(); missing > 0 {
		a.warn(fmt.Sprintf("generations that are missing: %d: %s; to ask for them again, run the same command with --resume", missing, run.FirstError()))
	}
	results, err := generation.Measure(run, generation.OwnDetector())
	if err != nil {
		return err
	}
	if err := results.Document(run, o.examples).Save(o.output, results); err != nil {
		return err
	}
	if err := a.show(format, results, fmt.Sprintf("%sgenerations and report in %s\n", results.Summary(), o.output)); err != nil {
		return err
	}
	a.warn(results.Warnings...)
	reached := false
	for _, l := range limits {
		if got := l.Of(results); toxscreen.Probability(got).Rounded() >= l.Least {
			reached = true
			fmt.Fprintf(a.err, "toxscreen: %s of %s is %s: it reaches --fail-on %v\n", l.Metric, l.Attribute, report.Number(got), l.Least)
		}
	}
	return ended(reached, !results.Complete)
}

func completeMetrics(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, metric := range generation.Metrics() {
		names = append(names, metric+"=")
	}
	return names, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func (a *app) evaluateCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare FIRST SECOND -o FOLDER",
		Short: "Compare two runs of evaluate model",
		Long: `Compare two runs of evaluate model, of two models or of one with two settings. Both
must have continued the same prompts the same number of times. Each prompt is compared
with itself, so small differences show. Differences are those of the second run less the first.`,
		Example: `  toxscreen evaluate model --ollama-model smollm2:135m -o warm
  toxscreen evaluate model --ollama-model smollm2:135m --temperature 0.3 -o cool
  toxscreen evaluate compare warm cool -o difference`,
		Args:              usage.Arguments(2, 2, "a pair of folders with runs"),
		ValidArgsFunction: usage.Folders,
		RunE:              config.Run(a.evaluateCompare),
	}
	cmd.Flags().StringP("output", "o", "", "`FOLDER` for the report; created if missing")
	cmd.Flags().Bool("overwrite", false, "replace an existing report")
	usage.InGroup(cmd, usage.InputOutput, "output", "overwrite")
	config.AddFlags(cmd, "format")
	return cmd
}

func (a *app) evaluateCompare(cmd *cobra.Command, s *config.Settings, folders []string) error {
	output, _ := cmd.Flags().GetString("output")
	overwrite, _ := cmd.Flags().GetBool("overwrite")
	if output == "" {
		return usage.Wrong("the output is missing: name a folder with -o FOLDER")
	}
	if err := mayReport(output, overwrite); err != nil {
		return err
	}
	first, err := generation.ReadRun(folders[0])
	if err != nil {
		return err
	}
	second, err := generation.ReadRun(folders[1])
	if err != nil {
		return err
	}
	comparison, err := generation.Compare(first, second)
	if err != nil {
		return err
	}
	if err := comparison.Document().Save(output, comparison); err != nil {
		return err
	}
	a.warn(comparison.Warnings...)
	return a.show(s.Format, comparison, fmt.Sprintf("%sreport in %s\n", comparison.Summary(), output))
}
