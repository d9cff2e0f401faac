package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// scored writes results like batch for labelled rows, each with a verdict of a judge
// that is right nine times out of ten.
func scored(t *testing.T, file string, rows int, change func(i int, line map[string]any)) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range rows {
		x := -2 + 2.5*rng.NormFloat64()
		p, label := 1/(1+math.Exp(-x)), 0.0
		if rng.Float64() < p {
			label = 1
		}
		yes := 0.05
		if (label == 1) != (rng.Float64() < 0.1) {
			yes = 0.95
		}
		line := map[string]any{
			"id": fmt.Sprint(i), "score": p, "spans": []any{map[string]any{"start": 0, "end": 1, "attributes": map[string]any{}}},
			"attributes": map[string]any{"toxicity": map[string]any{"score": p, "classifier": p, "threshold": 0.5}},
			"judge": map[string]any{"asked": true, "milliseconds": 2000, "verdicts": []any{map[string]any{
				"model": "some-model@0123456789ab", "rubric": "attributes@1", "input_tokens": 900, "output_tokens": 100,
				"aspects": []any{map[string]any{"name": "toxicity", "attribute": "toxicity", "yes": yes > 0.5, "p_yes": yes}},
			}}},
			"versions": map[string]any{"model": "tiny@1.0.0 sha256:0123456789ab"},
			"input":    map[string]any{"labels": map[string]any{"toxicity": label}},
		}
		if change != nil {
			change(i, line)
		}
		if err := enc.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// command runs a command line and returns its exit code and output.
func command(t *testing.T, args ...string) (code int, out, errors string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, stdio{strings.NewReader(""), &stdout, &stderr})
	return code, stdout.String(), stderr.String()
}

func TestCalibrateFitsAndTellsWhatChanged(t *testing.T) {
	library := runtimeLibrary(t)
	in, folder := scored(t, "scored.jsonl", 1500, nil), t.TempDir()
	file, plots := filepath.Join(folder, "fusion.json"), filepath.Join(folder, "plots")
	code, out, errors := command(t, "calibrate", "-i", in, "-o", file, "--budget", "0.3", "--budget-texts", "1000", "--plots", plots)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errors)
	}
	for _, want := range []string{
		`^the share of toxic texts is taken to be 25\.5 %, as among the labels; set that of your traffic with --prior\n1500 rows, 1500 with a verdict, scored by tiny@1\.0\.0 sha256:0123456789ab\n`,
		`\n  the classifier is not corrected \(cross-validated log loss 0\.\d+ before, 0\.\d+ after correction\)\n`,
		`\n  the judge, on \d+ toxic and \d+ clean texts between 0\.\d\d and 0\.\d\d, counts: true positive rate (8|9)\d %, false positive rate \d+ %`,
		`\na verdict is worth its cost for \d+\.\d % of the texts: .* at most 30 % of 1000 texts are judged`,
		`\na verdict took 2 s and 1000 tokens on average\n`,
		`fusion\.json, sha256:[0-9a-f]{12}: use it with --calibration\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	for _, name := range []string{"reliability-toxicity.svg", "escalation.svg"} {
		if data, err := os.ReadFile(filepath.Join(plots, name)); err != nil || !bytes.Contains(data, []byte("<svg")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An existing file is not replaced without --overwrite.
	if code, _, errors := command(t, "calibrate", "-i", in, "-o", file); code != 1 || !strings.Contains(errors, "--overwrite") {
		t.Errorf("exit code %d: %s", code, errors)
	}
	// Fusion parameters are only for the model whose scores they were fitted to.
	t.Setenv(encoder.LibraryEnv, library)
	if code, _, errors := command(t, "score", "-m", tinyModel(t), "--calibration", file, "idiot"); code != 1 || !strings.Contains(errors, "fitted to the scores of tiny@1.0.0 sha256:0123456789ab, but the model in use is") {
		t.Errorf("exit code %d: %s", code, errors)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	whole := scored(t, "scored.jsonl", 300, nil)
	for name, c := range map[string]struct {
		args []string
		want string
		code int
	}{
		"no input":                      {[]string{"-o", "x"}, "the input is missing", 2},
		"no output":                     {[]string{"-i", whole}, "the output is missing", 2},
		"half a pair of prices":         {[]string{"-i", whole, "-o", "x", "--price-miss", "2"}, "belong together", 2},
		"a budget that is not a share":  {[]string{"-i", whole, "-o", "x", "--budget", "15"}, "--budget: 15 is not a share in 0..1", 2},
		"seconds of no number of texts": {[]string{"-i", whole, "-o", "x", "--seconds-a-minute", "5"}, "need --texts-a-minute", 2},
		"too few rows":                  {[]string{"-i", scored(t, "few.jsonl", 50, nil), "-o", "x"}, "toxicity: 50 rows are too few, effectively", 1},
		"too few verdicts": {[]string{"-i", scored(t, "few_verdicts.jsonl", 300, func(i int, line map[string]any) {
			if i > 50 {
				delete(line, "judge")
			}
		}), "-o", "x"}, "of each class\njudge more texts with --judge-trust none --judge-band 0.05-0.95\n", 1},
		"rows without labels": {[]string{"-i", scored(t, "bare.jsonl", 5, func(_ int, line map[string]any) { delete(line, "input") }), "-o", "x"},
			`bare.jsonl: line 1: it has no labels: rows of batch's input need an object like "labels": {"toxicity": 1}`, 1},
		"rows of two models": {[]string{"-i", scored(t, "two.jsonl", 5, func(i int, line map[string]any) {
			line["versions"] = map[string]any{"model": fmt.Sprintf("tiny@%d.0.0", 1+i/3)}
		}), "-o", "x"}, "two.jsonl: line 4: it was scored by tiny@2.0.0, earlier lines by tiny@1.0.0", 1},
		"a row that failed": {[]string{"-i", scored(t, "failed.jsonl", 5, func(i int, line map[string]any) {
			if i == 2 {
				line["error"] = "text too long"
			}
		}), "-o", "x"}, "failed.jsonl: line 3: the row failed: text too long", 1},
		"nothing": {[]string{"-i", scored(t, "empty.jsonl", 0, nil), "-o", "x"}, "contains none", 1},
	} {
		code, _, errors := command(t, append([]string{"calibrate"}, c.args...)...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d", name, code, c.code)
		}
		if !strings.Contains(errors, c.want) {
			t.Errorf("%s: %q, want %q", name, errors, c.want)
		}
	}
}
