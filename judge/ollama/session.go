package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
	"github.com/sony/gobreaker/v2"
)

// Session is what the server said about the model. It is valid until the server or
// the model changes. Its fields are read-only.
type Session struct {
	Digest   string // SHA-256 of the model's manifest, hexadecimal
	Thinking bool   // whether the model can think before it answers
	// Thoughts is the number of tokens of each answer that are reserved for what the
	// model thinks first: 0 if it is told not to think, or cannot.
	Thoughts int
	// FormatIgnored reports whether the server ignores Question.Format when the model
	// is told not to think. If Thoughts is 0, answers are in the model's own form.
	FormatIgnored bool
	// Limit is the model's maximum context size in tokens without Thoughts, 0 if it
	// is not known.
	Limit int
	// Context is the context size of every call in tokens: what Config.Context
	// returned for Planned and Limit, and Thoughts. It is 0 if the model was not
	// loaded.
	Context int
	Planned int // tokens that were reserved for the probe
	Prefix  int // tokens of the probe, as the server counted them

	think *api.ThinkValue // as it is sent; nil for models that cannot think
	used  atomic.Int64    // Unix time of the last answer
}

// frame is for the model's chat template, in tokens.
const frame = 400

// MostTokens returns the maximum number of tokens of a prompt, for every
// vocabulary: a token has a byte or more, and 400 are for the chat template.
func MostTokens(prompt []Message) int { return bytesOf(prompt) + frame }

func bytesOf(prompt []Message) int {
	n := 0
	for _, m := range prompt {
		n += len(m.Content)
	}
	return n
}

// forget discards a session, so that the server is asked again.
func (c *Client) forget(old *Session) {
	if old != nil {
		c.found.CompareAndSwap(old, nil)
	}
}

// Session returns the current session without contacting the server; nil if there
// is none, or if the server may have unloaded the model since.
func (c *Client) Session() *Session {
	found := c.found.Load()
	if found == nil || time.Since(time.Unix(found.used.Load(), 0)) >= stays-time.Minute {
		return nil
	}
	return found
}

// Connect returns the session. If there is none, it makes the server load the
// model.
func (c *Client) Connect(ctx context.Context) (*Session, error) {
	found, err := c.connect(ctx)
	return found, c.shown(err)
}

func (c *Client) connect(ctx context.Context) (*Session, error) {
	if found := c.Session(); found != nil {
		return found, nil
	}
	return c.once(ctx, func() (*Session, error) {
		found, err := c.look(ctx)
		if err != nil {
			return nil, err
		}
		found.used.Store(time.Now().Unix())
		c.found.Store(found)
		return found, nil
	})
}

// Identify asks the server which model it has, without loading it: if it was not
// loaded before, the session has no Context and no Prefix. It does not call a
// server that fails repeatedly.
func (c *Client) Identify(ctx context.Context) (*Session, error) {
	if found := c.Session(); found != nil {
		return found, nil
	}
	if c.Failing() {
		return nil, errors.New("the server failed repeatedly")
	}
	found, err := c.once(ctx, func() (*Session, error) { return c.identify(ctx) })
	return found, c.shown(err)
}

// Refresh is Identify, but asks the server even if there is a session, which ends if
// the server has another model by now. Questions do not wait for it.
func (c *Client) Refresh(ctx context.Context) (*Session, error) {
	current := c.found.Load()
	found, err := c.identify(ctx)
	if err != nil {
		return nil, c.shown(err)
	}
	if current != nil && current.Digest == found.Digest {
		return current, nil
	}
	c.forget(current)
	return found, nil
}

// Version returns the version of the server's software.
func (c *Client) Version(ctx context.Context) (string, error) {
	soon, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	version, err := c.api.Version(soon)
	if err != nil {
		return "", c.shown(c.explain(ctx, err))
	}
	return version, nil
}

// once lets one of several concurrent callers ask the server. If that fails, the
// callers that waited get the same error instead of each waiting for the same
// failure. If a retry cannot help, callers that come soon after get it, too.
func (c *Client) once(ctx context.Context, find func() (*Session, error)) (*Session, error) {
	came := time.Now()
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.lock }()
	if found := c.Session(); found != nil {
		return found, nil
	}
	if c.failure != nil && (c.failed.After(came) || !c.failure.again && time.Since(c.failed) < breakerPause) {
		return nil, c.failure
	}
	found, err := find()
	c.failure, _ = errors.AsType[*fault](err)
	c.failed = time.Now()
	return found, err
}

// Failing reports whether the server failed repeatedly and is not called for now. Callers
// who do not need an answer should not ask then.
func (c *Client) Failing() bool { return c.breaker.State() != gobreaker.StateClosed }

// identify asks for the model and its capabilities. Errors are faults or the
// context's.
func (c *Client) identify(ctx context.Context) (*Session, error) {
	found := &Session{}
	soon, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	models, err := c.api.List(soon)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	i := slices.IndexFunc(models.Models, func(m api.ListModelResponse) bool {
		return strings.EqualFold(m.Name, c.config.Model) || strings.EqualFold(m.Name, c.config.Model+":latest")
	})
	if i < 0 {
		return nil, c.missing()
	}
	found.Digest = models.Models[i].Digest
	shown, err := c.api.Show(soon, &api.ShowRequest{Model: c.config.Model})
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if shown.RemoteHost != "" || shown.RemoteModel != "" {
		return nil, &fault{fmt.Sprintf("model %s would be asked at another host", c.config.Model), fmt.Errorf("model %s runs at %s, where the texts would be sent: use a model that runs on the server itself", c.config.Model, cmp.Or(shown.RemoteHost, "another host")), false}
	}
	if !slices.Contains(shown.Capabilities, model.CapabilityCompletion) && len(shown.Capabilities) > 0 {
		return nil, &fault{fmt.Sprintf("model %s generates no text", c.config.Model), fmt.Errorf("model %s generates no text: use one that does", c.config.Model), false}
	}
	found.Thinking = slices.Contains(shown.Capabilities, model.CapabilityThinking)
	for name, value := range shown.ModelInfo {
		if length, ok := value.(float64); ok && strings.HasSuffix(name, ".context_length") {
			found.Limit = int(length)
		}
	}
	switch {
	case alwaysThinks(shown):
		found.thinks("low", lowThoughts)
	case found.Thinking:
		found.thinks(false, 0)
	}
	c.reached.Store(true)
	return found, nil
}

// look asks for the model, loads it and finds out how to ask it. Errors are faults
// or the context's.
func (c *Client) look(ctx context.Context) (*Session, error) {
	found, err := c.identify(ctx)
	if err != nil {
		return nil, err
	}
	loading, cancel := context.WithTimeout(ctx, c.config.LoadTimeout)
	defer cancel()
	err = c.prepare(loading, found)
	if _, ok := errors.AsType[*fault](err); err == nil || ok {
		return found, err
	}
	if loading.Err() != nil && ctx.Err() == nil {
		return nil, &fault{fmt.Sprintf("model %s was not loaded within %v", c.config.Model, c.config.LoadTimeout), fmt.Errorf("model %s at %s was not loaded within %v: raise the limit for loading, load it first with `ollama run %s`, or use a smaller one",
			c.config.Model, c.base.Host, c.config.LoadTimeout, c.config.Model), false}
	}
	return nil, c.explain(ctx, err)
}

// prepare loads the model and finds out whether it has to think.
func (c *Client) prepare(ctx context.Context, found *Session) error {
	if c.measured.digest == found.Digest {
		found.Planned, found.FormatIgnored = c.measured.tokens, c.measured.formatIgnored
		if c.measured.thinksFirst {
			found.thinks(true, freeThoughts)
		}
		return c.load(ctx, found)
	}
	// English has about four bytes per token.
	found.Planned = bytesOf(c.config.Probe.Messages) / 2
	if err := c.load(ctx, found); err != nil {
		return err
	}
	var err error
	if found.FormatIgnored, err = c.formatIgnored(ctx, found); err != nil {
		return err
	}
	if found.FormatIgnored {
		// A thought costs many times the tokens of an answer, so the model thinks
		// only if its answers are of no use otherwise.
		r, err := c.call(ctx, found, c.config.Probe)
		if err != nil {
			return err
		}
		fits := r.Cut == "" && c.config.Fits(r.Text)
		if c.config.Log != nil {
			c.config.Log.Warn("the "+c.config.Name+"'s server ignores the format of answers of a model that is told not to think", "model", c.config.Model, "thinks", !fits)
		}
		if !fits {
			found.thinks(true, freeThoughts)
			if err := c.load(ctx, found); err != nil {
				return err
			}
		}
	}
	c.measured.digest, c.measured.tokens = found.Digest, found.Planned
	c.measured.formatIgnored, c.measured.thinksFirst = found.FormatIgnored, found.Thoughts == freeThoughts
	return nil
}

// load makes the server load the model, counts the tokens of the probe, which stays
// in the server's prompt cache, and sets the context. found.Planned is an estimate
// of the number of tokens; if the probe has more, it is sent again with as much room
// as it can need.
func (c *Client) load(ctx context.Context, found *Session) (err error) {
	most := MostTokens(c.config.Probe.Messages)
	first := Question{Messages: c.config.Probe.Messages, Predict: 1}
	for ; ; found.Planned = most {
		if found.Context, err = c.config.Context(found.Planned, found.Limit); err != nil {
			return &fault{err.Error(), err, false}
		}
		found.Context += found.Thoughts
		r, err := c.call(ctx, found, first)
		if err != nil && strings.Contains(err.Error(), "think value") && found.think.IsString() {
			// The model's template is not the one of its family, and so the server
			// knows no levels.
			found.thinks(false, found.Thoughts)
			r, err = c.call(ctx, found, first)
		}
		tooLong := err != nil && strings.Contains(err.Error(), "exceeds the context length")
		if err != nil && !tooLong {
			return err
		}
		if !tooLong && r.InputTokens <= found.Planned {
			found.Prefix = r.InputTokens
			return nil
		}
		if found.Planned == most {
			err := fmt.Errorf("model %s needs %d tokens for a prompt of %d bytes, which is impossible", c.config.Model, r.InputTokens, bytesOf(c.config.Probe.Messages))
			return &fault{err.Error(), err, false}
		}
	}
}
