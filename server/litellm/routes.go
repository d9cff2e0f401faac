package litellm

import (
	"net/http"
	"slices"

	"github.com/toxscreen/toxscreen/server"
)

// Format returns the format. LiteLLM reads only the status of a failure, and blocks the
// request.
func Format() server.Format {
	return server.Format{
		Name:   "litellm",
		Routes: []server.Route{{Pattern: "POST /beta/litellm_basic_guardrail_api", Handle: guard}},
	}
}

func guard(c *server.Call) error {
	data, err := c.JSON()
	if err != nil {
		return err
	}
	in, err := Read(data)
	if err != nil {
		return server.Fail(server.InvalidRequest, "%v", err)
	}
	if slices.Contains(in.NotMeasured(), server.Images) && !c.Config().IgnoreImages {
		server.ShowNotMeasured(c.Header(), in.NotMeasured())
		c.Send(http.StatusOK, NewImages(in))
		return nil
	}
	ctx := c.Request.Context()
	base := server.Text{Thresholds: in.Parameters.Thresholds, Language: in.Parameters.Language}
	results, err := c.Decide(ctx, in.Texts, base)
	if err != nil {
		return err
	}
	answer, left, err := ToAnswer(in, results)
	if err != nil {
		return server.Fail(server.InvalidRequest, "%v", err)
	}
	if len(left) > 0 {
		base.AnyLanguage = true // it was decided for the texts with the masked words
		if results, err = c.ScoreAll(ctx, left, base); err != nil {
			return err
		}
		in.Texts, in.Parameters.OnFlagged = left, Block
		rest, _, err := ToAnswer(in, results)
		if err != nil {
			return server.Fail(server.InvalidRequest, "%v", err)
		}
		if rest.BlockedReason != "" {
			answer = rest
			answer.BlockedReason += " That is without the words that could be masked."
		}
	}
	server.ShowNotMeasured(c.Header(), answer.Own.NotMeasured)
	c.Send(http.StatusOK, answer)
	return nil
}
