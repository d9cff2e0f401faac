package encoder

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// Which waiting windows share a run: the one that is due first goes first,
// together with those that its batching allows.
func TestWindowsThatShareARun(t *testing.T) {
	for _, test := range []struct {
		batching Batching
		waiting  []int // tokens of each, in order of arrival
		runs     [][]int
	}{
		{Single, []int{5, 5, 5}, [][]int{{5}, {5}, {5}}},
		{Bucketed, []int{12, 30, 12, 40, 30, 12, 40}, [][]int{{12, 12, 12}, {30, 30}, {40, 40}}},
		{Bucketed, slices.Repeat([]int{30}, 4), [][]int{{30, 30, 30}, {30}}}, // 96 tokens
		{Bucketed, []int{49, 49, 48, 48}, [][]int{{49}, {49}, {48, 48}}},
		{Bucketed, slices.Repeat([]int{2}, 18), [][]int{slices.Repeat([]int{2}, 16), {2, 2}}},
		{Bucketed, []int{256, 3}, [][]int{{256}, {3}}},
		{Padded, []int{12, 512, 3}, [][]int{{12, 512, 3}}},
		{Padded, slices.Repeat([]int{3}, 65), [][]int{slices.Repeat([]int{3}, 64), {3}}},
		{Padded, append([]int{3}, slices.Repeat([]int{512}, 33)...), [][]int{append([]int{3}, slices.Repeat([]int{512}, 31)...), {512, 512}}},
	} {
		t.Run(fmt.Sprint(test.batching, test.waiting), func(t *testing.T) {
			r := &runner{sharing: sharingOf(test.batching, 2)}
			r.arrived.L = &r.lock
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			for _, tokens := range test.waiting {
				r.waiting = append(r.waiting,
					&job{ctx: t.Context(), ids: make([]int64, tokens)},
					&job{ctx: gone, ids: make([]int64, tokens)}) // its caller has cancelled
			}
			var runs [][]int
			for len(r.waiting) > 0 {
				var run []int
				for _, j := range r.next() {
					run = append(run, len(j.ids))
				}
				runs = append(runs, run)
			}
			if !reflect.DeepEqual(runs, test.runs) {
				t.Errorf("runs of %v tokens, want %v", runs, test.runs)
			}
		})
	}
}

// Short texts go before long ones that came a little earlier, but not for ever. Windows at
// different stages never share a run.
func TestWhichWindowIsDueFirst(t *testing.T) {
	r := &runner{sharing: sharingOf(Bucketed, 2)}
	r.arrived.L = &r.lock
	arrive := func(tokens int) {
		r.add(&job{ctx: t.Context(), ids: make([]int64, tokens), size: tokens})
	}
	for range 3 {
		arrive(100)
	}
	for range 40 {
		arrive(20)
	}
	var lengths []int
	for len(r.waiting) > 0 {
		for _, j := range r.next() {
			lengths = append(lengths, len(j.ids))
		}
	}
	// 4·100 tokens may go before the first long text: those of 16 short ones, which were due at
	// most 4·80 tokens after they came.
	first := slices.Index(lengths, 100)
	if first < 1 {
		t.Errorf("no short text went before the first long one: %v", lengths)
	}
	if first > 24 {
		t.Errorf("%d short texts went before the first long one: %v", first, lengths)
	}
	if !slices.Contains(lengths[first:], 20) {
		t.Errorf("all short texts went before the first long one: %v", lengths)
	}

	for stage := range 2 {
		r.wait(&job{ctx: t.Context(), ids: make([]int64, 7), stage: stage})
	}
	if batch := r.next(); len(batch) != 1 {
		t.Errorf("%d windows of two stages run together", len(batch))
	}
	if n := len(r.waiting); n != 1 {
		t.Errorf("%d windows still wait, want one", n)
	}
}
