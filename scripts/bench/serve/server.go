//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// server is a process that answers POST /v1/score with {"text": …}.
type server struct {
	name    string
	address string // like http://127.0.0.1:40001
	process *exec.Cmd
	log     *bytes.Buffer
}

// start starts a program and its workers in their own process group.
func start(name string, c *exec.Cmd) (*server, error) {
	s := &server{name: name, process: c, log: &bytes.Buffer{}}
	c.Stderr = s.log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("failed to start %s: %w", name, err)
	}
	return s, nil
}

// stop ends the server and all its processes.
func (s *server) stop() {
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) // it may have ended already
	_ = s.process.Wait()
}

// patient lets a server queue all requests, as the others do.
var patient = []string{"--queue-wait", "1m"}

// startOurs starts toxscreen serve without a request log, like the others.
func startOurs(ctx context.Context, binary string, args ...string) (*server, error) {
	c := exec.CommandContext(ctx, binary, append([]string{"serve", "--no-judge", "--listen", "127.0.0.1:0", "--feedback", "off", "--log-level", "warn"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s, err := start("toxscreen", c)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("failed to start %s: it printed no address: %w: %s", binary, err, s.log)
	}
	s.address = strings.TrimSpace(line)
	return s, nil
}

// startTheirs starts one of the Python servers and waits until it has scored a
// text.
func startTheirs(ctx context.Context, c config, a arrangement) (*server, error) {
	var free net.ListenConfig
	l, err := free.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	command := exec.CommandContext(ctx, c.python, "-m", "uvicorn", a.app+":app", "--app-dir", c.compare, "--port", port,
		"--workers", strconv.Itoa(a.workers), "--loop", "uvloop", "--http", "httptools", "--log-level", "warning", "--no-access-log")
	threads := strconv.Itoa(a.threads)
	command.Env = append(os.Environ(), "MODEL="+c.model, "THREADS="+threads, "OMP_NUM_THREADS="+threads, "TURNS="+strconv.Itoa(a.turns), "TOKENIZERS_PARALLELISM=false")
	s, err := start(a.String(), command)
	if err != nil {
		return nil, err
	}
	s.address = "http://" + address
	client := &http.Client{Timeout: time.Minute}
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		response, err := client.Post(s.address+"/v1/score", "application/json", strings.NewReader(`{"text": "hello"}`)) //nolint:noctx // its timeout ends it
		if err != nil {
			continue // not ready yet
		}
		response.Body.Close()
		client.CloseIdleConnections()
		if response.StatusCode == http.StatusOK {
			return s, nil
		}
		break
	}
	s.stop()
	return nil, errors.Join(fmt.Errorf("failed to start %s: it does not score: %s", s.name, s.log), ctx.Err())
}

// stat returns what Linux tells about the server's process.
func (s *server) stat() (procfs.ProcStat, error) {
	process, err := procfs.NewProc(s.process.Process.Pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return process.Stat()
}

// cost returns the processor time that the server has used.
func (s *server) cost() (time.Duration, error) {
	stat, err := s.stat()
	if err != nil {
		return 0, fmt.Errorf("failed to read the processor time of %s: %w", s.name, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// watch returns the resident memory in MB, once a second until ctx ends.
func (s *server) watch(ctx context.Context) (megabytes []float64) {
	for {
		select {
		case <-ctx.Done():
			return megabytes
		case <-time.After(time.Second):
		}
		stat, err := s.stat()
		if err != nil {
			return megabytes
		}
		megabytes = append(megabytes, float64(stat.ResidentMemory())/(1<<20))
	}
}
