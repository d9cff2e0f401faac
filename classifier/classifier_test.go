package classifier_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/tokenize"
)

const tiny = "../testdata/models/tiny"

// config reads a model folder without package models, which imports
// this one.
func config(t testing.TB, folder string) classifier.Config {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	c := classifier.Config{Model: read("model.onnx"), Version: "tiny@1.0.0"}
	if err := json.Unmarshal(read("manifest.json"), &c.Spec); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.Tokenizer, err = tokenize.Load(read("tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, c classifier.Config) *classifier.Classifier {
	t.Helper()
	opened, err := classifier.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// texts holds texts of many lengths, insults and long texts among them.
func texts() []string {
	list := []string{"", "hello", "you are a stupid idiot", "naïve \xff words"}
	for n := 1; n < 3000; n = n*2 + 1 {
		list = append(list, strings.Repeat("you are kind and wise. ", n)+"you idiot")
	}
	return list
}

// largestGap returns the largest score difference of two results and fails if
// they measured different things.
func largestGap(t *testing.T, a, b toxscreen.Classification) float64 {
	t.Helper()
	if len(a.Spans) != len(b.Spans) {
		t.Fatalf("the spans %+v and %+v differ in number", a.Spans, b.Spans)
	}
	if a.Scores.Len() != b.Scores.Len() {
		t.Fatalf("the scores %+v and %+v are of different attributes", a.Scores, b.Scores)
	}
	gap := 0.0
	for attribute, value := range a.Scores.All() {
		other, _ := b.Scores.Get(attribute)
		gap = max(gap, math.Abs(value-other))
	}
	return gap
}

// These properties hold for each batching.
func TestEachBatching(t *testing.T) {
	for _, batching := range []encoder.Batching{encoder.Single, encoder.Bucketed, encoder.Padded} {
		t.Run(string(batching), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			c := config(t, tiny)
			c.Batching = batching
			opened, err := classifier.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			list := texts()
			alone := make([]toxscreen.Classification, len(list))
			for i, text := range list {
				if alone[i], err = opened.Classify(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}

			t.Run("marks the words that score", func(t *testing.T) {
				const text = "you are a stupid idiot"
				toxicity, _ := alone[2].Scores.Get(toxscreen.Toxicity)
				mild, _ := alone[1].Scores.Get(toxscreen.Toxicity)
				if toxicity < 0.5 {
					t.Errorf("toxicity %v of an insult", toxicity)
				}
				if mild > 0.5 {
					t.Errorf("toxicity %v of a greeting", mild)
				}
				if s := alone[2].Spans; len(s) != 1 || text[s[0].Start:s[0].End] != "stupid idiot" {
					t.Errorf("spans %+v, want the last two words as one", s)
				}
				if s := alone[1].Spans; s == nil || len(s) != 0 {
					t.Errorf("spans %#v of a greeting, want none but not nil", s)
				}
			})

			t.Run("marks words after the first window", func(t *testing.T) {
				last := len(list) - 1
				spans := alone[last].Spans
				if len(spans) != 1 || list[last][spans[0].Start:spans[0].End] != "idiot" {
					t.Errorf("spans %+v, want the last word of %d bytes", spans, len(list[last]))
				}
			})

			t.Run("gives the same alone and under load", func(t *testing.T) {
				var callers sync.WaitGroup
				for caller := range 16 {
					callers.Go(func() {
						for i := range list {
							i := (i + caller) % len(list)
							crowded, err := opened.Classify(t.Context(), list[i])
							if err != nil {
								t.Error(err)
							} else if gap := largestGap(t, alone[i], crowded); gap > 1e-4 {
								t.Errorf("text %d: scores differ by %v", i, gap)
							}
						}
					})
				}
				callers.Wait()
			})

			t.Run("gives the same on one thread", func(t *testing.T) {
				c.Threads = 1
				single := open(t, c)
				for i, text := range list {
					got, err := single.Classify(t.Context(), text)
					if err != nil {
						t.Fatal(err)
					}
					if gap := largestGap(t, alone[i], got); gap > 1e-4 {
						t.Errorf("text %d: scores differ by %v", i, gap)
					}
				}
			})

			t.Run("refuses once closed", func(t *testing.T) {
				if err := errors.Join(opened.Close(), opened.Close()); err != nil {
					t.Fatal(err)
				}
				if _, err := opened.Classify(t.Context(), "text"); err == nil {
					t.Error("a closed classifier scored a text")
				}
			})
		})
	}
}

func TestModelWithoutTokenHeadSaysSo(t *testing.T) {
	found, err := open(t, config(t, "../testdata/models/tiny-no-spans")).Classify(t.Context(), "you idiot")
	if err != nil {
		t.Fatal(err)
	}
	if found.Spans != nil {
		t.Errorf("spans %v without a token head", found.Spans)
	}
	if !strings.Contains(strings.Join(found.Warnings, ""), "no token head") {
		t.Errorf("the warnings %q do not say why there are no spans", found.Warnings)
	}
}

// Open refuses a model that does not match its spec.
func TestOpenRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*classifier.Config){
		"other inputs":      func(c *classifier.Config) { c.Spec.Inputs = []string{"input_ids", "attention_mask", "token_type_ids"} },
		"a missing input":   func(c *classifier.Config) { c.Spec.Inputs = []string{"input_ids"} },
		"another output":    func(c *classifier.Config) { c.Spec.Outputs.Scores = "probabilities" },
		"fewer labels":      func(c *classifier.Config) { c.Spec.Labels = c.Spec.Labels[:1]; c.Spec.Calibration = nil },
		"no ONNX at all":    func(c *classifier.Config) { c.Model = []byte("not a model") },
		"a window of marks": func(c *classifier.Config) { c.Spec.Window = classifier.Window{Tokens: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, tiny)
			spoil(&c)
			opened, err := classifier.Open(c)
			if err == nil {
				opened.Close()
				t.Fatal("it was opened")
			}
			if !strings.HasPrefix(err.Error(), "failed to open classifier: ") {
				t.Errorf("error does not name the step: %v", err)
			}
		})
	}
}

// TestAnyPartCounts: the score of a long text is that of its highest window, corrected
// for the number of windows, wherever that window is.
func TestAnyPartCounts(t *testing.T) {
	corrected := config(t, tiny)
	corrected.Spec.Window = classifier.Window{Tokens: 32, Correction: classifier.Correction{Slope: 0.5, Until: 4}}
	highest := config(t, tiny)
	highest.Spec.Window = classifier.Window{Tokens: 32, Correction: classifier.Correction{Slope: 0, Until: 4}}
	c, plain := open(t, corrected), open(t, highest)
	odds := func(c *classifier.Classifier, text string) float64 {
		t.Helper()
		found, err := c.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := found.Scores.Get(toxscreen.Toxicity)
		return math.Log(p / (1 - p))
	}
	// Thirty words, each a token: a window with the two special tokens.
	harmless := strings.Repeat("we read the nice book ", 6) + "\n"
	for name, insult := range map[string]string{"strong": "you stupid idiot", "mild": "you are silly"} {
		line := strings.Replace(harmless, "the nice book", insult, 1)
		alone := odds(plain, line)
		for _, place := range []int{0, 5, 9} {
			lines := slices.Repeat([]string{harmless}, 10)
			lines[place] = line
			text := strings.Join(lines, "")
			if got := odds(plain, text); math.Abs(got-alone) > 1e-4 {
				t.Errorf("a %s insult in line %d of 10 has the log-odds %v, want %v as alone", name, place, got, alone)
			}
			want := corrected.Spec.Window.Correction.Apply(alone, 10)
			got := odds(c, text)
			if math.Abs(got-want) > 1e-4 {
				t.Errorf("a %s insult in line %d of 10 has the corrected log-odds %v, want %v", name, place, got, want)
			}
			if got >= alone {
				t.Errorf("a %s insult in line %d of 10 has the log-odds %v, no less than %v as alone", name, place, got, alone)
			}
		}
	}
	if long, short := odds(c, strings.Repeat(harmless, 10)), odds(c, harmless); long >= short {
		t.Errorf("ten harmless lines have the log-odds %v, one has %v: length alone must not raise a score", long, short)
	}
}

// TestWindows: each window of a long text has its place in the text and the scores that
// this part has as a text of its own.
func TestWindows(t *testing.T) {
	c := open(t, config(t, tiny))
	windowsOf := func(text string) []toxscreen.Window {
		t.Helper()
		found, err := c.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return found.Windows
	}
	kind := strings.Repeat("we read the nice book. ", 20)
	text := kind + "You silly man. " + kind + "You 😀 stupid idiot. " + kind
	end := 0
	for _, w := range windowsOf(text) {
		if w.Start > end {
			t.Errorf("bytes %d to %d are in no window", end, w.Start)
		}
		end = w.End
		alone, err := c.Classify(t.Context(), text[w.Start:w.End])
		if err != nil {
			t.Fatal(err)
		}
		if gap := largestGap(t, alone, toxscreen.Classification{Scores: w.Scores, Spans: alone.Spans}); gap > 1e-4 {
			t.Errorf("%q has the scores %v in the text, alone %v", text[w.Start:w.End], w.Scores, alone.Scores)
		}
	}
	if end != len(strings.TrimSpace(text)) {
		t.Errorf("the windows end at byte %d of %d", end, len(text))
	}

	// A short text is one window with its tokens; of nothing there is no window.
	for text, want := range map[string]string{"  you idiot \n": "you idiot", "  you 1d10t\n": "you 1d10t", "": "", " \n": ""} {
		got := ""
		for _, w := range windowsOf(text) {
			got += text[w.Start:w.End]
		}
		if got != want {
			t.Errorf("the window of %q is %q, want %q", text, got, want)
		}
	}
}

// TestWindowsOfDisguisedTexts: windows of a reading point into the original text, and the
// worst window has the score of the disguise undone.
func TestWindowsOfDisguisedTexts(t *testing.T) {
	c := open(t, config(t, tiny))
	kind := strings.Repeat("we read the nice book. ", 20)
	for _, word := range []string{"1d10t", "i d i o t", "\u0456d\u0456\u200bot"} {
		text := kind + "You " + word + "! " + kind
		found, err := c.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		var worst toxscreen.Window
		highest := 0.0
		for _, w := range found.Windows {
			if p, _ := w.Scores.Get(toxscreen.Insult); p > highest {
				worst, highest = w, p
			}
		}
		part := text[worst.Start:worst.End]
		if highest < 0.9 {
			t.Errorf("%q: the highest insult of a window is %v", text, highest)
		}
		if !strings.Contains(part, word) {
			t.Errorf("%q: the worst window is %q, without %q", text, part, word)
		}
		if len(part) > len(text)/2 {
			t.Errorf("%q: the worst window is more than half of it: %q", text, part)
		}
	}
}

// FuzzWindows: the windows, spans and readings of any text, disguised or not, are parts of it
// that begin and end between characters, and the text scores no higher than its highest window.
func FuzzWindows(f *testing.F) {
	c := open(f, config(f, tiny))
	kind := strings.Repeat("we read the nice book. ", 20)
	for _, seed := range []string{"", "you idiot", kind + "i d i o t 😀 " + kind, "ʇoıpı uɐ ǝɹɐ noʎ " + kind, kind + "\xff1d10t\u200b stup\u0301id" + kind,
		"“you&nbsp;stupid 1d10tâ€\u009d… 🇰🇾🇸 https://example.org/idiot", "stupid" + strings.Repeat("idiot ", 200) + strings.Repeat("!?", 90) + "i d i o t",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := c.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		var highest toxscreen.Scores
		for _, w := range found.Windows {
			check(t, text, "window", 0, w.Start, w.End)
			for a, p := range w.Scores.All() {
				if before, ok := highest.Get(a); !ok || p > before {
					highest.Set(a, p)
				}
			}
		}
		at := 0
		for _, s := range found.Spans {
			check(t, text, "span", at, s.Start, s.End)
			at = s.End
		}
		at = 0
		for _, r := range found.Readings {
			check(t, text, "reading", at, r.Start, r.End)
			at = r.End
		}
		for a, p := range highest.All() {
			if score, _ := found.Scores.Get(a); score > p {
				t.Errorf("%q scores %v for %s, its highest window %v", text, score, a, p)
			}
		}
	})
}

// check checks that a part of a text is not empty, begins at least at byte from, and cuts no
// character.
func check(t *testing.T, text, what string, from, start, end int) {
	t.Helper()
	if start < from || start >= end || end > len(text) {
		t.Fatalf("%q has a %s from %d to %d after %d", text, what, start, end, from)
	}
	if utf8.ValidString(text) && !utf8.ValidString(text[start:end]) {
		t.Errorf("a %s of %q cuts a character: %q", what, text, text[start:end])
	}
}

func Example() {
	folder := "../testdata/models/tiny"
	var spec classifier.Spec
	manifest, _ := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err := json.Unmarshal(manifest, &spec); err != nil {
		panic(err)
	}
	onnx, _ := os.ReadFile(filepath.Join(folder, "model.onnx"))
	file, _ := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
	tokenizer, err := tokenize.Load(file)
	if err != nil {
		panic(err)
	}
	c, err := classifier.Open(classifier.Config{Spec: spec, Model: onnx, Tokenizer: tokenizer})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	found, err := c.Classify(context.Background(), "you stupid idiot")
	if err != nil {
		panic(err)
	}
	for _, s := range found.Spans {
		fmt.Println(s.Start, s.End)
	}
	// Output: 4 16
}

// A text with disguised words is scored as written and with the disguise undone;
// each attribute takes the higher score, and spans point into the original
// text.
func TestDisguiseIsUndone(t *testing.T) {
	undone := config(t, tiny)
	asWritten := config(t, tiny)
	asWritten.Spec.UndoDisguise = false
	c, without := open(t, undone), open(t, asWritten)
	classify := func(c *classifier.Classifier, text string) toxscreen.Classification {
		t.Helper()
		found, err := c.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for text, want := range map[string]string{
		"you are a 1d10t, friend":                                 "1d10t",
		"the i d i o t is not here":                               "i d i o t",
		"not \u0456d\u0456\u200bot but nice":                      "\u0456d\u0456\u200bot",
		"stupid 1d10t":                                            "stupid 1d10t", // one span of two readings
		strings.Repeat("you are kind. ", 40) + "stup1d, say they": "stup1d",       // after the first window
	} {
		found, plain := classify(c, text), classify(without, text)
		if s := found.Spans; len(s) != 1 || text[s[0].Start:s[0].End] != want {
			t.Errorf("%q has the spans %+v, want %q", text, s, want)
		}
		for a, score := range plain.Scores.All() {
			// At most, the score of the written text drops by 1 in log-odds.
			if now, _ := found.Scores.Get(a); now/(1-now) < score/(1-score)/math.E*(1-1e-9) {
				t.Errorf("%q: undoing its disguise lowers %s from %v to %v", text, a, score, now)
			}
		}
		insult, _ := found.Scores.Get(toxscreen.Insult)
		before, _ := plain.Scores.Get(toxscreen.Insult)
		if insult < 0.5 {
			t.Errorf("%q is not scored as an insult: %v", text, insult)
		}
		told := strings.Contains(strings.Join(found.Warnings, ""), "disguised")
		if told != (insult-before > 0.05) {
			t.Errorf("%q: insult went from %v to %v, warnings %q", text, before, insult, found.Warnings)
		}
	}
	// The windows of each reading combine on their own: a disguised word in a long text
	// counts like the word itself, also if it takes more windows as it is written.
	long := strings.Repeat("we read the nice book. ", 40)
	for _, word := range []string{"1d10t", "i d i o t"} {
		read, plain := classify(c, long+word), classify(c, long+"idiot")
		if gap := largestGap(t, read, plain); gap > 1e-4 {
			t.Errorf("%q at the end of a long text gives %+v, the word itself %+v", word, read.Scores, plain.Scores)
		}
	}
	for _, text := range []string{"you are a stupid idiot", "walk in Scunthorpe, 5pm", "Кот ест суп", ""} {
		a, b := classify(c, text), classify(without, text)
		if largestGap(t, a, b) != 0 {
			t.Errorf("%q is not disguised, but its scores changed: %+v, %+v", text, a.Scores, b.Scores)
		}
		if !slices.Equal(a.Warnings, b.Warnings) {
			t.Errorf("%q is not disguised, but its warnings changed: %q, %q", text, a.Warnings, b.Warnings)
		}
	}
}
