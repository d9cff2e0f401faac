package encoder_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/tokenize"
)

// staged is the network of tiny in three stages. The last column of an exit is its doubt.
func staged(t testing.TB) encoder.Config { return config(t, "../testdata/models/tiny-exits") }

// certain lets windows leave whose doubt is at most -5.8 at the first exit and -3 at the second.
func certain(stage int, logits []float32) bool {
	return logits[len(logits)-1] <= []float32{-5.8, -3}[stage]
}

// Without exits, stages are the network in another form: they return the same, in every batching.
func TestStagesAreTheWholeNetwork(t *testing.T) {
	for _, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed, encoder.Padded} {
		t.Run(string(batching), func(t *testing.T) {
			whole, parts := tiny(t), staged(t)
			whole.Batching, parts.Batching = batching, batching
			one, many := open(t, whole), open(t, parts)
			var callers sync.WaitGroup
			for _, text := range []string{"", "you stupid idiot", "my friend", strings.Repeat("you are kind and wise. ", 40) + "you idiot"} {
				callers.Go(func() {
					want, err := run(t.Context(), one, whole, text)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := run(t.Context(), many, parts, text)
					if err != nil {
						t.Error(err)
						return
					}
					for _, head := range []string{texts, tokens} {
						if !closeTo(got.Logits(head), want.Logits(head)) {
							t.Errorf("%q: %s %v, want %v", text, head, got.Logits(head), want.Logits(head))
						}
					}
					if last := slices.Min(got.Last); last != 2 {
						t.Errorf("%q: a window ended at stage %d", text, last)
					}
				})
			}
			callers.Wait()
		})
	}
}

// closeTo allows for the rounding of padded runs.
func closeTo(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-5 })
}

// A window that leaves has the logits of its exit, and no others; the other windows of its
// text run on.
func TestWindowsLeave(t *testing.T) {
	c := staged(t)
	c.Batching = encoder.Bucketed
	e := open(t, c)
	text := strings.Repeat("we walk and talk and play. ", 10) + "you stupid idiot. " + strings.Repeat("the sun and the rain. ", 12)
	var enc tokenize.Encoding
	if err := c.Tokenizer.Encode(text, &enc); err != nil {
		t.Fatal(err)
	}
	full, err := e.Run(t.Context(), text, &enc, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Run(t.Context(), text, &enc, certain)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(out.Last) != 2 {
		t.Fatalf("the windows ended at the stages %v: all left", out.Last)
	}
	if slices.Min(out.Last) == 2 {
		t.Fatalf("the windows ended at the stages %v: none left", out.Last)
	}
	scores, columns := out.Logits(texts), len(out.Logits(texts))/len(out.Windows)
	for i, last := range out.Last {
		row := scores[i*columns:][:columns]
		if want := full.Logits(texts)[i*columns:][:columns]; last == 2 && !slices.Equal(row, want) {
			t.Errorf("window %d ran through all stages and has the logits %v, want %v", i, row, want)
		}
		if scored := !math.IsInf(float64(row[0]), -1); last < 2 && scored {
			t.Errorf("window %d left at stage %d and has the logits %v of the last stage", i, last, row)
		}
		for stage, exit := range []string{"exit 1", "exit 2"} {
			if asked := !math.IsInf(float64(out.Logits(exit)[i*(columns+1)]), -1); asked != (last >= stage) {
				t.Errorf("window %d ended at stage %d, and %s is %v", i, last, exit, out.Logits(exit))
			}
		}
	}
}

// What a window's logits are, and where it leaves, does not depend on the others that run at
// the same time.
func TestExitsAreTheSameInEveryCompany(t *testing.T) {
	for _, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed} {
		t.Run(string(batching), func(t *testing.T) {
			c := staged(t)
			c.Batching, c.Threads = batching, 2
			e := open(t, c)
			var list []string
			for _, words := range []string{"you", "we talk", "the sun and the rain", "you are a very nice friend"} {
				for _, last := range []string{"idiot", "silly", "friend", "tomato", "today", strings.Repeat(" and so on.", 30)} {
					list = append(list, words+" "+last)
				}
			}
			encodings := make([]tokenize.Encoding, len(list))
			alone := make([]encoder.Output, len(list))
			var err error
			for i, text := range list {
				if err = c.Tokenizer.Encode(text, &encodings[i]); err != nil {
					t.Fatal(err)
				}
				if alone[i], err = e.Run(t.Context(), text, &encodings[i], certain); err != nil {
					t.Fatal(err)
				}
			}
			var callers sync.WaitGroup
			for caller := range 32 {
				callers.Go(func() {
					for i := range list {
						i := (i + caller) % len(list)
						found, err := e.Run(t.Context(), list[i], &encodings[i], certain)
						if err != nil {
							t.Errorf("%q: %v in company", list[i], err)
						} else if !reflect.DeepEqual(found, alone[i]) {
							t.Errorf("%q: %+v in company, %+v alone", list[i], found, alone[i])
						}
					}
				})
			}
			callers.Wait()
		})
	}
}

// Open refuses stages that do not fit together.
func TestOpenRefusesStages(t *testing.T) {
	for name, test := range map[string]struct {
		want  string
		spoil func(*encoder.Config)
	}{
		"no stages":                {"stages: missing", func(c *encoder.Config) { c.Stages = nil }},
		"nothing is passed on":     {"stage 1 has no hidden output", func(c *encoder.Config) { c.Stages[0].Hidden = "" }},
		"the last passes on":       {"the last one must not have a hidden output", func(c *encoder.Config) { c.Stages[2].Hidden = "hidden_3" }},
		"the last has an exit":     {"must not have a hidden output or an exit", func(c *encoder.Config) { c.Stages[2].Exit = c.Stages[1].Exit }},
		"a head before the end":    {"only the last stage has heads", func(c *encoder.Config) { c.Stages[0].Heads = c.Stages[2].Heads }},
		"no width":                 {"the width 0", func(c *encoder.Config) { c.Stages[1].Width = 0 }},
		"an exit of tokens":        {"the exit of stage 1 has the task", func(c *encoder.Config) { c.Stages[0].Exit.Head.Task = encoder.TokenClassification }},
		"a head of another stage":  {`two are named "exit 1"`, func(c *encoder.Config) { c.Stages[1].Exit.Head.Name = "exit 1" }},
		"another width":            {"not as configured", func(c *encoder.Config) { c.Stages[0].Width++ }},
		"another exit's output":    {"not as configured", func(c *encoder.Config) { c.Stages[0].Exit.Head.Output = "exit_2" }},
		"fewer columns":            {"not as configured", func(c *encoder.Config) { c.Stages[1].Exit.Head.Columns = 1 }},
		"stages in another order":  {"not as configured", func(c *encoder.Config) { c.Stages[0].Model, c.Stages[1].Model = c.Stages[1].Model, c.Stages[0].Model }},
		"a stage that is no model": {"stage 2:", func(c *encoder.Config) { c.Stages[1].Model = []byte("not a model") }},
		"an exit that is no model": {"exit 1:", func(c *encoder.Config) { c.Stages[0].Exit.Model = []byte("not a model") }},
	} {
		t.Run(name, func(t *testing.T) {
			c := staged(t)
			test.spoil(&c)
			wantRefused(t, c, test.want)
		})
	}
}
