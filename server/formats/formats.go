// Package formats lists the wire formats that toxscreen serves:
//
//	server.New(screener, server.Config{Formats: formats.All(formats.Config{})})
package formats

import (
	"context"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/litellm"
	"github.com/toxscreen/toxscreen/server/native"
	"github.com/toxscreen/toxscreen/server/openai"
	"github.com/toxscreen/toxscreen/server/patronus"
	"github.com/toxscreen/toxscreen/server/perspective"
	"github.com/toxscreen/toxscreen/server/presidio"
	"github.com/toxscreen/toxscreen/server/writer"
)

// Config configures the formats. The zero value of a field means its default.
type Config struct {
	// OffsetUnit is the unit of offsets in native results where a request names none;
	// default: bytes.
	OffsetUnit toxscreen.OffsetUnit
	// Communities are thresholds that replace the model's, by the communityId of a
	// Perspective API request.
	Communities map[string]toxscreen.Scores
	// Verdicts are the judges behind native answers that are a verdict; nil without a
	// judge.
	Verdicts *Verdicts
}

// All returns all formats.
func All(c Config) []server.Format {
	return []server.Format{
		native.Format(c.OffsetUnit,
			native.Shape{Name: "writer", Answer: func(ctx context.Context, call *server.Call, q native.Question) (any, error) {
				return writer.Completion(ctx, call, q.Text)
			}},
			native.Shape{Name: "mastra", Replies: true, Answer: c.Verdicts.answer("mastra", (*Verdicts).toMastra)},
			native.Shape{Name: "nexa", Replies: true, Answer: c.Verdicts.answer("nexa", (*Verdicts).toNexa)},
		),
		perspective.Format(c.Communities),
		openai.Format(),
		litellm.Format(),
		patronus.Format(),
		presidio.Format(),
		writer.Format(),
	}
}

// answer returns the answer of a shape that is a judge's verdict, which v makes by ask. v is
// nil without a judge.
func (v *Verdicts) answer(name string, ask func(v *Verdicts, ctx context.Context, id, text, input string) (any, error)) func(context.Context, *server.Call, native.Question) (any, error) {
	return func(ctx context.Context, c *server.Call, q native.Question) (any, error) {
		if v == nil {
			return nil, server.Fail(server.Unsupported, "failed to judge text: the format %s needs a judge, and this server has none", name)
		}
		return c.Ask(ctx, q.Text, func(ctx context.Context) (any, error) { return ask(v, ctx, q.ID, q.Text.Text, q.Input) })
	}
}
