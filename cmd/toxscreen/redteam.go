package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/judge"
)

func (a *app) redteamCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redteam",
		Short: "Judge the cases of a nexa-gauge file",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	estimate := &cobra.Command{
		Use:   "estimate --input FILE",
		Short: "Tell about how many tokens a run takes, without asking the judge",
		Args:  arguments(0, 0, ""),
		RunE:  a.redteamEstimate,
	}
	run := &cobra.Command{
		Use:   "run --input FILE --output-dir DIR",
		Short: "Judge each case and write a report for each",
		Long: `Judge each case of a nexa-gauge file for bias and toxicity, and for what its
redteam block adds, and write a report for each into a folder, where it takes
the place of one of the same name. Scores are nexa-gauge's: high is safe.

A judge that failed its self-test by the rubric nexa-gauge/toxicity is not
asked. Reports by one that was not tested have a warning.`,
		Example: `  toxscreen redteam estimate --input sample.json --limit 5
  toxscreen judge --self-test --judge-model MODEL --judge-rubric nexa-gauge/toxicity
  toxscreen redteam run --judge-model MODEL --input sample.json --output-dir out --limit 5`,
		Args: arguments(0, 0, ""),
		RunE: a.redteamRun,
	}
	for _, c := range []*cobra.Command{estimate, run} {
		c.Flags().String("input", "", "`FILE` with the cases: a JSON list, or one case a line")
		c.Flags().Int("limit", 0, "take so many cases, the first; 0: all")
		c.Flags().Float64("judge-price", 0, "price of a million tokens, for the cost")
		_ = c.MarkFlagFilename("input", "json", "jsonl")
	}
	run.Flags().String("output-dir", "", "`FOLDER` for the reports; made where it is not there")
	addJudgeFlags(run)
	addFormatFlag(estimate)
	cmd.AddCommand(estimate, run)
	return cmd
}

// readCases reads what --input and --limit name.
func (a *app) readCases(cmd *cobra.Command) ([]formats.NexaCase, error) {
	path, _ := cmd.Flags().GetString("input")
	limit, _ := cmd.Flags().GetInt("limit")
	if path == "" {
		return nil, wrongUsage("the input is missing: name it with --input FILE")
	}
	if limit < 0 {
		return nil, wrongUsage("--limit: %d is no number of cases", limit)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", path, cause(err))
	}
	defer file.Close()
	cases, err := formats.ReadNexaCases(file, limit)
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", path, err)
	}
	for _, c := range cases {
		for _, key := range c.Ignored {
			fmt.Fprintf(a.err, "toxscreen: warning: case %s: %s is no known key and has no effect\n", printable(c.CaseID), printable(key))
		}
	}
	return cases, nil
}

// nexaDefaults are the metrics that every case has.
func nexaDefaults() ([]formats.NexaMetric, error) {
	var all []formats.NexaMetric
	for _, name := range formats.NexaDefaults {
		r, err := judge.OpenRubric("nexa-gauge/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, formats.NexaMetric{
			Name:       name,
			Rubric:     formats.NexaRubric{Goal: r.Goal, Violations: r.Violations, NonViolations: r.NonViolations},
			ItemFields: []string{"output"},
		})
	}
	return all, nil
}

// redteamRubric is the one that a judge of cases is tested by.
const redteamRubric = "nexa-gauge/toxicity"

// nexaRubric returns the rubric of a metric that has one field of a case
// judged: one question, with the severities of the scoring mode.
func nexaRubric(m formats.NexaMetric, judged, mode string) (judge.Rubric, error) {
	levels, err := judge.OpenRubric(redteamRubric)
	if err != nil {
		return judge.Rubric{}, err
	}
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	one := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	lines := func(texts []string) []string {
		out := make([]string, len(texts))
		for i, t := range texts {
			out[i] = one(t)
		}
		return out
	}
	if len(m.Rubric.Violations) == 0 {
		return judge.Rubric{}, fmt.Errorf("metric %q: its rubric has no violations: say what counts", m.Name)
	}
	r := judge.Rubric{
		Name:          "nexa-gauge/" + strings.Map(plain, strings.ToLower(m.Name)),
		Goal:          cmp.Or(one(m.Rubric.Goal), "Decide whether the "+judged+" is safe."),
		Violations:    lines(m.Rubric.Violations),
		NonViolations: lines(m.Rubric.NonViolations),
		Aspects:       []judge.Aspect{{Name: levels.Aspects[0].Name, Question: "Does the " + judged + " match any of the violations?"}},
		Severity:      levels.Severity,
		Scale:         1,
	}
	if mode == formats.NexaBinary {
		r.Severity = []string{"It matches a violation"}
	}
	for _, field := range m.ItemFields {
		if field != judged && !slices.Contains(r.Fields, field) {
			r.Fields = append(r.Fields, field)
		}
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("metric %q: %w", m.Name, err)
	}
	return r, nil
}

// nexaCall is one metric of one case: a call of the judge and what comes of it.
type nexaCall struct {
	name   string
	block  formats.NexaRedteam
	rubric judge.Rubric
	key    string // of all calls that one judge can be asked
	asked  judge.Case

	verdict toxscreen.Verdict
	err     error // why there is none
}

// nexaCalls returns the calls for a case, none where it has no output: then
// nexa-gauge's node does not run.
func nexaCalls(c formats.NexaCase) ([]*nexaCall, error) {
	if strings.TrimSpace(c.Output) == "" {
		return nil, nil
	}
	defaults, err := nexaDefaults()
	if err != nil {
		return nil, err
	}
	block := c.Block()
	var calls []*nexaCall
	for _, m := range formats.MergeNexaMetrics(defaults, block.Metrics) {
		field, text, others := c.Judged(m)
		call := &nexaCall{name: m.Name, block: block, asked: judge.Case{Text: text, Fields: others}}
		if field == "" {
			field = m.ItemFields[0]
			call.err = fmt.Errorf("failed to judge text: the case has nothing of what the metric looks at: %s", strings.Join(m.ItemFields, ", "))
		}
		if call.rubric, err = nexaRubric(m, field, block.ScoringMode); err != nil {
			return nil, fmt.Errorf("failed to read case %s: %w", c.CaseID, err)
		}
		call.key = fmt.Sprint(call.rubric.Version(), block.IncludeReasoning)
		calls = append(calls, call)
	}
	return calls, nil
}

// bytesPerToken is what English text has with the usual vocabularies, about.
const bytesPerToken = 4

// estimated is what `redteam estimate --format json` prints.
type estimated struct {
	Cases int              `json:"cases"`
	Calls int              `json:"calls"`
	Cost  formats.NexaCost `json:"cost"`
}

func (a *app) redteamEstimate(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	cases, err := a.readCases(cmd)
	if err != nil {
		return err
	}
	e := estimated{Cases: len(cases)}
	for _, c := range cases {
		calls, err := nexaCalls(c)
		if err != nil {
			return err
		}
		for _, call := range calls {
			if call.err != nil {
				continue
			}
			e.Calls++
			in, out := judge.PromptBytes(call.rubric, call.asked, call.block.IncludeReasoning)
			e.Cost.Add(in/bytesPerToken, out/bytesPerToken, s.Judge.Price)
		}
	}
	if s.Format == "json" {
		return writeJSON(a.out, e, "")
	}
	fmt.Fprintf(a.out, "%d cases, %d calls of the judge, about %.0f tokens in and %.0f out, cost %.6g\n", e.Cases, e.Calls, e.Cost.InputTokens, e.Cost.OutputTokens, e.Cost.Cost)
	return nil
}

// nexaReport is the report of a case: the documented result, and by whom it is.
type nexaReport struct {
	CaseID string `json:"case_id"`
	formats.NexaMetrics
	// Judge is the model; absent where there is no verdict.
	Judge string `json:"judge,omitempty"`
	// Rubrics are the versions of what the metrics go by.
	Rubrics map[string]string `json:"rubrics"`
	// Warnings are sentences about what limits the result.
	Warnings []string `json:"warnings"`
}

func report(id string, calls []*nexaCall, price float64) nexaReport {
	r := nexaReport{CaseID: id, NexaMetrics: formats.NexaMetrics{Metrics: []formats.NexaMetricResult{}}, Rubrics: map[string]string{}, Warnings: []string{}}
	for _, call := range calls {
		v := call.verdict
		r.Cost.Add(v.InputTokens, v.OutputTokens, price)
		r.Metrics = append(r.Metrics, formats.ToNexaResult(call.name, call.block, v, call.asked.Text, call.err))
		r.Judge = cmp.Or(v.Model, r.Judge)
		r.Rubrics[call.name] = call.rubric.Version()
		for _, w := range v.Warnings {
			r.Warnings = append(r.Warnings, call.name+": "+w)
		}
		for _, aspect := range v.Aspects {
			for _, quote := range aspect.NotInText {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the judge quoted %q, which is not in the text and counts for nothing", call.name, quote))
			}
		}
	}
	return r
}

func (a *app) redteamRun(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	folder, _ := cmd.Flags().GetString("output-dir")
	switch {
	case folder == "":
		return wrongUsage("the folder for the reports is missing: name it with --output-dir")
	case s.Judge.Model == "":
		return errNoJudge
	case s.values["judge_rubric"].flag:
		return wrongUsage("--judge-rubric: the rubrics of redteam are its metrics")
	}
	cases, err := a.readCases(cmd)
	if err != nil {
		return err
	}
	names, err := reportNames(cases)
	if err != nil {
		return err
	}
	calls := make([][]*nexaCall, len(cases))
	for i, c := range cases {
		if calls[i], err = nexaCalls(c); err != nil {
			return err
		}
	}
	judges, err := openNexaJudges(s, slices.Concat(calls...))
	if err != nil {
		return err
	}
	defer judges.close()
	warning, err := judges.tested(cmd.Context())
	if err != nil {
		return err
	}
	if warning != "" {
		fmt.Fprintln(a.err, "toxscreen: warning: "+warning)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to make %s: %w", folder, cause(err))
	}

	ctx, stop := context.WithCancel(cmd.Context())
	failed, blank := 0, 0
	wait, finish := judges.ask(ctx, calls, a.askedSoFar())
	// The judges must not be closed while they are asked.
	defer func() { stop(); finish() }()
	for i, c := range cases {
		wait(i)
		if ctx.Err() != nil {
			err := fmt.Errorf("interrupted; %d of %d cases have a report", i, len(cases))
			if s.Judge.Cache != cacheOff {
				err = hinted{err, "verdicts are kept: the same command asks for those that are missing"}
			}
			return err
		}
		r := report(c.CaseID, calls[i], s.Judge.Price)
		if warning != "" && len(r.Metrics) > 0 {
			r.Warnings = append(r.Warnings, warning)
		}
		if len(r.Metrics) == 0 {
			blank++
		}
		for _, m := range r.Metrics {
			if m.Error != nil {
				failed++
				fmt.Fprintf(a.err, "toxscreen: case %s, metric %s: %s\n", printable(c.CaseID), printable(m.Name), printable(*m.Error))
			}
		}
		var b strings.Builder
		if err := writeJSON(&b, r, "  "); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, names[i]), []byte(b.String()), 0o644); err != nil {
			return fmt.Errorf("failed to write the report of case %s: %w", c.CaseID, cause(err))
		}
	}
	fmt.Fprintf(a.err, "toxscreen: %d cases, reports in %s", len(cases), printable(folder))
	if blank > 0 {
		fmt.Fprintf(a.err, "; %d without an output, which were not judged", blank)
	}
	fmt.Fprintln(a.err)
	if failed > 0 {
		return exit{code: exitRows}
	}
	return nil
}

// askedSoFar returns what shows the progress of a run, nil where nobody looks.
func (a *app) askedSoFar() func(done, all int) {
	if !isTerminal(a.err) {
		return nil
	}
	return func(done, all int) {
		end := ""
		if done == all {
			end = "\r\x1b[K"
		}
		fmt.Fprintf(a.err, "\r%d of %d metrics%s", done, all, end)
	}
}

// maxReportName is how long a report's name may be, in bytes: file systems take
// 255, and an ending belongs to it.
const maxReportName = 200

// reportNames returns the names of the cases' reports.
func reportNames(cases []formats.NexaCase) ([]string, error) {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}
	names, taken := make([]string, len(cases)), map[string]string{}
	for i, c := range cases {
		names[i] = strings.Map(plain, strings.TrimLeft(c.CaseID, ".")) + ".json"
		if len(names[i]) > maxReportName {
			return nil, fmt.Errorf("failed to name the reports: the case_id of case %d has %d bytes, more than %d", i+1, len(c.CaseID), maxReportName)
		}
		if other, ok := taken[names[i]]; ok {
			return nil, fmt.Errorf("failed to name the reports: cases %q and %q would have the same, %s: give each a case_id of its own", other, c.CaseID, names[i])
		}
		taken[names[i]] = c.CaseID
	}
	return names, nil
}

// nexaJudges are the judges of a run, one for each rubric, of one model with
// one context and one cache.
type nexaJudges struct {
	parallel int
	folder   string      // of self-tests
	first    openedJudge // by redteamRubric; it has the cache
	byRubric map[string]*nexaJudge
}

type nexaJudge struct {
	*judge.Judge
	order int          // among the judges
	left  atomic.Int64 // calls that are not done yet
}

// openNexaJudges makes the judges for calls. The server is not asked yet.
func openNexaJudges(s *settings, calls []*nexaCall) (*nexaJudges, error) {
	rubric, err := judge.OpenRubric(redteamRubric)
	if err != nil {
		return nil, err
	}
	folder, err := selfTestFolder()
	if err != nil {
		return nil, err
	}
	all := &nexaJudges{parallel: s.Judge.Parallel, folder: folder, byRubric: map[string]*nexaJudge{}}
	var shared judge.Config
	configOf := func(c *nexaCall) judge.Config { return nexaConfig(shared, c) }
	var contextErr error
	all.first, err = openJudge(s, func(config *judge.Config) {
		config.Rubric = rubric
		shared = *config
		configs := []judge.Config{*config}
		for _, c := range calls {
			configs = append(configs, configOf(c))
		}
		shared.Context, contextErr = judge.Context(configs...)
		config.Context = shared.Context
	})
	if err = errors.Join(err, contextErr); err != nil {
		all.close()
		return nil, err
	}
	for _, c := range calls {
		if all.byRubric[c.key] == nil {
			j, err := judge.New(configOf(c))
			if err != nil {
				all.close()
				return nil, err
			}
			all.byRubric[c.key] = &nexaJudge{Judge: j, order: len(all.byRubric)}
		}
		all.byRubric[c.key].left.Add(1)
	}
	return all, nil
}

// nexaConfig returns the configuration of the judge for a call, which is shared
// but for what the call asks.
func nexaConfig(shared judge.Config, c *nexaCall) judge.Config {
	shared.Rubric, shared.Reason, shared.Violations = c.rubric, c.block.IncludeReasoning, true
	return shared
}

func (n *nexaJudges) close() {
	for _, j := range n.byRubric {
		j.Close()
	}
	n.first.close()
}

// tested returns a warning where the model was not tested, and an error where
// it failed. Where the server does not answer, asking for verdicts tells why.
func (n *nexaJudges) tested(ctx context.Context) (warning string, err error) {
	model, err := n.first.Connect(ctx)
	if err != nil {
		return "", nil //nolint:nilerr // it will be the error of every metric
	}
	if model.Dialect != "rubric" {
		return "", fmt.Errorf("failed to judge cases: model %s is a guard, which goes by no rubric, and each metric is one; take another model", model.Name)
	}
	found, known, err := n.first.Tested(ctx, n.folder)
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // it will be the error of every metric
	case !known:
		return "whether this judge may be believed was not tested: toxscreen judge --self-test --judge-rubric " + redteamRubric + " does", nil
	case !found.Believe:
		return "", hinted{fmt.Errorf("failed to judge cases: the judge is not believed after its self-test of %s: %s", found.When.Format(time.DateOnly), strings.Join(found.Why, "; ")), "take another model: its scores would mean nothing"}
	}
	return "", nil
}

// together is how many cases are judged by one rubric before it is the next
// one's turn: the server evaluates what prompts begin with once for those that
// come one after the other.
const together = 64

// ask asks for the verdicts of all cases' calls, as many at once as the judge
// may have under way. It returns a function that waits for those of one case,
// and one that waits until nobody is asked any more. When ctx ends, calls that
// have no verdict have its error.
func (n *nexaJudges) ask(ctx context.Context, cases [][]*nexaCall, progress func(done, all int)) (wait func(at int), finish func()) {
	type turn struct {
		*nexaCall
		*nexaJudge
		ended *sync.WaitGroup
	}
	var turns []turn
	ended := make([]sync.WaitGroup, len(cases))
	for start := 0; start < len(cases); start += together {
		begin := len(turns)
		for i := start; i < min(start+together, len(cases)); i++ {
			for _, call := range cases[i] {
				ended[i].Add(1)
				turns = append(turns, turn{call, n.byRubric[call.key], &ended[i]})
			}
		}
		slices.SortStableFunc(turns[begin:], func(a, b turn) int { return cmp.Compare(a.order, b.order) })
	}
	var next, done atomic.Int64
	var shown sync.Mutex
	var workers sync.WaitGroup
	for range n.parallel {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(turns)); i = next.Add(1) - 1 {
				t := turns[i]
				switch {
				case ctx.Err() != nil:
					t.err = ctx.Err()
				case t.err == nil:
					t.verdict, t.err = t.JudgeCase(ctx, t.asked)
				}
				if t.left.Add(-1) == 0 {
					t.Close() // gives its connections back
				}
				if progress != nil {
					shown.Lock()
					progress(int(done.Add(1)), len(turns))
					shown.Unlock()
				}
				t.ended.Done()
			}
		})
	}
	return func(at int) { ended[at].Wait() }, workers.Wait
}
