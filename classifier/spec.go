package classifier

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Spec says how to run a model and how to read its output. Its JSON form
// is part of a model's manifest.
type Spec struct {
	// Inputs lists which of input_ids, attention_mask and token_type_ids the
	// model takes: int64 tensors of shape [windows, tokens].
	Inputs []string `json:"inputs"`

	// PadID is the token that pads the shorter windows of a padded run. It
	// matters to models that derive positions from it, such as RoBERTa.
	PadID int64 `json:"pad_id,omitempty"`

	Outputs Outputs `json:"outputs"`

	// Labels are the columns of Outputs.Scores, in order: those of the guideline's scale first.
	Labels []Label `json:"labels"`

	// Activation turns the logits of Outputs.Scores into probabilities.
	Activation Activation `json:"activation"`

	// Spans says how to read the token head; nil if the model has none.
	Spans *SpanSpec `json:"spans,omitempty"`

	Window Window `json:"window"`

	// UndoDisguise scores the [Seen] form of a text and, if that differs, also its reading by
	// [disguise.Read]. It suits English models whose authors do not undo disguise themselves.
	UndoDisguise bool `json:"undo_disguise,omitempty"`

	// Calibration corrects the probability of an attribute; without an entry,
	// the activation's probability is used.
	Calibration map[toxscreen.Attribute]Calibration `json:"calibration,omitempty"`

	// Scales are the other scales that some of Labels are on; nil if there are none.
	Scales map[toxscreen.Scale]ScaleSpec `json:"scales,omitempty"`
}

// ScaleSpec says how to read the labels of another scale than the guideline's.
type ScaleSpec struct {
	// Calibration is like that of the Spec.
	Calibration map[toxscreen.Attribute]Calibration `json:"calibration,omitempty"`
	// Thresholds has the lowest probability, in (0, 1], at which each attribute is flagged.
	Thresholds toxscreen.Scores `json:"thresholds"`
}

// Outputs names the model's outputs.
type Outputs struct {
	Scores string `json:"scores"`           // logits, float32 [windows, labels]
	Tokens string `json:"tokens,omitempty"` // logits of the token head, float32 [windows, tokens, span labels]
}

// The names of the heads in the encoder.
const (
	scoresHead = "scores"
	tokensHead = "tokens"
)

func exitHead(exit int) string { return fmt.Sprintf("exit %d", exit+1) }

// stages returns the parts of the network. Those behind an exit take the attention_mask if the
// first does.
func (c Config) stages() []encoder.Stage {
	var stages []encoder.Stage
	inputs := c.Spec.Inputs
	for i, e := range c.Exits {
		head := encoder.Head{Name: exitHead(i), Output: e.Output, Task: encoder.TextClassification, Columns: c.Spec.exitColumns()}
		stages = append(stages, encoder.Stage{Model: e.Stage, Inputs: inputs, Hidden: e.Hidden, Width: e.Width, Exit: &encoder.Exit{Model: e.Model, Head: head}})
		inputs = slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return name != "attention_mask" })
	}
	return append(stages, encoder.Stage{Model: c.Model, Inputs: inputs, Heads: c.Spec.heads()})
}

// heads returns the heads that the classifier reads.
func (s Spec) heads() []encoder.Head {
	heads := []encoder.Head{{Name: scoresHead, Output: s.Outputs.Scores, Task: encoder.TextClassification, Columns: len(s.Labels)}}
	if s.Spans != nil {
		heads = append(heads, encoder.Head{Name: tokensHead, Output: s.Outputs.Tokens, Task: encoder.TokenClassification, Columns: len(s.Spans.Labels)})
	}
	return heads
}

// Label is one column of an output.
type Label struct {
	Name string `json:"name"` // the model's name for it
	// Attribute is what the column measures; nil if the column is not used.
	Attribute *toxscreen.Attribute `json:"attribute,omitempty"`
	// Scale is that of the column; empty for the guideline's.
	Scale toxscreen.Scale `json:"scale,omitempty"`
}

// Activation is how logits become probabilities.
type Activation string

// The activations.
const (
	Sigmoid Activation = "sigmoid" // labels are independent
	Softmax Activation = "softmax" // labels exclude each other
)

// SpanSpec says how to read the token head.
type SpanSpec struct {
	Labels []Label `json:"labels"`
	// Threshold in (0, 1) is the minimum probability for a word to be part of
	// a span.
	Threshold float64 `json:"threshold"`
	// Relative in [0, 1) is the share of the label's highest probability in the
	// text that a word must also reach: next to a word that nearly all raters
	// would mark, a word that only a few would mark is not marked.
	Relative float64 `json:"relative,omitempty"`
}

// Window says how a long text is divided. The log-odds of the text are those of its
// highest window, after the Correction.
type Window struct {
	Tokens     int        `json:"tokens"`  // in one window, including special tokens
	Overlap    int        `json:"overlap"` // maximum number of tokens shared with the previous window
	Correction Correction `json:"correction"`
}

func (w Window) encoder() encoder.Window {
	return encoder.Window{Tokens: w.Tokens, Overlap: w.Overlap}
}

// Correction lowers the highest log-odds of a text's windows by their number: the more
// harmless windows there are, the higher the highest one is. A strong passage is no
// accident and needs no correction.
type Correction struct {
	Slope float64 `json:"slope"` // 0 or more, per ln(windows); 0 leaves the plain maximum
	Until float64 `json:"until"` // log-odds over 0 from which on nothing is subtracted
}

// Apply returns the log-odds of a text from those of its highest window: Slope·ln(windows)
// is subtracted in full up to log-odds of 0, not at all from Until on, and in part
// between them. One window is not corrected. The result never falls as odds rise.
func (c Correction) Apply(odds float64, windows int) float64 {
	part := min(max((c.Until-odds)/c.Until, 0), 1)
	return odds - c.Slope*math.Log(float64(windows))*part
}

func (c Correction) validate() error {
	switch {
	case c == Correction{}:
		return errors.New("window.correction: missing: it needs slope and until")
	case !(c.Slope >= 0) || math.IsInf(c.Slope, 1):
		return fmt.Errorf("window.correction.slope: %v is not a finite number of 0 or more", c.Slope)
	case !(c.Until > 0) || math.IsInf(c.Until, 1):
		return fmt.Errorf("window.correction.until: %v is not a finite number over 0", c.Until)
	}
	return nil
}

// Calibration is a non-decreasing, piecewise-linear map from a logit to the
// log-odds of the calibrated probability. Its first and last pieces extend
// beyond the knots. Two knots are Platt scaling.
type Calibration struct {
	Knots [][2]float64 `json:"knots"` // [logit, log-odds], by rising logit
}

// Apply returns the calibrated log-odds of a logit.
func (c Calibration) Apply(logit float64) float64 {
	i := 1 // of the knot that ends the piece
	for i < len(c.Knots)-1 && logit > c.Knots[i][0] {
		i++
	}
	from, to := c.Knots[i-1], c.Knots[i]
	return from[1] + (logit-from[0])*(to[1]-from[1])/(to[0]-from[0])
}

// Exit is a place where a harmless window may leave the network, so that the layers behind it
// need not run. Its JSON form is part of a model's manifest.
type Exit struct {
	// Layer is the number of the network's layers before the exit. It is for people and has
	// no effect.
	Layer int `json:"layer"`
	// Output is the exit's own opinion: logits, float32 [windows, labels + 1], with the labels of
	// the guideline's scale. The last column is its doubt: the log-odds that the text does not
	// surely stay below all thresholds.
	Output string `json:"output"`
	// Hidden is what the exit and the rest of the network take, float32 [windows, tokens, Width].
	Hidden string `json:"hidden"`
	Width  int    `json:"width"`
	// Doubt is the highest doubt with which a window leaves.
	Doubt float64 `json:"doubt"`
	// Calibration corrects the other columns, as Spec.Calibration corrects the logits of the
	// whole network.
	Calibration map[toxscreen.Attribute]Calibration `json:"calibration,omitempty"`

	// Stage is the file of the layers from the exit before, or from the inputs, up to this
	// exit. Model is the file of the exit itself, which takes Hidden. Like Config.Model, both
	// must not change before Close.
	Stage, Model []byte `json:"-"`
}

// ValidateExits reports everything that makes exits unusable for a network with this spec.
func (s Spec) ValidateExits(exits []Exit) error {
	var found []error
	layer := -1
	for i, e := range exits {
		wrong := func(format string, args ...any) {
			found = append(found, fmt.Errorf("exits[%d].%w", i, fmt.Errorf(format, args...)))
		}
		if e.Layer <= layer {
			wrong("layer: %d does not follow %d", e.Layer, layer)
		}
		layer = e.Layer
		if e.Output == "" {
			wrong("output: missing")
		}
		if e.Hidden == "" {
			wrong("hidden: missing")
		}
		if e.Width < 1 || e.Width > 1<<16 {
			wrong("width: %d is not in 1..65536", e.Width)
		}
		if math.IsNaN(e.Doubt) || math.IsInf(e.Doubt, 0) {
			wrong("doubt: %v is not finite", e.Doubt)
		}
		if err := s.validateCalibrations(e.Calibration, ""); err != nil {
			wrong("%w", err)
		}
	}
	return errors.Join(found...)
}

// Validate reports everything that makes a spec unusable.
func (s Spec) Validate() error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	found = append(found, encoder.ValidateInputs(s.Inputs))
	if s.Outputs.Scores == "" {
		wrong("outputs: scores is missing")
	}
	if (s.Spans == nil) != (s.Outputs.Tokens == "") {
		wrong("outputs.tokens and spans must be given together: one of them is missing")
	}
	found = append(found, s.validateLabels(""), s.validateScales())
	switch s.Activation {
	case Sigmoid:
	case Softmax:
		if len(s.Labels) < 2 {
			wrong("activation: softmax needs two labels or more")
		}
	default:
		wrong("activation: unknown %q: it must be sigmoid or softmax", s.Activation)
	}
	if s.Spans != nil {
		if len(attributesOf(s.Spans.Labels, "")) == 0 {
			wrong("spans.labels: at least one must have an attribute")
		}
		if slices.ContainsFunc(s.Spans.Labels, func(l Label) bool { return l.Scale != "" }) {
			wrong("spans.labels: spans have no scale")
		}
		if !(s.Spans.Threshold > 0 && s.Spans.Threshold < 1) {
			wrong("spans.threshold: %v is not between 0 and 1", s.Spans.Threshold)
		}
		if !(s.Spans.Relative >= 0 && s.Spans.Relative < 1) {
			wrong("spans.relative: %v is not at least 0 and less than 1", s.Spans.Relative)
		}
	}
	found = append(found, s.Window.encoder().Validate(), s.Window.Correction.validate())
	found = append(found, s.validateCalibrations(s.Calibration, ""))
	return errors.Join(found...)
}

// validateLabels reports everything that is wrong with the labels of a scale.
func (s Spec) validateLabels(scale toxscreen.Scale) error {
	var found []error
	on := ""
	if scale != "" {
		on = fmt.Sprintf(" on the scale %s", scale)
	}
	measured := attributesOf(s.Labels, scale)
	if !slices.Contains(measured, toxscreen.Toxicity) {
		found = append(found, fmt.Errorf("labels: toxicity is missing%s: every score is made from it", on))
	}
	for i, a := range measured {
		if slices.Contains(measured[:i], a) {
			found = append(found, fmt.Errorf("labels: two have the attribute %s%s", a, on))
		}
	}
	return errors.Join(found...)
}

// validateScales reports everything that is wrong with the other scales and their labels.
func (s Spec) validateScales() error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	for i, l := range s.Labels {
		if _, ok := s.Scales[l.Scale]; l.Scale != "" && !ok {
			wrong("labels[%d].scale: %q is not among scales", i, l.Scale)
		}
		if i > 0 && l.Scale == "" && s.Labels[i-1].Scale != "" {
			wrong("labels[%d]: those of the guideline's scale must come first", i)
		}
	}
	for _, scale := range slices.Sorted(maps.Keys(s.Scales)) {
		if _, err := toxscreen.ParseScale(string(scale)); err != nil || scale.IsGuideline() {
			wrong("scales: unknown key %q: it must be %s", scale, toxscreen.PerspectiveScale)
			continue
		}
		found = append(found, s.validateLabels(scale))
		if err := s.validateCalibrations(s.Scales[scale].Calibration, scale); err != nil {
			wrong("scales.%s: %w", scale, err)
		}
	}
	if len(s.Scales) > 0 && s.Activation == Softmax {
		wrong("activation: softmax has one scale only: labels exclude each other")
	}
	return errors.Join(found...)
}

// exitColumns returns the number of columns of an exit's output.
func (s Spec) exitColumns() int {
	columns := 1 // the doubt
	for _, l := range s.Labels {
		if l.Scale == "" {
			columns++
		}
	}
	return columns
}

func (s Spec) validateCalibrations(calibrations map[toxscreen.Attribute]Calibration, scale toxscreen.Scale) error {
	var found []error
	for a, c := range calibrations {
		if !slices.Contains(attributesOf(s.Labels, scale), a) {
			found = append(found, fmt.Errorf("calibration: %s is not among the labels", a))
		}
		if err := c.validate(); err != nil {
			found = append(found, fmt.Errorf("calibration of %s: %w", a, err))
		}
	}
	return errors.Join(found...)
}

func (c Calibration) validate() error {
	if len(c.Knots) < 2 {
		return fmt.Errorf("%s given, at least two needed", plural.Count(len(c.Knots), "knot", "knots"))
	}
	for i, knot := range c.Knots {
		if math.IsNaN(knot[0]+knot[1]) || math.IsInf(knot[0]+knot[1], 0) {
			return fmt.Errorf("knot %d is not finite", i)
		}
		if i > 0 && !(knot[0] > c.Knots[i-1][0] && knot[1] >= c.Knots[i-1][1]) {
			return fmt.Errorf("knot %d does not rise: a calibration must not reverse the order of two texts", i)
		}
	}
	return nil
}

// attributesOf returns the attributes of the labels on a scale that have one, in label
// order.
func attributesOf(labels []Label, scale toxscreen.Scale) []toxscreen.Attribute {
	var measured []toxscreen.Attribute
	for _, l := range labels {
		if l.Attribute != nil && l.Scale == scale {
			measured = append(measured, *l.Attribute)
		}
	}
	return measured
}
