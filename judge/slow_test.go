//go:build slow && unix

package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/models"
)

const (
	faultyTexts    = 10_000
	faultyParallel = 2 // calls at once, all of which the server accepts
)

// The shortest possible question: its prompt and its answer are short.
const shortRubric = `name: short
goal: Judge.
severity: [Bad]
aspects: [{name: bad, question: "Bad?", attribute: toxicity}]
`

func faultyText(i int) string { return fmt.Sprintf("text %d, you fool", i) }

var faultyNumber = regexp.MustCompile(`text: text\^(\d+),\^you\^fool`)

// faultsOf returns the faults of a text's calls, in order: one text in ten has a
// fault, a few have more. What the model says is wrong at most once, because its
// second attempt is the last.
func faultsOf(i int) []ollamatest.Fault {
	broken := []ollamatest.Fault{
		ollamatest.Reset, ollamatest.QueueFull, ollamatest.Fail(http.StatusInternalServerError, "model runner has unexpectedly stopped"),
		ollamatest.ErrorLine, ollamatest.Break, ollamatest.Cut,
	}
	wrong := []ollamatest.Fault{ollamatest.OutOfTokens, ollamatest.WhiteSpace, ollamatest.Say("no JSON"), ollamatest.Say(`{"bad":{"verdict":"perhaps"}}`)}
	random := rand.New(rand.NewPCG(1, uint64(i)))
	pick := func(from []ollamatest.Fault) ollamatest.Fault { return from[random.IntN(len(from))] }
	switch random.IntN(40) {
	case 0, 1:
		return []ollamatest.Fault{pick(broken)}
	case 2:
		return []ollamatest.Fault{pick(broken), pick(broken)}
	case 3:
		return []ollamatest.Fault{pick(broken), pick(wrong), pick(broken)}
	}
	return nil
}

// records are the answers that were sent to the judge, in order, by the number of
// the text in the question.
type records struct {
	mu      sync.Mutex
	calls   [faultyTexts]int
	answers [faultyTexts][][]byte
}

func (r *records) plan(call ollamatest.Call) ollamatest.Fault {
	found := faultyNumber.FindSubmatch(call.Body)
	if found == nil {
		return nil // no text: it loads the model
	}
	i, err := strconv.Atoi(string(found[1]))
	if err != nil || i >= faultyTexts {
		panic(fmt.Sprintf("a question about the unknown text %q", found[1]))
	}
	r.mu.Lock()
	turn := r.calls[i]
	r.calls[i]++
	r.mu.Unlock()
	fault := ollamatest.Delay(0) // none
	if faults := faultsOf(i); turn < len(faults) {
		fault = faults[turn]
	}
	return func(p *ollamatest.Proxy, w http.ResponseWriter, request *http.Request) {
		to := &recorder{ResponseWriter: w}
		defer func() { // also if the fault aborts
			r.mu.Lock()
			defer r.mu.Unlock()
			r.answers[i] = append(r.answers[i], to.sent.Bytes())
		}()
		fault(p, to, request)
	}
}

// said is the content of an answer as it was sent.
type said struct {
	yes    bool
	pYes   float64
	quotes []string
	in     int
	whole  string
}

func readSent(sent []byte) (said, error) {
	var found said
	var logprobs []api.Logprob
	for line := range bytes.Lines(sent) {
		var part api.ChatResponse
		if err := json.Unmarshal(line, &part); err != nil {
			return found, err
		}
		found.whole += part.Message.Content
		logprobs = append(logprobs, part.Logprobs...)
		found.in += part.PromptEvalCount
	}
	var answer struct {
		Bad struct {
			Verdict  string
			Evidence []string
		}
	}
	if err := json.Unmarshal([]byte(found.whole), &answer); err != nil {
		return found, err
	}
	found.yes, found.quotes = answer.Bad.Verdict == "yes", answer.Bad.Evidence
	// The verdict is one token. The tokens before it spell `{"bad":{"verdict":"`.
	at := slices.IndexFunc(logprobs, func(l api.Logprob) bool { return l.Token == answer.Bad.Verdict })
	if at < 0 {
		return found, fmt.Errorf("no token %q", answer.Bad.Verdict)
	}
	yes, no, least := 0.0, 0.0, 1.0
	for _, option := range logprobs[at].TopLogprobs {
		least = min(least, math.Exp(option.Logprob))
		switch strings.ToLower(strings.TrimSpace(option.Token)) {
		case "yes", "ye", "y":
			yes += math.Exp(option.Logprob)
		case "no", "n":
			no += math.Exp(option.Logprob)
		}
	}
	if yes == 0 { // not listed, and so at most as probable as the last one
		yes = least
	}
	if no == 0 {
		no = least
	}
	found.pYes = yes / (yes + no)
	return found, nil
}

// Through a proxy that injects faults, no verdict is lost, doubled or given to
// another text: each text has exactly the verdict of the last answer about it,
// which the proxy recorded.
func TestNoVerdictIsLostThroughFaults(t *testing.T) {
	server := ollamatest.Start(t, fmt.Sprintf("OLLAMA_NUM_PARALLEL=%d", faultyParallel))
	server.Create(t, tiny, ollamatest.Tiny)
	var sent records
	proxy := ollamatest.NewProxy(t, server, sent.plan)
	rubric, err := ParseRubric([]byte(shortRubric))
	if err != nil {
		t.Fatal(err)
	}
	j := tinyJudge(t, proxy.URL, func(c *Config) { c.Rubric, c.Parallel = rubric, faultyParallel })
	model, err := models.Open("../testdata/models/tiny", models.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	screener := toxscreen.New(model, toxscreen.WithOpinion(toxscreen.Opinion{Ask: j.Judge, Parallel: j.Parallel()}))

	start := time.Now()
	seen, faults, different := 0, 0, map[string]bool{}
	numbers := func(yield func(int) bool) {
		for i := range faultyTexts {
			if !yield(i) {
				return
			}
		}
	}
	for outcome := range toxscreen.Batch(t.Context(), screener, numbers, func(i int) (string, error) { return faultyText(i), nil }) {
		i := outcome.Row
		if i != seen {
			t.Fatalf("got text %d, want %d", i, seen)
		}
		seen++
		report := outcome.Result.Judge
		if outcome.Err != nil || report.Error != "" || len(report.Verdicts) != 1 {
			t.Errorf("text %d has no verdict, but %v, %+v", i, outcome.Err, report)
			continue
		}
		sent.mu.Lock()
		calls, answers := sent.calls[i], sent.answers[i]
		sent.mu.Unlock()
		if want := len(faultsOf(i)) + 1; calls != want || len(answers) != want {
			t.Errorf("text %d: %d calls with %d answers, want %d", i, calls, len(answers), want)
			continue
		}
		faults += calls - 1
		want, err := readSent(answers[calls-1])
		if err != nil {
			t.Errorf("text %d: %v in %q", i, err, answers[calls-1])
			continue
		}
		got := report.Verdicts[0].Aspects[0]
		if got.Yes != want.yes || got.PYes == nil || math.Abs(float64(*got.PYes)-want.pYes) > 1e-6 ||
			len(got.Evidence)+len(got.NotInText) != len(want.quotes) || report.Verdicts[0].InputTokens < want.in {
			t.Errorf("text %d has the verdict %+v, its answer was %+v", i, got, want)
		}
		different[fmt.Sprint(want.pYes, want.whole)] = true
	}
	if seen != faultyTexts {
		t.Errorf("got %d texts, want %d", seen, faultyTexts)
	}
	// A verdict of another text is noticed only if it differs.
	if len(different) < faultyTexts*99/100 {
		t.Errorf("only %d answers are different", len(different))
	}
	t.Logf("%d texts with %d faults in %v, %d different answers", seen, faults, time.Since(start).Round(time.Second), len(different))
}
