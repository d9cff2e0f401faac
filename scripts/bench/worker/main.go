// Worker is toxscreen's side of the comparisons in scripts/bench: a process with
// the embedded model that scores on command and reports how long that took.
//
//	worker TEXTS.jsonl
//
// It reads commands from standard input, one per line, and answers each with a
// line of JSON:
//
//	batch FROM TO   score the rows FROM up to TO as `toxscreen batch` does
//	each FROM TO    score the rows FROM up to TO one after the other, by a single caller
//	one ROW TIMES   score one row repeatedly, by a single caller
//	bytes N         score a text of N bytes, the texts joined
//	memory          only report the resident memory
//
// "full" at the end of a command runs the whole network on each text.
// Otherwise texts may leave early.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/procfs"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// answer is the worker's answer to a command.
type answer struct {
	Seconds  []float64 `json:"seconds"`  // for each score, or for the whole batch
	Scores   []float64 `json:"scores"`   // toxicity, by row
	Flagged  []bool    `json:"flagged"`  // by row
	Exits    []int     `json:"exits"`    // layers after which the row left, by row; 0: the whole network
	Resident float64   `json:"resident"` // MB now
	Peak     float64   `json:"peak"`     // maximum MB since the start
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("worker: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: worker TEXTS.jsonl")
	}
	texts, err := readTexts(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.OpenDefault(models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	early := toxscreen.New(model)
	w := worker{texts, early, early.With(toxscreen.WithFullNetwork())}
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		a, err := w.do(lines.Text())
		if err != nil {
			log.Fatalf("failed to run %q: %v", lines.Text(), err)
		}
		if err := out.Encode(a); err != nil {
			log.Fatal(err)
		}
	}
	if err := model.Close(); err != nil {
		log.Fatal(err)
	}
}

func readTexts(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var texts []string
	for decoder := json.NewDecoder(file); decoder.More(); {
		var row struct {
			Text string `json:"text"`
		}
		if err := decoder.Decode(&row); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		texts = append(texts, row.Text)
	}
	return texts, nil
}

type worker struct {
	texts       []string
	early, full *toxscreen.Screener
}

func (w worker) do(command string) (a answer, err error) {
	ctx := context.Background()
	command, full := strings.CutSuffix(command, " full")
	screener := w.early
	if full {
		screener = w.full
	}
	score := func(text string) error {
		start := time.Now()
		result, err := screener.Score(ctx, text)
		a.Seconds = append(a.Seconds, time.Since(start).Seconds())
		a.add(result)
		return err
	}
	var from, to int
	switch verb, _, _ := strings.Cut(command, " "); verb {
	case "batch":
		if _, err := fmt.Sscanf(command, "batch %d %d", &from, &to); err != nil {
			return a, err
		}
		start := time.Now()
		rows := slices.Values(w.texts[from:to])
		for outcome := range toxscreen.Batch(ctx, screener, rows, func(text string) (string, error) { return text, nil }) {
			if outcome.Err != nil {
				return a, outcome.Err
			}
			a.add(outcome.Result)
		}
		a.Seconds = []float64{time.Since(start).Seconds()}
	case "each":
		if _, err := fmt.Sscanf(command, "each %d %d", &from, &to); err != nil {
			return a, err
		}
		for _, text := range w.texts[from:to] {
			if err := score(text); err != nil {
				return a, err
			}
		}
	case "one":
		if _, err := fmt.Sscanf(command, "one %d %d", &from, &to); err != nil {
			return a, err
		}
		for range to {
			if err := score(w.texts[from]); err != nil {
				return a, err
			}
		}
	case "bytes":
		if _, err := fmt.Sscanf(command, "bytes %d", &to); err != nil {
			return a, err
		}
		if err := score(w.joined(to)); err != nil {
			return a, err
		}
	case "memory":
	default:
		return a, errors.New("unknown command")
	}
	a.Resident, a.Peak, err = memory()
	return a, err
}

func (a *answer) add(result toxscreen.Result) {
	a.Scores = append(a.Scores, float64(result.Score))
	a.Flagged = append(a.Flagged, result.Flagged)
	a.Exits = append(a.Exits, result.Exit)
}

// joined returns a text of n bytes, or slightly fewer to avoid cutting a character.
func (w worker) joined(n int) string {
	var text strings.Builder
	for i := 0; text.Len() < n; i = (i + 1) % len(w.texts) {
		text.WriteString(w.texts[i])
		text.WriteByte('\n')
	}
	cut := n
	for !utf8.RuneStart(text.String()[cut]) {
		cut--
	}
	return text.String()[:cut]
}

// memory returns the resident memory of this process in MB (Linux).
func memory() (now, peak float64, err error) {
	process, err := procfs.Self()
	if err != nil {
		return 0, 0, err
	}
	status, err := process.NewStatus()
	return float64(status.VmRSS) / (1 << 20), float64(status.VmHWM) / (1 << 20), err
}
