package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
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
	Band        toxscreen.Band
	Cache       string // file, or off
	Price       float64
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
	{"judge_band", "0.3-0.7", func(s *settings, v string) (err error) {
		s.Judge.Band, err = parseBand(v)
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
	cmd.Flags().String("judge-band", "0.3-0.7", "ask the judge about texts with a toxicity in this band")
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
		Timeout: s.Judge.Timeout, LoadTimeout: s.Judge.LoadTimeout, Parallel: s.Judge.Parallel,
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

// escalation is the judge that score and batch ask.
type escalation struct {
	openedJudge
	option toxscreen.Option
	name   string // what the lines of a batch depend on
}

// openEscalation opens the judge of the settings, if there is one.
func openEscalation(cmd *cobra.Command, s *settings) (escalation, error) {
	if not, _ := cmd.Flags().GetBool("no-judge"); not {
		return escalation{option: toxscreen.WithoutJudge("--no-judge was given"), name: "none"}, nil
	}
	if s.Judge.Model == "" {
		return escalation{option: toxscreen.WithoutJudge("no judge is configured"), name: "none"}, nil
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
	return escalation{
		openedJudge: opened,
		option:      toxscreen.WithJudge(&tested{judge: opened.Judge, folder: folder}, s.Judge.Band),
		name:        fmt.Sprintf("%s by %s in %s", s.Judge.Model, s.Judge.Rubric.Version(), s.Judge.Band),
	}, nil
}

// tested is a judge that is only asked unless its self-test says that it must
// not be believed.
type tested struct {
	judge  *judge.Judge
	folder string

	lock    sync.Mutex
	known   bool // whether the self-test was looked for
	refused error
	warning string
}

// Parallel implements [toxscreen.Judge].
func (t *tested) Parallel() int { return t.judge.Parallel() }

// Judge implements [toxscreen.Judge].
func (t *tested) Judge(ctx context.Context, text string, spans []toxscreen.Span) (toxscreen.Verdict, error) {
	warning, err := t.look(ctx)
	if err != nil {
		return toxscreen.Verdict{}, err
	}
	v, err := t.judge.Judge(ctx, text, spans)
	if err == nil && warning != "" {
		v.Warnings = append(v.Warnings, warning)
	}
	return v, err
}

// look finds the self-test once. Where the server does not answer, asking it
// for a verdict tells why.
func (t *tested) look(ctx context.Context) (warning string, refused error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.known {
		return t.warning, t.refused
	}
	found, ok, err := t.judge.Tested(ctx, t.folder)
	switch {
	case err != nil:
		return "", nil // the judge will say why
	case !ok:
		t.warning = "whether this judge may be believed was not tested: toxscreen judge --self-test does"
	case !found.Believe:
		t.refused = errors.New("the judge is not believed after its self-test of " + found.When.Format(time.DateOnly) + ": " + strings.Join(found.Why, "; "))
	}
	t.known = true
	return t.warning, t.refused
}
