package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/store"
)

// feedbackFile returns where feedback is kept, empty where it is not.
func feedbackFile(s *settings) (string, error) {
	return fileOr(s.Feedback.File, files.InConfig, "feedback.db", "--feedback")
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
	var output string
	var overwrite, all bool
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
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.feedbackExport(cmd, output, overwrite, all) },
	}
	flags := export.Flags()
	flags.StringVarP(&output, "output", "o", rows.Standard, "`FILE` to write, or - for standard output")
	flags.BoolVar(&overwrite, "overwrite", false, "replace what exists")
	flags.BoolVar(&all, "all", false, "write rows of older models and verdicts of older judges too, which calibrate does not mix")
	_ = export.MarkFlagFilename("output", "jsonl", "ndjson")
	addFlags(export, "feedback")
	return group(cmd, export)
}

func (a *app) feedbackExport(cmd *cobra.Command, output string, overwrite, all bool) error {
	s, err := loadSettings(cmd)
	if err != nil {
		return err
	}
	if err := mayWrite(output, overwrite); err != nil {
		return err
	}
	file, err := feedbackFile(s)
	if err != nil {
		return err
	}
	if file == "" {
		return fmt.Errorf("failed to read feedback: none is kept: feedback is off by %s", s.from("feedback"))
	}
	if _, err := os.Stat(file); err != nil {
		return hinted{fmt.Errorf("failed to read feedback: %s: %w", file, files.Cause(err)), "toxscreen serve makes it when clients send some; --feedback names another file"}
	}
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{})
	if err != nil {
		return err
	}
	defer kept.Close()
	newest, err := kept.Newest(cmd.Context())
	if err != nil {
		return err
	}
	if newest.Model == "" {
		return fmt.Errorf("failed to read feedback: %s holds none yet", file)
	}
	by := newest
	if all {
		by = toxscreen.Versions{}
	}
	var written exported
	if output == rows.Standard {
		written, err = exportFeedback(a.out, kept.Texts(cmd.Context(), by))
	} else {
		var failure error                                          // of the feedback, which says itself what failed
		err = files.Write(output, 0o600, func(w io.Writer) error { // it may hold texts
			written, failure = exportFeedback(w, kept.Texts(cmd.Context(), by))
			return failure
		})
		if err != nil && failure == nil {
			err = fmt.Errorf("failed to write %s: %w", output, err)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "toxscreen: %d texts with %d label sets\n", written.texts, written.labelSets)
	if written.otherModel > 0 {
		fmt.Fprintf(a.err, "toxscreen: %d texts are left out, which only older models than %s have scored; --all writes them\n", written.otherModel, terminal.Escape(newest.Model))
	}
	if written.otherJudge > 0 {
		fmt.Fprintf(a.err, "toxscreen: %d texts are without their verdicts, which are not by %s; --all writes them\n", written.otherJudge, terminal.Escape(newest.JudgeModel))
	}
	return nil
}

// exported counts what an export of feedback holds.
type exported struct {
	texts, labelSets       int
	otherModel, otherJudge int // texts left out, or left without a verdict
}

// exportFeedback writes texts with their labels, as [rows.ReadLabelled] reads
// them.
func exportFeedback(w io.Writer, texts iter.Seq2[store.LabelledText, error]) (exported, error) {
	var e exported
	out := bufio.NewWriter(w)
	for t, err := range texts {
		if err != nil {
			return e, err
		}
		if t.OtherModel {
			e.otherModel++
			continue
		}
		if t.OtherJudge {
			e.otherJudge++
		}
		e.texts++
		e.labelSets += t.LabelSets
		row := rows.NewLabelled(t.Hash, t.Text, t.Result, rows.Labels{Labels: &t.Labels, Weight: &t.Weight, LabelSets: t.LabelSets})
		if err := plainjson.Write(out, row, ""); err != nil {
			return e, fmt.Errorf("failed to write feedback: %w", files.Cause(err))
		}
	}
	if err := out.Flush(); err != nil {
		return e, fmt.Errorf("failed to write feedback: %w", files.Cause(err))
	}
	return e, nil
}
