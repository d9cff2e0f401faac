package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/redteam"
)

// MastraVerdicts answers in the format of Mastra's toxicity scorer. j goes by the
// rubric [formats.MastraRubric].
func MastraVerdicts(j *judge.Judge) VerdictFormat {
	return func(ctx context.Context, id, text, input string) (any, error) {
		c := judge.Case{Text: text}
		if input != "" {
			c.Fields = map[string]string{"input": input}
		}
		verdict, err := j.JudgeCase(ctx, c)
		if err != nil {
			return nil, err
		}
		prompt, err := j.Prompt(ctx, c)
		if err != nil {
			return nil, err
		}
		return formats.ToMastraRun(verdict, text, formats.MastraOptions{RunID: cmp.Or(id, rand.Text()), Prompt: prompt})
	}
}

// NexaVerdicts answers with nexa-gauge's report of a case. judges are those of
// nexa-gauge's own metrics, and selfTests is the folder with the outcomes of
// self-tests.
func NexaVerdicts(judges *redteam.Judges, selfTests string) VerdictFormat {
	return func(ctx context.Context, id, text, input string) (any, error) {
		if strings.TrimSpace(text) == "" {
			return nil, errors.New("failed to judge text: it is blank")
		}
		plan, err := redteam.NewPlan([]formats.NexaCase{{CaseID: id, Output: text, Input: input}})
		if err != nil {
			return nil, err
		}
		warning, err := judges.Trust(ctx, selfTests)
		if err != nil {
			return nil, err
		}
		for report := range judges.Run(ctx, plan, nil) {
			if warning != "" {
				report.Warnings = append(report.Warnings, warning)
			}
			return report, nil
		}
		return nil, ctx.Err()
	}
}
