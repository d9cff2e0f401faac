package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/store"
)

// judgeSettings say which judge there is. Where Model is empty there is none.
type judgeSettings struct {
	Model       string
	Host        string
	Rubric      judge.Rubric
	Timeout     time.Duration
	LoadTimeout time.Duration
	Parallel    int
	Band        *toxscreen.Band // nil where what a verdict is worth decides
	Cache       string          // file, or off
	Price       float64

	context int // tokens at least; see judge.Config
}

// cacheOff is the value of judge_cache that keeps no verdicts.
const cacheOff = "off"

// cachedVerdicts is how many verdicts the cache keeps: some 100 MB.
const cachedVerdicts = 50_000

var judgeKeys = []key{
	{"judge_model", "", func(s *settings, v string) error {
		s.Judge.Model = v
		return nil
	}},
	{"judge_host", "", func(s *settings, v string) error {
		s.Judge.Host = v
		if v == "" {
			return nil // OLLAMA_HOST, which is looked at when it is needed
		}
		_, err := judge.Address(v)
		return err
	}},
	{"judge_rubric", "attributes", func(s *settings, v string) (err error) {
		s.Judge.Rubric, err = judge.OpenRubric(v)
		return err
	}},
	{"judge_band", "", func(s *settings, v string) error {
		if v == "" {
			return nil
		}
		band, err := parseBand(v)
		s.Judge.Band = &band
		return err
	}},
	{"judge_timeout", "1m", func(s *settings, v string) (err error) {
		s.Judge.Timeout, err = parseDuration(v)
		return err
	}},
	{"judge_load_timeout", "5m", func(s *settings, v string) (err error) {
		s.Judge.LoadTimeout, err = parseDuration(v)
		return err
	}},
	{"judge_parallel", "1", func(s *settings, v string) (err error) {
		s.Judge.Parallel, err = parseInt(v, 1, 256)
		return err
	}},
	{"judge_cache", "", func(s *settings, v string) error {
		s.Judge.Cache = v
		return nil
	}},
	{"judge_price", "0", func(s *settings, v string) (err error) {
		s.Judge.Price, err = strconv.ParseFloat(v, 64)
		if err != nil || !(s.Judge.Price >= 0 && s.Judge.Price <= 1e6) {
			return fmt.Errorf("%q is no price of a million tokens", v)
		}
		return nil
	}},
}

func parseBand(text string) (toxscreen.Band, error) {
	low, high, ok := strings.Cut(text, "-")
	from, lowErr := parseProbability(low)
	to, highErr := parseProbability(high)
	if !ok || lowErr != nil || highErr != nil || from > to {
		return toxscreen.Band{}, fmt.Errorf("%q is no band: it must be like 0.3-0.7", text)
	}
	return toxscreen.Band{Low: from, High: to}, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > 24*time.Hour {
		return 0, fmt.Errorf("%q is no time limit: it must be like 30s or 2m", text)
	}
	return d, nil
}

// addJudgeFlags adds the flags that say which judge there is.
func addJudgeFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String("judge-model", "", "model of the judge, as `NAME` in `ollama list`; default: no judge")
	flags.String("judge-host", "", "`ADDRESS` of the judge's Ollama server; default: OLLAMA_HOST, else 127.0.0.1:11434")
	flags.String("judge-rubric", "attributes", "what the judge goes by: "+strings.Join(judge.Rubrics(), ", ")+", or a YAML file")
	flags.String("judge-timeout", "1m", "how long the judge may take for a text")
	flags.String("judge-load-timeout", "5m", "how long the server may take to load the judge's model")
	flags.Int("judge-parallel", 1, "texts that the judge has at once; the server's OLLAMA_NUM_PARALLEL")
	flags.String("judge-cache", "", "`FILE` that keeps verdicts, or off; default: in the user's cache folder")
}

// addEscalationFlags adds those of commands that ask the judge about some
// texts only.
func addEscalationFlags(cmd *cobra.Command) {
	addJudgeFlags(cmd)
	cmd.Flags().String("calibration", "", "`FILE` with fusion parameters, as calibrate makes it; default: embedded ones")
	_ = cmd.MarkFlagFilename("calibration", "json")
	cmd.Flags().String("judge-band", "", "ask the judge about texts with a toxicity in this `BAND`, like 0.3-0.7; default: where a verdict is worth it")
	cmd.Flags().Bool("no-judge", false, "ask no judge and touch no network, whatever is configured")
}

// openedJudge is a judge with its cache.
type openedJudge struct {
	*judge.Judge
	cache *store.Verdicts // nil where there is none
}

func (o openedJudge) close() {
	if o.Judge != nil {
		o.Close()
	}
	if o.cache != nil {
		// What it could not write is judged again.
		_ = o.cache.Close()
	}
}

// openJudge makes the judge of the settings, which must name one. The server
// is not asked yet.
func openJudge(s *settings, change func(*judge.Config)) (openedJudge, error) {
	var opened openedJudge
	config := judge.Config{
		Model: s.Judge.Model, Host: s.Judge.Host, Rubric: s.Judge.Rubric,
		Timeout: s.Judge.Timeout, LoadTimeout: s.Judge.LoadTimeout, Parallel: s.Judge.Parallel, Context: s.Judge.context,
	}
	if s.Judge.Cache != cacheOff {
		file := s.Judge.Cache
		if file == "" {
			folder, err := os.UserCacheDir()
			if err != nil {
				return opened, fmt.Errorf("failed to find the user's cache folder: %w; name a file with --judge-cache, or off", err)
			}
			file = filepath.Join(folder, "toxscreen", "verdicts.db")
		}
		var err error
		if opened.cache, err = store.OpenVerdicts(file, cachedVerdicts); err != nil {
			return opened, hinted{err, "--judge-cache off does without it"}
		}
		config.Cache = opened.cache
	}
	if change != nil {
		change(&config)
	}
	var err error
	if opened.Judge, err = judge.New(config); err != nil {
		opened.close()
		return openedJudge{}, err
	}
	return opened, nil
}

// selfTestFolder is where the outcomes of self-tests lie.
func selfTestFolder() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's configuration folder: %w", err)
	}
	return filepath.Join(folder, "toxscreen", "judges"), nil
}

// escalation is the judge that score and batch ask, the rule that picks its
// texts and what makes one score of both.
type escalation struct {
	openedJudge
	fusion  *fusion.Fusion
	asked   *asked // nil where no judge is
	options []toxscreen.Option
	name    string // of the judge: what the lines of a batch depend on
}

// openFusion reads the fusion parameters of the settings.
func openFusion(s *settings, model string) (*fusion.Fusion, error) {
	if s.Calibration == "" {
		return fusion.New(fusion.Default(), model)
	}
	params, err := readFusion(s.Calibration)
	if err != nil {
		return nil, err
	}
	f, err := fusion.New(params, model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Calibration, err)
	}
	return f, nil
}

// openEscalation opens the fusion and the judge of the settings, if there is
// one. model is the version of the model.
func openEscalation(cmd *cobra.Command, s *settings, model string) (escalation, error) {
	f, err := openFusion(s, model)
	if err != nil {
		return escalation{}, err
	}
	without := func(why string) escalation {
		return escalation{fusion: f, name: "none", options: []toxscreen.Option{toxscreen.WithFusion(f), toxscreen.WithoutJudge(why)}}
	}
	if not, _ := cmd.Flags().GetBool("no-judge"); not {
		return without("--no-judge was given"), nil
	}
	if s.Judge.Model == "" {
		return without("no judge is configured"), nil
	}
	opened, err := openJudge(s, nil)
	if err != nil {
		return escalation{}, err
	}
	folder, err := selfTestFolder()
	if err != nil {
		opened.close()
		return escalation{}, err
	}
	e := escalation{openedJudge: opened, fusion: f, name: fmt.Sprintf("%s by %s", s.Judge.Model, s.Judge.Rubric.Version())}
	if s.Judge.Band != nil {
		e.name += " in " + s.Judge.Band.String()
	}
	e.asked = &asked{judge: opened.Judge, folder: folder, band: s.Judge.Band, fusion: f, best: f.AtBest()}
	e.options = []toxscreen.Option{toxscreen.WithJudge(e.asked, e.asked), toxscreen.WithFusion(e.asked)}
	return e, nil
}

// explain returns how the scores of a result came about.
func (e escalation) explain(r toxscreen.Result) ([]fusion.Explanation, error) {
	if e.asked == nil {
		return e.fusion.Explain(r)
	}
	return e.asked.now().Explain(r)
}

// asked is a judge together with the rule and the fusion for it. Which judge it
// is, and what it is worth, the server and the judge's self-test tell when the
// first text may need it.
type asked struct {
	judge  *judge.Judge
	folder string
	band   *toxscreen.Band
	fusion *fusion.Fusion // that knows no judge
	best   *fusion.Fusion // that knows one that is never wrong

	found atomic.Pointer[knownJudge]
}

// knownJudge is what was found out about a judge.
type knownJudge struct {
	fusion  *fusion.Fusion // that knows it
	refused error          // why it is not asked, if it is not
	warning string         // for its verdicts
}

// warned returns a verdict with what is to be known of its judge.
func (k *knownJudge) warned(v toxscreen.Verdict) toxscreen.Verdict {
	if k.warning != "" {
		v.Warnings = append(v.Warnings, k.warning)
	}
	return v
}

// Parallel implements [toxscreen.Judge].
func (a *asked) Parallel() int { return a.judge.Parallel() }

// Judge implements [toxscreen.Judge]. A judge that failed its self-test is not
// asked.
func (a *asked) Judge(ctx context.Context, text string, spans []toxscreen.Span) (toxscreen.Verdict, error) {
	known, err := a.look(ctx)
	if err != nil {
		// Asking for a verdict tells why the server does not answer.
		return a.judge.Judge(ctx, text, spans)
	}
	if known.refused != nil {
		return toxscreen.Verdict{}, known.refused
	}
	v, err := a.judge.Judge(ctx, text, spans)
	if err != nil {
		return v, err
	}
	return known.warned(v), nil
}

// Recall implements [toxscreen.Recaller].
func (a *asked) Recall(ctx context.Context, text string, spans []toxscreen.Span) (toxscreen.Verdict, bool) {
	known := a.found.Load()
	if known == nil || known.refused != nil {
		return toxscreen.Verdict{}, false
	}
	v, ok := a.judge.Recall(ctx, text, spans)
	if ok {
		v = known.warned(v)
	}
	return v, ok
}

// Presume implements [toxscreen.Presumer].
func (a *asked) Presume(ctx context.Context, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string, settled bool) {
	if a.band != nil {
		ask, why = a.band.Escalate(ctx, found, thresholds)
		return ask, why, true
	}
	// The server is not asked which judge it has for a text that is worth none.
	// The sentence is the same once the judge is known.
	ask, why = a.best.Escalate(ctx, found, thresholds)
	if !ask {
		return false, why + ", for a judge that is never wrong too", true
	}
	known := a.found.Load()
	if known == nil {
		return true, why + ", for a judge that is never wrong; the real one is not known yet", false
	}
	ask, why = known.fusion.Escalate(ctx, found, thresholds)
	return ask, why, true
}

// Escalate implements [toxscreen.Rule].
func (a *asked) Escalate(ctx context.Context, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string) {
	ask, why, settled := a.Presume(ctx, found, thresholds)
	if settled {
		return ask, why
	}
	known, err := a.look(ctx)
	if err != nil {
		return ask, why
	}
	return known.fusion.Escalate(ctx, found, thresholds)
}

// Version implements [toxscreen.Fusion].
func (a *asked) Version() string { return a.fusion.Version() }

// Fuse implements [toxscreen.Fusion].
func (a *asked) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	return a.now().Fuse(scores, verdict)
}

// now returns the fusion that knows the judge, or before that is known the one
// that does not.
func (a *asked) now() *fusion.Fusion {
	if known := a.found.Load(); known != nil {
		return known.fusion
	}
	return a.fusion
}

// look finds out which judge there is and what its self-test says, once that is
// known. Callers at once have one answer: the judge asks its server for all.
func (a *asked) look(ctx context.Context) (*knownJudge, error) {
	if known := a.found.Load(); known != nil {
		return known, nil
	}
	found, tested, err := a.judge.Tested(ctx, a.folder)
	if err != nil {
		return nil, err
	}
	model, err := a.judge.Connect(ctx)
	if err != nil {
		return nil, err
	}
	which := fusion.Judge{Model: model.String(), Rubric: model.Rubric}
	if tested {
		which.Tested = &fusion.Tested{
			Believe: found.Believe, Why: "its self-test of " + found.When.Format(time.DateOnly) + " says: " + strings.Join(found.Why, "; "),
			Advantage: found.Advantage.Low, TruePositive: found.TruePositives.Low, FalsePositive: found.FalsePositives.High,
		}
	}
	known := &knownJudge{fusion: a.fusion.With(which)}
	switch {
	case !tested && !a.fusion.Knows(which):
		known.warning = "whether this judge may be believed was not tested: toxscreen judge --self-test does"
	case tested && !found.Believe && !a.fusion.Knows(which):
		known.refused = errors.New("the judge is not believed after its self-test of " + found.When.Format(time.DateOnly) + ": " + strings.Join(found.Why, "; "))
	}
	a.found.Store(known)
	return known, nil
}
