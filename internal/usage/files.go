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
// FILE". It is empty if the file's name is not that of a file with rows.
type RowsFlags func(file string) string

// Root returns the Args of the program itself: who passes it a file or a text wants that
// to be scored.
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

// RowsCommand is the annotation of a command for texts that names the command for rows.
const RowsCommand = "rows"

// RefuseFiles refuses a text that is the name of a file: who passes one wants its content
// to be scored. After -- every argument is a text. line are all arguments of the program.
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

// again returns a command line with something in place of an argument.
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

// isFile reports whether a text is the name of a file, or the path of a folder: a single
// word can be the name of a folder, too, but is hardly meant as one.
func isFile(text string) bool {
	found, err := os.Stat(text)
	return err == nil && (found.Mode().IsRegular() || found.IsDir() && strings.ContainsRune(text, filepath.Separator))
}

// isNameOfRows reports whether a text is one word that ends like the name of a file with rows.
func isNameOfRows(text string, rows RowsFlags) bool {
	return !strings.ContainsFunc(text, unicode.IsSpace) && filepath.Ext(text) != "" && rows(text) != ""
}
