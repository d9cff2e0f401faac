// Simulate shows what judges with known error rates would be worth on labelled texts,
// for docs/fusion.md; make simulate runs it:
//
//	go run ./scripts/bench/simulate -dev dev.jsonl -test test.jsonl -plot simulation.svg
//
// Both files are results of toxscreen batch --no-judge --full for rows with labels.
// Parameters are fitted on the dev rows, and everything is measured on the test rows, with
// weights by which a tenth of them is toxic. Only the answers of the judges are
// simulated, by random numbers. The tables go to standard output.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

// prior is the share of toxic texts that the rows are weighted to.
const prior = 0.1

func main() {
	log.SetFlags(0)
	dev := flag.String("dev", "", "`FILE` of labelled results to fit on")
	test := flag.String("test", "", "`FILE` of labelled results to measure on")
	plot := flag.String("plot", "", "`FILE` for the plot, as SVG")
	flag.Parse()
	if *dev == "" || *test == "" || *plot == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*dev, *test, *plot, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(dev, test, plot string, out io.Writer) error {
	fitted, err := read(dev)
	if err != nil {
		return err
	}
	measured, err := read(test)
	if err != nil {
		return err
	}
	if fitted.Model != measured.Model {
		return fmt.Errorf("failed to simulate: %s was scored by %s, %s by %s: score both with one model", dev, fitted.Model, test, measured.Model)
	}
	threshold, _ := fitted.Thresholds.Get(toxscreen.Toxicity)
	s := simulation{
		dev: fitted.Rows, test: measured.Rows, model: fitted.Model, thresholds: fitted.Thresholds,
		prices: fusion.Prices{FalseAlarm: 2 * threshold, Miss: 2 * (1 - threshold), Call: fusion.Default().Prices.Call},
	}
	outcomes, err := s.outcomes(context.Background())
	if err != nil {
		return err
	}
	if err := files.Write(plot, 0o644, drawing(outcomes).SVG); err != nil {
		return fmt.Errorf("failed to write %s: %w", plot, err)
	}
	_, err = io.WriteString(out, s.tables(outcomes))
	return err
}

func read(path string) (labelled.Results, error) {
	scored, err := labelled.Read(path, nil)
	if err == nil {
		err = scored.SetPrior(prior)
	}
	return scored, err
}

// drawing is the cost of errors by the share of judged texts: a line for each judge, with
// a point for each system.
func drawing(outcomes []outcome) report.Chart {
	var lines []report.Line
	for _, judge := range judges {
		line := report.Line{Name: judge.name}
		systems := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.judge != judge.name })
		slices.SortStableFunc(systems, func(a, b outcome) int { return cmp.Compare(a.judged, b.judged) })
		for i, o := range systems {
			line.X, line.Y = append(line.X, o.judged), append(line.Y, o.cost)
			if o.system == ours {
				line.Dots = []int{i}
			}
		}
		lines = append(lines, line)
	}
	return report.Lines("Price of the errors in 1,000 texts: classifier alone, fixed band, toxscreen (dots), judge everything", "share of texts that are judged", "price", false, lines...)
}
