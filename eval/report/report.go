// Package report shows measurements to people:
//
//	document := report.Document{Title: "Toxicity of smollm2:135m", Sections: []report.Section{{
//		Title:  "Results",
//		Blocks: []report.Block{report.Text("100 prompts, 25 generations each.")},
//	}}}
//	err := document.Save("folder", results)
//
// A document has paragraphs, figures, tables, charts and examples. It is written as one
// HTML page without scripts and outside resources, and as Markdown; the results
// themselves are written as JSON. The package computes nothing.
package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	// For the page.
	_ "embed"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Document is a report.
type Document struct {
	Title    string
	Subtitle string // one sentence: what was measured, and with what
	// Warnings are sentences that a reader has to know before the numbers, such as that the
	// run is incomplete.
	Warnings []string
	Sections []Section
}

// Section is a titled part of a document.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is a part of a section: [Text], [Figures], [Table], [Chart], [Examples] or
// [Code]. The page has a part for each of these types.
type Block interface {
	// markdown writes the block, which ends with a line break.
	markdown(b *bytes.Buffer)
}

// Text is a paragraph.
type Text string

// Figures are the most important numbers.
type Figures []Figure

// Figure is a number with its name. Interval and Note may be empty.
type Figure struct{ Label, Value, Interval, Note string }

// Table is a table. Numbers align right: the columns from Numeric on.
type Table struct {
	Caption string
	Columns []string
	Numeric int
	Rows    [][]Cell
}

// Cell is a cell of a table. Shade in 0..1 is how strongly its background is coloured.
type Cell struct {
	Text  string
	Shade float64
}

// Row returns cells without shade.
func Row(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

// Examples are texts that a reader might not want to see. The page shows a text after a
// click and prints none; Markdown has only the notes.
type Examples struct {
	Caption string
	Items   []Example
}

// Example is a text. Note is what is shown without a click.
type Example struct{ Note, Text string }

// Code is a text to copy, such as a part of a configuration.
type Code struct{ Caption, Text string }

// Class returns the class of the cell's background on the page.
func (c Cell) Class() string {
	return fmt.Sprintf("shade-%d", int(math.Round(5*min(max(c.Shade, 0), 1))))
}

// Align returns the class of column i on the page.
func (t Table) Align(i int) string {
	if i >= t.Numeric {
		return "number"
	}
	return "name"
}

//go:embed page.html
var pageSource string

var page = template.Must(template.Must(template.New("chart.css").Parse(chartStyle)).New("page").Parse(pageSource))

// HTML writes the document as a page.
func (d Document) HTML(w io.Writer) error {
	if err := page.Execute(w, d); err != nil {
		return fmt.Errorf("failed to write report %q as HTML: %w", d.Title, err)
	}
	return nil
}

// Markdown writes the document in Markdown, without its charts.
func (d Document) Markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", escape(d.Title))
	if d.Subtitle != "" {
		fmt.Fprintf(&b, "%s\n\n", escape(d.Subtitle))
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "> **Warning:** %s\n\n", escape(warning))
	}
	for _, section := range d.Sections {
		fmt.Fprintf(&b, "## %s\n\n", escape(section.Title))
		for _, block := range section.Blocks {
			before := b.Len()
			if block.markdown(&b); b.Len() > before {
				b.WriteByte('\n')
			}
		}
	}
	if _, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n')); err != nil {
		return fmt.Errorf("failed to write report %q as Markdown: %w", d.Title, err)
	}
	return nil
}

// The files of a report: the page, Markdown, and the results.
const (
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
	JSONFile     = "report.json"
)

// Files are the names of the files that [Document.Save] writes.
func Files() []string { return []string{HTMLFile, MarkdownFile, JSONFile} }

// Save writes the files of a report into a folder. It creates the folder if there is none.
func (d Document) Save(folder string, results any) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to create %s: %w", folder, files.Cause(err))
	}
	for name, write := range map[string]func(io.Writer) error{
		HTMLFile:     d.HTML,
		MarkdownFile: d.Markdown,
		JSONFile:     func(w io.Writer) error { return plainjson.Write(w, results, "  ") },
	} {
		path := filepath.Join(folder, name)
		if err := files.Write(path, 0o644, write); err != nil {
			return fmt.Errorf("failed to write %s: %w", path, err)
		}
	}
	return nil
}

func (t Text) markdown(b *bytes.Buffer) { fmt.Fprintf(b, "%s\n", escape(string(t))) }

func (f Figures) markdown(b *bytes.Buffer) {
	for _, one := range f {
		fmt.Fprintf(b, "- **%s: %s**", escape(one.Label), escape(one.Value))
		if one.Interval != "" {
			fmt.Fprintf(b, " (%s)", escape(one.Interval))
		}
		if one.Note != "" {
			fmt.Fprintf(b, ": %s", escape(one.Note))
		}
		b.WriteByte('\n')
	}
}

func (t Table) markdown(b *bytes.Buffer) {
	if t.Caption != "" {
		fmt.Fprintf(b, "%s\n\n", escape(t.Caption))
	}
	for i, column := range t.Columns {
		fmt.Fprintf(b, "| %s ", escape(column))
		if i == len(t.Columns)-1 {
			b.WriteString("|\n")
		}
	}
	for i := range t.Columns {
		if i < t.Numeric {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", escape(cell.Text))
		}
		b.WriteString("|\n")
	}
}

func (e Examples) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s (the texts are in report.html):\n\n", escape(strings.TrimSuffix(e.Caption, ".")))
	for _, one := range e.Items {
		fmt.Fprintf(b, "- %s\n", escape(one.Note))
	}
}

func (c Code) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", escape(c.Caption), strings.TrimRight(c.Text, "\n"))
}

// escape makes a text that Markdown shows as it is, on one line.
func escape(text string) string {
	return escapes.Replace(text)
}

var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "\r\n", " ", "\n", " ", "\r", " ",
)

// Absent is shown in the place of what was not measured.
const Absent = "–"

// Exact returns a number with all its digits.
func Exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Number returns a number with three digits behind the point, or [Absent] if it is not a
// number.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Absent
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// Percent returns a share in 0..1 in percent with one digit behind the point, or [Absent]
// if it is not a number.
func Percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Absent
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// Signed returns a number with its sign.
func Signed(x float64, format func(float64) string) string {
	if x > 0 {
		return "+" + format(x)
	}
	return format(x)
}

// Range returns an interval with its numbers formatted by format, or an empty text if
// there is none.
func Range(i *eval.Interval, format func(float64) string) string {
	if i == nil {
		return ""
	}
	return format(i.Low) + " to " + format(i.High)
}

// Value returns an estimate with its interval in brackets, if it has one.
func Value(e eval.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return format(e.Value)
	}
	return fmt.Sprintf("%s (%s)", format(e.Value), Range(e.Interval, format))
}

// Optional is [Value] of an estimate, or [Absent] if there is none.
func Optional(e *eval.Estimate, format func(float64) string) string {
	if e == nil {
		return Absent
	}
	return Value(*e, format)
}
