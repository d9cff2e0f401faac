package patronus

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
)

// Format returns the wire format for [server.Config].Formats.
func Format() server.Format {
	return server.Format{
		Name: "patronus",
		Routes: []server.Route{
			{Pattern: "POST /v1/evaluate", Handle: evaluate},
			{Pattern: "GET /v1/evaluators", Handle: func(c *server.Call) error {
				c.Send(http.StatusOK, ListEvaluators(c.Request.URL.Query().Get("by_alias_or_id")))
				return nil
			}},
			{Pattern: "GET /v1/evaluator-criteria", Handle: func(c *server.Call) error {
				c.Send(http.StatusOK, ListCriteria(c.Request.URL.Query().Get("name")))
				return nil
			}},
		},
		Paths: []string{"/v1/evaluate", "/v1/evaluators", "/v1/evaluator-criteria"},
		Fail:  func(c *server.Call, f *server.Failure) { c.Send(f.Status(), newError(f.Message)) },
	}
}

func evaluate(c *server.Call) error {
	data, err := c.JSON()
	if err != nil {
		return err
	}
	in, err := Read(data)
	if err != nil {
		return server.Fail(server.InvalidRequest, "%v", err)
	}
	if err := c.CheckImages(in.Images()); err != nil {
		return err
	}
	ctx, finder := c.Request.Context(), c.Config().Finder
	scored := Scored{At: time.Now()}
	finds := in.Finds() && finder != nil
	switch {
	case in.Scores():
		base := server.Text{Forget: in.Capture == "none"}
		if finds {
			base.Entities = finder
		}
		results, err := c.Decide(ctx, []string{*in.Output}, base)
		if err != nil {
			return err
		}
		scored.Result, scored.Entities = results[0], results[0].Entities
		if scored.Parts, err = sentences(ctx, c, *in.Output, scored.Result); err != nil {
			return err
		}
	case finds:
		if scored.Entities, err = c.Find(ctx, finder, *in.Output, server.Turn{}); err != nil {
			return err
		}
	}
	if finds {
		scored.Health, scored.HIPAA = pii.HealthInformation(*in.Output, scored.Entities), hipaa(lookedFor(finder))
	}
	scored.Duration = time.Since(scored.At)
	answer := ToAnswer(in, scored)
	server.ShowNotMeasured(c.Header(), answer.Own.NotMeasured)
	c.Send(http.StatusOK, answer)
	return nil
}

// sentences returns the sentences of a text. It scores them only if the whole text fails:
// otherwise the answer needs only their positions.
func sentences(ctx context.Context, c *server.Call, text string, whole toxscreen.Result) ([]server.Sentence, error) {
	if whole.Attributes[toxscreen.Toxicity].Flagged {
		return c.Sentences(ctx, text, whole, toxscreen.Scores{}, server.Turn{})
	}
	var parts []server.Sentence
	for _, piece := range server.SplitSentences(text) {
		parts = append(parts, server.Sentence{Text: piece})
	}
	return parts, nil
}

// lookedFor returns the types of personal data that a finder looks for.
func lookedFor(finder *pii.Finder) []toxscreen.EntityType {
	can := finder.Findable()
	return slices.DeleteFunc(slices.Clone(finder.Settings().Types), func(t toxscreen.EntityType) bool {
		return slices.Contains(pii.Types(), t) && !slices.Contains(can, t)
	})
}

// hipaa lists which of the 18 identifiers a finder of some types looks for.
func hipaa(types []toxscreen.EntityType) HIPAA {
	out := HIPAA{LookedFor: []string{}, NotLookedFor: []string{}}
	for _, identifier := range pii.HIPAA() {
		line := identifier.Letter + " " + identifier.Name
		if identifier.Note != "" {
			line += ": " + identifier.Note
		}
		if !slices.ContainsFunc(identifier.Types, func(t toxscreen.EntityType) bool { return slices.Contains(types, t) }) {
			if len(identifier.Types) > 0 {
				line += ": the server is not set up to find them"
			}
			out.NotLookedFor = append(out.NotLookedFor, line)
			continue
		}
		out.LookedFor = append(out.LookedFor, line)
	}
	return out
}
