package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

// label1 maps the labels of a binary model with labels LABEL_0 and LABEL_1.
var label1 = map[string]toxscreen.Attribute{"LABEL_1": toxscreen.Toxicity}

// TestImport imports real architectures with random weights, of BERT's, RoBERTa's
// and XLM-R's shape with their kinds of tokenizer, and compares their output with
// that of transformers and onnxruntime.
func TestImport(t *testing.T) { testImport(t, testModels) }

// testImport imports the three exports that scripts/make/tiny-models/make.py
// wrote to a folder.
func testImport(t *testing.T, exports string) {
	t.Helper()
	for _, test := range []struct {
		folder   string
		options  models.ImportOptions
		file     string // of expected.json
		want     models.Variant
		inputs   []string
		measured []toxscreen.Attribute
		sigmoid  bool
		padID    int64
	}{
		{
			folder:   "hub-bert",
			options:  models.ImportOptions{Model: "onnx/model.onnx"},
			file:     "onnx/model.onnx",
			want:     models.Variant{Provider: encoder.CPU, File: "model.onnx", Precision: "fp32", Batching: encoder.Single},
			inputs:   []string{"input_ids", "attention_mask", "token_type_ids"},
			measured: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.SevereToxicity, toxscreen.Profanity, toxscreen.Threat, toxscreen.Insult, toxscreen.IdentityAttack},
			sigmoid:  true,
		},
		{
			folder:   "hub-roberta",
			file:     "model.onnx",
			want:     models.Variant{Provider: encoder.CPU, File: "model.onnx", Precision: "fp32", Batching: encoder.Single},
			inputs:   []string{"input_ids", "attention_mask"},
			measured: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.SevereToxicity, toxscreen.Profanity, toxscreen.IdentityAttack, toxscreen.Insult, toxscreen.Threat, toxscreen.SexuallyExplicit},
			sigmoid:  true,
			padID:    1,
		},
		{
			folder:   "hub-xlm-roberta",
			options:  models.ImportOptions{Labels: label1},
			file:     "model.onnx",
			want:     models.Variant{Provider: encoder.CPU, File: "model.onnx", Precision: "fp32", Batching: encoder.Single},
			inputs:   []string{"input_ids", "attention_mask"},
			measured: []toxscreen.Attribute{toxscreen.Toxicity},
			padID:    1,
		},
	} {
		t.Run(test.folder, func(t *testing.T) {
			src := filepath.Join(exports, test.folder)
			dst := filepath.Join(t.TempDir(), "models", "imported")
			m, err := models.Import(src, dst, test.options)
			if err != nil {
				t.Fatal(err)
			}
			cpu, err := m.Variant(encoder.CPU)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(cpu, test.want) {
				t.Errorf("got the variant %+v, want %+v", cpu, test.want)
			}
			cuda, err := m.Variant(encoder.CUDA)
			if err != nil {
				t.Fatal(err)
			}
			if cuda.File != "model.onnx" {
				t.Errorf("got the file %s for CUDA, want model.onnx", cuda.File)
			}
			if cuda.Batching != encoder.Padded {
				t.Errorf("got the batching %s for CUDA, want padded", cuda.Batching)
			}
			if !slices.Equal(m.Inputs, test.inputs) {
				t.Errorf("got the inputs %q, want %q", m.Inputs, test.inputs)
			}
			if m.PadID != test.padID {
				t.Errorf("got the padding token %d, want %d", m.PadID, test.padID)
			}
			if m.Window.Tokens == 0 || m.Window.Tokens%128 != 0 { // RoBERTa's position table has two more rows
				t.Errorf("got a window of %d tokens", m.Window.Tokens)
			}
			verified, err := models.Verify(os.DirFS(dst))
			if err != nil {
				t.Fatal(err)
			}
			if verified.Identity() != m.Identity() {
				t.Errorf("Import returned %s, the folder has %s", m.Identity(), verified.Identity())
			}
			compare(t, open(t, dst), expectedOf(t, src, test.file), test.measured, test.sigmoid)
		})
	}
}

// expectation is the output of transformers and onnxruntime for a text.
type expectation struct {
	Text   string    `json:"text"`
	Logits []float64 `json:"logits"`
}

func expectedOf(t *testing.T, src, file string) []expectation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(src, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]expectation
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all[file]) < 10 {
		t.Fatalf("expected.json has %d texts for %s", len(all[file]), file)
	}
	return all[file]
}

// compare fails unless a model gives the probabilities for the expected logits,
// to 1e-4, and only for the measured attributes. These are in the order of the
// model's columns.
func compare(t *testing.T, m *models.Model, expected []expectation, measured []toxscreen.Attribute, sigmoid bool) {
	t.Helper()
	for _, e := range expected {
		found, err := m.Classify(context.Background(), e.Text, toxscreen.Full)
		if err != nil {
			t.Errorf("%q: %v", e.Text, err)
			continue
		}
		want := map[toxscreen.Attribute]float64{}
		for i, a := range measured {
			want[a] = 1 / (1 + math.Exp(-e.Logits[i]))
		}
		if !sigmoid { // two columns; the second is measured
			want[measured[0]] = 1 / (1 + math.Exp(e.Logits[0]-e.Logits[1]))
		}
		got := maps.Collect(found.Scores.All())
		for a, p := range want {
			if math.Abs(got[a]-p) > 1e-4 {
				t.Errorf("%q: %s is %.6f, transformers and onnxruntime say %.6f", e.Text, a, got[a], p)
			}
			delete(got, a)
		}
		if len(got) > 0 {
			t.Errorf("%q: the model does not measure %v", e.Text, got)
		}
	}
}

// TestImportPrefersInt8 for the CPU, where it is fastest; CUDA cannot run it and
// gets another file.
func TestImportPrefersInt8(t *testing.T) {
	m, err := models.Import(testModels+"hub-bert", filepath.Join(t.TempDir(), "m"), models.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []models.Variant{
		{Provider: encoder.CPU, File: "model_quantized.onnx", Precision: "int8", Batching: encoder.Single},
		{Provider: encoder.CUDA, File: "model.onnx", Precision: "fp32", Batching: encoder.Padded},
	}
	if !reflect.DeepEqual(m.Variants, want) {
		t.Errorf("got %+v, want %+v", m.Variants, want)
	}
	m, err = models.Import(testModels+"hub-bert", filepath.Join(t.TempDir(), "m"), models.ImportOptions{Model: "onnx/model_quantized.onnx"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.Variants, want[:1]) {
		t.Errorf("asked for int8 alone: got %+v, want %+v", m.Variants, want[:1])
	}
}

// TestImportOptions: the caller's options override the folder.
func TestImportOptions(t *testing.T) {
	dir := copyOf(t, "hub-roberta")
	card := "---\nlicense: mit\nlanguage:\n- en\n- de\n---\n# A model\n"
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "README.md"), []byte(card), 0o600),
		os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("MIT"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	m, err := models.Import(dir, filepath.Join(parent, "a"), models.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{m.Name: "hub-roberta", m.Version: "1.0.0", m.License: "mit", strings.Join(m.Languages, " "): "en de"} {
		if got != want {
			t.Errorf("from the folder: got %q, want %q", got, want)
		}
	}
	if threshold, _ := m.Thresholds.Get(toxscreen.Insult); threshold != 0.5 {
		t.Errorf("from the folder: got the threshold %v", threshold)
	}
	for _, name := range []string{"README.md", "LICENSE"} {
		if _, err := os.Stat(filepath.Join(parent, "a", name)); err != nil {
			t.Error(err)
		}
	}
	m, err = models.Import(dir, filepath.Join(parent, "b"), models.ImportOptions{
		Name: "mine", Version: "2.1.0", Description: "Mine.", License: "Apache-2.0", Threshold: 0.7,
		Labels:     map[string]toxscreen.Attribute{"insult": toxscreen.Insult, "toxicity": toxscreen.Toxicity},
		Activation: classifier.Softmax,
	})
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		m.Name: "mine", m.Version: "2.1.0", m.License: "Apache-2.0", m.Description: "Mine.", string(m.Activation): "softmax",
	} {
		if got != want {
			t.Errorf("from the options: got %q, want %q", got, want)
		}
	}
	if threshold, _ := m.Thresholds.Get(toxscreen.Insult); threshold != 0.7 {
		t.Errorf("from the options: got the threshold %v, want 0.7", threshold)
	}
	if n := m.Thresholds.Len(); n != 2 {
		t.Errorf("from the options: got %d thresholds, want 2", n)
	}
}

// TestImportIntoUserDir: a model goes there by default and is found by name.
func TestImportIntoUserDir(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if _, err := models.Import(testModels+"hub-xlm-roberta", "", models.ImportOptions{Name: "mine", Labels: label1}); err != nil {
		t.Fatal(err)
	}
	open(t, "mine")
}

// TestImportLabels: known label sets need no map.
func TestImportLabels(t *testing.T) {
	const toxicity, insult = toxscreen.Toxicity, toxscreen.Insult
	for _, test := range []struct {
		name       string
		labels     []string
		problem    string // JSON
		given      map[string]toxscreen.Attribute
		asked      classifier.Activation
		want       map[string]toxscreen.Attribute
		activation classifier.Activation
		err        []string
	}{
		{name: "toxic-bert", labels: []string{"toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"},
			want: map[string]toxscreen.Attribute{"toxic": toxicity, "severe_toxic": toxscreen.SevereToxicity, "obscene": toxscreen.Profanity,
				"threat": toxscreen.Threat, "insult": insult, "identity_hate": toxscreen.IdentityAttack}, activation: classifier.Sigmoid},
		{name: "Detoxify unbiased", labels: []string{"toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit"},
			want: map[string]toxscreen.Attribute{"toxicity": toxicity, "severe_toxicity": toxscreen.SevereToxicity, "obscene": toxscreen.Profanity,
				"identity_attack": toxscreen.IdentityAttack, "insult": insult, "threat": toxscreen.Threat, "sexual_explicit": toxscreen.SexuallyExplicit},
			activation: classifier.Sigmoid},
		{name: "columns about identities", labels: []string{"toxicity", "insult", "male", "psychiatric_or_mental_illness"},
			want: map[string]toxscreen.Attribute{"toxicity": toxicity, "insult": insult}, activation: classifier.Sigmoid},
		{name: "single label said of a set that is not", labels: []string{"toxic", "obscene", "insult"}, problem: `"single_label_classification"`,
			err: []string{"does not determine how logits become probabilities"}},
		{name: "neutral and toxic", labels: []string{"neutral", "toxic"}, want: map[string]toxscreen.Attribute{"toxic": toxicity}, activation: classifier.Softmax},
		{name: "toxic first", labels: []string{"Toxic", "Non-Toxic"}, want: map[string]toxscreen.Attribute{"Toxic": toxicity}, activation: classifier.Softmax},
		{name: "not toxic", labels: []string{"not_toxic", "toxic"}, problem: `"multi_label_classification"`,
			want: map[string]toxscreen.Attribute{"toxic": toxicity}, activation: classifier.Sigmoid},
		{name: "one column", labels: []string{"toxic"}, want: map[string]toxscreen.Attribute{"toxic": toxicity}, activation: classifier.Sigmoid},
		{name: "regression", labels: []string{"toxic"}, problem: `"regression"`, err: []string{`problem_type "regression"`, "choose softmax", "sigmoid if not"}},
		{name: "regression, but asked", labels: []string{"toxic"}, problem: `"regression"`, asked: classifier.Sigmoid,
			want: map[string]toxscreen.Attribute{"toxic": toxicity}, activation: classifier.Sigmoid},
		{name: "labels that say nothing", labels: []string{"LABEL_0", "LABEL_1"},
			err: []string{"LABEL_0, LABEL_1", "see its model card for what they mean", "as in LABEL_1=toxicity"}},
		{name: "labels that say nothing, mapped", labels: []string{"LABEL_0", "LABEL_1"}, given: label1,
			want: label1, activation: classifier.Softmax},
		{name: "another kind of model", labels: []string{"nothate", "hate"}, err: []string{"as in hate=toxicity"}},
		{name: "feelings", labels: []string{"joy", "anger"}, err: []string{"joy, anger", "map those"}},
		{name: "several mapped, and no word on the rest", labels: []string{"a", "b", "c"}, given: map[string]toxscreen.Attribute{"a": toxicity, "b": insult},
			err: []string{"choose softmax if the labels exclude each other"}},
		{name: "several mapped", labels: []string{"a", "b", "c"}, given: map[string]toxscreen.Attribute{"a": toxicity, "b": insult}, asked: classifier.Sigmoid,
			want: map[string]toxscreen.Attribute{"a": toxicity, "b": insult}, activation: classifier.Sigmoid},
		{name: "map of a label that is not there", labels: []string{"neutral", "toxic"}, given: map[string]toxscreen.Attribute{"rude": insult},
			err: []string{`"rude" is mapped to insult, but is not one of the model's labels: neutral, toxic`}},
		{name: "map without toxicity", labels: []string{"neutral", "rude"}, given: map[string]toxscreen.Attribute{"rude": insult},
			err: []string{"labels: toxicity is missing"}},
		{name: "two labels of one attribute", labels: []string{"toxic", "toxicity"}, err: []string{"two have the attribute toxicity"}},
		{name: "one name twice", labels: []string{"toxic", "toxic"}, err: []string{`id2label has two labels named "toxic"`}},
		{name: "no names, which means these", err: []string{"LABEL_0, LABEL_1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyOf(t, "hub-roberta")
			byID := map[int]string{}
			for i, label := range test.labels {
				byID[i] = label
			}
			config, err := json.Marshal(map[string]any{"id2label": byID, "problem_type": json.RawMessage(or(test.problem, "null"))})
			if err != nil {
				t.Fatal(err)
			}
			change(t, filepath.Join(dir, "config.json"), func([]byte) []byte { return config })
			change(t, filepath.Join(dir, "model.onnx"), func([]byte) []byte { return classifierOf(len(test.labels)) })
			m, err := models.Import(dir, filepath.Join(t.TempDir(), "m"), models.ImportOptions{Labels: test.given, Activation: test.asked})
			if len(test.err) > 0 {
				wantError(t, err, test.err...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]toxscreen.Attribute{}
			for i, l := range m.Labels {
				if l.Name != test.labels[i] {
					t.Errorf("column %d is %q, want %q", i, l.Name, test.labels[i])
				}
				if l.Attribute != nil {
					got[l.Name] = *l.Attribute
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got the attributes %v, want %v", got, test.want)
			}
			if m.Activation != test.activation {
				t.Errorf("got the activation %s, want %s", m.Activation, test.activation)
			}
		})
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestImportWindow: several files say how many tokens a model reads at once, and
// they may disagree.
func TestImportWindow(t *testing.T) {
	for _, test := range []struct {
		name              string
		config, tokenizer string
		want              int
	}{
		{"BERT", `"model_type": "bert", "max_position_embeddings": 512`, `{"model_max_length": 512}`, 512},
		{"RoBERTa has two positions more", `"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1`, `{}`, 512},
		{"XLM-R", `"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1`, `{"model_max_length": 512}`, 512},
		{"BERTweet is a short RoBERTa", `"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 1`, `{}`, 128},
		{"trained on less than it could read", `"model_type": "bert", "max_position_embeddings": 512`, `{"model_max_length": 256}`, 256},
		{"no length set", `"model_type": "bert", "max_position_embeddings": 512`, `{"model_max_length": 1000000000000000019884624838656}`, 512},
		{"longer than useful", `"model_type": "modernbert", "max_position_embeddings": 8192`, `{"model_max_length": 8192}`, 512},
		{"no length given", `"model_type": "xlnet"`, ``, 512},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyOf(t, "hub-roberta")
			change(t, filepath.Join(dir, "config.json"), func([]byte) []byte { return []byte(`{"id2label": {"0": "toxic"}, ` + test.config + `}`) })
			change(t, filepath.Join(dir, "model.onnx"), func([]byte) []byte { return classifierOf(1) })
			change(t, filepath.Join(dir, "tokenizer_config.json"), func([]byte) []byte { return []byte(test.tokenizer) })
			if test.tokenizer == "" {
				if err := os.Remove(filepath.Join(dir, "tokenizer_config.json")); err != nil {
					t.Fatal(err)
				}
			}
			m, err := models.Import(dir, filepath.Join(t.TempDir(), "m"), models.ImportOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Window.Tokens != test.want {
				t.Errorf("got a window of %d tokens, want %d", m.Window.Tokens, test.want)
			}
			if m.Window.Overlap != test.want/8 {
				t.Errorf("windows share %d tokens, want %d", m.Window.Overlap, test.want/8)
			}
		})
	}
}

// TestImportErrors: each error says what is wrong and what to do, and leaves no
// files behind: neither the model, nor parts of it, nor the folders created for
// it.
func TestImportErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(t *testing.T, dir string)
		options models.ImportOptions
		want    []string
	}{
		{"no config", remove("config.json"), models.ImportOptions{}, []string{"config.json", "`save_pretrained`"}},
		{"a model already", func(t *testing.T, dir string) {
			remove("config.json")(t, dir)
			write("manifest.json", []byte("{}"))(t, dir)
		}, models.ImportOptions{}, []string{"it already is a model: use it by its path"}},
		{"broken config", write("config.json", []byte("{")), models.ImportOptions{}, []string{"config.json: unexpected end"}},
		{"ids with a gap", write("config.json", []byte(`{"id2label": {"0": "neutral", "2": "toxic"}}`)), models.ImportOptions{}, []string{`id2label has the id "2"`, "0 to 1"}},
		{"no tokenizer", remove("tokenizer.json"), models.ImportOptions{}, []string{"no tokenizer.json", "AutoTokenizer", "use_fast=True"}},
		{"broken tokenizer", write("tokenizer.json", []byte("{}")), models.ImportOptions{}, []string{"tokenizer.json:"}},
		{"tokenizer of another model", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "config.json"), replace(`"vocab_size": 600`, `"vocab_size": 500`))
		}, models.ImportOptions{}, []string{"tokenizer.json gives ids up to 599, but the model's vocabulary has 500"}},
		{"no ONNX file", remove("model.onnx"), models.ImportOptions{}, []string{"no ONNX file", "optimum-cli export onnx"}},
		{"ONNX file that is not there", nil, models.ImportOptions{Model: "onnx/model_q4.onnx"}, []string{"onnx/model_q4.onnx is not among", "model.onnx"}},
		{"ONNX file outside", nil, models.ImportOptions{Model: "../model.onnx"}, []string{"../model.onnx is not among"}},
		{"several ONNX files", func(t *testing.T, dir string) {
			remove("model.onnx")(t, dir)
			write("a.onnx", classifierOf(16))(t, dir)
			write("b.onnx", classifierOf(16))(t, dir)
		}, models.ImportOptions{}, []string{"several ONNX files", "a.onnx, b.onnx"}},
		{"pointer of Git LFS", write("model.onnx", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")), models.ImportOptions{}, []string{"model.onnx", "git lfs pull"}},
		{"empty ONNX file", write("model.onnx", nil), models.ImportOptions{}, []string{"model.onnx: it is empty"}},
		{"ONNX file cut short", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "model.onnx"), func(b []byte) []byte { return b[:len(b)/2] })
		}, models.ImportOptions{}, []string{"model.onnx: it is not an ONNX file"}},
		{"other inputs", write("model.onnx", onnxOf([]onnxTensor{ids, {"pixel_values", 1, free}}, logitsOf(16), 16)), models.ImportOptions{}, []string{"inputs input_ids, pixel_values; toxscreen provides input_ids, attention_mask, token_type_ids"}},
		{"int32 inputs", write("model.onnx", onnxOf([]onnxTensor{{"input_ids", 6, free}}, logitsOf(16), 16)), models.ImportOptions{}, []string{"input_ids is of type int32; toxscreen provides int64"}},
		{"fixed length", write("model.onnx", onnxOf([]onnxTensor{{"input_ids", 7, []int64{1, 128}}}, logitsOf(16), 16)), models.ImportOptions{}, []string{"fixed shape [1 128]", "dynamic axes"}},
		{"token classifier", write("model.onnx", onnxOf([]onnxTensor{ids}, onnxTensor{"logits", 1, []int64{-1, -1, 16}}, 16)), models.ImportOptions{}, []string{"logits has 3 dimensions", "export a model for text classification"}},
		{"float16 output", write("model.onnx", onnxOf([]onnxTensor{ids}, onnxTensor{"logits", 10, []int64{-1, 16}}, 16)), models.ImportOptions{}, []string{"logits is of type float16", "keep_io_types=True"}},
		{"more columns than labels", write("model.onnx", classifierOf(17)), models.ImportOptions{}, []string{"logits has 17 columns, but config.json names 16 labels"}},
		{"weights elsewhere", write("model.onnx", onnxWithWeightsElsewhere()), models.ImportOptions{}, []string{"its weights are in a second file, model.onnx_data", "merge them into one"}},
		{"graph that cannot be computed", write("model.onnx", onnxOfUnknownOperator()), models.ImportOptions{}, []string{"model.onnx", "NoSuchOperator"}},
		{"name", nil, models.ImportOptions{Name: "My Model"}, []string{`name: "My Model" must be made of`}},
		{"version", nil, models.ImportOptions{Version: "new"}, []string{`version: "new" must be like`}},
		{"threshold", nil, models.ImportOptions{Threshold: 50}, []string{"thresholds: 50 for toxicity"}},
		{"library that is not there", nil, models.ImportOptions{Try: models.Options{Library: "/nowhere/lib.so"}}, []string{"/nowhere/lib.so"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, parent := copyOf(t, "hub-roberta"), t.TempDir()
			if test.change != nil {
				test.change(t, dir)
			}
			_, err := models.Import(dir, filepath.Join(parent, "models", "m"), test.options)
			wantError(t, err, append(test.want, "failed to import "+dir)...)
			left, err := os.ReadDir(parent)
			if err != nil {
				t.Fatal(err)
			}
			if len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestImportNeverReplaces an existing file or folder at the destination.
func TestImportNeverReplaces(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(dst, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := models.Import(testModels+"hub-roberta", dst, models.ImportOptions{})
	wantError(t, err, dst+" already exists: remove it or choose another name")
	data, err := os.ReadFile(dst)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "mine" {
		t.Errorf("the file at %s is now %q", dst, data)
	}
}

func TestImportOfNoFolder(t *testing.T) {
	_, err := models.Import(testModels+"none", "", models.ImportOptions{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
	_, err = models.Import(testModels+"make_tiny.py", "", models.ImportOptions{})
	wantError(t, err, "it is not a folder: give the folder that has config.json")
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func write(name string, data []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImportIsOneStep: listing the models during an import shows all of the new
// model or nothing.
func TestImportIsOneStep(t *testing.T) {
	parent := t.TempDir()
	ended := make(chan error)
	go func() {
		_, err := models.Import(testModels+"hub-roberta", filepath.Join(parent, "m"), models.ImportOptions{})
		ended <- err
	}()
	for {
		entries, err := models.List(parent)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries[2:] {
			if _, err := models.Verify(e.Folder.FS); err != nil {
				t.Errorf("%s is there in part: %v", e.Name, err)
			}
			if strings.HasPrefix(e.Name, ".") {
				t.Errorf("%s is listed, which is an import in progress", e.Name)
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			if entries, err = models.List(parent); err != nil {
				t.Fatal(err)
			}
			if len(entries) != 3 {
				t.Errorf("%d models are listed after the import, want the two embedded ones and the new one", len(entries))
			}
			return
		default:
		}
	}
}
