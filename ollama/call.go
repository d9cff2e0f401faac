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
	// loop is how much white space in a row ends an answer: grammars allow it, and
	// models at temperature 0 do not leave it again.
	loop = 64
	// The server stops a model after 30 tokens that are the same, ignoring white
	// space, and sends no last message.
	repeated  = 25
	maxAnswer = 64 << 10 // bytes
)

// call makes one call. All calls have the same options except the length of the
// answer: the server would reload the model for others.
func (c *Client) call(ctx context.Context, session *Session, q Question) (Reply, error) {
	no := false
	request := &api.ChatRequest{
		Model:    c.config.Model,
		Messages: q.Messages,
		Format:   q.Format,
		// A prompt that does not fit is an error instead of truncated.
		Truncate: &no,
		Shift:    &no,
		Think:    session.think,
		Options: map[string]any{
			"num_ctx":     session.Context,
			"num_predict": q.Predict,
			"temperature": 0,
			"seed":        0, // hardly matters at temperature 0
			// Seven times "no" must not be penalised as a repetition.
			"repeat_penalty":    1,
			"presence_penalty":  0,
			"frequency_penalty": 0,
		},
		Logprobs:    q.Logprobs > 0,
		TopLogprobs: q.Logprobs,
	}
	var r Reply
	var text strings.Builder
	var pieces []string // tokens, as far as the server separates them
	done, thought, blanks := false, false, 0
	err := c.api.Chat(ctx, request, func(part api.ChatResponse) error {
		text.WriteString(part.Message.Content)
		thought = thought || part.Message.Thinking != ""
		r.Logprobs = append(r.Logprobs, part.Logprobs...)
		for _, token := range part.Logprobs {
			pieces = append(pieces, token.Token)
		}
		if piece := part.Message.Thinking + part.Message.Content; len(part.Logprobs) == 0 && piece != "" {
			pieces = append(pieces, piece)
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
			switch {
			case part.DoneReason != "length":
			case onlyThoughts(text.String(), thought):
				r.Cut = fmt.Sprintf("the model's thoughts used all %d tokens and left none for an answer; use a model that thinks less or that can be told not to think", q.Predict)
			default:
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
		// If a stream breaks off, the client returns no error, or the last half
		// line as one.
		return r, ctx.Err()
	case err != nil:
		return r, err
	case !done && blanks >= repeated:
		r.Cut = "it ends in white space without end"
	case !done && repeats(pieces):
		// The server stops a model that repeats one token, without a message.
		r.Cut = "it repeats one token"
	case !done:
		return r, fmt.Errorf("the answer broke off: %w", io.ErrUnexpectedEOF)
	}
	return r, nil
}

var errEnough = errors.New("enough")

// repeats reports whether the last tokens are all the same, ignoring white space.
func repeats(tokens []string) bool {
	if len(tokens) < repeated {
		return false
	}
	last := tokens[len(tokens)-repeated:]
	return !slices.ContainsFunc(last, func(t string) bool { return strings.TrimSpace(t) != strings.TrimSpace(last[0]) })
}

// whole checks that the server evaluated all of a prompt. A server too old for
// "truncate" silently truncates it at the front, where instructions are.
func whole(session *Session, q Question, r Reply) error {
	if r.InputTokens == 0 { // the answer was not read to its end
		return nil
	}
	most := session.Context - q.Predict
	if session.Thoughts > 0 {
		most = session.Context // the server may have evaluated the thoughts, too
	}
	if r.InputTokens < q.Least || r.InputTokens > most {
		return fmt.Errorf("the server evaluated %d tokens of the prompt, which should be between %d and %d: "+
			"it truncated the prompt; use Ollama 0.12.11 or later", r.InputTokens, q.Least, most)
	}
	return nil
}
