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
	if err != nil || len(o.accepted) != len(texts) || len(scored) != len(texts) || o.took < 15*time.Millisecond {
		t.Errorf("%v: %d accepted in %s, %v", err, len(o.accepted), o.took, scored)
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
	if err != nil || len(o.accepted) != 40 || len(o.refused) != 20 || o.statuses[429] != 20 {
		t.Errorf("%v: %d accepted, %d refused, %v", err, len(o.accepted), len(o.refused), o.statuses)
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
	if len(times[0]) != scored[texts[0]]+scored[texts[2]] || len(times[1]) != scored[texts[3]] || len(times[2])+len(times[3]) != 0 {
		t.Errorf("the classes have %d, %d, %d and %d times: %v", len(times[0]), len(times[1]), len(times[2]), len(times[3]), scored)
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
	if n := len(longs.accepted); n == 0 || scored["a"] != n || longs.took < time.Duration(n)*5*time.Millisecond {
		t.Errorf("%d answers in %s, %d texts scored; each takes 5 ms", n, longs.took, scored["a"])
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
	if joined := join(parts); len(joined) != 2 || len(joined[0]) != long+4 || len(joined[1]) != long+4 {
		t.Errorf("%d texts", len(joined))
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
