// Package labelled reads results of package rows with labels of people. Fusion parameters
// are fitted to them.
package labelled

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/input"
)

// Results are the results of texts, with the labels that people gave to the texts.
type Results struct {
	Rows       []toxscreen.Labelled
	Model      string           // model that scored the texts
	Thresholds toxscreen.Scores // thresholds of the results
}

// Labels are the fields that [Read] reads from [rows.Row].Input.
type Labels struct {
	// Labels has, for each labelled attribute, the share in 0..1 of people who say that the
	// text has the attribute.
	Labels *toxscreen.Scores `json:"labels,omitempty"`
	// Weight is the number of texts in the traffic that the row represents; nil means 1.
	Weight *float64 `json:"weight,omitempty"`
	// LabelSets is the number of label sets whose mean Labels is, or 0 if it is unknown.
	LabelSets int `json:"label_sets,omitempty"`
}

// New returns the result of a text with its labels. id identifies the text: rows with the
// same id have the same text. text may be empty if it is unknown.
func New(id, text string, result toxscreen.Result, labels Labels) rows.Result {
	result.ID = "" // the id is that of the row
	r := rows.Result{ID: plainjson.Append(nil, id), Value: result, Input: plainjson.Append(nil, labels)}
	if text != "" {
		r.Text = &text
	}
	return r
}

// longestLine is the limit of a line of results in bytes. It is enough for a text of
// 1 MiB and its spans.
const longestLine = 64 << 20

// Read reads results in JSONL, as a [rows.Job] writes them, from the file at path, or from
// stdin if path is [rows.Standard]. The labels come from the input rows, see [Labels]. All
// results must be of one model. A line may have up to 64 MiB. The error names the line.
func Read(path string, stdin io.Reader) (Results, error) {
	var all Results
	in, name := stdin, "standard input"
	if path != rows.Standard {
		file, err := os.Open(path)
		if err != nil {
			return all, fmt.Errorf("failed to read labelled rows: %w", err)
		}
		defer file.Close()
		in, name = file, path
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := all.add(lines.Bytes(), number); err != nil {
			return all, fmt.Errorf("failed to read labelled rows: %s: line %d: %w", name, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return all, fmt.Errorf("failed to read labelled rows: %s: %w", name, err)
	}
	if len(all.Rows) == 0 {
		return all, fmt.Errorf("failed to read labelled rows: %s contains none: score rows with labels with `toxscreen batch`, and pass its JSONL output", name)
	}
	return all, nil
}

// add parses a line and adds its row.
func (all *Results) add(encoded []byte, number int) error {
	var line rows.Result
	if err := plainjson.Unmarshal(encoded, &line); err != nil {
		return err
	}
	r := line.Value
	var said Labels
	if line.Input != nil {
		if err := plainjson.Unmarshal(line.Input, &said); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	switch {
	case line.Error != "":
		return fmt.Errorf("the row failed: %s; remove it", line.Error)
	case len(r.Attributes) == 0:
		return errors.New("it is not a result: score rows with labels with `toxscreen batch`, and pass its JSONL output")
	case r.Exit > 0:
		return errors.New("it left the network early, so its scores are estimates that nothing can be fitted on: score the rows with `toxscreen batch --full`")
	case said.Labels == nil:
		return errors.New(`it has no labels: rows of batch's input need an object like "labels": {"toxicity": 1}`)
	case !r.Versions.Scale.IsGuideline():
		return fmt.Errorf("it was scored on the scale %s, and fusion parameters belong to the scale %s: score the rows on that", r.Versions.Scale, toxscreen.GuidelineScale)
	case all.Model == "":
		all.Model = r.Versions.Model
	case all.Model != r.Versions.Model:
		return fmt.Errorf("it was scored by %s, earlier lines by %s: fusion parameters are for one model", r.Versions.Model, all.Model)
	}
	row := toxscreen.Labelled{
		Name: fmt.Sprintf("line %d", number), Labels: *said.Labels, Weight: 1, Seconds: r.Judge.Milliseconds / 1000,
		Found: toxscreen.Classification{Spans: r.Spans},
	}
	if id := input.IDText(line.ID); id != "" && id != "null" {
		row.Name = id
	}
	if line.Text != nil && *line.Text != "" {
		row.Name = *line.Text
	}
	if said.Weight != nil {
		row.Weight = *said.Weight
	}
	for a, measured := range r.Attributes {
		row.Found.Scores.Set(a, float64(measured.Classifier))
		if measured.Plain != nil {
			row.Found.Plain.Set(a, float64(*measured.Plain))
		}
		all.Thresholds.Set(a, float64(measured.Threshold))
	}
	if len(r.Judge.Verdicts) > 0 {
		row.Verdict = &r.Judge.Verdicts[0]
	}
	all.Rows = append(all.Rows, row)
	return nil
}

// Prior returns the share, in 0..1, of toxic texts among the texts with a label for
// toxicity, by their weights. ok is false if no text has such a label.
func (all *Results) Prior() (prior float64, ok bool) {
	toxic, clean, _ := all.weights()
	return toxic / (toxic + clean), toxic+clean > 0
}

// SetPrior scales the weights so that the share prior, between 0 and 1, of the texts with a
// label for toxicity is toxic. It fails unless there are both toxic and clean texts.
func (all *Results) SetPrior(prior float64) error {
	toxic, clean, rows := all.weights()
	if toxic == 0 || clean == 0 {
		return fmt.Errorf("failed to weight rows: the weight of toxic rows is %v, of clean rows %v: both are needed", toxic, clean)
	}
	for i, row := range all.Rows {
		switch isToxic, labelled := toxicity(row); {
		case !labelled:
		case isToxic:
			all.Rows[i].Weight *= prior * float64(rows) / toxic
		default:
			all.Rows[i].Weight *= (1 - prior) * float64(rows) / clean
		}
	}
	return nil
}

// weights returns the sums of the weights of toxic and of clean texts, and the number of
// all these texts.
func (all *Results) weights() (toxic, clean float64, rows int) {
	for _, row := range all.Rows {
		isToxic, labelled := toxicity(row)
		if !labelled {
			continue
		}
		if rows++; isToxic {
			toxic += row.Weight
		} else {
			clean += row.Weight
		}
	}
	return toxic, clean, rows
}

// toxicity reports whether the label of a text says that it is toxic, and whether it has
// one.
func toxicity(row toxscreen.Labelled) (toxic, labelled bool) {
	y, labelled := row.Labels.Get(toxscreen.Toxicity)
	return y >= 0.5, labelled
}
