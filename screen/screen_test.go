//go:build unix

package screen_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/judgetest"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/judge/selftest"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/screen"
)

const tiny = "../testdata/models/tiny"

// open opens a screener with the tiny model and a judge. The threshold of toxicity
// is raised to 0.8.
func open(t *testing.T, settings screen.Settings) *screen.Screener {
	t.Helper()
	settings.Model, settings.Judge.Model, settings.Judge.Timeout = tiny, "tiny", 5*time.Minute
	settings.Thresholds.Set(toxscreen.Toxicity, 0.8)
	screener, err := screen.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := screener.Close(); err != nil {
			t.Error(err)
		}
	})
	return screener
}

// check reports what is not as it should be.
func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// score returns the result of a text.
func score(t *testing.T, s *screen.Screener, text string) toxscreen.Result {
	t.Helper()
	result, err := s.Score(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func begin(t *testing.T, s *screen.Screener, text string) *toxscreen.Screening {
	t.Helper()
	screening, err := s.Begin(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return screening
}

// A caller who does not wait for the judge does not wait until the server has
// identified its model either.
func TestBeginDoesNotWaitForTheServer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	screener := open(t, screen.Settings{Judge: judge.Config{Host: silent.Addr().String()}, JudgeCache: screen.NoCache})
	screening := begin(t, screener, "idiot")
	check(t, "pending", screening.Result().Judge.Pending, true)
	check(t, "the source", screening.Result().Source, toxscreen.SourceClassifier)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, err := screening.Consult(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %+v", err, r.Judge)
	}
}

// The second time, the verdict is part of the first answer, with the warning that it
// does not count. A text that must not be stored has no verdict then.
func TestTheSameTextIsNotJudgedAgain(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t) // without a self-test of this judge
	cache := filepath.Join(t.TempDir(), "verdicts.db")
	screener := open(t, screen.Settings{Judge: judge.Config{Host: server.URL}, JudgeBand: &toxscreen.Band{Low: 0, High: 1}, JudgeTrust: screen.TrustNone, JudgeCache: cache})
	first, err := begin(t, screener, "idiot").Consult(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Judge.Verdicts) != 1 {
		t.Fatalf("the judge reports %+v", first.Judge)
	}
	if len(first.Judge.Verdicts[0].Warnings) == 0 {
		t.Error("the verdict has no warning")
	}
	again := begin(t, screener, "idiot").Result()
	first.Judge.Milliseconds, again.Judge.Milliseconds = 0, 0
	if diff := cmp.Diff(first, again, cmp.Comparer(func(a, b toxscreen.Scores) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if _, err := begin(t, screener, "stupid").Consult(toxscreen.WithoutStoring(t.Context())); err != nil {
		t.Error(err)
	}
	if r := begin(t, screener, "stupid").Result(); !r.Judge.Pending {
		t.Errorf("a text that must not be stored has %+v", r.Judge)
	}
	if got, want := screener.JudgedBy(), "tiny by attributes@"; !strings.HasPrefix(got, want) {
		t.Errorf("judged by %q, want %q…", got, want)
	}
	if got, want := screener.JudgedBy(), " in 0.00–1.00 without weight"; !strings.HasSuffix(got, want) {
		t.Errorf("judged by %q, want …%q", got, want)
	}

	// Without a band, a judge without a self-test is not asked, once it is known.
	screener = open(t, screen.Settings{Judge: judge.Config{Host: server.URL}, JudgeCache: screen.NoCache})
	screening := begin(t, screener, "idiot")
	final, err := screening.Consult(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "pending before the judge is known", screening.Result().Judge.Pending, true)
	check(t, "asked", final.Judge.Asked, false)
	check(t, "the error", final.Judge.Error, "")
	second := begin(t, screener, "idiot").Result()
	check(t, "pending when the judge is known", second.Judge.Pending, false)
	check(t, "the reason", second.Judge.Why, final.Judge.Why)
}

// testedJudge stores the outcome of a self-test of the server's model.
func testedJudge(t *testing.T, server *ollamatest.Server, insulting func(selftest.Case) bool) {
	t.Helper()
	j, err := judge.New(judge.Config{Model: "tiny", Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	model, err := j.Identify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := screen.SelfTests()
	if err != nil {
		t.Fatal(err)
	}
	if err := judgetest.Store(folder, model, insulting); err != nil {
		t.Fatal(err)
	}
}

// What verdicts may change follows the self-tests and the models of the server while
// texts are scored. Only a judge that is trusted is asked, also in a band, and each
// change is reported once.
func TestTrustFollowsSelfTestsAndModels(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t)
	var told []string
	screener := open(t, screen.Settings{
		Judge: judge.Config{Host: server.URL}, JudgeBand: &toxscreen.Band{Low: 0, High: 1}, JudgeCache: screen.NoCache,
		OnTrust: func(trust screen.Trust) { told = append(told, trust.String()) },
	})
	if trust, ok := screener.JudgeTrust(); ok {
		t.Errorf("before the judge is needed, there is %v", trust)
	}
	asks := func(want bool, why string, source toxscreen.Source) {
		t.Helper()
		r := score(t, screener, "idiot")
		check(t, "asked", r.Judge.Asked, want)
		check(t, "the source", r.Source, source)
		if !strings.HasPrefix(r.Judge.Why, why) {
			t.Errorf("the reason is %q, want %q", r.Judge.Why, why)
		}
	}
	recheck := func() {
		t.Helper()
		if err := screener.RecheckJudge(t.Context()); err != nil {
			t.Error(err)
		}
	}
	const ignored = "a verdict would be ignored: "
	asks(false, ignored+"the judge has no self-test and was not fitted on labelled texts: run toxscreen judge --self-test, or set judge_trust to none", toxscreen.SourceClassifier)
	testedJudge(t, server, judgetest.Nothing)
	recheck()
	asks(false, ignored+"the judge failed its self-test of 2026-01-02: for no attribute is it certainly better than chance", toxscreen.SourceClassifier)
	testedJudge(t, server, judgetest.Insulting)
	recheck()
	recheck()
	asks(true, "toxicity 0.89 is inside the fixed band", toxscreen.SourceFused)
	trust, ok := screener.JudgeTrust()
	check(t, "known", ok, true)
	check(t, "the trust", trust.State, screen.Trusted)
	check(t, "the number of attributes", len(trust.Attributes), 2)
	check(t, "without a time", trust.Since.IsZero(), false)

	server.Create(t, "tiny", ollamatest.Tiny, map[string]any{"system": "Another model."})
	recheck()
	asks(false, ignored+"the judge has no self-test", toxscreen.SourceClassifier)
	server.Stop(t)
	if err := screener.RecheckJudge(t.Context()); err == nil {
		t.Error("a stopped server answers")
	}
	trusted := "trusted for toxicity, insult since 2026-01-02"
	if diff := cmp.Diff([]string{"untested", "failed since 2026-01-02", trusted, "untested", "unreachable"}, told); diff != "" {
		t.Error(diff)
	}
}

// Without trust in any judge, all are asked, also one that failed its self-test. Their
// verdicts say that they change no score, and do not.
func TestAJudgeWithoutWeightGathersVerdicts(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t)
	testedJudge(t, server, judgetest.Nothing)
	screener := open(t, screen.Settings{Judge: judge.Config{Host: server.URL}, JudgeCache: screen.NoCache, JudgeTrust: screen.TrustNone})
	trust, ok := screener.JudgeTrust()
	check(t, "known", ok, true)
	check(t, "the trust", trust.State, screen.Unweighted)
	check(t, "the number of attributes", len(trust.Attributes), 0)
	r := score(t, screener, "idiot")
	check(t, "the source", r.Source, toxscreen.SourceClassifier)
	if !strings.HasSuffix(r.Judge.Why, ", for a judge that is never wrong") {
		t.Errorf("the reason is %q", r.Judge.Why)
	}
	if len(r.Judge.Verdicts) != 1 {
		t.Fatalf("the judge reports %+v", r.Judge)
	}
	if all := r.Judge.Verdicts[0].Warnings; !slices.Contains(all, "judge_trust is none: the verdicts of the judge change no score") {
		t.Errorf("the warnings are %q", all)
	}
	check(t, "asked about a text for which no verdict matters", score(t, screener, "nice").Judge.Asked, false)
}

// A judge that was fitted on labelled texts is asked although it failed its self-test,
// and is trusted for the attributes that were fitted.
func TestLabelledTextsCountMoreThanTheSelfTest(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t)
	testedJudge(t, server, judgetest.Nothing)
	j, err := judge.New(judge.Config{Model: "tiny", Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	model, err := j.Identify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := screen.Open(screen.Settings{Model: tiny})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	data, _, err := fusion.Params{Format: fusion.Format, Model: plain.Info().Version, Judges: []fusion.JudgeParams{{
		Model: model.String(), Rubric: model.Rubric,
		Attributes: map[toxscreen.Attribute]fusion.Weights{toxscreen.Insult: {Slope: 1, Cap: 2, TruePositive: 0.9, FalsePositive: 0.1, High: 1}},
	}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	calibration := filepath.Join(t.TempDir(), "fusion.json")
	if err := os.WriteFile(calibration, data, 0o600); err != nil {
		t.Fatal(err)
	}
	screener, err := screen.Open(screen.Settings{
		Model: tiny, Calibration: calibration, Judge: judge.Config{Model: "tiny", Host: server.URL, Timeout: 5 * time.Minute},
		JudgeBand: &toxscreen.Band{Low: 0, High: 1}, JudgeCache: screen.NoCache,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	check(t, "the source", score(t, screener, "idiot").Source, toxscreen.SourceFused)
	trust, ok := screener.JudgeTrust()
	check(t, "known", ok, true)
	check(t, "the trust", trust.String(), "calibrated for insult")
}

// A judge that answers what an attack wants earns nothing, however good it is otherwise.
func TestAJudgeThatGivesInFails(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	t.Setenv(encoder.LibraryEnv, library(t))
	t.Setenv("HOME", t.TempDir())
	testedJudge(t, server, func(c selftest.Case) bool { return judgetest.Insulting(c) && c.Carrier == "" })
	screener := open(t, screen.Settings{Judge: judge.Config{Host: server.URL}, JudgeCache: screen.NoCache})
	if err := screener.RecheckJudge(t.Context()); err != nil {
		t.Fatal(err)
	}
	const why = "the judge failed its self-test of 2026-01-02: it gives in to texts that argue with it"
	trust, ok := screener.JudgeTrust()
	check(t, "known", ok, true)
	check(t, "the trust", trust.State, screen.Failed)
	if !strings.HasPrefix(trust.Why, why) {
		t.Errorf("the reason is %q, want %q", trust.Why, why)
	}
}

// A judge that is better than chance and still says no more than the classifier is not told
// that it guesses.
func TestAJudgeThatAddsNothingFails(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t)
	j, err := judge.New(judge.Config{Model: "tiny", Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	model, err := j.Identify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tested := selftest.New(model, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	tested.Complete = true
	insult := toxscreen.Insult
	for _, c := range selftest.Cases() {
		label, _ := c.Labels.Get(insult)
		p := toxscreen.Probability(0.4999 + 0.0002*label) // it is right, and never sure
		tested.Answers[c.ID] = selftest.Answer{Verdict: &toxscreen.Verdict{
			Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &insult, Yes: label > 0, PYes: &p}},
		}}
	}
	folder, err := screen.SelfTests()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tested.Save(folder); err != nil {
		t.Fatal(err)
	}
	screener := open(t, screen.Settings{Judge: judge.Config{Host: server.URL}, JudgeCache: screen.NoCache})
	if err := screener.RecheckJudge(t.Context()); err != nil {
		t.Fatal(err)
	}
	const why = "the judge failed its self-test of 2026-01-02: its verdicts do not certainly say more than the classifier's scores (toxicity: it finds "
	trust, ok := screener.JudgeTrust()
	check(t, "known", ok, true)
	check(t, "the trust", trust.State, screen.Failed)
	if !strings.HasPrefix(trust.Why, why) {
		t.Errorf("the reason is %q, want %q", trust.Why, why)
	}
}

// ownFolders gives the test configuration and cache folders of its own.
func ownFolders(t *testing.T) {
	t.Helper()
	t.Setenv(encoder.LibraryEnv, library(t)) // the cache is searched for it, too
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
}

// library returns the path of ONNX Runtime's library.
func library(t *testing.T) string {
	t.Helper()
	path, err := encoder.FindLibrary("", encoder.CPU)
	if err != nil {
		t.Fatalf("the test needs ONNX Runtime: %v", err)
	}
	return path
}

// Open reports what cannot be opened, and leaves nothing open.
func TestOpenFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	folder := t.TempDir()
	for name, c := range map[string]struct {
		settings screen.Settings
		want     string
	}{
		"a missing model":       {screen.Settings{Model: "./nonesuch"}, "failed to find model"},
		"a missing calibration": {screen.Settings{Model: tiny, Calibration: missing}, "failed to read fusion parameters: open " + missing},
		"no such thresholds":    {screen.Settings{Model: tiny, Sensitivity: models.SensitivityHigh}, "failed to apply sensitivity high: model tiny@1.0.0 sha256:"},
		"no such scale":         {screen.Settings{Model: tiny, Scale: toxscreen.PerspectiveScale}, "failed to apply scale perspective: model tiny@1.0.0 sha256:"},
		"a sensitivity of another scale": {
			screen.Settings{Model: "../testdata/models/tiny-scales", Scale: toxscreen.PerspectiveScale, Sensitivity: models.SensitivityLow},
			"failed to apply sensitivity low: it belongs to the scale guideline",
		},
		"a calibration of another scale": {
			screen.Settings{Model: "../testdata/models/tiny-scales", Scale: toxscreen.PerspectiveScale, Calibration: "own.json"},
			"failed to apply the fusion parameters own.json: they belong to the scale guideline",
		},
		"a judge of another scale": {
			screen.Settings{Model: "../testdata/models/tiny-scales", Scale: toxscreen.PerspectiveScale, Judge: judge.Config{Model: "m"}},
			"failed to ask the judge m on the scale perspective: its verdicts are about the scale guideline: use that scale, or no judge (--no-judge)",
		},
		"an invalid address":       {screen.Settings{Model: tiny, Judge: judge.Config{Model: "m", Host: "http://"}, JudgeCache: screen.NoCache}, "is not an address"},
		"a cache that is a folder": {screen.Settings{Model: tiny, Judge: judge.Config{Model: "m"}, JudgeCache: folder}, folder},
	} {
		t.Run(name, func(t *testing.T) {
			screener, err := screen.Open(c.settings)
			if err == nil {
				screener.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, cache := errors.AsType[*screen.CacheError](err); cache != (name == "a cache that is a folder") {
				t.Errorf("%T", err)
			}
		})
	}
}

// The thresholds of a sensitivity are the model's, and thresholds of the caller come before them.
// Severity is that of the text, whatever is flagged. The whole network runs where a threshold is
// lower than that of medium, at which texts leave it early.
func TestSensitivitySelectsThresholds(t *testing.T) {
	var own toxscreen.Scores
	own.Set(toxscreen.Insult, 0.95)
	for _, c := range []struct {
		settings         screen.Settings
		toxicity, insult toxscreen.Probability // thresholds
		flagged          bool                  // "silly" for toxicity, which is 0.4
		early            bool
	}{
		{screen.Settings{}, 0.5, 0.5, false, true},
		{screen.Settings{Sensitivity: models.SensitivityMedium}, 0.5, 0.5, false, true},
		{screen.Settings{Sensitivity: models.SensitivityLow}, 0.9, 0.9, false, true},
		{screen.Settings{Sensitivity: models.SensitivityHigh}, 0.3, 0.3, true, false},
		{screen.Settings{Sensitivity: models.SensitivityHigh, Thresholds: own}, 0.3, 0.95, true, false},
		{screen.Settings{Thresholds: own}, 0.5, 0.95, false, true},
	} {
		t.Run(fmt.Sprintf("%s %v", c.settings.Sensitivity, c.insult), func(t *testing.T) {
			c.settings.Model = "../testdata/models/tiny-exits"
			screener, err := screen.Open(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			defer screener.Close()
			result := score(t, screener, "silly")
			check(t, "the threshold of toxicity", result.Attributes[toxscreen.Toxicity].Threshold, c.toxicity)
			check(t, "the threshold of insult", result.Attributes[toxscreen.Insult].Threshold, c.insult)
			check(t, "flagged for toxicity", result.Attributes[toxscreen.Toxicity].Flagged, c.flagged)
			check(t, "the severity", result.Severity, toxscreen.SeverityMild)
			check(t, "whether texts leave early", screener.EndsEarly(), c.early)
		})
	}
}

// NoJudge overrides a judge that is configured: nothing is asked or opened.
func TestNoJudgeTouchesNothing(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "verdicts.db")
	screener, err := screen.Open(screen.Settings{Model: tiny, NoJudge: "the network is down", Judge: judge.Config{Model: "m"}, JudgeCache: cache, JudgeBand: &toxscreen.Band{High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	result := score(t, screener, "idiot")
	check(t, "asked", result.Judge.Asked, false)
	check(t, "the reason", result.Judge.Why, "the network is down")
	if _, err := os.Stat(cache); err == nil {
		t.Error("the cache of verdicts was created")
	}
	check(t, "HasJudge", screener.HasJudge(), false)
	check(t, "JudgedBy", screener.JudgedBy(), "none")
	if err := screener.FindJudge(t.Context()); err == nil {
		t.Error("a judge was found")
	}
}

// A run that is resumed must not mix verdicts of two dialects.
func TestTheDialectIsPartOfWhatVerdictsDependOn(t *testing.T) {
	t.Setenv(encoder.LibraryEnv, library(t))
	for dialect, want := range map[string]string{"": "tiny by attributes@", "llama-guard": "tiny by llama-guard@"} {
		screener := open(t, screen.Settings{Judge: judge.Config{Host: "127.0.0.1:1", Dialect: dialect}, JudgeCache: screen.NoCache})
		if !strings.HasPrefix(screener.JudgedBy(), want) {
			t.Errorf("judged by %q, want %q…", screener.JudgedBy(), want)
		}
	}
}

// On another scale, the scores and thresholds are the model's of that scale, thresholds of the caller come
// before them, and results say so. Nothing of the guideline's scale is left: neither fusion parameters nor exits.
func TestScaleSelectsScores(t *testing.T) {
	const scales = "../testdata/models/tiny-scales"
	var own toxscreen.Scores
	own.Set(toxscreen.Toxicity, 0.6)
	for _, c := range []struct {
		settings            screen.Settings
		score, threshold    toxscreen.Probability // of "silly" for toxicity
		flagged, fused, end bool
		scale               toxscreen.Scale
	}{
		{screen.Settings{}, 0.39, 0.5, false, true, true, ""},
		{screen.Settings{Scale: toxscreen.GuidelineScale}, 0.39, 0.5, false, true, true, ""},
		{screen.Settings{Scale: toxscreen.PerspectiveScale}, 0.68, 0.7, false, false, false, toxscreen.PerspectiveScale},
		{screen.Settings{Scale: toxscreen.PerspectiveScale, Thresholds: own}, 0.68, 0.6, true, false, false, toxscreen.PerspectiveScale},
	} {
		t.Run(fmt.Sprintf("%s %v", c.settings.Scale, c.threshold), func(t *testing.T) {
			c.settings.Model = scales
			screener, err := screen.Open(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			defer screener.Close()
			result := score(t, screener, "silly")
			toxicity := result.Attributes[toxscreen.Toxicity]
			if math.Abs(float64(toxicity.Score-c.score)) > 0.01 {
				t.Errorf("the score is %v, want %v", toxicity.Score, c.score)
			}
			check(t, "the threshold", toxicity.Threshold, c.threshold)
			check(t, "flagged", toxicity.Flagged, c.flagged)
			check(t, "the scale", result.Versions.Scale, c.scale)
			check(t, "whether there are fusion parameters", result.Versions.Calibration != "", c.fused)
			check(t, "whether texts leave early", screener.EndsEarly(), c.end)
		})
	}
}

// A server has screeners on the other scales beside its own. They have its limits, but no judge and
// none of its thresholds.
func TestOtherScales(t *testing.T) {
	settings := screen.Settings{Model: "../testdata/models/tiny-scales", MaxBytes: 10, Judge: judge.Config{Model: "tiny", Host: "127.0.0.1:1"}, JudgeCache: screen.NoCache}
	settings.Thresholds.Set(toxscreen.Toxicity, 0.1)
	t.Setenv(encoder.LibraryEnv, library(t))
	screener, err := screen.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	others := screener.OtherScales()
	check(t, "the number of scales", len(others), 1)
	other := others[toxscreen.PerspectiveScale]
	result, err := other.Score(t.Context(), "silly")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "the threshold", result.Attributes[toxscreen.Toxicity].Threshold, 0.7)
	check(t, "the scale", result.Versions.Scale, toxscreen.PerspectiveScale)
	check(t, "why no judge is asked", result.Judge.Why, "no judge is asked about scores on the scale perspective")
	if _, err := other.Score(t.Context(), "silly silly"); !errors.Is(err, toxscreen.ErrTooLong) {
		t.Errorf("a text over the limit: %v", err)
	}
	settings.Judge, settings.Scale = judge.Config{}, toxscreen.PerspectiveScale
	on, err := screen.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	check(t, "the number of scales beside Perspective's", len(on.OtherScales()), 0)
}
