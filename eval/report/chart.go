package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	// For the style.
	_ "embed"

	"github.com/toxscreen/toxscreen/eval"
)

// Chart is a drawing with its caption, which also says what a reader who does not see it
// would learn.
type Chart struct {
	Caption string

	height   float64
	elements string // of the SVG
}

func (Chart) markdown(*bytes.Buffer) {}

// Drawing returns the chart for the page, which has its colours, light and dark.
func (c Chart) Drawing() template.HTML {
	//nolint:gosec // texts are escaped when they are added
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`,
		width, c.height, template.HTMLEscapeString(c.Caption), c.elements))
}

// SVG writes the chart as a file of its own, with the caption above it and in the page's
// light colours.
func (c Chart) SVG(w io.Writer) error {
	caption := template.HTMLEscapeString(c.Caption)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -30 %.0f %.0f" role="img" aria-label="%s"><style>%s</style>`+
		`<rect y="-30" width="100%%" height="100%%" fill="%s"/><text x="8" y="-10" font-weight="bold">%s</text>%s</svg>`+"\n",
		width, c.height+30, caption, light(chartStyle), light("var(--paper)"), caption, c.elements)
	if err != nil {
		return fmt.Errorf("failed to write chart %q: %w", c.Caption, err)
	}
	return nil
}

//go:embed chart.css
var chartStyle string

// light replaces variables of the page's style by their light values, since not every
// viewer of SVG knows variables.
func light(style string) string {
	colours, _, _ := strings.Cut(pageSource, "@media")
	for _, colour := range regexp.MustCompile(`(--[a-z0-9-]+): ([^;]+);`).FindAllStringSubmatch(colours, -1) {
		style = strings.ReplaceAll(style, "var("+colour[1]+")", colour[2])
	}
	return style
}

// The canvas of a chart, in units of the page.
const (
	width, left, right, top, bottom = 720.0, 60.0, 20.0, 30.0, 46.0
	rowHeight                       = 22.0
)

// canvas collects the elements of a drawing.
type canvas struct {
	strings.Builder

	height               float64
	x0, x1, y0, y1       float64 // the data's range
	plotLeft, plotBottom float64
}

func newCanvas(height float64) *canvas {
	return &canvas{height: height, plotLeft: left, plotBottom: height - bottom}
}

// x and y return positions in the drawing.
func (c *canvas) x(v float64) float64 {
	return c.plotLeft + (v-c.x0)/(c.x1-c.x0)*(width-right-c.plotLeft)
}

func (c *canvas) y(v float64) float64 {
	return c.plotBottom - (v-c.y0)/(c.y1-c.y0)*(c.plotBottom-top)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, template.HTMLEscapeString(text))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// xAxis draws the lower axis with five steps.
func (c *canvas) xAxis(label string) {
	for i := range 6 {
		v := c.x0 + float64(i)/5*(c.x1-c.x0)
		c.line("grid", c.x(v), top, c.x(v), c.plotBottom)
		c.text(c.x(v), c.plotBottom+16, "middle", tick(v))
	}
	c.text((c.plotLeft+width-right)/2, c.plotBottom+36, "middle", label)
}

// yAxis draws the left axis with five steps.
func (c *canvas) yAxis(label string) {
	for i := range 6 {
		v := c.y0 + float64(i)/5*(c.y1-c.y0)
		c.line("grid", c.plotLeft, c.y(v), width-right, c.y(v))
		c.text(c.plotLeft-6, c.y(v)+4, "end", tick(v))
	}
	c.text(8, 14, "start", label)
}

// legend draws the names of the series above the plot, up to its right end. It takes a
// character to be at most 7 wide.
func (c *canvas) legend(names []string) {
	const square, gap = 14.0, 16.0
	x := width - right + gap
	for _, name := range names {
		x -= square + 7*float64(utf8.RuneCountInString(name)) + gap
	}
	for i, name := range names {
		if i < seriesColours {
			fmt.Fprintf(c, `<rect class="series-%d" x="%.1f" y="5" width="10" height="10"/>`, i, x)
		} else {
			fmt.Fprintf(c, `<path class="curve-%d"%s d="M%.1f 10h10"/>`, i%seriesColours, dashes, x)
		}
		c.text(x+square, 14, "start", name)
		x += square + 7*float64(utf8.RuneCountInString(name)) + gap
	}
}

// seriesColours is the number of colours of series on the page. Further curves have the
// same colours again, and dashes.
const (
	seriesColours = 4
	dashes        = ` stroke-dasharray="4 2"`
)

func tick(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".0") }

// chart returns the drawing as a block.
func (c *canvas) chart(caption string) Chart {
	return Chart{caption, c.height, c.String()}
}

// Series is a named column of numbers.
type Series struct {
	Name   string
	Values []float64
}

// Histogram draws how the values of each series, in 0..1, are distributed, in shares of the
// series.
func Histogram(caption, label string, series ...Series) Chart {
	const bins = eval.HistogramBins
	c := newCanvas(280)
	c.x1 = 1
	shares := make([][]float64, len(series))
	for i, s := range series {
		shares[i] = eval.Histogram(s.Values)
		for _, share := range shares[i] {
			c.y1 = max(c.y1, share)
		}
	}
	c.y1 = math.Ceil(max(c.y1, 0.05)*20) / 20
	c.yAxis("share")
	c.xAxis(label)
	for i := range series {
		wide := 0.9 / bins / float64(len(series))
		for bin, share := range shares[i] {
			at := (float64(bin)+0.05)/bins + float64(i)*wide
			fmt.Fprintf(c, `<rect class="series-%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
				i%seriesColours, c.x(at), c.y(share), c.x(at+wide)-c.x(at), c.y(0)-c.y(share))
		}
	}
	c.legend(names(series))
	return c.chart(caption)
}

func names(series []Series) []string {
	var all []string
	for _, s := range series {
		all = append(all, s.Name)
	}
	return all
}

// Point is an estimate with its name. Points of the same Series, counted from 0, have
// the same colour.
type Point struct {
	Label    string
	Estimate eval.Estimate
	Series   int
}

// Intervals draws estimates below each other, each with its interval, between low and
// high, with a line at 0 if it is between them. legend has the names of the series; it may
// be empty if there is only one.
func Intervals(caption, label string, low, high float64, legend []string, points []Point) Chart {
	c := newCanvas(top + bottom + rowHeight*float64(len(points)))
	c.plotLeft, c.x0, c.x1 = 230, low, high
	c.xAxis(label)
	if low < 0 && high > 0 {
		c.line("diagonal", c.x(0), top, c.x(0), c.plotBottom)
	}
	for i, p := range points {
		y := top + rowHeight*(float64(i)+0.5)
		c.text(c.plotLeft-8, y+4, "end", shortened(p.Label, 32))
		inside := func(v float64) float64 { return c.x(min(max(v, low), high)) }
		if in := p.Estimate.Interval; in != nil {
			c.line(fmt.Sprintf("whisker-%d", p.Series%seriesColours), inside(in.Low), y, inside(in.High), y)
		}
		if !math.IsNaN(p.Estimate.Value) {
			fmt.Fprintf(c, `<circle class="series-%d" cx="%.1f" cy="%.1f" r="4.5"/>`, p.Series%seriesColours, inside(p.Estimate.Value), y)
		}
	}
	c.legend(legend)
	return c.chart(caption)
}

func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// Line is a curve of points in rising order of X. Low and High are its band; they are
// empty without one. Dots are the numbers, from 0, of the points that have a dot.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Dots      []int
}

// Lines draws curves. Both axes go from 0 to 1, the vertical one further if values do.
// Diagonal adds the line of equal values.
func Lines(caption, x, y string, diagonal bool, lines ...Line) Chart {
	c := newCanvas(420)
	c.x1, c.y1 = 1, 1
	for _, l := range lines {
		for _, v := range l.Y {
			if v > c.y1 {
				c.y1 = roundUp(v)
			}
		}
	}
	c.yAxis(y)
	c.xAxis(x)
	if diagonal {
		c.line("diagonal", c.x(0), c.y(0), c.x(1), c.y(1))
	}
	var legend []string
	for i, l := range lines {
		legend = append(legend, l.Name)
		if len(l.Low) > 0 {
			fmt.Fprintf(c, `<path class="band-%d" d="`, i%seriesColours)
			for k := range l.X {
				c.to(k == 0, l.X[k], l.High[k])
			}
			for k, x := range slices.Backward(l.X) {
				c.to(false, x, l.Low[k])
			}
			c.WriteString(`Z"/>`)
		}
		style := ""
		if i >= seriesColours {
			style = dashes
		}
		fmt.Fprintf(c, `<path class="curve-%d"%s d="`, i%seriesColours, style)
		for k := range l.X {
			c.to(k == 0, l.X[k], l.Y[k])
		}
		c.WriteString(`"/>`)
		for _, k := range l.Dots {
			fmt.Fprintf(c, `<circle class="series-%d" cx="%.1f" cy="%.1f" r="4.5"/>`, i%seriesColours, c.x(l.X[k]), c.y(l.Y[k]))
		}
	}
	c.legend(legend)
	return c.chart(caption)
}

// roundUp returns the end of an axis for a value over 0: five steps up to it are round.
func roundUp(v float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, end := range []float64{1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5} {
		if v <= end*ten {
			return end * ten
		}
	}
	return 10 * ten
}

// to adds a point to a path.
func (c *canvas) to(first bool, x, y float64) {
	command := "L"
	if first {
		command = "M"
	}
	fmt.Fprintf(c, "%s%.1f %.1f", command, c.x(x), c.y(y))
}
