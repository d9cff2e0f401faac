//go:build clients && linux

// The clients of other systems, unchanged, against `toxscreen serve`. Each has a
// story: a short program as a user would write it. If an answer is not what the
// client's users expect, it prints a sentence and exits with a status other than 0.
//
// The tag differs from that of the other slow tests: the go command does not see
// what this test builds, and would take its result from the cache after changes to
// the server.
package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// patience is the time limit of a story or an installation; on an idle machine
// they take seconds.
const patience = 8 * time.Minute

// perspectiveHost is the address of the Perspective API in the code of some
// programs.
const perspectiveHost = "commentanalyzer.googleapis.com"

// TestClients: clients with a configurable server address.
func TestClients(t *testing.T) {
	build := install(t)
	s := serve(t, build, "--listen", "127.0.0.1:0")
	t.Run("stories", func(t *testing.T) {
		for _, story := range []string{
			"go", "python/perspective.py", "python/openai_moderations.py", "python/litellm_guardrail.py", "python/patronus_toxicity.py",
			"node/googleapis.js", "node/openai.mjs", "node/promptfoo.mjs",
		} {
			t.Run(story, func(t *testing.T) {
				t.Parallel()
				tell(t, build, story, s.environment("SERVER="+s.address, "KEY="+s.key))
			})
		}
	})
	s.stop(t)

	t.Run("the clients' suggestions are stored", func(t *testing.T) {
		export := exec.CommandContext(t.Context(), filepath.Join(build, "toxscreen"), "feedback", "export")
		export.Env, export.Dir = s.environment(), s.folder
		out, err := export.Output()
		if err != nil || !bytes.Contains(out, []byte(`"toxicity":1`)) {
			t.Errorf("the suggestions of the clients are not in the feedback: %v\n%s", err, out)
		}
	})
}

// isolated is set in the environment of the process that runs in its own
// namespaces.
const isolated = "ISOLATED"

// TestTransparent: clients that have Google's address in their code. They run with
// that name in /etc/hosts and only the loopback interface, which needs only the
// right to create namespaces.
func TestTransparent(t *testing.T) {
	build := install(t)
	if os.Getenv(isolated) == "" {
		again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestTransparent$", "-test.v")
		again.Env = append(os.Environ(), isolated+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			Pdeathsig:   syscall.SIGKILL,
		}
		out, err := again.CombinedOutput()
		switch {
		case errors.Is(err, syscall.EPERM) && os.Getuid() != 0:
			t.Skip("this system does not let users create namespaces: set kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns, or run as root")
		case errors.Is(err, syscall.EPERM):
			t.Fatal("not even root may create namespaces here: give the container CAP_SYS_ADMIN")
		case err != nil:
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	becomePerspective(t)
	s := serve(t, build, "--listen", "127.0.0.1:443", "--as", perspectiveHost)
	authority := filepath.Join(s.folder, "toxscreen", "authority", perspectiveHost+".pem")
	for story, trust := range map[string]string{
		"node/perspective-api-client.js": "NODE_EXTRA_CA_CERTS",
		"python/helm_perspective.py":     "HTTPLIB2_CA_CERTS",
	} {
		t.Run(story, func(t *testing.T) {
			tell(t, build, story, s.environment("KEY="+s.key, trust+"="+authority))
		})
	}
	s.stop(t)
}

// becomePerspective brings up the loopback interface and resolves Google's name
// to it, in the namespaces of this process.
func becomePerspective(t *testing.T) {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Fatalf("failed to bring the loopback interface up: %v", errno)
	}
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost "+perspectiveHost+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(hosts, "/etc/hosts", "", syscall.MS_BIND, ""); err != nil {
		t.Fatalf("failed to mount another file over /etc/hosts: %v", err)
	}
}

// server is a running `toxscreen serve`.
type server struct {
	address, key string
	folder       string // its configuration and working folder
	process      *exec.Cmd
	log          *bytes.Buffer
}

// serve starts the server with the default model, no judge, and one key.
func serve(t *testing.T, build string, args ...string) *server {
	t.Helper()
	s := &server{folder: t.TempDir(), log: &bytes.Buffer{}}
	program := filepath.Join(build, "toxscreen")

	var key bytes.Buffer
	add := exec.CommandContext(t.Context(), program, "serve", "key", "story")
	add.Env, add.Dir, add.Stderr = s.environment(), s.folder, &key
	line, err := add.Output()
	if err != nil {
		t.Fatalf("failed to make a key: %v\n%s", err, key.Bytes())
	}
	_, s.key, _ = strings.Cut(strings.TrimSpace(key.String()), ": ")
	keys := filepath.Join(s.folder, "keys.txt")
	if err := os.WriteFile(keys, line, 0o600); err != nil {
		t.Fatal(err)
	}

	s.process = exec.CommandContext(t.Context(), program, append([]string{"serve", "--no-judge", "--api-keys", keys}, args...)...)
	s.process.Env, s.process.Dir, s.process.Stderr = s.environment(), s.folder, s.log
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.Process.Kill(); s.process.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.process.Wait()
		t.Fatalf("the server printed no address: %v\n%s", err, s.log)
	}
	s.address = strings.TrimSpace(address)
	return s
}

// stop ends the server cleanly and checks that its log has no text of a story.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, s.log)
	}
	if bytes.Contains(s.log.Bytes(), []byte("idiot")) {
		t.Errorf("a text is in the log:\n%s", s.log)
	}
	if t.Failed() {
		t.Logf("the log of the server:\n%s", s.log)
	}
}

// environment returns this process's environment without variables that would
// redirect a program, and with the variables of a story.
func (s *server) environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		return strings.HasPrefix(name, "TOXSCREEN_") || strings.HasSuffix(name, "_PROXY") || strings.HasSuffix(name, "_CA_CERTS")
	})
	return append(append(env, "XDG_CONFIG_HOME="+s.folder,
		"PROMPTFOO_CONFIG_DIR="+s.folder, "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
		"METADATA_SERVER_DETECTION=none"), more...) // promptfoo checks whether it runs in Google's cloud
}

// tell runs a story in the folder where its client is installed.
func tell(t *testing.T, build, story string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	language, file, _ := strings.Cut(story, "/")
	var cmd *exec.Cmd
	switch language {
	case "go":
		cmd = exec.CommandContext(ctx, filepath.Join(build, "go"))
	case "python":
		cmd = exec.CommandContext(ctx, filepath.Join(build, "python", "bin", "python"), filepath.Join("python", file))
	case "node":
		cmd = exec.CommandContext(ctx, "node", file)
		cmd.Dir = filepath.Join(build, "node") // modules are searched next to the program
	}
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// install builds the server, installs the missing clients into build/_clients and
// returns the folder. The underscore hides it from the go command: promptfoo
// includes Go files.
func install(t *testing.T) string {
	t.Helper()
	build, err := filepath.Abs("../../build/_clients")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(isolated) != "" { // the parent has done it
		return build
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run := func(folder, name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			return errors.Join(errors.New("failed to install: "+cmd.String()), err, errors.New(string(out)))
		}
		return nil
	}
	var all sync.WaitGroup
	errs := make([]error, 3)
	all.Go(func() {
		errs[0] = errors.Join(
			run("../..", "go", "build", "-o", filepath.Join(build, "toxscreen"), "./cmd/toxscreen"),
			run("go", "go", "build", "-o", filepath.Join(build, "go"), "."),
		)
	})
	all.Go(func() {
		folder := filepath.Join(build, "python")
		errs[1] = once(folder, "python/requirements.txt", func() error {
			if err := run(".", "python3", "-m", "venv", folder); err != nil {
				return err
			}
			return run(".", filepath.Join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
				"--no-deps", "--requirement", "python/requirements.txt")
		})
	})
	all.Go(func() {
		folder := filepath.Join(build, "node")
		errs[2] = once(folder, "node/package.json", func() error {
			if err := copyFile("node/package.json", filepath.Join(folder, "package.json")); err != nil {
				return err
			}
			// promptfoo's optional packages are models and browsers. No script runs,
			// so its database is not installed either: the story does not need it.
			return run(folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--loglevel=error")
		})
		stories, err := filepath.Glob("node/*js")
		for _, story := range stories {
			err = errors.Join(err, copyFile(story, filepath.Join(folder, filepath.Base(story))))
		}
		errs[2] = errors.Join(errs[2], err)
	})
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return build
}

// once creates a folder's content from a file, unless that was already done for the
// same file. The copy of the file comes last, so an interrupted installation is
// repeated.
func once(folder, file string, do func() error) error {
	stamp := filepath.Join(folder, "installed")
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(stamp)
	if err == nil && bytes.Equal(got, want) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return copyFile(file, stamp)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
