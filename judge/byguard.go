package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/guard"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// byGuard is the dialect of a family of guard models: they get the plain text, and answer
// in a few words.
type byGuard struct {
	config Config
	family guard.Family
}

func (d byGuard) name() string   { return d.family.Name }
func (d byGuard) rubric() string { return d.family.Version() }

// guardPrompt is roughly the number of tokens in the template of a guard model.
const guardPrompt = 1024

func (d byGuard) plan(prefix, limit int) (budget, error) {
	b := budget{prefix: prefix, text: d.config.TextBytes, answer: d.family.Predict}
	rest := max(prefix, guardPrompt) + d.family.Predict + frame
	b.context = (rest + b.text + contextStep - 1) / contextStep * contextStep
	if limit > 0 && b.context > limit {
		b.context, b.text = limit, limit-rest
		if b.text < leastText {
			return b, fmt.Errorf("the model's context of %d tokens is too short; use another model", limit)
		}
	}
	return b, nil
}

// probe returns the longest of the prompts without a text.
func (d byGuard) probe() []ollama.Message {
	longest := slices.MaxFunc(d.family.Questions, func(a, b guard.Question) int { return len(a.System) - len(b.System) })
	messages, _ := d.messages(longest, Case{}, budget{})
	return messages
}

// broken breaks up control tokens of chat templates.
var broken = strings.NewReplacer("<", "< ", "[", "[ ")

// messages returns the prompt of a question about a text. Guard models were trained on
// plain text, so white space stays, but control tokens are broken up.
func (d byGuard) messages(q guard.Question, c Case, b budget) (messages []ollama.Message, warnings []string) {
	parts, warnings := c.shown(b.text)
	var text strings.Builder
	for i, p := range parts {
		if i > 0 {
			text.WriteString("\n(…)\n")
		}
		text.WriteString(broken.Replace(strings.ToValidUTF8(c.Text[p.start:p.end], "\uFFFD")))
	}
	if q.System != "" {
		messages = append(messages, ollama.Message{Role: "system", Content: q.System})
	}
	return append(messages, ollama.Message{Role: "user", Content: text.String()}), warnings
}

func (d byGuard) judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error) {
	v := toxscreen.Verdict{Scale: 1}
	var last *ollama.Session
	for _, q := range d.family.Questions {
		var warnings []string
		got, err := e.Ask(ctx, func(session *ollama.Session) ollama.Question {
			var messages []ollama.Message
			messages, warnings = d.messages(q, c, budgetOf(d, session))
			return ollama.Question{Messages: messages, Predict: d.family.Predict, Logprobs: topLogprobs}
		})
		if err != nil {
			return v, nil, err
		}
		v.InputTokens += got.InputTokens
		v.OutputTokens += got.OutputTokens
		aspects, err := d.family.Aspects(q, got)
		if err != nil {
			return v, nil, &toxscreen.AbstentionError{Why: err.Error(), Raw: beginning(got.Text, maxRaw)}
		}
		v.Aspects = append(v.Aspects, aspects...)
		v.Warnings, last = warnings, got.Session
	}
	return v, last, nil
}
