//go:build unix

package ollama

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// A retry corrects the temporary faults of an overloaded or restarting server: the
// answer is the one without faults.
func TestTemporaryFaults(t *testing.T) {
	server := tinyServer(t)
	q := about("you are a stupid idiot")
	want := replyTo(t, tinyClient(t, server.URL, nil), q)
	for name, fault := range map[string]ollamatest.Fault{
		"reset":         ollamatest.Reset,
		"queue full":    ollamatest.QueueFull,
		"runner died":   ollamatest.Fail(http.StatusInternalServerError, "model runner has unexpectedly stopped"),
		"error line":    ollamatest.ErrorLine,
		"broken stream": ollamatest.Break,
		"cut stream":    ollamatest.Cut,
		"restart":       ollamatest.Restart,
	} {
		t.Run(name, func(t *testing.T) {
			var kept ollamatest.Requests
			proxy := ollamatest.NewProxy(t, server, kept.Plan(t, ollamatest.InTurn(fault, fault)))
			r := replyTo(t, tinyClient(t, proxy.URL, nil), q)
			// A restart answers once it has restarted.
			calls := map[bool]int{true: 3, false: 1}[name != "restart"]
			if r.Text != want.Text || r.InputTokens != want.InputTokens || r.OutputTokens != want.OutputTokens || len(r.Logprobs) != len(want.Logprobs) || len(kept.Asked) != calls {
				t.Errorf("%+v after %d calls, want %+v after %d", r, len(kept.Asked), want, calls)
			}
		})
	}
}

// An error that a retry cannot correct is returned at once, and says what to do.
func TestPermanentFaults(t *testing.T) {
	server := tinyServer(t)
	server.Create(t, "embedder", embedder(ollamatest.Tiny))
	// A server that forwards questions to another, here to the first.
	gateway := ollamatest.Start(t, "OLLAMA_NO_CLOUD=0")
	gateway.Create(t, "far", ollamatest.Tiny, map[string]any{"files": nil, "from": tiny, "remote_host": server.URL})
	long := about(strings.Repeat("a long text ", 100))
	long.Least = 300
	for name, test := range map[string]struct {
		url    string
		change func(*Config)
		faults func(ollamatest.Call) ollamatest.Fault
		want   string
		calls  int
	}{
		"a model that is not there":   {change: func(c *Config) { c.Model = "nonesuch" }, want: "has no model nonesuch: get it with `ollama pull nonesuch`"},
		"a model that runs elsewhere": {url: gateway.URL, change: func(c *Config) { c.Model = "far" }, want: "model far runs at " + server.URL + ", where the texts would be sent"},
		"a model that writes nothing": {change: func(c *Config) { c.Model = "embedder" }, want: "model embedder generates no text: use one that does"},
		"a context that is too short": {
			change: func(c *Config) {
				c.Context = func(_, _ int) (int, error) { return 0, errors.New("no context is enough") }
			},
			want: "no context is enough",
		},
		"a prompt that is too long": {
			faults: ollamatest.Always(ollamatest.Instead(func(r map[string]any) { r["options"].(map[string]any)["num_ctx"] = 256 })),
			want:   "the prompt does not fit into the context", calls: 1,
		},
		// Before 0.12.11 there was no "truncate".
		"a prompt that an old server cut": {
			faults: ollamatest.Always(ollamatest.Instead(func(r map[string]any) {
				r["options"].(map[string]any)["num_ctx"] = 256
				delete(r, "truncate")
				delete(r, "shift")
			})),
			want: "tokens of the prompt, which should be between 300 and 4032: it truncated the prompt", calls: 1,
		},
		"a request that is rejected": {
			faults: ollamatest.Always(ollamatest.Instead(func(r map[string]any) { r["top_logprobs"] = 1000 })),
			want:   "rejected the request", calls: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var kept ollamatest.Requests
			url := server.URL
			if test.url != "" {
				url = test.url
			}
			if test.faults != nil {
				url = ollamatest.NewProxy(t, server, kept.Plan(t, test.faults)).URL
			}
			_, err := tinyClient(t, url, test.change).Ask(t.Context(), long)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if len(kept.Asked) != test.calls {
				t.Errorf("%d calls, want %d", len(kept.Asked), test.calls)
			}
		})
	}
}

// embedder returns a model whose metadata says that it computes vectors, not text.
func embedder(gguf []byte) []byte {
	const header, keys = 24, 16 // bytes of a GGUF file's header, and the offset of the number of keys in it
	pair := func(key string, kind uint32) []byte {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(key)))
		return binary.LittleEndian.AppendUint32(append(b, key...), kind)
	}
	added := binary.LittleEndian.AppendUint32(pair("llama.pooling_type", 4), 1)
	// The weights must begin at a multiple of 32 bytes, as before.
	added = append(added, pair("general.description", 8)...)
	filler := 32 - (len(added)+8)%32
	added = append(binary.LittleEndian.AppendUint64(added, uint64(filler)), strings.Repeat(" ", filler)...)
	made := bytes.Join([][]byte{gguf[:header], added, gguf[header:]}, nil)
	binary.LittleEndian.PutUint64(made[keys:], binary.LittleEndian.Uint64(made[keys:])+2)
	return made
}

// slowToLoad is a plan that delays loading the model.
func slowToLoad(kept *ollamatest.Requests, t *testing.T, delay time.Duration) func(ollamatest.Call) ollamatest.Fault {
	plan := kept.Plan(t, nil)
	return func(call ollamatest.Call) ollamatest.Fault {
		_, before := kept.Counts()
		plan(call)
		if _, loads := kept.Counts(); loads > before {
			return ollamatest.Delay(delay)
		}
		return nil
	}
}

// Loading has its own time limit. Questions that wait for it get its error, and do
// not each wait for the same failure.
func TestALoadThatTakesTooLong(t *testing.T) {
	server := tinyServer(t)
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, server, slowToLoad(&kept, t, time.Hour))
	c := tinyClient(t, proxy.URL, func(c *Config) { c.LoadTimeout = 2 * time.Second })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, connecting := c.Connect(t.Context())
			_, asking := c.Ask(t.Context(), about("x"))
			for _, err := range []error{connecting, asking} {
				if err == nil || !strings.Contains(err.Error(), "was not loaded within 2s: raise the limit for loading") {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, loads := kept.Counts(); loads != 1 {
		t.Errorf("the model was loaded %d times for questions that waited together", loads)
	}

	// Loading does not count towards the question's time.
	proxy = ollamatest.NewProxy(t, server, slowToLoad(&kept, t, 3*time.Second))
	replyTo(t, tinyClient(t, proxy.URL, func(c *Config) { c.Timeout = 2900 * time.Millisecond }), about("x"))
}

// With a log, errors have neither the address of the server nor its words: they may be
// shown to others. The log has both.
func TestErrorsForOthersDoNotNameTheServer(t *testing.T) {
	found := `{"models":[{"name":"` + tiny + `:latest","digest":"1"}]}`
	for kind, answer := range map[string]http.HandlerFunc{
		"the model's server has no model tiny": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"models":[]}`) },
		"the model's server is overloaded": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"busy on private.example"}`, http.StatusServiceUnavailable)
		},
		"the model's server rejected the request": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"not on private.example"}`, http.StatusBadRequest)
		},
		"the model's server redirects to another": http.RedirectHandler("http://private.example/", http.StatusTemporaryRedirect).ServeHTTP,
		"the model's server failed": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"private.example ran out of memory"}`, http.StatusInternalServerError)
		},
		"model tiny would be asked at another host": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, map[string]string{"/api/tags": found, "/api/show": `{"remote_host":"private.example"}`}[r.URL.Path])
		},
		"model tiny did not complete its answer within 300ms": func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(answer)
			t.Cleanup(server.Close)
			var log bytes.Buffer
			c := tinyClient(t, server.URL, func(c *Config) {
				c.Log, c.Timeout = slog.New(slog.NewTextHandler(&log, nil)), 300*time.Millisecond
			})
			_, identifying := c.Identify(t.Context())
			_, connecting := c.Connect(t.Context())
			_, asking := c.Ask(t.Context(), about("x"))
			for _, err := range []error{identifying, connecting, asking} {
				if err == nil || err.Error() != kind {
					t.Errorf("%v, want %q", err, kind)
				}
			}
			if address := strings.TrimPrefix(server.URL, "http://"); !strings.Contains(log.String(), address) && !strings.Contains(log.String(), "private.example") {
				t.Errorf("the log is %s", &log)
			}
			for range breakerFailures {
				_, asking = c.Ask(t.Context(), about("x"))
			}
			if want := "the model is paused for 10s after 3 failures in a row: " + kind; asking == nil || asking.Error() != want {
				t.Errorf("%v, want %q", asking, want)
			}
		})
	}
}

// Redirections are not followed: nothing is sent to the other address.
func TestRedirectionsAreNotFollowed(t *testing.T) {
	elsewhere := ollamatest.NewProxy(t, tinyServer(t), nil)
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	_, err := tinyClient(t, here.URL, nil).Ask(t.Context(), about("x"))
	if err == nil || !strings.Contains(err.Error(), "it redirects to "+strings.TrimPrefix(elsewhere.URL, "http://")) {
		t.Error(err)
	}
	for _, path := range []string{"/", "/api/tags", "/api/show", "/api/chat"} {
		if elsewhere.Calls(path) != 0 {
			t.Errorf("%s was asked for", path)
		}
	}
}

// A failing server delays only the first questions.
func TestAFailingServerIsPaused(t *testing.T) {
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, tinyServer(t), kept.Plan(t, ollamatest.Always(ollamatest.QueueFull)))
	c := tinyClient(t, proxy.URL, nil)
	for range breakerFailures {
		if c.Failing() {
			t.Error("it is paused too soon")
		}
		if _, err := c.Ask(t.Context(), about("x")); err == nil || !strings.Contains(err.Error(), "is overloaded: lower the model's parallel calls") {
			t.Fatal(err)
		}
	}
	calls, _ := kept.Counts()
	for range 100 {
		_, err := c.Ask(t.Context(), about("x"))
		if err == nil || !strings.Contains(err.Error(), "the model is paused for 10s after 3 failures in a row: the server at") {
			t.Fatal(err)
		}
	}
	if after, _ := kept.Counts(); after != calls || calls != attempts*breakerFailures {
		t.Errorf("%d calls, then %d", calls, after)
	}
	if _, err := c.Identify(t.Context()); !c.Failing() || err == nil {
		t.Errorf("failing %v, Identify returns %v", c.Failing(), err)
	}
}

// More questions than may wait are rejected at once. A question that never got a
// slot is not a failure of the server.
func TestTheQueueIsBounded(t *testing.T) {
	server := tinyServer(t)
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, server, kept.Plan(t, ollamatest.Always(ollamatest.Delay(time.Second))))
	c := tinyClient(t, proxy.URL, func(c *Config) { c.Name = "judge" })
	c.queue = 2
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rejected atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := c.Ask(t.Context(), about("x")); err != nil && strings.Contains(err.Error(), "the judge is busy: 2 texts are waiting already") {
				rejected.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if rejected.Load() != 7 { // one is asked, two wait
		t.Errorf("%d of 10 were rejected, want 7", rejected.Load())
	}

	hangs := ollamatest.NewProxy(t, server, new(ollamatest.Requests).Plan(t, ollamatest.Always(ollamatest.Hang)))
	c = tinyClient(t, hangs.URL, func(c *Config) { c.Name = "judge" })
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	all.Go(func() {
		if _, err := c.Ask(ctx, about("x")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	for len(c.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	impatient := &Exchange{client: c, left: 50 * time.Millisecond}
	for range 2 * breakerFailures {
		_, err := impatient.Ask(t.Context(), func(*Session) Question { return Question{} })
		if err == nil || !strings.Contains(err.Error(), "the judge was busy with other texts for") {
			t.Error(err)
		}
	}
	cancel()
	all.Wait()
}

// A call whose context ends is not a failure of the server.
func TestAContextThatEnds(t *testing.T) {
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, tinyServer(t), kept.Plan(t, ollamatest.Always(ollamatest.Delay(200*time.Millisecond))))
	c := tinyClient(t, proxy.URL, nil)
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 * breakerFailures {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := c.Ask(ctx, about("x"))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	replyTo(t, c, about("x"))
}

// A hang in mid-stream, and in mid-line, ends with the time limit.
func TestAHangEndsWithTheTimeLimit(t *testing.T) {
	proxy := ollamatest.NewProxy(t, tinyServer(t), func(call ollamatest.Call) ollamatest.Fault {
		if bytes.Contains(call.Body, []byte("hang")) {
			return ollamatest.Hang
		}
		return nil
	})
	c := tinyClient(t, proxy.URL, func(c *Config) { c.Timeout = 20 * time.Second })
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.config.Timeout = time.Second
	if _, err := c.Ask(t.Context(), about("hang")); err == nil || !strings.Contains(err.Error(), "did not complete its answer within 1s: raise the model's time limit") {
		t.Error(err)
	}
	c.config.Timeout = time.Minute
	replyTo(t, c, about("go on"))
}

func TestAServerThatComesAndGoes(t *testing.T) {
	server := tinyServer(t)
	c := tinyClient(t, server.URL, nil)
	want := replyTo(t, c, about("x"))
	server.Stop(t)
	if _, err := c.Ask(t.Context(), about("x")); err == nil || !strings.Contains(err.Error(), "start one with `ollama serve`") {
		t.Error(err)
	}
	server.Restart(t)
	if r := replyTo(t, c, about("x")); r.Text != want.Text {
		t.Errorf("%q, then %q", want.Text, r.Text)
	}
}

// A patient question outlives a server that stops, also one that is paused, and gets
// its answer when the server is back. A server that was never there is not waited for.
func TestAPatientQuestionWaitsForTheServer(t *testing.T) {
	server := tinyServer(t)
	proxy := ollamatest.NewProxy(t, server, nil)
	patient := func(c *Config) { c.Patient = true }
	c := tinyClient(t, proxy.URL, patient)
	want := replyTo(t, c, about("x"))
	server.Stop(t)
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := c.Ask(t.Context(), about("x")); err != nil || r.Text != want.Text {
			t.Errorf("%v, %q, want %q", err, r.Text, want.Text)
		}
	})
	for !c.Waiting() || !c.Failing() {
		time.Sleep(time.Millisecond)
	}
	server.Restart(t)
	all.Wait()
	if c.Waiting() || c.failing.Load() != nil {
		t.Error("the failure is not over")
	}

	server.Stop(t)
	if _, err := tinyClient(t, server.URL, patient).Ask(t.Context(), about("x")); err == nil || !strings.Contains(err.Error(), "start one with `ollama serve`") {
		t.Error(err)
	}
	// A failure that lasts longer than the limit is no longer waited for.
	long := time.Now().Add(-c.config.Timeout - breakerPause)
	c.failing.Store(&long)
	if _, err := c.Ask(t.Context(), about("x")); err == nil {
		t.Error("an answer from a stopped server")
	}
}

// A model that was replaced by another of the same name is noticed although the session
// is valid, and without loading the model.
func TestRefreshNoticesAnotherModel(t *testing.T) {
	server := tinyServer(t)
	c := tinyClient(t, server.URL, nil)
	replyTo(t, c, about("x"))
	session := c.Session()
	if same, err := c.Refresh(t.Context()); err != nil || same != session || c.Session() != session {
		t.Errorf("%v, %+v, want the session %+v", err, same, session)
	}
	server.Create(t, tiny, ollamatest.Tiny, map[string]any{"system": "Another model."})
	other, err := c.Refresh(t.Context())
	if err != nil || other.Digest == session.Digest || other.Context != 0 || c.Session() != nil {
		t.Errorf("%v, %+v, want another digest than that of %+v, and no session", err, other, session)
	}
}
