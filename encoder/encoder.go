// Package encoder runs transformer encoders, ONNX models with one or more heads, on
// texts of any length:
//
//	e, err := encoder.Open(encoder.Config{
//		Model: onnx, Tokenizer: tokenizer, Inputs: []string{"input_ids", "attention_mask"},
//		Heads:  []encoder.Head{{Name: "topics", Output: "logits", Task: encoder.TextClassification, Columns: 4}},
//		Window: encoder.Window{Tokens: 256, Overlap: 32},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer e.Close()
//	out, err := e.Run(ctx, text, &encoding) // what tokenizer.Encode made of text
//	logits := out.Logits("topics")          // 4 for each of len(out.Windows) windows
//
// A text is divided into windows that the model can take. Windows that wait at the same
// time may share a run, see [Batching]; the logits of a window do not depend on the
// others in its run, but for the rounding of a padded run. What the logits mean is the
// caller's to know.
//
// The model runs in ONNX Runtime, a shared library that [FindLibrary] looks for and
// that the first Open loads into the process, see [LoadLibrary].
package encoder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen/tokenize"
)

// Encoder runs one model. It is safe for concurrent use.
type Encoder struct {
	heads          []Head
	room           int // tokens of a text in one window
	overlap        int // tokens
	prefix, suffix []int64
	runner         *runner
	closing        sync.Once
	closeErr       error
}

// Open loads ONNX Runtime's library where that has not happened yet, opens the
// model and runs it on an empty text, so that a model whose inputs or outputs are
// not as configured is refused here.
func Open(c Config) (*Encoder, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &Encoder{heads: slices.Clone(c.Heads), overlap: c.Window.Overlap}
	e.prefix, e.suffix = c.Tokenizer.Special()
	if e.room = c.Window.Tokens - len(e.prefix) - len(e.suffix); e.room < 4 {
		return nil, fmt.Errorf("a window of %d tokens leaves %d to the text", c.Window.Tokens, e.room)
	}
	if _, err := LoadLibrary(c.Library, c.Provider); err != nil {
		return nil, err
	}
	var err error
	if e.runner, err = newRunner(c, sharingOf(c.Batching, c.Threads)); err != nil {
		return nil, err
	}
	if _, err := e.Run(context.Background(), "", new(tokenize.Encoding)); err != nil {
		return nil, errors.Join(fmt.Errorf("the model's inputs or outputs are not as configured: %w", err), e.Close())
	}
	return e, nil
}

// Close waits for the runs under way and frees the model's memory. Calls of
// Run fail afterwards.
func (e *Encoder) Close() error {
	e.closing.Do(func() { e.closeErr = e.runner.close() })
	return e.closeErr
}

// Info describes an open encoder.
type Info struct {
	// Parallel is how many calls of Run at once keep the encoder busy.
	Parallel int
	// Short is the length in bytes of the texts that Parallel is for, as texts of
	// that length share runs. An eighth of Parallel suffices for texts of twice the
	// length or more, which share none. 0 means that the length makes no difference.
	Short int
}

// Info describes the encoder.
func (e *Encoder) Info() Info {
	return Info{Parallel: e.runner.sharing.parallel, Short: e.runner.sharing.short}
}

// Output is what the heads of a model return for one text. It is the caller's to keep.
type Output struct {
	// Windows holds for each window, in the order of the text, how many tokens it
	// speaks for. Together they speak for each token of the text once.
	Windows []int

	heads  []Head
	logits [][]float32 // of each head
}

// Logits returns the logits of the head with the given name, float32 row by row:
// [windows, columns] for [TextClassification] and [tokens, columns] for
// [TokenClassification], whose rows each come from the window that speaks for the
// token. It returns nil where there is no such head.
func (o Output) Logits(head string) []float32 {
	for i := range o.heads {
		if o.heads[i].Name == head {
			return o.logits[i]
		}
	}
	return nil
}

// Run runs the model on a text, whose encoding enc must be. The windows of a long
// text run side by side. The end of ctx stops runs under way, except those that
// another caller's windows share. A logit of a text classification that is not finite
// is an error.
func (e *Encoder) Run(ctx context.Context, text string, enc *tokenize.Encoding) (Output, error) {
	windows := divide(text, enc.Offsets, e.room, e.overlap)
	out := Output{Windows: make([]int, len(windows)), heads: e.heads, logits: make([][]float32, len(e.heads))}
	for i, w := range windows {
		out.Windows[i] = w.to - w.from
	}
	for h, head := range e.heads {
		rows := len(windows)
		if head.Task == TokenClassification {
			rows = len(enc.IDs)
		}
		out.logits[h] = make([]float32, rows*head.Columns)
	}
	one := func(ctx context.Context, i int) error {
		w := windows[i]
		return e.runner.run(ctx, &job{
			ids:    slices.Concat(e.prefix, enc.IDs[w.start:w.end], e.suffix),
			skip:   len(e.prefix) + w.from - w.start,
			index:  i,
			from:   w.from,
			to:     w.to,
			logits: out.logits,
		})
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
	if err == nil {
		err = out.check()
	}
	if err != nil {
		return Output{}, err
	}
	return out, nil
}

// check refuses logits of text classifications that are not finite.
func (o Output) check() error {
	for h, head := range o.heads {
		if head.Task != TextClassification {
			continue
		}
		for i, z := range o.logits[h] {
			if z-z != 0 {
				return fmt.Errorf("the model gave the logit %v in window %d of %d", z, i/head.Columns+1, len(o.Windows))
			}
		}
	}
	return nil
}
