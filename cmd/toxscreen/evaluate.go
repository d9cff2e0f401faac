package main

import "github.com/spf13/cobra"

func (a *app) evaluateCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "evaluate",
		Short: "Measure models",
	}, a.fairnessCommand())
}
