package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/httpapi"
	"github.com/toxscreen/toxscreen/store"
)

// serveSettings say how the server behaves.
type serveSettings struct {
	Listen      string
	DebugListen string
	External    *url.URL
	APIKeys     string // file; empty for none
	TLSCert     string // file; empty for none
	TLSKey      string
	As          []string // hosts to be taken for
	JudgeWait   map[string]time.Duration
	QueueWait   time.Duration
	MaxTexts    int
	Communities map[string]toxscreen.Scores
	LogLevel    slog.Level
	LateResults string // file, or off
}

var serveKeys = []key{
	{"listen", "127.0.0.1:8080", func(s *settings, v string) error {
		s.Serve.Listen = v
		return checkAddress(v)
	}},
	{"debug_listen", "", func(s *settings, v string) error {
		s.Serve.DebugListen = v
		if v == "" {
			return nil
		}
		return checkAddress(v)
	}},
	{"external_url", "", func(s *settings, v string) (err error) {
		if v == "" {
			return nil
		}
		s.Serve.External, err = url.Parse(v)
		if err != nil || s.Serve.External.Host == "" || s.Serve.External.Scheme != "http" && s.Serve.External.Scheme != "https" {
			return fmt.Errorf("%q is no address: it must be like https://tox.example.org/screen", v)
		}
		return nil
	}},
	{"api_keys", "", func(s *settings, v string) error {
		s.Serve.APIKeys = v
		return nil
	}},
	{"tls_cert", "", func(s *settings, v string) error {
		s.Serve.TLSCert = v
		return nil
	}},
	{"tls_key", "", func(s *settings, v string) error {
		s.Serve.TLSKey = v
		return nil
	}},
	{"as", "", func(s *settings, v string) (err error) {
		s.Serve.As, err = parseHosts(v)
		return err
	}},
	{"judge_wait", "native=30s", func(s *settings, v string) (err error) {
		s.Serve.JudgeWait, err = parseJudgeWait(v)
		return err
	}},
	{"queue_wait", "250ms", func(s *settings, v string) (err error) {
		s.Serve.QueueWait, err = parseDuration(v)
		return err
	}},
	{"max_texts", "1000", func(s *settings, v string) (err error) {
		s.Serve.MaxTexts, err = parseInt(v, 1, 1<<20)
		return err
	}},
	{"communities", "", func(s *settings, v string) (err error) {
		s.Serve.Communities, err = parseCommunities(v)
		return err
	}},
	{"late_results", "", func(s *settings, v string) error {
		s.Serve.LateResults = v
		return nil
	}},
	{"log_level", "info", func(s *settings, v string) error {
		if err := s.Serve.LogLevel.UnmarshalText([]byte(v)); err != nil {
			return fmt.Errorf("%q is no level: it must be debug, info, warn or error", v)
		}
		return nil
	}},
}

func checkAddress(text string) error {
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return fmt.Errorf("%q is no address: it must be like 127.0.0.1:8080", text)
	}
	return nil
}

// parseJudgeWait reads API=TIME pairs, divided by commas.
func parseJudgeWait(text string) (map[string]time.Duration, error) {
	waits := map[string]time.Duration{}
	if text == "" {
		return waits, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		wait, err := time.ParseDuration(value)
		if err != nil || wait < 0 {
			return nil, fmt.Errorf("%q must be like perspective=2s", part)
		}
		waits[name] = wait
	}
	return waits, nil
}

// parseCommunities reads "ID ATTRIBUTE=NUMBER …", divided by commas.
func parseCommunities(text string) (map[string]toxscreen.Scores, error) {
	communities := map[string]toxscreen.Scores{}
	if text == "" {
		return communities, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		fields := strings.Fields(part)
		if len(fields) < 2 {
			return nil, fmt.Errorf("%q must be like \"Coral:news toxicity=0.7\"", part)
		}
		var thresholds toxscreen.Scores
		for _, field := range fields[1:] {
			name, number, _ := strings.Cut(field, "=")
			a, err := toxscreen.ParseAttribute(name)
			if err != nil {
				return nil, err
			}
			threshold, err := parseProbability(number)
			if err != nil {
				return nil, err
			}
			thresholds.Set(a, threshold)
		}
		communities[fields[0]] = thresholds
	}
	return communities, nil
}

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer over HTTP",
		Long: `Answer over HTTP, in the native format and in those of other systems. The
address is printed once requests are accepted. An interrupt or SIGTERM ends the
server when what it has accepted is answered.`,
		Example: `  toxscreen serve
  toxscreen serve --listen 0.0.0.0:8080 --api-keys keys.txt
  toxscreen serve --listen 0.0.0.0:443 --as commentanalyzer.googleapis.com
  toxscreen serve key alice >> keys.txt`,
		Args:              knownCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.serve,
	}
	flags := cmd.Flags()
	flags.String("listen", "127.0.0.1:8080", "`ADDRESS` to answer on; with port 0 a free one")
	flags.String("debug-listen", "", "`ADDRESS` for /metrics and /debug/pprof/; default: none")
	flags.String("external-url", "", "`URL` that clients know the server by; a path in it is answered with and without")
	flags.String("api-keys", "", "`FILE` with the keys of those who may ask; default: everybody may")
	flags.String("tls-cert", "", "`FILE` with the certificate and those above it, for HTTPS")
	flags.String("tls-key", "", "`FILE` with the certificate's private key")
	flags.StringSlice("as", nil, "`HOST` to be taken for, with a certificate of a private authority; repeatable")
	flags.StringSlice("judge-wait", []string{"native=30s"}, "how long an answer waits for the judge, as `API=TIME`; repeatable; other APIs do not")
	flags.String("queue-wait", "250ms", "how long a text may wait for its turn; what is expected to wait longer than half of it is refused at once")
	flags.Int("max-texts", 1000, "refuse a request with more texts")
	flags.StringArray("communities", nil, "thresholds for a communityId, as `\"ID toxicity=0.7\"`; repeatable")
	flags.String("late-results", "", "`FILE` that keeps results whose verdict came after the answer, or off; default: in the user's cache folder")
	flags.String("log-level", "info", "what is logged: debug, info (each request), warn or error")
	_ = cmd.RegisterFlagCompletionFunc("log-level", oneOf("debug", "info", "warn", "error"))
	addFeedbackFlags(cmd)
	addScreenerFlags(cmd)
	addEscalationFlags(cmd)
	addModelFlags(cmd)
	cmd.AddCommand(a.serveKeyCommand())
	return cmd
}

func (a *app) serveKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Make a key for somebody who may ask",
		Long: `Make a key for somebody who may ask. The key goes to standard error and is
kept nowhere; the line for the file of --api-keys, which has its hash, to
standard output. rate=TEXTS_A_SECOND, burst=TEXTS and judge_wait=TIME may follow
in that line.`,
		Example:           `  toxscreen serve key alice >> keys.txt`,
		Args:              arguments(1, 1, "the name of whom the key is for"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			key, line, err := httpapi.NewKey(args[0])
			if err != nil {
				return wrongUsage("%w", err)
			}
			fmt.Fprintln(a.err, "the key, which is shown only now: "+key)
			_, err = io.WriteString(a.out, line+"\n")
			return err
		},
	}
}

// drain is how long a server that ends may take to answer what it has accepted.
const drain = 30 * time.Second

func (a *app) serve(cmd *cobra.Command, _ []string) (err error) {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	secure, ca, err := secure(s)
	if err != nil {
		return err
	}
	config, err := a.serverConfig(s)
	if err != nil {
		return err
	}
	model, err := open(s)
	if err != nil {
		return err
	}
	defer model.Close()
	// Whoever computes in ONNX Runtime keeps a place in Go's scheduler until its
	// monitor notices, some milliseconds later. Those who answer have places of
	// their own: without them a refusal under overload takes 100 ms and more.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + cmp.Or(s.Threads, runtime.GOMAXPROCS(0)))
	var rubrics verdictRubrics
	if s.Judge.Model != "" {
		if rubrics, err = openVerdictRubrics(); err != nil {
			return err
		}
		if s.Judge.context, err = rubrics.context(s); err != nil {
			return err
		}
	}
	judges, err := openEscalation(cmd, s, model.Info().Version)
	if err != nil {
		return err
	}
	defer judges.close()
	if judges.asked != nil {
		verdicts, err := openVerdictFormats(s, rubrics)
		if err != nil {
			return err
		}
		defer verdicts.close()
		config.VerdictFormats = verdicts.all()
		config.FindJudge = func(ctx context.Context) error {
			if _, err := judges.asked.look(ctx); err != nil {
				return err
			}
			_, err := judges.Connect(ctx) // which judge it is does not tell that it is there
			return err
		}
		results, err := openResults(s)
		if err != nil {
			return err
		}
		if results != nil {
			defer func() { err = errors.Join(err, results.Close()) }()
			config.Results = results
		}
	}
	feedback, err := openFeedback(s)
	if err != nil {
		return err
	}
	if feedback != nil {
		defer func() { err = errors.Join(err, feedback.Close()) }()
		config.Feedback = feedback
	}
	server, err := httpapi.New(newScreener(s, model, judges.options...), config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	ctx := cmd.Context()
	if s.Serve.DebugListen != "" {
		l, err := listen(ctx, s.Serve.DebugListen, "debug-listen")
		if err != nil {
			return err
		}
		debug := &http.Server{Handler: server.Debug(), ReadHeaderTimeout: 10 * time.Second}
		defer debug.Close()
		go func() { _ = debug.Serve(l) }() // until it is closed
		config.Log.Info("metrics and profiles are at http://" + l.Addr().String())
	}
	l, err := listen(ctx, s.Serve.Listen, "listen")
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
		l = tls.NewListener(l, secure)
	}
	if ca != nil {
		a.printAs(ca, s.Serve.As, l.Addr().String())
	}
	if len(config.Keys) == 0 && !isLoopback(l.Addr()) {
		config.Log.Warn("everybody who reaches this address may ask: --api-keys names those who may")
	}
	if _, err := io.WriteString(a.out, scheme+"://"+l.Addr().String()+"\n"); err != nil {
		return errors.Join(err, l.Close())
	}
	return server.Serve(ctx, l, drain)
}

// serverConfig returns the server's configuration by the settings.
func (a *app) serverConfig(s *settings) (httpapi.Config, error) {
	options := &slog.HandlerOptions{Level: s.Serve.LogLevel}
	var handler slog.Handler = slog.NewJSONHandler(a.err, options)
	if isTerminal(a.err) {
		handler = slog.NewTextHandler(a.err, options)
	}
	config := httpapi.Config{
		Log: slog.New(handler), External: s.Serve.External, Communities: s.Serve.Communities, OffsetUnit: s.OffsetUnit,
		MaxBody: int64(rowBytes(s.MaxBytes)), MaxTexts: s.Serve.MaxTexts, QueueWait: s.Serve.QueueWait, JudgeWait: s.Serve.JudgeWait,
	}
	if s.Serve.APIKeys == "" {
		return config, nil
	}
	data, err := os.ReadFile(s.Serve.APIKeys)
	if err == nil {
		config.Keys, err = httpapi.ParseKeys(data)
	}
	if err != nil {
		return config, fmt.Errorf("failed to read the keys of %s: %w", s.Serve.APIKeys, cause(err))
	}
	return config, nil
}

// How many late results are kept, some 2 kB each, and how long.
const (
	lateResults   = 50_000
	lateResultAge = 24 * time.Hour
)

// openResults opens the late results of the settings. It is nil where none are
// kept.
func openResults(s *settings) (*store.Results, error) {
	file := s.Serve.LateResults
	switch file {
	case cacheOff:
		return nil, nil //nolint:nilnil // none is no failure
	case "":
		folder, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("failed to find the user's cache folder: %w; name a file with --late-results, or off", err)
		}
		file = filepath.Join(folder, "toxscreen", "results.db")
	}
	results, err := store.OpenResults(file, lateResults, lateResultAge)
	if err != nil {
		return nil, hinted{err, "--late-results off does without it"}
	}
	return results, nil
}

// listen listens on an address, which a setting named.
func listen(ctx context.Context, address, name string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, hinted{fmt.Errorf("failed to listen on %s: %w", address, err), "choose another address with --" + name + " if a program has it already"}
	}
	return l, nil
}

func isLoopback(address net.Addr) bool {
	at, err := netip.ParseAddrPort(address.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// secure returns the configuration of TLS, nil where there is none, and the
// authority behind it where that is one of ours.
func secure(s *settings) (*tls.Config, *authority, error) {
	cert, key := s.Serve.TLSCert, s.Serve.TLSKey
	switch {
	case len(s.Serve.As) > 0 && cmp.Or(cert, key) != "":
		return nil, nil, wrongUsage("--as makes a certificate of its own: it cannot be combined with --tls-cert and --tls-key")
	case len(s.Serve.As) > 0:
		return secureAs(s.Serve.As)
	case cert == "" && key == "":
		return nil, nil, nil
	case cert == "" || key == "":
		return nil, nil, wrongUsage("--tls-cert and --tls-key belong together: one of them is missing")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to read the certificate %s with the key %s: %w", cert, key, err)
	}
	config := tlsConfig()
	config.Certificates = []tls.Certificate{pair}
	return config, nil, nil
}

// tlsConfig returns a configuration without a certificate. HTTP/2 is not
// offered: the timeouts of the server are those of HTTP/1.1's connections.
func tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}
