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

// Config configures a server. The zero value of a field means its default.
type Config struct {
	// Log gets one line for each request, never with any of a text; nil logs
	// nothing.
	Log *slog.Logger
	// External is the URL under which clients reach the server, like
	// https://tox.example.org/screen. Routes are served with and without its path.
	// Default: the host of each request.
	External *url.URL

	// Keys are the API keys that requests need one of. Without any, none is needed.
	Keys []Key
	// Communities are thresholds that replace the model's, by the communityId of a
	// Perspective API request.
	Communities map[string]toxscreen.Scores

	// OnUnsupportedLanguage is what happens to a text in a language that the model does
	// not know where an answer must say yes or no; default: [BlockLanguage].
	OnUnsupportedLanguage LanguageAction

	// OffsetUnit is the unit of offsets in native results where a request names
	// none; default: bytes.
	OffsetUnit toxscreen.OffsetUnit

	// MaxBody is the limit of a request's body in bytes; default: 9 MiB, which
	// has room for a text of 1 MiB however JSON escapes it.
	MaxBody int64
	// MaxTexts is the limit of texts in a request; default: 1,000.
	MaxTexts int
	// QueueWait is how long a text may wait in the queue; default: 250 ms. A text
	// that is expected to wait for more than half of that is rejected at once, so
	// that the texts in the queue meet their limit.
	QueueWait time.Duration

	// JudgeWait is how long a request waits for the judge, by the name of its API,
	// see [APIs]; 0 by default.
	JudgeWait map[string]time.Duration
	// Results stores final results whose verdict came after the answer. With nil,
	// clients cannot fetch these, and only the judge's cache has the verdict.
	Results Results
	// VerdictFormats are the formats of POST /v1/score?format=NAME that need a
	// judge's verdict, by NAME; nil without a judge.
	VerdictFormats map[string]VerdictFormat
	// Feedback stores the label sets that clients send; nil stores none.
	Feedback Feedback
	// FindJudge checks whether the screener's judge answers, and loads its model;
	// nil without a judge. It is called every 30 seconds until it succeeds, and
	// again after a failure of the judge.
	FindJudge func(context.Context) error
}

// VerdictFormat asks the judge about a text and returns the answer, which is sent
// as JSON. id is the client's name for the text and input what the text replies
// to; both may be empty. The error says why there is no verdict, and is sent, too.
type VerdictFormat func(ctx context.Context, id, text, input string) (any, error)

// filled returns the configuration with its defaults, or an error where a value is
// not valid.
func (c Config) filled() (Config, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.OnUnsupportedLanguage = cmp.Or(c.OnUnsupportedLanguage, BlockLanguage)
	if _, err := ParseLanguageAction(string(c.OnUnsupportedLanguage)); err != nil {
		return c, fmt.Errorf("failed to create a server: what happens to texts in unsupported languages: %w", err)
	}
	c.OffsetUnit = cmp.Or(c.OffsetUnit, toxscreen.Bytes)
	c.MaxBody = cmp.Or(c.MaxBody, 9<<20)
	c.MaxTexts = cmp.Or(c.MaxTexts, 1000)
	c.QueueWait = cmp.Or(c.QueueWait, 250*time.Millisecond)
	for _, name := range slices.Sorted(maps.Keys(c.JudgeWait)) {
		if !slices.Contains(APIs(), name) {
			return c, fmt.Errorf("failed to create a server: there is no API %q that could wait for the judge: the APIs are %s", name, strings.Join(APIs(), ", "))
		}
	}
	if c.External != nil && (c.External.Scheme != "http" && c.External.Scheme != "https" || c.External.Host == "") {
		return c, fmt.Errorf("failed to create a server: the external URL %q is not valid: it must be like https://tox.example.org/screen", c.External)
	}
	return c, nil
}

// Limits that need no setting.
const (
	// maxMemory is the limit of the bodies of all requests under way together, in
	// bytes: room for 28 of the largest by default.
	maxMemory = 256 << 20
	// bodyTimeout is how long a client may take to send a request, and to receive
	// each piece of an answer. By default the largest request takes that long at
	// 2.5 Mbit/s.
	bodyTimeout = 30 * time.Second
	// maxLate is how many verdicts may be outstanding after their answers. A judge
	// takes seconds for each: more would come minutes later.
	maxLate = 64
)

// Server is an [http.Handler] for all APIs. It is safe for concurrent use.
type Server struct {
	config   Config
	screener *toxscreen.Screener
	callers  []*caller
	queue    *queue
	late     late
	metrics  *metrics
	handler  http.Handler
	origins  *http.CrossOriginProtection
	memory   atomic.Int64 // bytes of the bodies of requests under way
	judge    atomic.Value // string, the state of the judge

	// maxMemory and bodyTimeout are the constants; tests lower them, and late.most.
	maxMemory   int64
	bodyTimeout time.Duration

	ending  atomic.Bool     // shutting down: no longer ready, but still answering
	running context.Context // ends with Close
	stop    context.CancelFunc
	work    sync.WaitGroup // goroutines that outlive their requests
}

// New returns a server for a screener, whose model must not be closed before it.
// The error names what is wrong in c.
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
		// A proxy may forward requests under another host than browsers know.
		if err := s.origins.AddTrustedOrigin(e.Scheme + "://" + e.Host); err != nil {
			return nil, fmt.Errorf("failed to create a server: the external URL %s: %w", e, err)
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

// Close cancels the outstanding verdicts and waits until all goroutines of the
// server have ended. No request may be under way. The error is always nil.
func (s *Server) Close() error {
	s.stop()
	s.work.Wait()
	return nil
}
