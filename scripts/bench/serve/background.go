//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// long is the minimum length in bytes of a long text. It ends with the part that reaches it.
const long = 8000

// background prints how long answers take at a moderate rate, alone and while one
// connection always has a long text under way.
func background(ctx context.Context, c config, sets []set) error {
	parts, err := readTexts(c.background)
	if err != nil {
		return err
	}
	joined := join(parts)
	if len(joined) == 0 {
		return fmt.Errorf("%s has fewer than %d bytes of text", c.background, long)
	}
	s, err := startOurs(ctx, c.binary)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, of := range sets {
		if err := beside(ctx, c, s, of, joined); err != nil {
			return err
		}
	}
	return nil
}

// join returns long texts: neighbours, one to a line. The last ones may be left over.
func join(parts []string) (joined []string) {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part + "\n")
		if text.Len() >= long {
			joined = append(joined, text.String())
			text.Reset()
		}
	}
	return joined
}

func beside(ctx context.Context, c config, s *server, of set, joined []string) error {
	if _, err := s.saturate(ctx, of.texts[:min(len(of.texts), 200)], 1); err != nil {
		return err
	}
	short, longs := map[bool]*outcome{false: {}, true: {}}, &outcome{}
	for turn := range c.turns {
		for _, loaded := range []bool{turn%2 != 0, turn%2 == 0} { // so a machine that becomes slower affects both
			ended := func() error { return nil }
			if loaded {
				ended = s.startSteadily(ctx, joined, longs)
			}
			o, err := s.at(ctx, of.texts, c.rate, c.time)
			if err := errors.Join(err, ended()); err != nil {
				return err
			}
			short[loaded].add(o)
		}
	}
	if len(short[false].accepted) == 0 || len(short[true].accepted) == 0 || len(longs.accepted) == 0 {
		return errors.New("failed to measure times beside long texts: there are no accepted requests; use a longer -time")
	}
	fmt.Printf("\nTime of an answer beside long texts, ms: %d turns of %s\n\n", c.turns, c.time)
	fmt.Println("| | rate | accepted | p50 | p99 | p99/p50 | refused |")
	fmt.Println("|---|---|---|---|---|---|---|")
	fmt.Printf("| %s alone | %.0f/s | %s | %d |\n", of.name, c.rate, quantiles(short[false].accepted), len(short[false].refused))
	fmt.Printf("| %s beside long texts | %.0f/s | %s | %d |\n", of.name, c.rate, quantiles(short[true].accepted), len(short[true].refused))
	fmt.Printf("| long texts, one connection | %.1f/s | %s | %d |\n", float64(len(longs.accepted))/longs.took.Seconds(), quantiles(longs.accepted), len(longs.refused))
	return nil
}

// startSteadily starts to score texts on one connection. The function that it returns ends that, and
// adds the outcome to the sum.
func (s *server) startSteadily(ctx context.Context, texts []string, sum *outcome) func() error {
	ctx, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		o, err := s.steadily(ctx, texts)
		sum.add(o)
		failed <- err
	}()
	return func() error {
		stop()
		return <-failed
	}
}

// add adds another load of the same kind.
func (o *outcome) add(other outcome) {
	o.took += other.took
	o.accepted, o.refused = append(o.accepted, other.accepted...), append(o.refused, other.refused...)
	for _, times := range [][]time.Duration{o.accepted, o.refused} {
		slices.Sort(times)
	}
}
