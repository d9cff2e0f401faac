package classifier

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/tokenize"
)

// BenchmarkEndToEnd tells how much of the throughput of ONNX Runtime is left
// when texts go in and scores and spans come out: the metric end-to-end/bare is
// 1 where all else takes no time. Both sides score the same texts with a worker
// a core, in turns within one run; the bare side has its tensors ready.
//
//	TOXSCREEN_TEXTS=build/bench/texts.jsonl go test -run '^$' -bench EndToEnd -benchtime 1x ./classifier
//
// scripts/bench/texts.py makes the file.
func BenchmarkEndToEnd(b *testing.B) {
	texts := benchTexts(b)
	c, config := openDefault(b, Single)
	bare := newBareRuns(b, c, config, texts)
	screener := toxscreen.New(c)

	var endToEnd, bareTime time.Duration
	for b.Loop() {
		const piece = 128 // texts between two changes of turn
		for from := 0; from < len(texts); from += piece {
			to := min(from+piece, len(texts))
			first := func() {
				endToEnd += timed(b, benchThreads, from, to, func(i int) error { _, err := screener.Score(b.Context(), texts[i]); return err })
			}
			second := func() { bareTime += timed(b, benchThreads, from, to, bare.run) }
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
	b.ReportMetric(0, "ns/op") // of both sides together: says nothing
}

// BenchmarkSharedRuns tells what it brings that short texts of the same length
// share runs: the metric shared/single is how many times as many texts a second
// that is. Both sides score the same texts, as many at once as keep them busy,
// in turns within one run.
//
//	TOXSCREEN_TEXTS=build/bench/chat.jsonl go test -run '^$' -bench SharedRuns -benchtime 1x ./classifier
func BenchmarkSharedRuns(b *testing.B) {
	texts := benchTexts(b)
	var took [2]time.Duration
	var sides [2]*Classifier
	for i, batching := range []Batching{Single, Bucketed} {
		sides[i], _ = openDefault(b, batching)
	}
	for b.Loop() {
		const piece = 1024 // texts between two changes of turn
		for from := 0; from < len(texts); from += piece {
			to := min(from+piece, len(texts))
			for turn := range sides {
				i := (turn + from/piece) % len(sides)
				took[i] += timed(b, sides[i].Info().Parallel, from, to, func(text int) error {
					_, err := sides[i].Classify(b.Context(), texts[text])
					return err
				})
			}
		}
	}
	scored := float64(b.N * len(texts))
	b.ReportMetric(scored/took[0].Seconds(), "single-texts/s")
	b.ReportMetric(scored/took[1].Seconds(), "shared-texts/s")
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "shared/single")
	b.ReportMetric(0, "ns/op") // of both sides together: says nothing
}

// timed calls do for each number in from..to-1 with so many workers.
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
		b.Skip("TOXSCREEN_TEXTS names no file of texts; `make bench` makes one")
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

// openDefault opens the default model, which package models embeds and this
// one cannot import.
func openDefault(b testing.TB, batching Batching) (*Classifier, Config) {
	b.Helper()
	const folder = "../models/toxicity-en"
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	var manifest struct {
		Spec
		Thresholds toxscreen.Scores
	}
	if err := json.Unmarshal(read("manifest.json"), &manifest); err != nil {
		b.Fatal(err)
	}
	tokenizer, err := tokenize.Load(read("tokenizer.json"))
	if err != nil {
		b.Fatal(err)
	}
	config := Config{
		Spec: manifest.Spec, Model: read("model.ort"), Tokenizer: tokenizer,
		Provider: CPU, Batching: batching, Threads: benchThreads, Thresholds: manifest.Thresholds,
	}
	c, err := Open(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	return c, config
}

// bareRuns are the runs of the texts' windows with all tensors made before.
type bareRuns struct {
	session *ort.DynamicAdvancedSession
	byText  [][]bareRun
}

type bareRun struct{ inputs, outputs []ort.Value }

func newBareRuns(b *testing.B, c *Classifier, config Config, texts []string) *bareRuns {
	b.Helper()
	session := c.runner.session
	runs := &bareRuns{session: session.ort}
	var values []ort.Value
	b.Cleanup(func() {
		var errs []error
		for _, v := range values {
			errs = append(errs, v.Destroy())
		}
		if err := errors.Join(errs...); err != nil {
			b.Error(err)
		}
	})
	keep := func(v ort.Value, err error) ort.Value {
		if err != nil {
			b.Fatal(err)
		}
		values = append(values, v)
		return v
	}
	for _, text := range texts {
		var encoding tokenize.Encoding
		if err := c.tokenizer.Encode(text, &encoding); err != nil {
			b.Fatal(err)
		}
		var ofText []bareRun
		for _, w := range divide(text, encoding.Offsets, config.Spec.Window.Tokens-len(c.prefix)-len(c.suffix), config.Spec.Window.Overlap) {
			ids := slices.Concat(c.prefix, encoding.IDs[w.start:w.end], c.suffix)
			tokens := int64(len(ids))
			var one bareRun
			for _, name := range config.Spec.Inputs {
				buffer := make([]int64, tokens)
				fill(buffer, name, [][]int64{ids}, len(ids), 0)
				tensor, err := ort.NewTensor(ort.NewShape(1, tokens), buffer)
				one.inputs = append(one.inputs, keep(tensor, err))
			}
			scores, err := ort.NewEmptyTensor[float32](ort.NewShape(1, int64(session.scores)))
			one.outputs = append(one.outputs, keep(scores, err))
			if session.spanLabels > 0 {
				heads, err := ort.NewEmptyTensor[float32](ort.NewShape(1, tokens, int64(session.spanLabels)))
				one.outputs = append(one.outputs, keep(heads, err))
			}
			ofText = append(ofText, one)
		}
		runs.byText = append(runs.byText, ofText)
	}
	return runs
}

func (r *bareRuns) run(text int) error {
	for _, one := range r.byText[text] {
		if err := r.session.Run(one.inputs, one.outputs); err != nil {
			return err
		}
	}
	return nil
}
