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
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/httpapi"
	"github.com/toxscreen/toxscreen/httpapi/authority"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/store"
)

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
	addFlags(cmd, "listen", "debug_listen", "external_url", "api_keys", "tls_cert", "tls_key", "as", "judge_wait", "queue_wait", "max_texts", "communities",
		"late_results", "log_level", "feedback", "feedback_text", "feedback_max_bytes")
	addScreenerFlags(cmd)
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
	// A goroutine that runs the model in C keeps its place in Go's scheduler until
	// the scheduler's monitor notices, some milliseconds later. Handlers need
	// places of their own: without them a refusal under overload takes 100 ms and
	// more.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + cmp.Or(s.Threads, runtime.GOMAXPROCS(0)))
	var verdicts *httpapi.Verdicts
	if s.Judge.Model != "" && s.NoJudge == "" {
		if verdicts, err = httpapi.OpenVerdicts(s.Judge, s.JudgePrice); err != nil {
			return cacheHint(err)
		}
		defer verdicts.Close()
		s.Judge.Context = verdicts.Context()
	}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, screener.Close()) }()
	if verdicts != nil {
		config.VerdictFormats, config.FindJudge = verdicts.Formats(), screener.FindJudge
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
	server, err := httpapi.New(screener.Screener, config)
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
		fmt.Fprint(a.err, ca.Instructions(l.Addr().String()))
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
		MaxBody: int64(rows.RowBytes(s.MaxBytes)), MaxTexts: s.Serve.MaxTexts, QueueWait: s.Serve.QueueWait, JudgeWait: s.Serve.JudgeWait,
	}
	if s.Serve.APIKeys == "" {
		return config, nil
	}
	data, err := os.ReadFile(s.Serve.APIKeys)
	if err == nil {
		config.Keys, err = httpapi.ParseKeys(data)
	}
	if err != nil {
		return config, fmt.Errorf("failed to read the keys of %s: %w", s.Serve.APIKeys, files.Cause(err))
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
	file, err := fileOr(s.Serve.LateResults, files.InCache, "results.db", "--late-results")
	if file == "" || err != nil {
		return nil, err
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
func secure(s *settings) (*tls.Config, *authority.Authority, error) {
	cert, key := s.Serve.TLSCert, s.Serve.TLSKey
	switch {
	case len(s.Serve.As) > 0 && cmp.Or(cert, key) != "":
		return nil, nil, wrongUsage("--as makes a certificate of its own: it cannot be combined with --tls-cert and --tls-key")
	case len(s.Serve.As) > 0:
		folder, err := files.InConfig("authority")
		if err != nil {
			return nil, nil, err
		}
		ca, err := authority.Open(folder, s.Serve.As)
		if err != nil {
			return nil, nil, err
		}
		config, err := ca.TLSConfig()
		return config, ca, err
	case cert == "" && key == "":
		return nil, nil, nil
	case cert == "" || key == "":
		return nil, nil, wrongUsage("--tls-cert and --tls-key belong together: one of them is missing")
	}
	config, err := httpapi.LoadTLS(cert, key)
	return config, nil, err
}
