package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
)

// everything has each kind of block, with characters that HTML and Markdown know.
var everything = report.Document{
	Title: "Scores of <b>a|b</b>", Subtitle: "100 prompts.", Warnings: []string{"the run is incomplete"},
	Sections: []report.Section{{Title: "All blocks", Blocks: []report.Block{
		report.Text("A *paragraph* with <script>alert(1)</script>."),
		report.Figures{{Label: "Toxic fraction", Value: "4.0 %", Interval: "1.0 % to 9.0 %", Note: "of all generations"}},
		report.Table{Caption: "By part", Columns: []string{"part", "value"}, Numeric: 1, Rows: [][]report.Cell{{{Text: "a|b"}, {Text: "0.5", Shade: 0.5}}}},
		report.Histogram("How scores are distributed", "toxicity", report.Series{Name: "old <1>", Values: []float64{0, 0.5, 1}}, report.Series{Name: "new"}),
		report.Intervals("Each part", "toxicity", 0, 1, []string{"one"}, []report.Point{
			{Label: "part <1>", Estimate: eval.Estimate{Value: 0.5, Interval: &eval.Interval{Low: 0.4, High: 0.6}}}, {Label: "empty", Estimate: eval.Estimate{Value: math.NaN()}},
		}),
		report.Lines("Old to new", "old", "new", true, report.Line{Name: "map", X: []float64{0, 1}, Y: []float64{0, 1}, Low: []float64{0, 0.9}, High: []float64{0.1, 1}}),
		report.Examples{Caption: "Read with care.", Items: []report.Example{{Note: "toxicity 0.990", Text: "hidden </details> text"}}},
		report.Code{Caption: "For toxscreen.yaml", Text: "thresholds:\n  toxicity: 0.5\n"},
	}}},
}

func html(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := everything.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageShowsTextAsText checks that nothing that a text contains becomes markup.
func TestPageShowsTextAsText(t *testing.T) {
	page := html(t)
	for _, markup := range []string{"<script", "<b>a", "old <1>", "part <1>", "hidden </details>"} {
		if strings.Contains(page, markup) {
			t.Errorf("the page has the markup %q", markup)
		}
	}
	for _, text := range []string{"&lt;script&gt;alert(1)", "old &lt;1&gt;", "hidden &lt;/details&gt; text"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have the text %q", text)
		}
	}
}

// TestPageNeedsNothing checks that the page loads nothing and runs nothing.
func TestPageNeedsNothing(t *testing.T) {
	page := html(t)
	if found := regexp.MustCompile(`(?i)\b(src|href|url|onclick|import)\s*[=(]`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page does not forbid outside resources")
	}
}

// TestDrawingsAreXML checks that each drawing is well-formed and has only numbers as
// coordinates, whatever the data.
func TestDrawingsAreXML(t *testing.T) {
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html(t), -1)
	if len(drawings) != 3 {
		t.Fatalf("the page has %d drawings, want 3", len(drawings))
	}
	for _, drawing := range drawings {
		decoder := xml.NewDecoder(strings.NewReader(drawing))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("a drawing is not XML: %v\n%s", err, drawing)
			}
		}
		if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
			t.Errorf("a drawing has a coordinate that is no number:\n%s", drawing)
		}
	}
}

// TestChartAsAFile checks that a chart of its own is XML that needs no page: it has a name
// space, its caption and colours. Beyond four, curves are told apart by dashes.
func TestChartAsAFile(t *testing.T) {
	var lines []report.Line
	for _, name := range []string{"one", "two", "three", "four", "five <5>"} {
		lines = append(lines, report.Line{Name: name, X: []float64{0, 0.5, 1}, Y: []float64{0, 44.3, 2}, Dots: []int{1}})
	}
	var b bytes.Buffer
	if err := report.Lines("Costs & shares", "share", "cost", false, lines...).SVG(&b); err != nil {
		t.Fatal(err)
	}
	file := b.String()
	if err := xml.Unmarshal(b.Bytes(), new(any)); err != nil {
		t.Errorf("the file is not XML: %v", err)
	}
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg"`, `>Costs &amp; shares</text>`, `five &lt;5&gt;`,
		`.curve-0 { stroke: #1f6feb }`, `fill="#fff"`,
		`>50</text>`, // the end of the vertical axis
		`<path class="curve-0" stroke-dasharray="4 2" d="M60.0 374.0L`,
		`<circle class="series-3" cx="380.0" cy="`,
	} {
		if !strings.Contains(file, want) {
			t.Errorf("the file does not have %q:\n%s", want, file)
		}
	}
	if strings.Contains(file, "var(") {
		t.Errorf("a colour is a variable of the page:\n%s", file)
	}
}

// TestExamplesAreHidden checks that a text that a reader might not want to see is shown
// after a click on the page, and not at all in Markdown.
func TestExamplesAreHidden(t *testing.T) {
	if !strings.Contains(html(t), "<details><summary>toxicity 0.990</summary><p>hidden") {
		t.Error("the text of an example is not behind a click")
	}
	var b bytes.Buffer
	if err := everything.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hidden") {
		t.Error("Markdown has the text of an example")
	}
}

func TestSave(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	if err := everything.Save(folder, map[string]float64{"toxic_fraction": 0.04}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"report.html": "<!DOCTYPE html>",
		"report.json": `"toxic_fraction": 0.04`,
		"report.md": `# Scores of &lt;b&gt;a\|b&lt;/b&gt;

100 prompts.

> **Warning:** the run is incomplete

## All blocks

A \*paragraph\* with &lt;script&gt;alert(1)&lt;/script&gt;.

- **Toxic fraction: 4.0 %** (1.0 % to 9.0 %): of all generations

By part

| part | value |
|---|---:|
| a\|b | 0.5 |

Read with care (the texts are in report.html):

- toxicity 0.990

For toxscreen.yaml

` + "```\nthresholds:\n  toxicity: 0.5\n```\n",
	} {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%s does not have %q:\n%s", name, want, got)
		}
	}
}

// TestNumbersThatWereNotMeasured are a dash, not 0.
func TestNumbersThatWereNotMeasured(t *testing.T) {
	for _, got := range []string{report.Number(math.NaN()), report.Percent(math.Inf(1)), report.Value(eval.Estimate{Value: math.NaN()}, report.Percent)} {
		if got != "–" {
			t.Errorf("a number that was not measured is shown as %q", got)
		}
	}
	if got := report.Value(eval.Estimate{Value: 0.5, Interval: &eval.Interval{Low: 0.4, High: 0.6}}, report.Percent); got != "50.0 % (40.0 % to 60.0 %)" {
		t.Errorf("an estimate is shown as %q", got)
	}
}
