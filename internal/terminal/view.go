package terminal

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/toxscreen/toxscreen"
)

// View shows results to people.
type View struct {
	Out   io.Writer
	Paint bool // colours
	Width int  // columns
	// Types are the types of personal data in the order of their colours.
	Types []toxscreen.EntityType
}

// NewView returns a view with the width of a terminal, and with colours if the user's
// environment does not refuse them; without colours if file is nil or not a terminal.
func NewView(out io.Writer, file *os.File) View {
	v := View{Out: out, Width: 80}
	if file != nil && Is(file) {
		v.Paint = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width := Width(file); width > 0 {
			v.Width = width
		}
	}
	return v
}

// Output is a writer that keeps its first error, so that a full disk behind standard output
// is noticed even if the code that writes ignores errors.
type Output struct {
	W   io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Width returns the columns of a terminal, or 0.
func (o *Output) Width() int { return Width(o.W) }

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the columns of a terminal, or 0: a pipe has no width.
func Width(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Styles. Colours are from the 256 that nearly every terminal has.
const (
	bold = "1"
	dim  = "2"
)

var attributeColours = map[toxscreen.Attribute]int{
	toxscreen.Toxicity:         203, // red
	toxscreen.SevereToxicity:   161, // crimson
	toxscreen.Insult:           215, // orange
	toxscreen.Profanity:        221, // yellow
	toxscreen.IdentityAttack:   141, // violet
	toxscreen.Threat:           207, // pink
	toxscreen.SexuallyExplicit: 80,  // teal
}

var severityColours = map[toxscreen.Severity]int{
	toxscreen.SeverityNone:     78,
	toxscreen.SeverityMild:     221,
	toxscreen.SeverityModerate: 215,
	toxscreen.SeveritySevere:   203,
}

func foreground(colour int) string { return fmt.Sprintf("38;5;%d", colour) }

// highlight returns the style of black text on a colour.
func highlight(colour int) string { return fmt.Sprintf("38;5;16;48;5;%d", colour) }

func (v View) style(code, text string) string {
	if !v.Paint || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold returns a text in bold type.
func (v View) Bold(text string) string { return v.style(bold, text) }

// Dim returns a text that matters less.
func (v View) Dim(text string) string { return v.style(dim, text) }

// Severity returns a text in the colour of a severity.
func (v View) Severity(severity toxscreen.Severity, text string) string {
	return v.style(foreground(severityColours[severity]), text)
}

// Alarm returns a text that must not be missed.
func (v View) Alarm(text string) string {
	return v.style(foreground(severityColours[toxscreen.SeveritySevere])+";"+bold, text)
}

func (v View) warning() string { return v.Severity(toxscreen.SeverityMild, "warning:") }

// Result shows a result with offsets in bytes: its score, the text with marked
// spans, a bar for each attribute, and lists of the passages, the spans and the readings.
func (v View) Result(text string, r toxscreen.Result, unit toxscreen.OffsetUnit) error {
	var b bytes.Buffer
	colour, decision := severityColours[r.Severity], string(r.Severity)
	if r.NotDecided != "" {
		colour, decision = severityColours[toxscreen.SeverityMild], "not decided: "+Escape(r.NotDecided)
	}
	score := fmt.Sprintf("%.2f", r.Score)
	if v.Paint {
		score = " " + score + " " // a box
	}
	fmt.Fprintf(&b, "%s  %s", v.style(highlight(colour)+";"+bold, score), v.style(foreground(colour), decision))
	if r.Flagged {
		fmt.Fprintf(&b, ", %s", v.Bold("flagged"))
	}
	b.WriteString("\n\n")
	if text == "" {
		b.WriteString(v.Dim("(empty)"))
	}
	marks := make([]mark, len(r.Spans))
	for i, s := range r.Spans {
		marks[i] = mark{s.Start, s.End, attributeColours[mainAttribute(s)]}
	}
	b.WriteString(v.marked(text, marks))
	b.WriteString("\n\n")
	v.bars(&b, r.Attributes)
	shown := r.In(unit, text)
	if len(r.Passages) > 0 && !isWhole(text, r.Passages[0]) {
		b.WriteString("\n")
		for i, p := range r.Passages {
			v.passage(&b, text[p.Start:p.End], shown.Passages[i])
		}
	}
	if len(r.Spans) > 0 {
		b.WriteString("\n")
	}
	for i, s := range r.Spans {
		v.span(&b, text[s.Start:s.End], shown.Spans[i])
	}
	if len(r.Readings) > 0 {
		b.WriteString("\n")
	}
	for i, word := range r.Readings {
		v.reading(&b, text[word.Start:word.End], shown.Readings[i])
	}
	if len(r.Entities) > 0 {
		b.WriteString("\n")
		v.entities(&b, text, r.Entities, shown.Entities)
	}
	v.judged(&b, r.Judge, r.Source)
	if len(r.Warnings) > 0 {
		b.WriteString("\n")
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", v.warning(), Escape(w))
	}
	if r.Exit > 0 {
		fmt.Fprintf(&b, "\n%s", v.Dim("the text is clearly harmless, so its scores are estimates; --full computes them exactly"))
	}
	fmt.Fprintf(&b, "\n%s\n", v.Dim("by "+Escape(r.Versions.Scale.Of(r.Versions.Model))+", toxscreen "+r.Versions.Toxscreen))
	_, err := v.Out.Write(b.Bytes())
	return err
}

// judged shows the answer of the judge if it was asked.
func (v View) judged(b *bytes.Buffer, report toxscreen.JudgeReport, source toxscreen.Source) {
	if !report.Asked {
		return
	}
	name := v.Bold("judge:")
	if report.Error != "" {
		fmt.Fprintf(b, "\n%s no verdict: %s\n", name, Escape(report.Error))
		return
	}
	for _, verdict := range report.Verdicts {
		var found []string
		for _, a := range verdict.Aspects {
			if a.Yes {
				found = append(found, a.Name)
			}
		}
		if len(found) == 0 {
			found = []string{"no aspect applies"}
		}
		counts := "the verdict is part of the score"
		if source == toxscreen.SourceClassifier {
			counts = "the score is the classifier's"
		}
		fmt.Fprintf(b, "\n%s %s (%s; %s)\n", name, Escape(strings.Join(found, ", ")), Escape(report.Why), counts)
		for _, w := range verdict.Warnings {
			fmt.Fprintf(b, "       %s\n", v.Dim(Escape(w)))
		}
	}
}

const nameWidth = len("sexually_explicit")

// bars draws a bar for each attribute, with a mark at its threshold. The squares
// show which colour belongs to which attribute in the text.
func (v View) bars(b *bytes.Buffer, measured toxscreen.AttributeResults) {
	const besides = 2 + nameWidth + 2 + 4 + 2 + 2 + len("flagged")
	length := min(max(v.Width-besides, 10), 50)
	for _, a := range toxscreen.Attributes() {
		m, ok := measured[a]
		if !ok {
			continue
		}
		colour := attributeColours[a]
		name, number, verdict := fmt.Sprintf("%-*s", nameWidth, a), fmt.Sprintf("%.2f", m.Score), ""
		if m.Flagged {
			name, number, verdict = v.Bold(name), v.Bold(number), "  "+v.Bold("flagged")
		}
		filled, rest := bar(length, float64(m.Score), float64(m.Threshold))
		fmt.Fprintf(b, "%s%s  %s  %s%s%s\n", v.square(colour), name, number, v.style(foreground(colour), filled), v.Dim(rest), verdict)
	}
}

// bar returns the filled and the empty part of a bar for a score in 0..1.
func bar(length int, score, threshold float64) (filled, rest string) {
	cells := []rune(strings.Repeat("·", length))
	eighths := int(math.Round(score * float64(length) * 8))
	full := eighths / 8
	for i := range full {
		cells[i] = '█'
	}
	if eighths%8 > 0 {
		cells[full] = []rune("▏▎▍▌▋▊▉")[eighths%8-1]
		full++
	}
	cells[min(int(threshold*float64(length)), length-1)] = '┃'
	return string(cells[:full]), string(cells[full:])
}

// square shows a colour if colours are on.
func (v View) square(colour int) string {
	if !v.Paint {
		return ""
	}
	return v.style(foreground(colour), "■ ")
}

// isWhole reports whether a passage leaves out nothing of a text that a reader can see.
// It then has the score of the text, and there is nothing more to say about it.
func isWhole(text string, p toxscreen.Passage) bool {
	visible := func(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }
	return !strings.ContainsFunc(text[:p.Start], visible) && !strings.ContainsFunc(text[p.End:], visible)
}

// passage prints one passage with its score.
func (v View) passage(b *bytes.Buffer, words string, p toxscreen.Passage) {
	fmt.Fprintf(b, "%s %.2f  %s  %s\n", v.Bold("passage"), p.Score, v.Dim(fmt.Sprintf("%d–%d", p.Start, p.End)), quotation(words))
}

// quotation returns the beginning of a text on one line, with its end if it is long.
func quotation(text string) string {
	quote, tail := Ends(text, 60)
	if tail != "" {
		quote += "…" + tail
	}
	return strings.ReplaceAll(Escape(quote), "\n", " ")
}

// span prints one span with its attributes.
func (v View) span(b *bytes.Buffer, words string, s toxscreen.Span) {
	main := mainAttribute(s)
	fmt.Fprintf(b, "%s%s  %s", v.square(attributeColours[main]), v.Bold(quotation(words)), v.Dim(fmt.Sprintf("%d–%d", s.Start, s.End)))
	for a, p := range s.Attributes.All() {
		fmt.Fprintf(b, "  %s %.2f", a, p)
	}
	b.WriteString("\n")
}

// reading prints what one word is read as.
func (v View) reading(b *bytes.Buffer, written string, r toxscreen.Reading) {
	fmt.Fprintf(b, "%s  %s  read as %s\n", v.Bold(quotation(written)), v.Dim(fmt.Sprintf("%d–%d", r.Start, r.End)), quotation(r.ReadAs))
}

// mainAttribute returns the attribute that colours a span: the one with the highest
// probability. Toxicity, which every span has, counts only if it is the only one.
func mainAttribute(s toxscreen.Span) toxscreen.Attribute {
	main, best := toxscreen.Toxicity, -1.0
	for a, p := range s.Attributes.All() {
		if a != toxscreen.Toxicity && p > best {
			main, best = a, p
		}
	}
	return main
}

// gapBytes is the maximum length of text without a mark that is shown in full.
const gapBytes = 1000

// mark is a part of a text that is shown in a colour.
type mark struct{ start, end, colour int }

// marked returns the text with its marks coloured, or in brackets without colours.
// Long stretches without a mark are shortened.
func (v View) marked(text string, marks []mark) string {
	var b strings.Builder
	gap := func(s string) {
		head, tail := Ends(s, gapBytes)
		b.WriteString(Escape(head))
		if left := len(s) - len(head) - len(tail); left > 0 {
			b.WriteString(v.Dim(fmt.Sprintf(" … %d bytes … ", left)))
		}
		b.WriteString(Escape(tail))
	}
	at := 0
	for _, m := range marks {
		gap(text[at:m.start])
		words := Escape(text[m.start:m.end])
		if v.Paint {
			b.WriteString(v.style(highlight(m.colour)+";"+bold, words))
		} else {
			b.WriteString("[" + words + "]")
		}
		at = m.end
	}
	gap(strings.TrimRight(text[at:], "\r\n"))
	return b.String()
}
