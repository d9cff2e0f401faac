package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toxscreen/toxscreen"
)

// labelledRows are results with what people say of the texts.
type labelledRows struct {
	rows       []toxscreen.Labelled
	model      string           // that scored them
	thresholds toxscreen.Scores // that they were flagged from
}

// labelledLine is one line of what batch writes of rows that have labels.
type labelledLine struct {
	toxscreen.Result
	Error string `json:"error"`
	Text  string `json:"text"`
	Input struct {
		Labels *toxscreen.Scores `json:"labels"`
		Weight *float64          `json:"weight"`
	} `json:"input"`
}

// longestLine is the limit of a line of results in bytes: a text of 1 MiB and
// its spans have room.
const longestLine = 64 << 20

// readLabelled reads results in JSONL as batch writes them. The labels are those
// that the rows of its input had: an object from attributes to shares of people
// in 0..1 under "labels", and if there is one a number under "weight".
func readLabelled(path string, stdin io.Reader) (labelledRows, error) {
	var all labelledRows
	in := stdin
	if path != standard {
		file, err := os.Open(path)
		if err != nil {
			return all, fmt.Errorf("failed to read labelled rows: %w", err)
		}
		defer file.Close()
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := all.add(lines.Bytes(), number); err != nil {
			return all, fmt.Errorf("failed to read labelled rows: %s: line %d: %w", inputName(path), number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return all, fmt.Errorf("failed to read labelled rows: %s: %w", inputName(path), err)
	}
	if len(all.rows) == 0 {
		return all, fmt.Errorf("failed to read labelled rows: %s holds none: give rows with labels to `toxscreen batch`, and its JSONL to this", inputName(path))
	}
	return all, nil
}

func (all *labelledRows) add(data []byte, number int) error {
	var line labelledLine
	if err := json.Unmarshal(data, &line); err != nil {
		return err
	}
	switch {
	case line.Error != "":
		return fmt.Errorf("the row failed: %s; leave it out", line.Error)
	case len(line.Attributes) == 0:
		return errors.New("it is no result: give rows with labels to `toxscreen batch`, and its JSONL to this")
	case line.Input.Labels == nil:
		return errors.New(`it has no labels: rows of batch's input need an object like "labels": {"toxicity": 1}`)
	case all.model == "":
		all.model = line.Versions.Model
	case all.model != line.Versions.Model:
		return fmt.Errorf("it was scored by %s, the lines before by %s: parameters are for one model", line.Versions.Model, all.model)
	}
	row := toxscreen.Labelled{
		Name: line.Text, Labels: *line.Input.Labels, Weight: 1, Seconds: line.Judge.Milliseconds / 1000,
		Found: toxscreen.Classification{Spans: line.Spans},
	}
	if row.Name == "" {
		row.Name = line.ID
	}
	if row.Name == "" {
		row.Name = fmt.Sprintf("line %d", number)
	}
	if line.Input.Weight != nil {
		row.Weight = *line.Input.Weight
	}
	for a, measured := range line.Attributes {
		row.Found.Scores.Set(a, float64(measured.Classifier))
		if measured.Plain != nil {
			row.Found.Plain.Set(a, float64(*measured.Plain))
		}
		all.thresholds.Set(a, float64(measured.Threshold))
	}
	if len(line.Judge.Verdicts) > 0 {
		row.Verdict = &line.Judge.Verdicts[0]
	}
	all.rows = append(all.rows, row)
	return nil
}

// withPrior scales the weights so that a share of the texts is toxic, of those
// with a label of it.
func (all labelledRows) withPrior(prior float64) error {
	var weights [2]float64
	kind := func(row toxscreen.Labelled) int {
		if y, _ := row.Labels.Get(toxscreen.Toxicity); y >= 0.5 {
			return 1
		}
		return 0
	}
	for _, row := range all.rows {
		weights[kind(row)] += row.Weight
	}
	if weights[0] == 0 || weights[1] == 0 {
		return fmt.Errorf("failed to weigh rows: %v of toxic and %v of clean rows: both are needed", weights[1], weights[0])
	}
	n := float64(len(all.rows))
	for i, row := range all.rows {
		share := 1 - prior
		if kind(row) == 1 {
			share = prior
		}
		all.rows[i].Weight *= share * n / weights[kind(row)]
	}
	return nil
}
