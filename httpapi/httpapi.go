// Package httpapi serves a [toxscreen.Screener] over HTTP, in the native format
// and in those of other systems:
//
//	server, err := httpapi.New(screener, httpapi.Config{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer server.Close()
//	listener, err := net.Listen("tcp", "127.0.0.1:8080")
//	if err != nil {
//		log.Fatal(err)
//	}
//	err = server.Serve(ctx, listener, 30*time.Second)
//
// A [Server] is an [http.Handler], too. Serve adds timeouts and a shutdown that
// answers the requests under way.
//
// Each API has a file with everything about its routes. All of them score through
// one method, which admits or rejects a request, applies the caller's rate limit
// and stops waiting for the judge in time.
package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Config says how a server behaves. The zero value of a field is its default.
type Config struct {
	// Log gets one line a request, never any of a text; default: nothing.
	Log *slog.Logger
	// External is the address that clients know the server by, like
	// https://tox.example.org/screen. Its path is answered with and without.
	// Default: what a request names as its host.
	External *url.URL

	// Keys are who may ask. Without any, everybody may.
	Keys []Key
	// Communities are thresholds in place of the model's, by the communityId
	// that a request of the Perspective API names.
	Communities map[string]toxscreen.Scores

	// OffsetUnit is what native offsets count where a request does not say:
	// bytes.
	OffsetUnit toxscreen.OffsetUnit

	// MaxBody is how many bytes a request may have: 9 MiB, which has room for
	// a text of 1 MiB however it is written in JSON.
	MaxBody int64
	// MaxTexts is how many texts a request may have: 1,000.
	MaxTexts int
	// QueueWait is how long a text may wait until it is its turn: 250 ms. A
	// text that is expected to wait for more than half of that is refused at
	// once, so that those that are let in keep their time.
	QueueWait time.Duration

	// JudgeWait is how long a request waits for the judge, by the name of its
	// API. One that is not in it does not wait.
	JudgeWait map[string]time.Duration
	// Results keeps the final results of answers whose verdict came after them.
	// Without it, only the judge's own cache has the verdict.
	Results Results
	// VerdictFormats are those of POST /v1/score?format=NAME that a judge's
	// verdict is needed for; nil where there is no judge.
	VerdictFormats map[string]VerdictFormat
	// Feedback keeps what people say of texts; nil keeps none.
	Feedback Feedback
	// FindJudge finds out whether the screener's judge answers, and loads its
	// model; nil where there is no judge.
	FindJudge func(context.Context) error
}

// VerdictFormat asks the judge about a text, with its caller's name for it and
// what it answers, if there are any. It returns what is sent as JSON; its error is
// sent too, and tells why there is no verdict.
type VerdictFormat func(ctx context.Context, id, text, input string) (any, error)

// filled returns the configuration with its defaults, or why it makes no sense.
func (c Config) filled() (Config, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.OffsetUnit = cmp.Or(c.OffsetUnit, toxscreen.Bytes)
	c.MaxBody = cmp.Or(c.MaxBody, 9<<20)
	c.MaxTexts = cmp.Or(c.MaxTexts, 1000)
	c.QueueWait = cmp.Or(c.QueueWait, 250*time.Millisecond)
	for _, name := range slices.Sorted(maps.Keys(c.JudgeWait)) {
		if !slices.Contains(APIs(), name) {
			return c, fmt.Errorf("failed to make a server: there is no API %q that could wait for the judge; there are %s", name, strings.Join(APIs(), ", "))
		}
	}
	if c.External != nil && (c.External.Scheme != "http" && c.External.Scheme != "https" || c.External.Host == "") {
		return c, fmt.Errorf("failed to make a server: the external address %q is none: it must be like https://tox.example.org/screen", c.External)
	}
	return c, nil
}

// Limits that need no setting.
const (
	// maxMemory is how many bytes the bodies of all requests under way may have
	// together: room for 28 of the largest by default.
	maxMemory = 256 << 20
	// bodyTimeout is how long a client may take to send a request, and to receive
	// each piece of an answer. By default the largest request takes that long at
	// 2.5 Mbit/s.
	bodyTimeout = 30 * time.Second
	// maxLate is how many verdicts may be outstanding after their answers. A judge
	// takes seconds a text: more would be late by minutes.
	maxLate = 64
)

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config   Config
	screener *toxscreen.Screener
	callers  []*caller
	queue    *queue
	late     late
	metrics  *metrics
	handler  http.Handler
	origins  *http.CrossOriginProtection
	memory   atomic.Int64 // bytes of bodies under way
	judge    atomic.Value // string, its state

	// maxMemory and bodyTimeout are the constants; tests lower them, and late.most.
	maxMemory   int64
	bodyTimeout time.Duration

	ending  atomic.Bool     // no longer ready, but still answering
	running context.Context // ends with Close
	stop    context.CancelFunc
	work    sync.WaitGroup // what works behind the answers
}

// New returns a server on a screener, which must not be closed before it.
func New(screener *toxscreen.Screener, c Config) (*Server, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: c, screener: screener, callers: callers(c.Keys),
		queue: newQueue(screener.Info(), c.QueueWait),
		late:  late{pending: map[string][]byte{}, most: maxLate},

		maxMemory: maxMemory, bodyTimeout: bodyTimeout,
	}
	s.metrics = newMetrics(s)
	s.origins = http.NewCrossOriginProtection()
	if e := c.External; e != nil {
		// A proxy may name another host than the one that browsers ask.
		if err := s.origins.AddTrustedOrigin(e.Scheme + "://" + e.Host); err != nil {
			return nil, fmt.Errorf("failed to make a server: the external address %s: %w", e, err)
		}
	}
	s.running, s.stop = context.WithCancel(context.Background())
	s.handler = s.routes()
	s.judge.Store(judgeNone)
	if c.FindJudge != nil {
		s.judge.Store(judgeUnknown)
		s.work.Go(func() { s.watch(s.running) })
	}
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends what works behind the answers. No request may be under way.
func (s *Server) Close() error {
	s.stop()
	s.work.Wait()
	return nil
}
