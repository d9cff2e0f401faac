// Command toxscreen scores text for toxicity without a network:
//
//	toxscreen score "you are a stupid idiot"
//	toxscreen batch -i comments.jsonl -o scored.jsonl
//
// docs/cli describes each command, the configuration and the exit codes.
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
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/pii"
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

// run runs the command line and returns the exit code. An interrupt or SIGTERM
// ends the command cleanly, a second one ends it at once.
func run(ctx context.Context, args []string, std stdio) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	out := &terminal.Output{W: std.out}
	a := &app{args: args, in: std.in, out: out, err: std.err, terminal: terminal.Is(std.out)}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(out)
	root.SetErr(std.err)
	cmd, err := root.ExecuteContextC(ctx)
	if out.Err != nil && (err == nil || err == out.Err) {
		// cobra does not check its writes.
		err = fmt.Errorf("failed to write to standard output: %w", files.Cause(out.Err))
	}
	return a.report(cmd, err)
}

// ended returns how a command ends that has done all it could.
func ended(reached, partly bool) error {
	switch {
	case reached:
		return exit{code: exitReached}
	case partly:
		return exit{code: exitPartly}
	}
	return nil
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
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		code = exitUsage
	}
	fmt.Fprintln(a.err, "toxscreen: "+terminal.Escape(err.Error()))
	if h, ok := errors.AsType[usage.HintError](err); ok {
		fmt.Fprintln(a.err, terminal.Escape(h.Hint))
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
		Version:       toxscreen.Version,
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
		Args:          usage.Root(rowsFlags),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddGroup(usage.CommandGroups...)
	for i, commands := range [][]*cobra.Command{
		{a.scoreCommand(), a.batchCommand(), a.serveCommand(), a.piiCommand()},
		{a.judgeCommand(), a.redteamCommand()},
		{a.evaluateCommand(), a.auditCommand(), a.migrateCommand()},
		{a.feedbackCommand(), a.calibrateCommand()},
		{a.doctorCommand(), a.configCommand(), a.modelCommand(), a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = usage.CommandGroups[i].ID
			root.AddCommand(c)
		}
	}
	usage.Install(root)
	return root
}

// group adds subcommands to a command. Without a subcommand it shows its help.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = usage.KnownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	return cmd
}

// warn prints warnings on standard error.
func (a *app) warn(texts ...string) {
	for _, text := range texts {
		fmt.Fprintln(a.err, "toxscreen: warning: "+terminal.Escape(text))
	}
}

// show prints a value as JSON, or the text that it has for people.
func (a *app) show(format string, value any, text string) error {
	if format == "json" {
		return plainjson.Write(a.out, value, "  ")
	}
	_, err := io.WriteString(a.out, terminal.Escape(text))
	return err
}

// showLine shows a line of progress on a terminal, in place of the one before. An empty
// line removes it.
func (a *app) showLine(line string) {
	if terminal.Is(a.err) {
		fmt.Fprint(a.err, "\r\x1b[K"+line)
	}
}

// mayWrite refuses to replace an existing file without overwrite.
func mayWrite(path string, overwrite bool) error {
	if _, err := os.Stat(path); path != rows.Standard && !overwrite && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: choose another name, or replace it with --overwrite", path)
	}
	return nil
}

// mayReport refuses to replace a report in a folder without overwrite. Without a folder there
// is nothing to replace.
func mayReport(folder string, overwrite bool) error {
	if folder == "" {
		return nil
	}
	for _, name := range report.Files() {
		if err := mayWrite(filepath.Join(folder, name), overwrite); err != nil {
			return err
		}
	}
	return nil
}

// view returns how results are shown to people.
func (a *app) view() terminal.View {
	file, _ := a.out.(*terminal.Output).W.(*os.File)
	v := terminal.NewView(a.out, file)
	v.Types = pii.Types()
	return v
}
