package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/store"
)

// feedbackFile returns where feedback is kept, empty where it is not.
func feedbackFile(s *settings) (string, error) {
	switch s.Feedback.File {
	case off:
		return "", nil
	case "":
		folder, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("failed to find the user's configuration folder: %w; name a file with --feedback, or off", err)
		}
		return filepath.Join(folder, "toxscreen", "feedback.db"), nil
	}
	return s.Feedback.File, nil
}

// openFeedback opens the feedback of the settings. It is nil where none is kept.
func openFeedback(s *settings) (*store.Feedback, error) {
	file, err := feedbackFile(s)
	if file == "" || err != nil {
		return nil, err
	}
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{KeepText: s.Feedback.KeepText, MaxBytes: s.Feedback.MaxBytes})
	if err != nil {
		return nil, hinted{err, "--feedback off does without it"}
	}
	return kept, nil
}

func (a *app) feedbackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feedback",
		Short: "Use what people say of texts",
		Long: `Use what people say of texts. The server keeps it: moderators' verdicts that a
client of the Perspective API sends to comments:suggestscore, and whatever is sent
to POST /v1/feedback. Fusion parameters can be fitted to it, so that scores are
right for the texts and the people at hand.`,
		Example: `  toxscreen feedback export -o feedback.jsonl
  toxscreen calibrate -i feedback.jsonl -o fusion.json
  toxscreen serve --calibration fusion.json`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	export := &cobra.Command{
		Use:   "export",
		Short: "Write feedback as rows for calibrate",
		Long: `Write feedback as JSONL that calibrate takes: a row for each text, with the result
that it had. Its label is the mean of what was said of it. Labels that one caller
sends for one token of its own replace those before. Rows are of one model: those
of older ones are left out, and so are verdicts of older judges. Texts that were
kept, batch can score anew.`,
		Example: `  toxscreen feedback export -o feedback.jsonl
  toxscreen feedback export | toxscreen calibrate -i - -o fusion.json
  toxscreen feedback export --all | jq -c '.input + {text}' | toxscreen batch -i - -o scored.jsonl`,
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              a.feedbackExport,
	}
	flags := export.Flags()
	flags.StringP("output", "o", standard, "`FILE` to write, or - for standard output")
	flags.Bool("overwrite", false, "write anew what exists")
	flags.Bool("all", false, "write rows of older models and verdicts of older judges too, which calibrate does not mix")
	_ = export.MarkFlagFilename("output", "jsonl", "ndjson")
	addFlags(export, "feedback")
	cmd.AddCommand(export)
	return cmd
}

func (a *app) feedbackExport(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	output, _ := cmd.Flags().GetString("output")
	overwrite, _ := cmd.Flags().GetBool("overwrite")
	all, _ := cmd.Flags().GetBool("all")
	if _, err := os.Stat(output); output != standard && !overwrite && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: choose another name, or write it anew with --overwrite", output)
	}
	file, err := feedbackFile(s)
	if err != nil {
		return err
	}
	if file == "" {
		return fmt.Errorf("failed to read feedback: none is kept: feedback is off by %s", s.from("feedback"))
	}
	if _, err := os.Stat(file); err != nil {
		return hinted{fmt.Errorf("failed to read feedback: %s: %w", file, cause(err)), "toxscreen serve makes it when clients send some; --feedback names another file"}
	}
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{})
	if err != nil {
		return err
	}
	defer kept.Close()
	e := exporter{kept: kept, all: all}
	if e.newest, err = kept.Newest(cmd.Context()); err != nil {
		return err
	}
	if e.newest.Model == "" {
		return fmt.Errorf("failed to read feedback: %s holds none yet", file)
	}
	if output == standard {
		err = e.write(cmd.Context(), a.out)
	} else {
		err = e.writeFile(cmd.Context(), output)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "toxscreen: %d texts with %d label sets\n", e.texts, e.sets)
	if e.foreign > 0 {
		fmt.Fprintf(a.err, "toxscreen: %d texts are left out, which only older models than %s have scored; --all writes them\n", e.foreign, printable(e.newest.Model))
	}
	if e.unjudged > 0 {
		fmt.Fprintf(a.err, "toxscreen: %d texts are without their verdicts, which are not by %s; --all writes them\n", e.unjudged, printable(e.newest.JudgeModel))
	}
	return nil
}

// exporter writes feedback.
type exporter struct {
	kept   *store.Feedback
	newest toxscreen.Versions // the model and the judge whose rows are written
	all    bool               // those of others too

	texts, sets       int // written
	foreign, unjudged int // texts left out, or left without a verdict
}

// writeFile writes a file that is whole or not there.
func (e *exporter) writeFile(ctx context.Context, path string) error {
	fail := func(err error) error { return fmt.Errorf("failed to write %s: %w", path, cause(err)) }
	out, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it may hold texts
	if err != nil {
		return fail(err)
	}
	defer os.Remove(path + ".new") // gone where all went well
	if err := e.write(ctx, out); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return fail(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fail(err)
	}
	return nil
}

func (e *exporter) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	var sets []store.LabelSet // of one text
	for set, err := range e.kept.All(ctx) {
		if err != nil {
			return err
		}
		if len(sets) > 0 && sets[0].Hash != set.Hash {
			if err := e.text(out, sets); err != nil {
				return err
			}
			sets = sets[:0]
		}
		sets = append(sets, set)
	}
	if len(sets) > 0 {
		if err := e.text(out, sets); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("failed to write feedback: %w", cause(err))
	}
	return nil
}

// feedbackRow is one text with its labels, as readLabelled reads it.
type feedbackRow struct {
	ID string `json:"id"` // the hash: rows with one name are one text
	toxscreen.Result
	Text  string `json:"text,omitempty"`
	Input struct {
		Labels    toxscreen.Scores `json:"labels"`
		Weight    float64          `json:"weight"`
		LabelSets int              `json:"label_sets"`
	} `json:"input"`
}

// text writes the row of one text, whose label sets come oldest first.
func (e *exporter) text(w io.Writer, sets []store.LabelSet) error {
	var row feedbackRow
	found, judged := false, false
	for _, set := range slices.Backward(sets) {
		row.Text = cmp.Or(row.Text, set.Text)
		v := set.Result.Versions
		if judged || !e.all && v.Model != e.newest.Model {
			continue
		}
		judged = len(set.Result.Judge.Verdicts) > 0 && (e.all || v.Rubric == e.newest.Rubric && v.JudgeModel == e.newest.JudgeModel)
		if judged || !found {
			row.Result, found = set.Result, true
		}
	}
	if !found {
		e.foreign++
		return nil
	}
	if len(row.Judge.Verdicts) > 0 && !judged {
		e.unjudged++
		row.Judge.Verdicts = nil
	}
	row.ID, row.Input.LabelSets = sets[0].Hash, len(sets)
	row.Input.Labels, row.Input.Weight = meanOf(sets)
	e.texts++
	e.sets += len(sets)
	if err := writeJSON(w, row, ""); err != nil {
		return fmt.Errorf("failed to write feedback: %w", cause(err))
	}
	return nil
}

// voice is who has the last word on an attribute of a text.
type voice struct {
	caller, community, token string
	attribute                toxscreen.Attribute
}

// meanOf returns what label sets of one text, the oldest first, say together:
// the mean of their labels, and how many texts they stand for.
func meanOf(sets []store.LabelSet) (labels toxscreen.Scores, weight float64) {
	last := map[voice]int{}
	of := func(set store.LabelSet, a toxscreen.Attribute) voice {
		return voice{set.Caller, set.Community, set.Token, a}
	}
	for i, set := range sets {
		for a := range set.Labels.All() {
			last[of(set, a)] = i
		}
	}
	var weights toxscreen.Scores
	for i, set := range sets {
		for a, share := range set.Labels.All() {
			if set.Token != "" && last[of(set, a)] != i {
				continue
			}
			sum, _ := labels.Get(a)
			total, _ := weights.Get(a)
			w := cmp.Or(set.Weight, 1)
			labels.Set(a, sum+w*share)
			weights.Set(a, total+w)
			weight = max(weight, total+w)
		}
	}
	for a, sum := range labels.All() {
		total, _ := weights.Get(a)
		labels.Set(a, sum/total)
	}
	return labels, weight
}
