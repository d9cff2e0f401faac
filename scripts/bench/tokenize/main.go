// Tokenize measures toxscreen's tokenizer against Hugging Face's tokenizers and
// against sugarme/tokenizer, on the same texts, on one thread, interleaved:
//
//	go run ./scripts/bench/tokenize -python .venv/bin/python -data ../shared/data models/toxicity-en/tokenizer.json
//
// It prints the median of the rounds and the ratios as Markdown. The Python interpreter
// needs scripts/bench/requirements.txt.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sugarme/tokenizer/pretrained"

	"github.com/toxscreen/toxscreen/tokenize"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tokenize:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("tokenize", flag.ContinueOnError)
	python := flags.String("python", ".venv/bin/python", "interpreter with tokenizers installed")
	data := flags.String("data", "../shared/data", `folder of *.jsonl.gz with "text"`)
	count := flags.Int("texts", 5000, "number of texts, from all files in turn")
	rounds := flags.Int("rounds", 7, "rounds for each side; the median counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one tokenizer.json")
	}
	runtime.GOMAXPROCS(1)
	texts, size, err := readTexts(*data, *count)
	if err != nil {
		return err
	}
	tokenizerJSON, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	own, err := tokenize.Load(tokenizerJSON)
	if err != nil {
		return err
	}
	theirs, err := startPython(ctx, *python, flags.Arg(0), texts)
	if err != nil {
		return err
	}
	defer theirs.stop()

	var ownTimes, oneTimes, batchTimes []float64
	var enc tokenize.Encoding
	for range *rounds {
		start := time.Now()
		for _, text := range texts {
			if err := own.Encode(text, &enc); err != nil {
				return err
			}
		}
		ownTimes = append(ownTimes, time.Since(start).Seconds())
		one, batch, err := theirs.round()
		if err != nil {
			return err
		}
		oneTimes, batchTimes = append(oneTimes, one), append(batchTimes, batch)
	}
	sugarme, err := timeSugarme(tokenizerJSON, texts)
	if err != nil {
		return err
	}
	base := median(ownTimes)
	fmt.Fprintf(out, "%s, %d texts, %.2f MB, one thread, median of %d interleaved rounds:\n\n", own.Kind(), len(texts), float64(size)/1e6, *rounds)
	fmt.Fprintln(out, "| | MB/s | texts/s | toxscreen is |\n|---|---:|---:|---:|")
	for _, row := range []struct {
		name    string
		seconds float64
	}{
		{"toxscreen", base},
		{"Hugging Face tokenizers " + theirs.version + ", encode", median(oneTimes)},
		{"Hugging Face tokenizers " + theirs.version + ", encode_batch", median(batchTimes)},
		{"sugarme/tokenizer v0.3.0, once", sugarme},
	} {
		fmt.Fprintf(out, "| %s | %.2f | %.0f | %.1f × |\n", row.name, float64(size)/1e6/row.seconds, float64(len(texts))/row.seconds, row.seconds/base)
	}
	return nil
}

func median(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)/2]
}

// readTexts takes a text from each file in turn.
func readTexts(folder string, count int) (texts []string, size int, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl.gz"))
	if err != nil {
		return nil, 0, err
	}
	var readers []*json.Decoder
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, 0, err
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return nil, 0, fmt.Errorf("failed to read %s: %w", path, err)
		}
		readers = append(readers, json.NewDecoder(unzipped))
	}
	for len(readers) > 0 && len(texts) < count {
		readers = slices.DeleteFunc(readers, func(r *json.Decoder) bool {
			var row struct{ Text string }
			if len(texts) == count || r.Decode(&row) != nil {
				return true
			}
			if row.Text != "" {
				texts = append(texts, row.Text)
				size += len(row.Text)
			}
			return false
		})
	}
	if len(texts) == 0 {
		return nil, 0, fmt.Errorf("no *.jsonl.gz with a \"text\" in %q; give the data folder with -data", folder)
	}
	return texts, size, nil
}

// pythonSide is the process that runs worker.py.
type pythonSide struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	texts   string
	version string
}

func startPython(ctx context.Context, python, tokenizer string, texts []string) (*pythonSide, error) {
	file, err := os.CreateTemp("", "texts-*.jsonl")
	if err != nil {
		return nil, err
	}
	lines := json.NewEncoder(file)
	for _, text := range texts {
		if err := lines.Encode(text); err != nil {
			return nil, err
		}
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, python, "scripts/bench/tokenize/worker.py", tokenizer, file.Name())
	p := &pythonSide{command: command, texts: file.Name()}
	p.command.Stderr = os.Stderr
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(output)
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("failed to start %s: %w; give an interpreter with -python and run from the repository", python, err)
	}
	if p.version, err = p.out.ReadString('\n'); err != nil {
		return nil, fmt.Errorf("failed to start tokenizers in %s: %w; install scripts/bench/requirements.txt", python, err)
	}
	p.version = strings.TrimSpace(p.version)
	return p, nil
}

func (p *pythonSide) round() (one, batch float64, err error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscanln(p.out, &one, &batch)
	return one, batch, err
}

func (p *pythonSide) stop() {
	p.in.Close()
	_ = p.command.Wait() // its results have been read
	os.Remove(p.texts)
}

// timeSugarme runs one round, since the library is slow. Texts that make it panic count too.
func timeSugarme(tokenizerJSON []byte, texts []string) (float64, error) {
	log.SetOutput(io.Discard)
	t, err := pretrained.FromReader(bytes.NewReader(tokenizerJSON))
	if err != nil {
		return 0, err
	}
	encode := func(text string) {
		defer func() { _ = recover() }()
		_, _ = t.EncodeSingle(text)
	}
	start := time.Now()
	for _, text := range texts {
		encode(text)
	}
	return time.Since(start).Seconds(), nil
}
