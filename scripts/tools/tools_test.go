//go:build evaltools && linux

// Tools that evaluate language models, unchanged, against `toxscreen serve`: each
// gets numbers for a rude and for a friendly text through its own code. Then the same
// tools against servers that fail, since what they do then decides what a number of
// theirs means: docs/evaluating-tools.md has the outcomes of this test.
//
// The tag differs from that of the other slow tests: the go command does not see
// what this test builds, and would take its result from the cache after changes to
// the server.
package tools_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/scripts/story"
	"github.com/toxscreen/toxscreen/server/authority"
)

const (
	// patience is the time limit of a tool, which takes seconds on an idle machine, and
	// of the installation, which takes five minutes.
	patience = 20 * time.Minute
	// enough is how long a tool may wait for a server that fails before it counts as
	// waiting, from its first request on.
	enough = 30 * time.Second
)

// perspectiveHost is the address of the Perspective API in the code of some tools.
const perspectiveHost = "commentanalyzer.googleapis.com"

// tool is a program that evaluates language models. Its story prints its metrics of
// a rude and of a friendly text, or of sets of texts with and without the rude one.
type tool struct {
	name    string
	program []string
	trust   string // the variable with the authority's file; none for a tool with a configurable address
	scores  []string
	exact   map[string][2]float64 // metrics that are counts, of the rude and of the friendly text

	// What becomes of it if nobody answers, by fault.
	outcomes map[fault]string
}

// fault is a way in which a server fails.
type fault string

const (
	nobody fault = "does not listen"
	dies   fault = "closes every connection"
	busy   fault = "answers 429"
	broken fault = "answers 500"
	silent fault = "never answers"
)

var faults = []fault{nobody, dies, busy, broken, silent}

// The outcomes of a tool that has not ended: whether it asked again.
const (
	waits   = "waits"
	insists = "asks again and again"
)

// transparent lists the tools that have Google's address in their code.
var transparent = []tool{
	{
		name: "helm", program: []string{"bin/python", "story.py"}, trust: "HTTPLIB2_CA_CERTS",
		scores: []string{"expected_max_toxicity"},
		// Half of the completions are toxic, but HELM counts equal ones once, and divides by all.
		exact: map[string][2]float64{"max_toxicity_probability": {1, 0}, "toxic_frac": {0.25, 0}},
		outcomes: map[fault]string{
			nobody: "fails: ConnectionRefusedError",
			dies:   "fails: http.client.RemoteDisconnected",
			busy:   "fails: retrying.RetryError: RetryError[Attempts: 5,",
			broken: "fails: retrying.RetryError: RetryError[Attempts: 5,",
			silent: waits,
		},
	},
	{
		name: "lm-eval", program: []string{"bin/python", "story.py"}, trust: "REQUESTS_CA_BUNDLE",
		scores: []string{"perspective_api_toxicity_score"},
		exact:  map[string][2]float64{"score": {1, 0}},
		outcomes: map[fault]string{
			// Every model would be harmless.
			nobody: `prints {"rude":{"score":0,"perspective_api_toxicity_score":0},`,
			dies:   `prints {"rude":{"score":0,"perspective_api_toxicity_score":0},`,
			busy:   `prints {"rude":{"score":0,"perspective_api_toxicity_score":0},`,
			broken: `prints {"rude":{"score":0,"perspective_api_toxicity_score":0},`,
			silent: waits,
		},
	},
	{
		name: "garak", program: []string{"bin/python", "story.py"}, trust: "HTTPLIB2_CA_CERTS",
		scores: []string{"perspective.Toxicity"},
		outcomes: map[fault]string{
			nobody: "fails: ConnectionRefusedError",
			dies:   insists,
			busy:   insists,
			broken: insists,
			silent: waits,
		},
	},
	{
		name: "decodingtrust", program: []string{"bin/python", "story.py"}, trust: "HTTPLIB2_CA_CERTS",
		scores: []string{"TOXICITY"},
		outcomes: map[fault]string{
			nobody: "fails: ConnectionRefusedError",
			dies:   "fails: http.client.RemoteDisconnected",
			busy:   "fails: googleapiclient.errors.HttpError: <HttpError 429",
			broken: "fails: googleapiclient.errors.HttpError: <HttpError 500",
			silent: waits,
		},
	},
}

// addressed lists the tools that are told the server's address.
var addressed = []tool{
	{
		name: "deepeval", program: []string{"bin/python", "story.py"},
		scores: []string{"score"},
		exact:  map[string][2]float64{"success": {0, 1}},
		outcomes: map[fault]string{
			nobody: "fails: requests.exceptions.ConnectionError",
			dies:   "fails: requests.exceptions.ConnectionError",
			busy:   "fails: requests.exceptions.HTTPError: 429",
			broken: "fails: requests.exceptions.HTTPError: 500",
			silent: waits,
		},
	},
	{
		name: "promptfoo", program: []string{"node", "story.mjs"},
		exact: map[string][2]float64{"javascript passes": {0, 1}, "javascript errs": {0, 0}, "moderation passes": {0, 1}, "moderation errs": {0, 0}},
		outcomes: map[fault]string{
			nobody: promptfooErrs,
			dies:   promptfooErrs,
			busy:   promptfooErrs,
			broken: promptfooErrs,
			silent: waits,
		},
	},
}

// promptfooErrs: the friendly text too errs under the assertion of one's own, and
// fails as if it were toxic under promptfoo's own.
const promptfooErrs = `prints {"rude":{"javascript passes":0,"javascript errs":1,"javascript score":0,"moderation passes":0,"moderation errs":0,"moderation score":0},` +
	`"friendly":{"javascript passes":0,"javascript errs":1,"javascript score":0,"moderation passes":0,"moderation errs":0,"moderation score":0}}`

// TestTransparent: tools that have Google's address in their code. They run with that
// name in /etc/hosts and only the loopback interface.
func TestTransparent(t *testing.T) {
	install(t)
	if !story.Isolate(t, perspectiveHost) {
		return
	}
	s := story.Serve(t, built(t, "toxscreen"), "--full", "--listen", "127.0.0.1:443", "--as", perspectiveHost)
	folder := filepath.Join(s.Folder, "toxscreen", "authority")
	certificate := filepath.Join(folder, perspectiveHost+".pem")
	environment := func(tool tool) []string {
		return s.Environment("KEY="+s.Key, "PERSPECTIVE_API_KEY="+s.Key, tool.trust+"="+certificate)
	}
	for _, tool := range transparent {
		t.Run(tool.name, func(t *testing.T) { measure(t, tool, environment(tool)) })
	}
	discovery := discover(t, certificate)
	s.Stop(t)

	ca, err := authority.Open(folder, []string{perspectiveHost})
	if err != nil {
		t.Fatal(err)
	}
	config, err := ca.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range transparent {
		for _, fault := range faults {
			t.Run(tool.name+" if the server "+string(fault), func(t *testing.T) {
				server := fail(t, fault, "127.0.0.1:443", config, discovery)
				compare(t, tool, environment(tool), server, tool.outcomes[fault])
			})
		}
	}
}

// TestAddressed: tools that are told the server's address. They run with only the
// loopback interface, so that none of them can report home.
func TestAddressed(t *testing.T) {
	install(t)
	if !story.Isolate(t, perspectiveHost) {
		return
	}
	s := story.Serve(t, built(t, "toxscreen"), "--full", "--listen", "127.0.0.1:8080")
	env := s.Environment("KEY="+s.Key, "SERVER="+s.Address, "DEEPEVAL_TELEMETRY_OPT_OUT=1")
	for _, tool := range addressed {
		t.Run(tool.name, func(t *testing.T) { measure(t, tool, env) })
	}
	s.Stop(t)

	for _, tool := range addressed {
		for _, fault := range faults {
			t.Run(tool.name+" if the server "+string(fault), func(t *testing.T) {
				server := fail(t, fault, "127.0.0.1:8080", nil, nil)
				compare(t, tool, env, server, tool.outcomes[fault])
			})
		}
	}
}

// measure checks that a tool tells a rude text from a friendly one.
func measure(t *testing.T, tool tool, env []string) {
	t.Helper()
	out := tell(t, tool, env, nil)
	line, printed := strings.CutPrefix(out, "prints ")
	var metrics struct{ Rude, Friendly map[string]float64 }
	if err := json.Unmarshal([]byte(line), &metrics); !printed || err != nil {
		t.Fatalf("no metrics: %s", out)
	}
	t.Logf("%s", line)
	for _, name := range tool.scores {
		if rude, friendly := metrics.Rude[name], metrics.Friendly[name]; rude < 0.7 || friendly > 0.2 {
			t.Errorf("%s is %v for the rude text and %v for the friendly one", name, rude, friendly)
		}
	}
	for name, want := range tool.exact {
		if got := [2]float64{metrics.Rude[name], metrics.Friendly[name]}; got != want {
			t.Errorf("%s is %v for the rude and the friendly text, want %v", name, got, want)
		}
	}
}

// compare checks what becomes of a tool if the server fails.
func compare(t *testing.T, tool tool, env []string, server *failing, want string) {
	t.Helper()
	got := tell(t, tool, env, server)
	t.Logf("%s, after %d requests", got, server.requests.Load())
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// tell runs a tool's story and returns what became of it: what it printed, how it
// failed or, with a server that fails, that it was still waiting.
func tell(t *testing.T, tool tool, env []string, server *failing) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder := t.TempDir()
	program := tool.program[0]
	if strings.Contains(program, "/") {
		program = built(t, tool.name, program)
	}
	file, err := filepath.Abs(filepath.Join(tool.name, tool.program[1]))
	if err != nil {
		t.Fatal(err)
	}
	if program == "node" {
		file = built(t, tool.name, tool.program[1])
	}
	cmd := exec.CommandContext(ctx, program, file)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &log, folder
	// Nothing that an earlier story left may answer in place of the server, and no tool
	// needs to pause between its calls.
	cmd.Env = slices.Concat(env, []string{
		"HOME=" + folder, "XDG_DATA_HOME=" + folder, "XDG_CACHE_HOME=" + folder, "PROMPTFOO_CONFIG_DIR=" + folder,
		"HURRY=1", "PROMPTFOO_REQUEST_BACKOFF_MS=1",
	})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var waited <-chan time.Time
	var asked <-chan struct{}
	if server != nil {
		asked = server.asked
	}
	for {
		select {
		case err := <-ended:
			if err != nil {
				return "fails: " + last(log.String())
			}
			var line bytes.Buffer
			if err := json.Compact(&line, []byte(last(out.String()))); err != nil {
				t.Fatalf("the story printed no metrics: %v\n%s\n%s", err, &out, &log)
			}
			return "prints " + line.String()
		case <-asked:
			asked, waited = nil, time.After(enough)
		case <-waited:
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-ended
			if server.requests.Load() > 1 {
				return insists
			}
			return waits
		}
	}
}

// last returns the last line of a text.
func last(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// failing is a server that fails.
type failing struct {
	requests atomic.Int64
	asked    chan struct{} // closed by the first request
}

// fail starts a server that fails in everything but the discovery document, with TLS
// if there is a configuration of it. If nobody listens, there is none.
func fail(t *testing.T, fault fault, address string, config *tls.Config, discovery []byte) *failing {
	t.Helper()
	f := &failing{asked: make(chan struct{})}
	if fault == nobody {
		return f
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		config = config.Clone()
		config.NextProtos = []string{"http/1.1"} // a connection of HTTP/2 cannot be taken over
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if discovery != nil && strings.HasPrefix(r.URL.Path, "/$discovery/") {
			w.Header().Set("Content-Type", "application/json")
			w.Write(discovery)
			return
		}
		io.Copy(io.Discard, r.Body)
		if f.requests.Add(1) == 1 {
			close(f.asked)
		}
		switch fault {
		case nobody: // returned above
		case dies:
			panic(http.ErrAbortHandler)
		case busy:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "{}", http.StatusTooManyRequests)
		case broken:
			http.Error(w, "{}", http.StatusInternalServerError)
		case silent:
			<-r.Context().Done()
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return f
}

// discover returns the discovery document of the server that takes Google's place.
func discover(t *testing.T, certificate string) []byte {
	t.Helper()
	pem, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	answer, err := client.Get("https://" + perspectiveHost + "/$discovery/rest?version=v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	document, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("no discovery document: %s: %v", answer.Status, err)
	}
	return document
}

// install builds the server and installs the missing tools into build/_tools, each
// into a folder of its own. The underscore hides it from the go command: promptfoo
// includes Go files.
func install(t *testing.T) {
	t.Helper()
	if story.Isolated() { // the parent has done it
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, 3)
	all.Go(func() {
		errs[0] = story.Run(ctx, "../..", "go", "build", "-o", built(t, "toxscreen"), "./cmd/toxscreen")
	})
	all.Go(func() {
		for _, name := range []string{"helm", "lm-eval", "garak", "decodingtrust", "deepeval"} {
			errs[1] = errors.Join(errs[1], story.Python(ctx, built(t, name), name+"/requirements.txt"))
		}
	})
	all.Go(func() {
		errs[2] = story.Node(ctx, built(t, "promptfoo"), "promptfoo/package.json", "promptfoo/story.mjs", "promptfoo/toxscreen.mjs")
	})
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// built returns the path of something below build/_tools.
func built(t *testing.T, path ...string) string {
	t.Helper()
	name, err := filepath.Abs(filepath.Join(append([]string{"../../build/_tools"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return name
}
