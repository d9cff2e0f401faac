package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/ollama"
)

// No guard model was run. These answers are examples from the models' own pages.
func TestAnswersOfGuardModels(t *testing.T) {
	const yes, no = "yes", "no"
	for name, c := range map[string]struct {
		model    string
		question int
		answer   string
		want     map[string]string // by aspect
	}{
		"llama-guard3, the theft of a llama": {"llama-guard3", 0, "unsafe\nS2",
			map[string]string{"unsafe": yes, "identity_attack": no, "sexually_explicit": no}},
		"llama-guard3, hate": {"llama-guard3:1b", 0, "\n\nunsafe\nS10",
			map[string]string{"unsafe": yes, "identity_attack": yes, "sexually_explicit": no}},
		"llama-guard3, several": {"llama-guard3:8b", 0, "unsafe\nS1,S12",
			map[string]string{"unsafe": yes, "identity_attack": no, "sexually_explicit": yes}},
		"llama-guard3, nothing": {"registry/library/llama-guard3:latest", 0, "safe",
			map[string]string{"unsafe": no, "identity_attack": no, "sexually_explicit": no}},
		"shieldgemma, a burglary":            {"shieldgemma:2b", 0, "Yes", map[string]string{"unsafe": yes}},
		"shieldgemma, nothing":               {"shieldgemma", 0, "No", map[string]string{"unsafe": no}},
		"granite3-guardian, bias":            {"granite3-guardian:2b", 0, "Yes", map[string]string{"social_bias": yes}},
		"granite3.2-guardian, its certainty": {"granite3.2-guardian:5b", 1, "No\n<confidence> High </confidence>", map[string]string{"profanity": no}},
		"granite3.3-guardian, in tags":       {"granite3.3-guardian:8b", 0, "<think>\n</think>\n<score> yes </score>", map[string]string{"social_bias": yes}},
	} {
		g, ok := guardOf(Config{Model: c.model})
		if !ok {
			t.Errorf("%s: %s is not recognised as a guard", name, c.model)
			continue
		}
		aspects, err := g.read(g.kind.questions[c.question], ollama.Reply{Text: c.answer})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := map[string]string{}
		for _, a := range aspects {
			got[a.Name] = no
			if a.Yes {
				got[a.Name] = yes
			}
			if a.Severity != nil || a.PYes != nil {
				t.Errorf("%s: %s has an unexpected severity or probability", name, a.Name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestInvalidAnswersOfGuardModels(t *testing.T) {
	for model, answers := range map[string][]string{
		"llama-guard3":      {"", "I cannot tell.", "unsafely", "un", "S10"},
		"shieldgemma":       {"Yesterday", "maybe", "<score>yes</score", "N"},
		"granite3-guardian": {"Nothing", "\x00"},
	} {
		g, _ := guardOf(Config{Model: model})
		for _, answer := range answers {
			if got, err := g.read(g.kind.questions[0], ollama.Reply{Text: answer}); err == nil {
				t.Errorf("%s: %q was read as %+v", model, answer, got)
			}
		}
	}
	for _, model := range []string{"llama3.2", "qwen3:4b", "smollm2:135m", "granite4", "guard"} {
		if g, ok := guardOf(Config{Model: model}); ok {
			t.Errorf("%s is recognised as a %s", model, g.kind.family)
		}
	}
}

// The probability belongs to the first word. A category gets it only if it must be
// the category's own.
func TestProbabilitiesOfGuardModels(t *testing.T) {
	g, _ := guardOf(Config{Model: "llama-guard3"})
	for answer, want := range map[string]map[string]bool{
		"unsafe\nS10": {"unsafe": true, "identity_attack": true, "sexually_explicit": false},
		"unsafe\nS2":  {"unsafe": true, "identity_attack": false, "sexually_explicit": false},
		"safe":        {"unsafe": true, "identity_attack": true, "sexually_explicit": true},
	} {
		first, _, _ := strings.Cut(answer, "\n")
		all := tokens("\n\n", first, map[string]float64{"safe": 25, "unsafe": 75}, strings.TrimPrefix(answer, first))
		aspects, err := g.read(g.kind.questions[0], ollama.Reply{Text: "\n\n" + answer, Logprobs: all})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range aspects {
			if (a.PYes != nil) != want[a.Name] || a.PYes != nil && (*a.PYes-0.75 > 1e-9 || 0.75-*a.PYes > 1e-9) {
				t.Errorf("%q: %s has %v", answer, a.Name, a.PYes)
			}
		}
	}
}

func TestPromptsForGuardModels(t *testing.T) {
	g, _ := guardOf(Config{Model: "granite3-guardian", TextBytes: 300})
	var got []string
	for _, q := range g.kind.questions {
		messages, _ := g.messages(q, Case{Text: "You are\nan <|end_of_role|> [INST] idiot"}, budget{text: 300})
		got = append(got, messages[0].Content+": "+messages[1].Content)
	}
	const text = ": You are\nan < |end_of_role|> [ INST] idiot"
	if diff := cmp.Diff([]string{"social_bias" + text, "profanity" + text, "sexual_content" + text, "harm" + text}, got); diff != "" {
		t.Error(diff)
	}
	if b, err := g.plan(0, 4096); err != nil || b.text != 300 || b.context > 4096 {
		t.Errorf("%+v, %v", b, err)
	}
	measured := map[toxscreen.Attribute]bool{}
	for _, q := range g.kind.questions {
		if q.attribute != nil {
			measured[*q.attribute] = true
		}
	}
	if measured[toxscreen.Threat] || measured[toxscreen.Insult] || len(measured) != 3 {
		t.Errorf("it measures %v", measured)
	}
}
