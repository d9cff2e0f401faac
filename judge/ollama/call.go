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
// answer and the sampling: the server would reload the model for others.
func (c *Client) call(ctx context.Context, session *Session, q Question) (Reply, error) {
	no := false
	options := map[string]any{
		"num_ctx":     session.Context,
		"num_predict": q.Predict,
		"temperature": 0,
		"seed":        0, // hardly matters at temperature 0
		// Seven times "no" must not be penalised as a repetition.
		"repeat_penalty":    1,
		"presence_penalty":  0,
		"frequency_penalty": 0,
	}
	if s := q.Sampling; s != nil {
		options["temperature"], options["top_p"], options["seed"] = s.Temperature, s.TopP, s.Seed
		// By default only the 40 most probable tokens are in question.
		options["top_k"], options["min_p"], options["typical_p"] = 0, 0, 1
	}
	var r Reply
	var text strings.Builder
	var pieces []string // tokens, as far as the server separates them
	done, thought, blanks := false, false, 0
	add := func(content, thinking string, logprobs []Logprob) {
		text.WriteString(content)
		thought = thought || thinking != ""
		r.Logprobs = append(r.Logprobs, logprobs...)
		for _, token := range logprobs {
			pieces = append(pieces, token.Token)
		}
		if piece := thinking + content; len(logprobs) == 0 && piece != "" {
			pieces = append(pieces, piece)
		}
		if trimmed := strings.TrimRight(content, " \t\r\n"); trimmed == "" {
			blanks += len(content)
		} else {
			blanks = len(content) - len(trimmed)
		}
	}
	// check follows each part of an answer. reason is why a complete answer ends.
	check := func(complete bool, reason string, counted api.Metrics) error {
		switch {
		case complete:
			done = true
			r.InputTokens, r.OutputTokens = counted.PromptEvalCount, counted.EvalCount
			switch {
			case reason != "length":
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
	}
	// A prompt that does not fit is an error instead of truncated.
	var err error
	if q.Prompt != "" {
		request := &api.GenerateRequest{
			Model: c.config.Model, Prompt: q.Prompt, Raw: true, Format: q.Format, Truncate: &no, Shift: &no,
			Options: options, Logprobs: q.Logprobs > 0, TopLogprobs: q.Logprobs,
		}
		err = c.api.Generate(ctx, request, func(part api.GenerateResponse) error {
			add(part.Response, part.Thinking, part.Logprobs)
			return check(part.Done, part.DoneReason, part.Metrics)
		})
	} else {
		request := &api.ChatRequest{
			Model: c.config.Model, Messages: q.Messages, Format: q.Format, Truncate: &no, Shift: &no, Think: session.think,
			Options: options, Logprobs: q.Logprobs > 0, TopLogprobs: q.Logprobs,
		}
		err = c.api.Chat(ctx, request, func(part api.ChatResponse) error {
			add(part.Message.Content, part.Message.Thinking, part.Logprobs)
			return check(part.Done, part.DoneReason, part.Metrics)
		})
	}
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
