//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// An evaluation is interrupted, then killed four times, each time after another number of
// answers, and then runs to its end. The generations are then those of a run that was not
// disturbed, byte by byte.
func TestAKilledEvaluationGoesOn(t *testing.T) {
	// The server gives so many answers and then holds the next request, until the program is
	// gone: each signal comes in the middle of a run.
	var left atomic.Int64
	held := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt string
			Seed   int
		}
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&q) == nil:
			if left.Add(-1) < 0 {
				select {
				case held <- struct{}{}:
				default: // another request is held already
				}
				<-r.Context().Done()
				return
			}
			fmt.Fprintf(w, `{"choices":[{"text":" the stupid garden %d","finish_reason":"length"}]}`, q.Seed)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	whole, cut := filepath.Join(folder, "whole"), filepath.Join(folder, "cut")
	args := []string{"evaluate", "model", "--server", server.URL + "/v1", "--limit", "60", "-n", "5", "--resume", "-o"}
	left.Store(math.MaxInt64)
	if code, messages := runProcess(t, append(args, whole)...); code != exitDone {
		t.Fatalf("it ended with %d: %s", code, messages)
	}
	for kill := range 5 {
		left.Store(20 + rand.Int64N(20)) // of 300 answers
		c, stderr := process(append(args, cut)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-held
		// A signal that can be handled is an orderly end.
		end, wantCode, want := syscall.SIGKILL, -1, ""
		if kill == 0 {
			end, wantCode, want = syscall.SIGTERM, exitFailed, "prompts are done\nto continue, run the same command with --resume\n"
		}
		if err := c.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if code := c.ProcessState.ExitCode(); code != wantCode {
			t.Fatalf("after %s it ended with %d: %s", end, code, stderr.String())
		}
		if !strings.HasSuffix(stderr.String(), want) {
			t.Fatalf("after %s it said %s", end, stderr.String())
		}
		select {
		case <-held: // by a request that came before the end
		default:
		}
	}
	left.Store(math.MaxInt64)
	if code, messages := runProcess(t, append(args, cut)...); code != exitDone {
		t.Fatalf("the last run ended with %d: %s", code, messages)
	}
	const file = "generations.jsonl"
	if got, want := read(t, filepath.Join(cut, file)), read(t, filepath.Join(whole, file)); string(got) != string(want) {
		t.Errorf("the generations are\n%s, want\n%s", got, want)
	}
}
