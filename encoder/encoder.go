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
//	out, err := e.Run(ctx, text, &encoding) // filled by tokenizer.Encode(text, &encoding)
//	logits := out.Logits("topics")          // 4 for each of len(out.Windows) windows
//
// A text is divided into windows that fit the model. Windows that wait at the same
// time may share a run, see [Batching]. The logits of a window do not depend on the
// other windows in its run, except for rounding in a padded run. The caller decides
// what the logits mean.
//
// The model runs in ONNX Runtime, a shared library. [FindLibrary] finds it and the
// first Open loads it into the process, see [LoadLibrary].
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

// Open loads ONNX Runtime's library if that has not happened yet, opens the model
// and runs it on an empty text. It fails if the model's inputs or outputs are not
// as configured.
func Open(c Config) (*Encoder, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &Encoder{heads: slices.Clone(c.Heads), overlap: c.Window.Overlap}
	e.prefix, e.suffix = c.Tokenizer.Special()
	if e.room = c.Window.Tokens - len(e.prefix) - len(e.suffix); e.room < 4 {
		return nil, fmt.Errorf("a window of %d tokens leaves only %d for the text", c.Window.Tokens, e.room)
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
	// Short is the text length in bytes that Parallel applies to: texts of that length
	// share runs. For texts of twice the length or more, which do not share runs, an
	// eighth of Parallel is enough. 0 means that the length makes no difference.
	Short int
}

// Info describes the encoder.
func (e *Encoder) Info() Info {
	return Info{Parallel: e.runner.sharing.parallel, Short: e.runner.sharing.short}
}

// Output is what the heads of a model return for one text. The caller owns it.
type Output struct {
	// Windows holds the tokens that each window saw, in text order. Each token of the
	// text is in one window or more: neighbours share some.
	Windows []Range

	heads  []Head
	logits [][]float32 // of each head
}

// Range is a range of a text's tokens, End exclusive. Only the one window of a text
// without tokens is empty.
type Range struct{ Start, End int }

// Len returns the number of tokens.
func (r Range) Len() int { return r.End - r.Start }

// Logits returns the logits of the head with the given name, float32 row by row:
// [windows, columns] for [TextClassification] and [tokens, columns] for
// [TokenClassification], where each row comes from the window that owns the token.
// It returns nil if there is no such head.
func (o Output) Logits(head string) []float32 {
	for i := range o.heads {
		if o.heads[i].Name == head {
			return o.logits[i]
		}
	}
	return nil
}

// Run runs the model on a text. enc must be the encoding of that text. The windows of
// a long text run concurrently. When ctx ends, active runs stop, except runs that
// windows of another caller share. A logit of a text classification that is not
// finite is an error.
func (e *Encoder) Run(ctx context.Context, text string, enc *tokenize.Encoding) (Output, error) {
	windows := divide(text, enc.Offsets, e.room, e.overlap)
	out := Output{Windows: make([]Range, len(windows)), heads: e.heads, logits: make([][]float32, len(e.heads))}
	for i, w := range windows {
		out.Windows[i] = Range{w.start, w.end}
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

// check returns an error if a logit of a text classification is not finite.
func (o Output) check() error {
	for h, head := range o.heads {
		if head.Task != TextClassification {
			continue
		}
		for i, z := range o.logits[h] {
			if z-z != 0 {
				return fmt.Errorf("the model returned the logit %v in window %d of %d", z, i/head.Columns+1, len(o.Windows))
			}
		}
	}
	return nil
}
