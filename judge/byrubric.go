package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// byRubric is the dialect of models that follow instructions: the prompt has the
// rubric, and the answer is a JSON object.
type byRubric struct {
	config Config
	shape  answerShape
	as     string // the dialect's name
}

func (d byRubric) name() string   { return d.as }
func (d byRubric) rubric() string { return d.config.Rubric.Version() }

func (d byRubric) plan(prefix, limit int) (budget, error) {
	b, err := plan(d.config.Rubric, d.shape, prefix, d.config.TextBytes, limit)
	if err == nil && d.config.Context > b.context {
		b.context = d.config.Context
		if limit > 0 {
			b.context = min(b.context, limit)
		}
	}
	return b, err
}

func (d byRubric) probe() []ollama.Message {
	messages, _, _ := d.messages(Case{}, budget{})
	return messages
}

func (d byRubric) messages(c Case, b budget) ([]ollama.Message, []part, []string) {
	text, parts, warnings := user(d.config.Rubric, c, b)
	return []ollama.Message{
		{Role: "system", Content: system(d.config.Rubric, d.shape)},
		{Role: "user", Content: text},
	}, parts, warnings
}

func (d byRubric) judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error) {
	var v toxscreen.Verdict
	var parts []part
	var messages []ollama.Message
	format := d.shape.schema(d.config.Rubric)
	question := func(messages []ollama.Message, b budget) ollama.Question {
		return ollama.Question{Messages: messages, Format: format, Predict: b.answer, Logprobs: topLogprobs, Least: least(b, messages)}
	}
	first, err := e.Ask(ctx, func(session *ollama.Session) ollama.Question {
		b := budgetOf(d, session)
		messages, parts, v.Warnings = d.messages(c, b)
		return question(messages, b)
	})
	if err != nil {
		return v, nil, err
	}
	last := first
	read, why := d.read(first)
	v.InputTokens, v.OutputTokens = first.InputTokens, first.OutputTokens
	if why != nil {
		last, err = e.Ask(ctx, func(session *ollama.Session) ollama.Question {
			// The server may have changed the model since the first attempt.
			b := budgetOf(d, session)
			messages, parts, v.Warnings = d.messages(c, b)
			return question(repair(messages, first.Text, why), b)
		})
		if err != nil {
			return v, nil, fmt.Errorf("its first answer was invalid (%w); %w", why, err)
		}
		v.InputTokens += last.InputTokens
		v.OutputTokens += last.OutputTokens
		v.Warnings = append(v.Warnings, "the judge's first answer was invalid: "+why.Error())
		if read, why = d.read(last); why != nil {
			return v, nil, &toxscreen.AbstentionError{Why: fmt.Sprintf("its second answer is invalid, too: %v", why), Raw: beginning(last.Text, maxRaw)}
		}
	}
	d.fill(&v, c.Text, parts, read, last)
	return v, last.Session, nil
}

// least returns the least number of tokens that a prompt can have: the prompt
// without a text, and one for each 128 bytes of the text, which even a run of one
// character exceeds.
func least(b budget, messages []ollama.Message) int {
	bytes := 0
	for _, m := range messages[1:] {
		bytes += len(m.Content)
	}
	return b.prefix + max(bytes/128-1, 0)
}

// shown rounds a number as JSON does, so that a verdict from the cache is the same
// as one from the model.
func shown(p float64) *toxscreen.Probability {
	rounded := toxscreen.Probability(toxscreen.Probability(p).Rounded())
	return &rounded
}

// maxRaw is how many bytes of an invalid answer are reported.
const maxRaw = 500

func (d byRubric) read(r ollama.Reply) (answer, error) {
	if r.Cut != "" {
		return answer{}, errors.New(r.Cut)
	}
	return d.shape.parse(d.config.Rubric, r.Text)
}

// fill fills a verdict from an answer.
func (d byRubric) fill(v *toxscreen.Verdict, text string, parts []part, read answer, r ollama.Reply) {
	rubric := d.config.Rubric
	seen := source{text: text, parts: parts}
	unmeasured, doubtful := 0, 0
	for i, a := range read.aspects {
		severity := a.severity
		aspect := toxscreen.AspectVerdict{Name: rubric.Aspects[i].Name, Attribute: rubric.Aspects[i].Attribute, Yes: a.yes, Severity: &severity}
		if shares, ok := r.Probabilities(a.at, verdictYes, verdictNo); ok {
			aspect.PYes = shown(shares[0])
			if a.yes != (shares[0] >= 0.5) {
				doubtful++
			}
		} else {
			unmeasured++
		}
		for _, number := range a.violations {
			if name := rubric.Violations[number-1]; !slices.Contains(aspect.Violations, name) {
				aspect.Violations = append(aspect.Violations, name)
			}
		}
		for _, quote := range a.quotes {
			if found, ok := seen.locate(quote); ok {
				aspect.Evidence = append(aspect.Evidence, found)
			} else {
				aspect.NotInText = append(aspect.NotInText, beginning(unmark(quote), 4*maxQuote))
			}
		}
		v.Aspects = append(v.Aspects, aspect)
	}
	switch {
	case len(r.Logprobs) == 0:
		v.Warnings = append(v.Warnings, "no p_yes: the server returns no log-probabilities; Ollama does from 0.12.11 on")
	case unmeasured > 0:
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s no p_yes: neither yes nor no was among the model's %d most probable tokens", plural.Count(unmeasured, "aspect has", "aspects have"), topLogprobs))
	}
	if doubtful > 0 {
		// Several tokens may begin a verdict, and the schema excludes some.
		v.Warnings = append(v.Warnings, fmt.Sprintf("for %s the model wrote the verdict with the lower probability", plural.Count(doubtful, "aspect", "aspects")))
	}
	v.Score, v.Scale, v.Reason = shown(rubric.score(v.Aspects)), toxscreen.Probability(rubric.Scale), read.reason
}
