package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/scan"
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
		SuggestFor:        []string{"anonymise", "anonymize", "mask", "presidio", "redact"},
		Annotations:       map[string]string{rowsAnnotation: "toxscreen pii batch"},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.pii,
	}
	addFlags(cmd, "format")
	addMaskFlags(cmd)
	cmd.AddCommand(a.piiBatchCommand(), a.piiRestoreCommand(), a.piiTypesCommand())
	return cmd
}

// addFinderFlags adds the flags of commands that find personal data.
func addFinderFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("no-names", false, "find only what has a form, like numbers, and no names of people, places and organisations; sets pii.names to off")
	addFlags(cmd, finderFlags...)
	inGroup(cmd, piiGroup, "no-names")
}

// addMaskFlags adds the flags of the commands that are about personal data alone.
func addMaskFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("mask", false, "mask the personal data; without --operator, replace it by its type, like <PERSON>")
	cmd.Flags().String("mapping", "", "`FILE` that stores what numbered placeholders like <PERSON_1> stand for, for pii restore; implies --mask")
	inGroup(cmd, maskGroup, "mask", "mapping")
	_ = cmd.MarkFlagFilename("mapping", "jsonl")
	addFlags(cmd, maskFlags...)
	addFinderFlags(cmd)
	addFlags(cmd, "pii.fail_on")
	addFlags(cmd, screenerFlags...)
	addFlags(cmd, "threads", "onnxruntime")
}

func addPIIFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("pii", false, "also find the personal data in each text, as the settings under pii say")
	inGroup(cmd, piiGroup, "pii")
}

// withPII reads --pii.
func withPII(cmd *cobra.Command, s *settings) error {
	s.WithPII, _ = cmd.Flags().GetBool("pii")
	if !s.WithPII {
		return nil
	}
	return checkTypes(s)
}

// loadFinderSettings loads the settings of a command that finds personal data.
func loadFinderSettings(cmd *cobra.Command) (*settings, error) {
	s, err := loadSettings(cmd)
	if err != nil {
		return nil, err
	}
	return s, checkTypes(s)
}

// checkTypes refuses types of personal data that do not exist, and in fail_on and operators those
// that are not looked for.
func checkTypes(s *settings) error {
	for _, used := range []struct {
		key   string
		types []toxscreen.EntityType
		other toxscreen.EntityType // that is no type
	}{
		{"pii.types", s.PII.Types, ""},
		{"pii.fail_on", s.PIIFailOn, rows.AnyType},
		{"pii.operators", slices.Sorted(maps.Keys(s.Masking.Operators)), pii.DefaultOperator},
	} {
		for _, t := range used.types {
			if err := s.PII.Knows(t); err != nil && t != used.other {
				if used.other == rows.AnyType {
					err = fmt.Errorf("%w; any is every type", err)
				}
				return s.wrong(used.key, err)
			}
			if len(s.PII.Types) == 0 && slices.ContainsFunc(pii.Kinds(), func(k scan.Kind) bool { return k.Type == t && k.OnRequest }) {
				return s.wrong(used.key, fmt.Errorf("%s is found only if it is asked for: name the types to find with --type", t))
			}
		}
	}
	return nil
}

// masker masks texts. It is nil if nothing is to be masked.
type masker struct {
	operators pii.Operators
	mapping   *pii.Mapping // nil if the placeholders are not numbered
}

// openMasker opens what masks texts, or returns nil if the flags do not want that.
func openMasker(cmd *cobra.Command, s *settings) (*masker, error) {
	flags := cmd.Flags()
	mask, _ := flags.GetBool("mask")
	mapping, _ := flags.GetString("mapping")
	switch {
	case flags.Changed("mapping") && mapping == "":
		return nil, wrongUsage("--mapping: the name is empty")
	case !mask && mapping == "" && !s.byFlag("pii.operators") && !s.byFlag("pii.salt_file") && !s.byFlag("pii.key_file"):
		return nil, nil //nolint:nilnil // nothing to mask is no error
	}
	switch resume, _ := flags.GetBool("resume"); {
	case s.byFlag("pii.salt_file") && !s.Masking.has(pii.Hash):
		return nil, wrongUsage("--salt-file is for the operator hash: choose it with --operator hash")
	case s.byFlag("pii.key_file") && !s.Masking.has(pii.Encrypt):
		return nil, wrongUsage("--key-file is for the operator encrypt: choose it with --operator encrypt")
	case flags.Changed("shard") && s.Masking.SaltFile == "" && s.Masking.has(pii.Hash):
		return nil, wrongUsage("--shard: the operator hash needs one salt for all shards: name its file with --salt-file")
	case resume && s.Masking.SaltFile == "" && s.Masking.has(pii.Hash):
		return nil, wrongUsage("--resume: the operator hash needs the salt of the interrupted run: name its file with --salt-file")
	}
	operators, err := s.Masking.complete()
	if err != nil {
		return nil, err
	}
	m := &masker{operators: operators}
	if mapping != "" {
		m.mapping, err = pii.OpenMapping(mapping)
	}
	return m, err
}

// mask masks the entities of a text.
func (m *masker) mask(text string, entities []toxscreen.Entity) (string, error) {
	var masked pii.Masked
	var err error
	if m.mapping == nil {
		masked, err = pii.Mask(text, entities, m.operators)
	} else {
		masked, err = m.mapping.Mask(text, entities, m.operators)
	}
	if _, full := errors.AsType[*pii.MappingError](err); full {
		err = &rows.FatalError{Err: err}
	}
	return masked.Text, err
}

// finds returns the finder for what is then masked.
func (m *masker) finds(f *screen.Finder) toxscreen.EntityFinder {
	if m == nil {
		return f
	}
	return f.ForMasking(m.operators)
}

// close closes the mapping.
func (m *masker) close() error {
	if m == nil || m.mapping == nil {
		return nil
	}
	return m.mapping.Close()
}

// settings are what masked texts depend on. Of secrets there is a hash only.
func (m *masker) settings() ([]rows.Setting, error) {
	if m == nil {
		return []rows.Setting{{Name: "--mask", Value: "false"}}, nil
	}
	operators, err := json.Marshal(m.operators)
	if err != nil {
		return nil, err
	}
	id := "none"
	if m.mapping != nil {
		id = m.mapping.ID()
	}
	return []rows.Setting{{Name: "--mask", Value: "true"}, {Name: "the operators", Value: hashed(operators)}, {Name: "the mapping", Value: id}}, nil
}

// complete returns the operators with their salt and their key.
func (m maskSettings) complete() (pii.Operators, error) {
	salt, err := readSecret("salt", m.SaltFile)
	if err != nil {
		return nil, err
	}
	key, err := readSecret("key", m.KeyFile)
	if err != nil {
		return nil, err
	}
	salt = cmp.Or(salt, rand.Text())
	operators := pii.Operators{}
	for t, o := range m.Operators {
		switch o.Kind {
		case pii.Hash:
			o.Salt = salt
		case pii.Encrypt:
			if o.Key = key; key == "" {
				return nil, wrongUsage("encrypt needs a key: name its file with --key-file")
			}
		case pii.Replace, pii.Redact, pii.MaskOut, pii.Keep, pii.Decrypt:
		}
		if err := o.Validate(); err != nil {
			return nil, fmt.Errorf("failed to mask: %w", err)
		}
		operators[t] = o
	}
	return operators, nil
}

// has reports whether a type has an operator of a kind.
func (m maskSettings) has(kind pii.OperatorKind) bool {
	for _, o := range m.Operators {
		if o.Kind == kind {
			return true
		}
	}
	return false
}

// readSecret reads a salt or a key, empty if there is no path. A line break at the end of the
// file does not count.
func readSecret(what, path string) (string, error) {
	const most = 4096 // bytes
	if path == "" {
		return "", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("failed to read %s %s: %w", what, path, files.Cause(err))
	}
	defer file.Close()
	secret, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("failed to read %s %s: %w", what, path, files.Cause(err))
	case len(secret) > most:
		return "", fmt.Errorf("failed to read %s %s: it has more than %d bytes", what, path, most)
	case len(bytes.TrimRight(secret, "\r\n")) == 0:
		return "", fmt.Errorf("failed to read %s %s: it is empty", what, path)
	}
	return strings.TrimRight(string(secret), "\r\n"), nil
}

// hashed returns the beginning of the SHA-256 of some data.
func hashed(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// finderSettings are the settings that entities depend on.
func finderSettings(s *settings) ([]rows.Setting, error) {
	recognizers, err := json.Marshal([]any{s.PII.Recognizers, s.PII.Allow})
	return []rows.Setting{
		{Name: "--type", Value: s.value("pii.types")},
		{Name: "--min-score", Value: s.value("pii.min_score")},
		{Name: "--region", Value: s.value("pii.regions")},
		{Name: "the recognizers and the allow list", Value: hashed(recognizers)},
		{Name: "pii.names", Value: s.value("pii.names")},
	}, err
}

func (a *app) pii(cmd *cobra.Command, args []string) (err error) {
	s, err := loadFinderSettings(cmd)
	if err != nil {
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
	m, err := openMasker(cmd, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	argument := len(args) > 0 && args[0] != "-"
	show := func(text string, entities []toxscreen.Entity) error {
		found := toxscreen.NewFound(finder, text, entities, s.OffsetUnit)
		if m != nil {
			masked, err := m.mask(text, entities)
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
		return a.view().found(text, entities, found)
	}
	done, reached := 0, false
	within := func(text string) (string, error) {
		if len(text) > s.MaxBytes {
			return "", fmt.Errorf("failed to find personal data: %w: it has %d bytes, the limit is %d; raise --max-bytes or split the text", toxscreen.ErrTooLong, len(text), s.MaxBytes)
		}
		return text, nil
	}
	finding := rows.Finding{FailOn: s.PIIFailOn}
	for o := range toxscreen.FindBatch(cmd.Context(), m.finds(finder), slices.Values(texts), within) {
		if err = o.Err; err != nil {
			break
		}
		if done > 0 && m == nil && s.Format == "text" {
			fmt.Fprintln(a.out)
		}
		if err = show(o.Row, o.Entities); err != nil {
			break
		}
		done++
		reached = reached || slices.ContainsFunc(o.Entities, func(e toxscreen.Entity) bool { return finding.Reaches(e.Type) })
	}
	switch {
	case err != nil || done < len(texts):
		return unfinished(cmd.Context(), err, done, len(texts))
	case reached:
		return exit{code: exitReached}
	}
	return nil
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
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.piiBatch(cmd, *o) },
	}
	addRowFlags(cmd, o)
	addMaskFlags(cmd)
	return cmd
}

func (a *app) piiBatch(cmd *cobra.Command, o rows.Options) (err error) {
	s, err := loadFinderSettings(cmd)
	if err != nil {
		return err
	}
	if o, err = a.batchOptions(cmd, s, o); err != nil {
		return err
	}
	quiet, _ := cmd.Flags().GetBool("quiet")
	shown := progress{w: a.err, waits: func() bool { return false }}
	if !quiet && isTerminal(a.err) {
		o.Progress = shown.at
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
	m, err := openMasker(cmd, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	settings, err := finderSettings(s)
	if err != nil {
		return err
	}
	masking, err := m.settings()
	if err != nil {
		return err
	}
	finding := rows.Finding{FailOn: s.PIIFailOn}
	if m != nil {
		finding.Mask = m.mask
	}
	summary, err := job.Find(m.finds(finder), finding, append(settings, masking...)...)
	shown.end()
	if err != nil {
		return toContinue(err, o)
	}
	if !quiet {
		a.noRows(job, o)
		a.summarize(summary, o, fmt.Sprintf("%d with personal data, %s, %d failed", summary.WithEntities, plural.Count(summary.Entities, "entity", "entities"), summary.Failed))
	}
	switch {
	case summary.Reached > 0:
		return exit{code: exitReached}
	case summary.Failed > 0:
		return exit{code: exitPartly}
	}
	return nil
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
		Args:              arguments(0, 1, "one text (in quotes)"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.piiRestore,
	}
	cmd.Flags().String("mapping", "", "`FILE` that pii --mapping wrote")
	inGroup(cmd, ioGroup, "mapping")
	_ = cmd.MarkFlagFilename("mapping", "jsonl")
	addFlags(cmd, "max_bytes")
	return cmd
}

func (a *app) piiRestore(cmd *cobra.Command, args []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	path, _ := cmd.Flags().GetString("mapping")
	if path == "" {
		return wrongUsage("the mapping is missing: name it with --mapping FILE")
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
		Args:    arguments(0, 0, ""),
		RunE:    a.piiTypes,
	}
	addFlags(cmd, "format")
	return cmd
}

func (a *app) piiTypes(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	var all []shownType
	for _, k := range pii.Kinds() {
		all = append(all, shownType{k.Type, !k.OnRequest, k.Description})
	}
	for _, r := range s.PII.Recognizers {
		all = append(all, shownType{r.Type, true, "by the recognizer " + r.Name})
	}
	if s.Format == "json" {
		return plainjson.Write(a.out, all, "  ")
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TYPE\tDEFAULT\tDESCRIPTION")
	for _, t := range all {
		on := "off"
		if t.Default {
			on = "on"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", terminal.Escape(string(t.Type)), on, terminal.Escape(t.Description))
	}
	return table.Flush()
}

// found shows personal data: how much there is, the text with marked entities, and a table of
// them.
func (v view) found(text string, entities []toxscreen.Entity, shown toxscreen.Found) error {
	var b bytes.Buffer
	count := "no personal data found"
	if len(entities) > 0 {
		count = plural.Count(len(entities), "entity", "entities")
	}
	fmt.Fprintf(&b, "%s\n\n", v.style(bold, count))
	if text == "" {
		b.WriteString(v.style(dim, "(empty)"))
	}
	marks := make([]mark, len(entities))
	for i, e := range entities {
		marks[i] = mark{e.Start, e.End, entityColour(e.Type)}
	}
	b.WriteString(v.marked(text, marks))
	b.WriteString("\n\n")
	if len(entities) > 0 {
		v.entities(&b, text, entities, shown.Entities)
		b.WriteString("\n")
	}
	for _, w := range shown.Warnings {
		fmt.Fprintf(&b, "%s %s\n", v.style(foreground(severityColours[toxscreen.SeverityMild]), "warning:"), terminal.Escape(w))
	}
	fmt.Fprintf(&b, "%s\n", v.style(dim, "by "+terminal.Escape(shown.Versions.Entities)+", toxscreen "+shown.Versions.Toxscreen))
	_, err := v.out.Write(b.Bytes())
	return err
}

// entities prints a line for each entity. shown have their offsets in the unit of the caller.
func (v view) entities(b *bytes.Buffer, text string, entities, shown []toxscreen.Entity) {
	types, places, whys := make([]string, len(entities)), make([]string, len(entities)), make([]string, len(entities))
	for i, e := range entities {
		types[i], places[i], whys[i] = terminal.Escape(string(e.Type)), fmt.Sprintf("%d–%d", shown[i].Start, shown[i].End), terminal.Escape(strings.Join(e.Why, ", "))
	}
	padded := func(texts []string, i int) string {
		widest := slices.MaxFunc(texts, func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) })
		return fmt.Sprintf("%-*s", utf8.RuneCountInString(widest), texts[i])
	}
	for i, e := range entities {
		square := ""
		if v.paint {
			square = v.style(foreground(entityColour(e.Type)), "■ ")
		}
		fmt.Fprintf(b, "%s%s  %.2f  %s  %s  %s\n", square, v.style(bold, padded(types, i)), e.Score, v.style(dim, padded(places, i)), v.style(dim, padded(whys, i)),
			quotation(text[e.Start:e.End]))
	}
}

// entityColour returns the colour of a type, from a few that are easily told apart.
func entityColour(t toxscreen.EntityType) int {
	palette := []int{215, 80, 141, 221, 207, 78, 203, 117}
	return palette[(slices.Index(pii.Types(), t)+len(palette))%len(palette)]
}
