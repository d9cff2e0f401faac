package formats

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/cases"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server/mastra"
)

// Verdicts are the judges behind the answers to POST /v1/score that are a judge's
// verdict: Mastra's and nexa-gauge's. They are safe for concurrent use.
type Verdicts struct {
	graded  *judge.Judge // for Mastra
	nexa    *screen.Redteam
	context int
}

// OpenVerdicts makes the judges. j is the judge of the server's
// screener, which is asked beside them; it needs the context that
// [Verdicts.Context] returns. Clients get the errors of both: with a Log in j, these do
// not name the address of the judge's server. price is that of a million tokens. The judge's server
// is not asked yet.
func OpenVerdicts(j screen.Judge, price float64) (*Verdicts, error) {
	rubric, err := judge.OpenRubric(mastra.Rubric)
	if err != nil {
		return nil, err
	}
	// The metrics that every case has.
	plan, err := cases.NewPlan([]cases.Case{{Output: "a text"}})
	if err != nil {
		return nil, err
	}
	own := judge.Config{Model: j.Model, Rubric: j.Rubric, Dialect: j.Dialect}
	graded := own
	graded.Rubric = rubric
	v := &Verdicts{}
	if v.context, err = judge.Context(append(plan.Configs(own), own, graded)...); err != nil {
		return nil, err
	}
	j.Context = v.context
	if v.nexa, err = screen.OpenRedteam(j, plan, price); err != nil {
		return nil, err
	}
	if v.graded, err = v.nexa.By(rubric); err != nil {
		v.nexa.Close()
		return nil, err
	}
	return v, nil
}

// Context returns how many tokens of context are enough for all judges of the
// server; see [judge.Context].
func (v *Verdicts) Context() int { return v.context }

// Close gives the connections back. No request may be under way.
func (v *Verdicts) Close() {
	v.graded.Close()
	v.nexa.Close()
}

func (v *Verdicts) toMastra(ctx context.Context, id, text, input string) (any, error) {
	c := judge.Case{Text: text}
	if input != "" {
		c.Fields = map[string]string{"input": input}
	}
	if err := v.graded.Graded(); err != nil {
		return nil, fmt.Errorf("failed to judge text: Mastra's result needs a score: %w", err)
	}
	verdict, err := v.graded.JudgeCase(ctx, c)
	if err != nil {
		return nil, err
	}
	prompt, err := v.graded.Prompt(ctx, c)
	if err != nil {
		return nil, err
	}
	return mastra.ToRun(verdict, text, mastra.Options{RunID: cmp.Or(id, rand.Text()), Prompt: prompt})
}

func (v *Verdicts) toNexa(ctx context.Context, id, text, input string) (any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("failed to judge text: it is blank")
	}
	plan, err := cases.NewPlan([]cases.Case{{CaseID: id, Output: text, Input: input}})
	if err != nil {
		return nil, err
	}
	warning, err := v.nexa.Trust(ctx)
	if err != nil {
		return nil, err
	}
	for report := range v.nexa.Run(ctx, plan, nil) {
		if warning != "" {
			report.Warnings = append(report.Warnings, warning)
		}
		return report, nil
	}
	return nil, ctx.Err()
}
