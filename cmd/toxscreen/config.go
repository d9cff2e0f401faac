package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
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
		RunE: config.Run(a.configShow),
	}
	config.AddFlags(show, "format", "fail_on", "scale", "sensitivity")
	config.AddThresholdFlag(show, "those of the scale and the sensitivity")
	config.AddFullFlag(show)
	config.AddFlags(show, config.TextKeys...)
	config.AddFlags(show, config.JudgeKeys...)
	config.AddFlags(show, config.ModelKeys...)
	return group(cmd, show)
}

func (a *app) configShow(cmd *cobra.Command, s *config.Settings, _ []string) error {
	table := [][]string{{"KEY", "VALUE", "FROM"}}
	for _, k := range s.All() {
		table = append(table, []string{k.Key, cmp.Or(k.Value, "none"), k.From})
	}
	return a.show(s.Format, s.All(), terminal.Table(table))
}
