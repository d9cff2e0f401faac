package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A program that starts a server of its own keeps the other end of the server's standard
// input. The system closes it however the program ends, with SIGKILL too, and the server
// then ends like after SIGTERM: it does not stay behind.
func TestAServerEndsWithItsStandardInput(t *testing.T) {
	c, messages := process("serve", "--listen", "127.0.0.1:0", "--until-eof", "--no-judge", "--feedback", "off", "--log-level", "error")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it has ended, unless the test failed
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server gave no address: %v\n%s", err, messages)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	for _, written := range []string{"", "what is written to it has no effect\n"} {
		if _, err := io.WriteString(in, written); err != nil {
			t.Fatal(err)
		}
		response, err := client.Get(strings.TrimSpace(address) + "/healthz")
		if err != nil {
			t.Fatalf("the server does not answer while its standard input is open: %v\n%s", err, messages)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Fatalf("the server answers %s while its standard input is open", response.Status)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server ended with %v, not with 0:\n%s", err, messages)
		}
	case <-time.After(30 * time.Second):
		t.Error("the server did not end with its standard input")
	}
}
