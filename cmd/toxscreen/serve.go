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
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/listen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
	"github.com/toxscreen/toxscreen/server/formats"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the HTTP server",
		Long: `Score texts over HTTP, in the native format and in the formats of other systems.
The address is printed when the server accepts requests. After an interrupt or
SIGTERM, the server answers the accepted requests and ends. After SIGHUP, it reads the
files of --api-keys, --tls-cert and --tls-key again.`,
		Example: `  toxscreen serve
  toxscreen serve --listen 0.0.0.0:8080 --api-keys keys.txt
  toxscreen serve --listen unix:/run/toxscreen.sock
  toxscreen serve --listen 0.0.0.0:443 --as commentanalyzer.googleapis.com
  toxscreen serve key alice >> keys.txt`,
		Args:       usage.KnownCommand,
		SuggestFor: []string{"api", "daemon", "http", "listen", "server", "start"},
		RunE:       config.Run(a.serve),
	}
	config.AddFlags(cmd, "listen", "debug_listen", "external_url", "allow_host", "allow_origin", "api_keys", "tls_cert", "tls_key", "as", "judge_wait", "queue_wait", "request_timeout", "max_texts", "communities",
		"on_unsupported_language", "ignore_images", "late_results", "log_level", "feedback", "feedback_text", "feedback_max_bytes")
	config.AddScreenerFlags(cmd)
	config.AddFinderFlags(cmd)
	cmd.Flags().Bool("until-eof", false, "end when standard input ends, for a program that starts a server of its own: however the program ends, the server does too")
	usage.InGroup(cmd, usage.Limits, "until-eof")
	cmd.AddCommand(a.serveKeyCommand(), a.serveReadyCommand())
	return cmd
}

func (a *app) serveKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Create an API key",
		Long: `Create an API key for a client. The key is printed on standard error and not
stored. The line for the file of --api-keys is printed on standard output; it
contains only a hash of the key. rate=TEXTS_PER_SECOND, burst=TEXTS and
judge_wait=TIME may be added to that line.`,
		Example: `  toxscreen serve key alice >> keys.txt`,
		Args:    usage.Arguments(1, 1, "the name of the client"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, line, err := server.NewKey(args[0])
			if err != nil {
				return usage.Wrong("%w", err)
			}
			fmt.Fprintln(a.err, "API key, shown only once: "+key)
			_, err = io.WriteString(a.out, line+"\n")
			return err
		},
	}
}

func (a *app) serveReadyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ready [ADDRESS]",
		Short: "Ask a running server whether it is ready, for health checks",
		Long: `Ask a running server whether it is ready to score, and print the answer of its
GET /readyz. The exit code is 1 if it is not ready or does not answer. ADDRESS is what
serve prints; by default it is that of the settings.`,
		Example:    `  toxscreen serve ready https://127.0.0.1:8443`,
		Args:       usage.Arguments(0, 1, "the address of the server"),
		SuggestFor: []string{"check", "health", "healthcheck", "ping", "status"},
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, args []string) error {
			answer, err := server.Ready(cmd.Context(), append(args, s.Serve.Address())[0])
			if err != nil {
				return usage.WithHint(err, "name the address that toxscreen serve printed")
			}
			_, err = a.out.Write(answer)
			return err
		}),
	}
}

// drain is the time limit for accepted requests when the server ends.
const drain = 30 * time.Second

func (a *app) serve(cmd *cobra.Command, s *config.Settings, _ []string) (err error) {
	if err := s.CheckTypes(); err != nil {
		return err
	}
	// Until the files can be read again, a hangup waits.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	secure, err := secure(s)
	if err != nil {
		return err
	}
	config, err := a.serverConfig(s)
	if err != nil {
		return err
	}
	// A goroutine that runs the model in C keeps its slot in Go's scheduler until
	// the scheduler's monitor notices, some milliseconds later. Handlers need
	// slots of their own: without them, a refusal under overload takes 100 ms or
	// more.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + cmp.Or(s.Threads, runtime.GOMAXPROCS(0)))
	var verdicts *formats.Verdicts
	if s.Judge.Model != "" && s.NoJudge == "" {
		s.Judge.Log = config.Log
		if verdicts, err = formats.OpenVerdicts(s.Settings, s.JudgePrice); err != nil {
			return cacheHint(err)
		}
		defer verdicts.Close()
		s.Judge.Context = verdicts.Context()
	}
	s.OnTrust = func(t screen.Trust) {
		if warning := t.Warning(); warning != "" {
			config.Log.Warn(warning)
		} else {
			config.Log.Info("the judge is "+t.String(), "why", t.Why)
		}
	}
	screener, err := openScreener(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, screener.Close()) }()
	if verdicts != nil {
		config.Judge = screener
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
	finder, err := screen.OpenFinder(s.Settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finder.Close()) }()
	config.Finder, config.OtherScales = finder.Finder, screener.OtherScales()
	config.Formats = formats.All(formats.Config{OffsetUnit: s.OffsetUnit, Communities: s.Serve.Communities, Verdicts: verdicts})
	server, err := server.New(screener.Screener, config)
	if err != nil {
		return err
	}
	defer server.Close()

	ctx := cmd.Context()
	if until, _ := cmd.Flags().GetBool("until-eof"); until {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, a.in) // an error ends it too
			end()
		}()
	}
	if s.Serve.DebugListen != "" {
		l, err := listenOn(ctx, s.Serve.DebugListen, "debug-listen")
		if err != nil {
			return err
		}
		debug := &http.Server{Handler: server.Debug(), ReadHeaderTimeout: 10 * time.Second}
		defer debug.Close()
		go func() { _ = debug.Serve(l) }() // runs until it is closed
		config.Log.Info("metrics and profiles are at " + listen.Address("http", l))
	}
	l, err := listenOn(ctx, s.Serve.Listen, "listen")
	if err != nil {
		return err
	}
	scheme := "http"
	if secure.config != nil {
		scheme = "https"
		l = tls.NewListener(l, secure.config)
	}
	if secure.authority != nil {
		fmt.Fprint(a.err, secure.authority.Instructions(l.Addr().String()))
	}
	if len(config.Keys) == 0 && !listen.IsLocal(l) {
		config.Log.Warn("no API keys: everyone who can reach this address can use the server; set --api-keys to require a key")
	}
	if _, err := io.WriteString(a.out, listen.Address(scheme, l)+"\n"); err != nil {
		return errors.Join(err, l.Close())
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				reload(config.Log, server, s.Serve.APIKeys, secure.own)
			}
		}
	}()
	return server.Serve(ctx, l, drain)
}

// listenOn listens on the address of a flag.
func listenOn(ctx context.Context, address, flag string) (net.Listener, error) {
	l, err := listen.On(ctx, address)
	if err != nil {
		return nil, usage.WithHint(err, "choose another address with --"+flag+" if another program uses it")
	}
	return l, nil
}

// reload reads the files of the API keys and of the certificate again, of those that
// are configured. A file with an error changes nothing.
func reload(log *slog.Logger, running *server.Server, keysFile string, certificate *server.Certificate) {
	if keysFile == "" && certificate == nil {
		log.Info("SIGHUP: there is nothing to reload without --api-keys and --tls-cert")
		return
	}
	if keysFile != "" {
		keys, err := server.ReadKeys(keysFile)
		if err == nil {
			err = running.SetKeys(keys)
		}
		if err != nil {
			log.Error("SIGHUP: the API keys stay as they were", "error", err)
		} else {
			log.Info("SIGHUP: the API keys are reloaded", "keys", len(keys))
		}
	}
	if certificate != nil {
		if err := certificate.Reload(); err != nil {
			log.Error("SIGHUP: the certificate stays as it was", "error", err)
		} else {
			log.Info("SIGHUP: the certificate is reloaded")
		}
	}
}

// serverConfig returns the configuration of the server from the settings.
func (a *app) serverConfig(s *config.Settings) (server.Config, error) {
	options := &slog.HandlerOptions{Level: s.Serve.LogLevel}
	var handler slog.Handler = slog.NewJSONHandler(a.err, options)
	if terminal.Is(a.err) {
		handler = slog.NewTextHandler(a.err, options)
	}
	config := s.Serve.Config
	config.Log = slog.New(handler)
	config.MaxBytes, config.MaxBody = s.MaxBytes, int64(rows.RowBytes(s.MaxBytes))
	if s.Serve.APIKeys == "" {
		if slices.Contains(s.Serve.Origins, "*") {
			return config, usage.Wrong(`--allow-origin "*" needs --api-keys: without keys, every page on the Internet could use the server`)
		}
		return config, nil
	}
	var err error
	config.Keys, err = server.ReadKeys(s.Serve.APIKeys)
	return config, err
}

// Limits of the stored late results, which take some 2 kB each.
const (
	lateResults   = 50_000
	lateResultAge = 24 * time.Hour
)

// openResults opens the file of late results. It returns nil if late results are
// off.
func openResults(s *config.Settings) (*store.Results, error) {
	file, err := s.LateResultsFile()
	if file == "" || err != nil {
		return nil, err
	}
	results, err := store.OpenResults(file, lateResults, lateResultAge)
	if err != nil {
		return nil, usage.WithHint(err, "use --late-results off to run without it")
	}
	return results, nil
}

// security is the configuration of TLS and where its certificate comes from.
type security struct {
	config    *tls.Config          // nil without TLS
	authority *authority.Authority // with --as
	own       *server.Certificate  // with --tls-cert
}

// secure returns the security that the settings ask for.
func secure(s *config.Settings) (security, error) {
	cert, key := s.Serve.TLSCert, s.Serve.TLSKey
	switch {
	case len(s.Serve.As) > 0 && listen.IsSocket(s.Serve.Listen):
		return security{}, usage.Wrong("--as needs an address that other programs connect to as the host: --listen must be like 0.0.0.0:443")
	case len(s.Serve.As) > 0 && cmp.Or(cert, key) != "":
		return security{}, usage.Wrong("--as creates its own certificate: it cannot be combined with --tls-cert and --tls-key")
	case len(s.Serve.As) > 0:
		folder, err := files.InConfig("authority")
		if err != nil {
			return security{}, err
		}
		ca, err := authority.Open(folder, s.Serve.As)
		if err != nil {
			return security{}, err
		}
		config, err := ca.TLSConfig()
		return security{config: config, authority: ca}, err
	case cert == "" && key == "":
		return security{}, nil
	case cert == "" || key == "":
		return security{}, usage.Wrong("--tls-cert and --tls-key belong together: one of them is missing")
	}
	own, err := server.OpenCertificate(cert, key)
	if err != nil {
		return security{}, err
	}
	return security{config: own.TLSConfig(), own: own}, nil
}
