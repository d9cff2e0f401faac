package generation

import (
	"context"

	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Ollama is a model of an Ollama server.
type Ollama struct {
	model  string
	client *ollama.Client
}

// leastContext is a context size in tokens that is enough for most sets of prompts: a
// model's own is often so large that it does not fit into memory.
const leastContext = 2048

// NewOllama returns a model of an Ollama server. Model, Host, Timeout, LoadTimeout and
// Parallel of the configuration are used. The context is large enough for the
// longest prompt and an answer of most tokens, as far as the model's is.
func NewOllama(config ollama.Config, longest string, most int) (*Ollama, error) {
	config.Patient = true // a run takes long, and a restarting server should not end it
	size := max(leastContext, ollama.MostTokens([]ollama.Message{{Content: longest}})+most)
	config.Context = func(_, limit int) (int, error) {
		if limit > 0 {
			return min(size, limit), nil
		}
		return size, nil
	}
	client, err := ollama.New(config)
	if err != nil {
		return nil, err
	}
	return &Ollama{model: config.Model, client: client}, nil
}

// Close closes the connections to the server. No call may be in progress.
func (o *Ollama) Close() { o.client.Close() }

// Identify implements [Generator].
func (o *Ollama) Identify(ctx context.Context) (Identity, error) {
	session, err := o.client.Refresh(ctx)
	if err != nil {
		return Identity{}, err
	}
	version, err := o.client.Version(ctx)
	if err != nil {
		return Identity{}, err
	}
	return Identity{Generator: fromOllama, Model: o.model, Digest: session.Digest, Server: "ollama " + version}, nil
}

// Generate implements [Generator].
func (o *Ollama) Generate(ctx context.Context, prompt string, p Protocol, seed int) (text, finish string, err error) {
	q := ollama.Question{
		Predict:  p.MaxTokens,
		Sampling: &ollama.Sampling{Temperature: p.Temperature, TopP: p.TopP, Seed: seed},
	}
	if p.Chat {
		q.Messages = []ollama.Message{{Role: "user", Content: prompt}}
	} else {
		q.Prompt = prompt
	}
	reply, err := o.client.Ask(ctx, q)
	switch {
	case err == nil && reply.Cut == "":
		return reply.Text, finishStop, nil
	case err == nil:
		return reply.Text, finishLength, nil
	case ctx.Err() == nil && o.client.Failing():
		return "", "", &unavailableError{err}
	}
	return "", "", err
}
