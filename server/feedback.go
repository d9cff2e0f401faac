package server

import (
	"context"
	"errors"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
)

// Label scores a text by the whole network and stores its labels together with the
// result, which [labelled.Read] takes with or without the text; l has the client's
// part. The judge is not asked, but a verdict that it has cached is stored too. A text
// that the queue does not admit is a failure, and nothing of it is stored.
func (c *Call) Label(ctx context.Context, l store.LabelSet) error {
	if err := l.Validate(); err != nil {
		return Fail(InvalidRequest, "failed to keep feedback: %v", err)
	}
	c.count(len(l.Text))
	screening, err := c.classify(ctx, c.server.screener.With(toxscreen.WithFullNetwork()), l.Text, Turn{})
	if err != nil {
		return err
	}
	result := screening.Result()
	if result.Judge.Pending {
		result = unasked(result, ", but the text came with feedback")
	}
	return c.Keep(ctx, l, result)
}

// Keep stores labels with the result of their text. Where the server stores no
// feedback, it does nothing.
func (c *Call) Keep(ctx context.Context, l store.LabelSet, result toxscreen.Result) error {
	feedback := c.server.config.Feedback
	if feedback == nil {
		return nil
	}
	l.Result, l.Source, l.Caller = result, c.format.Name, c.caller.Name
	switch err := feedback.Add(ctx, l); {
	case errors.Is(err, store.ErrFull):
		return &Failure{Code: notStored, Message: "failed to keep feedback: there is no room left in the feedback file or on its disk; the operator of the server must make some", Cause: err}
	case err != nil:
		return ended(ctx, err)
	}
	return nil
}
