package usage

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CommandGroups are the groups of commands, in the order of the help.
var CommandGroups = []*cobra.Group{
	{ID: "common", Title: "Common commands:"},
	{ID: "judge", Title: "A second opinion, by a language model:"},
	{ID: "measure", Title: "Measure and compare:"},
	{ID: "fit", Title: "Fit scores to your texts:"},
	{ID: "setup", Title: "Setup:"},
}

// Group is the heading of a group of flags in the help of a command.
type Group string

// The groups of flags.
const (
	InputOutput  Group = "Input and output"
	Server       Group = "Addresses and access"
	Writer       Group = "The model that writes"
	Sample       Group = "Sample and measures"
	Decisions    Group = "Decisions"
	Prices       Group = "Prices and budget"
	PersonalData Group = "Personal data"
	Masking      Group = "Masking"
	Limits       Group = "Limits and behaviour"
	Model        Group = "Model"
	Judge        Group = "Judge"
	Storage      Group = "Feedback and logs"
	other        Group = "Other"
)

// groups are all groups in the order of the help: what most users need comes first.
var groups = []Group{
	Server, Writer, InputOutput, Sample, Decisions, Prices, PersonalData, Masking, Limits, Model, Judge, Storage, other,
}

// groupAnnotation is the annotation by which a flag names its group.
const groupAnnotation = "toxscreen_group"

// InGroup puts flags of a command into a group. The help lists them in the order of their
// declaration.
func InGroup(cmd *cobra.Command, group Group, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, groupAnnotation, []string{string(group)}); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// groupOf returns the group of a flag.
func groupOf(f *pflag.Flag) Group {
	if group := f.Annotations[groupAnnotation]; len(group) > 0 {
		return Group(group[0])
	}
	return other
}

// groupedFlags returns the part of the help with the flags of a command.
func groupedFlags(cmd *cobra.Command) string {
	width := 0 // no limit: a pipe has no width
	if out, ok := cmd.OutOrStdout().(interface{ Width() int }); ok {
		width = out.Width()
	}
	var b strings.Builder
	for _, group := range groups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == group {
				flags.AddFlag(f)
			}
		})
		if usage := strings.TrimRight(flags.FlagUsagesWrapped(width), " \n"); usage != "" {
			fmt.Fprintf(&b, "\n\n%s:\n%s", group, usage)
		}
	}
	return b.String()
}

// usageTemplate is cobra's template, with groups of flags.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{$commands := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $commands}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range $commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{groupedFlags .}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for the flags of a command.{{end}}
`

// Folders completes an argument with the names of folders.
func Folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// setUpHelp sets the options of cobra that all commands of the process share.
var setUpHelp = sync.OnceFunc(func() {
	cobra.EnableCommandSorting = false // common commands come first
	cobra.AddTemplateFunc("groupedFlags", groupedFlags)
})

// Install prepares root and the commands below it: their help, their errors for wrong
// usage, and the completion of flags whose value is a FOLDER. A command without Args takes
// no arguments.
func Install(root *cobra.Command) {
	setUpHelp()
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	root.InitDefaultCompletionCmd()
	root.SetUsageTemplate(usageTemplate)
	var order func(*cobra.Command)
	order = func(c *cobra.Command) {
		c.Flags().SortFlags = false
		if c.Args == nil {
			c.Args = Arguments(0, 0, "")
		}
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if value, _ := pflag.UnquoteUsage(f); value == "FOLDER" {
				_ = c.MarkFlagDirname(f.Name)
			}
		})
		for _, sub := range c.Commands() {
			order(sub)
		}
	}
	order(root)
}
