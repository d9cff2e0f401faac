package toxscreen

import "fmt"

// Scale says what the numbers of a model mean. A model has the guideline's scale and may have others,
// each with scores, thresholds and calibration of its own: a score on one scale says nothing on another.
// An empty Scale is [GuidelineScale].
type Scale string

// The scales.
const (
	// GuidelineScale has the scores as [Result] describes them, by docs/model/guideline.md.
	GuidelineScale Scale = "guideline"
	// PerspectiveScale has scores like those that Google's Perspective API gave to the same texts.
	PerspectiveScale Scale = "perspective"
)

// Scales returns all scales.
func Scales() []Scale { return []Scale{GuidelineScale, PerspectiveScale} }

// ParseScale reads a scale by its name.
func ParseScale(name string) (Scale, error) {
	switch s := Scale(name); s {
	case GuidelineScale, PerspectiveScale:
		return s, nil
	}
	return "", fmt.Errorf("unknown scale %q: it must be guideline or perspective", name)
}

// IsGuideline reports whether the scale is the guideline's.
func (s Scale) IsGuideline() bool { return s == "" || s == GuidelineScale }

// Of returns a name of a model together with the scale, unless that is the guideline's. Scores are
// comparable if it is the same.
func (s Scale) Of(model string) string {
	if s.IsGuideline() || model == "" {
		return model
	}
	return fmt.Sprintf("%s on the scale %s", model, s)
}
