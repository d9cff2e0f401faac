//go:build linux

// Serve measures toxscreen serve over loopback and prints Markdown:
//
//	go build -C scripts/bench/serve -o "$PWD/build/bench/serve" .
//	build/bench/serve -binary bin/toxscreen build/bench/natural.jsonl build/bench/chat.jsonl
//	build/bench/serve -minutes 30 …
//	build/bench/serve -compare scripts/bench/serve/compare -python .venv/bin/python …
//	build/bench/serve -background build/bench/natural.jsonl …
//
// It is a separate module, so that toxscreen does not depend on the generator of load.
//
// The arguments are sets of texts from scripts/bench/texts.py. For each of them it
// first compares its throughput at saturation with that of toxscreen batch on the
// same texts, interleaved. It then measures the time of an answer with one caller, in
// a burst of requests that come at once, at 70 % of that throughput and at three times
// it, where requests that are not accepted must be refused quickly; and at 70 % also
// the times of texts of similar length, since a long text takes longer than a short one.
// With -minutes it then measures resident memory under load of the first set.
//
// With -compare it instead compares throughput with Python servers, interleaved. With
// -background it instead measures the time of an answer at -rate, alone and beside
// long texts, interleaved.
//
// The load comes from the same machine and takes a share of it, a tenth or more if
// texts are short: ratios of throughput are low rather than high. The processor time
// shows what the server itself costs in addition to batch.
//
// Connections are kept alive. For throughput there are 8 per core, and the server
// has --queue-wait 1m, so it refuses nothing. For requests at a fixed rate there
// are as many as needed, and the server has the settings of TOXSCREEN_* and its
// defaults. It needs Linux.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	var c config
	flag.StringVar(&c.binary, "binary", "bin/toxscreen", "the `FILE` built by make build")
	flag.IntVar(&c.turns, "turns", 5, "number of turns for each side")
	flag.IntVar(&c.piece, "piece", 1000, "number of texts scored per turn; a set with fewer is scored repeatedly")
	flag.DurationVar(&c.time, "time", 30*time.Second, "duration of requests at a fixed rate, in each turn")
	flag.IntVar(&c.minutes, "minutes", 0, "minutes for which memory is measured; 0: not measured")
	flag.StringVar(&c.compare, "compare", "", "`FOLDER` of the Python servers to compare with")
	flag.StringVar(&c.python, "python", "python3", "the interpreter with these servers' packages")
	flag.StringVar(&c.model, "model", "build/bench/whole", "`FOLDER` from scripts/bench/whole.py, for these servers")
	flag.StringVar(&c.background, "background", "", "JSONL `FILE` whose texts are joined to long ones")
	flag.Float64Var(&c.rate, "rate", 200, "requests per second beside long texts")
	flag.Parse()
	c.files = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, c)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve: "+err.Error())
		os.Exit(1)
	}
}

type config struct {
	binary                 string
	files                  []string
	turns, piece           int
	time                   time.Duration
	minutes                int
	compare, python, model string
	background             string
	rate                   float64
}

// set is a set of texts. It is named like its file.
type set struct {
	name  string
	texts []string
}

// piece returns the texts that are scored in a turn.
func (s set) piece(c config, turn int) []string {
	texts := make([]string, c.piece)
	for i := range texts {
		texts[i] = s.texts[(turn*c.piece+i)%len(s.texts)]
	}
	return texts
}

// connections is the number of connections for throughput measurements.
var connections = 8 * runtime.NumCPU()

func run(ctx context.Context, c config) error {
	if len(c.files) == 0 || c.turns < 1 || c.piece < 1 {
		return errors.New("give files of texts, and at least one turn and one text in a piece")
	}
	var sets []set
	for _, file := range c.files {
		texts, err := readTexts(file)
		if err != nil {
			return err
		}
		sets = append(sets, set{strings.TrimSuffix(filepath.Base(file), ".jsonl"), texts})
	}
	fmt.Printf("%d cores, load %s at the start\n", runtime.NumCPU(), loadAverage())
	switch {
	case c.compare != "":
		return compare(ctx, c, sets)
	case c.background != "":
		return background(ctx, c, sets)
	}
	waiting, err := startOurs(ctx, c.binary, patient...)
	if err != nil {
		return err
	}
	defer waiting.stop()
	s, err := startOurs(ctx, c.binary)
	if err != nil {
		return err
	}
	defer s.stop()
	for i, of := range sets {
		throughput, err := againstBatch(ctx, c, waiting, of)
		if err != nil {
			return err
		}
		if err := rates(ctx, c, s, of, throughput); err != nil {
			return err
		}
		if i == 0 && c.minutes > 0 {
			if err := memory(ctx, c, s, of, throughput); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTexts reads the texts of a JSONL file: at least one.
func readTexts(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", file, len(texts)+1, err)
		}
		texts = append(texts, row.Text)
	}
	if lines.Err() == nil && len(texts) == 0 {
		return nil, fmt.Errorf("%s has no texts", file)
	}
	return texts, lines.Err()
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}

// againstBatch prints the throughput at saturation against that of batch, and
// returns it in texts per second.
func againstBatch(ctx context.Context, c config, s *server, of set) (float64, error) {
	folder, err := os.MkdirTemp("", "bench-serve-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	start, startCost, err := batch(ctx, c.binary, folder, of.texts[:1]) // includes loading the model, which the server has already done
	if err != nil {
		return 0, err
	}
	if _, err := s.saturate(ctx, of.texts[:min(len(of.texts), 200)], connections); err != nil {
		return 0, err
	}
	var served, batched, servedCost, batchedCost time.Duration
	var ratios []float64
	for turn := range c.turns {
		piece := of.piece(c, turn)
		// The side that is first in one turn is second in the next.
		var byBatch, byServe time.Duration
		for _, ours := range []bool{turn%2 == 0, turn%2 != 0} {
			if !ours {
				took, cost, err := batch(ctx, c.binary, folder, piece)
				if err != nil {
					return 0, err
				}
				byBatch = took - start
				batchedCost += cost - startCost
				continue
			}
			before, err := s.cost()
			if err != nil {
				return 0, err
			}
			outcome, err := s.saturate(ctx, piece, connections)
			if err != nil {
				return 0, err
			}
			after, err := s.cost()
			if err != nil {
				return 0, err
			}
			byServe = outcome.took
			servedCost += after - before
		}
		served, batched = served+byServe, batched+byBatch
		ratios = append(ratios, byBatch.Seconds()/byServe.Seconds())
	}
	slices.Sort(ratios)
	fmt.Printf("\nThroughput, %s: %d turns of %d texts, %d keep-alive connections\n\n", of.name, c.turns, c.piece, connections)
	fmt.Println("| | texts/s | serve is | of the turns: lowest, median, highest | processor ms a text | serve is |")
	fmt.Println("|---|---|---|---|---|---|")
	n := float64(c.turns * c.piece)
	fmt.Printf("| serve | %.1f | | | %.2f | |\n", n/served.Seconds(), 1000*servedCost.Seconds()/n)
	fmt.Printf("| batch | %.1f | %.3f × | %.3f, %.3f, %.3f | %.2f | %.3f × |\n", n/batched.Seconds(), batched.Seconds()/served.Seconds(),
		ratios[0], ratios[len(ratios)/2], ratios[len(ratios)-1], 1000*batchedCost.Seconds()/n, batchedCost.Seconds()/servedCost.Seconds())
	return n / served.Seconds(), nil
}

// partly is the exit code of batch if some texts are in another language.
const partly = 3

// batch returns how long toxscreen batch takes for texts, and its processor
// time.
func batch(ctx context.Context, binary, folder string, texts []string) (took, cost time.Duration, err error) {
	given := filepath.Join(folder, "given.jsonl")
	var rows strings.Builder
	for _, text := range texts {
		row, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			return 0, 0, err
		}
		rows.Write(append(row, '\n'))
	}
	if err := os.WriteFile(given, []byte(rows.String()), 0o600); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	c := exec.CommandContext(ctx, binary, "batch", "--no-judge", "-q", "--overwrite", "-i", given, "-o", filepath.Join(folder, "scored.jsonl"))
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState.ExitCode() != partly {
		return 0, 0, fmt.Errorf("failed to run toxscreen batch: %w: %s", err, out)
	}
	return time.Since(began), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// burst is the number of requests in a burst: comments of a page that a client
// has scored all at once.
const burst = 60

// rates prints how long answers take with one caller, in a burst, at 70 % of a
// throughput and at three times it.
func rates(ctx context.Context, c config, s *server, of set, throughput float64) error {
	texts := of.texts
	alone, err := s.saturate(ctx, texts[:min(c.piece, len(texts))], 1)
	if err != nil {
		return err
	}
	together, err := s.once(ctx, texts[:min(burst, len(texts))], burst)
	if err != nil {
		return err
	}
	usual, err := s.at(ctx, texts, 0.7*throughput, c.time)
	if err != nil {
		return err
	}
	over, err := s.at(ctx, texts, 3*throughput, c.time)
	if err != nil {
		return err
	}
	if len(together.accepted) == 0 || len(usual.accepted) == 0 || len(over.accepted) == 0 || len(over.refused) == 0 {
		return errors.New("failed to measure times: there are no accepted or no refused requests; use a longer -time")
	}
	fmt.Printf("\nTime of an answer, %s, ms: requests at a fixed rate for %s, as many keep-alive connections as needed\n\n", of.name, c.time)
	fmt.Println("| | rate | accepted | p50 | p99 | p99/p50 | refused with 429 | with 503 | refused p50 | p99 | longest | within 20 ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, row := range []struct {
		name string
		rate float64
		outcome
	}{{"one caller", 0, alone}, {fmt.Sprintf("%d at once", burst), 0, together}, {"70 % load", 0.7 * throughput, usual}, {"3 × overload", 3 * throughput, over}} {
		rate := "its own"
		if row.rate > 0 {
			rate = fmt.Sprintf("%.0f/s", row.rate)
		}
		fmt.Printf("| %s | %s | %s | %d | %d |", row.name, rate, quantiles(row.accepted), row.statuses[429], row.statuses[503])
		if len(row.refused) > 0 {
			soon, _ := slices.BinarySearch(row.refused, 20*time.Millisecond)
			fmt.Printf(" %s | %s | %s | %.1f %% |\n", milliseconds(quantile(row.refused, 0.5)), milliseconds(quantile(row.refused, 0.99)), milliseconds(row.refused[len(row.refused)-1]), 100*float64(soon)/float64(len(row.refused)))
		} else {
			fmt.Println(" | | | |")
		}
	}
	fmt.Printf("\nTime of an answer at 70 %% load by the length of the text, %s, ms\n\n", of.name)
	fmt.Println("| bytes | accepted | p50 | p99 | p99/p50 |")
	fmt.Println("|---|---|---|---|---|")
	for i, times := range byLength(texts, usual) {
		if len(times) > 0 {
			fmt.Printf("| %s | %s |\n", classes[i].name, quantiles(times))
		}
	}
	return nil
}

// classes are classes of texts by their length.
var classes = []struct {
	name string
	most int // bytes
}{{"up to 100", 100}, {"to 300", 300}, {"to 1,000", 1000}, {"more", math.MaxInt}}

// byLength returns the times of accepted answers to texts of each class, in order.
func byLength(texts []string, o outcome) [][]time.Duration {
	times := make([][]time.Duration, len(classes))
	for i, took := range o.of {
		class := 0
		for len(texts[i]) > classes[class].most {
			class++
		}
		times[class] = append(times[class], took...)
	}
	for _, of := range times {
		slices.Sort(of)
	}
	return times
}

// quantiles returns the cells of a table: the number of times, p50, p99 and their ratio.
func quantiles(times []time.Duration) string {
	p50, p99 := quantile(times, 0.5), quantile(times, 0.99)
	return fmt.Sprintf("%d | %s | %s | %.1f", len(times), milliseconds(p50), milliseconds(p99), p99.Seconds()/p50.Seconds())
}

// memory prints resident memory while requests come at 70 % of a throughput.
func memory(ctx context.Context, c config, s *server, of set, throughput float64) error {
	length := time.Duration(c.minutes) * time.Minute
	sampling, stop := context.WithCancel(ctx)
	defer stop()
	samples := make(chan []float64, 1)
	go func() { samples <- s.watch(sampling) }()
	if _, err := s.at(ctx, of.texts, 0.7*throughput, length); err != nil {
		return err
	}
	stop()
	seen := <-samples
	if len(seen) < 20 {
		return fmt.Errorf("failed to measure memory: there are only %d samples", len(seen))
	}
	fmt.Printf("\nResident memory under 70 %% load, %s, for %s, highest of each tenth, MB:\n\n", of.name, length)
	tenth := len(seen) / 10
	for i := range 10 {
		fmt.Printf("| %.1f ", slices.Max(seen[i*tenth:(i+1)*tenth]))
	}
	fmt.Println("|")
	return nil
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f", 1000*d.Seconds()) }

// quantile returns a quantile of sorted times.
func quantile(times []time.Duration, q float64) time.Duration {
	return times[min(int(q*float64(len(times))), len(times)-1)]
}
