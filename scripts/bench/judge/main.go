// Judge measures a judge on texts labelled by people. The self-test of
// `toxscreen judge` does not replace that:
//
//	go run ./scripts/bench/judge -model MODEL ../shared/data/jigsaw.jsonl.gz
//
// The file is JSONL, gzipped if its name says so. Each row has a `text` and
// `toxicity` in its `labels`, the share of people who call it toxic; rows
// without it are skipped. Of the rows with the given split, half are toxic (0.5
// or more) and half are not, always the same rows in the same order: those with
// the smallest SHA-256 of their text.
//
// A text counts as toxic if any aspect is "yes". The AUC uses the highest
// P(yes) of a text's aspects. Nothing is read from a cache. After an interrupt,
// the texts judged so far are reported.
//
// Flags:
//
//	-model NAME     the judge's model
//	-host ADDRESS   of its server; default OLLAMA_HOST
//	-rubric NAME    nexa-gauge/toxicity, which has one question
//	-texts N        300
//	-split NAME     dev; "" for all rows
//	-bytes N        maximum text length; 0, the default, for any length
//	-parallel N     texts judged concurrently, 1
//	-timeout D      per text, 10m
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
	"github.com/toxscreen/toxscreen/judge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("judge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	config := judge.Config{}
	flags.StringVar(&config.Model, "model", "", "the judge's model")
	flags.StringVar(&config.Host, "host", "", "address of its server; default: OLLAMA_HOST")
	rubric := flags.String("rubric", "nexa-gauge/toxicity", "the judge's rubric")
	texts := flags.Int("texts", 300, "number of texts to judge")
	split := flags.String("split", "dev", "rows to use; empty: all")
	limit := flags.Int("bytes", 0, "maximum length of a text; 0: any")
	flags.IntVar(&config.Parallel, "parallel", 1, "texts judged concurrently")
	flags.DurationVar(&config.Timeout, "timeout", 10*time.Minute, "per text")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one file of labelled texts")
	}
	if *texts < 2 || config.Parallel < 1 {
		return fmt.Errorf("-texts %d -parallel %d: need at least 2 texts and 1 in parallel", *texts, config.Parallel)
	}
	var err error
	if config.Rubric, err = judge.OpenRubric(*rubric); err != nil {
		return err
	}
	rows, err := sample(flags.Arg(0), *split, *limit, *texts)
	if err != nil {
		return fmt.Errorf("failed to read %s: %w", flags.Arg(0), err)
	}
	j, err := judge.New(config)
	if err != nil {
		return err
	}
	defer j.Close()
	model, err := j.Connect(ctx)
	if err != nil {
		return err
	}
	found, err := judgeAll(ctx, j, rows, stderr)
	if err != nil && ctx.Err() == nil {
		return err
	}
	// After an interrupt, the texts judged so far count: they are a sample too.
	fmt.Fprintf(stdout, "%s by rubric %s on %d texts of %s\n\n", model, config.Rubric.Version(), len(found), flags.Arg(0))
	report(stdout, found)
	return err
}

// labelled is one row.
type labelled struct {
	text  string
	toxic bool
	order [sha256.Size]byte
}

// sample returns n labelled rows of a file, half of them toxic. limit is the maximum
// length of a text in bytes; 0 is no limit.
func sample(path, split string, limit, n int) ([]labelled, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	var rows []labelled
	dec := json.NewDecoder(bufio.NewReader(in))
	for {
		var row struct {
			Text   string `json:"text"`
			Split  string `json:"split"`
			Labels struct {
				Toxicity *float64 `json:"toxicity"`
			} `json:"labels"`
		}
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if row.Labels.Toxicity != nil && (split == "" || row.Split == split) && (limit <= 0 || len(row.Text) <= limit) {
			rows = append(rows, labelled{row.Text, *row.Labels.Toxicity >= 0.5, sha256.Sum256([]byte(row.Text))})
		}
	}
	slices.SortStableFunc(rows, func(a, b labelled) int { return slices.Compare(a.order[:], b.order[:]) })
	var taken []labelled
	left := map[bool]int{true: n / 2, false: n - n/2}
	for _, row := range rows {
		if left[row.toxic] > 0 {
			left[row.toxic]--
			taken = append(taken, row)
		}
	}
	if len(taken) < n {
		return nil, fmt.Errorf("%d toxic and %d other labelled rows of split %q are missing", left[true], left[false], split)
	}
	return taken, nil
}

// finding is the judge's result for a text.
type finding struct {
	toxic    bool // by people
	answered bool
	yes      bool
	p        *float64 // highest P(yes); nil if there is none
	parts    bool     // whether the judge saw only parts of the text
	spoken   bool     // whether the text addresses the judge
	tokens   int      // input and output
	seconds  float64
}

// judgeAll judges texts, as many concurrently as the judge allows, and returns the
// findings from before any error, in any order.
func judgeAll(ctx context.Context, j *judge.Judge, rows []labelled, progress io.Writer) ([]finding, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var found []finding
	var lock sync.Mutex
	next := make(chan labelled)
	var workers sync.WaitGroup
	for range j.Parallel() {
		workers.Go(func() {
			for row := range next {
				start := time.Now()
				v, err := j.JudgeCase(ctx, judge.Case{Text: row.text})
				if _, abstained := errors.AsType[*toxscreen.AbstentionError](err); err != nil && !abstained {
					cancel(err)
					continue
				}
				f := findingOf(row, v, err == nil)
				f.seconds = time.Since(start).Seconds()
				lock.Lock()
				if found = append(found, f); len(found)%10 == 0 {
					fmt.Fprintf(progress, "%d of %d texts\n", len(found), len(rows))
				}
				lock.Unlock()
			}
		})
	}
	for _, row := range rows {
		select {
		case next <- row:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return found, context.Cause(ctx)
}

func findingOf(row labelled, v toxscreen.Verdict, answered bool) finding {
	f := finding{toxic: row.toxic, answered: answered, spoken: len(v.Addressed) > 0, tokens: v.InputTokens + v.OutputTokens}
	for _, a := range v.Aspects {
		f.yes = f.yes || a.Yes
		if a.PYes != nil && (f.p == nil || float64(*a.PYes) > *f.p) {
			p := float64(*a.PYes)
			f.p = &p
		}
	}
	f.parts = slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.HasPrefix(w, "the judge saw ") })
	return f
}

func report(out io.Writer, found []finding) {
	var yes, of [2]int // clean, toxic
	var toxic, clean []float64
	unanswered, parts, spoken, tokens, seconds := 0, 0, 0, 0, 0.0
	for _, f := range found {
		seconds += f.seconds
		tokens += f.tokens
		if !f.answered {
			unanswered++
			continue
		}
		class := 0
		if f.toxic {
			class = 1
		}
		of[class]++
		if f.yes {
			yes[class]++
		}
		if f.parts {
			parts++
		}
		if f.spoken {
			spoken++
		}
		switch {
		case f.p == nil:
		case f.toxic:
			toxic = append(toxic, *f.p)
		default:
			clean = append(clean, *f.p)
		}
	}
	line := func(name string, r fusion.Share) {
		fmt.Fprintf(out, "%-24s  %5.1f %%  (%d of %d; %.1f–%.1f %%)\n", name, 100*r.Estimate(), r.Count, r.Of, 100*r.Low, 100*r.High)
	}
	line("toxic texts found", fit.ShareOf(yes[1], of[1]))
	line("clean texts found toxic", fit.ShareOf(yes[0], of[0]))
	area, low, high := auc(toxic, clean)
	fmt.Fprintf(out, "%-24s  %5.3f    (%d and %d texts; %.3f–%.3f)\n", "AUC of P(yes)", area, len(toxic), len(clean), low, high)
	fmt.Fprintf(out, "%-24s  %5d\n%-24s  %5d\n%-24s  %5d\n", "no verdict", unanswered, "seen in parts", parts, "speak to the judge", spoken)
	n := float64(max(len(found), 1))
	fmt.Fprintf(out, "%-24s  %5.1f s, %.0f tokens\n", "a text took", seconds/n, float64(tokens)/n)
}

// auc returns the probability that a toxic text has the higher P(yes), ties
// counted as half, with its 95 % interval by Hanley and McNeil (Radiology 143,
// 1982).
func auc(toxic, clean []float64) (area, low, high float64) {
	n, m := float64(len(toxic)), float64(len(clean))
	if n == 0 || m == 0 {
		return math.NaN(), 0, 1
	}
	isToxic := make([]bool, len(toxic)+len(clean))
	for i := range toxic {
		isToxic[i] = true
	}
	area = eval.AUC(slices.Concat(toxic, clean), isToxic)
	square := area * area
	variance := (area*(1-area) + (n-1)*(area/(2-area)-square) + (m-1)*(2*square/(1+area)-square)) / (n * m)
	half := 1.959964 * math.Sqrt(max(variance, 0))
	return area, max(area-half, 0), min(area+half, 1)
}
