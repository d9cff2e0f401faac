package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) piiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pii [TEXT… | -]",
		Short: "Find and mask personal data",
		Long: `Find personal data in texts. Each argument is one text. Without an argument, or with
-, the text is standard input, where every byte counts, also a line break at the end.
With --mask, print only the text with its personal data masked.`,
		Example: `  toxscreen pii "Jane Doe, jane@example.com"
  toxscreen pii --format json --type US_SSN,EMAIL_ADDRESS < note.txt
  toxscreen pii --mask --operator redact --operator CREDIT_CARD=mask:chars_to_mask=12 < note.txt
  toxscreen pii --mapping mapping.jsonl "Jane Doe called"
  toxscreen pii --fail-on any - < reply.txt`,
		Args:        cobra.ArbitraryArgs,
		SuggestFor:  []string{"anonymise", "anonymize", "mask", "presidio", "redact"},
		Annotations: map[string]string{usage.RowsCommand: "toxscreen pii batch"},
		RunE:        config.Run(a.pii),
	}
	config.AddFlags(cmd, "format")
	config.AddMaskFlags(cmd)
	cmd.AddCommand(a.piiBatchCommand(), a.piiRestoreCommand(), a.piiTypesCommand())
	return cmd
}

func (a *app) pii(cmd *cobra.Command, s *config.Settings, args []string) (err error) {
	if err := s.CheckTypes(); err != nil {
		return err
	}
	texts, err := a.textsOf(cmd, args, s.MaxBytes)
	if err != nil {
		return err
	}
	finder, err := screen.OpenFinder(s.Settings)
	if err != nil {
		return err
	}
	defer finder.Close()
	m, err := s.OpenMasker(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	argument := len(args) > 0 && args[0] != "-"
	show := func(text string, entities []toxscreen.Entity) error {
		found := toxscreen.NewFound(finder, text, entities, s.OffsetUnit)
		if m != nil {
			masked, err := m.Mask(text, entities)
			if err != nil {
				return err
			}
			found.Masked = &masked
		}
		switch {
		case s.Format == "json":
			return plainjson.Write(a.out, found, "")
		case m != nil:
			for _, w := range found.Warnings {
				a.warn(w)
			}
			return a.printText(*found.Masked, argument)
		}
		return a.view().Found(text, entities, found)
	}
	done, reached := 0, false
	within := func(text string) (string, error) {
		if len(text) > s.MaxBytes {
			return "", fmt.Errorf("failed to find personal data: %w: it has %d bytes, the limit is %d; raise --max-bytes or split the text", toxscreen.ErrTooLong, len(text), s.MaxBytes)
		}
		return text, nil
	}
	finding := rows.Finding{FailOn: s.PIIFailOn}
	for o := range toxscreen.FindBatch(cmd.Context(), m.Finder(finder), slices.Values(texts), within) {
		if err = o.Err; err != nil {
			break
		}
		if done > 0 && m == nil && s.Format == "text" {
			fmt.Fprintln(a.out)
		}
		if err = show(o.Row, o.Result); err != nil {
			break
		}
		done++
		reached = reached || slices.ContainsFunc(o.Result, func(e toxscreen.Entity) bool { return finding.Reaches(e.Type) })
	}
	if err != nil || done < len(texts) {
		return unfinished(cmd.Context(), err, done, len(texts))
	}
	return ended(reached, false)
}

func (a *app) piiBatchCommand() *cobra.Command {
	o := &rows.Options{}
	cmd := &cobra.Command{
		Use:   "batch -i FILE -o FILE",
		Short: "Find and mask the personal data in each row of a file",
		Long: `Find the personal data in each row of a JSONL, CSV, TSV or Parquet file, or in each
line of a text file, and write one result per row, in order, as JSONL, CSV, TSV or
Parquet. With --mask, each result has the masked text. Files, folders, --shard, --resume and rows that fail are as for toxscreen
batch.`,
		Example: `  toxscreen pii batch -i notes.jsonl -o found.jsonl
  toxscreen pii batch -i notes.csv.gz --text-column note --mask -o masked.csv
  toxscreen pii batch -i notes.jsonl -o masked.jsonl --mapping mapping.jsonl --resume
  toxscreen pii batch -i notes.jsonl -o - --fail-on any > found.jsonl`,
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error { return a.piiBatch(cmd, s, *o) }),
	}
	config.AddRowFlags(cmd, o)
	config.AddMaskFlags(cmd)
	return cmd
}

func (a *app) piiBatch(cmd *cobra.Command, s *config.Settings, o rows.Options) (err error) {
	if err := s.CheckTypes(); err != nil {
		return err
	}
	o.Stdin, o.Stdout = a.in, a.out
	if o, err = s.RowOptions(cmd, o); err != nil {
		return err
	}
	quiet, _ := cmd.Flags().GetBool("quiet")
	shown := terminal.Progress{W: a.err}
	if !quiet && terminal.Is(a.err) {
		o.Progress = at(&shown)
	}
	job, err := rows.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer job.Close()
	finder, err := screen.OpenFinder(s.Settings)
	if err != nil {
		return err
	}
	defer finder.Close()
	m, err := s.OpenMasker(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	settings, err := s.FinderSettings()
	if err != nil {
		return err
	}
	masking, err := m.Settings()
	if err != nil {
		return err
	}
	finding := rows.Finding{FailOn: s.PIIFailOn}
	if m != nil {
		finding.Mask = m.Mask
	}
	summary, err := job.Find(m.Finder(finder), finding, append(settings, masking...)...)
	shown.End()
	if err != nil {
		return toContinue(err, o)
	}
	if !quiet {
		a.noRows(job, o)
		a.summarize(summary, o, fmt.Sprintf("%d with personal data, %s, %d failed", summary.WithEntities, plural.Count(summary.Entities, "entity", "entities"), summary.Failed))
	}
	return ended(summary.Reached > 0, summary.Failed > 0)
}

func (a *app) piiRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore --mapping FILE [TEXT | -]",
		Short: "Put back what a mapping masked",
		Long: `Put back what the placeholders in a text stand for, also if the text was changed
between them, as in the answer of a language model. Placeholders that are not in the
mapping stay, with a warning, and the exit code is 3.`,
		Example: `  toxscreen pii restore --mapping mapping.jsonl "Dear <PERSON_1>,"
  toxscreen pii restore --mapping mapping.jsonl < answer.txt`,
		Args: usage.Arguments(0, 1, "one text (in quotes)"),
		RunE: config.Run(a.piiRestore),
	}
	cmd.Flags().String("mapping", "", "`FILE` that pii --mapping wrote")
	usage.InGroup(cmd, usage.InputOutput, "mapping")
	_ = cmd.MarkFlagFilename("mapping", "jsonl")
	config.AddFlags(cmd, "max_bytes")
	return cmd
}

func (a *app) piiRestore(cmd *cobra.Command, s *config.Settings, args []string) error {
	path, _ := cmd.Flags().GetString("mapping")
	if path == "" {
		return usage.Wrong("the mapping is missing: name it with --mapping FILE")
	}
	mapping, err := pii.ReadMapping(path)
	if err != nil {
		return err
	}
	text, err := a.textOf(cmd, args, s.MaxBytes)
	if err != nil {
		return err
	}
	restored, unknown := mapping.Restore(text)
	if err := a.printText(restored, len(args) > 0 && args[0] != "-"); err != nil || len(unknown) == 0 {
		return err
	}
	a.warn(fmt.Sprintf("%s, the first is %s", plural.Count(len(unknown), "placeholder is not in the mapping and stays", "placeholders are not in the mapping and stay"), unknown[0]))
	return exit{code: exitPartly}
}

// shownType is one entry of `pii types --format json`.
type shownType struct {
	Type        toxscreen.EntityType `json:"type"`
	Default     bool                 `json:"default"`
	Description string               `json:"description"`
}

func (a *app) piiTypesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "types",
		Short:   "List the types of personal data",
		Example: "  toxscreen pii types --format json",
		RunE:    config.Run(a.piiTypes),
	}
	config.AddFlags(cmd, "format")
	return cmd
}

func (a *app) piiTypes(cmd *cobra.Command, s *config.Settings, _ []string) error {
	var all []shownType
	for _, k := range pii.Kinds() {
		all = append(all, shownType{k.Type, !k.OnRequest, k.Description})
	}
	for _, r := range s.PII.Recognizers {
		all = append(all, shownType{r.Type, true, "by the recognizer " + r.Name})
	}
	table := [][]string{{"TYPE", "DEFAULT", "DESCRIPTION"}}
	for _, t := range all {
		table = append(table, []string{string(t.Type), map[bool]string{true: "on", false: "off"}[t.Default], t.Description})
	}
	return a.show(s.Format, all, terminal.Table(table))
}
