package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// Sensitivity says how readily texts are flagged. Each has its own thresholds in the manifest
// of a model, chosen on ordinary text. An empty Sensitivity is medium.
type Sensitivity string

// The values of [Sensitivity]. If a manifest has thresholds for all of them, they say how many
// of 1,000 ordinary texts are harmless and flagged.
const (
	SensitivityLow    Sensitivity = "low"    // about 1
	SensitivityMedium Sensitivity = "medium" // about 3: the default
	SensitivityHigh   Sensitivity = "high"   // about 15
)

// Sensitivities returns all sensitivities, the lowest first.
func Sensitivities() []Sensitivity {
	return []Sensitivity{SensitivityLow, SensitivityMedium, SensitivityHigh}
}

// ParseSensitivity reads a sensitivity by its name.
func ParseSensitivity(name string) (Sensitivity, error) {
	if s := Sensitivity(name); slices.Contains(Sensitivities(), s) {
		return s, nil
	}
	return "", fmt.Errorf("unknown sensitivity %q: it must be low, medium or high", name)
}

// ThresholdsAt returns the thresholds for a sensitivity on a scale. It is an error if the manifest
// has none.
func (m Manifest) ThresholdsAt(scale toxscreen.Scale, s Sensitivity) (toxscreen.Scores, error) {
	medium := s == "" || s == SensitivityMedium
	if !scale.IsGuideline() {
		other, ok := m.Scales[scale]
		switch {
		case !ok:
			return toxscreen.Scores{}, fmt.Errorf("failed to apply scale %s: model %s has only the scale %s: use that, or another model, such as the default one", scale, m.Identity(), toxscreen.GuidelineScale)
		case !medium:
			return toxscreen.Scores{}, fmt.Errorf("failed to apply sensitivity %s: it belongs to the scale %s, not to %s; set your own thresholds with --threshold, or thresholds in the configuration", s, toxscreen.GuidelineScale, scale)
		}
		return other.Thresholds, nil
	}
	if medium {
		return m.Thresholds, nil
	}
	thresholds, ok := m.Sensitivity[s]
	if !ok {
		return thresholds, fmt.Errorf("failed to apply sensitivity %s: model %s has no thresholds for it; set your own with --threshold, or thresholds in the configuration", s, m.Identity())
	}
	return thresholds, nil
}

// validateSensitivity reports everything that makes Sensitivity unusable.
func (m Manifest) validateSensitivity() error {
	if m.Sensitivity == nil {
		return nil
	}
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf("sensitivity"+format, args...)) }
	others := []Sensitivity{SensitivityLow, SensitivityHigh}
	for _, s := range slices.Sorted(maps.Keys(m.Sensitivity)) {
		if !slices.Contains(others, s) {
			wrong(": unknown key %q: it must be low or high", s)
		}
	}
	for _, s := range others {
		if thresholds, ok := m.Sensitivity[s]; ok {
			found = append(found, m.validateThresholds("sensitivity."+string(s), "", thresholds))
		} else {
			wrong(".%s: missing", s)
		}
	}
	for a, medium := range m.Thresholds.All() {
		if low, ok := m.Sensitivity[SensitivityLow].Get(a); ok && low < medium {
			wrong(".low: %v for %s must be at least %v, as in thresholds", low, a, medium)
		}
		if high, ok := m.Sensitivity[SensitivityHigh].Get(a); ok && high > medium {
			wrong(".high: %v for %s must be at most %v, as in thresholds", high, a, medium)
		}
	}
	return errors.Join(found...)
}
