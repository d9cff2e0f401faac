//go:build slow && unix

package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollamatest"
)

// faultyTexts is how many texts go through the faults. It is a variable for
// machines with other work: TOXSCREEN_FAULTY_TEXTS.
func faultyTexts(t *testing.T) int {
	t.Helper()
	n := 10_000
	if given := os.Getenv("TOXSCREEN_FAULTY_TEXTS"); given != "" {
		if _, err := fmt.Sscan(given, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Of many texts through a proxy that injects faults no verdict is lost,
// doubled or given to another text. Each text has its number in it, and the
// prompt that the server had last for it tells which that was.
func TestNoVerdictIsLostThroughFaults(t *testing.T) {
	const parallel = 2
	server := ollamatest.Start(t, fmt.Sprintf("OLLAMA_NUM_PARALLEL=%d", parallel))
	server.Create(t, tiny, ollamatest.Tiny)
	faults := []ollamatest.Fault{
		ollamatest.Reset, ollamatest.QueueFull, ollamatest.ErrorLine, ollamatest.Break, ollamatest.Cut,
		ollamatest.OutOfTokens, ollamatest.WhiteSpace, ollamatest.InvalidUTF8,
	}
	random := rand.New(rand.NewPCG(1, 2))
	var lock sync.Mutex
	var injected atomic.Int64
	proxy := ollamatest.NewProxy(t, server, func(ollamatest.Call) ollamatest.Fault {
		lock.Lock()
		defer lock.Unlock()
		if random.IntN(20) > 0 {
			return nil
		}
		injected.Add(1)
		return faults[random.IntN(len(faults))]
	})
	j := tinyJudge(t, proxy.URL, func(c *Config) { c.Parallel, c.Queue = parallel, 16 })
	// Alone, without faults, a text has the verdict that it must have.
	plain := tinyJudge(t, server.URL, nil)

	n := faultyTexts(t)
	text := func(i int) string { return fmt.Sprintf("text number %d of many, you fool", i) }
	verdicts := make([]*toxscreen.Verdict, n)
	var failed atomic.Int64
	next := make(chan int)
	var workers sync.WaitGroup
	for range 2 * parallel {
		workers.Go(func() {
			for i := range next {
				v, err := j.Judge(t.Context(), text(i), nil)
				if err != nil {
					failed.Add(1)
					t.Logf("%q: %v", text(i), err)
					continue
				}
				verdicts[i] = &v
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	t.Logf("%d texts, %d faults, %d texts without a verdict", n, injected.Load(), failed.Load())
	// Four faults in a row happen to one text in 160,000.
	if failed.Load() > 1 {
		t.Errorf("%d of %d texts have no verdict", failed.Load(), n)
	}
	// Whether a verdict is that of its text is looked at in a sample.
	for i := 0; i < n; i += max(n/50, 1) {
		if verdicts[i] == nil || slices.ContainsFunc(verdicts[i].Warnings, func(w string) bool { return strings.Contains(w, "first answer") }) {
			continue
		}
		want := verdictOn(t, plain, text(i))
		for k, a := range verdicts[i].Aspects {
			// Beside another text in one batch the last decimals differ.
			if d := *a.PYes - *want.Aspects[k].PYes; d > 0.01 || d < -0.01 {
				t.Errorf("%q: %s is %v among others, %v alone", text(i), a.Name, *a.PYes, *want.Aspects[k].PYes)
			}
		}
	}
}

// A small real model is a poor judge, and the self-test says so.
func TestASmallModelIsNotBelieved(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "smollm2", ollamatest.SmolLM2(t))
	r, err := OpenRubric("nexa-gauge/toxicity")
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := tinyJudge(t, server.URL, func(c *Config) { c.Model, c.Rubric, c.TextBytes = "smollm2", r, 1000 }).SelfTest(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(outcome, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
	if outcome.Believe {
		t.Error("it is believed")
	}
}
