package encoder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/tokenize"
)

// The heads of the models that the tests use.
const (
	texts  = "texts"
	tokens = "tokens"
)

// config reads a model folder; the manifest has everything that an encoder needs.
func config(t testing.TB, folder string) encoder.Config {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var manifest struct {
		Inputs   []string
		Outputs  struct{ Scores, Tokens string }
		Labels   []struct{ Scale string }
		Spans    struct{ Labels []any }
		Window   encoder.Window
		Variants []struct {
			File  string
			Exits []struct {
				Stage, File, Output, Hidden string
				Width                       int
			}
		}
	}
	if err := json.Unmarshal(read("manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	tokenizer, err := tokenize.Load(read("tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := encoder.Config{Tokenizer: tokenizer, Window: manifest.Window}
	variant, inputs := manifest.Variants[0], manifest.Inputs
	exitColumns := 1 // the doubt
	for _, label := range manifest.Labels {
		if label.Scale == "" {
			exitColumns++
		}
	}
	for i, e := range variant.Exits {
		head := encoder.Head{Name: fmt.Sprint("exit ", i+1), Output: e.Output, Task: encoder.TextClassification, Columns: exitColumns}
		c.Stages = append(c.Stages, encoder.Stage{
			Model: read(e.Stage), Inputs: inputs, Hidden: e.Hidden, Width: e.Width,
			Exit: &encoder.Exit{Model: read(e.File), Head: head},
		})
		inputs = []string{"attention_mask"}
	}
	c.Stages = append(c.Stages, encoder.Stage{Model: read(variant.File), Inputs: inputs, Heads: []encoder.Head{
		{Name: texts, Output: manifest.Outputs.Scores, Task: encoder.TextClassification, Columns: len(manifest.Labels)},
		{Name: tokens, Output: manifest.Outputs.Tokens, Task: encoder.TokenClassification, Columns: len(manifest.Spans.Labels)},
	}})
	return c
}

// tiny is a model with hand-set weights, windows of 32 tokens and both kinds of heads.
func tiny(t testing.TB) encoder.Config {
	return config(t, "../testdata/models/tiny")
}

func open(t testing.TB, c encoder.Config) *encoder.Encoder {
	t.Helper()
	e, err := encoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// run encodes a text and runs it through all stages and exits.
func run(ctx context.Context, e *encoder.Encoder, c encoder.Config, text string) (encoder.Output, error) {
	var enc tokenize.Encoding
	if err := c.Tokenizer.Encode(text, &enc); err != nil {
		return encoder.Output{}, err
	}
	return e.Run(ctx, text, &enc, func(int, []float32) bool { return false })
}

// Each head returns its own logits, regardless of which heads are read and in which order.
func TestHeads(t *testing.T) {
	c := tiny(t)
	both := c.Stages[0].Heads
	text := strings.Repeat("you are kind and wise. ", 30) + "you stupid idiot"
	var enc tokenize.Encoding
	if err := c.Tokenizer.Encode(text, &enc); err != nil {
		t.Fatal(err)
	}
	want, err := open(t, c).Run(t.Context(), text, &enc, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0 // tokens, from the first
	for _, w := range want.Windows {
		if w.Start > seen {
			t.Errorf("the window %v leaves a gap after token %d", w, seen)
		}
		if w.End <= seen {
			t.Errorf("the window %v ends before token %d", w, seen)
		}
		seen = w.End
	}
	if len(want.Windows) < 4 {
		t.Errorf("only %d windows: the text is too short for this test", len(want.Windows))
	}
	if seen != len(enc.IDs) {
		t.Errorf("the windows %v end before the last of %d tokens", want.Windows, len(enc.IDs))
	}
	if n := len(want.Logits(texts)); n != len(want.Windows)*both[0].Columns {
		t.Errorf("%d logits of %d windows", n, len(want.Windows))
	}
	if n := len(want.Logits(tokens)); n != len(enc.IDs)*both[1].Columns {
		t.Errorf("%d logits of %d tokens", n, len(enc.IDs))
	}
	// The model marks each word independently: only the last two.
	for i := range enc.IDs {
		row := want.Logits(tokens)[i*both[1].Columns:][:both[1].Columns]
		if marked := slices.Max(row) > 0; marked != (i >= len(enc.IDs)-2) {
			t.Errorf("token %d of %d has the logits %v", i, len(enc.IDs), row)
		}
	}
	if want.Logits("others") != nil {
		t.Error("an unknown head has logits")
	}
	for _, heads := range [][]encoder.Head{{both[1], both[0]}, {both[0]}, {both[1]}} {
		c.Stages[0].Heads = heads
		got, err := open(t, c).Run(t.Context(), text, &enc, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			if !slices.Equal(got.Logits(h.Name), want.Logits(h.Name)) {
				t.Errorf("%s of the heads %+v differ", h.Name, heads)
			}
		}
	}
}

// The default model's output for a text, also at its exits, does not depend on the texts that
// share its run: it is the same to the last bit.
func TestDefaultModelGivesTheSameInEveryCompany(t *testing.T) {
	c := config(t, "../models/toxicity-en")
	c.Batching, c.Threads = encoder.Bucketed, 2
	e := open(t, c)
	var list []string
	for _, words := range []string{"you", "you are", "you are such a", "we know what you did and will find"} {
		for _, last := range []string{"idiot", "friend", "whore", "moron!", "dear reader, as ever", "f*ck", "1d10t"} {
			list = append(list, words+" "+last)
		}
	}
	list = append(list, strings.Repeat("a long text with a stupid idiot in it. ", 60))
	alone := make([]encoder.Output, len(list))
	var err error
	for i, text := range list {
		if alone[i], err = run(t.Context(), e, c, text); err != nil {
			t.Fatal(err)
		}
	}
	var callers sync.WaitGroup
	for caller := range 64 {
		callers.Go(func() {
			for i := range list {
				i := (i + caller) % len(list)
				found, err := run(t.Context(), e, c, list[i])
				if err != nil {
					t.Errorf("%q: %v in a shared run", list[i], err)
				} else if !reflect.DeepEqual(found, alone[i]) {
					t.Errorf("%q: %+v in a shared run, %+v alone", list[i], found, alone[i])
				}
			}
		})
	}
	callers.Wait()
}

// A caller that cancels does not affect other callers in its run.
func TestCallersThatLeaveASharedRun(t *testing.T) {
	c := config(t, "../models/toxicity-en")
	c.Batching, c.Threads = encoder.Bucketed, 2
	e := open(t, c)
	want, err := run(t.Context(), e, c, "you idiot")
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 100 {
		leaving, leave := context.WithCancel(t.Context())
		callers.Go(func() {
			if _, err := run(leaving, e, c, "my friend"); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		callers.Go(func() {
			found, err := run(t.Context(), e, c, "you idiot")
			if err != nil {
				t.Error(err)
			} else if !reflect.DeepEqual(found, want) {
				t.Errorf("%+v, want %+v", found, want)
			}
		})
		leave()
	}
	callers.Wait()
}

// A closed encoder has no active runs and refuses texts.
func TestClose(t *testing.T) {
	for _, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed, encoder.Padded} {
		t.Run(string(batching), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			c := tiny(t)
			c.Batching = batching
			e, err := encoder.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(e.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := run(t.Context(), e, c, "you idiot"); err == nil {
				t.Error("a closed encoder ran a text")
			}
		})
	}
}

// endless opens a model that runs for hours on any text except the empty one.
func endless(t *testing.T, batching encoder.Batching) (*encoder.Encoder, encoder.Config) {
	t.Helper()
	c := tiny(t)
	model, err := os.ReadFile("testdata/endless.onnx")
	if err != nil {
		t.Fatal(err)
	}
	c.Stages[0].Model, c.Batching, c.Stages[0].Inputs = model, batching, []string{"input_ids"}
	c.Stages[0].Heads = []encoder.Head{{Name: texts, Output: "logits", Task: encoder.TextClassification, Columns: 1}}
	return open(t, c), c
}

// The end of the context stops an active run: otherwise neither this test nor
// Close, which waits for runs, would end.
func TestContextStopsTheRun(t *testing.T) {
	for _, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed, encoder.Padded} {
		t.Run(string(batching), func(t *testing.T) {
			endless, c := endless(t, batching)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := run(ctx, endless, c, "never ends"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
			if _, err := run(t.Context(), endless, c, ""); err != nil {
				t.Errorf("the encoder cannot be used after a stopped run: %v", err)
			}
		})
	}
}

// A caller whose context ends also stops waiting for a run.
func TestContextEndsTheWaiting(t *testing.T) {
	endless, c := endless(t, encoder.Single)
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			if _, err := run(ctx, endless, c, "never ends"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the context's", err)
			}
		})
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	callers.Wait()
}

// wantRefused fails unless Open refuses a configuration with an error that has the text.
func wantRefused(t *testing.T, c encoder.Config, want string) {
	t.Helper()
	e, err := encoder.Open(c)
	if err == nil {
		e.Close()
		t.Fatal("it was opened")
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// Open refuses a model that is not as configured.
func TestOpenRefuses(t *testing.T) {
	const other = "the model's inputs or outputs are not as configured"
	for name, test := range map[string]struct {
		want  string
		spoil func(*encoder.Config)
	}{
		"no input_ids":      {"input_ids is missing", func(c *encoder.Config) { c.Stages[0].Inputs = []string{"attention_mask"} }},
		"an unknown input":  {`unknown input "pixels"`, func(c *encoder.Config) { c.Stages[0].Inputs = append(c.Stages[0].Inputs, "pixels") }},
		"an input twice":    {`"input_ids" is listed twice`, func(c *encoder.Config) { c.Stages[0].Inputs = append(c.Stages[0].Inputs, "input_ids") }},
		"no heads":          {"heads: missing", func(c *encoder.Config) { c.Stages[0].Heads = nil }},
		"a name twice":      {`two are named "texts"`, func(c *encoder.Config) { c.Stages[0].Heads[1].Name = texts }},
		"no output":         {`"texts" has no output`, func(c *encoder.Config) { c.Stages[0].Heads[0].Output = "" }},
		"an unknown task":   {`unknown task "translation"`, func(c *encoder.Config) { c.Stages[0].Heads[0].Task = "translation" }},
		"no columns":        {"has 0 columns", func(c *encoder.Config) { c.Stages[0].Heads[0].Columns = 0 }},
		"a tiny window":     {"window.tokens: 1 is not", func(c *encoder.Config) { c.Window = encoder.Window{Tokens: 1} }},
		"a wide overlap":    {"window.overlap: 17 is not", func(c *encoder.Config) { c.Window.Overlap = 17 }},
		"many threads":      {"1048576 threads", func(c *encoder.Config) { c.Threads = 1 << 20 }},
		"unknown batching":  {`unknown batching "heaps"`, func(c *encoder.Config) { c.Batching = "heaps" }},
		"unknown provider":  {`unknown provider "abacus"`, func(c *encoder.Config) { c.Provider = "abacus" }},
		"other inputs":      {"", func(c *encoder.Config) { c.Stages[0].Inputs = encoder.InputNames }},
		"a missing input":   {"", func(c *encoder.Config) { c.Stages[0].Inputs = c.Stages[0].Inputs[:1] }},
		"another output":    {"", func(c *encoder.Config) { c.Stages[0].Heads[0].Output = "probabilities" }},
		"fewer columns":     {other, func(c *encoder.Config) { c.Stages[0].Heads[0].Columns = 1 }},
		"another task":      {other, func(c *encoder.Config) { c.Stages[0].Heads[0].Task = encoder.TokenClassification }},
		"no ONNX at all":    {"", func(c *encoder.Config) { c.Stages[0].Model = []byte("not a model") }},
		"half an ONNX file": {"", func(c *encoder.Config) { c.Stages[0].Model = c.Stages[0].Model[:len(c.Stages[0].Model)/2] }},
		"no model":          {"", func(c *encoder.Config) { c.Stages[0].Model = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c := tiny(t)
			test.spoil(&c)
			wantRefused(t, c, test.want)
		})
	}
}

// If the library has no CUDA provider, the error says what to do.
func TestCUDAWithoutItsProvider(t *testing.T) {
	c := tiny(t)
	runtime, err := encoder.LoadLibrary("", encoder.CPU)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(runtime.Providers, encoder.CUDA) {
		return // this machine has the CUDA provider
	}
	c.Provider, c.Library = encoder.CUDA, runtime.Path
	if _, err := encoder.Open(c); err == nil || !strings.Contains(err.Error(), "provider cuda is not available") {
		t.Errorf("error %v", err)
	}
}

// A model with two heads: one returns a row of logits per window, one per token.
func Example() {
	folder := "../testdata/models/tiny"
	onnx, _ := os.ReadFile(filepath.Join(folder, "model.onnx"))
	file, _ := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
	tokenizer, err := tokenize.Load(file)
	if err != nil {
		panic(err)
	}
	e, err := encoder.Open(encoder.Config{
		Stages: []encoder.Stage{{Model: onnx, Inputs: []string{"input_ids", "attention_mask"}, Heads: []encoder.Head{
			{Name: "texts", Output: "logits", Task: encoder.TextClassification, Columns: 7},
			{Name: "words", Output: "token_logits", Task: encoder.TokenClassification, Columns: 5},
		}}},
		Tokenizer: tokenizer,
		Window:    encoder.Window{Tokens: 32, Overlap: 8},
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	const text = "you stupid idiot"
	var encoding tokenize.Encoding
	if err := tokenizer.Encode(text, &encoding); err != nil {
		panic(err)
	}
	out, err := e.Run(context.Background(), text, &encoding, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(out.Windows), "window of", out.Windows[0].Len(), "tokens")
	fmt.Println(len(out.Logits("texts")), "and", len(out.Logits("words")), "logits")
	// Output:
	// 1 window of 3 tokens
	// 7 and 15 logits
}
