package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/tokenize"
)

// ImportOptions adds what a Hugging Face folder lacks, or overrides it. The zero
// value takes everything from the folder.
type ImportOptions struct {
	// Name of the model; empty derives it from the name of the folder.
	Name string
	// Version of the model; empty means 1.0.0.
	Version string
	// Description is a sentence; empty derives one from config.json.
	Description string
	// License of the model; empty takes it from the model card, or
	// "unknown" if the card has none.
	License string
	// Labels maps labels of the model to attributes; other labels are ignored.
	// Empty recognises the labels of Detoxify, toxic-bert and binary toxicity
	// models.
	Labels map[string]toxscreen.Attribute
	// Activation turns logits into probabilities; empty takes it from the known
	// label set or config.json.
	Activation classifier.Activation
	// Threshold from which an attribute is flagged, for all attributes; 0
	// means 0.5.
	Threshold float64
	// Model is the slash-separated path of the ONNX file in the folder; empty
	// chooses one as docs/models.md says.
	Model string
	// Try says how the imported model is run for a test.
	Try Options
}

// trial is a neutral text that an imported model must be able to score.
const trial = "The weather is nice today."

// Import creates a model at dst from src, a folder as Hugging Face exports it:
// config.json, tokenizer.json, and ONNX files at its top or in onnx/. An empty
// dst means the model's name in [UserDir]. Import opens the model and scores a
// text before it appears at dst; on an error nothing is left there. It never
// replaces an existing dst.
func Import(src, dst string, o ImportOptions) (Manifest, error) {
	m, err := importFrom(src, dst, o)
	if err != nil {
		return Manifest{}, fmt.Errorf("failed to import %s: %w", src, err)
	}
	return m, nil
}

func importFrom(src, dst string, o ImportOptions) (Manifest, error) {
	info, err := os.Stat(src)
	if err != nil {
		return Manifest{}, err
	}
	if !info.IsDir() {
		return Manifest{}, errors.New("it is not a folder: give the folder that has config.json")
	}
	absolute, err := filepath.Abs(src) // gives "." a name
	if err != nil {
		return Manifest{}, err
	}
	m, files, err := describe(os.DirFS(src), cmp.Or(o.Name, nameOf(filepath.Base(absolute))), o)
	if err != nil {
		return Manifest{}, err
	}
	if dst == "" {
		user, err := UserDir()
		if err != nil {
			return Manifest{}, err
		}
		dst = filepath.Join(user, m.Name)
	}
	if _, err := os.Lstat(dst); err == nil {
		return Manifest{}, fmt.Errorf("%s already exists: remove it or choose another name", dst)
	}
	undo, err := makeParents(dst)
	if err != nil {
		return Manifest{}, err
	}
	// Next to dst, so that the model appears there in one step.
	temp, err := os.MkdirTemp(filepath.Dir(dst), ".import-*")
	if err != nil {
		undo()
		return Manifest{}, err
	}
	m, err = writeAndTry(os.DirFS(src), temp, m, files, o.Try)
	if err == nil {
		err = errors.Join(os.Chmod(temp, 0o755), os.Rename(temp, dst))
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(temp))
		undo()
		return Manifest{}, err
	}
	return m, nil
}

// describe creates the manifest of an export, without the hashes, and returns
// the files to copy: the name in the model's folder to the path in src.
func describe(src fs.FS, name string, o ImportOptions) (Manifest, map[string]string, error) {
	fail := func(err error) (Manifest, map[string]string, error) { return Manifest{}, nil, err }
	config, err := readConfig(src)
	if err != nil {
		return fail(err)
	}
	labelNames, err := config.labels()
	if err != nil {
		return fail(err)
	}
	labels, known, err := labelsOf(labelNames, o.Labels)
	if err != nil {
		return fail(err)
	}
	activation, err := activationOf(o.Activation, known, config.ProblemType, labels)
	if err != nil {
		return fail(err)
	}
	window, err := config.window(src)
	if err != nil {
		return fail(err)
	}
	if err := checkTokenizer(src, config.VocabSize); err != nil {
		return fail(err)
	}
	readme, _, err := readFile(src, "README.md", maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	card := readCard(readme)

	m := Manifest{
		Format:      Format,
		Name:        name,
		Version:     cmp.Or(o.Version, "1.0.0"),
		Description: cmp.Or(o.Description, fmt.Sprintf("A classifier of the type %s with %s, imported.", cmp.Or(config.ModelType, "unknown"), plural.Count(len(labels), "label", "labels"))),
		License:     cmp.Or(o.License, strings.Join(card.License, " "), "unknown"),
		Languages:   card.Language,
		Provenance:  Provenance{Notes: "imported from a folder in the format of Hugging Face"},
		Files:       map[string]Hash{"tokenizer.json": {}},
		Tokenizer:   "tokenizer.json",
		Spec: classifier.Spec{
			Labels:     labels,
			Activation: activation,
			Window: classifier.Window{
				Tokens: window, Overlap: window / 8,
				Correction: classifier.Correction{Slope: 0.25, Until: 3}, // not fitted to this model, see docs/models.md
			},
		},
	}
	if !filepath.IsAbs(config.NameOrPath) { // an absolute path is a folder on the exporter's machine
		m.Provenance.Base = config.NameOrPath
	}
	if config.PadTokenID != nil {
		m.PadID = *config.PadTokenID
	}
	for _, l := range labels {
		if l.Attribute != nil {
			m.Thresholds.Set(*l.Attribute, cmp.Or(o.Threshold, 0.5))
		}
	}
	files := map[string]string{"tokenizer.json": "tokenizer.json"}
	for _, name := range []string{"README.md", "LICENSE", "LICENSE.txt", "LICENSE.md"} {
		if _, err := fs.Stat(src, name); err == nil {
			files[name] = name // not in the manifest: the model does not need them, and they may be edited
		}
	}
	if err := addVariants(src, o.Model, &m, files); err != nil {
		return fail(err)
	}
	return m, files, m.Validate()
}

// addVariants adds the ONNX files to a manifest and to the files to copy.
func addVariants(src fs.FS, asked string, m *Manifest, files map[string]string) error {
	cpu, cuda, err := onnxFiles(src, asked)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		provider encoder.Provider
		file     string
	}{{encoder.CPU, cpu}, {encoder.CUDA, cuda}} {
		if v.file == "" {
			continue
		}
		data, _, err := readFile(src, v.file, maxModel)
		if err != nil {
			return err
		}
		g, err := readGraph(data)
		if err != nil {
			return fmt.Errorf("%s: %w", v.file, err)
		}
		inputs, scores, err := g.signature(len(m.Labels))
		if err != nil {
			return fmt.Errorf("%s: %w", v.file, err)
		}
		variant := Variant{Provider: v.provider, File: path.Base(v.file), Precision: g.precision(), Batching: encoder.Single}
		if v.provider == encoder.CUDA {
			if variant.Precision == "int8" || variant.Precision == "int4" {
				continue // formats for the CPU
			}
			if !g.oneTextAtATime() {
				variant.Batching = encoder.Padded
			}
			if scores != m.Outputs.Scores || !slices.Equal(inputs, m.Inputs) {
				return fmt.Errorf("%s takes %v and returns %s, but %s takes %v and returns %s: choose one of them", v.file, inputs, scores, cpu, m.Inputs, m.Outputs.Scores)
			}
		}
		m.Inputs, m.Outputs.Scores = inputs, scores
		m.Variants = append(m.Variants, variant)
		m.Files[variant.File] = Hash{}
		files[variant.File] = v.file
	}
	return nil
}

// checkTokenizer checks that tokenizer.json exists, can be used, and gives no id
// beyond the model's vocabulary size, which is 0 if config.json does not say.
func checkTokenizer(src fs.FS, vocabulary int) error {
	data, _, err := readFile(src, "tokenizer.json", maxTokenizer)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the folder has no tokenizer.json: make one with `python -c 'from transformers import AutoTokenizer; AutoTokenizer.from_pretrained(\"FOLDER\", use_fast=True).save_pretrained(\"FOLDER\")'`")
	}
	if err != nil {
		return err
	}
	tokenizer, err := tokenize.Load(data)
	if err != nil {
		return fmt.Errorf("tokenizer.json: %w", err)
	}
	if size := tokenizer.VocabSize(); vocabulary > 0 && size > vocabulary {
		return fmt.Errorf("tokenizer.json gives ids up to %d, but the model's vocabulary has %d: take both from the same model", size-1, vocabulary)
	}
	return nil
}

// nameOf derives a model's name from a folder's name.
func nameOf(folder string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, folder)
	return cmp.Or(strings.Trim(name, "-"), "model")
}

// writeAndTry writes a model into an empty folder, opens it there and scores a
// text.
func writeAndTry(src fs.FS, dir string, m Manifest, files map[string]string, try Options) (Manifest, error) {
	for name, from := range files {
		sum, err := copyFile(src, from, filepath.Join(dir, name), m.limitOf(name))
		if err != nil {
			return Manifest{}, err
		}
		m.Files[name] = sum
	}
	data, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), data, 0o644); err != nil {
		return Manifest{}, err
	}
	model, err := open(os.DirFS(dir), try)
	if err != nil {
		return Manifest{}, err
	}
	_, err = model.Classify(context.Background(), trial)
	if err := errors.Join(err, model.Close()); err != nil {
		return Manifest{}, fmt.Errorf("the model cannot score a text: %w", err)
	}
	return model.Manifest(), nil
}

// makeParents creates the folders above a path. undo removes those that it
// created and that are empty.
func makeParents(of string) (undo func(), err error) {
	var made []string
	for dir := filepath.Dir(of); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	return func() {
		for _, dir := range made {
			_ = os.Remove(dir) // fails if another import uses it
		}
	}, os.MkdirAll(filepath.Dir(of), 0o755)
}
