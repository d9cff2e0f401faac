package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
)

// served are the servers of the running scripts by folder.
type served struct {
	command *exec.Cmd
	ended   chan error
}

const servedKey = "served"

// serves ARGS... runs toxscreen serve on a free port until the script ends, and sets
// $URL to its address. Its standard error is in server.log.
func serves(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! serves")
	}
	log, err := os.Create(ts.MkAbs("server.log"))
	ts.Check(err)
	command := exec.Command(filepath.Join(firstPath(ts), "toxscreen"), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	command.Dir, command.Stderr = ts.MkAbs("."), log
	names := []string{"HOME", "PATH", "OLLAMA_HOST"}
	settings, err := config.Load(&cobra.Command{})
	ts.Check(err)
	for _, setting := range settings.All() {
		names = append(names, config.EnvPrefix+strings.ToUpper(strings.ReplaceAll(setting.Key, ".", "_")))
	}
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	out, err := command.StdoutPipe()
	ts.Check(err)
	ts.Check(command.Start())
	s := &served{command, make(chan error, 1)}
	ts.Value(servedKey).(map[string]*served)["it"] = s
	address, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		s.ended <- errors.Join(command.Wait(), log.Close())
		close(s.ended)
	}()
	ts.Defer(func() {
		_ = command.Process.Kill() // it may have ended
		for range s.ended {
		}
	})
	if err != nil {
		ts.Fatalf("the server gave no address: %v\n%s", err, ts.ReadFile("server.log"))
	}
	ts.Setenv("URL", strings.TrimSpace(address))
}

// firstPath returns the folder of the test programs of testscript.
func firstPath(ts *testscript.TestScript) string {
	first, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	return first
}

// asks [--ca FILE --as HOST] [--header NAME=VALUE] PATH [BODY] sends a request
// to the server and prints the status and the answer.
func asks(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! asks")
	}
	client := &http.Client{Timeout: 30 * time.Second}
	header := http.Header{}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	for ; len(args) > 2 && strings.HasPrefix(args[0], "--"); args = args[2:] {
		switch args[0] {
		case "--header":
			name, value, _ := strings.Cut(args[1], "=")
			header.Set(name, value)
		case "--ca":
			config.RootCAs.AppendCertsFromPEM([]byte(ts.ReadFile(args[1])))
		case "--as":
			config.ServerName = args[1]
		default:
			ts.Fatalf("unknown flag %s", args[0])
		}
	}
	transport := &http.Transport{TLSClientConfig: config}
	url := ts.Getenv("URL")
	if path, ok := strings.CutPrefix(url, "unix:"); ok {
		url = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
	}
	defer transport.CloseIdleConnections()
	client.Transport = transport
	method, body := http.MethodGet, io.Reader(nil)
	if len(args) > 1 {
		method, body = http.MethodPost, strings.NewReader(args[1])
	}
	r, err := http.NewRequestWithContext(context.Background(), method, url+args[0], body)
	ts.Check(err)
	r.Header, r.Host = header, header.Get("Host")
	response, err := client.Do(r)
	if err != nil {
		fmt.Fprintf(ts.Stdout(), "no answer: %v\n", err)
		return
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s", response.StatusCode, answer)
}

// until PATH PATTERN waits until the server's answer matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! until")
	}
	pattern := regexp.MustCompile(args[1])
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer, err := fetch(ts, args[0])
		ts.Check(err)
		if pattern.MatchString(answer) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("waited in vain for %s in %s", args[1], answer)
		}
	}
}

// fetched FILE waits for the final result of the pending result in a file, and
// prints it.
func fetched(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! fetched")
	}
	_, body, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	var pending toxscreen.Result
	ts.Check(json.Unmarshal([]byte(body), &pending))
	path := "/v1/score/" + pending.Judge.ID
	until(ts, false, []string{path, `"judge":{"asked":true,"id"`})
	answer, err := fetch(ts, path)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), answer)
}

// fetch returns the answer of the server.
func fetch(ts *testscript.TestScript, path string) (string, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, ts.Getenv("URL")+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return string(answer), err
}

// reloads PATTERN sends the server a hangup and waits until a new line of its log
// matches.
func reloads(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! reloads")
	}
	before, pattern := len(ts.ReadFile("server.log")), regexp.MustCompile(args[0])
	ts.Check(ts.Value(servedKey).(map[string]*served)["it"].command.Process.Signal(syscall.SIGHUP))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		log := ts.ReadFile("server.log")[before:]
		if pattern.MatchString(log) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("waited in vain for %s in %s", args[0], log)
		}
	}
}

// stops ends the server and waits until it has ended, which must succeed.
func stopsServing(ts *testscript.TestScript, neg bool, _ []string) {
	if neg {
		ts.Fatalf("unsupported: ! stops")
	}
	s := ts.Value(servedKey).(map[string]*served)["it"]
	ts.Check(s.command.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		ts.Check(err)
	case <-time.After(30 * time.Second):
		ts.Fatalf("the server did not end")
	}
}
