//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// arrangement is a configuration of a Python server.
type arrangement struct {
	app     string // a file in scripts/bench/serve/compare
	workers int    // processes
	threads int    // per run
	turns   int    // concurrent runs per process
}

func (a arrangement) String() string {
	return fmt.Sprintf("%s, %d × %d runs of %d threads", a.app, a.workers, a.turns, a.threads)
}

// arrangements are the configurations tried for each app; the fastest is used for
// the comparison.
func arrangements(app string) []arrangement {
	cores := runtime.NumCPU()
	return []arrangement{
		{app: app, workers: cores, threads: 1, turns: 1},
		{app: app, workers: 1, threads: 1, turns: cores},
		{app: app, workers: 1, threads: cores, turns: 1},
	}
}

// compare prints our throughput, with exits, against that of Python servers, which run the
// whole network.
func compare(ctx context.Context, c config, sets []set) error {
	for _, app := range []string{"onnx", "bert"} {
		for _, of := range sets {
			if err := compareWith(ctx, c, app, of); err != nil {
				return err
			}
		}
	}
	return nil
}

func compareWith(ctx context.Context, c config, app string, of set) error {
	ours, err := startOurs(ctx, c.binary, patient...)
	if err != nil {
		return err
	}
	defer ours.stop()
	if _, err := ours.saturate(ctx, of.texts[:min(100, len(of.texts))], connections); err != nil {
		return err
	}
	fmt.Printf("\nAgainst FastAPI, %s, %s: %d keep-alive connections\n\n", app, of.name, connections)
	fmt.Println("| tried on the first texts | texts/s |")
	fmt.Println("|---|---|")
	var theirs *server
	fastest := time.Duration(0)
	for _, a := range arrangements(app) {
		s, err := startTheirs(ctx, c, a)
		if err != nil {
			return err
		}
		try := of.piece(c, 0)[:min(200, c.piece)]
		_, err = s.saturate(ctx, try, connections)
		var o outcome
		if err == nil {
			o, err = s.saturate(ctx, try, connections)
		}
		if err != nil {
			s.stop()
			return err
		}
		fmt.Printf("| %s | %.1f |\n", a, float64(len(try))/o.took.Seconds())
		if theirs != nil && o.took >= fastest {
			s.stop()
			continue
		}
		if theirs != nil {
			theirs.stop()
		}
		theirs, fastest = s, o.took
		defer s.stop()
	}
	took := map[*server]time.Duration{}
	var ratios []float64
	for turn := range c.turns {
		piece := of.piece(c, turn)
		inTurn := map[*server]time.Duration{}
		both := []*server{ours, theirs}
		if turn%2 != 0 { // so a machine that becomes slower affects both
			slices.Reverse(both)
		}
		for _, s := range both {
			o, err := s.saturate(ctx, piece, connections)
			if err != nil {
				return err
			}
			inTurn[s] = o.took
			took[s] += o.took
		}
		ratios = append(ratios, inTurn[theirs].Seconds()/inTurn[ours].Seconds())
	}
	slices.Sort(ratios)
	n := float64(c.turns * c.piece)
	fmt.Printf("\n| %d turns of %d texts of %s | texts/s | toxscreen is | of the turns: lowest, median, highest |\n", c.turns, c.piece, of.name)
	fmt.Println("|---|---|---|---|")
	fmt.Printf("| toxscreen | %.1f | | |\n", n/took[ours].Seconds())
	fmt.Printf("| %s | %.1f | %.2f × | %.2f, %.2f, %.2f |\n", theirs.name, n/took[theirs].Seconds(), took[theirs].Seconds()/took[ours].Seconds(),
		ratios[0], ratios[len(ratios)/2], ratios[len(ratios)-1])
	return nil
}
