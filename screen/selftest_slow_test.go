//go:build slow

package screen_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/screen"
)

// A model that answers with nonsense earns no trust. A self-test that was interrupted goes
// on where it was.
func TestAModelThatGuessesEarnsNoTrust(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	t.Setenv(encoder.LibraryEnv, library(t)) // the home folder is searched for it, too
	t.Setenv("HOME", t.TempDir())
	screener := open(t, screen.Judge{Model: "tiny", Host: server.URL, Cache: screen.NoCache})

	interrupted, stop := context.WithCancel(t.Context())
	_, err := screener.SelfTest(interrupted, func(p screen.Progress) {
		if p.Done == 16 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run the self-test again to go on") {
		t.Fatal(err)
	}
	first := 0
	outcome, err := screener.SelfTest(t.Context(), func(p screen.Progress) {
		if first == 0 {
			first = p.Done
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if first < 9 {
		t.Errorf("the test began anew: its first answer was number %d", first)
	}
	t.Log(outcome.Text())
	if outcome.Failed == "" || !outcome.Complete || len(outcome.SelfTest.Trusted) > 0 {
		t.Errorf("it is trusted for %v: %s", outcome.SelfTest.Trusted, outcome.Failed)
	}
}
