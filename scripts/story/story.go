//go:build (clients || evaltools) && linux

// Package story runs stories against a real `toxscreen serve`, for tests: short
// programs as users of other systems would write them, with the clients and tools of
// these systems as they are. If something is not what such users expect, a story
// prints a sentence and exits with a status other than 0.
package story

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// isolated is set in the environment of the process that runs in its own namespaces.
const isolated = "ISOLATED"

// Isolated reports whether this process runs in namespaces of its own.
func Isolated() bool { return os.Getenv(isolated) != "" }

// Isolate lets a test run in namespaces of its own, with only the loopback interface
// and with one host's name in /etc/hosts that leads to it. It returns true there. In
// the process that called it first, it runs the test again in such a process, passes
// its outcome on, and returns false. This needs only the right to create namespaces.
func Isolate(t *testing.T, host string) bool {
	t.Helper()
	if Isolated() {
		become(t, host)
		return true
	}
	again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
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
	return false
}

// become brings up the loopback interface and resolves the name of a host to it, in
// the namespaces of this process.
func become(t *testing.T, host string) {
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
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost "+host+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(hosts, "/etc/hosts", "", syscall.MS_BIND, ""); err != nil {
		t.Fatalf("failed to mount another file over /etc/hosts: %v", err)
	}
}

// Server is a running `toxscreen serve`.
type Server struct {
	Address, Key string
	Folder       string // its configuration and working folder

	process *exec.Cmd
	log     *bytes.Buffer
}

// Serve starts the server with the default model, no judge, and one key.
func Serve(t *testing.T, program string, args ...string) *Server {
	t.Helper()
	s := &Server{Folder: t.TempDir(), log: &bytes.Buffer{}}

	var key bytes.Buffer
	add := exec.CommandContext(t.Context(), program, "serve", "key", "story")
	add.Env, add.Dir, add.Stderr = s.Environment(), s.Folder, &key
	line, err := add.Output()
	if err != nil {
		t.Fatalf("failed to make a key: %v\n%s", err, key.Bytes())
	}
	_, s.Key, _ = strings.Cut(strings.TrimSpace(key.String()), ": ")
	keys := filepath.Join(s.Folder, "keys.txt")
	if err := os.WriteFile(keys, line, 0o600); err != nil {
		t.Fatal(err)
	}

	s.process = exec.CommandContext(t.Context(), program, append([]string{"serve", "--no-judge", "--api-keys", keys}, args...)...)
	s.process.Env, s.process.Dir, s.process.Stderr = s.Environment(), s.Folder, s.log
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.process.Process.Kill() // Stop may have ended it
		_ = s.process.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = s.process.Wait() // the log is complete then
		t.Fatalf("the server printed no address: %v\n%s", err, s.log)
	}
	s.Address = strings.TrimSpace(address)
	return s
}

// Stop ends the server cleanly and checks that its log has no text of a story.
func (s *Server) Stop(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.process.Process.Signal(syscall.SIGTERM), s.process.Wait()); err != nil {
		t.Errorf("the server ended with %v\n%s", err, s.log)
	}
	if bytes.Contains(s.log.Bytes(), []byte("idiot")) {
		t.Errorf("a text is in the log:\n%s", s.log)
	}
	if t.Failed() {
		t.Logf("the log of the server:\n%s", s.log)
	}
}

// Environment returns this process's environment without variables that would
// redirect a program, and with the variables of a story.
func (s *Server) Environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		return strings.HasPrefix(name, "TOXSCREEN_") || strings.HasSuffix(name, "_PROXY") ||
			strings.HasSuffix(name, "_CA_CERTS") || strings.HasSuffix(name, "_CA_BUNDLE")
	})
	return append(append(env, "XDG_CONFIG_HOME="+s.Folder,
		"PROMPTFOO_CONFIG_DIR="+s.Folder, "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
		"METADATA_SERVER_DETECTION=none"), more...) // promptfoo checks whether it runs in Google's cloud
}

// Python makes a virtual environment in a folder from a file of exact requirements,
// without the requirements of those.
func Python(ctx context.Context, folder, requirements string) error {
	return once(folder, requirements, func() error {
		if err := Run(ctx, ".", "python3", "-m", "venv", folder); err != nil {
			return err
		}
		return Run(ctx, ".", filepath.Join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--no-deps", "--requirement", requirements)
	})
}

// Node installs the packages of a package.json into a folder and copies stories
// beside them, since Node searches modules next to the program. Optional packages are
// left out: those of promptfoo are models and browsers. No script of a package runs,
// so promptfoo's database is not installed either, which its stories do not need.
func Node(ctx context.Context, folder, packages string, stories ...string) error {
	err := once(folder, packages, func() error {
		if err := copyFile(packages, filepath.Join(folder, "package.json")); err != nil {
			return err
		}
		return Run(ctx, folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--loglevel=error")
	})
	for _, story := range stories {
		err = errors.Join(err, copyFile(story, filepath.Join(folder, filepath.Base(story))))
	}
	return err
}

// Run runs a program of an installation. The error has all that it printed.
func Run(ctx context.Context, folder, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("failed to install: %s: %w\n%s", cmd, err, out)
	}
	return nil
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
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
