package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/models"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "List, show, verify and import models",
		Long: `List, show, verify and import models. A model is named "default" (the one
inside the binary), by its folder, or by the name that it was imported under.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelListCommand(), a.modelShowCommand(), a.modelVerifyCommand(), a.modelImportCommand())
	return cmd
}

func (a *app) modelListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the embedded model and the imported ones",
		Example: "  toxscreen model list --format json",
		Args:    arguments(0, 0, ""),
		RunE:    a.modelList,
	}
	addFlags(cmd, "format")
	return cmd
}

// listedModel is one entry of `model list --format json`.
type listedModel struct {
	Name       string                `json:"name"`   // as --model takes it
	Folder     string                `json:"folder"` // empty for the embedded model
	Model      string                `json:"model,omitempty"`
	License    string                `json:"license,omitempty"`
	Attributes []toxscreen.Attribute `json:"attributes,omitempty"`
	Error      string                `json:"error,omitempty"`
}

func (a *app) modelList(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	dir, err := models.UserDir()
	if err != nil {
		return err
	}
	entries, err := models.List(dir)
	if err != nil {
		return err
	}
	listed := make([]listedModel, len(entries))
	for i, e := range entries {
		listed[i] = listedModel{Name: e.Name, Folder: e.Folder.Path}
		if e.Err != nil {
			listed[i].Error = e.Err.Error()
			continue
		}
		listed[i].Model, listed[i].License = e.Manifest.Identity(), e.Manifest.License
		listed[i].Attributes = e.Manifest.Attributes()
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, listed, "  ")
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tMODEL\tLICENSE\tATTRIBUTES")
	for _, m := range listed {
		if m.Error != "" {
			fmt.Fprintf(table, "%s\tbroken: %s\t\t\n", printable(m.Name), printable(m.Error))
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(m.Name), m.Model, printable(m.License), someAttributes(m.Attributes))
	}
	return table.Flush()
}

func someAttributes(attributes []toxscreen.Attribute) string {
	if len(attributes) == len(toxscreen.Attributes()) {
		return "all"
	}
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.String()
	}
	return strings.Join(names, " ")
}

func (a *app) modelShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [MODEL]",
		Short: "Show what a model's manifest says",
		Example: `  toxscreen model show
  toxscreen model show --format json ./toxic-bert`,
		Args:              arguments(0, 1, "one model"),
		ValidArgsFunction: completeModels,
		RunE:              a.modelShow,
	}
	addFlags(cmd, "format")
	return cmd
}

// folderOf returns the folder of the model that is named, or configured.
func folderOf(s *settings, args []string) (models.Folder, error) {
	if len(args) > 0 {
		return models.Resolve(args[0])
	}
	return models.Resolve(s.Model)
}

func (a *app) modelShow(cmd *cobra.Command, args []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	folder, err := folderOf(s, args)
	if err != nil {
		return err
	}
	m, err := models.ReadManifest(folder.FS)
	if err != nil {
		return fmt.Errorf("failed to show model %s: %w", folder, err)
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, m, "  ")
	}
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, printable(value))
		}
	}
	line("model", m.Identity())
	line("folder", folder.String())
	line("description", m.Description)
	line("license", m.License)
	line("languages", quoted(m.Languages))
	line("base", m.Provenance.Base)
	line("data", strings.Join(m.Provenance.Data, "; "))
	line("made by", m.Provenance.Command)
	line("trained", m.Provenance.Trained)
	line("notes", m.Provenance.Notes)
	line("use", m.Card.Use)
	line("misuse", m.Card.Misuse)
	for _, v := range m.Variants {
		line("variant", fmt.Sprintf("%s: %s, %s, texts %s", v.Provider, v.File, v.Precision, v.Batching))
	}
	if m.UndoDisguise {
		line("disguise", "undone; texts that had any are computed both ways")
	}
	line("windows", fmt.Sprintf("of %d tokens, sharing up to %d, pooled with %v", m.Window.Tokens, m.Window.Overlap, m.Window.Pooling))
	spans := "none: the model has no token head"
	if m.Spans != nil {
		spans = fmt.Sprintf("of words from %v", m.Spans.Threshold)
		if m.Spans.Relative > 0 {
			spans += fmt.Sprintf(", and from %v of the strongest word's", m.Spans.Relative)
		}
	}
	line("spans", spans)
	b.WriteString("\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ATTRIBUTE\tLABEL\tTHRESHOLD\tCALIBRATED")
	for _, l := range m.Labels {
		if l.Attribute == nil {
			fmt.Fprintf(table, "-\t%s\t\t\n", printable(l.Name))
			continue
		}
		threshold, _ := m.Thresholds.Get(*l.Attribute)
		calibrated := "no"
		if c, ok := m.Calibration[*l.Attribute]; ok {
			calibrated = fmt.Sprintf("%d knots", len(c.Knots))
		}
		fmt.Fprintf(table, "%s\t%s\t%v\t%s\n", l.Attribute, printable(l.Name), threshold, calibrated)
	}
	if len(m.Card.Figures) > 0 {
		fmt.Fprintln(table, "\nMEASURE\tVALUE\t95 %\tGOAL")
	}
	for _, f := range m.Card.Figures {
		interval := ""
		if f.Interval != nil {
			interval = fmt.Sprintf("%.4g to %.4g", f.Interval[0], f.Interval[1])
		}
		fmt.Fprintf(table, "%s\t%.4g\t%s\t%s\n", printable(f.Measure), f.Value, interval, printable(f.Goal))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = a.out.Write([]byte(b.String()))
	return err
}

func (a *app) modelVerifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [MODEL]",
		Short: "Compare each file of a model with its SHA-256",
		Long: `Compare each file of a model with the SHA-256 in its manifest. Scoring does so
too, each time that it opens a model.`,
		Example:           "  toxscreen model verify ./toxic-bert",
		Args:              arguments(0, 1, "one model"),
		ValidArgsFunction: completeModels,
		RunE:              a.modelVerify,
	}
	return cmd
}

func (a *app) modelVerify(cmd *cobra.Command, args []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	folder, err := folderOf(s, args)
	if err != nil {
		return err
	}
	m, err := models.Verify(folder.FS)
	if err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	files := "1 file is"
	if len(m.Files) != 1 {
		files = fmt.Sprintf("%d files are", len(m.Files))
	}
	_, err = fmt.Fprintf(a.out, "%s: %s as the manifest says\n", m.Identity(), files)
	return err
}

func (a *app) modelImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FOLDER",
		Short: "Make a model from a folder as Hugging Face exports it",
		Long: `Make a model from a folder as Hugging Face exports it: config.json with
id2label, tokenizer.json and ONNX files at its top or in onnx/. The labels of
Detoxify, toxic-bert and binary toxicity models are known; others need a map.
The model is put into the user's model folder, from where --model takes it by
its name.`,
		Example: `  toxscreen model import ./toxic-bert
  toxscreen model import ./my-model --label hateful=toxicity --label rude=insult --name mine
  toxscreen score --model mine "you are a stupid idiot"`,
		Args: arguments(1, 1, "one folder"),
		RunE: a.modelImport,
	}
	flags := cmd.Flags()
	flags.String("name", "", "name of the model; default: the folder's")
	flags.String("version", "", "version of the model; default: 1.0.0")
	flags.String("description", "", "a sentence; default: made from config.json")
	flags.String("license", "", "licence of the model; default: the model card's")
	flags.StringArray("label", nil, "`LABEL=ATTRIBUTE`: what a label of the model measures; repeatable; the labels not named are ignored")
	flags.String("activation", "", "how logits become probabilities: sigmoid or softmax; default: what the labels or config.json say")
	_ = cmd.RegisterFlagCompletionFunc("activation", oneOf(string(classifier.Sigmoid), string(classifier.Softmax)))
	flags.Float64("threshold", 0, "probability from which each attribute is flagged; default: 0.5")
	flags.String("onnx", "", "the ONNX `FILE` in the folder to use, where there are several")
	flags.String("to", "", "the `FOLDER` to make; default: one with the model's name in the user's model folder")
	addFlags(cmd, runtimeFlags...)
	return cmd
}

func (a *app) modelImport(cmd *cobra.Command, args []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	flags := cmd.Flags()
	text := func(name string) string {
		value, _ := flags.GetString(name)
		return value
	}
	labels, err := labelMap(cmd)
	if err != nil {
		return err
	}
	threshold, _ := flags.GetFloat64("threshold")
	if flags.Changed("threshold") && !(threshold > 0 && threshold <= 1) {
		return wrongUsage("--threshold: %v is not over 0 and up to 1", threshold)
	}
	activation := classifier.Activation(text("activation"))
	if activation != "" && activation != classifier.Sigmoid && activation != classifier.Softmax {
		return wrongUsage("--activation: unknown %q: it must be sigmoid or softmax", activation)
	}
	m, err := models.Import(args[0], text("to"), models.ImportOptions{
		Name:        text("name"),
		Version:     text("version"),
		Description: text("description"),
		License:     text("license"),
		Labels:      labels,
		Activation:  activation,
		Threshold:   threshold,
		Model:       filepath.ToSlash(text("onnx")),
		Try:         models.Options{Library: s.Library, Provider: s.Provider, Threads: 1},
	})
	if err != nil {
		if _, missing := errors.AsType[*fs.PathError](err); !missing && len(labels) == 0 {
			err = hinted{err, "the flags of `toxscreen model import --help` say what the folder does not, like --label LABEL=ATTRIBUTE"}
		}
		return err
	}
	use := text("to")
	if use == "" {
		use = m.Name
	} else if !strings.ContainsAny(use, `/`+string(filepath.Separator)) {
		use = "." + string(filepath.Separator) + use
	}
	_, err = fmt.Fprintf(a.out, "imported %s, which measures %s\nuse it with --model %s\n",
		m.Identity(), someAttributes(m.Attributes()), printable(use))
	return err
}

func labelMap(cmd *cobra.Command) (map[string]toxscreen.Attribute, error) {
	given, _ := cmd.Flags().GetStringArray("label")
	labels := map[string]toxscreen.Attribute{}
	for _, pair := range given {
		at := strings.LastIndexByte(pair, '=') // a label may hold one too
		if at < 1 {
			return nil, wrongUsage("--label %s: it must be LABEL=ATTRIBUTE, like hateful=toxicity", pair)
		}
		attribute, err := toxscreen.ParseAttribute(pair[at+1:])
		if err != nil {
			return nil, wrongUsage("--label %s: %w", pair, err)
		}
		if _, twice := labels[pair[:at]]; twice {
			return nil, wrongUsage("--label %s: %s is mapped already", pair, pair[:at])
		}
		labels[pair[:at]] = attribute
	}
	return labels, nil
}
