package encoder_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

// BenchmarkEndToEnd measures how much of ONNX Runtime's throughput remains when
// texts go in and scores and spans come out, by the whole network: the metric end-to-end/bare is 1 if
// everything else takes no time. Both sides run the same texts with one worker
// per core, interleaved within one benchmark; the bare side has its tensors ready.
//
//	TOXSCREEN_TEXTS=build/bench/texts.jsonl go test -run '^$' -bench EndToEnd -benchtime 1x ./encoder
//
// scripts/bench/texts.py makes the file.
func BenchmarkEndToEnd(b *testing.B) {
	texts := benchTexts(b)
	screener := toxscreen.New(openDefault(b, encoder.Single), toxscreen.WithFullNetwork())
	c := config(b, "../models/toxicity-en")
	c.Threads = benchThreads
	bare := encoder.NewBareRuns(b, open(b, c), c.Tokenizer, texts)

	var endToEnd, bareTime time.Duration
	for b.Loop() {
		const piece = 128 // texts per side before the order changes
		for from := 0; from < len(texts); from += piece {
			to := min(from+piece, len(texts))
			first := func() {
				endToEnd += timed(b, benchThreads, from, to, func(i int) error { _, err := screener.Score(b.Context(), texts[i]); return err })
			}
			second := func() { bareTime += timed(b, benchThreads, from, to, bare.Run) }
			if from/piece%2 == 1 {
				first, second = second, first
			}
			first()
			second()
		}
	}
	scored := float64(b.N * len(texts))
	b.ReportMetric(scored/endToEnd.Seconds(), "texts/s")
	b.ReportMetric(scored/bareTime.Seconds(), "bare-texts/s")
	b.ReportMetric(bareTime.Seconds()/endToEnd.Seconds(), "end-to-end/bare")
	b.ReportMetric(0, "ns/op") // sum of both sides: meaningless
}

// BenchmarkSharedRuns measures the gain when short texts of the same length share
// runs: the metric shared/single is the throughput in texts per second relative to
// single runs. Both sides score the same texts, enough at once to stay busy,
// interleaved within one benchmark.
//
//	TOXSCREEN_TEXTS=build/bench/chat.jsonl go test -run '^$' -bench SharedRuns -benchtime 1x ./encoder
func BenchmarkSharedRuns(b *testing.B) {
	texts := benchTexts(b)
	var took [2]time.Duration
	var sides [2]*classifier.Classifier
	for i, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed} {
		sides[i] = openDefault(b, batching)
	}
	for b.Loop() {
		const piece = 1024 // texts per side before the order changes
		for from := 0; from < len(texts); from += piece {
			to := min(from+piece, len(texts))
			for first := range sides {
				i := (first + from/piece) % len(sides)
				took[i] += timed(b, sides[i].Info().Parallel, from, to, func(text int) error {
					_, err := sides[i].Classify(b.Context(), texts[text], toxscreen.Early)
					return err
				})
			}
		}
	}
	scored := float64(b.N * len(texts))
	b.ReportMetric(scored/took[0].Seconds(), "single-texts/s")
	b.ReportMetric(scored/took[1].Seconds(), "shared-texts/s")
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "shared/single")
	b.ReportMetric(0, "ns/op") // sum of both sides: meaningless
}

// timed calls do for each number in from..to-1 with the given number of workers.
func timed(b *testing.B, workers, from, to int, do func(i int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	next.Store(int64(from))
	var working sync.WaitGroup
	start := time.Now()
	for range workers {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	working.Wait()
	return time.Since(start)
}

const benchThreads = 2

func benchTexts(b *testing.B) []string {
	b.Helper()
	path := os.Getenv("TOXSCREEN_TEXTS")
	if path == "" {
		b.Skip("TOXSCREEN_TEXTS does not name a file of texts; `make bench` creates one")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join("..", path)
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var texts []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			b.Fatal(err)
		}
		texts = append(texts, row.Text)
	}
	return texts
}

// openDefault opens the default model with the given batching instead of its manifest's.
func openDefault(b *testing.B, batching encoder.Batching) *classifier.Classifier {
	b.Helper()
	manifest, err := models.ReadManifest(models.Default())
	if err != nil {
		b.Fatal(err)
	}
	variant, err := manifest.Variant(encoder.CPU)
	if err != nil {
		b.Fatal(err)
	}
	ran := config(b, "../models/toxicity-en")
	last := len(ran.Stages) - 1
	exits := make([]classifier.Exit, last)
	for i, stage := range ran.Stages[:last] {
		exits[i] = variant.Exits[i].Exit
		exits[i].Stage, exits[i].Model = stage.Model, stage.Exit.Model
	}
	c, err := classifier.Open(classifier.Config{
		Spec: manifest.Spec, Exits: exits, Model: ran.Stages[last].Model, Tokenizer: ran.Tokenizer,
		Batching: batching, Threads: benchThreads, Thresholds: manifest.Thresholds,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	return c
}
