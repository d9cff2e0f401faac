//go:build linux

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scoring is a test server; it refuses the text "too much".
func scoring(t *testing.T) (s *server, scored map[string]int) {
	t.Helper()
	var lock sync.Mutex
	scored = map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/score" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		lock.Lock()
		scored[in.Text]++
		lock.Unlock()
		switch in.Text {
		case "too much":
			w.WriteHeader(http.StatusTooManyRequests)
		case "broken":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			time.Sleep(5 * time.Millisecond)
		}
	}))
	t.Cleanup(site.Close)
	return &server{name: "it", address: site.URL}, scored
}

// The throughput is measured with each text scored once: otherwise the work would
// differ from that of batch.
func TestSaturationScoresEachTextOnce(t *testing.T) {
	s, scored := scoring(t)
	texts := []string{"a", "b", "c", "d", "e", "f", "g"}
	o, err := s.saturate(t.Context(), texts, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.accepted) != len(texts) {
		t.Errorf("%d of %d texts were accepted", len(o.accepted), len(texts))
	}
	for _, text := range texts {
		if scored[text] != 1 {
			t.Errorf("%q was scored %d times", text, scored[text])
		}
	}
	if o.took <= 0 {
		t.Errorf("the load took %s", o.took)
	}
	for _, text := range []string{"too much", "broken"} {
		if _, err := s.saturate(t.Context(), []string{"a", text}, 2); err == nil || !strings.Contains(err.Error(), "failed to load") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// At a fixed rate, a refused text is not a failure and is counted separately.
func TestARateIsKept(t *testing.T) {
	s, _ := scoring(t)
	o, err := s.at(t.Context(), []string{"a", "too much", "b"}, 60, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.accepted) != 40 {
		t.Errorf("%d texts were accepted, want 40", len(o.accepted))
	}
	if len(o.refused) != 20 {
		t.Errorf("%d texts were refused, want 20", len(o.refused))
	}
	if o.statuses[http.StatusTooManyRequests] != 20 {
		t.Errorf("the statuses are %v, want 20 times 429", o.statuses)
	}
	if _, err := s.at(t.Context(), []string{"broken"}, 10, time.Second); err == nil {
		t.Error("a server failure was not reported")
	}
}

// Times by length would mean nothing if an answer were counted for another text.
func TestAnswersAreCountedForTheirTexts(t *testing.T) {
	s, scored := scoring(t)
	texts := []string{"short", "too much", strings.Repeat("long ", 20), strings.Repeat("longer ", 20)}
	o, err := s.at(t.Context(), texts, 80, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		want := scored[text]
		if text == "too much" {
			want = 0 // refused
		}
		if len(o.of[i]) != want {
			t.Errorf("%q has %d times, and was scored %d times", text, len(o.of[i]), want)
		}
	}
	times := byLength(texts, o)
	for class, want := range []int{scored[texts[0]] + scored[texts[2]], scored[texts[3]], 0, 0} {
		if len(times[class]) != want {
			t.Errorf("class %d has %d times, want %d", class, len(times[class]), want)
		}
	}
}

// A background of long texts is on one connection, and nothing of it is left when it ends.
func TestABackgroundIsSteady(t *testing.T) {
	s, scored := scoring(t)
	var longs outcome
	end := s.startSteadily(t.Context(), []string{"a"}, &longs)
	if _, err := s.at(t.Context(), []string{"b"}, 10, time.Second); err != nil {
		t.Error(err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	n := len(longs.accepted)
	if n == 0 {
		t.Error("there was no background")
	}
	if scored["a"] != n {
		t.Errorf("%d answers, and %d texts were scored", n, scored["a"])
	}
	if least := time.Duration(n) * 5 * time.Millisecond; longs.took < least {
		t.Errorf("%d answers took %s, but each takes 5 ms on one connection", n, longs.took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := s.steadily(ctx, []string{"broken"}); err == nil {
		t.Error("a server failure was not reported")
	}
}

func TestASetIsRepeatedInPieces(t *testing.T) {
	s, c := set{"abc", []string{"a", "b", "c"}}, config{piece: 4}
	if got := strings.Join(append(s.piece(c, 0), s.piece(c, 1)...), ""); got != "abcabcab" {
		t.Errorf("got %s", got)
	}
}

func TestLongTexts(t *testing.T) {
	parts := slices.Repeat([]string{strings.Repeat("x", long/4)}, 9)
	joined := join(parts)
	if len(joined) != 2 {
		t.Fatalf("%d texts, want 2", len(joined))
	}
	for _, text := range joined {
		if len(text) != long+4 {
			t.Errorf("a text has %d bytes, want %d", len(text), long+4)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(i))
	}
	for q, want := range map[float64]time.Duration{0: 0, 0.5: 50, 0.99: 99, 1: 99} {
		if got := quantile(times, q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
}
