//go:build unix

package judge

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// Documented answers on their way through a real server, whose tiny model has the name
// of a guard. Its own answer is replaced, so there are no log-probabilities for it.
func TestGuardModelsOnAServer(t *testing.T) {
	server := ollamatest.Start(t)
	for name, c := range map[string]struct {
		model, answer string
		systems       []string // beginnings of the system messages, one for each call
		yes, no       []string // attributes
	}{
		"one call": {"someuser/llama-guard3:1b", "\n\nunsafe\nS10", []string{""}, []string{"toxicity", "identity_attack"}, nil},
		"seven calls": {
			"granite3.3-guardian", "<think>\n</think>\n<score> no </score>",
			[]string{"The text is rude", "The text is very hateful", "The text insults", "The text contains swear words", "The text is negative", "The text states an intention", "The text refers to sexual"},
			nil, []string{"toxicity", "severe_toxicity", "insult", "profanity", "identity_attack", "threat", "sexually_explicit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server.Create(t, c.model, ollamatest.Tiny)
			var kept ollamatest.Requests
			proxy := ollamatest.NewProxy(t, server, kept.Plan(t, ollamatest.Always(ollamatest.Say(c.answer))))
			j := tinyJudge(t, proxy.URL, func(config *Config) { config.Model = c.model })
			v := verdictOn(t, j, "you are a stupid idiot")
			var systems []string
			for _, r := range kept.Asked {
				system := ""
				if len(r.Messages) == 2 {
					system = r.Messages[0].Content
				}
				systems = append(systems, system)
				if r.Format != nil || !r.Logprobs || r.Messages[len(r.Messages)-1].Content != "you are a stupid idiot" {
					t.Errorf("request %+v", r)
				}
			}
			if !slices.EqualFunc(systems, c.systems, strings.HasPrefix) {
				t.Errorf("the system messages are %q", systems)
			}
			got := map[bool][]string{}
			for _, a := range v.Aspects {
				got[a.Yes] = append(got[a.Yes], a.Attribute.String())
			}
			if diff := cmp.Diff(map[bool][]string{true: c.yes, false: c.no}, map[bool][]string{true: got[true], false: got[false]}); diff != "" {
				t.Error(diff)
			}
			if v.Score != nil || v.InputTokens == 0 || v.Rubric != j.dialect.rubric() || len(v.Warnings) != 1 || !strings.HasSuffix(v.Warnings[0], "were tested only on published transcripts") {
				t.Errorf("%+v", v)
			}
		})
	}
	// An answer in another form is no verdict, and says what it was.
	proxy := ollamatest.NewProxy(t, server, ollamatest.Always(ollamatest.Say("I cannot help with that.")))
	j := tinyJudge(t, proxy.URL, func(config *Config) { config.Model = "someuser/llama-guard3:1b" })
	_, err := j.Judge(t.Context(), "you are a stupid idiot", toxscreen.Classification{})
	abstained, ok := errors.AsType[*toxscreen.AbstentionError](err)
	if !ok || abstained.Raw != "I cannot help with that." || !strings.Contains(err.Error(), "its answer begins neither with unsafe nor with safe") {
		t.Errorf("%v", err)
	}
}
