//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
)

// A server is killed with SIGKILL while clients score texts and send feedback.
// Feedback that was acknowledged with 201 is stored, and the next server can open
// the file.
func TestAKilledServerLosesNoFeedback(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feedback.db")
	var lock sync.Mutex
	stored := map[string]bool{}
	for kill := range serverKills {
		c, stderr := process("serve", "--listen", "127.0.0.1:0", "--feedback", file, "--late-results", "off", "--log-level", "error")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatalf("server %d gave no address: %v: %s", kill+1, err, stderr)
		}
		transport := &http.Transport{}
		post := func(path, body string) (status int, err error) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSpace(address)+path, strings.NewReader(body))
			if err != nil {
				return 0, err
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				return 0, err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return response.StatusCode, err
		}
		time.AfterFunc(rand.N(200*time.Millisecond), func() { _ = c.Process.Kill() })
		var clients sync.WaitGroup
		for client := range 4 {
			clients.Go(func() {
				for i := 0; ; i++ {
					token := fmt.Sprintf("%d/%d/%d", kill, client, i)
					status, err := post("/v1/feedback", fmt.Sprintf(`{"text": "you idiot", "labels": {"insult": 1}, "token": %q}`, token))
					if status == http.StatusCreated { // even if reading the answer failed
						lock.Lock()
						stored[token] = true
						lock.Unlock()
					}
					if err == nil {
						_, err = post("/v1/score", `{"text": "what a lovely garden"}`)
					}
					if err != nil {
						return // the server was killed
					}
				}
			})
		}
		clients.Wait()
		_ = c.Wait()
		transport.CloseIdleConnections()
	}
	if len(stored) < serverKills {
		t.Errorf("%d label sets were acknowledged by %d servers", len(stored), serverKills)
	}
	t.Logf("%d label sets were acknowledged by %d servers", len(stored), serverKills)
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for set, err := range kept.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		delete(stored, set.Token)
	}
	if len(stored) > 0 {
		t.Errorf("%d acknowledged label sets are lost", len(stored))
	}
}
