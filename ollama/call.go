package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
)

const (
	// loop is how much white space in a row is no answer any more: grammars
	// allow it, and models at temperature 0 do not leave it again.
	loop = 64
	// The server itself stops a model after 30 tokens that are the same but for
	// white space, without a last message.
	repeated  = 25
	maxAnswer = 64 << 10 // bytes
)

// call makes one call. Every one has the same options but for the length of
// the answer: others would make the server load the model anew.
func (c *Client) call(ctx context.Context, session *Session, q Question) (Reply, error) {
	no := false
	request := &api.ChatRequest{
		Model:    c.config.Model,
		Messages: q.Messages,
		Format:   q.Format,
		// Where a prompt does not fit, an error rather than a cut.
		Truncate:  &no,
		Shift:     &no,
		KeepAlive: &api.Duration{Duration: keepAlive},
		Options: map[string]any{
			"num_ctx":     session.Context,
			"num_predict": q.Predict,
			"temperature": 0,
			"seed":        0, // of little matter at temperature 0
			// "no" seven times in a row is no repetition to be punished.
			"repeat_penalty":    1,
			"presence_penalty":  0,
			"frequency_penalty": 0,
		},
		Logprobs:    q.Logprobs > 0,
		TopLogprobs: q.Logprobs,
	}
	if session.Thinking {
		request.Think = &api.ThinkValue{Value: false}
	}
	var r Reply
	var text strings.Builder
	var pieces []string // tokens, as far as the server tells them apart
	done, blanks := false, 0
	err := c.api.Chat(ctx, request, func(part api.ChatResponse) error {
		text.WriteString(part.Message.Content)
		r.Logprobs = append(r.Logprobs, part.Logprobs...)
		for _, token := range part.Logprobs {
			pieces = append(pieces, token.Token)
		}
		if len(part.Logprobs) == 0 && part.Message.Content != "" {
			pieces = append(pieces, part.Message.Content)
		}
		if trimmed := strings.TrimRight(part.Message.Content, " \t\r\n"); trimmed == "" {
			blanks += len(part.Message.Content)
		} else {
			blanks = len(part.Message.Content) - len(trimmed)
		}
		switch {
		case part.Done:
			done = true
			r.InputTokens, r.OutputTokens = part.PromptEvalCount, part.EvalCount
			if part.DoneReason == "length" {
				r.Cut = fmt.Sprintf("it was cut off at %d tokens", q.Predict)
			}
		case blanks > loop:
			r.Cut = "it ends in white space without end"
			return errEnough
		case text.Len() > maxAnswer:
			r.Cut = fmt.Sprintf("it has more than %d bytes", maxAnswer)
			return errEnough
		}
		return nil
	})
	r.Text = text.String()
	switch {
	case errors.Is(err, errEnough):
		return r, nil
	case ctx.Err() != nil && (err != nil || !done):
		// The client ends a stream that breaks off without an error, or shows
		// the half line that came last as one.
		return r, ctx.Err()
	case err != nil:
		return r, err
	case !done && blanks >= repeated:
		r.Cut = "it ends in white space without end"
	case !done && repeats(pieces):
		// The server stops a model that repeats one token, and says nothing.
		r.Cut = "it repeats one token"
	case !done:
		return r, fmt.Errorf("the answer broke off: %w", io.ErrUnexpectedEOF)
	}
	return r, nil
}

var errEnough = errors.New("enough")

// repeats tells whether the last tokens are all the same, blanks aside.
func repeats(tokens []string) bool {
	if len(tokens) < repeated {
		return false
	}
	last := tokens[len(tokens)-repeated:]
	return !slices.ContainsFunc(last, func(t string) bool { return strings.TrimSpace(t) != strings.TrimSpace(last[0]) })
}

// whole checks that the server evaluated all of a prompt. A server too old for
// "truncate" cuts it from the front, where instructions are, and says nothing.
func whole(session *Session, q Question, r Reply) error {
	if r.InputTokens == 0 { // 0 where the answer was left before its end
		return nil
	}
	if r.InputTokens < q.Least || r.InputTokens+q.Predict > session.Context {
		return fmt.Errorf("the server evaluated %d tokens of the prompt, which should be between %d and %d: "+
			"it cut something off; use Ollama 0.12.11 or later", r.InputTokens, q.Least, session.Context-q.Predict)
	}
	return nil
}
