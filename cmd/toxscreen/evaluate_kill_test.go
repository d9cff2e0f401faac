//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An evaluation is interrupted, then killed at random times, and started again until it is done. The
// generations are then those of a run that was not disturbed, byte by byte.
func TestAKilledEvaluationGoesOn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt string
			Seed   int
		}
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&q) == nil:
			time.Sleep(2 * time.Millisecond)
			fmt.Fprintf(w, `{"choices":[{"text":" the stupid garden %d","finish_reason":"length"}]}`, q.Seed)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	whole, cut := filepath.Join(folder, "whole"), filepath.Join(folder, "cut")
	args := []string{"evaluate", "model", "--server", server.URL + "/v1", "--limit", "60", "-n", "5", "--resume", "-o"}
	if code, messages := runProcess(t, append(args, whole)...); code != exitDone {
		t.Fatalf("it ended with %d: %s", code, messages)
	}
	kills := 0
	for {
		c, stderr := process(append(args, cut)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		end := syscall.SIGKILL
		if kills == 0 {
			end = syscall.SIGTERM
		}
		if kills < 5 {
			waitFor(t, filepath.Join(cut, "generations.jsonl"))
			kill := time.AfterFunc(rand.N(300*time.Millisecond), func() { _ = c.Process.Signal(end) })
			defer kill.Stop()
		}
		_ = c.Wait()
		code := c.ProcessState.ExitCode()
		if code == exitDone {
			break
		}
		// A signal that can be handled is an orderly end.
		wantCode, want := -1, ""
		if end == syscall.SIGTERM {
			wantCode, want = exitFailed, "prompts are done\nto continue, run the same command with --resume\n"
		}
		if kills++; code != wantCode || !strings.HasSuffix(stderr.String(), want) {
			t.Fatalf("it ended with %d: %s", code, stderr.String())
		}
	}
	if kills == 0 {
		t.Error("no run was killed")
	}
	const file = "generations.jsonl"
	if got, want := read(t, filepath.Join(cut, file)), read(t, filepath.Join(whole, file)); string(got) != string(want) {
		t.Errorf("after %d kills\n%s, want\n%s", kills, got, want)
	}
}
