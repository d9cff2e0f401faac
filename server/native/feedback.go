package native

import (
	"net/http"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/server"
)

// feedbackRequest is the body of POST /v1/feedback.
type feedbackRequest struct {
	Text      *string          `json:"text"`
	Labels    toxscreen.Scores `json:"labels"`
	Weight    *float64         `json:"weight"`
	Community string           `json:"community"`
	Token     string           `json:"token"`
}

func feedback(c *server.Call) error {
	var in feedbackRequest
	if err := c.Decode(&in); err != nil {
		return err
	}
	switch {
	case c.Config().Feedback == nil:
		return server.Fail(server.Unsupported, "failed to keep feedback: this server keeps none")
	case in.Text == nil:
		return server.Fail(server.InvalidRequest, `failed to keep feedback: there is no text: send {"text": "…", "labels": {"toxicity": 1}}`)
	case in.Weight != nil && *in.Weight == 0:
		return server.Fail(server.InvalidRequest, "failed to keep feedback: the weight is 0: leave the text out, or the weight")
	}
	l := store.LabelSet{Text: *in.Text, Labels: in.Labels, Community: in.Community, Token: in.Token}
	if in.Weight != nil {
		l.Weight = *in.Weight
	}
	if err := c.Label(c.Request.Context(), l); err != nil {
		return err
	}
	c.Send(http.StatusCreated, map[string]bool{"stored": true})
	return nil
}
