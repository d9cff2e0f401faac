//go:build unix

package judge

import (
	"fmt"
	"net/http/httptrace"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// BenchmarkJudge measures what toxscreen adds to a call. It judges texts of 1,800
// bytes under the default rubric, with a cache. judge-ms is the median time of a
// verdict. overhead-ms is the median of its parts before the request is sent and
// after the answer has ended, in the same calls. cpu-ms is the median processor
// time of this process; most of it is for reading the log-probabilities of each
// token, while the server computes the next one.
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
	// From a request to the end of its answer, when its connection becomes idle.
	var sent time.Time
	var calling time.Duration
	ctx := httptrace.WithClientTrace(b.Context(), &httptrace.ClientTrace{
		GetConn:     func(string) { sent = time.Now() },
		PutIdleConn: func(error) { calling += time.Since(sent) },
	})
	text := func(i int) string {
		return fmt.Sprintf("text %d: ", i) + strings.Repeat("you are a fool, and so is he. ", 60)
	}
	verdictOn(b, j, text(0))
	var whole, around, computed []time.Duration
	for i := 1; b.Loop(); i++ {
		calling = 0
		start, startCPU := time.Now(), cpu(b)
		if _, err := j.JudgeCase(ctx, Case{Text: text(i)}); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		whole = append(whole, took)
		around = append(around, took-calling)
		computed = append(computed, cpu(b)-startCPU)
	}
	b.ReportMetric(median(whole), "judge-ms")
	b.ReportMetric(median(around), "overhead-ms")
	b.ReportMetric(median(computed), "cpu-ms")
}

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// median returns the median in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
