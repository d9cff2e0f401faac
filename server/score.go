package server

import (
	"context"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Text is a text to score.
type Text struct {
	Text string
	// Wait is how long the answer may wait for the judge; nil for the time of the
	// caller's key, or of the format.
	Wait *time.Duration
	// Forget keeps nothing of the text: no verdict, no late result.
	Forget bool
	// Scale is the scale of the scores, if [Config.OtherScales] has it; default: that of the
	// server's screener. On another scale than that, no judge is asked.
	Scale toxscreen.Scale
	// Thresholds replace those of the model, attribute by attribute.
	Thresholds toxscreen.Scores
	// Language is that of the text, if the caller states it.
	Language string
	// FullNetwork runs the whole network on the text. Nothing can be fitted on the
	// estimates of a text that left early.
	FullNetwork bool
	// AnyLanguage decides a text in a language that the model does not know by its
	// scores.
	AnyLanguage bool
	// Entities also finds the personal data in the text; nil does not.
	Entities toxscreen.EntityFinder
	// Turn is the place of the text among those of its request; zero for an only text.
	Turn Turn
	// Encode encodes a final result that comes after the answer, to be fetched by
	// its id; nil where only the verdict is kept.
	Encode func(final toxscreen.Result) ([]byte, error)
}

// Score scores a text: it is [Call.Begin] and then [Call.Finish].
func (c *Call) Score(ctx context.Context, t Text) (toxscreen.Result, error) {
	screening, err := c.Begin(ctx, t)
	if err != nil {
		return toxscreen.Result{}, err
	}
	return c.Finish(ctx, screening, t)
}

// Begin classifies a text when it is its turn. [Call.Finish] must follow, unless the format
// refuses the text by what was found. The error is a [*Failure] or becomes one by
// [FailureOf].
func (c *Call) Begin(ctx context.Context, t Text) (*toxscreen.Screening, error) {
	c.count(len(t.Text))
	screener := c.server.on(t.Scale)
	if t.Thresholds.Len() > 0 {
		screener = screener.With(toxscreen.WithThresholds(t.Thresholds))
	}
	if t.Language != "" {
		screener = screener.With(toxscreen.WithLanguage(t.Language))
	}
	if t.AnyLanguage {
		screener = screener.With(toxscreen.WithAnyLanguage())
	}
	if t.FullNetwork {
		screener = screener.With(toxscreen.WithFullNetwork())
	}
	if t.Entities != nil {
		screener = screener.With(toxscreen.WithEntities(t.Entities))
	}
	if t.Forget {
		ctx = toxscreen.WithoutStoring(ctx)
	}
	screening, err := c.classify(ctx, screener, t.Text, t.Turn)
	if err == nil && t.Language == "" {
		c.server.metrics.classified(screening.Language())
	}
	return screening, err
}

// classify classifies a text when it is its turn.
func (c *Call) classify(ctx context.Context, screener *toxscreen.Screener, text string, t Turn) (screening *toxscreen.Screening, err error) {
	err = c.inTurn(ctx, len(text), t, func() (err error) {
		screening, err = screener.Begin(ctx, text)
		return err
	})
	return screening, ended(ctx, err)
}

// Finish asks the judge about a text that [Call.Begin] classified, if the judge may change
// the result. Where the judge does not answer in time, the result says that it is pending, or why
// the judge is not asked.
func (c *Call) Finish(ctx context.Context, screening *toxscreen.Screening, t Text) (toxscreen.Result, error) {
	if t.Forget {
		ctx = toxscreen.WithoutStoring(ctx)
	}
	result := screening.Result()
	if result.Judge.Pending {
		var err error
		if result, err = c.consult(ctx, screening, t); err != nil {
			return toxscreen.Result{}, ended(ctx, err)
		}
	}
	c.server.metrics.scored(c.format.Name, result)
	return result, nil
}

// ScoreAll scores the texts of a request, each with the settings of base, and returns
// their results in order, or the error of the first text that failed.
func (c *Call) ScoreAll(ctx context.Context, texts []string, base Text) ([]toxscreen.Result, error) {
	return all(ctx, c, texts, func(ctx context.Context, text string, turn Turn) (toxscreen.Result, error) {
		one := base
		one.Text, one.Turn = text, turn
		return c.Score(ctx, one)
	})
}

// Ask calls ask, which asks a judge for a verdict of its own on a text. The text counts for
// the caller's rate limit, but needs no turn, since the model is not run. The time that ask
// takes is that of the judge, which the limit of the request leaves out.
func (c *Call) Ask(ctx context.Context, t Text, ask func(ctx context.Context) (any, error)) (any, error) {
	c.count(len(t.Text))
	if err := c.caller.allow(); err != nil {
		return nil, err
	}
	if t.Forget {
		ctx = toxscreen.WithoutStoring(ctx)
	}
	done := c.clock.judge()
	answer, err := ask(ctx)
	done()
	if err != nil {
		return nil, ended(ctx, Fail(notJudged, "%v", err))
	}
	return answer, nil
}
