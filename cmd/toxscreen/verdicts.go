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

// verdictRubrics are what the formats ask the judge.
type verdictRubrics struct {
	mastra judge.Rubric
	nexa   []*nexaCall
}

func openVerdictRubrics() (verdictRubrics, error) {
	mastra, err := judge.OpenRubric(formats.MastraRubric)
	if err != nil {
		return verdictRubrics{}, err
	}
	nexa, err := nexaCalls(formats.NexaCase{Output: "a text"})
	return verdictRubrics{mastra, nexa}, err
}

// context returns the one context of all judges of a server, those of the
// formats and that of the settings: they are asked side by side.
func (v verdictRubrics) context(s *settings) (int, error) {
	shared := judge.Config{Model: s.Judge.Model, Rubric: s.Judge.Rubric}
	configs := []judge.Config{shared, {Model: s.Judge.Model, Rubric: v.mastra}}
	for _, c := range v.nexa {
		configs = append(configs, nexaConfig(shared, c))
	}
	return judge.Context(configs...)
}

// openVerdictFormats makes the judges of the settings. The server is not asked
// yet.
func openVerdictFormats(s *settings, rubrics verdictRubrics) (*verdictFormats, error) {
	v := &verdictFormats{price: s.Judge.Price}
	var err error
	if v.nexa, err = openNexaJudges(s, rubrics.nexa); err != nil {
		return nil, err
	}
	if v.mastra, err = openJudge(s, func(c *judge.Config) { c.Rubric = rubrics.mastra }); err != nil {
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
