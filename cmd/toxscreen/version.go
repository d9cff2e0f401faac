package main

import (
	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the versions that results depend on",
		Example: "  toxscreen version --format json",
		RunE:    a.version,
	}
	config.AddFlags(cmd, "format")
	config.AddFlags(cmd, config.RuntimeKeys...)
	return cmd
}

func (a *app) version(cmd *cobra.Command, _ []string) error {
	s, wrong, err := config.LoadOrDefault(cmd)
	if err != nil {
		return err
	}
	if wrong != nil {
		a.warn(wrong.Error() + "; it is ignored")
	}
	versions, err := screen.ReadVersions(s.Settings)
	if err != nil {
		return err
	}
	return a.show(s.Format, versions, versions.Text())
}
