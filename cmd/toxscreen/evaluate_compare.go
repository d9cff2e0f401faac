package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/eval/generation"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/usage"
)

func (a *app) evaluateCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare FIRST SECOND -o FOLDER",
		Short: "Compare two runs of evaluate model",
		Long: `Compare two runs of evaluate model, of two models or of one with two settings. Both
must have continued the same prompts the same number of times. Each prompt is compared
with itself, so small differences show. Differences are those of the second run less the first.`,
		Example: `  toxscreen evaluate model --ollama-model smollm2:135m -o warm
  toxscreen evaluate model --ollama-model smollm2:135m --temperature 0.3 -o cool
  toxscreen evaluate compare warm cool -o difference`,
		Args:              usage.Arguments(2, 2, "a pair of folders with runs"),
		ValidArgsFunction: usage.Folders,
		RunE:              a.evaluateCompare,
	}
	cmd.Flags().StringP("output", "o", "", "`FOLDER` for the report; created if missing")
	cmd.Flags().Bool("overwrite", false, "replace an existing report")
	usage.InGroup(cmd, usage.InputOutput, "output", "overwrite")
	config.AddFlags(cmd, "format")
	return cmd
}

func (a *app) evaluateCompare(cmd *cobra.Command, folders []string) error {
	s, err := config.Load(cmd)
	if err != nil {
		return err
	}
	output, _ := cmd.Flags().GetString("output")
	overwrite, _ := cmd.Flags().GetBool("overwrite")
	if output == "" {
		return wrongUsage("the output is missing: name a folder with -o FOLDER")
	}
	if err := mayReport(output, overwrite); err != nil {
		return err
	}
	var runs [2]generation.Run
	for i, folder := range folders {
		if runs[i], err = generation.ReadRun(folder); err != nil {
			return err
		}
	}
	comparison, err := generation.Compare(runs[0], runs[1])
	if err != nil {
		return err
	}
	if err := comparison.Document().Save(output, comparison); err != nil {
		return err
	}
	a.warn(comparison.Warnings...)
	return a.show(s.Format, comparison, fmt.Sprintf("%sreport in %s\n", comparison.Summary(), output))
}
