package judge

import (
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
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
	"github.com/sony/gobreaker/v2"
)

// server asks one model of one Ollama server.
type server struct {
	config  Config
	client  *api.Client
	base    *url.URL
	http    *http.Client
	slots   chan struct{} // one for each call under way
	in      atomic.Int64  // texts that are judged or wait for it
	breaker *gobreaker.CircuitBreaker[exchange]
	last    atomic.Pointer[error] // what opened the breaker
	plan    func(prefix, limit int) (budget, error)
	probe   func(budget) []api.Message // the prompt without a text

	// found is what the server said of the model; nil where it has to be
	// asked, again.
	found atomic.Pointer[session]
	// Only who holds the lock asks, and has what follows.
	lock     chan struct{}
	failure  *fault // of the last time; nil where it went well
	failed   time.Time
	measured struct { // the prompt without a text, for when it is asked again
		digest string
		tokens int
	}
}

// session is what holds until the server or the model changes.
type session struct {
	digest   string // of the model, hexadecimal
	thinking bool
	budget   budget
	used     atomic.Int64 // Unix time of the last answer
}

const (
	// keepAlive is how long the server keeps the model after a call. It is sent
	// with each, so that a pause in a batch does not cost a load.
	keepAlive = 10 * time.Minute
	attempts  = 4
	// A failing server is left alone for breakerPause after breakerFailures
	// texts in a row, so that a batch does not wait for each text in turn.
	breakerFailures = 3
	breakerPause    = 10 * time.Second
	// loop is how much white space in a row is no answer any more: grammars
	// allow it, and models at temperature 0 do not leave it again.
	loop = 64
	// The server itself stops a model after 30 tokens that are the same but for
	// white space, without a last message.
	repeated  = 25
	maxAnswer = 64 << 10 // bytes
)

// Address returns the address that a host setting stands for: HOST, HOST:PORT
// or a URL, as OLLAMA_HOST has it, which holds where the setting is empty.
func Address(host string) (*url.URL, error) {
	from := "the judge's host"
	if host == "" {
		host, from = strings.Trim(strings.TrimSpace(os.Getenv("OLLAMA_HOST")), `"'`), "OLLAMA_HOST"
	}
	if host == "" {
		host = "127.0.0.1"
	}
	given := host
	port := "11434" // Ollama's own
	scheme, rest, ok := strings.Cut(host, "://")
	switch {
	case !ok:
		host = "http://" + host
		rest = given
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	if ip := net.ParseIP(rest); ip != nil && strings.Contains(rest, ":") {
		host = strings.TrimSuffix(host, rest) + "[" + rest + "]"
	}
	u, err := url.Parse(host)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" && u.Port() == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("failed to read %s: %q is no address: it must be like 127.0.0.1:11434 or https://host/path", from, given)
	}
	name := u.Hostname()
	if name == "0.0.0.0" || name == "::" || name == "" {
		name = "127.0.0.1" // what a server listens on is nothing to connect to
	}
	u.Host = net.JoinHostPort(name, cmp.Or(u.Port(), port))
	return u, nil
}

func newServer(c Config, plan func(prefix, limit int) (budget, error), probe func(budget) []api.Message) (*server, error) {
	base, err := Address(c.Host)
	if err != nil {
		return nil, err
	}
	s := &server{
		config: c, base: base, plan: plan, probe: probe,
		slots: make(chan struct{}, c.Parallel), lock: make(chan struct{}, 1),
		http: &http.Client{
			// Neither a proxy nor a redirection: a text goes to the address
			// that was configured, and nowhere else.
			Transport: &http.Transport{MaxIdleConnsPerHost: c.Parallel, IdleConnTimeout: time.Minute},
			CheckRedirect: func(request *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s, which no text is sent to: name that address if you trust it", request.URL.Host)
			},
		},
	}
	s.client = api.NewClient(base, s.http)
	s.breaker = gobreaker.NewCircuitBreaker[exchange](gobreaker.Settings{
		Timeout:      breakerPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerFailures },
		IsSuccessful: func(err error) bool { _, failed := errors.AsType[*fault](err); return !failed },
	})
	return s, nil
}

// fault is an error of the server, not of what it was asked.
type fault struct {
	err   error
	again bool // whether to ask again can help
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// question is one call.
type question struct {
	messages []api.Message
	format   json.RawMessage // nil for free text
	predict  int             // tokens
	least    int             // tokens that the prompt must have
	probe    bool            // only to load the model and to count tokens
}

// reply is what came of a call.
type reply struct {
	text    string
	tokens  []api.Logprob
	cut     string // why the text is not whole, empty where it is
	in, out int    // tokens
}

// exchange is the reply to one question and the session that it was part of.
type exchange struct {
	reply   reply
	session *session
}

// enter counts a text in, and refuses it where too many are in already. Whoever
// was let in has to leave.
func (s *server) enter() error {
	if in := s.in.Add(1); int(in) > s.config.Queue+s.config.Parallel {
		s.in.Add(-1)
		return fmt.Errorf("the judge is busy: %d texts wait already; ask fewer at once or raise the queue's limit", s.config.Queue)
	}
	return nil
}

func (s *server) leave() { s.in.Add(-1) }

// ask asks the model, which is loaded first where that is needed. left is what
// is left of the text's time, for its calls and the waiting for them, loading
// aside; what they take is taken off.
func (s *server) ask(ctx context.Context, left *time.Duration, of func(*session) (question, error)) (exchange, error) {
	found, err := s.breaker.Execute(func() (exchange, error) {
		return s.retry(ctx, left, of)
	})
	if failed, ok := errors.AsType[*fault](err); ok {
		s.last.Store(&failed.err)
	}
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		cause := errors.New("it failed")
		if last := s.last.Load(); last != nil {
			cause = *last
		}
		return found, fmt.Errorf("the judge is not asked for %v after %d failures in a row: %w", breakerPause, breakerFailures, cause)
	}
	return found, err
}

func (s *server) retry(ctx context.Context, left *time.Duration, of func(*session) (question, error)) (exchange, error) {
	pause := 100 * time.Millisecond
	for attempt := 1; ; attempt++ {
		session, err := s.connect(ctx)
		if err == nil {
			var q question
			if q, err = of(session); err != nil {
				return exchange{}, err
			}
			start := time.Now()
			var r reply
			r, err = s.inTime(ctx, *left, session, q)
			*left -= time.Since(start)
			if err == nil {
				session.used.Store(time.Now().Unix())
				return exchange{r, session}, nil
			}
		}
		failed, ok := errors.AsType[*fault](err)
		if ok {
			s.forget(session)
		}
		if !ok || !failed.again || attempt == attempts || ctx.Err() != nil || *left <= 0 {
			return exchange{}, err
		}
		// Callers that failed together should not come back together.
		wait := rand.N(pause) + pause/2 //nolint:gosec // nobody gains by guessing it
		pause = min(2*pause, 2*time.Second)
		if wait > *left {
			return exchange{}, err
		}
		*left -= wait
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return exchange{}, ctx.Err()
		}
	}
}

// inTime waits for a free slot and calls, within a limit of time.
func (s *server) inTime(ctx context.Context, limit time.Duration, session *session, q question) (reply, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-within.Done():
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		// The server has not failed: it was not asked.
		return reply{}, fmt.Errorf("the judge was busy with other texts for %v: raise its time limit, or ask fewer at once", s.config.Timeout)
	}
	r, err := s.call(within, session, q)
	if err != nil {
		return reply{}, s.explain(ctx, err)
	}
	return r, s.whole(session, q, r)
}

// call makes one call. Every one has the same options but for the length of
// the answer: others would make the server load the model anew.
func (s *server) call(ctx context.Context, session *session, q question) (reply, error) {
	no := false
	request := &api.ChatRequest{
		Model:    s.config.Model,
		Messages: q.messages,
		Format:   q.format,
		// Where a prompt does not fit, an error rather than a cut.
		Truncate:  &no,
		Shift:     &no,
		KeepAlive: &api.Duration{Duration: keepAlive},
		Options: map[string]any{
			"num_ctx":     session.budget.context,
			"num_predict": q.predict,
			"temperature": 0,
			"seed":        s.config.Seed,
			// "no" seven times in a row is no repetition to be punished.
			"repeat_penalty":    1,
			"presence_penalty":  0,
			"frequency_penalty": 0,
		},
		Logprobs:    !q.probe,
		TopLogprobs: topLogprobs,
	}
	if q.probe {
		request.TopLogprobs = 0
	}
	if session.thinking {
		request.Think = &api.ThinkValue{Value: false}
	}
	var r reply
	var text strings.Builder
	done, blanks := false, 0
	err := s.client.Chat(ctx, request, func(part api.ChatResponse) error {
		text.WriteString(part.Message.Content)
		r.tokens = append(r.tokens, part.Logprobs...)
		if trimmed := strings.TrimRight(part.Message.Content, " \t\r\n"); trimmed == "" {
			blanks += len(part.Message.Content)
		} else {
			blanks = len(part.Message.Content) - len(trimmed)
		}
		switch {
		case part.Done:
			done = true
			r.in, r.out = part.PromptEvalCount, part.EvalCount
			if part.DoneReason == "length" {
				r.cut = fmt.Sprintf("it was cut off at %d tokens", q.predict)
			}
		case blanks > loop:
			r.cut = "it ends in white space without end"
			return errEnough
		case text.Len() > maxAnswer:
			r.cut = fmt.Sprintf("it has more than %d bytes", maxAnswer)
			return errEnough
		}
		return nil
	})
	r.text = text.String()
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
		r.cut = "it ends in white space without end"
	case !done && repeats(r.tokens):
		// The server stops a model that repeats one token, and says nothing.
		r.cut = "it repeats one token"
	case !done:
		return r, fmt.Errorf("the answer broke off: %w", io.ErrUnexpectedEOF)
	}
	return r, nil
}

var errEnough = errors.New("enough")

// repeats tells whether the last tokens are all the same, blanks aside.
func repeats(tokens []api.Logprob) bool {
	if len(tokens) < repeated {
		return false
	}
	last := tokens[len(tokens)-repeated:]
	return !slices.ContainsFunc(last, func(t api.Logprob) bool {
		return strings.TrimSpace(t.Token) != strings.TrimSpace(last[0].Token)
	})
}

// whole checks that the server evaluated all of a prompt. A server too old for
// "truncate" cuts it from the front, where the rubric is, and says nothing.
func (s *server) whole(session *session, q question, r reply) error {
	if q.probe || r.in == 0 { // 0 where the answer was left before its end
		return nil
	}
	if r.in < q.least || r.in+q.predict > session.budget.context {
		return fmt.Errorf("the server evaluated %d tokens of the prompt, which should be between %d and %d: "+
			"it cut something off; use Ollama 0.12.11 or later", r.in, q.least, session.budget.context-q.predict)
	}
	return nil
}

// explain makes an error for people of what a call returned, and a fault of
// what is the server's. ctx is the caller's own.
func (s *server) explain(ctx context.Context, err error) error {
	status, isStatus := errors.AsType[api.StatusError](err)
	message := strings.ToLower(err.Error())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{fmt.Errorf("model %s at %s gave no whole answer within %v: raise the judge's time limit, or take a smaller model", s.config.Model, s.base.Host, s.config.Timeout), false}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &fault{fmt.Errorf("no server answers at %s: start one with `ollama serve`, or name its address: %w", s.base.Host, err), true}
	case isStatus && status.StatusCode == http.StatusNotFound:
		return &fault{s.missing(), false}
	case isStatus && status.StatusCode == http.StatusServiceUnavailable:
		return &fault{fmt.Errorf("the server at %s has too much to do: lower the judge's parallel calls or raise OLLAMA_MAX_QUEUE there: %w", s.base.Host, err), true}
	case strings.Contains(message, "exceeds the context length"):
		return fmt.Errorf("the prompt does not fit into the context of model %s: %w", s.config.Model, err)
	case strings.Contains(message, "does not support"):
		return fmt.Errorf("model %s cannot judge: %w", s.config.Model, err)
	case isStatus && status.StatusCode < http.StatusInternalServerError:
		return &fault{fmt.Errorf("the server at %s refused the question: %w", s.base.Host, err), false}
	}
	if _, redirected := errors.AsType[*url.Error](err); redirected && strings.Contains(message, "it redirects to") {
		return &fault{fmt.Errorf("failed to reach %s: %w", s.base.Host, err), false}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &fault{fmt.Errorf("failed to find the server %s: name its address: %w", s.base.Host, err), false}
	}
	// A reset, an end in mid-stream, an error inside the stream, a runner that
	// died: a server that restarts gives all of them. A line that is no JSON is
	// in the error as it is.
	return &fault{fmt.Errorf("the server at %s failed: %s", s.base.Host, beginning(strings.ToValidUTF8(err.Error(), "\uFFFD"), 300)), true}
}

func (s *server) missing() error {
	return fmt.Errorf("the server at %s has no model %s: get it with `ollama pull %s`, or name one of `ollama list`", s.base.Host, s.config.Model, s.config.Model)
}

// forget has the server asked again for what a session says.
func (s *server) forget(old *session) {
	if old != nil {
		s.found.CompareAndSwap(old, nil)
	}
}

// fresh returns the session, or nil where there is none or the server may have
// unloaded the model since.
func (s *server) fresh() *session {
	found := s.found.Load()
	if found == nil || time.Since(time.Unix(found.used.Load(), 0)) >= keepAlive-time.Minute {
		return nil
	}
	return found
}

// connect returns the session, and makes one where that is needed.
func (s *server) connect(ctx context.Context) (*session, error) {
	if found := s.fresh(); found != nil {
		return found, nil
	}
	return s.once(ctx, func() (*session, error) {
		found, err := s.look(ctx)
		if err != nil {
			return nil, err
		}
		found.used.Store(time.Now().Unix())
		s.found.Store(found)
		return found, nil
	})
}

// identified returns a session that tells which model the server has, which is
// not loaded for that. A server that fails is left alone.
func (s *server) identified(ctx context.Context) (*session, error) {
	if found := s.fresh(); found != nil {
		return found, nil
	}
	if s.breaker.State() != gobreaker.StateClosed {
		return nil, errFails
	}
	return s.once(ctx, func() (*session, error) {
		found, _, err := s.identify(ctx)
		return found, err
	})
}

// once has one of callers at once ask the server. Where it fails, those that
// waited have its error rather than wait for the same failure in turn, and so
// has whoever comes soon after where asking again cannot help.
func (s *server) once(ctx context.Context, find func() (*session, error)) (*session, error) {
	came := time.Now()
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.lock }()
	if found := s.fresh(); found != nil {
		return found, nil
	}
	if s.failure != nil && (s.failed.After(came) || !s.failure.again && time.Since(s.failed) < breakerPause) {
		return nil, s.failure
	}
	found, err := find()
	s.failure, _ = errors.AsType[*fault](err)
	s.failed = time.Now()
	return found, err
}

// connected is connect for those who can do without: a server that fails is
// left alone.
func (s *server) connected(ctx context.Context) (*session, error) {
	if s.breaker.State() != gobreaker.StateClosed {
		return nil, errFails
	}
	return s.connect(ctx)
}

var errFails = errors.New("the server fails")

// identify asks for the model and what it can do, and returns how long a context
// it has, 0 where that is not known. Errors are faults or the context's.
func (s *server) identify(ctx context.Context) (found *session, limit int, err error) {
	found = &session{}
	explain := func(err error) error { return s.explain(ctx, err) }
	soon, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	models, err := s.client.List(soon)
	if err != nil {
		return nil, 0, explain(err)
	}
	i := slices.IndexFunc(models.Models, func(m api.ListModelResponse) bool {
		return strings.EqualFold(m.Name, s.config.Model) || strings.EqualFold(m.Name, s.config.Model+":latest")
	})
	if i < 0 {
		return nil, 0, &fault{s.missing(), false}
	}
	found.digest = models.Models[i].Digest
	shown, err := s.client.Show(soon, &api.ShowRequest{Model: s.config.Model})
	if err != nil {
		return nil, 0, explain(err)
	}
	if shown.RemoteHost != "" || shown.RemoteModel != "" {
		return nil, 0, &fault{fmt.Errorf("model %s runs at %s, and the texts would be sent there: take a model that runs on the server itself", s.config.Model, cmp.Or(shown.RemoteHost, "another host")), false}
	}
	if !slices.Contains(shown.Capabilities, model.CapabilityCompletion) && len(shown.Capabilities) > 0 {
		return nil, 0, &fault{fmt.Errorf("model %s writes no text and cannot judge: take one that does", s.config.Model), false}
	}
	found.thinking = slices.Contains(shown.Capabilities, model.CapabilityThinking)
	for name, value := range shown.ModelInfo {
		if length, ok := value.(float64); ok && strings.HasSuffix(name, ".context_length") {
			limit = int(length)
		}
	}
	return found, limit, nil
}

// look asks for the model, loads it and measures the prompt. Errors are faults
// or the context's.
func (s *server) look(ctx context.Context) (*session, error) {
	found, limit, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	// The prompt without a text loads the model, tells how many tokens it has,
	// and is in the server's prompt cache from then on. English has some four
	// bytes a token; a vocabulary that needs more than one for two is asked
	// again with what it needs.
	loading, cancel := context.WithTimeout(ctx, s.config.LoadTimeout)
	defer cancel()
	bytes := 0
	for _, m := range s.probe(budget{text: leastText, field: leastText}) {
		bytes += len(m.Content)
	}
	first := bytes / 2
	if s.measured.digest == found.digest {
		first = s.measured.tokens
	}
	for guess := first; ; guess = bytes + frame {
		if found.budget, err = s.plan(guess, limit); err != nil {
			return nil, &fault{err, false}
		}
		r, err := s.call(loading, found, question{messages: s.probe(found.budget), predict: 1, probe: true})
		if loading.Err() != nil && ctx.Err() == nil {
			return nil, &fault{fmt.Errorf("model %s at %s was not loaded within %v: raise the limit for loading, load it with `ollama run %s` before, or take a smaller one",
				s.config.Model, s.base.Host, s.config.LoadTimeout, s.config.Model), false}
		}
		tooLong := err != nil && strings.Contains(err.Error(), "exceeds the context length")
		if err != nil && !tooLong {
			return nil, s.explain(ctx, err)
		}
		if !tooLong && r.in <= guess {
			found.budget.prefix = r.in
			s.measured.digest, s.measured.tokens = found.digest, guess
			return found, nil
		}
		if guess > bytes {
			return nil, &fault{fmt.Errorf("model %s needs %d tokens for a prompt of %d bytes, which cannot be", s.config.Model, r.in, bytes), false}
		}
	}
}

// close gives the connections back.
func (s *server) close() { s.http.CloseIdleConnections() }
