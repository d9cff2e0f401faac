package toxscreen_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen"
)

// numbered yields the numbers below n and counts how many were read.
func numbered(n int, taken *atomic.Int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			taken.Add(1)
			if !yield(i) {
				return
			}
		}
	}
}

func asText(i int) (string, error) { return fmt.Sprint(i), nil }

var clean = toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.1)}

func TestBatchKeepsOrderAndRowsThatFail(t *testing.T) {
	defer goleak.VerifyNone(t)
	screener := toxscreen.New(classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
		time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond) // rows finish out of order
		if text == "13" {
			return toxscreen.Classification{}, errors.New("cannot be scored")
		}
		return clean, nil
	}))
	noText := errors.New("has no text")
	want := 0
	for outcome := range toxscreen.Batch(t.Context(), screener, numbered(1000, new(atomic.Int64)), func(i int) (string, error) {
		if i == 42 {
			return "", noText
		}
		return fmt.Sprint(i), nil
	}) {
		if outcome.Row != want {
			t.Fatalf("got row %d, want %d", outcome.Row, want)
		}
		if failed := outcome.Err != nil; failed != (want == 13 || want == 42) {
			t.Errorf("row %d: error %v", want, outcome.Err)
		}
		want++
	}
	if want != 1000 {
		t.Errorf("got %d rows, want 1000", want)
	}
}

// While one slow row is scored, the rows after it must not pile up in memory.
func TestBatchReadAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		screener := toxscreen.New(classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
			if text == "0" {
				<-release
			}
			return clean, nil
		}))
		var taken atomic.Int64
		go func() {
			synctest.Wait() // until all wait for the first row
			// The window has 128 rows and two for each of the two classifiers; the consumer
			// holds one more, and the reader another.
			if ahead := taken.Load(); ahead != 128+2*2+2 {
				t.Errorf("%d rows were read while the first was in progress, want %d", ahead, 128+2*2+2)
			}
			close(release)
		}()
		n := 0
		for range toxscreen.Batch(t.Context(), screener, numbered(5000, &taken), asText) {
			n++
		}
		if n != 5000 {
			t.Errorf("got %d rows, want 5000", n)
		}
	})
}

func TestBatchEndsWithItsConsumerAndWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	screener := toxscreen.New(classify(func(ctx context.Context, _ string) (toxscreen.Classification, error) {
		return clean, ctx.Err()
	}))
	var taken atomic.Int64
	for outcome := range toxscreen.Batch(t.Context(), screener, numbered(1_000_000, &taken), asText) {
		if outcome.Row == 10 {
			break
		}
	}
	if taken.Load() > 10_000 {
		t.Errorf("%d rows were read after the consumer left", taken.Load())
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken.Store(0)
	scored := 0
	for outcome := range toxscreen.Batch(ctx, screener, numbered(1_000_000, &taken), asText) {
		if outcome.Row == 10 {
			cancel()
		}
		if outcome.Err == nil {
			scored++
		} else if !errors.Is(outcome.Err, context.Canceled) {
			t.Fatal(outcome.Err)
		}
	}
	if scored < 11 {
		t.Errorf("%d rows were scored, want those before the end of the context", scored)
	}
	if taken.Load() > 10_000 {
		t.Errorf("%d rows were read after the context had ended", taken.Load())
	}
}

// A slow judge does not delay the classifier and is never idle: a batch takes as
// long as its verdicts.
func TestBatchClassifiesWhileTheJudgeJudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var classified, judged, most atomic.Int64
		classifier := classify(func(_ context.Context, text string) (toxscreen.Classification, error) {
			time.Sleep(time.Millisecond)
			classified.Add(1)
			p := 0.1
			if strings.HasSuffix(text, "7") { // a tenth of all
				p = 0.5
			}
			return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, p)}, nil
		})
		judge := judging(func(string) (toxscreen.Verdict, error) {
			time.Sleep(100 * time.Millisecond)
			most.Store(max(most.Load(), classified.Load()-10*judged.Add(1)))
			return toxscreen.Verdict{}, nil
		})
		screener := toxscreen.New(classifier, opinion(nil, judge, fixed))
		start, want := time.Now(), 0
		for outcome := range toxscreen.Batch(t.Context(), screener, numbered(2000, new(atomic.Int64)), asText) {
			if outcome.Err != nil {
				t.Fatal(outcome.Err)
			}
			if outcome.Row != want {
				t.Fatalf("got row %d, want %d", outcome.Row, want)
			}
			if asked := outcome.Result.Judge.Asked; asked != (want%10 == 7) {
				t.Fatalf("row %d: asked %v", want, asked)
			}
			want++
		}
		// 200 verdicts of 100 ms, one at a time.
		if want != 2000 {
			t.Errorf("got %d rows, want 2000", want)
		}
		if took := time.Since(start); took < 20*time.Second || took > 20*time.Second+50*time.Millisecond {
			t.Errorf("the rows took %v, want slightly more than 20 s", took)
		}
		// The classifier runs ahead until the window is full: 128 rows, 2 for each
		// of the two classifiers and 64 for the one judge.
		if ahead := most.Load(); ahead < 150 || ahead > 196+10 {
			t.Errorf("the classifier was up to %d rows ahead, want nearly 196", ahead)
		}
	})
}
