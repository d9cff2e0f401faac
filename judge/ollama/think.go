package ollama

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
)

// How many tokens of an answer are reserved for what the model thinks first.
const (
	// lowThoughts is for the level "low" of gpt-oss, which always thinks.
	lowThoughts = 1024
	// freeThoughts is for models that think as long as they like.
	freeThoughts = 4096
)

// thinks sets how the model is told to think, and reserves tokens for it.
func (s *Session) thinks(how any, tokens int) {
	s.think = &api.ThinkValue{Value: how}
	if s.Limit > 0 {
		s.Limit = max(s.Limit+s.Thoughts-tokens, 1)
	}
	s.Thoughts = tokens
}

// alwaysThinks reports whether a model is of the family of gpt-oss, which knows levels
// of thinking and cannot be told not to think. What the server says of the family is
// the same for every name, whether from a registry or from `ollama create`.
func alwaysThinks(shown *api.ShowResponse) bool {
	return slices.Contains([]string{"gptoss", "gpt-oss"}, shown.Details.Family)
}

// formatIgnored reports whether the server ignores the format when the model is told
// not to think: for some models it waits for the end of a thought before it enforces
// the format (ollama/ollama#14645, #15260). Models often follow the prompt all the
// same, so an answer to a question does not show it. Here the format and the prompt
// demand different answers.
func (c *Client) formatIgnored(ctx context.Context, s *Session) (bool, error) {
	if c.config.Probe.Format == nil || s.Thoughts > 0 || !s.Thinking {
		return false, nil
	}
	const want = `"format"`
	r, err := c.call(ctx, s, Question{Messages: c.config.Probe.Messages, Format: json.RawMessage(`{"const":` + want + `}`), Predict: 16})
	return err == nil && strings.TrimSpace(r.Text) != want, err
}

// onlyThoughts reports whether a model has thought and has not begun to answer.
func onlyThoughts(text string, thought bool) bool {
	text = strings.TrimSpace(text)
	return text == "" && thought || strings.HasPrefix(text, "<think>") && !strings.Contains(text, "</think>")
}
