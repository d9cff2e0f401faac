package usage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/files"
)

// RowsFlags returns the flags with which a command for rows reads a file, like "-i FILE -o
// FILE". The result is empty if the name of the file is not that of a file with rows.
type RowsFlags func(file string) string

// Root returns the Args of the program itself. A file or a text as its argument is probably
// meant to be scored, so the error says how to do that.
func Root(rows RowsFlags) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := KnownCommand(cmd, args)
		switch {
		case err == nil:
		case isFile(args[0]):
			if flags := rows(args[0]); flags != "" {
				return WithHint(err, "to score the rows of a file: toxscreen batch "+flags)
			}
			return WithHint(err, "to score the content of a file: toxscreen score < "+Quoted(args[0]))
		case strings.ContainsAny(args[0], " \t\n"):
			return WithHint(err, "to score a text: toxscreen score "+Quoted(args[0]))
		}
		return err
	}
}

// RowsCommand is the annotation by which a command for texts names the command for rows.
const RowsCommand = "rows"

// RefuseFiles returns an error if a text is the name of a file, whose content is probably
// meant. After --, every argument is a text. line are all arguments of the program.
func RefuseFiles(cmd *cobra.Command, args, line []string, rows RowsFlags) error {
	for i, arg := range args {
		if dash := cmd.ArgsLenAtDash(); dash >= 0 && i >= dash {
			continue
		}
		if !isFile(arg) {
			if isNameOfRows(arg, rows) {
				return WithHint(Wrong("%q is the name of a file, and there is none", arg), "for the name as a text: "+again(line, arg, "-- "+Quoted(arg)))
			}
			continue
		}
		var ways []string
		read := ""
		if batch, flags := cmd.Annotations[RowsCommand], rows(arg); batch != "" && flags != "" {
			read = batch + " " + flags
			ways = append(ways, "for each of its rows:        "+read)
		}
		if len(args) == 1 && (read == "" || strings.EqualFold(filepath.Ext(arg), ".txt")) && !files.IsFolder(arg) {
			ways = append(ways, "for its content as one text: "+again(line, arg, "< "+Quoted(arg)))
		}
		ways = append(ways, "for the name itself:         "+again(line, arg, "-- "+Quoted(arg)))
		kind := "file"
		if files.IsFolder(arg) {
			kind = "folder"
		}
		return WithHint(Wrong("%q is the name of a %s, and would be read as a text", arg, kind), strings.Join(ways, "\n"))
	}
	return nil
}

// again returns a command line in which replacement takes the place of an argument.
func again(args []string, arg, replacement string) string {
	line := []string{"toxscreen"}
	replaced := false
	for _, given := range slices.Backward(args) { // an earlier one can be the value of a flag
		if given == arg && !replaced {
			replaced = true
			line = append(line, replacement)
		} else {
			line = append(line, Quoted(given))
		}
	}
	slices.Reverse(line[1:])
	return strings.Join(line, " ")
}

// isFile reports whether a text is the name of a file, or the path of a folder. A single
// word does not count as a folder: it may be the name of one, but hardly means it.
func isFile(text string) bool {
	found, err := os.Stat(text)
	return err == nil && (found.Mode().IsRegular() || found.IsDir() && strings.ContainsRune(text, filepath.Separator))
}

// isNameOfRows reports whether a text is one word with the ending of a file with rows.
func isNameOfRows(text string, rows RowsFlags) bool {
	return !strings.ContainsFunc(text, unicode.IsSpace) && filepath.Ext(text) != "" && rows(text) != ""
}
