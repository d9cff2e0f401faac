//go:build slow && linux

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// offlineFor is how long a program runs in these tests. ONNX Runtime's telemetry, if
// it is on, sends data after some ten seconds.
const offlineFor = time.Minute

// offlineTrace makes strace record every call that can open a connection or leave
// a file.
func offlineTrace(t *testing.T) (strace []string, trace string) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("the test needs strace: install it with the system's package manager, such as `apt-get install strace`")
	}
	trace = filepath.Join(t.TempDir(), "trace")
	return []string{"strace", "-D", "-f", "-q", "--seccomp-bpf", "-e", "trace=%network,io_uring_setup,open,openat,mkdir,mkdirat", "-e", "signal=none", "-o", trace}, trace
}

// refuseCalls fails the test for each call in a trace that contains any of some
// words.
func refuseCalls(t *testing.T, trace string, words ...string) {
	t.Helper()
	noted := completeTrace(t, trace)
	if !strings.Contains(noted, "libonnxruntime.so") {
		t.Errorf("the trace does not show that ONNX Runtime's library was opened")
	}
	for line := range strings.Lines(noted) {
		for _, word := range words {
			if strings.Contains(line, word) {
				t.Errorf("%s: %s", word, line)
			}
		}
	}
}

// unwantedCalls match files of ONNX Runtime's telemetry, and io_uring, which can
// connect without the recorded calls.
var unwantedCalls = []string{"machine-id", "Microsoft", ".onnxruntime", "io_uring_setup("}

// The command line scores for a minute and opens no socket of any kind.
func TestBatchOpensNoSocket(t *testing.T) {
	t.Parallel()
	strace, trace := offlineTrace(t)
	home := t.TempDir()
	c, messages := process("batch", "--no-judge", "-i", "-", "-o", "-")
	traced := exec.Command(strace[0], append(append(strace[1:], c.Path), c.Args[1:]...)...)
	traced.Env, traced.Stderr = slices.Concat(c.Env, []string{"HOME=" + home}), c.Stderr
	in, err := traced.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := traced.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := traced.Start(); err != nil {
		t.Fatal(err)
	}
	results := bufio.NewScanner(out)
	results.Buffer(nil, 1<<20)
	for end := time.Now().Add(offlineFor); time.Now().Before(end); time.Sleep(time.Second) {
		fmt.Fprintln(in, `{"text": "you idiot, write to root@example.com"}`)
		if !results.Scan() || !strings.Contains(results.Text(), `"score":`) {
			t.Fatalf("no result: %v, %q\n%s", results.Err(), results.Text(), messages)
		}
	}
	in.Close()
	if err := traced.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, messages)
	}
	refuseCalls(t, trace, append(unwantedCalls, "socket(", "mkdir")...)
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: the home folder is not empty", left, err)
	}
}

// The server answers for a minute and connects to nothing.
func TestServeConnectsToNothing(t *testing.T) {
	t.Parallel()
	strace, trace := offlineTrace(t)
	s := beginServer(t, strace, "--feedback", "off", "--late-results", "off")
	for end := time.Now().Add(offlineFor); time.Now().Before(end); time.Sleep(time.Second) {
		if status, answer, err := s.post("/v1/score", map[string]any{"text": "you idiot"}); err != nil || status != http.StatusOK {
			t.Fatalf("%v, status %d: %s", err, status, answer)
		}
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatalf("the server did not end cleanly: %v\n%s", err, s.errors)
	}
	refuseCalls(t, trace, append(unwantedCalls, "connect(", "sendto(", "sendmsg(", "sendmmsg(", "mkdir")...)
}
