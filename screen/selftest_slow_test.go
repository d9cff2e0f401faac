//go:build slow

package screen_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/judge/selftest"
	"github.com/toxscreen/toxscreen/screen"
)

// A model that answers with nonsense earns no trust. A self-test that was interrupted goes
// on where it was.
func TestAModelThatGuessesEarnsNoTrust(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	ownFolders(t)
	screener := open(t, screen.Judge{Model: "tiny", Host: server.URL, Cache: screen.NoCache})

	interrupted, stop := context.WithCancel(t.Context())
	_, err := screener.SelfTest(interrupted, func(p selftest.Progress) {
		if p.Done == 16 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run the self-test again to go on") {
		t.Fatal(err)
	}
	first := 0
	outcome, err := screener.SelfTest(t.Context(), func(p selftest.Progress) {
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
	if outcome.Failed == "" || !outcome.Complete || len(outcome.Test.Trusted) > 0 {
		t.Errorf("it is trusted for %v: %s", outcome.Test.Trusted, outcome.Failed)
	}
}

// A small real model, which always says no, fails the self-test: soon, and by its answers.
// It is asked one question, since seven take it several times as long.
func TestASmallModelEarnsNoTrust(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "smollm2", ollamatest.SmolLM2(t))
	rubric, err := judge.OpenRubric("nexa-gauge/toxicity")
	if err != nil {
		t.Fatal(err)
	}
	ownFolders(t)
	screener, err := screen.Open(screen.Settings{Judge: screen.Judge{
		Model: "smollm2", Host: server.URL, Rubric: rubric, Timeout: 5 * time.Minute, Cache: screen.NoCache,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	outcome, err := screener.SelfTest(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(outcome.Text())

	if outcome.Failed == "" || !outcome.Complete || len(outcome.Test.Trusted) > 0 {
		t.Errorf("it is trusted for %v: %q, complete: %v", outcome.Test.Trusted, outcome.Failed, outcome.Complete)
	}
	if all := selftest.Cases(); outcome.Cases >= len(all) {
		t.Errorf("it was asked about all %d texts, although it finds nothing", len(all))
	}
	// The figures are those of the answers.
	var found, spared [2]int // of toxic and of clean texts; all of them
	unanswered := 0
	for _, c := range selftest.Cases() {
		answer, asked := outcome.Answers[c.ID]
		label, sure := c.Labels.Get(toxscreen.Toxicity)
		switch {
		case !asked:
		case answer.Verdict == nil:
			unanswered++
		case sure && label == 1:
			found[1]++
			if answer.Verdict.Aspects[0].Yes {
				found[0]++
			}
		case sure:
			spared[1]++
			if !answer.Verdict.Aspects[0].Yes {
				spared[0]++
			}
		}
	}
	f := outcome.Figures[toxscreen.Toxicity]
	if got := [2]int{f.Sensitivity.Count, f.Sensitivity.Of}; got != found {
		t.Errorf("it finds %v of the toxic texts, the answers say %v", got, found)
	}
	if got := [2]int{f.Specificity.Count, f.Specificity.Of}; got != spared {
		t.Errorf("it spares %v of the clean texts, the answers say %v", got, spared)
	}
	if outcome.Cases != len(outcome.Answers) || outcome.Unanswered != unanswered {
		t.Errorf("%d texts, %d unanswered; there are %d answers, %d of them without a verdict", outcome.Cases, outcome.Unanswered, len(outcome.Answers), unanswered)
	}
	if len(outcome.Figures) != 1 {
		t.Errorf("it has figures for attributes that it was not asked about: %v", outcome.Figures)
	}

	// Texts are not sent to it from then on.
	if err := screener.RecheckJudge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if trust, ok := screener.JudgeTrust(); !ok || trust.State != screen.Failed || trust.Why != outcome.Failed {
		t.Errorf("its state is %v: %s", trust, trust.Why)
	}
}
