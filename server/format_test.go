package server_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/formats"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// toy is a wire format as a new one begins: a text comes in, and a word or a failure goes out.
func toy() server.Format {
	return server.Format{
		Name:   "toy",
		Routes: []server.Route{{Pattern: "POST /toy/say", Handle: say}},
		Paths:  []string{"/toy"},
		Fail: func(c *server.Call, f *server.Failure) {
			http.Error(c.Writer, "toy: "+f.Message, f.Status())
		},
		Headers: []string{"Toy-Seconds"},
	}
}

func say(c *server.Call) error {
	text, err := c.Body()
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return server.Fail(server.InvalidRequest, "there is nothing to say")
	}
	result, err := c.Score(c.Request.Context(), server.Text{Text: string(text)})
	if err != nil {
		return err
	}
	word := "nice"
	if result.Flagged {
		word = "rude"
	}
	if result.Judge.Pending {
		word += " so far"
	}
	c.Send(http.StatusOK, word)
	return nil
}

// A new format is one value, listed beside the others. What all formats share, it has without
// doing anything for it: keys, limits, a time for the judge, its own form of every failure,
// and its name in logs and metrics. What the others answer stays as it is.
func TestANewFormatIsOneValue(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=0.001 burst=4")
	s := serve(t, judged(servertest.NewSlow().Judge), server.Config{
		Formats: append(formats.All(formats.Config{}), toy()), Keys: []server.Key{a}, MaxBody: 100,
		JudgeWait: map[string]time.Duration{"toy": time.Millisecond}, Origins: []string{"https://forum.example.org"},
	})
	for _, test := range []struct {
		why, method, path, key, body string
		status                       int
		want                         string
	}{
		{"scored", http.MethodPost, "/toy/say", alice, "you idiot", http.StatusOK, "\"rude\"\n"},
		{"scored", http.MethodPost, "/toy/say", alice, "hello", http.StatusOK, "\"nice\"\n"},
		{"the judge is asked", http.MethodPost, "/toy/say", alice, "maybe", http.StatusOK, "\"rude so far\"\n"},
		{"its own error", http.MethodPost, "/toy/say", alice, "", http.StatusBadRequest, "toy: there is nothing to say\n"},
		{"too large", http.MethodPost, "/toy/say", alice, strings.Repeat("x", 101), http.StatusRequestEntityTooLarge, "toy: failed to read the request: it has 101 bytes, the limit is 100; send fewer texts at once\n"},
		{"no key", http.MethodPost, "/toy/say", "", "hello", http.StatusUnauthorized, "toy: failed to authorize the request: it has no API key: send one as Authorization: Bearer KEY, as x-api-key: KEY, or as ?key=KEY\n"},
		{"the wrong method", http.MethodGet, "/toy/say", alice, "", http.StatusMethodNotAllowed, "toy: failed to answer GET: this route takes POST\n"},
		{"no such route", http.MethodPost, "/toy/sing", alice, "hello", http.StatusNotFound, "toy: there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all\n"},
		{"another format", http.MethodPost, "/v1/toxic-check", alice, `{"completion": "hello"}`, http.StatusOK, `{"completion_labels":[{"class_name":"nontoxic","score":0.9}]}` + "\n"},
		{"too many texts", http.MethodPost, "/toy/say", alice, "hello", http.StatusTooManyRequests, "toy: failed to score text: the limit of the API key is 0.001 texts a second; try again later\n"},
	} {
		r := s.Ask(test.method, test.path, test.body, "X-API-Key", test.key)
		if r.Status != test.status {
			t.Errorf("%s: status %d, want %d", test.why, r.Status, test.status)
		}
		if r.Body != test.want {
			t.Errorf("%s: %q, want %q", test.why, r.Body, test.want)
		}
	}
	metrics := servertest.Debug(t, s.API, "/metrics")
	for _, line := range []string{
		`toxscreen_requests_total{api="toy",failure="",status="200"} 3`,
		`toxscreen_requests_total{api="toy",failure="wrong_key",status="401"} 1`,
		`toxscreen_requests_total{api="toy",failure="rate_limited",status="429"} 1`,
		`toxscreen_flagged_texts_total{api="toy",attribute="toxicity"} 2`, // maybe is flagged as well
		`toxscreen_requests_total{api="writer",failure="",status="200"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("there is no line %s in\n%s", line, metrics)
		}
	}
	if log := s.Log.String(); !strings.Contains(log, `api=toy route="POST /toy/say" status=200`) {
		t.Errorf("the log does not have the format: %s", log)
	}
	// Pages of other sites may read its headers.
	r := s.Post("/toy/say", "hello", "X-API-Key", alice, "Origin", "https://forum.example.org")
	if exposed := r.Header.Get("Access-Control-Expose-Headers"); !strings.HasSuffix(exposed, "Toy-Seconds") {
		t.Errorf("pages may read %s", exposed)
	}
}

// Under overload, a new format is refused like any other, and says so in its own form.
func TestANewFormatIsRefusedUnderOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := informed{classify: taking(time.Second), info: toxscreen.ModelInfo{Version: "tiny@1.0.0", Parallel: 1, Attributes: words.Info().Attributes, Thresholds: words.Info().Thresholds}}
		srv, err := server.New(toxscreen.New(model), server.Config{Formats: []server.Format{toy()}, QueueWait: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		var clients sync.WaitGroup
		defer clients.Wait()
		clients.Go(func() { raw(t, srv, "/toy/say", "the text in the only place") })
		synctest.Wait()
		clients.Go(func() { raw(t, srv, "/toy/say", strings.Repeat("a long text that waits ", 10_000)) })
		synctest.Wait()
		r := raw(t, srv, "/toy/say", "hello")
		if r.Status != http.StatusTooManyRequests {
			t.Errorf("status %d, want %d", r.Status, http.StatusTooManyRequests)
		}
		if want := "toy: failed to score text: the server is overloaded; try again later\n"; r.Body != want {
			t.Errorf("%q, want %q", r.Body, want)
		}
		if r.Header.Get("Retry-After") != "3" { // 230 kB at 10 µs a byte, until some are measured
			t.Errorf("to retry after %s seconds", r.Header.Get("Retry-After"))
		}
	})
}

// Two formats with one name could not be told apart in settings, logs and metrics.
func TestFormatsHaveNamesOfTheirOwn(t *testing.T) {
	for name, all := range map[string][]server.Format{"toy": {toy(), toy()}, "": {{}}} {
		_, err := server.New(toxscreen.New(words), server.Config{Formats: all})
		if err == nil || !strings.Contains(err.Error(), `the name "`+name+`" of a format is empty or another's, too`) {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := server.New(toxscreen.New(words), server.Config{Formats: []server.Format{toy()}, JudgeWait: map[string]time.Duration{"tyo": time.Second}})
	if err == nil || !strings.HasSuffix(err.Error(), `there is no API "tyo" that could wait for the judge: the APIs are toy`) {
		t.Error(err)
	}
}
