//go:build unix

package ollamatest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// What a client sees of each fault. The next call, without a fault, shows that the
// server and the connection to it still work.
func TestFaults(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	stream, whole := question("hello", ""), question("hello", `,"stream":false`)
	sound := askOK(t, server.URL, whole).Message.Content

	tests := []struct {
		name    string
		fault   ollamatest.Fault
		request string
		check   func(t *testing.T, status int, body []byte, err error)
	}{
		{"the connection breaks at once", ollamatest.Reset, whole, func(t *testing.T, _ int, _ []byte, err error) {
			if err == nil {
				t.Error("no error")
			}
		}},
		{
			"the queue is full", ollamatest.QueueFull, whole,
			is(http.StatusServiceUnavailable, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`),
		},
		{
			"the server fails", ollamatest.Fail(http.StatusInternalServerError, "out of memory"), whole,
			is(http.StatusInternalServerError, `{"error":"out of memory"}`),
		},
		{"an error in mid-stream", ollamatest.ErrorLine, stream, func(t *testing.T, status int, body []byte, _ error) {
			lines := answers(t, body)
			if status != http.StatusOK || len(lines) < 2 || lines[0].Error != "" || lines[len(lines)-1].Error == "" {
				t.Errorf("status %d: %s", status, body)
			}
		}},
		{"an error instead of the answer", ollamatest.ErrorLine, whole, func(t *testing.T, status int, body []byte, _ error) {
			if lines := answers(t, body); status != http.StatusOK || len(lines) != 1 || lines[0].Error == "" {
				t.Errorf("status %d: %s", status, body)
			}
		}},
		{"the connection breaks in mid-stream", ollamatest.Break, stream, func(t *testing.T, _ int, body []byte, err error) {
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
				t.Errorf("%d bytes and %v", len(body), err)
			}
		}},
		{"the body is cut", ollamatest.Cut, whole, func(t *testing.T, _ int, body []byte, err error) {
			if err != nil || json.Valid(body) || len(body) == 0 {
				t.Errorf("%v: %s", err, body)
			}
		}},
		{"the model runs out of tokens", ollamatest.OutOfTokens, whole, func(t *testing.T, _ int, body []byte, _ error) {
			got := answers(t, body)[0]
			if got.Reason != "length" || !got.Done || got.Message.Content != sound[:len(sound)/2] {
				t.Errorf("%+v", got)
			}
		}},
		{"the model repeats white space", ollamatest.WhiteSpace, stream, func(t *testing.T, _ int, body []byte, _ error) {
			got := answers(t, body)[0]
			if got.Done || got.Reason != "" || strings.TrimSpace(got.Message.Content) != "{" {
				t.Errorf("%+v", got)
			}
		}},
		{"invalid UTF-8", ollamatest.InvalidUTF8, whole, func(t *testing.T, _ int, body []byte, _ error) {
			// Go's decoder puts U+FFFD in its place.
			if got := answers(t, body)[0]; utf8.Valid(body) || !strings.Contains(got.Message.Content, "\ufffd") {
				t.Errorf("%q", body)
			}
		}},
		{"another answer", ollamatest.Say("I won't."), stream, func(t *testing.T, _ int, body []byte, _ error) {
			if got := answers(t, body)[0]; got.Message.Content != "I won't." || got.Reason != "stop" {
				t.Errorf("%+v", got)
			}
		}},
		{"a restart", ollamatest.Restart, whole, func(t *testing.T, status int, body []byte, err error) {
			if err != nil || status != http.StatusOK || answers(t, body)[0].Message.Content != sound {
				t.Errorf("status %d, %v: %s", status, err, body)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proxy := ollamatest.NewProxy(t, server, ollamatest.InTurn(test.fault))
			status, body, err := ask(t, proxy.URL, test.request)
			test.check(t, status, body, err)
			if after := askOK(t, proxy.URL, whole).Message.Content; after != sound {
				t.Errorf("after the fault the answer is %q, before it was %q", after, sound)
			}
			if n := proxy.Calls("/api/chat"); n != 2 {
				t.Errorf("%d calls were counted, 2 were made", n)
			}
		})
	}
}

// is checks for one status and one line.
func is(status int, line string) func(*testing.T, int, []byte, error) {
	return func(t *testing.T, gotStatus int, got []byte, err error) {
		if err != nil || gotStatus != status || string(got) != line+"\n" {
			t.Errorf("status %d, %v: %s, want %d: %s", gotStatus, err, got, status, line)
		}
	}
}

// The fault WhiteSpace looks like the real server's answer if a schema allows the
// model only white space.
func TestWhiteSpaceIsAsTheServerHasIt(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	spaces := strings.Replace(question("hello", `,"stream":false`), verdictSchema, fmt.Sprintf(`{"type":"string","enum":[%q]}`, strings.Repeat(" ", 40)), 1)
	_, body, err := ask(t, server.URL, spaces)
	if err != nil {
		t.Fatal(err)
	}
	genuine := answers(t, body)[0]
	if want := `"` + strings.Repeat(" ", 31); genuine.Message.Content != want || genuine.Done {
		t.Errorf("the server says %+v, want %q and not done", genuine, want)
	}
	names := fields(t, body)

	proxy := ollamatest.NewProxy(t, server, ollamatest.InTurn(ollamatest.WhiteSpace))
	if _, body, err = ask(t, proxy.URL, question("hello", `,"stream":false`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, fields(t, body)); diff != "" {
		t.Errorf("the fault's answer (+) has other fields than the server's (-):\n%s", diff)
	}
}

// fields returns the sorted names of a JSON object's fields.
func fields(t *testing.T, body []byte) []string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return slices.Sorted(maps.Keys(object))
}

// A hanging or late answer lasts until the client gives up.
func TestFaultsOfTime(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	request := question("hello", "")
	askOK(t, server.URL, question("hello", `,"stream":false`)) // the model is loaded

	tests := []struct {
		name  string
		fault ollamatest.Fault
		bytes bool // whether some of the answer comes
	}{
		{"hangs", ollamatest.Hang, true},
		{"is late", ollamatest.Delay(time.Hour), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proxy := ollamatest.NewProxy(t, server, ollamatest.InTurn(test.fault))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			post, err := http.NewRequestWithContext(ctx, http.MethodPost, proxy.URL+"/api/chat", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			post.Close = true
			var got []byte
			response, err := http.DefaultClient.Do(post)
			if err == nil {
				got, err = io.ReadAll(response.Body)
				response.Body.Close()
			}
			if !errors.Is(err, context.DeadlineExceeded) || (len(got) > 0) != test.bytes {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	t.Run("comes in the end", func(t *testing.T) {
		proxy := ollamatest.NewProxy(t, server, ollamatest.InTurn(ollamatest.Delay(200*time.Millisecond)))
		begin := time.Now()
		askOK(t, proxy.URL, question("hello", `,"stream":false`))
		if took := time.Since(begin); took < 200*time.Millisecond {
			t.Errorf("delayed by %v", took)
		}
	})
}

// A plan sees the request of each call, so that a text gets the same fault in any
// order of calls.
func TestAPlanByText(t *testing.T) {
	server := ollamatest.Start(t, "OLLAMA_NUM_PARALLEL=4")
	server.Create(t, "tiny", ollamatest.Tiny)
	proxy := ollamatest.NewProxy(t, server, func(call ollamatest.Call) ollamatest.Fault {
		if bytes.Contains(call.Body, []byte("number 3 ")) {
			return ollamatest.QueueFull
		}
		return nil
	})
	statuses := make([]int, 8)
	var calls sync.WaitGroup
	for i := range statuses {
		calls.Go(func() {
			statuses[i], _, _ = ask(t, proxy.URL, question(fmt.Sprintf("number %d of them", i), `,"stream":false`))
		})
	}
	calls.Wait()
	for i, status := range statuses {
		want := http.StatusOK
		if i == 3 {
			want = http.StatusServiceUnavailable
		}
		if status != want {
			t.Errorf("text %d: status %d, want %d", i, status, want)
		}
	}
}

// answers reads the lines of a stream.
func answers(t *testing.T, body []byte) []answer {
	t.Helper()
	var lines []answer
	for line := range bytes.Lines(body) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		lines = append(lines, a)
	}
	if len(lines) == 0 {
		t.Fatal("the answer is empty")
	}
	return lines
}
