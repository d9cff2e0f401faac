package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
)

// Feedback stores label sets. [store.Feedback] is one.
// Implementations must be safe for concurrent use.
type Feedback interface {
	// Add stores a label set. When it returns nil, the set is on disk. An error has
	// [store.ErrFull] in its chain where there is no space left.
	Add(ctx context.Context, l store.LabelSet) error
}

// label scores a text by the whole network and stores its labels together with the
// result, which [labelled.Read] takes with or without the text; l has the client's
// part. The judge is not asked, but a verdict that it has cached is stored too. A text
// that the queue does not admit is a failure, and nothing of it is stored.
func (s *Server) label(ctx context.Context, l store.LabelSet) error {
	if err := l.Validate(); err != nil {
		return fail(invalidRequest, "failed to keep feedback: %v", err)
	}
	exchangeOf(ctx).count(len(l.Text))
	screening, err := s.begin(ctx, s.screener.With(toxscreen.WithFullNetwork()), request{text: l.Text})
	if err != nil {
		return s.ended(ctx, err)
	}
	result := screening.Result()
	if result.Judge.Pending {
		result = unasked(result, ", but the text came with feedback")
	}
	return s.keep(ctx, l, result)
}

// keep stores labels with the result of their text. Where the server stores no
// feedback, it does nothing.
func (s *Server) keep(ctx context.Context, l store.LabelSet, result toxscreen.Result) error {
	if s.config.Feedback == nil {
		return nil
	}
	exchange := exchangeOf(ctx)
	l.Result, l.Source, l.Caller = result, exchange.api.name, exchange.caller.Name
	switch err := s.config.Feedback.Add(ctx, l); {
	case errors.Is(err, store.ErrFull):
		return &failure{code: notStored, message: "failed to keep feedback: there is no room left in the feedback file or on its disk; the operator of the server must make some", cause: err}
	case err != nil:
		return s.ended(ctx, err)
	}
	return nil
}

// feedbackRequest is the body of POST /v1/feedback.
type feedbackRequest struct {
	Text      *string          `json:"text"`
	Labels    toxscreen.Scores `json:"labels"`
	Weight    *float64         `json:"weight"`
	Community string           `json:"community"`
	Token     string           `json:"token"`
}

func (s *Server) nativeFeedback(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	var in feedbackRequest
	if err := decode(data, &in); err != nil {
		return err
	}
	switch {
	case s.config.Feedback == nil:
		return fail(unsupported, "failed to keep feedback: this server keeps none")
	case in.Text == nil:
		return fail(invalidRequest, `failed to keep feedback: there is no text: send {"text": "…", "labels": {"toxicity": 1}}`)
	case in.Weight != nil && *in.Weight == 0:
		return fail(invalidRequest, "failed to keep feedback: the weight is 0: leave the text out, or the weight")
	}
	l := store.LabelSet{Text: *in.Text, Labels: in.Labels, Community: in.Community, Token: in.Token}
	if in.Weight != nil {
		l.Weight = *in.Weight
	}
	if err := s.label(r.Context(), l); err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, map[string]bool{"stored": true})
	return nil
}
