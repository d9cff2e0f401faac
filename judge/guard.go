package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// guard is the dialect of models that were trained for one task and use no rubric:
// they get the plain text, and answer in a few words. The files guard_*.go have a
// family each. No such model was run with this package: the families are tested on
// published transcripts.
type guard struct {
	config Config
	family family
}

// family is one family of guard models.
type family struct {
	name string // of its dialect
	// models and others recognise its models; see [recognised].
	models, others *regexp.Regexp
	// questions are asked one after the other; each is one call.
	questions []guardQuestion
	// answer is the maximum number of tokens of an answer.
	answer int
	// read reads an answer.
	read func(ollama.Reply) (ruling, error)
	// categories maps those of the model's categories that are attributes, by their
	// names in lower case. Several may be one attribute. nil: an answer names none.
	categories map[string]toxscreen.Attribute
}

// guardQuestion is what one call asks for.
type guardQuestion struct {
	Aspect    string
	System    string // system message; empty for the model's own
	Attribute toxscreen.Attribute
}

// asWhole is the question of models that say whether a text is unsafe in any way. That
// is evidence of toxicity, however wide: the self-test measures how much.
var asWhole = []guardQuestion{{Aspect: "unsafe", Attribute: toxscreen.Toxicity}}

// families are the families of guard models. Attributes that a family does not look
// for are absent from its verdicts.
var families = []family{graniteCriteria, graniteRisks, llamaGuard, shieldGemma, qwenGuard}

// ruling is what an answer says.
type ruling struct {
	yes  bool // the text has what the question asks for
	pYes *toxscreen.Probability
	// inCategory is whether the text is in any category, and its probability. Only a
	// model with grades between yes and no answers it differently from yes.
	inCategory  bool
	pInCategory *toxscreen.Probability
	categories  []string // that the answer names, in lower case
}

// binary returns the ruling of an answer whose word at an offset is yes or no.
func binary(r ollama.Reply, at int, yes, no string, categories []string) ruling {
	says := ruling{yes: begins(firstWord(r.Text[at:]), yes), categories: categories}
	if p, ok := probability(r.Logprobs, r.Text, at, yes, no); ok {
		says.pYes = shown(p)
	}
	says.inCategory, says.pInCategory = says.yes, says.pYes
	return says
}

// firstWord returns the letters at the beginning of a text.
func firstWord(text string) string {
	end := strings.IndexFunc(text, func(c rune) bool { return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(text[:end])
}

// opening returns the offset of an answer's first word, which must be one of two.
func opening(text, yes, no string) (at int, err error) {
	at = len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	if word := firstWord(text[at:]); word != yes && word != no {
		return 0, fmt.Errorf("its answer begins neither with %s nor with %s", yes, no)
	}
	return at, nil
}

func (g guard) name() string { return g.family.name }
func (g guard) calls() int   { return len(g.family.questions) }
func (g guard) graded() bool { return false }

// rubric returns the family's name and the first twelve digits of the SHA-256 of what
// it is asked and how its categories are mapped.
func (g guard) rubric() string {
	canonical, err := json.Marshal([]any{g.family.questions, g.family.categories})
	if err != nil {
		panic(err) // strings and attributes
	}
	sum := sha256.Sum256(canonical)
	return g.family.name + "@" + hex.EncodeToString(sum[:])[:12]
}

// guardPrompt is roughly the number of tokens in the template of a guard model.
const guardPrompt = 1024

func (g guard) plan(prefix, limit int) (budget, error) {
	b := budget{prefix: prefix, text: g.config.TextBytes, answer: g.family.answer}
	rest := max(prefix, guardPrompt) + g.family.answer + frame
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
func (g guard) probe() []ollama.Message {
	longest := slices.MaxFunc(g.family.questions, func(a, b guardQuestion) int { return len(a.System) - len(b.System) })
	messages, _ := g.messages(longest, Case{}, budget{})
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
	if q.System != "" {
		messages = append(messages, ollama.Message{Role: "system", Content: q.System})
	}
	return append(messages, ollama.Message{Role: "user", Content: text.String()}), warnings
}

func (g guard) judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error) {
	v := toxscreen.Verdict{Scale: 1}
	var last *ollama.Session
	for _, q := range g.family.questions {
		var warnings []string
		got, err := e.Ask(ctx, func(session *ollama.Session) ollama.Question {
			var messages []ollama.Message
			messages, warnings = g.messages(q, c, budgetOf(g, session))
			return ollama.Question{Messages: messages, Predict: g.family.answer, Logprobs: topLogprobs}
		})
		if err != nil {
			return v, nil, err
		}
		v.InputTokens += got.InputTokens
		v.OutputTokens += got.OutputTokens
		says, err := g.family.read(got)
		if err != nil {
			return v, nil, &toxscreen.AbstentionError{Why: err.Error(), Raw: beginning(got.Text, maxRaw)}
		}
		v.Aspects = append(v.Aspects, g.aspects(q, says)...)
		v.Warnings, last = warnings, got.Session
	}
	return v, last, nil
}

// aspects returns the verdicts that follow from a ruling: the one that was asked for,
// and those of the categories. A category of an unsafe text that the answer does not
// name is absent: models often name one of several.
func (g guard) aspects(q guardQuestion, says ruling) []toxscreen.AspectVerdict {
	all := []toxscreen.AspectVerdict{{Name: q.Aspect, Attribute: &q.Attribute, Yes: says.yes, PYes: says.pYes}}
	for _, a := range toxscreen.Attributes() {
		mapped, found := false, false
		for name, attribute := range g.family.categories {
			if attribute == a {
				mapped = true
				found = found || slices.Contains(says.categories, name)
			}
		}
		// The probability is that of any category. It is this category's if the answer
		// names it, or if it names none because the text is safe.
		if mapped && (found || !says.inCategory) {
			all = append(all, toxscreen.AspectVerdict{Name: a.String(), Attribute: &a, Yes: found, PYes: says.pInCategory})
		}
	}
	return all
}
