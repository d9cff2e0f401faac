//go:build unix

// Package ollamatest runs a real Ollama server for tests:
//
//	server := ollamatest.Start(t)
//	server.Create(t, "tiny", ollamatest.Tiny)
//	// server.URL is where an Ollama client finds the model "tiny"
//
// and injects faults between it and a client, see [NewProxy].
//
// The server is the program that `make ollama` builds. It runs on the CPU, has its
// own folder of models, makes no network connections, and ends with the test, even
// if the test is killed.
package ollamatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the tiny model
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Version is the Ollama release that `make ollama` builds. It is also the version
// of the client that toxscreen uses, github.com/ollama/ollama/api.
const Version = "0.17.4"

// SmolLM2Name is a file in [Cache].
const SmolLM2Name = "SmolLM2-135M-Instruct.Q4_1.gguf"

// ProgramName is a file in [Cache]: the server, compiled for [Instructions].
// The name says so, since a cache may move to a machine that lacks them.
func ProgramName() string {
	return strings.TrimSuffix("ollama-"+Instructions(), "-")
}

// Instructions returns the compiler's name for the vector instructions of this
// machine's processor, x86-64-v3, or an empty string if the processor has none
// beyond the compiler's default. Real models run several times as fast with them.
// It recognises them only on Linux.
func Instructions() string {
	about, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	_, flags, _ := strings.Cut(string(about), "\nflags")
	flags, _, _ = strings.Cut(flags, "\n")
	has := strings.Fields(flags)
	for _, flag := range []string{"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"} {
		if !slices.Contains(has, flag) {
			return ""
		}
	}
	return "x86-64-v3"
}

// Cache returns the folder of the user's cache that scripts/get-ollama fills.
func Cache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's cache folder: %w", err)
	}
	return filepath.Join(cache, "toxscreen", "ollama", Version), nil
}

// Tiny is a language model of 448 kB with random weights, which
// testdata/make_tiny.py makes. Its tokens are the bytes, the words yes, no,
// true, false, safe and unsafe and a few hundred other words with a space
// before them; its context is 32,768 tokens and its template is ChatML's. It
// answers the same prompt with the same nonsense, and under a schema with JSON
// that fits it.
//
//go:embed testdata/tiny.gguf
var Tiny []byte

// WithContext returns a copy of a Llama model in GGUF with another context size in
// its metadata.
func WithContext(t testing.TB, gguf []byte, tokens uint32) []byte {
	t.Helper()
	key := []byte("llama.context_length\x04\x00\x00\x00") // an unsigned integer of 32 bits
	before, after, ok := bytes.Cut(gguf, key)
	if !ok {
		t.Fatal("the model's metadata has no context size")
	}
	return bytes.Join([][]byte{before, key, binary.LittleEndian.AppendUint32(nil, tokens), after[4:]}, nil)
}

// SmolLM2 returns SmolLM2-135M-Instruct, a real model of 98 MB, which
// `make smollm2` fetches. Without it the test fails.
func SmolLM2(t testing.TB) []byte {
	t.Helper()
	model, err := os.ReadFile(inCache(t, SmolLM2Name))
	if err != nil {
		t.Fatalf("failed to read the model SmolLM2; run `make smollm2`: %v", err)
	}
	return model
}

func inCache(t testing.TB, name string) string {
	t.Helper()
	cache, err := Cache()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, name)
}

// Server is a running Ollama server. Its methods may be called concurrently.
type Server struct {
	URL string // such as http://127.0.0.1:40001, the same after a restart

	program string
	folder  string // the server's home
	env     []string
	log     *os.File

	mu      sync.Mutex
	process *exec.Cmd      // nil while it is stopped
	alive   io.WriteCloser // the process ends when this is closed
}

// Start starts a server with a free port and no models, and waits until it answers.
// The environment, such as OLLAMA_NUM_PARALLEL=4, is added to Ollama's defaults;
// the environment of the test is not inherited. The server is stopped when the test
// ends; a failed test shows its log.
func Start(t testing.TB, environment ...string) *Server {
	t.Helper()
	program := inCache(t, ProgramName())
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("there is no Ollama server; run `make ollama`: %v", err)
	}
	s := &Server{program: program, folder: t.TempDir()}
	var err error
	if s.log, err = os.Create(filepath.Join(s.folder, "log")); err != nil {
		t.Fatal(err)
	}
	s.env = append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.folder, // for its key and its settings
		"OLLAMA_MODELS=" + filepath.Join(s.folder, "models"),
		"OLLAMA_NO_CLOUD=1",
		"GIN_MODE=release", // a log without the list of all routes
	}, environment...)
	t.Cleanup(func() {
		s.Stop(t)
		if t.Failed() {
			t.Logf("the log of the Ollama server:\n%s", s.Log(t))
		}
		s.log.Close()
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Stop kills the server with all that it has started, as a crash would. Connections
// to its address are refused afterwards. It does nothing if the server is stopped
// already.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// Restart stops the server and starts it with the same address and models, none of
// which is loaded then.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.restart(); err != nil {
		t.Fatal(err)
	}
}

// runServer is the shell script: the server with all that it starts in one process
// group, which is killed when the server ends or the standard input does. So
// nothing is left behind even if the test binary is killed.
const runServer = `("$0" serve </dev/null; kill -KILL 0) & read -r _; kill -KILL 0`

var listening = regexp.MustCompile(`Listening on (127\.0\.0\.1:\d+)`)

// start needs half a second, and far more on a busy machine.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	begin, err := s.log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("failed to start the Ollama server: %w", err)
	}
	// Not bound to the test's context, which ends before its cleanup.
	process := exec.Command("/bin/sh", "-c", runServer, s.program)
	address := "127.0.0.1:0"
	if s.URL != "" {
		address = strings.TrimPrefix(s.URL, "http://")
	}
	process.Dir, process.Env = s.folder, append(slices.Clip(s.env), "OLLAMA_HOST="+address)
	process.Stdout, process.Stderr = s.log, s.log
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.alive, err = process.StdinPipe(); err != nil {
		return fmt.Errorf("failed to start the Ollama server: %w", err)
	}
	if err := process.Start(); err != nil {
		return fmt.Errorf("failed to start the Ollama server: %w", err)
	}
	s.process = process
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		log, err := os.ReadFile(s.log.Name())
		if err != nil {
			return fmt.Errorf("failed to read the log of the Ollama server: %w", err)
		}
		if found := listening.FindSubmatch(log[begin:]); found != nil {
			s.URL = "http://" + string(found[1])
			return nil // connections are accepted before this is logged
		}
	}
	return errors.New("the Ollama server did not listen within a minute")
}

func (s *Server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	s.alive.Close()
	syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
	s.process.Wait() // says that it was killed
	s.process = nil
	// The shell has ended, the server is about to end.
	for range 1000 {
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			return nil
		}
		connection.Close()
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the Ollama server at %s still accepts connections after it was killed", s.URL)
}

func (s *Server) restart() error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.start()
}

// Log returns what the server has written so far.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(s.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// Create creates a model from a GGUF file. Settings are fields of Ollama's request
// /api/create, such as "template", "system" or "parameters".
//
// The model runs on one thread unless "parameters" are given: several threads wait
// for each other after every step, and on a busy machine a tiny answer has taken
// minutes instead of milliseconds.
func (s *Server) Create(t testing.TB, name string, gguf []byte, settings ...map[string]any) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(gguf))
	// If the server has the file already, it breaks the connection instead of
	// reading it again.
	if status, _ := s.send(t, http.MethodHead, "/api/blobs/"+digest, nil); status != http.StatusOK {
		if status, answer := s.send(t, http.MethodPost, "/api/blobs/"+digest, gguf); status != http.StatusCreated {
			t.Fatalf("failed to upload the model %s: status %d: %s", name, status, answer)
		}
	}
	request := map[string]any{
		"model": name, "files": map[string]string{"model.gguf": digest}, "stream": false,
		"parameters": map[string]any{"num_thread": 1},
	}
	for _, fields := range settings {
		maps.Copy(request, fields)
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.send(t, http.MethodPost, "/api/create", body); status != http.StatusOK || !bytes.Contains(answer, []byte(`"success"`)) {
		t.Fatalf("failed to create the model %s: status %d: %s", name, status, answer)
	}
}

// send returns the status and the body of the answer to a request.
func (s *Server) send(t testing.TB, method, path string, body []byte) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true // leaves no connection behind
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("failed to send %s: %v", path, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("failed to read the answer to %s: %v", path, err)
	}
	return response.StatusCode, answer
}
