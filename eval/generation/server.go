package generation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// ServerConfig configures a [Server]. The zero value of each field except URL is a default.
type ServerConfig struct {
	// URL is the base of its API, such as http://127.0.0.1:8000/v1.
	URL string
	// Model is the model's name at the server. The default is the only model it has.
	Model string
	// Key is sent as a bearer token. The default is none.
	Key string
	// Timeout is the time limit for one attempt. The default is a minute.
	Timeout time.Duration
	// Parallel is the number of connections that stay open. The default is 1.
	Parallel int
}

// Server is a model of a server with OpenAI's protocol, such as vLLM, llama.cpp or LM
// Studio. Prompts are sent only to its address: not through a proxy, and not along a
// redirection. It is safe for concurrent use.
type Server struct {
	config ServerConfig
	base   *url.URL
	http   *http.Client
	only   atomic.Pointer[string] // the model, if the configuration names none
	pause  time.Duration          // before the second attempt, and doubled before each further one
}

const (
	// How often a server is asked. Who starts a run should soon know that no server is there.
	identifyAttempts = 2
	generateAttempts = 5
	firstPause       = 500 * time.Millisecond
	longestPause     = 30 * time.Second // that a server may ask for
	maxServerAnswer  = 4 << 20          // bytes
)

// NewServer returns a model of a server. It does not contact the server yet.
func NewServer(config ServerConfig) (*Server, error) {
	base, err := url.Parse(strings.TrimRight(config.URL, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("failed to read the server's address: %q must be like http://127.0.0.1:8000/v1", config.URL)
	}
	if strings.HasSuffix(base.Path, "/completions") {
		return nil, fmt.Errorf("failed to read the server's address: %q is that of one method: it must be like http://127.0.0.1:8000/v1", config.URL)
	}
	config.Timeout = cmp.Or(config.Timeout, time.Minute)
	config.Parallel = cmp.Or(config.Parallel, 1)
	return &Server{config: config, base: base, pause: firstPause, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: config.Parallel, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // whose status is an error
		},
	}}, nil
}

// Close closes the connections to the server. No call may be in progress.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// Identify implements [Generator]. OpenAI's protocol has no digest of a model.
func (s *Server) Identify(ctx context.Context) (Identity, error) {
	var list struct {
		Data []struct{ ID string }
	}
	header, err := s.retry(ctx, identifyAttempts, http.MethodGet, s.base.JoinPath("models"), nil, &list)
	if err != nil {
		return Identity{}, err
	}
	var names []string
	for _, model := range list.Data {
		names = append(names, model.ID)
	}
	model := s.config.Model
	switch {
	case model == "" && len(names) == 1:
		model = names[0]
		s.only.Store(&model)
	case model == "" && len(names) == 0:
		return Identity{}, fmt.Errorf("the server at %s does not say which model it has: name it with --model-name", s.base.Host)
	case model == "":
		return Identity{}, fmt.Errorf("the server at %s has several models: name one with --model-name: %s", s.base.Host, strings.Join(names, ", "))
	case len(names) > 0 && !slices.Contains(names, model):
		return Identity{}, fmt.Errorf("the server at %s has no model %s: it has %s", s.base.Host, model, strings.Join(names, ", "))
	}
	return Identity{Generator: fromServer, Model: model, Server: cmp.Or(s.version(ctx), header.Get("Server"))}, nil
}

// version returns the version that vLLM tells beside its API; empty if there is none.
func (s *Server) version(ctx context.Context) string {
	root := *s.base
	root.Path = strings.TrimSuffix(root.Path, "/v1")
	var answer struct{ Version string }
	if _, f := s.once(ctx, http.MethodGet, root.JoinPath("version"), nil, &answer); f != nil {
		return ""
	}
	return answer.Version
}

// request is the body of a request. TopK, MinP and RepetitionPenalty are not OpenAI's:
// without them, vLLM uses what the model's authors recommend and llama.cpp its own
// defaults, which cut off the nucleus.
type request struct {
	Model             string    `json:"model"`
	Prompt            string    `json:"prompt,omitempty"`
	Messages          []message `json:"messages,omitempty"`
	MaxTokens         int       `json:"max_tokens"`
	Temperature       float64   `json:"temperature"`
	TopP              float64   `json:"top_p"`
	Seed              int       `json:"seed"`
	N                 int       `json:"n"`
	Stream            bool      `json:"stream"`
	TopK              int       `json:"top_k"`              // -1: no limit
	MinP              float64   `json:"min_p"`              // 0: none
	RepetitionPenalty float64   `json:"repetition_penalty"` // 1: none
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// answer is the body of an answer to a request. A chat's has a message, which is null if
// the model wrote only thoughts; another's has a text.
type answer struct {
	Choices []struct {
		Text    *string `json:"text"`
		Message *struct {
			Content *string `json:"content"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
}

// Generate implements [Generator]. If the configuration names no model, it needs an earlier
// call of Identify.
func (s *Server) Generate(ctx context.Context, prompt string, p Protocol, seed int) (text, finish string, err error) {
	model := s.config.Model
	if only := s.only.Load(); only != nil {
		model = *only
	}
	q := request{
		Model: model, MaxTokens: p.MaxTokens, Temperature: p.Temperature, TopP: p.TopP, Seed: seed,
		N: 1, TopK: -1, RepetitionPenalty: 1,
	}
	path := s.base.JoinPath("completions")
	if p.Chat {
		path = s.base.JoinPath("chat", "completions")
		q.Messages = []message{{Role: "user", Content: prompt}}
	} else {
		q.Prompt = prompt
	}
	body, err := plainjson.Marshal(q)
	if err != nil {
		return "", "", err
	}
	var a answer
	if _, err := s.retry(ctx, generateAttempts, http.MethodPost, path, body, &a); err != nil {
		return "", "", err
	}
	if len(a.Choices) == 0 {
		return "", "", &unavailableError{fmt.Errorf("the server at %s answered without choices: its answer has no text", s.base.Host)}
	}
	choice := a.Choices[0]
	switch {
	case choice.FinishReason == "content_filter":
		return "", "", fmt.Errorf("the server at %s withheld the text by its content filter: switch that off to measure the model", s.base.Host)
	case choice.Message != nil && choice.Message.Content != nil:
		text = *choice.Message.Content
	case choice.Text != nil:
		text = *choice.Text
	case choice.Message == nil:
		return "", "", &unavailableError{fmt.Errorf("the server at %s answered with a choice that has no text", s.base.Host)}
	}
	if choice.FinishReason == finishStop || choice.FinishReason == finishLength {
		finish = choice.FinishReason
	}
	return text, finish, nil
}

// failure is why an attempt failed.
type failure struct {
	err    error
	prompt bool          // the prompt is to blame, not the server
	again  bool          // another attempt can help
	pause  time.Duration // that the server asks for before the next attempt, or 0
}

// retry makes a request, several times if that can help. The error is the context's if that
// ended, and an unavailableError if the server is to blame.
func (s *Server) retry(ctx context.Context, attempts int, method string, address *url.URL, body []byte, into any) (http.Header, error) {
	pause := s.pause
	for attempt := 1; ; attempt++ {
		header, f := s.once(ctx, method, address, body, into)
		switch {
		case f == nil:
			return header, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case f.prompt:
			return nil, f.err
		case !f.again || attempt == attempts:
			return nil, &unavailableError{f.err}
		}
		// Callers that failed together should not retry together.
		wait := max(f.pause, pause/2+rand.N(pause)) //nolint:gosec // not a secret
		pause *= 2
		select {
		case <-time.After(min(wait, longestPause)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// once makes one request and reads its answer.
func (s *Server) once(ctx context.Context, method string, address *url.URL, body []byte, into any) (http.Header, *failure) {
	within, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(within, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &failure{err: err}
	}
	q.Header.Set("Accept", "application/json")
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if s.config.Key != "" {
		q.Header.Set("Authorization", "Bearer "+s.config.Key)
	}
	response, err := s.http.Do(q)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxServerAnswer+1))
	if err != nil {
		return nil, s.unreachable(err)
	}
	if f := s.refused(response, data); f != nil {
		return nil, f
	}
	begins := bytes.TrimSpace(data)
	switch {
	case len(data) > maxServerAnswer:
		return nil, &failure{err: fmt.Errorf("the answer of the server at %s has more than %d bytes", s.base.Host, maxServerAnswer)}
	case bytes.HasPrefix(begins, []byte("<")):
		return nil, &failure{err: fmt.Errorf("the server at %s answered with a web page instead of JSON: check the address, which often ends in /v1", s.base.Host)}
	}
	if err := plainjson.Unmarshal(data, into); err != nil {
		return nil, &failure{err: fmt.Errorf("the server at %s answered with something that is not the JSON of OpenAI's protocol: %w", s.base.Host, err)}
	}
	return response.Header, nil
}

// unreachable explains why an answer is missing or broke off.
func (s *Server) unreachable(err error) *failure {
	_, noName := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{err: fmt.Errorf("the server at %s did not answer within %v: raise --timeout, or lower --parallel", s.base.Host, s.config.Timeout)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{err: fmt.Errorf("no server answers at %s: start it, or check the address", s.base.Host), again: true}
	case noName:
		return &failure{err: fmt.Errorf("failed to find the server %s: check the address", s.base.Host)}
	}
	if in, ok := errors.AsType[*url.Error](err); ok {
		err = in.Err // without the address, which is in the sentence
	}
	return &failure{err: fmt.Errorf("the answer of the server at %s broke off: %w", s.base.Host, err), again: true}
}

// refused explains a status that is not 200.
func (s *Server) refused(response *http.Response, data []byte) *failure {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	host, said := s.base.Host, saidBy(response.Status, data)
	switch status := response.StatusCode; {
	case status >= 300 && status < 400:
		to := "another address"
		if location, err := response.Location(); err == nil {
			to = location.Host
		}
		return &failure{err: fmt.Errorf("the server at %s redirects to %s, and redirections are not followed: give that address if you trust it", host, to)}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &failure{err: fmt.Errorf("the server at %s refuses the key: name the variable that has the right one with --key-variable: %s", host, said)}
	case status == http.StatusNotFound:
		return &failure{err: fmt.Errorf("the server at %s knows no such path or model: check the address, which often ends in /v1, and --model-name: %s", host, said)}
	case status == http.StatusTooManyRequests || status >= 500:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &failure{err: fmt.Errorf("the server at %s failed or is overloaded; lower --parallel: %s", host, said), again: true, pause: time.Duration(min(seconds, 60)) * time.Second}
	}
	prompt := slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, response.StatusCode)
	return &failure{err: fmt.Errorf("the server at %s rejected the request: %s", host, said), prompt: prompt}
}

// saidBy returns the message of an error, or its status if there is none.
func saidBy(status string, data []byte) string {
	var object struct {
		Error   json.RawMessage
		Message string
		Detail  json.RawMessage
	}
	_ = json.Unmarshal(data, &object) // a page, or nothing
	var inner struct{ Message string }
	_ = json.Unmarshal(object.Error, &inner)
	var plain, detail string
	_ = json.Unmarshal(object.Error, &plain)
	_ = json.Unmarshal(object.Detail, &detail)
	const most = 300 // bytes
	said := cmp.Or(inner.Message, plain, object.Message, detail, status)
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "…"
	}
	return said
}
