package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen/internal/spelling"
	"github.com/toxscreen/toxscreen/rows"
)

// otherNames are names that people know from other programs, with the flags that do the
// same here. Of several, the first that a command has counts. The names are those of
// uvicorn, gunicorn, llama-server and vLLM, of Detoxify's and Presidio's programs, of
// lm-evaluation-harness, and of tools for CSV.
var otherNames = map[string][]string{
	"addr": {"--listen HOST:PORT"}, "address": {"--listen HOST:PORT"}, "b": {"--listen HOST:PORT"}, "bind": {"--listen HOST:PORT"},
	"host": {"--listen HOST:PORT"}, "p": {"--listen HOST:PORT"}, "port": {"--listen HOST:PORT"}, "uds": {"--listen unix:PATH"},
	"api-key": {"--api-keys FILE"}, "cors": {"--allow-origin ORIGIN"}, "certfile": {"--tls-cert FILE"}, "keyfile": {"--tls-key FILE"},
	"ssl-cert-file": {"--tls-cert FILE"}, "ssl-certfile": {"--tls-cert FILE"}, "ssl-key-file": {"--tls-key FILE"}, "ssl-keyfile": {"--tls-key FILE"},
	"debug": {"--log-level debug"}, "verbose": {"--log-level debug"}, "v": {"--log-level debug"}, "root-path": {"--external-url URL"},

	"i": {"--prompts FILE", "--dev FILE"}, "input": {"--prompts FILE", "--dev FILE"},
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
		return knownCommand(cmd, cmd.Flags().Args())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return exit{exitUsage, err}
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
		return wrongUsage("unknown flag %s%s; did you mean %s?", dashes, name, suggestion)
	}
	err = wrongUsage("unknown flag %s%s", dashes, name)
	if strings.Contains(cmd.Use, "TEXT") {
		err = hinted{err, fmt.Sprintf("put -- before a text that begins with a dash: %s -- \"-5 is cold\"", cmd.CommandPath())}
	}
	return err
}

// suggestedFlag returns what to write for a flag that a command does not have: its flag
// with another name, or the command that has the flag. It is empty if there is neither.
func suggestedFlag(cmd *cobra.Command, name string) string {
	if cmd.Flags().Lookup(name) != nil {
		return "--" + name
	}
	others := otherNames[strings.ReplaceAll(name, "_", "-")]
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

// flagName returns the name of a flag in a suggestion, without its dashes and its value.
func flagName(suggestion string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(suggestion, "--"), " ")
	return name
}

// commandWith returns a command whose flags are as wanted: the nearest one, or else the
// first in the order of the help.
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

// knownTopic is the Args of the help command. Cobra's own exits with 0 for an unknown
// command.
func knownTopic(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return wrongUsage("%w", err)
	}
	return knownCommand(about, rest)
}

// knownCommand is the Args of a command that only has subcommands: any argument
// is an unknown subcommand.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if slices.Contains(c.SuggestFor, strings.ToLower(args[0])) {
			return wrongUsage("unknown command %q; did you mean %s?", args[0], c.Name())
		}
		names = append(names, c.Name())
	}
	err := wrongUsage("unknown command %q%s", args[0], didYouMean(args[0], names))
	switch {
	case cmd.HasParent():
	case isFile(args[0]):
		if read := rowsCommand("toxscreen batch", args[0]); read != "" {
			return hinted{err, "to score the rows of a file: " + read}
		}
		return hinted{err, "to score the content of a file: toxscreen score < " + shellQuoted(args[0])}
	case strings.ContainsAny(args[0], " \t\n"):
		return hinted{err, "to score a text: toxscreen score " + shellQuoted(args[0])}
	}
	return err
}

// arguments returns an Args that accepts least to most arguments.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrongUsage("%s is missing", what)
		case len(args) > most && most == 0:
			err := wrongUsage("unexpected argument %q: this command takes none", args[0])
			if named := namedInput(cmd, args); named != "" {
				return hinted{err, named}
			}
			return err
		case len(args) > most:
			return wrongUsage("unexpected argument %q: this command takes %s only", args[most], what)
		}
		return nil
	}
}

// namedInput says how to name files with flags in place of arguments. It is empty for a
// command that reads none.
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
	line := cmd.CommandPath() + short(input) + shellQuoted(args[0])
	if output != nil {
		kind, _ := pflag.UnquoteUsage(output)
		switch {
		case output.Changed:
			kind = shellQuoted(output.Value.String())
		case len(args) > 1:
			kind = shellQuoted(args[1])
		}
		line += short(output) + kind
	}
	return "files are named with flags: " + line
}

// refuseFile refuses a text that is the name of a file: who passes one wants its content
// to be scored. After -- every argument is a text.
func (a *app) refuseFile(cmd *cobra.Command, args []string) error {
	for i, arg := range args {
		if dash := cmd.ArgsLenAtDash(); dash >= 0 && i >= dash {
			continue
		}
		if !isFile(arg) {
			if isNameOfRows(arg) {
				return hinted{wrongUsage("%q is the name of a file, and there is none", arg), "for the name as a text: " + a.again(arg, "-- "+shellQuoted(arg))}
			}
			continue
		}
		var ways []string
		read := ""
		if batch, ok := cmd.Annotations[rowsAnnotation]; ok {
			read = rowsCommand(batch, arg)
		}
		if read != "" {
			ways = append(ways, "for each of its rows:        "+read)
		}
		if len(args) == 1 && (read == "" || strings.EqualFold(filepath.Ext(arg), ".txt")) && !isFolder(arg) {
			ways = append(ways, "for its content as one text: "+a.again(arg, "< "+shellQuoted(arg)))
		}
		ways = append(ways, "for the name itself:         "+a.again(arg, "-- "+shellQuoted(arg)))
		kind := "file"
		if isFolder(arg) {
			kind = "folder"
		}
		return hinted{wrongUsage("%q is the name of a %s, and would be read as a text", arg, kind), strings.Join(ways, "\n")}
	}
	return nil
}

// rowsAnnotation is the annotation of a command for texts that names the command for rows.
const rowsAnnotation = "rows"

// again returns the command line with something in place of an argument.
func (a *app) again(arg, replacement string) string {
	line := []string{"toxscreen"}
	replaced := false
	for _, given := range slices.Backward(a.args) { // an earlier one can be the value of a flag
		if given == arg && !replaced {
			replaced = true
			line = append(line, replacement)
		} else {
			line = append(line, shellQuoted(given))
		}
	}
	slices.Reverse(line[1:])
	return strings.Join(line, " ")
}

// isFile reports whether a text is the name of a file, or the path of a folder: a single
// word can be the name of a folder, too, but is hardly meant as one.
func isFile(text string) bool {
	found, err := os.Stat(text)
	return err == nil && (found.Mode().IsRegular() || found.IsDir() && strings.ContainsRune(text, filepath.Separator))
}

// isNameOfRows reports whether a text is one word that ends like the name of a file with rows.
func isNameOfRows(text string) bool {
	return !strings.ContainsFunc(text, unicode.IsSpace) && filepath.Ext(text) != "" && rowsCommand("", text) != ""
}

func isFolder(path string) bool {
	found, err := os.Stat(path)
	return err == nil && found.IsDir()
}

// rowsCommand returns the command line of batch, or of pii batch, for a file. It is empty
// if the file's name is not that of a file with rows.
func rowsCommand(batch, file string) string {
	for _, output := range []string{"results" + filepath.Ext(file), "results.jsonl", "results"} {
		if (rows.Options{Input: file, Output: output}).Validate() == nil {
			return batch + " -i " + shellQuoted(file) + " -o " + output
		}
	}
	return ""
}

// plainWord matches what no shell reads in another way.
var plainWord = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// shellQuoted returns a text as a shell reads it as one word.
func shellQuoted(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// didYouMean returns "; did you mean …?" with the nearest of the names, or
// nothing if no name is similar.
func didYouMean(name string, names []string) string {
	if n, similar := spelling.Nearest(name, names); similar {
		return fmt.Sprintf("; did you mean %s?", n)
	}
	return ""
}
