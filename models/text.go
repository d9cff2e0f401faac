package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
)

// Text formats the manifest of the model in a folder for people: its source, how it
// runs, its attributes, and the figures of its card.
func (m Manifest) Text(folder Folder) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	line("model", m.Identity())
	line("folder", folder.String())
	line("description", m.Description)
	line("license", m.License)
	line("languages", strings.Join(m.Languages, ", "))
	line("base", m.Provenance.Base)
	line("data", strings.Join(m.Provenance.Data, "; "))
	line("made by", m.Provenance.Command)
	line("trained", m.Provenance.Trained)
	line("notes", m.Provenance.Notes)
	line("use", m.Card.Use)
	line("misuse", m.Card.Misuse)
	for _, v := range m.Variants {
		line("variant", fmt.Sprintf("%s: %s, %s, texts %s", v.Provider, strings.Join(v.files(), ", "), v.Precision, v.Batching))
		for _, e := range v.Exits {
			line("exit", fmt.Sprintf("after layer %d, with a doubt of at most %v", e.Layer, e.Doubt))
		}
		if r := v.Risk; r != nil {
			line("risk", fmt.Sprintf("at most %.2g %% of decisions differ because of the exits (confidence %.2g; %d of %d rows)", 100*r.Share, r.Confidence, r.Differ, r.Rows))
		}
	}
	if m.UndoDisguise {
		line("disguise", "undone; texts with disguised words are scored both ways")
	}
	highest := "the highest counts"
	if c := m.Window.Correction; c.Slope > 0 {
		highest += fmt.Sprintf(", less %v·ln(windows) that fades out up to log-odds %v", c.Slope, c.Until)
	}
	line("windows", fmt.Sprintf("%d tokens, overlap up to %d; %s", m.Window.Tokens, m.Window.Overlap, highest))
	spans := "none: the model has no token head"
	if m.Spans != nil {
		spans = fmt.Sprintf("words from %v", m.Spans.Threshold)
		if m.Spans.Relative > 0 {
			spans += fmt.Sprintf(", and from %v of the strongest word's", m.Spans.Relative)
		}
	}
	line("spans", spans)
	heads, shown := "THRESHOLD", []Sensitivity{SensitivityMedium}
	if m.Sensitivity != nil {
		line("sensitivity", "low, medium or high: the thresholds below, at which about 1, 3 or 15 of 1,000 harmless ordinary texts are flagged")
		heads, shown = "LOW\tMEDIUM\tHIGH", Sensitivities()
	}
	for _, scale := range slices.Sorted(maps.Keys(m.Scales)) {
		line("scales", fmt.Sprintf("%s, and %s with the thresholds of its own table; see --scale", toxscreen.GuidelineScale, scale))
	}
	b.WriteString("\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ATTRIBUTE\tLABEL\t"+heads+"\tCALIBRATED")
	calibrated := func(in map[toxscreen.Attribute]classifier.Calibration, a toxscreen.Attribute) string {
		if c, ok := in[a]; ok {
			return fmt.Sprintf("%d knots", len(c.Knots))
		}
		return "no"
	}
	for _, l := range m.Labels {
		if l.Scale != "" {
			continue
		}
		if l.Attribute == nil {
			fmt.Fprintf(table, "-\t%s%s\t\n", l.Name, strings.Repeat("\t", len(shown)))
			continue
		}
		row := []string{l.Attribute.String(), l.Name}
		for _, s := range shown {
			thresholds, _ := m.ThresholdsAt("", s) // which the manifest has
			threshold, _ := thresholds.Get(*l.Attribute)
			row = append(row, fmt.Sprint(threshold))
		}
		fmt.Fprintln(table, strings.Join(append(row, calibrated(m.Calibration, *l.Attribute)), "\t"))
	}
	for _, scale := range slices.Sorted(maps.Keys(m.Scales)) {
		fmt.Fprintf(table, "\nON THE SCALE %s\tLABEL\tTHRESHOLD\tCALIBRATED\n", strings.ToUpper(string(scale)))
		for _, l := range m.Labels {
			if l.Scale != scale || l.Attribute == nil {
				continue
			}
			threshold, _ := m.Scales[scale].Thresholds.Get(*l.Attribute)
			fmt.Fprintf(table, "%s\t%s\t%v\t%s\n", *l.Attribute, l.Name, threshold, calibrated(m.Scales[scale].Calibration, *l.Attribute))
		}
	}
	if len(m.Card.Figures) > 0 {
		fmt.Fprintln(table, "\nMEASURE\tVALUE\t95 %\tGOAL")
	}
	for _, f := range m.Card.Figures {
		interval := ""
		if f.Interval != nil {
			interval = fmt.Sprintf("%.4g to %.4g", f.Interval[0], f.Interval[1])
		}
		fmt.Fprintf(table, "%s\t%.4g\t%s\t%s\n", f.Measure, f.Value, interval, f.Goal)
	}
	table.Flush() // a builder does not fail
	return b.String()
}
