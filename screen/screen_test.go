//go:build unix

package screen_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/screen"
)

const tiny = "../testdata/models/tiny"

// open opens a screener with the tiny model and a judge. The threshold of toxicity
// is raised to 0.8.
func open(t *testing.T, judge screen.Judge) *screen.Screener {
	t.Helper()
	judge.Model, judge.Timeout = "tiny", 5*time.Minute
	settings := screen.Settings{Model: tiny, Judge: judge}
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
	screener := open(t, screen.Judge{Host: silent.Addr().String(), Cache: screen.NoCache})
	screening := begin(t, screener, "idiot")
	if r := screening.Result(); !r.Judge.Pending || r.Source != toxscreen.SourceClassifier {
		t.Errorf("%+v", r.Judge)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, err := screening.Consult(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %+v", err, r.Judge)
	}
}

// The second time, the verdict is part of the first answer, with every warning
// about its judge. A text that must not be stored has no verdict then.
func TestTheSameTextIsNotJudgedAgain(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	t.Setenv(encoder.LibraryEnv, library(t)) // the home folder is searched for it, too
	t.Setenv("HOME", t.TempDir())            // without a self-test of this judge
	cache := filepath.Join(t.TempDir(), "verdicts.db")
	screener := open(t, screen.Judge{Host: server.URL, Band: &toxscreen.Band{Low: 0, High: 1}, Cache: cache})
	first, err := begin(t, screener, "idiot").Consult(t.Context())
	if err != nil || len(first.Judge.Verdicts) != 1 || len(first.Judge.Verdicts[0].Warnings) == 0 {
		t.Fatalf("%v, %+v", err, first.Judge)
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
	if want := "tiny by attributes@"; !strings.HasPrefix(screener.JudgedBy(), want) || !strings.HasSuffix(screener.JudgedBy(), " in 0.00–1.00") {
		t.Errorf("judged by %q, want %q… in a band", screener.JudgedBy(), want)
	}

	// Without a band, a judge without a self-test is not asked, once it is known.
	screener = open(t, screen.Judge{Host: server.URL, Cache: screen.NoCache})
	screening := begin(t, screener, "idiot")
	final, err := screening.Consult(t.Context())
	if err != nil || !screening.Result().Judge.Pending || final.Judge.Asked || final.Judge.Error != "" {
		t.Errorf("%v, %+v, then %+v", err, screening.Result().Judge, final.Judge)
	}
	if r := begin(t, screener, "idiot").Result(); r.Judge.Pending || r.Judge.Why != final.Judge.Why {
		t.Errorf("%+v, want %+v", r.Judge, final.Judge)
	}
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
		"a missing model":          {screen.Settings{Model: "./nonesuch"}, "failed to find model"},
		"a missing calibration":    {screen.Settings{Model: tiny, Calibration: missing}, "failed to read fusion parameters: open " + missing},
		"an invalid address":       {screen.Settings{Model: tiny, Judge: screen.Judge{Model: "m", Host: "http://", Cache: screen.NoCache}}, "is not an address"},
		"a cache that is a folder": {screen.Settings{Model: tiny, Judge: screen.Judge{Model: "m", Cache: folder}}, folder},
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

// NoJudge overrides a judge that is configured: nothing is asked or opened.
func TestNoJudgeTouchesNothing(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "verdicts.db")
	screener, err := screen.Open(screen.Settings{Model: tiny, NoJudge: "the network is down", Judge: screen.Judge{Model: "m", Cache: cache, Band: &toxscreen.Band{High: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	result, err := screener.Score(t.Context(), "idiot")
	if err != nil || result.Judge.Asked || result.Judge.Why != "the network is down" {
		t.Errorf("%v, %+v", err, result.Judge)
	}
	if _, err := os.Stat(cache); err == nil {
		t.Error("the cache of verdicts was created")
	}
	if screener.HasJudge() || screener.JudgedBy() != "none" || screener.FindJudge(t.Context()) == nil {
		t.Error("there is a judge")
	}
}

// A run that is resumed must not mix verdicts of two dialects.
func TestTheDialectIsPartOfWhatVerdictsDependOn(t *testing.T) {
	t.Setenv(encoder.LibraryEnv, library(t))
	for dialect, want := range map[string]string{"": "tiny by attributes@", "llama-guard": "tiny by llama-guard@"} {
		screener := open(t, screen.Judge{Host: "127.0.0.1:1", Dialect: dialect, Cache: screen.NoCache})
		if !strings.HasPrefix(screener.JudgedBy(), want) {
			t.Errorf("judged by %q, want %q…", screener.JudgedBy(), want)
		}
	}
}
