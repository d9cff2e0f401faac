package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// taking is a classifier that takes a time for each text.
func taking(d time.Duration) classify {
	return func(ctx context.Context, text string) (toxscreen.Classification, error) {
		select {
		case <-time.After(d):
			return words(ctx, text)
		case <-ctx.Done():
			return toxscreen.Classification{}, ctx.Err()
		}
	}
}

// answering is a server without a network, for tests in which time is simulated.
func answering(t testing.TB, screener *toxscreen.Screener, c server.Config) func(body string, header ...string) (r reply, took time.Duration) {
	t.Helper()
	srv, err := servertest.New(screener, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return func(body string, header ...string) (reply, time.Duration) {
		began := time.Now()
		return answered(t, srv, body, header...), time.Since(began)
	}
}

// answered returns the answer of a server without a network to a request to score.
func answered(t testing.TB, srv *server.Server, body string, header ...string) reply {
	t.Helper()
	w := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/score", strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	srv.ServeHTTP(w, request)
	return reply{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

// At several times its capacity, the server rejects at once the texts that would
// wait too long, and answers the others within the limit.
func TestOverloadIsRefusedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, most = 20 * time.Millisecond, 200 * time.Millisecond
		ask := answering(t, toxscreen.New(taking(each)), server.Config{QueueWait: most / 2})
		for range 100 { // the server learns how long a text takes
			ask(`{"text": "hello"}`)
		}
		var answered, refused, late atomic.Int64
		var clients sync.WaitGroup
		for i := range 300 { // six in a text's time, in which the server can do two
			clients.Go(func() {
				time.Sleep(time.Duration(i) * each / 6)
				r, took := ask(`{"text": "hello"}`)
				switch {
				case r.Status == http.StatusOK && took <= most+each:
					answered.Add(1)
				case r.Status == http.StatusTooManyRequests && took == 0 && r.Header.Get("Retry-After") == "1":
					refused.Add(1)
				case r.Status == http.StatusServiceUnavailable && took == most && r.Header.Get("Retry-After") == "1":
					late.Add(1)
				default:
					t.Errorf("status %d after %s: %s", r.Status, took, r.Body)
				}
			})
		}
		clients.Wait()
		// A second has room for a hundred, and the queue for twenty more.
		if answered.Load() < 110 || late.Load() > 10 || answered.Load()+refused.Load()+late.Load() != 300 {
			t.Errorf("%d answered, %d refused at once, %d after they waited", answered.Load(), refused.Load(), late.Load())
		}
	})
}

// A caller who sends its comments all at once gets all of them scored. Clients of the
// Perspective API do that, and do not repeat what is refused. That holds for the first
// burst of a server, which has measured nothing, and for the next one.
func TestABurstOfCommentsWaits(t *testing.T) {
	for name, info := range map[string]toxscreen.ModelInfo{
		"a text a run": {Parallel: 2},
		"shared runs":  {Parallel: 64, Short: 128},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				info.Attributes, info.Thresholds = words.Info().Attributes, words.Info().Thresholds
				cores := make(chan struct{}, 2)
				ask := answering(t, toxscreen.New(informed{info: info, classify: func(ctx context.Context, text string) (toxscreen.Classification, error) {
					cores <- struct{}{}
					time.Sleep(30 * time.Millisecond) // on a machine that is busy with other work
					<-cores
					return words(ctx, text)
				}}), server.Config{})
				body := `{"text": "` + strings.Repeat("a", 200) + `"}`
				for burst := range 2 {
					var comments sync.WaitGroup
					for range 60 {
						comments.Go(func() {
							if r, took := ask(body); r.Status != http.StatusOK {
								t.Errorf("burst %d: status %d after %s", burst, r.Status, took)
							}
						})
					}
					comments.Wait()
				}
			})
		})
	}
}

// A request with many texts shares the queue with other requests.
func TestManyTextsDoNotCrowdOutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 5 * time.Millisecond
		ask := answering(t, toxscreen.New(taking(each)), server.Config{})
		texts := strings.TrimSuffix(strings.Repeat(`"hello",`, 500), ",")
		many := make(chan reply, 1)
		go func() {
			r, _ := ask(`{"texts": [` + texts + `]}`)
			many <- r
		}()
		for range 10 {
			time.Sleep(7 * time.Millisecond)
			if r, took := ask(`{"text": "hello"}`); r.Status != http.StatusOK || took > 4*each {
				t.Errorf("status %d after %s", r.Status, took)
			}
		}
		if r := <-many; r.Status != http.StatusOK || strings.Count(r.Body, "\n") != 500 {
			t.Errorf("status %d, %d lines", r.Status, strings.Count(r.Body, "\n"))
		}
	})
}

// The memory of all bodies together is limited, and released after the answers.
func TestTheMemoryOfBodiesIsBounded(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	s.API.SetMaxMemory(1000)
	body := `{"text": "` + strings.Repeat("x", 1500) + `"}`
	for range 3 {
		if r := s.Post("/v1/score", body); r.Status != http.StatusTooManyRequests || r.Code(t) != "overloaded" || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		if r := s.Post("/v1/score", `{"text": "hello"}`); r.Status != http.StatusOK {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}

// accepting remembers which clients' connections were accepted: those that only
// the operating system has accepted when the listener closes are reset, which no
// server can prevent.
type accepting struct {
	net.Listener
	clients sync.Map // their addresses
}

func (a *accepting) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil {
		a.clients.Store(c.RemoteAddr().String(), true)
	}
	return c, err
}

// ask sends a request and returns its answer, or nil where the listener is closed.
// A request on a connection that was accepted must be answered.
func (a *accepting) ask(t *testing.T, client *http.Client, method, path, body string) *http.Response {
	t.Helper()
	var from string
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { from = c.Conn.LocalAddr().String() }})
	r, err := http.NewRequestWithContext(traced, method, "http://"+a.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	response, err := client.Do(r)
	if err != nil {
		if _, accepted := a.clients.Load(from); accepted {
			t.Errorf("an accepted request got no answer: %v", err)
		}
		return nil
	}
	if response.Close {
		a.clients.Delete(from) // the connection ends, and its port may be used again
	}
	return response
}

// A server that shuts down answers the requests that it has accepted: no client
// sees a broken answer, and clients are told to close their connections.
func TestWhatWasAcceptedIsAnsweredBeforeTheEnd(t *testing.T) {
	judge := servertest.NewSlow()
	kept, all := servertest.Results(t)
	srv, err := servertest.New(toxscreen.New(taking(20*time.Millisecond), servertest.Raised(judge.Judge)),
		server.Config{Results: kept, QueueWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &accepting{Listener: listener}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 10*time.Second) }()
	address := "http://" + l.Addr().String()

	var clients sync.WaitGroup
	var answered, ready, closed atomic.Int64
	for i := range 8 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}} // with a connection of its own
			defer client.CloseIdleConnections()
			for {
				response := l.ask(t, client, http.MethodPost, "/v1/score", fmt.Sprintf(`{"text": "hello %d"}`, i))
				if response == nil {
					return
				}
				data, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(string(data), `{"score":0.1`) {
					t.Errorf("status %d, %v, %.100s", response.StatusCode, err, data)
				}
				if answered.Add(1); response.Close {
					closed.Add(1)
				}
			}
		})
	}
	servertest.Wait(t, "requests are answered", func() bool { return answered.Load() > 20 })
	pending, err := http.Post(address+"/v1/score", "application/json", strings.NewReader(`{"text": "maybe"}`))
	if err != nil {
		t.Fatal(err)
	}
	pending.Body.Close()
	end()
	servertest.Wait(t, "it is no longer ready", func() bool {
		response, err := http.Get(address + "/readyz")
		if err != nil {
			return true // it has ended already
		}
		response.Body.Close()
		if response.StatusCode == http.StatusServiceUnavailable {
			ready.Add(1)
		}
		return response.StatusCode == http.StatusServiceUnavailable
	})
	clients.Wait()
	judge.Answer <- struct{}{} // the server waits for the outstanding verdict
	if err := <-served; err != nil {
		t.Error(err)
	}
	srv.Close()
	if closed.Load() == 0 || ready.Load() == 0 || len(all()) != 1 {
		t.Errorf("%d connections were closed after an answer, readiness said so %d times, %d late results are kept", closed.Load(), ready.Load(), len(all()))
	}
	http.DefaultClient.CloseIdleConnections()
}

// So are requests on new connections until the last moment.
func TestTheLastConnectionsAreAnsweredBeforeTheEnd(t *testing.T) {
	srv, err := servertest.New(toxscreen.New(words), server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &accepting{Listener: listener}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 10*time.Second) }()

	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 30 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for {
				response := l.ask(t, client, http.MethodGet, "/healthz", "")
				if response == nil {
					return
				}
				response.Body.Close()
				answered.Add(1)
			}
		})
	}
	servertest.Wait(t, "requests are answered", func() bool { return answered.Load() > 100 })
	end()
	clients.Wait()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Clients that send nothing, or slowly, hold connections and no other resources:
// other clients are answered, and the slow ones are disconnected in the end.
func TestSlowClientsHinderNobody(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	s.API.SetBodyTimeout(2 * time.Second)
	s.API.SetMaxMemory(10_000)
	var slow []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	if r := s.Post("/v1/score", `{"text": "you idiot"}`); r.Result(t).Score != 0.9 {
		t.Errorf("%s", r.Body)
	}
	for _, c := range slow {
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
			t.Fatalf("%v, %.100s", err, answer)
		}
	}
}

// Neither does the body of a request that is rejected before it is read.
func TestSlowClientsAreSentAwayWhenRefused(t *testing.T) {
	_, key := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(words), server.Config{Keys: []server.Key{key}})
	s.API.SetBodyTimeout(200 * time.Millisecond)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401") {
		t.Errorf("%v, %.100s", err, answer)
	}
}

// The timeout of the body does not apply to scoring: that may take longer.
func TestALongTextOutlivesTheTimeForItsBody(t *testing.T) {
	s := serve(t, toxscreen.New(taking(300*time.Millisecond)), server.Config{})
	s.API.SetBodyTimeout(100 * time.Millisecond)
	if r := s.Post("/v1/score", `{"text": "hello"}`); r.Result(t).Score != 0.1 {
		t.Errorf("%s", r.Body)
	}
}

// Whatever happens to a text, the log contains neither the text nor its id or key.
func TestTheLogHoldsNoText(t *testing.T) {
	const secret = "maybe-5f0c"
	broken := classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
		switch {
		case strings.Contains(text, "panic"):
			panic(text)
		case strings.Contains(text, "fail"):
			return toxscreen.Classification{}, errors.New("no model")
		}
		return words(context.Background(), text)
	})
	lying := func(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
		return toxscreen.Verdict{}, &toxscreen.AbstentionError{Why: "it wrote " + text, Raw: text}
	}
	results, _ := servertest.Results(t)
	s := serve(t, toxscreen.New(broken, toxscreen.WithOpinion(toxscreen.Opinion{Ask: lying})), server.Config{Results: results})
	for _, text := range []string{secret, secret + " panic", secret + " fail"} {
		s.Post("/v1/score", `{"text": "`+text+`", "id": "`+secret+`", "judge_wait": "10s"}`)
		s.Post("/v1/score", `{"texts": ["`+text+`"]}`)
		s.Post("/v1/score?key="+secret, `{"text": "`+text+`", "`+secret+`": 1}`)
	}
	s.Get("/v1/" + secret)
	s.Get("/v1/score/" + secret)
	log := s.Log.String()
	if strings.Contains(log, "5f0c") || strings.Count(log, "\n") < 9 || !strings.Contains(log, "no model") || !strings.Contains(log, "panic with a string") {
		t.Errorf("%s", log)
	}
}

// Languages are counted as the classifier finds them, and sentences of a text are no
// texts of their own.
func TestLanguagesOfTextsAreCounted(t *testing.T) {
	guessing := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		found, err := words(ctx, text)
		found.Language = toxscreen.Language{Code: "en"}
		if strings.Contains(text, "schönen") {
			found.Language = toxscreen.Language{Code: "de", Foreign: true, Certain: true}
		}
		return found, err
	})
	s := serve(t, toxscreen.New(guessing), server.Config{})
	s.Post("/v1/score", `{"texts": ["hello", "good day", "einen schönen Tag"]}`)
	s.Post("/v1/evaluate", `{"evaluators": [{"evaluator": "toxicity"}], "evaluated_model_output": "You idiot. Hello there. Good day."}`)
	metrics := servertest.Debug(t, s.API, "/metrics")
	for _, line := range []string{
		`toxscreen_text_languages_total{foreign="false",language="en"} 3`,
		`toxscreen_text_languages_total{foreign="true",language="de"} 1`,
		`toxscreen_flagged_texts_total{api="patronus",attribute="toxicity"} 1`,
		`toxscreen_score_count{api="patronus"} 1`,
		`toxscreen_score_count{api="native"} 2`, // the German one is not decided
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("there is no line %s in\n%s", line, metrics)
		}
	}
}

func TestMetricsAreKept(t *testing.T) {
	judge := servertest.NewSlow()
	results, _ := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{Results: results})
	s.Post("/v1/score", `{"texts": ["you idiot", "hello", "maybe"]}`)
	s.Post("/v1/score", `{}`)
	metrics := servertest.Debug(t, s.API, "/metrics")
	for _, line := range []string{
		`toxscreen_requests_total{api="native",failure="",status="200"} 1`,
		`toxscreen_requests_total{api="native",failure="invalid_request",status="400"} 1`,
		`toxscreen_texts_total{api="native"} 3`,
		`toxscreen_text_bytes_total{api="native"} 19`,
		`toxscreen_score_bucket{api="native",le="0.1"} 1`,
		`toxscreen_score_bucket{api="native",le="0.5"} 2`,
		`toxscreen_score_bucket{api="native",le="0.9"} 3`,
		`toxscreen_flagged_texts_total{api="native",attribute="toxicity"} 2`,
		`toxscreen_flagged_texts_total{api="native",attribute="insult"} 1`,
		`toxscreen_text_languages_total{foreign="false",language="unknown"} 3`,
		`toxscreen_build_info{calibration="raising",goversion="` + runtime.Version() + `",model="tiny@1.0.0",version="` + toxscreen.Version + `"} 1`,
		`toxscreen_late_verdicts 1`,
		`toxscreen_body_bytes 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("there is no line %s", line)
		}
	}
	close(judge.Answer)
	servertest.Wait(t, "the verdict is counted", func() bool {
		return strings.Contains(servertest.Debug(t, s.API, "/metrics"), `toxscreen_judged_total{outcome="verdict"} 1`)
	})
	if !strings.Contains(servertest.Debug(t, s.API, "/debug/pprof/"), "goroutine") {
		t.Error("there are no profiles")
	}
	if s.Get("/metrics").Status != http.StatusNotFound || s.Get("/debug/pprof/").Status != http.StatusNotFound {
		t.Error("the debug routes are on the clients' address")
	}
}
