package judge

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/ollama"
)

// guard is the dialect of models that were trained for one task and use no rubric:
// they get the plain text and the name of a category, and answer in one word. No
// such model was run with this package: the dialects are tested on published
// transcripts.
type guard struct {
	config Config
	kind   guardKind
}

// guardKind is one family of guard models.
type guardKind struct {
	family string // the model's name without the version
	// questions are asked one after the other; each has one answer.
	questions []guardQuestion
	// yes and no are the first words of its answers.
	yes, no string
	// categories maps the codes that may follow "yes" to attributes; nil if an
	// answer is about the attribute of its question.
	categories map[string]toxscreen.Attribute
}

type guardQuestion struct {
	aspect    string
	system    string // system message; empty for the model's own
	attribute *toxscreen.Attribute
}

// The families. Their other categories are not among the seven attributes.
// Attributes that they do not look for are absent.
var guards = []guardKind{
	{
		// The model's template has fourteen categories, S1 to S14. S10 is hate and
		// S12 sexual content.
		family: "llama-guard", yes: "unsafe", no: "safe",
		questions:  []guardQuestion{{aspect: "unsafe"}},
		categories: map[string]toxscreen.Attribute{"s10": toxscreen.IdentityAttack, "s12": toxscreen.SexuallyExplicit},
	},
	{
		// The model's template has four fixed policies. Its "yes" means any of
		// dangerous content, harassment, hate and sexually explicit content, so it
		// maps to no attribute.
		family: "shieldgemma", yes: "yes", no: "no",
		questions: []guardQuestion{{aspect: "unsafe"}},
	},
	{
		// The system message is the name of a risk, one per call. From 3.3 on, the
		// answer is in tags.
		family: "granite-guardian", yes: "yes", no: "no",
		questions: []guardQuestion{
			{"social_bias", "social_bias", new(toxscreen.IdentityAttack)},
			{"profanity", "profanity", new(toxscreen.Profanity)},
			{"sexual_content", "sexual_content", new(toxscreen.SexuallyExplicit)},
			{"harm", "harm", nil},
		},
	},
}

// version matches the version in a model's name: llama-guard3, granite3.3-guardian.
var version = regexp.MustCompile(`[\d.]+`)

// guardOf returns the dialect of a guard model, which it recognises by its name.
func guardOf(c Config) (guard, bool) {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(c.Model)), ":")
	name = version.ReplaceAllString(name, "")
	i := slices.IndexFunc(guards, func(k guardKind) bool { return name == k.family })
	if i < 0 {
		return guard{}, false
	}
	return guard{c, guards[i]}, true
}

func (g guard) name() string   { return g.kind.family }
func (g guard) rubric() string { return g.kind.family + "@own" }

// guardPrompt is roughly the number of tokens in the template of a guard model.
const (
	guardPrompt = 1024
	guardAnswer = 32 // tokens
)

func (g guard) plan(prefix, limit int) (budget, error) {
	b := budget{prefix: prefix, text: g.config.TextBytes, answer: guardAnswer}
	rest := max(prefix, guardPrompt) + guardAnswer + frame
	b.context = (rest + b.text + contextStep - 1) / contextStep * contextStep
	if limit > 0 && b.context > limit {
		b.context, b.text = limit, limit-rest
		if b.text < leastText {
			return b, fmt.Errorf("the model's context of %d tokens is too short; use another model", limit)
		}
	}
	return b, nil
}

func (g guard) probe() []ollama.Message {
	messages, _ := g.messages(g.kind.questions[0], Case{}, budget{})
	return messages
}

// broken breaks up control tokens of chat templates.
var broken = strings.NewReplacer("<", "< ", "[", "[ ")

// messages returns the prompt of a question about a text. Guards were trained on
// plain text, so white space stays, but control tokens are broken up.
func (g guard) messages(q guardQuestion, c Case, b budget) (messages []ollama.Message, warnings []string) {
	parts, warnings := c.shown(b.text)
	var text strings.Builder
	for i, p := range parts {
		if i > 0 {
			text.WriteString("\n(…)\n")
		}
		text.WriteString(broken.Replace(strings.ToValidUTF8(c.Text[p.start:p.end], "\uFFFD")))
	}
	if q.system != "" {
		messages = append(messages, ollama.Message{Role: "system", Content: q.system})
	}
	return append(messages, ollama.Message{Role: "user", Content: text.String()}), warnings
}

func (g guard) judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error) {
	v := toxscreen.Verdict{Scale: 1}
	var last *ollama.Session
	for _, q := range g.kind.questions {
		var warnings []string
		got, err := e.Ask(ctx, func(session *ollama.Session) ollama.Question {
			var messages []ollama.Message
			messages, warnings = g.messages(q, c, budgetOf(g, session))
			return ollama.Question{Messages: messages, Predict: guardAnswer, Logprobs: topLogprobs}
		})
		if err != nil {
			return v, nil, err
		}
		v.InputTokens += got.InputTokens
		v.OutputTokens += got.OutputTokens
		aspects, err := g.read(q, got)
		if err != nil {
			return v, nil, &toxscreen.AbstentionError{Why: err.Error(), Raw: beginning(got.Text, maxRaw)}
		}
		v.Aspects = append(v.Aspects, aspects...)
		v.Warnings, last = warnings, got.Session
	}
	v.Warnings = append(v.Warnings, fmt.Sprintf("the prompts for %s were tested only on published transcripts", g.kind.family))
	return v, last, nil
}

var (
	scoreTag = regexp.MustCompile(`(?is)^.*?<score>\s*(yes|no)\s*</score>`)
	category = regexp.MustCompile(`(?i)\bS\d{1,2}\b`)
)

// read parses the answer of a guard: a word, for some models followed by
// categories, for some in tags.
func (g guard) read(q guardQuestion, r ollama.Reply) ([]toxscreen.AspectVerdict, error) {
	at := len(r.Text) - len(strings.TrimLeft(r.Text, " \t\r\n"))
	if tag := scoreTag.FindStringSubmatchIndex(r.Text); tag != nil {
		at = tag[2]
	}
	word := strings.ToLower(r.Text[at:])
	var yes bool
	switch {
	case begins(word, g.kind.yes) && strings.HasPrefix(word, g.kind.yes):
		yes = true
	case begins(word, g.kind.no) && strings.HasPrefix(word, g.kind.no):
	default:
		return nil, errors.New("its answer begins neither with " + g.kind.yes + " nor with " + g.kind.no)
	}
	v := toxscreen.AspectVerdict{Name: q.aspect, Attribute: q.attribute, Yes: yes}
	p, measured := probability(r.Logprobs, r.Text, at, g.kind.yes, g.kind.no)
	if measured {
		v.PYes = shown(p)
	}
	aspects := []toxscreen.AspectVerdict{v}
	named := category.FindAllString(word, -1)
	for _, code := range sortedKeys(g.kind.categories) {
		attribute := g.kind.categories[code]
		one := toxscreen.AspectVerdict{Name: attribute.String(), Attribute: &attribute}
		one.Yes = slices.Contains(named, code)
		// The probability is the one of any category. It is this category's if it
		// is named, or if none is.
		if measured && (one.Yes || !yes) {
			one.PYes = v.PYes
		}
		aspects = append(aspects, one)
	}
	return aspects, nil
}

func sortedKeys(m map[string]toxscreen.Attribute) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
