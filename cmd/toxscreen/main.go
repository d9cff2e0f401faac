// Command toxscreen scores text for toxicity without a network:
//
//	toxscreen score "you are a stupid idiot"
//	toxscreen batch -i comments.jsonl -o scored.jsonl
//
// docs/cli.md describes each command, the configuration and the exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/rows"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// stdio is what a command reads from and writes to. Only an [os.File] can be a
// terminal.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// The exit codes, which scripts rely on.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // the command line is invalid
	exitPartly  = 3 // done, but some rows failed, or some texts were not decided
	exitReached = 4 // a text reaches --fail-on; takes precedence over exitPartly
)

// exit is an error that ends the process with a code other than exitFailed.
// If err is nil, nothing is printed: the message was printed before.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// wrongUsage returns the error for an invalid command line.
func wrongUsage(format string, args ...any) error {
	return exit{exitUsage, fmt.Errorf(format, args...)}
}

// hinted is an error with a second line that says how to fix it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// run runs the command line and returns the exit code. An interrupt or SIGTERM
// ends the command cleanly, a second one ends it at once.
func run(ctx context.Context, args []string, std stdio) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	out := &checkedWriter{w: std.out}
	a := &app{args: args, in: std.in, out: out, err: std.err, terminal: isTerminal(std.out)}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(out)
	root.SetErr(std.err)
	cmd, err := root.ExecuteContextC(ctx)
	if out.err != nil && (err == nil || err == out.err) {
		// cobra does not check its writes.
		err = fmt.Errorf("failed to write to standard output: %w", files.Cause(out.err))
	}
	return a.report(cmd, err)
}

// report prints an error as "toxscreen: failed to …" and returns the exit code.
func (a *app) report(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	coded, ok := errors.AsType[exit](err)
	if ok {
		if code = coded.code; coded.err == nil {
			return code
		}
	}
	fmt.Fprintln(a.err, "toxscreen: "+terminal.Escape(err.Error()))
	if h, ok := errors.AsType[hinted](err); ok {
		fmt.Fprintln(a.err, terminal.Escape(h.hint))
	}
	if code == exitUsage {
		fmt.Fprintf(a.err, "run '%s --help' for usage\n", cmd.CommandPath())
	}
	return code
}

// app is one call of the command line.
type app struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	terminal bool // whether out is a terminal
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "toxscreen",
		Short: "Score text for toxicity, offline",
		Long: `toxscreen scores text for toxicity without a network: seven calibrated
probabilities and the words that cause them, computed by an embedded model.`,
		Example: `  toxscreen score "you are a stupid idiot"
  toxscreen batch -i comments.jsonl -o scored.jsonl
  toxscreen doctor`,
		Version:       toxscreen.Version(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(wrongFlag)
	root.AddGroup(commandGroups...)
	for i, commands := range [][]*cobra.Command{
		{a.scoreCommand(), a.batchCommand(), a.serveCommand(), a.piiCommand()},
		{a.judgeCommand(), a.redteamCommand()},
		{a.evaluateCommand(), a.auditCommand(), a.migrateCommand()},
		{a.feedbackCommand(), a.calibrateCommand()},
		{a.doctorCommand(), a.configCommand(), a.modelCommand(), a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = commandGroups[i].ID
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	root.InitDefaultCompletionCmd()
	addHelp(root)
	return root
}

// group adds subcommands to a command. Without a subcommand it shows its help.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	return cmd
}

// warn prints a warning on standard error.
func (a *app) warn(text string) {
	fmt.Fprintln(a.err, "toxscreen: warning: "+terminal.Escape(text))
}

// mayWrite refuses to replace an existing file without overwrite.
func mayWrite(path string, overwrite bool) error {
	if _, err := os.Stat(path); path != rows.Standard && !overwrite && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: choose another name, or replace it with --overwrite", path)
	}
	return nil
}

// mayReport refuses to replace a report in a folder without overwrite.
func mayReport(folder string, overwrite bool) error {
	for _, name := range report.Files() {
		if err := mayWrite(filepath.Join(folder, name), overwrite); err != nil {
			return err
		}
	}
	return nil
}

// fileOr returns the file of a setting: empty if the setting is off, and the file
// with the given name in a folder of the user if it is not set.
func fileOr(setting string, in func(name string) (string, error), name, flag string) (string, error) {
	switch setting {
	case off:
		return "", nil
	case "":
		file, err := in(name)
		if err != nil {
			err = fmt.Errorf("%w; name a file with %s, or off", err, flag)
		}
		return file, err
	}
	return setting, nil
}

// checkedWriter keeps the first error of a writer, so that a full disk behind
// standard output is noticed even if the code that writes ignores errors.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// quoted joins names for a sentence.
func quoted(names []string) string { return strings.Join(names, ", ") }
