package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/eval"
)

// Chart is a drawing with its caption, which also says what a reader who does not see it
// would learn. Colours are those of the page, light and dark.
type Chart struct {
	Caption string
	Drawing template.HTML // SVG
}

// Kind implements [Block].
func (Chart) Kind() string { return "chart" }

func (Chart) markdown(*bytes.Buffer) {}

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
		fmt.Fprintf(c, `<rect class="series-%d" x="%.1f" y="5" width="10" height="10"/>`, i%seriesColours, x)
		c.text(x+square, 14, "start", name)
		x += square + 7*float64(utf8.RuneCountInString(name)) + gap
	}
}

// seriesColours is the number of colours of series on the page.
const seriesColours = 4

func tick(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".0") }

// chart returns the drawing as a block.
func (c *canvas) chart(caption string) Chart {
	//nolint:gosec // texts are escaped when they are added
	return Chart{caption, template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`,
		width, c.height, template.HTMLEscapeString(caption), c.String()))}
}

// Series is a named column of numbers.
type Series struct {
	Name   string
	Values []float64
}

// Histogram draws how the values of each series, in 0..1, are distributed over 20 bins,
// in shares of the series.
func Histogram(caption, label string, series ...Series) Chart {
	const bins = 20
	c := newCanvas(280)
	c.x1 = 1
	shares := make([][bins]float64, len(series))
	for i, s := range series {
		for _, v := range s.Values {
			shares[i][min(max(int(v*bins), 0), bins-1)] += 1 / float64(len(s.Values))
		}
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
// empty without one.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64
}

// Lines draws curves; both axes go from 0 to 1. Diagonal adds the line of equal values.
func Lines(caption, x, y string, diagonal bool, lines ...Line) Chart {
	c := newCanvas(420)
	c.x1, c.y1 = 1, 1
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
		fmt.Fprintf(c, `<path class="curve-%d" d="`, i%seriesColours)
		for k := range l.X {
			c.to(k == 0, l.X[k], l.Y[k])
		}
		c.WriteString(`"/>`)
	}
	c.legend(legend)
	return c.chart(caption)
}

// to adds a point to a path.
func (c *canvas) to(first bool, x, y float64) {
	command := "L"
	if first {
		command = "M"
	}
	fmt.Fprintf(c, "%s%.1f %.1f", command, c.x(x), c.y(y))
}
