package eval

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	// The output format.
	_ "gonum.org/v1/plot/vg/vgsvg"
)

// write writes a plot as SVG.
func write(w io.Writer, p *plot.Plot) error {
	svg, err := p.WriterTo(16*vg.Centimeter, 11*vg.Centimeter, "svg")
	if err != nil {
		return fmt.Errorf("failed to draw %q: %w", p.Title.Text, err)
	}
	if _, err := svg.WriteTo(w); err != nil {
		return fmt.Errorf("failed to write %q: %w", p.Title.Text, err)
	}
	return nil
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	// Viewers without the font substitute another one. For this font, the
	// substitute has the same width.
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	p.Y.Min = 0
	return p
}

// addLine adds a line with a dot at each point.
func addLine(p *plot.Plot, name string, i int, points plotter.XYs) error {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("failed to draw %q: %w", p.Title.Text, err)
	}
	line.Color, dots.Color, dots.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
	p.Add(line, dots)
	p.Legend.Add(name, line, dots)
	return nil
}

// PlotReliability draws the reliability of the same texts before and after
// calibration, as SVG.
func PlotReliability(w io.Writer, title string, before, after []Scored) error {
	p := newPlot(title, "mean probability", "share of toxic texts")
	p.X.Min, p.X.Max, p.Y.Max = 0, 1, 1
	p.Legend.Left = true
	diagonal := plotter.NewFunction(func(x float64) float64 { return x })
	diagonal.Dashes = plotutil.Dashes(1)
	p.Add(diagonal)
	for i, rows := range [][]Scored{before, after} {
		var points plotter.XYs
		for _, bin := range Reliability(rows) {
			points = append(points, plotter.XY{X: bin.Mean, Y: bin.Observed})
		}
		name := fmt.Sprintf("before, ECE %.3f", ECE(rows))
		if i == 1 {
			name = fmt.Sprintf("after, ECE %.3f", ECE(rows))
		}
		if err := addLine(p, name, i, points); err != nil {
			return err
		}
	}
	return write(w, p)
}

// Saving is the worth of judging a share of texts, the texts with the highest worth
// first.
type Saving struct {
	Share float64 // of texts that are judged
	Worth float64 // of their verdicts, per 1,000 texts
}

// PlotEscalation draws the worth of verdicts by the share of judged texts, as SVG.
// share is the share to mark.
func PlotEscalation(w io.Writer, title string, curve []Saving, share float64) error {
	p := newPlot(title, "share of texts that are judged", "errors that verdicts prevent, per 1,000 texts")
	var points, chosen plotter.XYs
	for _, s := range curve {
		points = append(points, plotter.XY{X: s.Share, Y: s.Worth})
		if s.Share <= share+1e-12 {
			chosen = plotter.XYs{{X: s.Share, Y: s.Worth}}
		}
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("failed to draw %q: %w", title, err)
	}
	line.Color = plotutil.Color(0)
	p.Add(line)
	p.X.Min, p.X.Max, p.Y.Max = 0, 1, max(p.Y.Max, 1) // verdicts may be worth nothing
	if len(chosen) > 0 {
		dot, err := plotter.NewScatter(chosen)
		if err != nil {
			return fmt.Errorf("failed to draw %q: %w", title, err)
		}
		dot.Color, dot.Shape, dot.Radius = plotutil.Color(1), draw.CircleGlyph{}, vg.Points(4)
		p.Add(dot)
		p.Legend.Add(fmt.Sprintf("%.3g %% are judged", 100*share), dot)
	}
	p.Legend.Left = true
	return write(w, p)
}

// glyphs are the symbols of the systems.
var glyphs = map[string]draw.GlyphDrawer{
	Alone: draw.PlusGlyph{}, Ours: draw.CircleGlyph{}, FixedBand: draw.PyramidGlyph{}, Everything: draw.BoxGlyph{},
}

// PlotSimulation draws the cost of errors by the share of judged texts, as SVG: a
// line for each judge, with a symbol for each system.
func PlotSimulation(w io.Writer, outcomes []Outcome) error {
	p := newPlot("Errors left, by judge and system", "share of texts that are judged", "expected price of errors, 1,000 texts")
	p.X.Min, p.X.Max = 0, 1.6 // the legend is beside the lines
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.25, Label: "0.25"}, {Value: 0.5, Label: "0.5"}, {Value: 0.75, Label: "0.75"}, {Value: 1, Label: "1"}}
	byJudge := map[string][]Outcome{}
	var names []string
	for _, o := range outcomes {
		if _, ok := byJudge[o.Judge]; !ok {
			names = append(names, o.Judge)
		}
		byJudge[o.Judge] = append(byJudge[o.Judge], o)
	}
	for i, name := range names {
		all := byJudge[name]
		slices.SortStableFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Judged, b.Judged) })
		points := make(plotter.XYs, len(all))
		for k, o := range all {
			points[k] = plotter.XY{X: o.Judged, Y: o.Cost}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("failed to draw %q: %w", p.Title.Text, err)
		}
		signs, err := plotter.NewScatter(points)
		if err != nil {
			return fmt.Errorf("failed to draw %q: %w", p.Title.Text, err)
		}
		line.Color = plotutil.DarkColors[i%len(plotutil.DarkColors)]
		line.Dashes = plotutil.Dashes(i / len(plotutil.DarkColors))
		signs.GlyphStyleFunc = func(k int) draw.GlyphStyle {
			return draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3), Shape: glyphs[all[k].System]}
		}
		p.Add(line, signs)
		p.Legend.Add(name, line)
	}
	for _, system := range []string{Alone, Ours, FixedBand, Everything} {
		p.Legend.Add(system, &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: color.Black, Radius: vg.Points(3), Shape: glyphs[system]}})
	}
	return write(w, p)
}
