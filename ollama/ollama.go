// Package ollama asks one model of an Ollama server:
//
//	client, err := ollama.New(ollama.Config{Model: model}) // a name of `ollama list`
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer client.Close()
//	reply, err := client.Ask(ctx, ollama.Question{
//		Messages: []ollama.Message{{Role: "user", Content: "Why is the sky blue?"}},
//		Predict:  200,
//	})
//
// The first question has the server load the model, and each keeps it loaded.
// A call that fails is repeated where that can help, and a server that fails
// again and again is left alone for some seconds. Prompts go to the configured
// address and nowhere else: not through a proxy, not along a redirection, and
// not to a model that the server itself asks elsewhere.
package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/sony/gobreaker/v2"
)

// Types of Ollama's own client, so that callers need not import it.
type (
	// Message is one message of a prompt, with the role system, user or
	// assistant.
	Message = api.Message
	// Logprob is a token that the model wrote and its natural log-probability,
	// with the likeliest tokens in its place.
	Logprob = api.Logprob
	// TokenLogprob is a token and its natural log-probability.
	TokenLogprob = api.TokenLogprob
)

// Config says which model is asked, and how. The zero value of each field but
// Model is a default.
type Config struct {
	// Model is its name on the server, as `ollama list` shows it.
	Model string
	// Name is what errors call the model: "judge" makes "the judge is busy".
	// It is "model" where it is empty.
	Name string
	// Host is the server's address as [Address] reads it.
	Host string
	// Timeout is for one [Exchange], waiting for a free place and repeated
	// calls included, loading the model not: 60 seconds.
	Timeout time.Duration
	// LoadTimeout is for loading the model: 5 minutes.
	LoadTimeout time.Duration
	// Parallel is how many calls are under way at once: 1. More than the
	// server's OLLAMA_NUM_PARALLEL wait there.
	Parallel int
	// Probe is a prompt that is sent to load the model and to count tokens.
	// The server keeps it evaluated: prompts with the same beginning take less
	// time. An empty one loads the model all the same.
	Probe []Message
	// Context returns how many tokens of context the model gets, which is the
	// same for every call: for another number the server loads the model anew.
	// prefix is the most tokens that the probe may have, limit the most tokens
	// of context that the model can have, 0 where that is not known. An error
	// means that no context will do. nil is 4,096 tokens, or limit where that
	// is less.
	Context func(prefix, limit int) (int, error)
}

// defaultContext is Ollama's own default on machines with little video memory.
const defaultContext = 4096

// Client asks one model of one server. It is safe for concurrent use.
type Client struct {
	config  Config
	api     *api.Client
	base    *url.URL
	http    *http.Client
	slots   chan struct{} // one for each call under way
	queue   int           // exchanges that may wait for one
	in      atomic.Int64  // exchanges that have begun and not ended
	breaker *gobreaker.CircuitBreaker[Reply]
	last    atomic.Pointer[error] // what opened the breaker

	// found is what the server said of the model; nil where it has to be
	// asked, again.
	found atomic.Pointer[Session]
	// Only who holds the lock asks, and has what follows.
	lock     chan struct{}
	failure  *fault // of the last time; nil where it went well
	failed   time.Time
	measured struct { // the probe, for when it is sent again
		digest string
		tokens int
	}
}

const (
	// keepAlive is how long the server keeps the model after a call. It is sent
	// with each, so that a pause in a batch does not cost a load.
	keepAlive = 10 * time.Minute
	attempts  = 4
	// maxQueue is how many exchanges may wait for a free place. More are refused,
	// so that callers notice before their time is over.
	maxQueue = 256
	// A failing server is left alone for breakerPause after breakerFailures
	// questions in a row, so that a batch does not wait for each in turn.
	breakerFailures = 3
	breakerPause    = 10 * time.Second
)

// New returns a client. The server is not asked before the first question.
func New(config Config) (*Client, error) {
	if config.Model == "" {
		return nil, errors.New("failed to make a client of Ollama: no model is named: take one of `ollama list`")
	}
	base, err := Address(config.Host)
	if err != nil {
		return nil, err
	}
	config.Name = cmp.Or(config.Name, "model")
	config.Timeout = cmp.Or(config.Timeout, time.Minute)
	config.LoadTimeout = cmp.Or(config.LoadTimeout, 5*time.Minute)
	config.Parallel = cmp.Or(config.Parallel, 1)
	if config.Context == nil {
		config.Context = func(_, limit int) (int, error) {
			if limit > 0 {
				return min(defaultContext, limit), nil
			}
			return defaultContext, nil
		}
	}
	c := &Client{
		config: config, base: base, queue: maxQueue,
		slots: make(chan struct{}, config.Parallel), lock: make(chan struct{}, 1),
		http: &http.Client{
			// Neither a proxy nor a redirection: a prompt goes to the address
			// that was configured, and nowhere else.
			Transport: &http.Transport{MaxIdleConnsPerHost: config.Parallel, IdleConnTimeout: time.Minute},
			CheckRedirect: func(request *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s, which no text is sent to: name that address if you trust it", request.URL.Host)
			},
		},
	}
	c.api = api.NewClient(base, c.http)
	c.breaker = gobreaker.NewCircuitBreaker[Reply](gobreaker.Settings{
		Timeout:      breakerPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerFailures },
		IsSuccessful: func(err error) bool { _, failed := errors.AsType[*fault](err); return !failed },
	})
	return c, nil
}

// Close gives the connections to the server back. No call may be under way.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Question is what the model is asked in one call. It answers with the
// likeliest token each time (temperature 0), and without thinking first.
type Question struct {
	Messages []Message
	// Format is a JSON schema that the answer has to fit; nil is free text.
	Format json.RawMessage
	// Predict is how many tokens the answer may have. With those of the prompt
	// they must fit into the context. An answer ends at 64 KiB in any case.
	Predict int
	// Logprobs is how many of the likeliest tokens the reply has for each token
	// of the answer: at most 20, the most that the server gives. 0 is no
	// log-probabilities at all.
	Logprobs int
	// Least is how many tokens the prompt has at least, as far as that is
	// known. By it a prompt is noticed that a server before Ollama 0.12.11 cut.
	Least int
}

// Reply is what came of a question.
type Reply struct {
	Text string
	// Logprobs are the answer's tokens; nil where none were asked for, or where
	// the server gives none, as before Ollama 0.12.11.
	Logprobs []Logprob
	// Cut says why Text is not whole, such as "it was cut off at 200 tokens";
	// it is empty where Text is whole.
	Cut string
	// InputTokens are the prompt's and OutputTokens the answer's, as the server
	// counted them: 0 where the answer was left before its end.
	InputTokens, OutputTokens int
	// Session is what the question was part of.
	Session *Session
}
