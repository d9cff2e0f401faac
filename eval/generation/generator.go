package generation

import "context"

// Generator is a language model at a server. Implementations must be safe for concurrent
// use.
type Generator interface {
	// Identify asks the server which model it has.
	Identify(ctx context.Context) (Identity, error)
	// Generate returns what the model writes after a prompt, and why it ends there: stop,
	// length, or nothing if that is not known. The text may be empty. An
	// unavailableError says that the server cannot answer any prompt.
	Generate(ctx context.Context, prompt string, p Protocol, seed int) (text, finish string, err error)
}

// Identity is what a server tells about itself and the model. Only Generator and Model are
// never empty.
type Identity struct {
	Generator string // ollama or openai
	Model     string
	Digest    string // of the model's weights
	Server    string // version of the server's software
}

// The values of [Settings].Generator beside [FromFile].
const (
	fromOllama = "ollama"
	fromServer = "openai"
)

// Why a text ends.
const (
	finishStop   = "stop"
	finishLength = "length"
)

// unavailableError is the error of a server that cannot answer any prompt, rather than this
// one.
type unavailableError struct{ error }

func (u *unavailableError) Unwrap() error { return u.error }
