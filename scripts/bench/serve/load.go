//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// outcome is the result of one load's requests.
type outcome struct {
	took              time.Duration           // from the first request to the end of the last answer
	accepted, refused []time.Duration         // times of answers, in order
	of                map[int][]time.Duration // those accepted, by the index of their text
	statuses          map[int]int
}

// saturate scores each text once, with the given number of callers that each send
// the next text after an answer. It fails if a text is refused, since the work
// would then differ.
func (s *server) saturate(ctx context.Context, texts []string, callers int) (outcome, error) {
	o, err := s.once(ctx, texts, callers)
	if err == nil && len(o.accepted) != len(texts) {
		err = fmt.Errorf("failed to load %s: of %d texts %d were scored, statuses %v", s.name, len(texts), len(o.accepted), o.statuses)
	}
	return o, err
}

// once sends each text once, as saturate does; texts may be refused.
func (s *server) once(ctx context.Context, texts []string, callers int) (outcome, error) {
	targets, err := s.targets(texts, 1)
	if err != nil {
		return outcome{}, err
	}
	attacker := vegeta.NewAttacker(append(options, vegeta.Workers(uint64(callers)), vegeta.MaxWorkers(uint64(callers)), vegeta.MaxConnections(callers))...)
	return collect(ctx, attacker, attacker.Attack(targets, vegeta.Rate{}, 0, s.name)) // rate 0: as fast as the callers can
}

// at scores texts at a rate per second for a time, without waiting for earlier
// requests.
func (s *server) at(ctx context.Context, texts []string, rate float64, length time.Duration) (outcome, error) {
	targets, err := s.targets(texts, 0)
	if err != nil {
		return outcome{}, err
	}
	attacker := vegeta.NewAttacker(options...)
	return collect(ctx, attacker, attacker.Attack(targets, vegeta.Rate{Freq: int(rate * 1000), Per: 1000 * time.Second}, length, s.name))
}

// steadily scores texts one after the other on one connection until ctx is cancelled.
func (s *server) steadily(ctx context.Context, texts []string) (outcome, error) {
	targets, err := s.targets(texts, 0)
	if err != nil {
		return outcome{}, err
	}
	attacker := vegeta.NewAttacker(append(options, vegeta.Workers(1), vegeta.MaxWorkers(1), vegeta.MaxConnections(1))...)
	o, err := collect(ctx, attacker, attacker.Attack(targets, vegeta.Rate{}, 0, s.name))
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return o, err
}

// options apply to all loads. Python servers use HTTP/1.1.
var options = []func(*vegeta.Attacker){vegeta.KeepAlive(true), vegeta.HTTP2(false), vegeta.Timeout(time.Minute)}

// targets yields a request for each text, in order, the given number of times; 0 is
// endless. The fragment of its URL, which is not sent, is the index of the text.
func (s *server) targets(texts []string, times int64) (vegeta.Targeter, error) {
	bodies := make([][]byte, len(texts))
	for i, text := range texts {
		var err error
		if bodies[i], err = json.Marshal(map[string]string{"text": text}); err != nil {
			return nil, err
		}
	}
	header := http.Header{"Content-Type": {"application/json"}}
	var next atomic.Int64
	return func(t *vegeta.Target) error {
		i := next.Add(1) - 1
		if times > 0 && i >= times*int64(len(bodies)) {
			return vegeta.ErrNoTargets
		}
		text := int(i % int64(len(bodies)))
		t.Method, t.URL, t.Body, t.Header = http.MethodPost, fmt.Sprintf("%s/v1/score#%d", s.address, text), bodies[text], header
		return nil
	}, nil
}

func collect(ctx context.Context, attacker *vegeta.Attacker, results <-chan *vegeta.Result) (outcome, error) {
	ended := context.AfterFunc(ctx, func() { attacker.Stop() })
	defer ended()
	o := outcome{of: map[int][]time.Duration{}, statuses: map[int]int{}}
	began, failed := time.Now(), ""
	for r := range results {
		if r.Code == 0 && r.Error == vegeta.ErrNoTargets.Error() {
			continue // the end of the texts
		}
		o.statuses[int(r.Code)]++
		switch r.Code {
		case http.StatusOK:
			_, fragment, _ := strings.Cut(r.URL, "#")
			text, _ := strconv.Atoi(fragment) // from targets
			o.accepted = append(o.accepted, r.Latency)
			o.of[text] = append(o.of[text], r.Latency)
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			o.refused = append(o.refused, r.Latency)
		default:
			failed = fmt.Sprintf("status %d, %s: %.200s", r.Code, r.Error, r.Body)
		}
	}
	o.took = time.Since(began)
	slices.Sort(o.accepted)
	slices.Sort(o.refused)
	if failed != "" {
		return o, fmt.Errorf("failed to load the server: %s", failed)
	}
	return o, ctx.Err()
}
