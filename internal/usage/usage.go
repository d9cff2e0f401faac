// Package usage explains a command line of cobra to the people who type it: it groups flags
// in the help, and its errors suggest what was meant, even by the names that other programs
// have for a flag.
package usage

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen/internal/spelling"
)

// Error is an error in a command line, as opposed to a failure of the command.
type Error struct{ error }

// Unwrap returns the error that Error marks.
func (e Error) Unwrap() error { return e.error }

// Wrong returns an [Error] with a message, formatted as by [fmt.Errorf].
func Wrong(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// HintError is an error with a second line that says how to fix it.
type HintError struct {
	error

	Hint string
}

// Unwrap returns the error without its hint.
func (h HintError) Unwrap() error { return h.error }

// WithHint adds a line to an error that says how to fix it.
func WithHint(err error, hint string) error { return HintError{err, hint} }

// OtherNames maps names in other programs to the flags that do the same here. Of several
// flags, the first that a command has counts. The names are those of uvicorn, gunicorn,
// llama-server and vLLM, of the programs of Detoxify and Presidio, of
// lm-evaluation-harness, and of tools for CSV.
var OtherNames = map[string][]string{
	"addr": {"--listen HOST:PORT"}, "address": {"--listen HOST:PORT"}, "b": {"--listen HOST:PORT"}, "bind": {"--listen HOST:PORT"},
	"host": {"--listen HOST:PORT"}, "p": {"--listen HOST:PORT"}, "port": {"--listen HOST:PORT"}, "uds": {"--listen unix:PATH"},
	"api-key": {"--api-keys FILE"}, "cors": {"--allow-origin ORIGIN"}, "certfile": {"--tls-cert FILE"}, "keyfile": {"--tls-key FILE"},
	"ssl-cert-file": {"--tls-cert FILE"}, "ssl-certfile": {"--tls-cert FILE"}, "ssl-key-file": {"--tls-key FILE"}, "ssl-keyfile": {"--tls-key FILE"},
	"debug": {"--log-level debug"}, "verbose": {"--log-level debug"}, "v": {"--log-level debug"}, "root-path": {"--external-url URL"},

	"i": {"--prompts FILE"}, "input": {"--prompts FILE"},
	"f": {"--input FILE"}, "file": {"--input FILE"}, "infile": {"--input FILE"}, "input-file": {"--input FILE"}, "in": {"--input FILE"},
	"out": {"--output"}, "outfile": {"--output"}, "output-dir": {"--output"}, "output-file": {"--output"}, "output-folder": {"--output"},
	"output-path": {"--output"}, "save-to": {"--output"}, "dest": {"--output"}, "to": {"--output"},
	"force": {"--overwrite"}, "yes": {"--overwrite"}, "y": {"--overwrite"}, "continue": {"--resume"}, "silent": {"--quiet"}, "no-progress": {"--quiet"},
	"column": {"--text-column NAME"}, "field": {"--text-column NAME"}, "text-field": {"--text-column NAME"}, "text-key": {"--text-column NAME"},
	"d": {"--delimiter CHARACTER"}, "sep": {"--delimiter CHARACTER"}, "separator": {"--delimiter CHARACTER"}, "tabs": {"--delimiter tab"},
	"json": {"--format json"}, "j": {"--format json"}, "output-format": {"--output-format", "--format"}, "to-json": {"--format json"},

	"cutoff": {"--threshold"}, "t": {"--threshold", "--type"}, "exit-code": {"--fail-on flagged"}, "exit-status": {"--fail-on flagged"}, "fail": {"--fail-on flagged"}, "strict": {"--fail-on flagged"},
	"pretrained": {"--model"}, "model-name": {"--model"}, "model-path": {"--model"}, "model-type": {"--model"}, "from-ckpt-path": {"--model"},
	"cuda": {"--provider cuda"}, "gpu": {"--provider cuda"}, "device": {"--provider"}, "cpu": {"--provider cpu"},
	"jobs": {"--threads"}, "num-workers": {"--threads"}, "threads-batch": {"--threads"}, "w": {"--threads"}, "workers": {"--threads"}, "concurrency": {"--parallel", "--threads"},
	"entities": {"--type"}, "entity": {"--type"}, "score-threshold": {"--min-score"}, "allow-list": {"--allow TEXT"}, "ad-hoc-recognizers": {"--recognizers FILE"},
	"anonymize": {"--mask"}, "censor": {"--mask"}, "redact": {"--mask"}, "anonymizer": {"--operator"}, "anonymizers": {"--operator"}, "offline": {"--no-judge"},
}

// wrongFlag is the error for a flag that cannot be read.
func wrongFlag(cmd *cobra.Command, err error) error {
	if cmd.HasAvailableSubCommands() && cmd.Flags().NArg() > 0 {
		// The flag belongs to an unknown command.
		if unknown := cmd.ValidateArgs(cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return Error{err}
	}
	name, dashes := unknown.GetSpecifiedName(), "--"
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		dashes = "-"
		if before, _, _ := strings.Cut(letters, "="); len(before) > 1 && suggestedFlag(cmd, before) != "" {
			name = before // a long name after one dash
		}
	}
	suggestion := suggestedFlag(cmd, name)
	if suggestion == "" && dashes == "--" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if nearest, similar := spelling.Nearest(name, names); similar {
			suggestion = "--" + nearest
		}
	}
	if suggestion != "" {
		return Wrong("unknown flag %s%s; did you mean %s?", dashes, name, suggestion)
	}
	err = Wrong("unknown flag %s%s", dashes, name)
	if strings.Contains(cmd.Use, "TEXT") {
		err = WithHint(err, fmt.Sprintf("put -- before a text that begins with a dash: %s -- \"-5 is cold\"", cmd.CommandPath()))
	}
	return err
}

// suggestedFlag returns what to write instead of a flag that a command lacks: a flag of the
// command with another name, or the command that has the flag. It is empty if there is
// neither.
func suggestedFlag(cmd *cobra.Command, name string) string {
	if cmd.Flags().Lookup(name) != nil {
		return "--" + name
	}
	others := OtherNames[strings.ReplaceAll(name, "_", "-")]
	for _, flag := range others {
		if cmd.Flags().Lookup(flagName(flag)) != nil {
			return flag
		}
	}
	if c := commandWith(cmd, func(flags *pflag.FlagSet) bool {
		return flags.Lookup(name) != nil || len(name) == 1 && flags.ShorthandLookup(name) != nil
	}); c != nil {
		if len(name) == 1 {
			return c.CommandPath() + " -" + name
		}
		return c.CommandPath() + " --" + name
	}
	for _, flag := range others {
		if c := commandWith(cmd, func(flags *pflag.FlagSet) bool { return flags.Lookup(flagName(flag)) != nil }); c != nil {
			return c.CommandPath() + " " + flag
		}
	}
	return ""
}

// Meant returns the flags that do what a name means in other programs, without their
// dashes. Of several flags, the first that a command has counts.
func Meant(name string) []string {
	var flags []string
	for _, suggestion := range OtherNames[strings.ReplaceAll(name, "_", "-")] {
		flags = append(flags, flagName(suggestion))
	}
	return flags
}

// flagName returns the name of the flag in a suggestion, without dashes and value.
func flagName(suggestion string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(suggestion, "--"), " ")
	return name
}

// commandWith returns a command whose flags satisfy wanted: the nearest one, or else the
// first in the order of the help. It is nil if no command does.
func commandWith(cmd *cobra.Command, wanted func(*pflag.FlagSet) bool) *cobra.Command {
	var below func(c *cobra.Command) *cobra.Command
	below = func(c *cobra.Command) *cobra.Command {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			if wanted(sub.Flags()) {
				return sub
			}
			if found := below(sub); found != nil {
				return found
			}
		}
		return nil
	}
	for from := cmd; from != nil; from = from.Parent() {
		if found := below(from); found != nil {
			return found
		}
	}
	return nil
}

// knownTopic is the Args of the command help. Cobra's own would exit with 0 for an unknown
// command.
func knownTopic(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return Wrong("%w", err)
	}
	if !about.HasParent() {
		return about.ValidateArgs(rest)
	}
	return KnownCommand(about, rest)
}

// KnownCommand is the Args of a command with subcommands only: any argument is an unknown
// subcommand.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if slices.Contains(c.SuggestFor, strings.ToLower(args[0])) {
			return Wrong("unknown command %q; did you mean %s?", args[0], c.Name())
		}
		names = append(names, c.Name())
	}
	return Wrong("unknown command %q%s", args[0], spelling.DidYouMean(args[0], names))
}

// Arguments returns an Args that accepts least to most arguments. what names them in
// errors.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Wrong("%s is missing", what)
		case len(args) > most && most == 0:
			err := Wrong("unexpected argument %q: this command takes none", args[0])
			if named := namedInput(cmd, args); named != "" {
				return WithHint(err, named)
			}
			return err
		case len(args) > most:
			return Wrong("unexpected argument %q: this command takes %s only", args[most], what)
		}
		return nil
	}
}

// namedInput says how to name files with flags instead of arguments. It is empty for a
// command that reads no files.
func namedInput(cmd *cobra.Command, args []string) string {
	input, output := cmd.Flags().Lookup("input"), cmd.Flags().Lookup("output")
	if input == nil {
		return ""
	}
	short := func(f *pflag.Flag) string {
		if f.Shorthand != "" {
			return " -" + f.Shorthand + " "
		}
		return " --" + f.Name + " "
	}
	if input.Changed || len(args) > 2 || output == nil && len(args) > 1 {
		return "put a pattern for many inputs in quotes:" + short(input) + "'comments/*.parquet'"
	}
	line := cmd.CommandPath() + short(input) + Quoted(args[0])
	if output != nil {
		kind, _ := pflag.UnquoteUsage(output)
		switch {
		case output.Changed:
			kind = Quoted(output.Value.String())
		case len(args) > 1:
			kind = Quoted(args[1])
		}
		line += short(output) + kind
	}
	return "files are named with flags: " + line
}

// plainWord matches words that every shell takes literally.
var plainWord = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// Quoted returns a text in the form that a shell reads as one word.
func Quoted(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
