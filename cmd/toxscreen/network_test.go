//go:build slow && linux

package main

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// aloneEnv is set if the test runs in its own network. It is not a setting: settings
// are unset before the tests run.
const aloneEnv = "IN_A_NETWORK_OF_ITS_OWN"

// In a network namespace with only the loopback interface, `toxscreen serve` answers
// on all of its routes, with a real Ollama as its judge. strace records every
// connect, sendto, sendmsg and sendmmsg of the process and all of its threads, from
// start to end, successful or not. The only internet address in them must be the
// address of the configured Ollama. No name is resolved, and io_uring, which could
// connect without those calls, is not set up. A second server with the address of a
// remote judge shows that the test detects other connections.
func TestServeConnectsToNothingButTheJudge(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("the test needs strace: install it with the system's package manager, such as `apt-get install strace`")
	}
	if os.Getenv(aloneEnv) == "" {
		aloneInANetwork(t)
		return
	}
	loopbackOnly(t)
	ollama := ollamatest.Start(t)
	ollama.Create(t, "tiny", ollamatest.Tiny)
	rubric := filepath.Join(t.TempDir(), "small.yaml")
	const small = "name: small\ngoal: Decide.\nseverity: [Low, High]\naspects:\n- {name: rude, question: \"Is it rude?\", attribute: insult}\n"
	if err := os.WriteFile(rubric, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	judged := []string{"--judge-model", "tiny", "--judge-rubric", rubric, "--judge-band", "0-1", "--judge-trust", "none", "--judge-wait", "native=1m"}

	s, trace := traced(t, append(judged, "--judge-host", ollama.URL)...)
	if verdict := everyRoute(t, s); !strings.Contains(verdict, `"rubric":"small@`) {
		t.Errorf("the judge was not asked: %s", verdict)
	}
	if tried := destinations(t, s, trace); !slices.Equal(tried, []string{strings.TrimPrefix(ollama.URL, "http://")}) {
		t.Errorf("it connected to %q: only the judge at %s is allowed", tried, ollama.URL)
	}

	const far = "192.0.2.1:11434" // an unassigned address, see RFC 5737
	s, trace = traced(t, append(judged, "--judge-host", far)...)
	everyRoute(t, s)
	if tried := destinations(t, s, trace); !slices.Equal(tried, []string{far}) {
		t.Errorf("with a judge at %s it connected to %q", far, tried)
	}
}

// aloneInANetwork runs the test again in its own network namespace.
func aloneInANetwork(t *testing.T) {
	t.Helper()
	again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), aloneEnv+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid := os.Getuid(); uid != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := again.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		noNamespaces(t, err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("in its own network:\n%s", out)
}

// loopbackOnly turns on the loopback interface, which is off in a new namespace, and
// checks that there is no other interface.
func loopbackOnly(t *testing.T) {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	request := struct { // ifreq of netdevice(7)
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); failed != 0 {
		t.Fatalf("failed to turn on the loopback interface: %v", failed)
	}
	interfaces, err := net.Interfaces()
	if err != nil || len(interfaces) != 1 || interfaces[0].Flags&net.FlagLoopback == 0 {
		t.Fatalf("%v: the namespace has other interfaces than loopback: %v", err, interfaces)
	}
}

// traced starts a server whose connections are recorded in a file. With -D, strace is
// not the server's parent, so the test starts and ends the server itself.
func traced(t *testing.T, args ...string) (s *serverProcess, trace string) {
	t.Helper()
	folder := t.TempDir()
	trace = filepath.Join(folder, "trace")
	strace := []string{"strace", "-D", "-f", "-q", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg,io_uring_setup", "-e", "signal=none", "-o", trace}
	return beginServer(t, strace, append(args, "--feedback", filepath.Join(folder, "feedback.db"), "--debug-listen", "127.0.0.1:0")...), trace
}

// everyRoute sends requests to all routes of a server, with texts and images that
// contain addresses, and returns one of the answers.
func everyRoute(t *testing.T, s *serverProcess) (scored string) {
	t.Helper()
	const text = "see http://example.com/a.png, you idiot. Write to root@example.com!"
	type object = map[string]any
	comment := object{"text": text}
	for _, route := range []struct {
		path string
		body any
	}{
		{"/v1/score", object{"text": text}},
		{"/v1/score", object{"texts": []string{text, "the garden is lovely"}}},
		{"/v1/score?format=nexa", object{"text": "another text"}},
		{"/v1/feedback", said("a", text)},
		{"/v1alpha1/comments:analyze", object{"comment": comment, "requestedAttributes": object{"TOXICITY": object{}}, "spanAnnotations": true}},
		{"/v1alpha1/comments:suggestscore", object{"comment": comment, "attributeScores": object{"TOXICITY": object{"summaryScore": object{"value": 1}}}}},
		{"/v1/moderations", object{"input": []object{{"type": "text", "text": text}, {"type": "image_url", "image_url": object{"url": "http://example.com/a.png"}}}}},
		{"/beta/litellm_basic_guardrail_api", object{"texts": []string{text}, "images": []string{"http://example.com/a.png"}, "input_type": "request"}},
		{"/v1/evaluate", object{"evaluators": []object{{"evaluator": "toxicity"}}, "evaluated_model_output": text}},
		{"/v1/toxic-check", object{"prompt": text}},
	} {
		status, answer, err := s.post(route.path, route.body)
		if err != nil || status == http.StatusNotFound || status >= 500 {
			t.Errorf("%s: %v, status %d: %s", route.path, err, status, answer)
		}
		if scored == "" {
			scored = answer
		}
	}
	for _, path := range []string{"/", "/$discovery/rest?version=v1alpha1", "/v1/openapi.json", "/healthz", "/readyz"} {
		response, err := s.client.Get(s.address + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, status %d", path, err, response.StatusCode)
		}
	}
	return scored
}

// completeTrace returns the calls of a program that has ended.
func completeTrace(t *testing.T, trace string) (calls string) {
	t.Helper()
	// strace records a call before it returns, so all calls are recorded by now.
	// The recorded end of threads shows that strace ran to the end. It comes a
	// little later, and that of the first thread was lost once.
	const end = "+++ exited with 0 +++"
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(calls, end); time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if calls = string(data); time.Now().After(deadline) {
			t.Fatalf("strace has not recorded the end of the program:\n%s", calls)
		}
	}
	return calls
}

var (
	ipv4 = regexp.MustCompile(`sa_family=AF_INET, sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"\)`)
	ipv6 = regexp.MustCompile(`sa_family=AF_INET6, sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]+)"`)
)

// destinations ends a server and returns the distinct internet addresses that it
// tried to reach.
func destinations(t *testing.T, s *serverProcess, trace string) []string {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatalf("the server did not end cleanly: %v\n%s", err, s.errors)
	}
	noted := completeTrace(t, trace)
	tried := map[string]bool{}
	for line := range strings.Lines(noted) {
		if strings.Contains(line, "io_uring_setup(") {
			t.Errorf("io_uring is set up: its connections are not recorded: %s", line)
		}
		found := ipv4.FindStringSubmatch(line)
		if found == nil {
			found = ipv6.FindStringSubmatch(line)
		}
		if found == nil {
			if strings.Contains(line, "AF_INET") {
				t.Errorf("the test cannot parse an address: %s", line)
			}
			continue
		}
		port, err := strconv.ParseUint(found[1], 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		address, err := netip.ParseAddr(found[2])
		if err != nil {
			t.Fatal(err)
		}
		tried[netip.AddrPortFrom(address.Unmap(), uint16(port)).String()] = true
	}
	return slices.Sorted(maps.Keys(tried))
}
