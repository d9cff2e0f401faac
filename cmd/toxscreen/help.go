package main

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// The groups of commands in the help, in this order.
var commandGroups = []*cobra.Group{
	{ID: "common", Title: "Common commands:"},
	{ID: "judge", Title: "A second opinion, by a language model:"},
	{ID: "measure", Title: "Measure and compare:"},
	{ID: "fit", Title: "Fit scores to your texts:"},
	{ID: "setup", Title: "Setup:"},
}

// flagGroup is a heading of flags in the help of a command.
type flagGroup string

// The groups of flags.
const (
	ioGroup       flagGroup = "Input and output"
	serverGroup   flagGroup = "Addresses and access"
	writerGroup   flagGroup = "The model that writes"
	sampleGroup   flagGroup = "Sample and measures"
	decisionGroup flagGroup = "Decisions"
	priceGroup    flagGroup = "Prices and budget"
	piiGroup      flagGroup = "Personal data"
	maskGroup     flagGroup = "Masking"
	limitGroup    flagGroup = "Limits and behaviour"
	modelGroup    flagGroup = "Model"
	judgeGroup    flagGroup = "Judge"
	storageGroup  flagGroup = "Feedback and logs"
	otherGroup    flagGroup = "Other"
)

// flagGroups are the groups in the order of the help: what most users need comes first.
var flagGroups = []flagGroup{
	serverGroup, writerGroup, ioGroup, sampleGroup, decisionGroup, priceGroup, piiGroup, maskGroup, limitGroup, modelGroup, judgeGroup, storageGroup, otherGroup,
}

// groupAnnotation is the annotation of a flag that names its group.
const groupAnnotation = "toxscreen_group"

// inGroup puts flags of a command into a group. In the help they are in the order of their
// declaration.
func inGroup(cmd *cobra.Command, group flagGroup, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, groupAnnotation, []string{string(group)}); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// groupOf returns the group of a flag.
func groupOf(f *pflag.Flag) flagGroup {
	if group := f.Annotations[groupAnnotation]; len(group) > 0 {
		return flagGroup(group[0])
	}
	return otherGroup
}

// groupedFlags returns the part of the help that lists the flags of a command.
func groupedFlags(cmd *cobra.Command) string {
	width := 0 // no limit: a pipe has no width
	if out, ok := cmd.OutOrStdout().(*checkedWriter); ok {
		if f, ok := out.w.(*os.File); ok {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
				width = columns
			}
		}
	}
	var b strings.Builder
	for _, group := range flagGroups {
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

// usageTemplate is cobra's, with groups of flags.
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

// setUpHelp sets what cobra has for all commands of the process.
var setUpHelp = sync.OnceFunc(func() {
	cobra.EnableCommandSorting = false // common commands come first
	cobra.AddTemplateFunc("groupedFlags", groupedFlags)
})

// addHelp gives the commands below root their help.
func addHelp(root *cobra.Command) {
	setUpHelp()
	root.SetUsageTemplate(usageTemplate)
	var order func(*cobra.Command)
	order = func(c *cobra.Command) {
		c.Flags().SortFlags = false
		for _, sub := range c.Commands() {
			order(sub)
		}
	}
	order(root)
}
