package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/input"
)

// commandsBelow returns the commands below one, cobra's own apart.
func commandsBelow(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" && sub.Name() != "help" {
			all = append(append(all, sub), commandsBelow(sub)...)
		}
	}
	return all
}

func commandLine(t *testing.T) *cobra.Command {
	t.Helper()
	return (&app{in: strings.NewReader(""), out: &terminal.Output{W: io.Discard}, err: io.Discard}).rootCommand()
}

// What a command reads is --input or -i everywhere, and what it writes is --output or -o.
// Flags for further files say in their names what is in these. redteam has the flags of
// nexa-gauge.
func TestInputAndOutputHaveOneNameEach(t *testing.T) {
	others := []string{"in", "infile", "input-file", "out", "outfile", "output-file", "output-dir", "to", "file"}
	for _, c := range commandsBelow(commandLine(t)) {
		if strings.HasPrefix(c.CommandPath(), "toxscreen redteam") {
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			if value == "strings" || value == "stringArray" {
				t.Errorf("%s: the help names a type of Go for the value of --%s: name the value", c.CommandPath(), f.Name)
			}
			isPath := value == "FILE" || value == "FOLDER"
			switch {
			case slices.Contains(others, f.Name):
				t.Errorf("%s has --%s: what is read is --input, and what is written is --output", c.CommandPath(), f.Name)
			case (f.Name == "input") != (f.Shorthand == "i") || (f.Name == "output") != (f.Shorthand == "o"):
				t.Errorf("%s: --%s has the short name %q", c.CommandPath(), f.Name, f.Shorthand)
			case (f.Name == "input" || f.Name == "output") && !isPath:
				t.Errorf("%s: --%s takes %s, which is neither a file nor a folder", c.CommandPath(), f.Name, value)
			}
		})
		for _, name := range []string{"-i", "-o"} {
			if _, after, ok := strings.Cut(c.Use, name+" "); ok && !strings.HasPrefix(after, "FILE") && !strings.HasPrefix(after, "FOLDER") {
				t.Errorf("%s: the value of %s is neither FILE nor FOLDER", c.Use, name)
			}
		}
	}
}

// A flag without a group would be at the end of the help, under no heading that says what
// it is about. A command that is not in a group would not be in the help at all.
func TestEveryFlagAndCommandHasAGroup(t *testing.T) {
	root := commandLine(t)
	for _, c := range commandsBelow(root) {
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s has no group", c.CommandPath())
		}
		help := c.UsageString()
		if strings.Contains(help, "\nOther:\n") {
			t.Errorf("%s: a flag is under Other: put it into a group", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(help, "--"+f.Name) {
				t.Errorf("%s: --%s is not in the help: its group is not among those that the help shows", c.CommandPath(), f.Name)
			}
		})
	}
}

// The help and the document of batch name each format of rows and the endings of its files. Who
// adds a format learns here what does not follow from its declaration.
func TestFormatsOfRowsAreInHelpAndDocuments(t *testing.T) {
	batch, _, err := commandLine(t).Find([]string{"batch"})
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../docs/cli/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	for flag, names := range map[string][]string{
		"input": input.Endings(rows.InputFormats()), "output": input.Endings(rows.OutputFormats()),
		"input-format": namesOf(rows.InputFormats()), "output-format": namesOf(rows.OutputFormats()),
	} {
		for _, name := range names {
			if help := batch.Flag(flag).Usage; !strings.Contains(help, name) {
				t.Errorf("the help of --%s (internal/config/rows.go) lacks %s: %s", flag, name, help)
			}
			if !strings.Contains(string(document), "`"+name+"`") {
				t.Errorf("docs/cli/batch.md lacks `%s`", name)
			}
		}
	}
}

func namesOf(formats []rows.Format) []string {
	var names []string
	for _, f := range formats {
		names = append(names, string(f))
	}
	return names
}

// A suggestion must be a flag that exists, and a name that toxscreen uses itself for
// something cannot be another's.
func TestOtherNamesStandForFlags(t *testing.T) {
	flags := map[string]bool{}
	for _, c := range commandsBelow(commandLine(t)) {
		if !strings.HasPrefix(c.CommandPath(), "toxscreen redteam") {
			c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		}
	}
	for other, suggestions := range usage.OtherNames {
		if strings.Contains(other, "_") {
			t.Errorf("%s is never looked up: the lookup has dashes", other)
		}
		for _, suggestion := range suggestions {
			name, _, _ := strings.Cut(strings.TrimPrefix(suggestion, "--"), " ")
			if !flags[name] {
				t.Errorf("%s stands for %s, which no command has", other, suggestion)
			}
		}
	}
}
