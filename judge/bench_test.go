//go:build unix

package judge

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/store"
)

// BenchmarkJudge tells what toxscreen adds to a call. It judges texts of 1,800
// bytes by the default rubric, with a cache. overhead-ms is the median of the
// time that a verdict takes before the question leaves and after the answer's
// end has come, measured in the same calls as the whole, judge-ms. cpu-ms is
// the median of what this process computes for one; most of that is reading
// the log-probabilities of each token, while the server computes the next.
//
//	go test ./judge -run '^$' -bench Judge -benchtime 200x
func BenchmarkJudge(b *testing.B) {
	server := ollamatest.Start(b)
	server.Create(b, tiny, ollamatest.Tiny)
	cache, err := store.OpenVerdicts(filepath.Join(b.TempDir(), "verdicts.db"), 10_000)
	if err != nil {
		b.Fatal(err)
	}
	defer cache.Close()
	j := tinyJudge(b, server.URL, func(c *Config) { c.Rubric, c.TextBytes, c.Cache = attributesRubric(b), 2000, cache })
	clock := &clock{RoundTripper: j.server.http.Transport}
	j.server.http.Transport = clock
	text := func(i int) string {
		return fmt.Sprintf("text %d: ", i) + strings.Repeat("you are a fool, and so is he. ", 60)
	}
	verdictOn(b, j, text(0))
	var whole, around, computed []time.Duration
	for i := 1; b.Loop(); i++ {
		clock.calling.Store(0)
		start, startCPU := time.Now(), cpu(b)
		verdictOn(b, j, text(i))
		took := time.Since(start)
		whole = append(whole, took)
		around = append(around, took-time.Duration(clock.calling.Load()))
		computed = append(computed, cpu(b)-startCPU)
	}
	b.ReportMetric(median(whole), "judge-ms")
	b.ReportMetric(median(around), "overhead-ms")
	b.ReportMetric(median(computed), "cpu-ms")
}

// clock sums the time from a request to the end of its answer.
type clock struct {
	http.RoundTripper
	calling atomic.Int64 // nanoseconds
}

func (c *clock) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	response, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &timedBody{ReadCloser: response.Body, clock: c, start: start}
	}
	return response, err
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] asks for.
func (c *clock) CloseIdleConnections() { c.RoundTripper.(*http.Transport).CloseIdleConnections() }

type timedBody struct {
	io.ReadCloser
	clock *clock
	start time.Time
	ended bool
}

func (t *timedBody) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	if err != nil && !t.ended {
		t.ended = true
		t.clock.calling.Add(int64(time.Since(t.start)))
	}
	return n, err
}

// cpu returns the processor time that this process has had.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// median is in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
