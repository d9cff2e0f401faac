package ollama

import (
	"math"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

func TestProbabilityOfYes(t *testing.T) {
	const text = `{"a":{"verdict":"no"}}`
	at := strings.Index(text, `no"`)
	for name, c := range map[string]struct {
		tokens []Logprob
		want   float64
	}{
		"plain": {ollamatest.Tokens(`{"a":{"`, `verdict":"`, "no", map[string]float64{"no": 60, "yes": 20, "maybe": 20}, `"}}`), 0.25},
		"white space, case and halves of words belong to their verdict": {
			ollamatest.Tokens(`{"a":{"verdict":"`, "no", map[string]float64{"no": 30, "\tNo": 10, "n": 10, "yes": 5, "Ye": 5, "\n": 30, "not": 5, "yesterday": 5}, `"}}`), 10.0 / 60},
		"a token that begins before the verdict": {
			ollamatest.Tokens(`{"a":{"verdict":`, `"no`, map[string]float64{`"no`: 30, `"yes`: 10, `"`: 20, `yes`: 40}, `"}}`), 0.25},
		"a token that ends after it": {ollamatest.Tokens(`{"a":{"verdict":"`, `no"}}`, map[string]float64{`no"}}`: 30, `yes",`: 10}), 0.25},
		"the same answer in thoughts": {ollamatest.Tokens("hm ", `{"a":{"verdict":"`, "no", map[string]float64{"no": 90, "yes": 10}, `"}}`, "</think>",
			`{"a":{"verdict":"`, "no", map[string]float64{"no": 40, "yes": 60}, `"}}`), 0.6},
		"thinking before the answer":   {ollamatest.Tokens("hm ", "no ", `{"a":{"verdict":"`, "no", map[string]float64{"no": 50, "yes": 50}, `"}}`), 0.5},
		"a verdict that is not listed": {ollamatest.Tokens(`{"a":{"verdict":"`, "no", map[string]float64{"no": 90, "x": 10}, `"}}`), 0.1},
	} {
		got, ok := Reply{Text: text, Logprobs: c.tokens}.Probabilities(at, "yes", "no")
		if !ok {
			t.Errorf("%s: it has no probabilities", name)
		} else if math.Abs(got[0]-c.want) > 1e-9 {
			t.Errorf("%s: P(yes) is %v, want %v", name, got[0], c.want)
		}
	}
	for name, none := range map[string][]Logprob{
		"no log-probabilities": nil,
		"no alternatives":      ollamatest.Tokens(text),
		"neither verdict":      ollamatest.Tokens(`{"a":{"verdict":"`, "no", map[string]float64{"x": 90, "z": 10}, `"}}`),
		"another text":         ollamatest.Tokens(`{"b":{"verdict":"no"}}`),
	} {
		if got, ok := (Reply{Text: text, Logprobs: none}).Probabilities(at, "yes", "no"); ok {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
}

// A token may be a part of a rune, such as an emoji. The server returns each of its
// bytes as U+FFFD.
func TestTokensOfHalfARune(t *testing.T) {
	const text = `{"é😀":"no"}`
	all := ollamatest.Tokens(`{"`, "\ufffd", "\ufffd", "\ufffd\ufffd\ufffd", "\ufffd", `":"`, "no", map[string]float64{"no": 50, "yes": 50}, `"}`)
	got, ok := Reply{Text: text, Logprobs: all}.Probabilities(strings.Index(text, "no"), "yes", "no")
	if !ok {
		t.Fatal("it has no probabilities")
	}
	if got[0] != 0.5 {
		t.Errorf("P(yes) is %v, want 0.5", got[0])
	}
}
