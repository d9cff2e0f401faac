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
				if r.Format != nil {
					t.Errorf("the format %s is requested", r.Format)
				}
				if !r.Logprobs {
					t.Error("no log-probabilities are requested")
				}
				if last := r.Messages[len(r.Messages)-1].Content; last != "you are a stupid idiot" {
					t.Errorf("asked about %q", last)
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
			if v.Score != nil {
				t.Errorf("the score is %v, want none", *v.Score)
			}
			if v.InputTokens == 0 {
				t.Error("no tokens are counted")
			}
			if v.Rubric != j.Version() {
				t.Errorf("judged by %s, want %s", v.Rubric, j.Version())
			}
			want := "the prompts for " + j.dialect.name() + " were tested only on published transcripts"
			if diff := cmp.Diff([]string{want}, v.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
	// An answer in another form is no verdict, and says what it was.
	proxy := ollamatest.NewProxy(t, server, ollamatest.Always(ollamatest.Say("I cannot help with that.")))
	j := tinyJudge(t, proxy.URL, func(config *Config) { config.Model = "someuser/llama-guard3:1b" })
	_, err := j.Judge(t.Context(), "you are a stupid idiot", toxscreen.Classification{})
	abstained, ok := errors.AsType[*toxscreen.AbstentionError](err)
	if !ok {
		t.Fatalf("%v, want an abstention", err)
	}
	if abstained.Raw != "I cannot help with that." {
		t.Errorf("the answer is %q", abstained.Raw)
	}
	if want := "its answer begins neither with unsafe nor with safe"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
