package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
)

// knownTopic is the Args of the help command. Cobra's own exits with 0 for an unknown
// command.
func knownTopic(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return wrongUsage("%w", err)
	}
	if !about.HasParent() {
		return about.ValidateArgs(rest)
	}
	return usage.KnownCommand(about, rest)
}

// known is the Args of the program itself: who passes it a file or a text wants that to be
// scored.
func known(cmd *cobra.Command, args []string) error {
	err := usage.KnownCommand(cmd, args)
	switch {
	case err == nil:
	case isFile(args[0]):
		if read := rowsCommand("toxscreen batch", args[0]); read != "" {
			return usage.WithHint(err, "to score the rows of a file: "+read)
		}
		return usage.WithHint(err, "to score the content of a file: toxscreen score < "+usage.Quoted(args[0]))
	case strings.ContainsAny(args[0], " \t\n"):
		return usage.WithHint(err, "to score a text: toxscreen score "+usage.Quoted(args[0]))
	}
	return err
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
				return usage.WithHint(wrongUsage("%q is the name of a file, and there is none", arg), "for the name as a text: "+a.again(arg, "-- "+usage.Quoted(arg)))
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
			ways = append(ways, "for its content as one text: "+a.again(arg, "< "+usage.Quoted(arg)))
		}
		ways = append(ways, "for the name itself:         "+a.again(arg, "-- "+usage.Quoted(arg)))
		kind := "file"
		if isFolder(arg) {
			kind = "folder"
		}
		return usage.WithHint(wrongUsage("%q is the name of a %s, and would be read as a text", arg, kind), strings.Join(ways, "\n"))
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
			line = append(line, usage.Quoted(given))
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
			return batch + " -i " + usage.Quoted(file) + " -o " + output
		}
	}
	return ""
}
