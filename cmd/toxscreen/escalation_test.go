//go:build unix

package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/judge/ollamatest"
)

// judged returns the screener of a command line like that of score, with the
// tiny model and a judge on a server.
func judged(t *testing.T, host string, args ...string) *toxscreen.Screener {
	t.Helper()
	library := runtimeLibrary(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv(classifier.LibraryEnv, library)
	cmd := &cobra.Command{}
	addScreenerFlags(cmd)
	args = append(args, "--judge-model", "tiny", "--judge-host", host, "--model", tinyModel(t), "--judge-timeout", "5m", "--threshold", "toxicity=0.8")
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	s, err := loadSettings(cmd)
	if err != nil {
		t.Fatal(err)
	}
	screener, err := openScreener(cmd, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screener.Close() })
	return screener.Screener
}

func begin(t *testing.T, s *toxscreen.Screener, text string) *toxscreen.Screening {
	t.Helper()
	screening, err := s.Begin(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return screening
}

// Whoever does not wait for the judge does not wait until it is known which one
// there is either, however long its server takes for that.
func TestNobodyWaitsUntilTheJudgeIsFound(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	screener := judged(t, silent.Addr().String(), "--judge-cache", "off")
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

// The second time the verdict is part of the first answer, with all that is to be
// known of its judge, and no text that may not be kept has one then.
func TestTheSameTextIsNotJudgedAgain(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	screener := judged(t, server.URL, "--judge-band", "0-1", "--judge-cache", filepath.Join(t.TempDir(), "verdicts.db"))
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
		t.Errorf("a text that may not be kept has %+v", r.Judge)
	}
	// A judge that no test says is worth asking is found out to be one, and then
	// not asked.
	screener = judged(t, server.URL)
	screening := begin(t, screener, "idiot")
	final, err := screening.Consult(t.Context())
	if err != nil || !screening.Result().Judge.Pending || final.Judge.Asked || final.Judge.Error != "" {
		t.Errorf("%v, %+v, then %+v", err, screening.Result().Judge, final.Judge)
	}
	if r := begin(t, screener, "idiot").Result(); r.Judge.Pending || r.Judge.Why != final.Judge.Why {
		t.Errorf("%+v, want %+v", r.Judge, final.Judge)
	}
}
