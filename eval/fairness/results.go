package fairness

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// Results are what a run measured, with what.
type Results struct {
	Settings

	Warnings []string `json:"warnings"`
	// Groups and Intersections are measured on different texts if Templates is true, else on
	// the same. Intersections is nil if no text is about two groups.
	Groups        Grid  `json:"groups"`
	Intersections *Grid `json:"intersections,omitempty"`
	// Intervals is the number of intervals of 95 % in the results, and Missed how many of them would miss
	// the true value by chance.
	Intervals int     `json:"intervals"`
	Missed    float64 `json:"missed_by_chance"`
}

// Settings say what was measured, with what.
type Settings struct {
	Source    string              `json:"source"`
	Templates bool                `json:"templates"` // the embedded ones
	Sentences int                 `json:"sentences"` // of the templates, from which the texts were drawn; 0 for rows
	Attribute toxscreen.Attribute `json:"attribute"`
	Threshold float64             `json:"threshold"` // a text at or over it is flagged
	MinSize   int                 `json:"min_size"`  // units that a measure needs of each kind
	Seed      uint64              `json:"seed"`      // of the resamples
	Model     string              `json:"model"`
	// Use, Misuse and Data are what the model's manifest says that it is for, what it is not
	// for, and what it was trained on; empty if it does not say.
	Use         string   `json:"use,omitempty"`
	Misuse      string   `json:"misuse,omitempty"`
	Data        []string `json:"training_data,omitempty"`
	Calibration string   `json:"calibration"`
	Toxscreen   string   `json:"toxscreen"`
}

// Measure measures the groups of texts and the intersections of others, which may be the
// same texts. It returns an error if there are no texts, if all have the same score, or if
// every group is too small.
func Measure(s Settings, groups, intersections []Text) (Results, error) {
	r := Results{Settings: s, Warnings: []string{}}
	var err error
	if r.Groups, err = newGrid(groups, func(t Text) []string { return t.Groups }, s); err != nil {
		return r, err
	}
	if len(r.Groups.Groups) == 0 {
		return r, tooSmall(r.Groups.TooSmall, s.MinSize)
	}
	for _, text := range intersections {
		if len(text.Intersections) == 0 {
			continue
		}
		crossed, err := newGrid(intersections, func(t Text) []string { return t.Intersections }, s)
		if err != nil {
			return r, err
		}
		r.Intersections = &crossed
		r.Intervals = crossed.intervals()
		break
	}
	r.Intervals += r.Groups.intervals()
	r.Missed = 0.05 * float64(r.Intervals)
	if class := map[int]string{0: "toxic", r.Groups.Texts: "clean"}[r.Groups.Toxic]; class != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no text is labelled %s: what needs toxic and clean texts is not measured", class))
	}
	if s.Templates && slices.Contains(s.Data, "madlibs") {
		r.Warnings = append(r.Warnings, "this model was trained on madlibs, sentences of the same origin as these templates: the templates flatter it; measure texts of people with -i")
	}
	if s.Templates && s.Attribute != toxscreen.Toxicity {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the templates are labelled for toxicity only: an insult that is no %s counts as a toxic text all the same", s.Attribute))
	}
	return r, nil
}

// tooSmall is the error for groups that are all too small.
func tooSmall(groups []Size, least int) error {
	if len(groups) == 0 {
		return errors.New("failed to measure fairness: no text is about a group")
	}
	largest := groups[0]
	for _, g := range groups {
		if g.Toxic+g.Clean > largest.Toxic+largest.Clean {
			largest = g
		}
	}
	return fmt.Errorf("failed to measure fairness: every group is too small: a measure needs %d toxic or clean texts of a group, and as many of others; the largest group, %s, has %d toxic and %d clean; take more texts, or lower --min-size",
		least, largest.Name, largest.Toxic, largest.Clean)
}
