package classifier

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// Which of the windows that wait share a run: the one that has waited longest
// comes first and takes along what its batching allows.
func TestWindowsThatShareARun(t *testing.T) {
	for _, test := range []struct {
		batching Batching
		waiting  []int // tokens of each, in the order in which they came
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
					&job{ctx: gone, ids: make([]int64, tokens)}) // its caller has given up
			}
			var runs [][]int
			for len(r.waiting) > 0 {
				var run []int
				for _, w := range r.next() {
					run = append(run, len(w.ids))
				}
				runs = append(runs, run)
			}
			if !reflect.DeepEqual(runs, test.runs) {
				t.Errorf("runs of %v tokens, want %v", runs, test.runs)
			}
		})
	}
}

// What a text gets from the default model does not depend on the texts that
// share its run, to the last bit.
func TestDefaultModelGivesTheSameInEveryCompany(t *testing.T) {
	c, _ := openDefault(t, Bucketed)
	var texts []string
	for _, words := range []string{"you", "you are", "you are such a", "we know what you did and will find"} {
		for _, last := range []string{"idiot", "friend", "whore", "moron!", "dear reader, as ever", "f*ck", "1d10t"} {
			texts = append(texts, words+" "+last)
		}
	}
	texts = append(texts, strings.Repeat("a long text with a stupid idiot in it. ", 60))
	alone := make([]toxscreen.Classification, len(texts))
	var err error
	for i, text := range texts {
		if alone[i], err = c.Classify(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	var callers sync.WaitGroup
	for caller := range 64 {
		callers.Go(func() {
			for i := range texts {
				i := (i + caller) % len(texts)
				found, err := c.Classify(t.Context(), texts[i])
				if err != nil || !reflect.DeepEqual(found, alone[i]) {
					t.Errorf("%q: %+v, %v in company, %+v alone", texts[i], found, err, alone[i])
				}
			}
		})
	}
	callers.Wait()
}

// A caller that is gone takes nothing from those that share its run.
func TestCallersThatLeaveASharedRun(t *testing.T) {
	c, _ := openDefault(t, Bucketed)
	want, err := c.Classify(t.Context(), "you idiot")
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 100 {
		leaving, leave := context.WithCancel(t.Context())
		callers.Go(func() {
			if _, err := c.Classify(leaving, "my friend"); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		callers.Go(func() {
			if found, err := c.Classify(t.Context(), "you idiot"); err != nil || !reflect.DeepEqual(found, want) {
				t.Errorf("%+v, %v, want %+v", found, err, want)
			}
		})
		leave()
	}
	callers.Wait()
}
