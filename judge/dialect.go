package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/spelling"
	"github.com/toxscreen/toxscreen/judge/guard"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// dialect writes the prompts for a model and parses its answers.
type dialect interface {
	name() string
	// rubric returns the version of what the model is asked.
	rubric() string
	// plan divides the context. prefix is the number of tokens of the prompt
	// without a text, limit the model's maximum context in tokens, 0 if it is not
	// known.
	plan(prefix, limit int) (budget, error)
	// probe returns the prompt without a text.
	probe() []ollama.Message
	judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error)
}

// budgetOf returns how the context of a session is divided.
func budgetOf(d dialect, s *ollama.Session) budget {
	b, err := d.plan(s.Planned, s.Limit)
	if err != nil {
		panic(err) // a session exists only if plan succeeds
	}
	b.prefix = s.Prefix
	return b
}

// The dialects beside those of package guard.
const (
	// dialectAuto takes the dialect from the model's name.
	dialectAuto = "auto"
	// dialectRubric is the dialect of models that follow instructions.
	dialectRubric = "rubric"
)

// topLogprobs is the number of alternatives that are requested for each token: the
// server's maximum.
const topLogprobs = 20

// Dialects returns the values of [Config.Dialect].
func Dialects() []string {
	names := []string{dialectAuto, dialectRubric}
	for _, f := range guard.Families() {
		names = append(names, f.Name)
	}
	return names
}

// ParseDialect returns a value of [Config.Dialect]. An unknown one is an error that
// names the nearest.
func ParseDialect(name string) (string, error) {
	if known := Dialects(); !slices.Contains(known, name) {
		nearest, _ := spelling.Nearest(name, known)
		return "", fmt.Errorf("unknown dialect %q: the nearest is %s; use one of %s", name, nearest, strings.Join(known, ", "))
	}
	return name, nil
}

// dialectOf returns the dialect of a configuration that [Config.filled] returned.
func dialectOf(c Config) dialect {
	family, ok := guard.Find(c.Dialect)
	if c.Dialect == dialectAuto {
		family, ok = guard.Recognise(c.Model)
	}
	if ok && !family.Policy {
		return byGuard{c, family}
	}
	return byRubric{config: c, shape: answerShape{c.Reason, c.Violations}, as: cmp.Or(family.Name, dialectRubric)}
}
