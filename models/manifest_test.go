package models_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

const testModels = "../testdata/models/"

// manifestOf returns the text of a test model's manifest.
func manifestOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(testModels + name + "/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// read reads a manifest of the given text.
func read(text string) (models.Manifest, error) {
	return models.ReadManifest(fstest.MapFS{"manifest.json": {Data: []byte(text)}})
}

// TestReadManifest reads a manifest with every key.
func TestReadManifest(t *testing.T) {
	text := strings.Replace(manifestOf(t, "tiny"), `"thresholds"`, `"pad_id": 1, "calibration": {"threat": {"knots": [[-6, -5], [4, 3]]}}, "thresholds"`, 1)
	m, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{m.Name: "tiny", m.Version: "1.0.0", m.License: "Apache-2.0", m.Tokenizer: "tokenizer.json"} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(m.Files) != 2 {
		t.Errorf("got the files %v, want two", m.Files)
	}
	if len(m.Labels) != 7 {
		t.Fatalf("got %d labels, want 7", len(m.Labels))
	}
	if a := *m.Labels[5].Attribute; a != toxscreen.Threat {
		t.Errorf("the sixth label has the attribute %s, want threat", a)
	}
	if n := len(m.Spans.Labels); n != 5 {
		t.Errorf("got %d labels of spans, want 5", n)
	}
	if m.PadID != 1 {
		t.Errorf("got the padding token %d, want 1", m.PadID)
	}
	if m.Window != (classifier.Window{Tokens: 32, Overlap: 8, Correction: classifier.Correction{Slope: 0.25, Until: 3}}) {
		t.Errorf("got the window %+v", m.Window)
	}
	if threshold, ok := m.Thresholds.Get(toxscreen.Threat); !ok || threshold != 0.5 {
		t.Errorf("got the threshold %v, %v", threshold, ok)
	}
	if got := m.Calibration[toxscreen.Threat].Apply(4); got != 3 {
		t.Errorf("got %v from the calibration", got)
	}
	v, err := m.Variant(encoder.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	if v.Batching != encoder.Padded {
		t.Errorf("got the batching %s, want padded", v.Batching)
	}
	if v.Precision != "fp32" {
		t.Errorf("got the precision %s, want fp32", v.Precision)
	}
}

// TestManifestKeepsItsMeaning writes a manifest and reads it again.
func TestManifestKeepsItsMeaning(t *testing.T) {
	for _, name := range []string{"tiny", "tiny-exits", "tiny-scales", "tiny-no-spans"} {
		m, err := read(manifestOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		once, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = read(string(once)); err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, twice) {
			t.Errorf("%s changed:\n%s\n%s", name, once, twice)
		}
	}
}

// TestIdentity: results have the hash of the manifest, which contains all other
// hashes, so any change is visible.
func TestIdentity(t *testing.T) {
	text := manifestOf(t, "tiny")
	m, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := read(strings.Replace(text, `"threshold": 0.5`, `"threshold": 0.6`, 1))
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "tiny@1.0.0 sha256:"
	if id := m.Identity(); !strings.HasPrefix(id, prefix) || len(id) != len(prefix)+12 {
		t.Errorf("got %q", id)
	}
	if m.Identity() == changed.Identity() {
		t.Errorf("both are %q", m.Identity())
	}
}

// TestManifestErrors: each error names the key and the fault.
func TestManifestErrors(t *testing.T) {
	hash := "sha256:" + strings.Repeat("0", 64)
	for _, test := range []struct {
		name     string
		old, new string // of tiny's manifest
		want     string
	}{
		{"unknown key", `"license"`, `"licenses"`, `line 6: unknown key "licenses"`},
		{"unknown key inside", `"overlap"`, `"overlaps"`, `unknown key "overlaps"`},
		{"key given twice", `"version": "1.0.0",`, `"version": "1.0.0", "version": "2.0.0",`, `key "version" is given twice`},
		{"key given twice inside", `"overlap": 8,`, `"overlap": 8, "overlap": 9,`, `key "overlap" is given twice`},
		{"wrong type", `"overlap": 8`, `"overlap": "8"`, "window.overlap: a string instead of a int"},
		{"broken JSON", `"version": "1.0.0",`, `"version": "1.0.0"`, "line 5: invalid character"},
		{"format of the future", `"format": 1`, `"format": 2`, "format: 2 is not known to this version"},
		{"name", `"name": "tiny"`, `"name": "Tiny model"`, `name: "Tiny model" must be made of`},
		{"name of the embedded model", `"name": "tiny"`, `"name": "default"`, `name: "default" is reserved for an embedded model`},
		{"version", `"version": "1.0.0"`, `"version": "one"`, `version: "one" must be like 1.0.0`},
		{"no license", `"license": "Apache-2.0"`, `"license": ""`, "license: missing"},
		{"hash too short", `"tokenizer.json": "sha256:`, `"tokenizer.json": "sha256:00`, "is not a hash"},
		{"hash of another kind", `"tokenizer.json": "sha256:`, `"tokenizer.json": "md5:`, "is not a hash"},
		{"tokenizer not listed", `"tokenizer": "tokenizer.json"`, `"tokenizer": "other.json"`, `tokenizer: "other.json" is not among files`},
		{"variant not listed", `"file": "model.onnx"`, `"file": "model.int8.onnx"`, `variants[0].file: "model.int8.onnx" is not among files`},
		{"file above the folder", `"files": {`, `"files": {"../secret": "` + hash + `", `, `files: "../secret" must be the plain name of a file`},
		{"file by absolute path", `"files": {`, `"files": {"/etc/passwd": "` + hash + `", `, `files: "/etc/passwd" must be the plain name`},
		{"file by Windows path", `"files": {`, `"files": {"..\\secret": "` + hash + `", `, `must be the plain name`},
		{"parent folder", `"files": {`, `"files": {"..": "` + hash + `", `, `files: ".." must be the plain name`},
		{"the manifest itself", `"files": {`, `"files": {"manifest.json": "` + hash + `", `, `files: "manifest.json" must be the plain name`},
		{"unknown provider", `"provider": "cuda"`, `"provider": "tpu"`, `variants[1].provider: unknown provider "tpu"`},
		{"provider twice", `"provider": "cuda"`, `"provider": "cpu"`, `variants[1].provider: "cpu" already has a variant`},
		{"unknown precision", `"precision": "fp32"`, `"precision": "fp31"`, `precision: "fp31" must be one of fp32, fp16, int8, int4`},
		{"unknown batching", `"batching": "padded"`, `"batching": "some"`, `variants[1].batching: unknown batching "some": it must be single, bucketed or padded`},
		{"unknown attribute", `"attribute": "threat"`, `"attribute": "menace"`, `unknown attribute "menace"`},
		{"unknown input", `"attention_mask"`, `"position_ids"`, `unknown input "position_ids"`},
		{"unknown activation", `"sigmoid"`, `"relu"`, `activation: unknown "relu"`},
		{"correction under 0", `"slope": 0.25`, `"slope": -0.25`, "window.correction.slope: -0.25 is not a finite number of 0 or more"},
		{"correction of everything", `"until": 3`, `"until": 0`, "window.correction.until: 0 is not a finite number over 0"},
		{"window too small", `"tokens": 32`, `"tokens": 4`, "window.tokens: 4 is not in"},
		{"token head without spans", `"tokens": "token_logits"`, `"tokens": ""`, "outputs.tokens and spans must be given together"},
		{"no threshold for a label", `"threat": 0.5,`, ``, "thresholds: threat is missing"},
		{"threshold of 0", `"threat": 0.5,`, `"threat": 0,`, "thresholds: 0 for threat must be over 0 and at most 1"},
		{"threshold over 1", `"threat": 0.5,`, `"threat": 50,`, "thresholds: 50 for threat must be over 0"},
		{"threshold of null", `"threat": 0.5,`, `"threat": null,`, "threat is null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := manifestOf(t, "tiny")
			if !strings.Contains(text, test.old) {
				t.Fatalf("tiny's manifest has no %s", test.old)
			}
			_, err := read(strings.Replace(text, test.old, test.new, 1))
			wantError(t, err, "manifest.json", test.want)
		})
	}
}

// TestManifestErrorsOfExits: likewise for a network with exits.
func TestManifestErrorsOfExits(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new string // of the manifest of tiny-exits
		want     string
	}{
		{"stage not listed", `"stage": "stage-2.onnx"`, `"stage": "other.onnx"`, `variants[0].exits[1].stage: "other.onnx" is not among files`},
		{"exit not listed", `"file": "exit-1.onnx"`, `"file": ""`, "variants[0].exits[0].file: missing"},
		{"unknown key", `"doubt": -5.8`, `"doubts": -5.8`, `unknown key "doubts"`},
		{"layers go back", `"layer": 2`, `"layer": 1`, "variants[0].exits[1].layer: 1 does not follow 1"},
		{"no output", `"output": "exit_1"`, `"output": ""`, "variants[0].exits[0].output: missing"},
		{"nothing passed on", `"hidden": "hidden_1"`, `"hidden": ""`, "variants[0].exits[0].hidden: missing"},
		{"no width", `"width": 7`, `"width": 0`, "variants[0].exits[0].width: 0 is not in 1..65536"},
		{"a calibration that falls", `"doubt": -5.8`, `"doubt": -5.8, "calibration": {"threat": {"knots": [[0, 1], [1, 0]]}}`, "exits[0].calibration of threat: knot 1 does not rise"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := manifestOf(t, "tiny-exits")
			if !strings.Contains(text, test.old) {
				t.Fatalf("the manifest has no %s", test.old)
			}
			_, err := read(strings.Replace(text, test.old, test.new, 1))
			wantError(t, err, "manifest.json", test.want)
		})
	}
}

// TestSensitivity: a model has thresholds for each sensitivity, or for medium only. The error
// for another one names the model and what to do instead.
func TestSensitivity(t *testing.T) {
	m, err := read(manifestOf(t, "tiny-exits"))
	if err != nil {
		t.Fatal(err)
	}
	for sensitivity, want := range map[models.Sensitivity]float64{"": 0.5, models.SensitivityLow: 0.9, models.SensitivityMedium: 0.5, models.SensitivityHigh: 0.3} {
		thresholds, err := m.ThresholdsAt(toxscreen.GuidelineScale, sensitivity)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := thresholds.Get(toxscreen.Threat); got != want {
			t.Errorf("the threshold at %q is %v, want %v", sensitivity, got, want)
		}
	}
	bare, err := read(manifestOf(t, "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	if thresholds, err := bare.ThresholdsAt("", models.SensitivityMedium); err != nil || thresholds != bare.Thresholds {
		t.Errorf("medium is %v, %v", thresholds, err)
	}
	for _, sensitivity := range []models.Sensitivity{models.SensitivityLow, models.SensitivityHigh} {
		_, err := bare.ThresholdsAt("", sensitivity)
		wantError(t, err, "failed to apply sensitivity "+string(sensitivity), "model tiny@1.0.0 sha256:", "set your own with --threshold")
	}
}

// TestManifestErrorsOfSensitivity: thresholds that are missing or out of order would flag other
// texts than their name says.
func TestManifestErrorsOfSensitivity(t *testing.T) {
	refusesEdits(t, "tiny-exits", []manifestEdit{
		{"no low", `"low": {`, `"lowest": {`, "sensitivity.low: missing"},
		{"no high", `"high": {`, `"highest": {`, "sensitivity.high: missing"},
		{"unknown key", `"high": {`, `"highest": {`, `sensitivity: unknown key "highest": it must be low or high`},
		{"medium twice", `"low": {`, `"medium": {"toxicity": 0.5}, "low": {`, `sensitivity: unknown key "medium"`},
		{"no threshold for a label", `"threat": 0.9,`, ``, "sensitivity.low: threat is missing, but it is among the labels"},
		{"threshold of 0", `"threat": 0.3,`, `"threat": 0,`, "sensitivity.high: 0 for threat must be over 0 and at most 1"},
		{"threshold over 1", `"threat": 0.9,`, `"threat": 1.5,`, "sensitivity.low: 1.5 for threat must be over 0 and at most 1"},
		{"low under medium", `"threat": 0.9,`, `"threat": 0.4,`, "sensitivity.low: 0.4 for threat must be at least 0.5, as in thresholds"},
		{"high over medium", `"threat": 0.3,`, `"threat": 0.6,`, "sensitivity.high: 0.6 for threat must be at most 0.5, as in thresholds"},
	})
}

// manifestEdit is a change of a manifest: new in place of old, of which there is one, and what the
// error says.
type manifestEdit struct{ name, old, new, want string }

// refusesEdits checks that the changed manifests of a model are refused.
func refusesEdits(t *testing.T, model string, edits []manifestEdit) {
	t.Helper()
	for _, edit := range edits {
		t.Run(edit.name, func(t *testing.T) {
			text := manifestOf(t, model)
			if strings.Count(text, edit.old) != 1 {
				t.Fatalf("the manifest of %s has no %s, or more than one", model, edit.old)
			}
			_, err := read(strings.Replace(text, edit.old, edit.new, 1))
			wantError(t, err, "manifest.json", edit.want)
		})
	}
}

// TestScales: a model has thresholds of its own on each of its scales. Sensitivities belong to the
// guideline's.
func TestScales(t *testing.T) {
	m, err := read(manifestOf(t, "tiny-scales"))
	if err != nil {
		t.Fatal(err)
	}
	for scale, want := range map[toxscreen.Scale]float64{"": 0.5, toxscreen.GuidelineScale: 0.5, toxscreen.PerspectiveScale: 0.7} {
		thresholds, err := m.ThresholdsAt(scale, models.SensitivityMedium)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := thresholds.Get(toxscreen.Threat); got != want {
			t.Errorf("the threshold on %q is %v, want %v", scale, got, want)
		}
	}
	_, err = m.ThresholdsAt(toxscreen.PerspectiveScale, models.SensitivityHigh)
	wantError(t, err, "failed to apply sensitivity high: it belongs to the scale guideline, not to perspective", "set your own thresholds with --threshold")
	bare, err := read(manifestOf(t, "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = bare.ThresholdsAt(toxscreen.PerspectiveScale, "")
	wantError(t, err, "failed to apply scale perspective: model tiny@1.0.0 sha256:", "has only the scale guideline: use that, or another model")
}

// TestManifestErrorsOfScales: a column that is read on the wrong scale, or not at all, would be noticed
// by nobody.
func TestManifestErrorsOfScales(t *testing.T) {
	const last = `"attribute": "sexually_explicit",
      "scale": "perspective"`
	refusesEdits(t, "tiny-scales", []manifestEdit{
		{"unknown scale", `"scales": {
    "perspective"`, `"scales": {
    "other"`, `scales: unknown key "other": it must be perspective`},
		{"a label of no scale", last, strings.Replace(last, "perspective", "other", 1), `labels[13].scale: "other" is not among scales`},
		{"a label of the guideline's scale behind", last, `"attribute": "sexually_explicit"`, "labels[13]: those of the guideline's scale must come first"},
		{"an attribute twice", last, strings.Replace(last, "sexually_explicit", "threat", 1), "labels: two have the attribute threat on the scale perspective"},
		{"no threshold for a label", `"threat": 0.7,`, ``, "scales.perspective.thresholds: threat is missing, but it is among the labels"},
		{"threshold over 1", `"threat": 0.7,`, `"threat": 1.7,`, "scales.perspective.thresholds: 1.7 for threat must be over 0 and at most 1"},
		{"a calibration that falls", "4,\n              2\n", "4, -3", "scales.perspective: calibration of toxicity: knot 1 does not rise"},
		{"softmax", `"activation": "sigmoid"`, `"activation": "softmax"`, "activation: softmax has one scale only"},
		{"spans on a scale", `"spans": {
    "labels": [
      {`, `"spans": {
    "labels": [
      {
        "scale": "perspective",`, "spans.labels: spans have no scale"},
	})
}

// TestManifestErrorsAllAtOnce: one run reports every mistake in a
// manifest.
func TestManifestErrorsAllAtOnce(t *testing.T) {
	_, err := read(`{"format": 1, "name": "", "thresholds": {"insult": 0.5}}`)
	wantError(t, err, "name:", "version:", "license:", "tokenizer:", "variants:", "inputs:", "outputs:", "labels:", "activation:", "window.tokens:",
		"thresholds: insult is not among the labels")
}

func TestManifestThatIsNotThere(t *testing.T) {
	_, err := models.ReadManifest(fstest.MapFS{"config.json": {}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
	wantError(t, err, "there is no manifest.json, so the folder is not a model")
}

func TestManifestWithSomethingBehind(t *testing.T) {
	_, err := read(manifestOf(t, "tiny") + "{}")
	wantError(t, err, "there is text after the end of its object")
}

func TestManifestTooLarge(t *testing.T) {
	_, err := read(manifestOf(t, "tiny") + strings.Repeat(" ", 1<<20))
	wantError(t, err, "manifest.json has", "the limit is 1048576")
}

// TestManifestNestedTooDeep: a manifest is untrusted input and must not exhaust
// the stack.
func TestManifestNestedTooDeep(t *testing.T) {
	_, err := read(strings.Repeat("[", 1<<19))
	wantError(t, err, "manifest.json")
}

// wantError fails unless the text of err contains all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; wanted one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
}
