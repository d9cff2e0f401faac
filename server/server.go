// Package server serves a [toxscreen.Screener] over HTTP, in the formats that it is
// given:
//
//	server, err := server.New(screener, server.Config{Formats: formats.All(formats.Config{})})
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
// A format is a folder below this one, which has everything about it; package formats
// lists them. This package has what they share: it admits or rejects a request, knows
// its caller, keeps the limits, stops waiting for the judge in time, and counts.
package server

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/screen"
)

// Config configures a server. The zero value of a field means its default.
type Config struct {
	// Formats are the formats that are served.
	Formats []Format
	// Log gets one line for each request, never with any of a text; nil logs
	// nothing.
	Log *slog.Logger
	// External is the URL under which clients reach the server, like
	// https://tox.example.org/screen. Routes are served with and without its path.
	// Default: the host of each request.
	External *url.URL

	// Hosts are names under which clients reach the server, in lower case, beside the
	// host of External. Without keys and TLS, a server answers only requests whose
	// Host is one of them, an IP address or localhost; one that does not listen on a
	// loopback address also those for names that exist in private networks only.
	Hosts []string
	// Origins are those of other sites' pages that may send requests from a browser
	// and read the answers, like https://forum.example.org; "*" is every origin, and
	// needs Keys. Keys are needed from these pages as from all clients.
	Origins []string

	// Keys are the API keys that requests need one of. Without any, none is needed.
	Keys []Key
	// OnUnsupportedLanguage is what happens to a text in a language that the model does
	// not know where an answer must say yes or no; default: [BlockLanguage].
	OnUnsupportedLanguage LanguageAction

	// IgnoreImages passes over images in requests, and the answer names them as not
	// measured. By default a request with images is refused.
	IgnoreImages bool

	// OtherScales are screeners on other scales of the model, see [Text.Scale]; nil if there are none.
	OtherScales map[toxscreen.Scale]*toxscreen.Screener

	// Finder finds the personal data that clients ask for; with nil, the server answers that
	// it does not look for it.
	Finder *pii.Finder

	// MaxBytes is the limit of a text that is only searched for personal data, in bytes;
	// default: [toxscreen.DefaultMaxBytes]. A text that is scored has the screener's limit.
	MaxBytes int
	// MaxBody is the limit of a request's body in bytes; default: 9 MiB, which
	// has room for a text of 1 MiB however JSON escapes it.
	MaxBody int64
	// MaxTexts is the limit of texts in a request; default: 1,000.
	MaxTexts int
	// QueueWait is the longest expected wait in the queue; default: 2 s. A text that
	// is expected to wait longer is rejected at once. One that was accepted and
	// waits for twice the time after all, because texts take longer than those
	// before, is rejected then.
	QueueWait time.Duration
	// RequestTimeout is how long a request may take; default: 60 s. After that its
	// work stops and the texts that are not done fail. The time in which only the
	// judge is missing does not count.
	RequestTimeout time.Duration

	// JudgeWait is how long a request waits for the judge, by the name of its format;
	// 0 by default.
	JudgeWait map[string]time.Duration
	// Results stores final results whose verdict came after the answer. With nil,
	// clients cannot fetch these, and only the judge's cache has the verdict.
	Results *store.Results
	// Feedback stores the label sets that clients send; nil stores none.
	Feedback *store.Feedback
	// Judge is the screener's judge; nil without a judge.
	Judge Judge
}

// Judge is what a server needs to know about the judge of its screener.
// [screen.Screener] is one; the interface is here so that a server can be tested with a
// judge that fails or changes when the test says so. Implementations must be safe for concurrent use.
type Judge interface {
	// FindJudge checks whether the judge answers, and loads its model. It is called
	// every 30 seconds until it succeeds, and again after a failure of the judge.
	FindJudge(ctx context.Context) error
	// RecheckJudge checks, without loading the model, whether the judge is still the same
	// model, and what its verdicts may change. It is called once a minute.
	RecheckJudge(ctx context.Context) error
	// JudgeTrust returns what verdicts may change; ok is false if that is not known
	// yet. Clients see it.
	JudgeTrust() (t screen.Trust, ok bool)
}

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
	c.MaxBytes = cmp.Or(c.MaxBytes, toxscreen.DefaultMaxBytes)
	c.MaxBody = cmp.Or(c.MaxBody, 9<<20)
	c.MaxTexts = cmp.Or(c.MaxTexts, 1000)
	c.QueueWait = cmp.Or(c.QueueWait, 2*time.Second)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, time.Minute)
	names, err := formatNames(c.Formats)
	if err != nil {
		return c, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.JudgeWait)) {
		if !slices.Contains(names, name) {
			return c, fmt.Errorf("failed to create a server: there is no API %q that could wait for the judge: the APIs are %s", name, strings.Join(names, ", "))
		}
	}
	if c.External != nil && (c.External.Scheme != "http" && c.External.Scheme != "https" || c.External.Host == "") {
		return c, fmt.Errorf("failed to create a server: the external URL %q is not valid: it must be like https://tox.example.org/screen", c.External)
	}
	if slices.Contains(c.Origins, anyOrigin) && len(c.Keys) == 0 {
		return c, errors.New("failed to create a server: every origin is allowed and no key is needed, so every page on the Internet could use it: require keys, or name the origins")
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

// Server is an [http.Handler] for all formats. It is safe for concurrent use.
type Server struct {
	config   Config
	screener *toxscreen.Screener
	callers  atomic.Pointer[[]*caller]
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
		config: c, screener: screener,
		queue: newQueue(screener.Info(), c.QueueWait),
		late:  late{pending: map[string][]byte{}, most: maxLate},

		maxMemory: maxMemory, bodyTimeout: bodyTimeout,
	}
	s.callers.Store(callers(c.Keys, nil))
	s.metrics = newMetrics(s)
	if s.origins, err = trustedOrigins(c); err != nil {
		return nil, err
	}
	s.running, s.stop = context.WithCancel(context.Background())
	s.handler = s.paced(s.withCORS(s.routes()))
	s.judge.Store(judgeNone)
	if c.Judge != nil {
		s.judge.Store(judgeUnknown)
		s.work.Go(func() { s.watch(s.running) })
		if c.OtherScales[toxscreen.PerspectiveScale] != nil && c.JudgeWait["perspective"] > 0 {
			c.Log.Warn("judge_wait has no effect for perspective: its answers are on Perspective's scale, about which no judge is asked")
		}
	}
	return s, nil
}

// on returns the screener for a scale: the server's own if there is no other.
func (s *Server) on(scale toxscreen.Scale) *toxscreen.Screener {
	if other, ok := s.config.OtherScales[scale]; ok {
		return other
	}
	return s.screener
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// SetKeys replaces the API keys. Requests under way keep theirs. A key whose Hash,
// Rate and Burst were there before keeps what is left of its rate. The error is that
// there is no key: a server never stops needing one.
func (s *Server) SetKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("failed to replace the API keys: there must be at least one")
	}
	s.callers.Store(callers(keys, *s.callers.Load()))
	return nil
}

// Close cancels the outstanding verdicts and waits until all goroutines of the
// server have ended. No request may be under way.
func (s *Server) Close() {
	s.stop()
	s.work.Wait()
}
