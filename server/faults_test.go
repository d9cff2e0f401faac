//go:build unix

package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// serving answers on a real listener, with all timeouts of a server, until the
// test ends, and closes the server. open counts the connections that it has.
func serving(t *testing.T, srv *server.Server) (address string, open *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	open = &atomic.Int64{}
	go func() { served <- srv.Serve(ctx, unbuffered{l, open}, 10*time.Second) }()
	t.Cleanup(func() {
		end()
		http.DefaultClient.CloseIdleConnections()
		if err := <-served; err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return l.Addr().String(), open
}

// unbuffered makes writes block as soon as a client does not read: the system
// would buffer some megabytes of an answer.
type unbuffered struct {
	net.Listener
	open *atomic.Int64
}

func (u unbuffered) Accept() (net.Conn, error) {
	c, err := u.Listener.Accept()
	if err != nil {
		return nil, err
	}
	u.open.Add(1)
	return &connection{Conn: c, open: u.open}, c.(*net.TCPConn).SetWriteBuffer(4096)
}

// connection is counted until it is closed.
type connection struct {
	net.Conn
	open   *atomic.Int64
	closed sync.Once
}

func (c *connection) Close() error {
	c.closed.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// A drip is a client that holds a connection for as long as it can: it sends its
// first bytes at once, and then a single byte now and then.
type drip struct {
	slow  string // the part that it is slow with
	begin string
	more  byte // 0 for a client that sends no more, and does not read either
}

// A thousand slow clients of all kinds hold connections and no other resources:
// meanwhile other clients are answered as usual, and in the end the slow ones are
// disconnected.
func TestSlowClientsOfAllKindsHinderNobody(t *testing.T) {
	long := `{"texts": [` + strings.TrimSuffix(strings.Repeat(`"hello",`, 1000), ",") + `]}`
	drips := []drip{
		{"headers", "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", 'x'},
		{"body", "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{", ' '},
		{"answer", fmt.Sprintf("POST /v1/score HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(long), long), 0},
	}
	srv, err := servertest.New(toxscreen.New(words), server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv.SetBodyTimeout(time.Second)
	address, open := serving(t, srv)
	dripping := make(map[net.Conn]byte)
	dialer := net.Dialer{Timeout: 10 * time.Second}
	for i := range slowClients {
		c, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		defer c.Close()
		d := drips[i%len(drips)]
		if d.more == 0 {
			if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil { // so that the answer does not fit
				t.Fatal(err)
			}
		}
		if _, err := io.WriteString(c, d.begin); err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		if d.more != 0 {
			dripping[c] = d.more
		}
	}
	stop, drops := make(chan struct{}), sync.WaitGroup{}
	drops.Go(func() {
		for {
			for c, drop := range dripping {
				_, _ = c.Write([]byte{drop}) // it may have been disconnected
			}
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	meanwhile := 0 // answers while slow clients held their connections
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		response, err := http.Post("http://"+address+"/v1/score", "application/json", strings.NewReader(`{"text": "you idiot"}`))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Error(err)
		}
		if response.StatusCode != http.StatusOK || !strings.HasPrefix(string(data), `{"score":0.9`) {
			t.Errorf("status %d: %.200s", response.StatusCode, data)
		}
		if open.Load() > slowClients/int64(len(drips)) { // as many as are slow with their headers
			meanwhile++
		}
	}
	if meanwhile == 0 {
		t.Error("nobody was answered before the slow clients were disconnected")
	}
	http.DefaultClient.CloseIdleConnections()
	left := int64(len(drips)-1+slowClients) / int64(len(drips))
	if slowClients >= 1000 {
		left = 0 // slow headers time out after 10 seconds, too long for each run of the tests
	}
	servertest.Wait(t, "the slow clients are disconnected", func() bool { return open.Load() <= left })
	close(stop)
	drops.Wait()
}

// reallyJudged returns a screener on words whose borderline texts go to a real judge:
// a model that answers nonsense, behind a proxy that injects faults.
func reallyJudged(t *testing.T, url string, timeout time.Duration) *toxscreen.Screener {
	t.Helper()
	rubric, err := judge.ParseRubric([]byte("name: small\ngoal: Decide.\nseverity: [Low, High]\naspects:\n- {name: rude, question: \"Is it rude?\", attribute: insult}"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := judge.New(judge.Config{Model: "tiny", Host: url, Log: slog.New(slog.DiscardHandler), Rubric: rubric, Timeout: timeout, LoadTimeout: 5 * timeout, TextBytes: 400})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return judged(j.Judge)
}

// Whatever the judge does, every text gets an answer when the time for the judge is over,
// with the classifier's scores and the error, but not the address of the judge.
func TestNoFaultOfTheJudgeIsAFaultOfTheServer(t *testing.T) {
	ollama := ollamatest.Start(t)
	ollama.Create(t, "tiny", ollamatest.Tiny)
	for _, test := range []struct {
		name  string
		fault ollamatest.Fault
		slow  bool
	}{
		{"it breaks the connection", ollamatest.Reset, false},
		{"its queue is full", ollamatest.QueueFull, false},
		{"it fails", ollamatest.Fail(http.StatusInternalServerError, "out of memory"), false},
		{"it hangs", ollamatest.Hang, true},
		{"it breaks off", ollamatest.Break, false},
		{"it is slow", ollamatest.Delay(time.Minute), true},
		{"it lies: no JSON", ollamatest.Say("I won't."), false},
		{"it lies: no such verdict", ollamatest.Say(`{"rude":{"verdict":"perhaps"}}`), false},
		{"it lies: another rubric's answer", ollamatest.Say(`{"loud":{"verdict":"yes"}}`), false},
		{"it lies: an answer without an end", ollamatest.WhiteSpace, false},
		{"it lies: no UTF-8", ollamatest.InvalidUTF8, false},
		{"it runs out of tokens", ollamatest.OutOfTokens, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			patience := time.Minute // the judge fails long before
			if test.slow {
				patience = 2 * time.Second
			}
			proxy := ollamatest.NewProxy(t, ollama, func(ollamatest.Call) ollamatest.Fault { return test.fault })
			s := serve(t, reallyJudged(t, proxy.URL, time.Second), server.Config{})
			var clients sync.WaitGroup
			for i := range 4 {
				clients.Go(func() {
					r := s.Post("/v1/score", fmt.Sprintf(`{"text": "maybe %d", "judge_wait": "%s"}`, i, patience))
					result := r.Result(t)
					if result.Score != 0.5 || result.Source != toxscreen.SourceClassifier {
						t.Errorf("the score is not the classifier's: %s", r.Body)
					}
					if len(result.Judge.Verdicts) > 0 {
						t.Errorf("there is a verdict: %s", r.Body)
					}
					// The answer came when the time for the judge was over, and not when the judge ended.
					if result.Judge.Pending != test.slow {
						t.Errorf("pending %t, error %q", result.Judge.Pending, result.Judge.Error)
					}
					if failed := result.Judge.Error != ""; failed == test.slow {
						t.Errorf("the judge's error is %q", result.Judge.Error)
					}
					if strings.Contains(r.Body, "127.0.0.1") {
						t.Errorf("the answer has the address of the judge: %q", result.Judge.Error)
					}
				})
			}
			clients.Wait()
			if r := s.Post("/v1/score", `{"text": "you idiot"}`).Result(t); r.Score != 0.9 || r.Judge.Asked {
				t.Errorf("a text that needs no judge: %+v", r)
			}
		})
	}
}

// A server survives that its judge stops, and asks it again when it is back,
// without intervention.
func TestAJudgeThatComesBackIsAskedAgain(t *testing.T) {
	ollama := ollamatest.Start(t)
	ollama.Create(t, "tiny", ollamatest.Tiny)
	s := serve(t, reallyJudged(t, ollama.URL, time.Minute), server.Config{})
	asks := atomic.Int64{}
	ask := func() toxscreen.Result {
		return s.Post("/v1/score", fmt.Sprintf(`{"text": "maybe %d", "judge_wait": "2m"}`, asks.Add(1))).Result(t)
	}
	if r := ask(); len(r.Judge.Verdicts) != 1 {
		t.Fatalf("there is no verdict to begin with: %+v", r.Judge)
	}
	ollama.Stop(t)
	for range 10 {
		r := ask()
		if r.Judge.Error == "" {
			t.Errorf("without a judge there is no error: %+v", r)
		}
		if r.Judge.Pending {
			t.Errorf("without a judge, a verdict is still expected: %+v", r)
		}
		if r.Score != 0.5 {
			t.Errorf("without a judge: %+v", r)
		}
	}
	ollama.Restart(t)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		r := ask()
		if len(r.Judge.Verdicts) == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("two minutes after the judge came back it is not asked: %+v", r.Judge)
		}
	}
}
