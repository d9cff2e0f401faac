package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/httpapi"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer over HTTP",
		Long: `Answer over HTTP, in the native format and in those of other systems. The
address is printed once requests are accepted. An interrupt or SIGTERM ends the
server when what it has accepted is answered.`,
		Example: `  toxscreen serve
  toxscreen serve --listen 127.0.0.1:0`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.serve,
	}
	cmd.Flags().String("listen", "127.0.0.1:8080", "`ADDRESS` to answer on; with port 0 a free one")
	addScreenerFlags(cmd)
	addEscalationFlags(cmd)
	addModelFlags(cmd)
	return cmd
}

// drain is how long a server that ends may take to answer what it has accepted.
const drain = 30 * time.Second

func (a *app) serve(cmd *cobra.Command, _ []string) (err error) {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	address, _ := cmd.Flags().GetString("listen")
	model, err := open(s)
	if err != nil {
		return err
	}
	defer model.Close()
	judges, err := openEscalation(cmd, s, model.Info().Version)
	if err != nil {
		return err
	}
	defer judges.close()
	server, err := httpapi.New(newScreener(s, model, judges.options...), httpapi.Config{
		Log: slog.New(slog.NewJSONHandler(a.err, nil)),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	var config net.ListenConfig
	listener, err := config.Listen(cmd.Context(), "tcp", address)
	if err != nil {
		return hinted{fmt.Errorf("failed to listen on %s: %w", address, cause(err)), "another program may have the port: choose one with --listen"}
	}
	if _, err := io.WriteString(a.out, "http://"+listener.Addr().String()+"\n"); err != nil {
		return err
	}
	return server.Serve(cmd.Context(), listener, drain)
}
