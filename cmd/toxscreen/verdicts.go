package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/httpapi"
	"github.com/toxscreen/toxscreen/judge"
)

// verdictFormats answer POST /v1/score in formats that are what the judge says
// of a text by rubrics of their own.
type verdictFormats struct {
	mastra openedJudge
	nexa   *nexaJudges
	price  float64
}

// shareContext gives all judges of a server one context: they are asked side by
// side.
func shareContext(s *settings) error {
	mastra, err := judge.OpenRubric(formats.MastraRubric)
	if err != nil {
		return err
	}
	calls, err := nexaCalls(formats.NexaCase{Output: "a text"})
	if err != nil {
		return err
	}
	configs := []judge.Config{{Rubric: s.Judge.Rubric}, {Rubric: mastra}}
	for _, c := range calls {
		configs = append(configs, nexaConfig(judge.Config{}, c))
	}
	for _, c := range configs {
		c.Model = s.Judge.Model
		n, err := judge.Context(c)
		if err != nil {
			return err
		}
		s.Judge.context = max(s.Judge.context, n)
	}
	return nil
}

// openVerdictFormats makes the judges of the settings. The server is not asked
// yet.
func openVerdictFormats(s *settings) (*verdictFormats, error) {
	rubric, err := judge.OpenRubric(formats.MastraRubric)
	if err != nil {
		return nil, err
	}
	calls, err := nexaCalls(formats.NexaCase{Output: "a text"})
	if err != nil {
		return nil, err
	}
	v := &verdictFormats{price: s.Judge.Price}
	if v.nexa, err = openNexaJudges(s, calls); err != nil {
		return nil, err
	}
	if v.mastra, err = openJudge(s, func(c *judge.Config) { c.Rubric = rubric }); err != nil {
		v.nexa.close()
		return nil, err
	}
	return v, nil
}

func (v *verdictFormats) close() {
	v.mastra.close()
	v.nexa.close()
}

// all returns the formats by their names.
func (v *verdictFormats) all() map[string]httpapi.VerdictFormat {
	return map[string]httpapi.VerdictFormat{formatMastra: v.toMastra, "nexa": v.toNexa}
}

func (v *verdictFormats) toMastra(ctx context.Context, id, text, input string) (any, error) {
	c := judge.Case{Text: text}
	if input != "" {
		c.Fields = map[string]string{"input": input}
	}
	verdict, err := v.mastra.JudgeCase(ctx, c)
	if err != nil {
		return nil, err
	}
	prompt, err := v.mastra.Prompt(ctx, c)
	if err != nil {
		return nil, err
	}
	return formats.ToMastraRun(verdict, text, formats.MastraOptions{RunID: cmp.Or(id, rand.Text()), Prompt: prompt})
}

func (v *verdictFormats) toNexa(ctx context.Context, id, text, input string) (any, error) {
	calls, err := nexaCalls(formats.NexaCase{CaseID: id, Output: text, Input: input})
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, errors.New("failed to judge text: it is blank")
	}
	warning, err := v.nexa.tested(ctx)
	if err != nil {
		return nil, err
	}
	_, finish := v.nexa.ask(ctx, [][]*nexaCall{calls}, nil)
	finish()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := report(id, calls, v.price)
	if warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	return r, nil
}
