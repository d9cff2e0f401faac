//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
)

// serverProcess is a server in its own process, which ends with the test.
type serverProcess struct {
	*exec.Cmd
	address string // like http://127.0.0.1:40001
	errors  *bytes.Buffer
	client  *http.Client
}

// beginServer starts a server on a free port with the tiny model. prefix is the
// command that runs it, such as a shell with a limit.
func beginServer(t *testing.T, prefix []string, args ...string) *serverProcess {
	t.Helper()
	home := t.TempDir()
	c, messages := process(append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, args...)...)
	if len(prefix) > 0 {
		whole := exec.Command(prefix[0], append(append([]string{}, prefix[1:]...), append([]string{c.Path}, c.Args[1:]...)...)...)
		whole.Env, whole.Stderr = c.Env, c.Stderr
		c = whole
	}
	c.Env = append(c.Env, "HOME="+home)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	s := &serverProcess{Cmd: c, errors: messages, client: &http.Client{Transport: transport, Timeout: time.Minute}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.Wait()
		t.Fatalf("the server gave no address: %v\n%s", err, messages)
	}
	s.address = strings.TrimSpace(line)
	return s
}

// post sends JSON and returns the status and the answer.
func (s *serverProcess) post(path string, body any) (int, string, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.address+path, bytes.NewReader(data))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// said is the body of POST /v1/feedback.
func said(token, text string) map[string]any {
	return map[string]any{"text": text, "labels": map[string]float64{"toxicity": 1}, "token": token}
}

// tokensIn returns the tokens of the feedback in a file.
func tokensIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := store.OpenFeedback(file, store.FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tokens := map[string]bool{}
	for l, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tokens[l.Token] = true
	}
	return tokens
}

// Texts in the model take no slots of Go's scheduler from the HTTP handlers. With
// only as many slots as texts, a server under overload takes hundreds of
// milliseconds to refuse a request.
func TestThereAreMorePlacesThanTextsUnderWay(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	debug := free.Addr().String()
	free.Close()
	s := beginServer(t, []string{"env", "GOMAXPROCS=2"}, "--no-judge", "--feedback", "off", "--threads", "3", "--debug-listen", debug)
	response, err := s.client.Get("http://" + debug + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(metrics, []byte("\ngo_sched_gomaxprocs_threads 5\n")) {
		t.Errorf("%v: want 2 slots and one for each of 3 texts:\n%s", err, metrics)
	}
}

// noNamespaces ends a test that needs its own namespace, which the system refused
// with err. It fails for root, as in CI, and skips the test for other users.
func noNamespaces(t *testing.T, err error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skipf("%v: this user cannot create namespaces; run the test as root, or permit user namespaces", err)
	}
	t.Fatalf("%v: even root cannot create namespaces here; run the test outside of the container, or give it the capability CAP_SYS_ADMIN", err)
}

// On a full disk, here a file system of 1 MB in memory, feedback is refused and
// never acknowledged, texts are still scored, and feedback that was acknowledged
// before stays stored.
func TestAFullDiskTakesNoFeedback(t *testing.T) {
	unshare := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	if out, err := exec.CommandContext(t.Context(), unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		noNamespaces(t, fmt.Errorf("%w: %s", err, out))
	}
	disk := t.TempDir()
	file := filepath.Join(disk, "feedback.db")
	// The mount is in a namespace of the process and ends with it.
	s := beginServer(t, append(unshare, "sh", "-c", `mount -t tmpfs -o size=1m none "$0" && exec "$@"`, disk), "--no-judge", "--feedback", file, "--feedback-text")
	var acknowledged []string
	refused := 0
	for n := 0; refused < 20; n++ {
		token := fmt.Sprint(n)
		status, answer, err := s.post("/v1/feedback", said(token, strings.Repeat("the garden is lovely ", 500)+token))
		switch {
		case err != nil:
			t.Fatal(err)
		case status == http.StatusCreated:
			acknowledged = append(acknowledged, token)
		case status == http.StatusInsufficientStorage && strings.Contains(answer, `"not_stored"`):
			refused++
		default:
			t.Fatalf("status %d: %s", status, answer)
		}
		if n > 1000 {
			t.Fatal("10 MB of feedback are on a disk of 1 MB")
		}
	}
	coral := map[string]any{"comment": map[string]string{"text": strings.Repeat("the garden is lovely ", 500)}, "attributeScores": map[string]any{"TOXICITY": map[string]any{"summaryScore": map[string]int{"value": 1}}}}
	if status, answer, err := s.post("/v1alpha1/comments:suggestscore", coral); err != nil || status < 500 || !strings.Contains(answer, "no room") {
		t.Errorf("suggestscore: %v, status %d: %s", err, status, answer)
	}
	if status, answer, err := s.post("/v1/score", map[string]string{"text": "the garden is lovely"}); err != nil || status != http.StatusOK {
		t.Errorf("a text is not scored: %v, status %d: %s", err, status, answer)
	}
	// The files as the process sees them, before the mount ends.
	seen, copied := filepath.Join("/proc", fmt.Sprint(s.Process.Pid), "root", disk), t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(seen)); err != nil {
		t.Fatal(err)
	}
	kept := tokensIn(t, filepath.Join(copied, "feedback.db"))
	for _, token := range acknowledged {
		if !kept[token] {
			t.Errorf("%s was acknowledged but is not stored", token)
		}
	}
	if len(acknowledged) < 10 {
		t.Errorf("only %d label sets were acknowledged before the disk was full", len(acknowledged))
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("it does not end cleanly on a full disk: %v\n%s", err, s.errors)
	}
	if log := s.errors.String(); strings.Contains(log, "garden") || !strings.Contains(log, "not_stored") {
		t.Errorf("the log contains a text, or does not name the problem: %.1000s", log)
	}
}
