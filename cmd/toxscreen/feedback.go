package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

// openFeedback opens the feedback file of the settings. It returns nil if feedback is off.
func openFeedback(s *config.Settings) (*store.Feedback, error) {
	file, err := s.FeedbackFile()
	if file == "" || err != nil {
		return nil, err
	}
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{KeepText: s.Feedback.KeepText, MaxBytes: s.Feedback.MaxBytes})
	if err != nil {
		return nil, usage.WithHint(err, "use --feedback off to run without it")
	}
	return kept, nil
}

func (a *app) feedbackCommand() *cobra.Command {
	var output string
	var overwrite, all bool
	cmd := &cobra.Command{
		Use:   "feedback",
		Short: "Use people's feedback on texts",
		Long: `Use people's feedback on texts. The server stores it: moderators' labels that a
client of the Perspective API sends to comments:suggestscore, and labels that are
sent to POST /v1/feedback. calibrate can fit fusion parameters to it, so that
scores suit your texts and your users.`,
		Example: `  toxscreen feedback export -o feedback.jsonl
  toxscreen calibrate -i feedback.jsonl -o fusion.json
  toxscreen serve --calibration fusion.json`,
	}
	export := &cobra.Command{
		Use:   "export",
		Short: "Write feedback as rows for calibrate",
		Long: `Write feedback as JSONL for calibrate: one row per text, with its result. A label
is the mean of all labels that were sent for the text. If a caller sends labels
again with the same token, they replace the earlier ones. All rows are of one model
and of its whole network: rows of older models, estimates and verdicts of older judges
are left out. batch --full can score stored texts again.`,
		Example: `  toxscreen feedback export -o feedback.jsonl
  toxscreen feedback export | toxscreen calibrate -i - -o fusion.json
  toxscreen feedback export --all | jq -c 'select(.text) | .input + {text}' | toxscreen batch --full -i - -o scored.jsonl`,
		RunE: config.Run(func(cmd *cobra.Command, s *config.Settings, _ []string) error {
			return a.feedbackExport(cmd, s, output, overwrite, all)
		}),
	}
	flags := export.Flags()
	flags.StringVarP(&output, "output", "o", rows.Standard, "`FILE` to write, or - for standard output")
	flags.BoolVar(&overwrite, "overwrite", false, "replace an existing output")
	flags.BoolVar(&all, "all", false, "also write rows of older models, estimates and verdicts of older judges; calibrate refuses them")
	usage.InGroup(export, usage.InputOutput, "output", "overwrite", "all")
	_ = export.MarkFlagFilename("output", "jsonl", "ndjson")
	config.AddFlags(export, "feedback")
	return group(cmd, export)
}

func (a *app) feedbackExport(cmd *cobra.Command, s *config.Settings, output string, overwrite, all bool) error {
	if err := mayWrite(output, overwrite); err != nil {
		return err
	}
	file, err := s.FeedbackFile()
	if err != nil {
		return err
	}
	if file == "" {
		return fmt.Errorf("failed to read feedback: feedback is off by %s", s.From("feedback"))
	}
	if _, err := os.Stat(file); err != nil {
		return usage.WithHint(fmt.Errorf("failed to read feedback: %s: %w", file, files.Cause(err)), "toxscreen serve creates it when clients send feedback; --feedback names another file")
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
		return fmt.Errorf("failed to read feedback: %s contains none yet", file)
	}
	by := newest
	if all {
		by = toxscreen.Versions{}
	}
	var written exported
	if output == rows.Standard {
		written, err = exportFeedback(a.out, kept.Texts(cmd.Context(), by), all)
	} else {
		var failure error                                          // of the feedback; it already says what failed
		err = files.Write(output, 0o600, func(w io.Writer) error { // it may hold texts
			written, failure = exportFeedback(w, kept.Texts(cmd.Context(), by), all)
			return failure
		})
		if err != nil && failure == nil {
			err = fmt.Errorf("failed to write %s: %w", output, err)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "toxscreen: %s with %s\n", plural.Count(written.texts, "text", "texts"), plural.Count(written.labelSets, "label set", "label sets"))
	if written.otherModel > 0 {
		fmt.Fprintf(a.err, "toxscreen: %s left out: only models older than %s have scored %s; --all includes %[3]s\n",
			plural.Count(written.otherModel, "text is", "texts are"), terminal.Escape(newest.Scale.Of(newest.Model)), plural.Word(written.otherModel, "it", "them"))
	}
	if written.estimates > 0 {
		fmt.Fprintf(a.err, "toxscreen: %s left out: an earlier version stored only estimates of %s; --all includes %[2]s\n",
			plural.Count(written.estimates, "text is", "texts are"), plural.Word(written.estimates, "it", "them"))
	}
	if written.otherJudge > 0 {
		fmt.Fprintf(a.err, "toxscreen: %s not by %s; --all includes %s\n",
			plural.Count(written.otherJudge, "text is written without its verdict, which is", "texts are written without their verdicts, which are"), terminal.Escape(newest.JudgeModel), plural.Word(written.otherJudge, "it", "them"))
	}
	return nil
}

// exported counts the texts of a feedback export.
type exported struct {
	texts, labelSets      int
	otherModel, estimates int // texts left out
	otherJudge            int // texts left without a verdict
}

// exportFeedback writes texts with their labels in the format that
// [labelled.Read] reads. With all, it also writes estimates.
func exportFeedback(w io.Writer, texts iter.Seq2[store.LabelledText, error], all bool) (exported, error) {
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
		if t.Estimates && !all {
			e.estimates++
			continue
		}
		if t.OtherJudge {
			e.otherJudge++
		}
		e.texts++
		e.labelSets += t.LabelSets
		row := labelled.New(t.Hash, t.Text, t.Result, labelled.Labels{Labels: &t.Labels, Weight: &t.Weight, LabelSets: t.LabelSets})
		if err := plainjson.Write(out, row, ""); err != nil {
			return e, fmt.Errorf("failed to write feedback: %w", files.Cause(err))
		}
	}
	if err := out.Flush(); err != nil {
		return e, fmt.Errorf("failed to write feedback: %w", files.Cause(err))
	}
	return e, nil
}
