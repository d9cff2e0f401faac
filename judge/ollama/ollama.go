// Package ollama asks one model of an Ollama server:
//
//	client, err := ollama.New(ollama.Config{Model: model}) // a name from `ollama list`
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer client.Close()
//	reply, err := client.Ask(ctx, ollama.Question{
//		Messages: []ollama.Message{{Role: "user", Content: "Why is the sky blue?"}},
//		Predict:  200,
//	})
//
// The first question makes the server load the model. A failed call is retried if that can
// help, and a server that fails repeatedly is not called for some seconds. Prompts are sent
// only to the configured address: never through a proxy, along a redirection, or to a model
// that the server forwards to another host.
package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
	// with the most probable tokens in its place.
	Logprob = api.Logprob
	// TokenLogprob is a token and its natural log-probability.
	TokenLogprob = api.TokenLogprob
)

// Config configures a client. The zero value of each field except Model is a
// default.
type Config struct {
	// Model is its name on the server, as `ollama list` shows it.
	Model string
	// Name is the model's name in errors: "judge" gives "the judge is busy". The
	// default is "model".
	Name string
	// Host is the server's address as [Address] reads it.
	Host string
	// Log gets the server's failures, with the server's address and words. Errors then
	// leave both out, so that they may be shown to people who must not know them. Without
	// a Log, errors contain both.
	Log *slog.Logger
	// Timeout is the time limit for one [Exchange], including waiting for a free
	// slot and retries, but not loading the model. The default is 60 seconds.
	Timeout time.Duration
	// LoadTimeout is the time limit for loading the model. The default is 5
	// minutes.
	LoadTimeout time.Duration
	// Parallel is the number of concurrent calls. The default is 1. Calls beyond
	// the server's OLLAMA_NUM_PARALLEL wait there.
	Parallel int
	// Patient makes questions wait while a server that has answered before fails or
	// restarts: for Timeout and 10 seconds from its first failure. After that, and
	// without it, a question fails after four calls.
	Patient bool
	// Probe is a question whose prompt loads the model and whose tokens are counted.
	// The server keeps it in its cache: prompts with the same beginning take less
	// time. An empty probe loads the model, too. If it has a Format, like the
	// questions that follow, the client finds out whether the server enforces it.
	Probe Question
	// Fits reports whether an answer to the probe can be used although the server
	// ignored its Format. If it cannot, the model thinks before every answer, after
	// which the server enforces the Format. By default every answer can be used.
	Fits func(answer string) bool
	// Context returns the context size in tokens, which is the same for every call:
	// the server reloads the model for another size. prefix is the maximum number
	// of tokens of the probe, limit the model's maximum context size, 0 if it is
	// not known. An error means that no size is sufficient. The default is 4,096
	// tokens, or limit if that is less.
	Context func(prefix, limit int) (int, error)
}

// defaultContext is Ollama's default on machines with little video memory.
const defaultContext = 4096

// Client asks one model of one server. It is safe for concurrent use.
type Client struct {
	config  Config
	api     *api.Client
	base    *url.URL
	http    *http.Client
	slots   chan struct{} // one for each call in progress
	queue   int           // exchanges that may wait for a slot
	in      atomic.Int64  // exchanges that have begun and not ended
	breaker *gobreaker.CircuitBreaker[Reply]
	last    atomic.Pointer[fault] // that opened the breaker

	reached atomic.Bool               // whether the server has ever described the model
	failing atomic.Pointer[time.Time] // the first failure since the last answer; nil if there is none
	waiting atomic.Int64              // questions that wait for a failing server

	// found is the current session; nil if the server has to be asked, again.
	found atomic.Pointer[Session]
	// Only the holder of the lock asks the server, and uses the fields below.
	lock     chan struct{}
	failure  *fault // of the last attempt; nil if it succeeded
	failed   time.Time
	measured struct { // about the probe, for sending it again to the same model
		digest        string
		tokens        int
		formatIgnored bool
		thinksFirst   bool
	}
}

const (
	// stays is how long a server keeps a model loaded after a call unless its
	// OLLAMA_KEEP_ALIVE says otherwise. Calls send no keep_alive: it would override
	// what the server's operator chose.
	stays    = 5 * time.Minute
	attempts = 4
	// maxQueue is the maximum number of exchanges that wait for a free slot. More
	// are rejected, so that callers notice before their time is over.
	maxQueue = 256
	// A failing server is not called for breakerPause after breakerFailures
	// questions in a row, so that a batch does not wait for each failure.
	breakerFailures = 3
	breakerPause    = 10 * time.Second
	// recheck is how often a patient question tries a failing server again.
	recheck = time.Second
)

// New returns a client. It does not contact the server before the first question.
func New(config Config) (*Client, error) {
	if config.Model == "" {
		return nil, errors.New("failed to create an Ollama client: no model is given: choose one from `ollama list`")
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
	if config.Fits == nil {
		config.Fits = func(string) bool { return true }
	}
	c := &Client{
		config: config, base: base, queue: maxQueue,
		slots: make(chan struct{}, config.Parallel), lock: make(chan struct{}, 1),
		http: &http.Client{
			// No proxy and no redirection: prompts are sent only to the configured
			// address.
			Transport: &http.Transport{MaxIdleConnsPerHost: config.Parallel, IdleConnTimeout: time.Minute},
			CheckRedirect: func(request *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s, and redirections are not followed: configure that address if you trust it", request.URL.Host)
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

// Close closes the connections to the server. No call may be in progress.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Question is one call of a model. The model writes the most probable token each
// time (temperature 0) unless it has a Sampling. It does not think first if that can be
// avoided, see [Session].Thoughts.
type Question struct {
	Messages []Message
	// Prompt is a text that the model continues as it is, in place of Messages: it gets no
	// template, and nothing is thought before. Format and Logprobs have their meaning.
	Prompt string
	// Sampling is how tokens are chosen; nil is the most probable one.
	Sampling *Sampling
	// Format is a JSON schema that the answer has to fit; nil is free text.
	Format json.RawMessage
	// Predict is the maximum number of tokens of the answer, to which those for
	// thoughts are added. Together with the prompt they must fit into the context. An
	// answer ends at 64 KiB in any case.
	Predict int
	// Logprobs is the number of the most probable tokens in the reply for each
	// token of the answer: at most 20, the server's maximum. 0 means no
	// log-probabilities at all.
	Logprobs int
	// Least is the minimum number of tokens of the prompt, as far as it is known.
	// It reveals a prompt that a server before Ollama 0.12.11 truncated.
	Least int
}

// Sampling chooses a token at random by its probability, among the most probable ones that
// have a probability of TopP together. Nothing else limits the choice, such as a number of
// tokens. The same model on the same server software writes the same text for the same
// prompt and Seed, if it writes one at a time.
type Sampling struct {
	Temperature float64 // 0 or more; 0 is the most probable token
	TopP        float64 // in (0, 1]
	Seed        int     // 0 or more
}

// Reply is the answer to a question.
type Reply struct {
	Text string // without thoughts, as far as the server separates them
	// Logprobs are the tokens of thoughts and answer; nil if none were requested, or if the
	// server returns none, as before Ollama 0.12.11.
	Logprobs []Logprob
	// Cut says why Text is not complete, such as "it was cut off at 200 tokens";
	// empty if Text is complete.
	Cut string
	// InputTokens are the prompt's tokens and OutputTokens the answer's, as the
	// server counted them: 0 if the answer was not read to its end. If the model
	// thinks, the server may count its thoughts as part of either.
	InputTokens, OutputTokens int
	// Session is the session of the question.
	Session *Session
}
