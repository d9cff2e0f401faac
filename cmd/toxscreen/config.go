package main

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/terminal"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration",
	}
	show := &cobra.Command{
		Use:   "show",
		Short: "Show each setting and where it comes from",
		Long: `Show each setting and where it comes from. The sources, the strongest first:
flags, TOXSCREEN_* in the environment, toxscreen.yaml in the working folder, in
the user's configuration folder and in /etc/toxscreen, defaults.`,
		Example: `  toxscreen config show
  TOXSCREEN_THRESHOLDS_INSULT=0.7 toxscreen config show --format json`,
		Args: arguments(0, 0, ""),
		RunE: a.configShow,
	}
	addFlags(show, "format", "fail_on")
	addThresholdFlag(show, "the model's")
	addFullFlag(show)
	addFlags(show, screenerFlags...)
	addFlags(show, judgeFlags...)
	addFlags(show, modelFlags...)
	return group(cmd, show)
}

// shownSetting is one entry of `config show --format json`.
type shownSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func (a *app) configShow(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	shown := make([]shownSetting, len(keys))
	for i, k := range keys {
		value := s.value(k.name)
		if value == "" && k.unset != nil {
			value = k.unset(s)
		}
		shown[i] = shownSetting{k.name, value, s.from(k.name)}
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, shown, "  ")
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tVALUE\tFROM")
	for _, k := range shown {
		fmt.Fprintf(table, "%s\t%s\t%s\n", k.Key, terminal.Escape(cmp.Or(k.Value, "none")), terminal.Escape(k.From))
	}
	return table.Flush()
}
