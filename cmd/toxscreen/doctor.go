package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that scoring works and say how to fix problems",
		Long: `Check what scoring needs: the ONNX Runtime library, the model and its files, the
configuration. Then score a text. If a judge is configured, ask it for a verdict on the
same text. The exit code is 1 if scoring does not work, and 3 if only the judge does not.`,
		Example: `  toxscreen doctor
  toxscreen doctor --no-judge
  toxscreen doctor --provider cuda --format json`,
		RunE: a.doctor,
	}
	config.AddFlags(cmd, "format")
	config.AddFlags(cmd, config.EscalationKeys...)
	config.AddNoJudgeFlag(cmd)
	config.AddFlags(cmd, config.ModelKeys...)
	return cmd
}

// diagnosis is what `doctor --format json` prints.
type diagnosis struct {
	screen.Diagnosis

	Config struct {
		LookedFor []string `json:"looked_for"`
		Read      []string `json:"read"`
		// Limits are the settings that scores are compared with.
		Limits []config.Shown `json:"limits"`
	} `json:"config"`
}

func (a *app) doctor(cmd *cobra.Command, _ []string) error {
	s, wrong, err := config.LoadOrDefault(cmd)
	if err != nil {
		return err
	}
	d := diagnosis{Diagnosis: screen.Examine(cmd.Context(), s.Settings)}
	d.Config.LookedFor, d.Config.Read, d.Config.Limits = config.Files(), s.Files(), s.Limits()
	if wrong == nil && d.Model.Identity != "" {
		wrong = fits(s, toxscreen.ModelInfo{Version: d.Model.Identity, Attributes: d.Model.Attributes})
	}
	if wrong != nil {
		d.OK, d.Problems = false, append([]string{wrong.Error()}, d.Problems...)
	}
	if s.Format == "json" {
		err = plainjson.Write(a.out, d, "  ")
	} else {
		_, err = a.out.Write([]byte(d.text(a.view())))
	}
	switch {
	case err != nil:
	case !d.OK:
		err = exit{code: exitFailed}
	case d.Judge != nil && d.Judge.Problem != "":
		err = exit{code: exitPartly}
	}
	return err
}

// text is the diagnosis for people.
func (d *diagnosis) text(v terminal.View) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%s %s\n", v.Bold(fmt.Sprintf("%-10s", name)), terminal.Escape(fmt.Sprintf(format, args...)))
	}
	d.Parts(line)
	for i, file := range d.Config.LookedFor {
		name, state := "", "not found"
		if i == 0 {
			name = "config"
		}
		if slices.Contains(d.Config.Read, file) {
			state = "read"
		}
		line(name, "%s: %s", file, state)
	}
	for i, limit := range d.Config.Limits {
		name := ""
		if i == 0 {
			name = "limits"
		}
		line(name, "%s %s, from %s", limit.Key, limit.Value, limit.From)
	}
	if len(d.Config.Limits) > 0 && d.Model.Identity != "" {
		line("", "they apply to the scores of %s; each version of a model has its own: check them when it changes", d.Model.Identity)
	}
	d.Measured(line)
	b.WriteString("\n")
	for _, p := range d.Problems {
		fmt.Fprintf(&b, "%s %s\n", v.Alarm("problem:"), terminal.Escape(p))
	}
	if d.OK {
		b.WriteString(v.Severity(toxscreen.SeverityNone, "Scoring works.") + "\n")
	} else {
		b.WriteString("Scoring does not work until this is fixed.\n")
	}
	return b.String()
}
