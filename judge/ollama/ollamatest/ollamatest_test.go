//go:build unix

package ollamatest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// answer has the fields of an answer of /api/chat that these tests read.
type answer struct {
	Message struct{ Content string }
	Done    bool
	Reason  string `json:"done_reason"`
	Error   string
	Prompt  int     `json:"prompt_eval_count"`
	Tokens  int     `json:"eval_count"`
	Probs   []token `json:"logprobs"`
}

type token struct {
	Token   string
	Logprob float64
	Top     []token `json:"top_logprobs"`
}

// verdictSchema needs only what the tiny model has tokens for.
const verdictSchema = `{"type":"object","properties":{"verdict":{"type":"string","enum":["yes","no"]},"severity":{"type":"integer","minimum":0,"maximum":4}},"required":["verdict","severity"]}`

// question is a request to /api/chat about a text; fields are added as they are.
func question(text, fields string) string {
	return fmt.Sprintf(`{"model":"tiny","messages":[{"role":"system","content":"Is it rude?"},{"role":"user","content":%q}],
		"format":%s,"options":{"temperature":0,"seed":1,"num_ctx":4096,"num_predict":64}%s}`, text, verdictSchema, fields)
}

// ask sends a request to /api/chat and returns the status and the whole body.
func ask(t *testing.T, url, request string) (int, []byte, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post(url+"/api/chat", "application/json", strings.NewReader(request))
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

func askOK(t *testing.T, url, request string) answer {
	t.Helper()
	status, body, err := ask(t, url, request)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return a
}

// The tiny model does what a judge needs of a model: it follows a schema, returns
// log-probabilities from before the schema's mask, always gives the same answer to
// a prompt, and gives different answers to different texts.
func TestTheTinyModel(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)

	probabilities := map[string]bool{}
	for _, text := range []string{"You are an idiot.", "What a nice day.", ":", "Thank you, that was a great help."} {
		request := question(text, `,"stream":false,"logprobs":true,"top_logprobs":20`)
		got := askOK(t, server.URL, request)
		var verdict struct {
			Verdict  string
			Severity *int
		}
		if err := json.Unmarshal([]byte(got.Message.Content), &verdict); err != nil {
			t.Fatalf("%s: %v in %q", text, err, got.Message.Content)
		}
		if !slices.Contains([]string{"yes", "no"}, verdict.Verdict) || verdict.Severity == nil || got.Reason != "stop" {
			t.Errorf("%s: the answer is %+v", text, got)
		}
		at := slices.IndexFunc(got.Probs, func(p token) bool { return p.Token == verdict.Verdict })
		if at < 0 {
			t.Fatalf("%s: no token %q among %+v", text, verdict.Verdict, got.Probs)
		}
		sum := 0.0
		for _, other := range got.Probs[at].Top {
			sum += math.Exp(other.Logprob)
		}
		if len(got.Probs[at].Top) != 20 || sum > 1.001 {
			t.Errorf("%s: %d most likely tokens with a probability of %g in all", text, len(got.Probs[at].Top), sum)
		}
		probabilities[fmt.Sprint(got.Probs[at].Logprob)] = true

		// The second time, the server uses its prompt cache, which stores 16 bits
		// of each number: the third digit may differ.
		again := askOK(t, server.URL, request)
		if diff := cmp.Diff(got.Probs, again.Probs, cmpopts.EquateApprox(0, 0.02)); diff != "" || got.Message != again.Message {
			t.Errorf("%s: answered %+v, then %+v:\n%s", text, got.Message, again.Message, diff)
		}
	}
	if len(probabilities) < 3 {
		t.Errorf("four texts got %d different probabilities", len(probabilities))
	}
}

// A restarted server has the same address and models.
func TestRestart(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny, map[string]any{"system": "Be brief."})
	url := server.URL
	before := askOK(t, url, question("hello", `,"stream":false`))

	server.Stop(t)
	if _, _, err := ask(t, url, question("hello", "")); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("asking a stopped server: %v, want the connection refused", err)
	}
	server.Restart(t)
	if server.URL != url {
		t.Errorf("the address was %s and is %s", url, server.URL)
	}
	if after := askOK(t, url, question("hello", `,"stream":false`)); after.Message != before.Message {
		t.Errorf("answered %q and then %q", before.Message.Content, after.Message.Content)
	}
}

// The environment reaches the server: with one place in the queue, the third of
// three concurrent requests is rejected.
func TestTheQueueIsFull(t *testing.T) {
	server := ollamatest.Start(t, "OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_QUEUE=1")
	server.Create(t, "tiny", ollamatest.Tiny)
	type result struct {
		status int
		body   []byte
	}
	const n = 8
	results := make(chan result, n)
	for range n {
		go func() {
			status, body, _ := ask(t, server.URL, question("hello", `,"stream":false`))
			results <- result{status, body}
		}()
	}
	rejected := 0
	for range n {
		r := <-results
		if r.status == http.StatusServiceUnavailable {
			rejected++
			if want := `{"error":"server busy, please try again.  maximum pending requests exceeded"}`; string(bytes.TrimSpace(r.body)) != want {
				t.Errorf("rejected with %s, QueueFull with %s", r.body, want)
			}
		}
	}
	if rejected == 0 {
		t.Errorf("none of %d requests was rejected", n)
	}
}

// When the test ends, the server and the process that runs its model end.
func TestNothingIsLeftBehind(t *testing.T) {
	var url, home string
	t.Run("with a server", func(t *testing.T) {
		server := ollamatest.Start(t)
		server.Create(t, "tiny", ollamatest.Tiny)
		askOK(t, server.URL, question("hello", `,"stream":false`))
		url, home = server.URL, filepath.Dir(t.TempDir())
	})
	if connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		connection.Close()
		t.Errorf("%s still accepts connections", url)
	}
	// The runner's command line names the model's file, which lies in the
	// test's folder.
	if processes, err := exec.CommandContext(t.Context(), "ps", "-eo", "args").Output(); err != nil || bytes.Contains(processes, []byte(home)) {
		t.Errorf("still running, or %v:\n%s", err, processes)
	}
}

// failing is a testing.TB that records why it fails.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestAMissingServerFailsTheTest(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for want, call := range map[string]func(testing.TB){
		"run `make ollama`":  func(t testing.TB) { ollamatest.Start(t) },
		"run `make smollm2`": func(t testing.TB) { ollamatest.SmolLM2(t) },
	} {
		f := &failing{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			call(f)
		}()
		<-done
		if !strings.Contains(f.said, want) {
			t.Errorf("the test says %q, want %q", f.said, want)
		}
	}
}
