// Package encoder runs transformer encoders, ONNX models with one or more heads, on
// texts of any length:
//
//	e, err := encoder.Open(encoder.Config{
//		Stages: []encoder.Stage{{
//			Model:  onnx,
//			Inputs: []string{"input_ids", "attention_mask"},
//			Heads:  []encoder.Head{{Name: "topics", Output: "logits", Task: encoder.TextClassification, Columns: 4}},
//		}},
//		Tokenizer: tokenizer,
//		Window:    encoder.Window{Tokens: 256, Overlap: 32},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer e.Close()
//	out, err := e.Run(ctx, text, &encoding, nil) // filled by tokenizer.Encode(text, &encoding)
//	logits := out.Logits("topics")          // 4 for each of len(out.Windows) windows
//
// A text is divided into windows that fit the model. Windows that wait at the same time may
// share a run, see [Batching]. Sharing does not change their logits, except for rounding in a
// padded run. The caller decides what the logits mean.
//
// A model may have several stages. A window whose answer is clear after an early one
// need not run through the others: the caller decides, see [Leave].
//
// The model runs in ONNX Runtime, a shared library. [FindLibrary] finds it and the
// first Open loads it into the process, see [LoadLibrary].
package encoder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/tokenize"
)

// Encoder runs one model. It is safe for concurrent use.
type Encoder struct {
	heads          []Head // of the exits and the last stage
	shapes         bool   // whether a stage takes [tokenShapes]
	room           int    // tokens of a text in one window
	overlap        int    // tokens
	prefix, suffix []int64
	runner         *runner
	closing        sync.Once
	closeErr       error
}

// Open loads ONNX Runtime's library if that has not happened yet, opens the model
// and runs it on an empty text. It fails if the model's inputs or outputs are not
// as configured.
func Open(c Config) (*Encoder, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &Encoder{overlap: c.Window.Overlap}
	for _, stage := range c.Stages {
		if stage.Exit != nil {
			e.heads = append(e.heads, stage.Exit.Head)
		}
		e.shapes = e.shapes || slices.Contains(stage.Inputs, tokenShapes)
		e.heads = append(e.heads, stage.Heads...)
	}
	e.prefix, e.suffix = c.Tokenizer.Special()
	if e.room = c.Window.Tokens - len(e.prefix) - len(e.suffix); e.room < 4 {
		return nil, fmt.Errorf("a window of %s leaves only %d for the text: it must leave 4 or more", plural.Count(c.Window.Tokens, "token", "tokens"), e.room)
	}
	if _, err := LoadLibrary(c.Library, c.Provider); err != nil {
		return nil, err
	}
	var err error
	if e.runner, err = newRunner(c, sharingOf(c.Batching, c.Threads)); err != nil {
		return nil, err
	}
	stays := func(int, []float32) bool { return false } // so that every stage and every exit runs
	if _, err := e.Run(context.Background(), "", new(tokenize.Encoding), stays); err != nil {
		return nil, errors.Join(fmt.Errorf("the model's inputs or outputs are not as configured: %w", err), e.Close())
	}
	return e, nil
}

// Close waits for active runs and frees the model's memory. Later calls of
// Run fail.
func (e *Encoder) Close() error {
	e.closing.Do(func() { e.closeErr = e.runner.close() })
	return e.closeErr
}

// Info describes an open encoder.
type Info struct {
	// Parallel is how many concurrent calls of Run keep the encoder busy.
	Parallel int
	// Short is the length of a text in bytes to which Parallel applies: texts of that
	// length share runs. Texts of twice the length or more do not, and an eighth of
	// Parallel is enough for them. 0 means that the length makes no difference.
	Short int
}

// Info describes the encoder.
func (e *Encoder) Info() Info { return e.runner.sharing.Info }

// InfoOf describes an encoder of a batching and a number of threads, 0 for [Config]'s default,
// before it is open.
func InfoOf(batching Batching, threads int) Info {
	return sharingOf(batching, cmp.Or(threads, runtime.GOMAXPROCS(0))).Info
}

// Leave reports whether a window leaves after a stage: later stages then do not run on it. stage
// is the index of the stage, and logits has one number for each column of its exit's head. Leave
// is called concurrently, must not keep logits, and delays other windows until it returns.
type Leave func(stage int, logits []float32) bool

// Output is what the heads of a model return for one text. The caller owns it.
type Output struct {
	// Windows holds the tokens that each window saw, in text order. Each token of the
	// text is in one window or more: neighbours share some.
	Windows []Range
	// Last is the index of the last stage that ran on each window.
	Last []int

	heads  []Head
	logits [][]float32 // of each head
}

// Range is a range of a text's tokens, End exclusive. It is empty only in a text without tokens.
type Range struct{ Start, End int }

// Len returns the number of tokens.
func (r Range) Len() int { return r.End - r.Start }

// Logits returns the logits of the head with the given name, float32 row by row:
// [windows, columns] for [TextClassification] and [tokens, columns] for
// [TokenClassification], where each row comes from the window that owns the token. A head
// that was not run on a window has rows of -Inf. It returns nil if there is no such head.
func (o Output) Logits(head string) []float32 {
	for i := range o.heads {
		if o.heads[i].Name == head {
			return o.logits[i]
		}
	}
	return nil
}

// Run runs the model on a text. enc must be the encoding of that text. The windows of
// a long text run concurrently. leave is asked after each stage that has an exit; nil
// runs all stages and no exit. When ctx ends, active runs stop, except runs that
// windows of another caller share. A logit of a text classification that is not
// finite is an error.
func (e *Encoder) Run(ctx context.Context, text string, enc *tokenize.Encoding, leave Leave) (Output, error) {
	windows := divide(text, enc.Offsets, e.room, e.overlap)
	out := Output{
		Windows: make([]Range, len(windows)), Last: make([]int, len(windows)),
		heads: e.heads, logits: make([][]float32, len(e.heads)),
	}
	for i, w := range windows {
		out.Windows[i] = Range{w.start, w.end}
	}
	for h, head := range e.heads {
		rows := len(windows)
		if head.Task == TokenClassification {
			rows = len(enc.IDs)
		}
		out.logits[h] = slices.Repeat([]float32{float32(math.Inf(-1))}, rows*head.Columns)
	}
	one := func(ctx context.Context, i int) error {
		w := windows[i]
		j := &job{
			ids:    slices.Concat(e.prefix, enc.IDs[w.start:w.end], e.suffix),
			size:   len(enc.IDs),
			skip:   len(e.prefix) + w.from - w.start,
			index:  i,
			from:   w.from,
			to:     w.to,
			logits: out.logits,
			leave:  leave,
		}
		if e.shapes {
			j.shapes = make([]int64, len(j.ids))
			for i := range w.end - w.start {
				j.shapes[len(e.prefix)+i] = shapeOf(text, enc.Offsets, w.start+i)
			}
		}
		err := e.runner.run(ctx, j)
		if err == nil {
			out.Last[i] = j.stage
		}
		return err
	}
	var err error
	if len(windows) == 1 {
		err = one(ctx, 0)
	} else {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(e.runner.sharing.ofText)
		for i := range windows {
			group.Go(func() error { return one(ctx, i) })
		}
		err = group.Wait()
	}
	if err != nil {
		return Output{}, err
	}
	return out, nil
}
