package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "List, show, verify, import and remove models",
		Long: `List, show, verify, import and remove models. MODEL is "default" (the embedded
model), the name of an imported model, or the path of a folder, like ./mine.`,
	}
	return group(cmd, a.modelListCommand(), a.modelShowCommand(), a.modelVerifyCommand(), a.modelImportCommand(), a.modelRemoveCommand())
}

func (a *app) modelListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the embedded and the imported models",
		Example: "  toxscreen model list --format json",
		RunE:    config.Run(a.modelList),
	}
	config.AddFlags(cmd, "format")
	return cmd
}

func (a *app) modelList(_ *cobra.Command, s *config.Settings, _ []string) error {
	listed, err := models.ListUser()
	if err != nil {
		return err
	}
	table := [][]string{{"NAME", "MODEL", "LICENSE", "ATTRIBUTES"}}
	for _, m := range listed {
		if m.Error != "" {
			table = append(table, []string{m.Name, "broken: " + m.Error, "", ""})
		} else {
			table = append(table, []string{m.Name, m.Model, m.License, screen.AttributesText(m.Attributes)})
		}
	}
	return a.show(s.Format, listed, terminal.Table(table))
}

func (a *app) modelShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [MODEL]",
		Short: "Show the manifest of a model",
		Example: `  toxscreen model show
  toxscreen model show --format json ./toxic-bert`,
		Args:              usage.Arguments(0, 1, "one model"),
		ValidArgsFunction: config.CompleteModels,
		RunE:              config.Run(a.modelShow),
	}
	config.AddFlags(cmd, "format")
	return cmd
}

// folderOf returns the folder of the named model, or else of the configured one.
func folderOf(s *config.Settings, args []string) (models.Folder, error) {
	if len(args) > 0 {
		return models.Resolve(args[0])
	}
	return models.Resolve(s.Model)
}

func (a *app) modelShow(cmd *cobra.Command, s *config.Settings, args []string) error {
	folder, err := folderOf(s, args)
	if err != nil {
		return err
	}
	m, err := models.ReadManifest(folder.FS)
	if err != nil {
		return fmt.Errorf("failed to show model %s: %w", folder, err)
	}
	return a.show(s.Format, m, m.Text(folder))
}

func (a *app) modelVerifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [MODEL]",
		Short: "Compare each file of a model with its SHA-256",
		Long: `Compare each file of a model with the SHA-256 in its manifest. Scoring does the
same each time it opens a model.`,
		Example:           "  toxscreen model verify ./toxic-bert",
		Args:              usage.Arguments(0, 1, "one model"),
		ValidArgsFunction: config.CompleteModels,
		RunE:              config.Run(a.modelVerify),
	}
	return cmd
}

func (a *app) modelVerify(cmd *cobra.Command, s *config.Settings, args []string) error {
	folder, err := folderOf(s, args)
	if err != nil {
		return err
	}
	m, err := models.Verify(folder.FS)
	if err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	_, err = fmt.Fprintf(a.out, "%s: %s the manifest\n", m.Identity(), plural.Count(len(m.Files), "file matches", "files match"))
	return err
}

func (a *app) modelRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove an imported model",
		Example:           "  toxscreen model remove toxic-bert",
		Args:              usage.Arguments(1, 1, "the name of one model"),
		ValidArgsFunction: config.CompleteModels,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := models.Remove(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.out, "removed %s\n", terminal.Escape(args[0]))
			return err
		},
	}
}

func (a *app) modelImportCommand() *cobra.Command {
	var output string
	o := &models.ImportOptions{}
	cmd := &cobra.Command{
		Use:   "import FOLDER",
		Short: "Create a model from a Hugging Face export",
		Long: `Create a model from a Hugging Face export: a folder with a config.json that has
id2label, a tokenizer.json, and ONNX files at its top or in onnx/. The labels of
Detoxify, toxic-bert and binary toxicity models are known; map others with --label.
The model is stored in the user's model folder, and --model takes its name.`,
		Example: `  toxscreen model import ./toxic-bert
  toxscreen model import ./my-model --label hateful=toxicity --label rude=insult --name mine
  toxscreen score --model mine "you are a stupid idiot"`,
		Args:              usage.Arguments(1, 1, "one folder"),
		ValidArgsFunction: usage.Folders,
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, args []string) error {
			return a.modelImport(cmd, s, args[0], output, *o)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "", "`FOLDER` to create; default: the model's name in the user's model folder")
	flags.StringVar(&o.Name, "name", "", "name of the model; default: the folder's")
	flags.StringVar(&o.Version, "version", "", "version of the model; default: 1.0.0")
	flags.StringVar(&o.Description, "description", "", "description of the model; default: derived from config.json")
	flags.StringVar(&o.License, "license", "", "license of the model; default: from the model card")
	flags.StringArray("label", nil, "`LABEL=ATTRIBUTE`: the attribute that a label measures; repeatable; all other labels are ignored")
	flags.StringVar((*string)(&o.Activation), "activation", "", "conversion of logits to probabilities: sigmoid or softmax; default: according to the labels or config.json")
	_ = cmd.RegisterFlagCompletionFunc("activation", config.OneOf(string(classifier.Sigmoid), string(classifier.Softmax)))
	flags.Float64Var(&o.Threshold, "threshold", 0, "threshold of each attribute; default: 0.5")
	flags.StringVar(&o.Model, "onnx", "", "ONNX `FILE` in the folder to use if there are several")
	usage.InGroup(cmd, usage.InputOutput, "output", "onnx")
	usage.InGroup(cmd, usage.Model, "name", "version", "description", "license", "label", "activation")
	usage.InGroup(cmd, usage.Decisions, "threshold")
	config.AddFlags(cmd, config.RuntimeKeys...)
	return cmd
}

func (a *app) modelImport(cmd *cobra.Command, s *config.Settings, from, to string, o models.ImportOptions) error {
	labels, _ := cmd.Flags().GetStringArray("label")
	var err error
	if o.Labels, err = models.ParseLabels(labels); err != nil {
		return usage.Wrong("--label %w", err)
	}
	if cmd.Flags().Changed("threshold") && !(o.Threshold > 0 && o.Threshold <= 1) {
		return usage.Wrong("--threshold: %v must be greater than 0 and at most 1", o.Threshold)
	}
	if o.Activation != "" && o.Activation != classifier.Sigmoid && o.Activation != classifier.Softmax {
		return usage.Wrong("--activation: unknown activation %q: it must be sigmoid or softmax", o.Activation)
	}
	o.Model, o.Try = filepath.ToSlash(o.Model), models.Options{Library: s.Library, Provider: s.Provider, Threads: 1}
	m, err := models.Import(from, to, o)
	if err != nil {
		if _, missing := errors.AsType[*fs.PathError](err); !missing && len(o.Labels) == 0 {
			err = usage.WithHint(err, "flags can add what the folder lacks, like --label LABEL=ATTRIBUTE: see `toxscreen model import --help`")
		}
		return err
	}
	use := to
	if use == "" {
		use = m.Name
	} else if !models.IsPath(use) {
		use = "." + string(filepath.Separator) + use
	}
	_, err = fmt.Fprintf(a.out, "imported %s, attributes: %s\nuse it with --model %s\n",
		m.Identity(), screen.AttributesText(m.Attributes()), terminal.Escape(use))
	return err
}
