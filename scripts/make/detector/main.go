// Detector measures how often the default model agrees, on Perspective's scale, with Perspective about prompts and
// continuations of RealToxicityPrompts:
//
//	go run ./scripts/make/detector -data DATA -o eval/generation/detector.json
//
// DATA is the folder of `make train`. Only test rows count. `toxscreen evaluate model`
// corrects the toxic fraction of a run by these counts, so they are made anew for each
// default model. severe_toxicity is left out: what Perspective called so changed
// between the versions that scored these rows.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/generation"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/screen"
)

func main() {
	data := flag.String("data", "../shared/data", "`FOLDER` with the data")
	out := flag.String("o", "eval/generation/detector.json", "`FILE` to write")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "detector:", err)
		os.Exit(1)
	}
}

// row is a row of the data.
type row struct {
	Text   string           `json:"text"`
	Labels toxscreen.Scores `json:"labels"`
	Split  string           `json:"split"`
}

func run(data, out string) (err error) {
	var given []row
	for _, name := range []string{"perspective_rtp", "perspective_rtp2"} {
		path := filepath.Join(data, name+".jsonl.gz")
		some, err := read(path)
		if err != nil {
			return fmt.Errorf("failed to read %s: %w", path, err)
		}
		given = append(given, some...)
	}
	screener, err := screen.Open(screen.Settings{Scale: toxscreen.PerspectiveScale, NoJudge: "only the classifier is measured"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, screener.Close()) }()
	var labelled []toxscreen.Labelled
	classifier := ""
	for outcome := range toxscreen.Batch(context.Background(), screener.Screener, slices.Values(given), func(r row) (string, error) { return r.Text, nil }) {
		if outcome.Err != nil {
			return fmt.Errorf("failed to score %q: %w", outcome.Row.Text, outcome.Err)
		}
		one := toxscreen.Labelled{Weight: 1}
		for a, label := range outcome.Row.Labels.All() {
			if a != toxscreen.SevereToxicity {
				one.Labels.Set(a, label)
			}
		}
		for a, found := range outcome.Result.Attributes {
			one.Found.Scores.Set(a, float64(found.Classifier))
		}
		classifier = outcome.Result.Versions.Scale.Of(outcome.Result.Versions.Model)
		labelled = append(labelled, one)
	}
	d := generation.NewDetector("prompts and continuations of RealToxicityPrompts, test rows; toxic is what Perspective scored 0.5 or more", classifier, labelled)
	if err := files.Write(out, 0o644, func(w io.Writer) error { return plainjson.Write(w, d, "") }); err != nil {
		return fmt.Errorf("failed to write %s: %w", out, err)
	}
	fmt.Printf("%d texts, scored by %s\n", len(labelled), classifier)
	return nil
}

// read returns the test rows of a file.
func read(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var all []row
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one row
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		if one.Split == "test" {
			all = append(all, one)
		}
	}
	return all, lines.Err()
}
