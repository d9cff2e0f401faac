package models

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
)

// ManifestName is the file that makes a folder a model.
const ManifestName = "manifest.json"

// Format is the version of the manifest's format that this package reads and
// writes.
const Format = 1

// Manifest is the content of a model's manifest.json. docs/models.md explains
// each key.
type Manifest struct {
	Format      int        `json:"format"`  // [Format]
	Name        string     `json:"name"`    // of a-z, 0-9 and -
	Version     string     `json:"version"` // MAJOR.MINOR.PATCH, and what semantic versioning allows behind it
	Description string     `json:"description"`
	License     string     `json:"license"` // SPDX expression, or what the model's authors call it
	Languages   []string   `json:"languages,omitempty"`
	Provenance  Provenance `json:"provenance"`

	Files     map[string]Hash `json:"files"`     // every file that the model needs
	Tokenizer string          `json:"tokenizer"` // one of Files
	Variants  []Variant       `json:"variants"`  // at most one for a provider

	classifier.Spec // its keys lie beside the others

	// Thresholds is the probability in (0, 1] from which an attribute is
	// flagged. Each attribute of Labels has one.
	Thresholds toxscreen.Scores `json:"thresholds"`

	Card Card `json:"card,omitzero"`

	sum Hash // of the file that the manifest was read from
}

// Provenance tells where a model comes from. It is for people and changes
// nothing.
type Provenance struct {
	Base    string   `json:"base,omitempty"`
	Data    []string `json:"data,omitempty"`
	Command string   `json:"command,omitempty"`
	Trained string   `json:"trained,omitempty"`
	Notes   string   `json:"notes,omitempty"`
}

// Card says in short what a model is for and how well it does. It is for
// people and changes nothing.
type Card struct {
	Use     string   `json:"use,omitempty"`
	Misuse  string   `json:"misuse,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is what a model reached by one measure on texts that it did not learn
// from.
type Figure struct {
	Measure  string      `json:"measure"`
	Goal     string      `json:"goal,omitempty"` // such as "≥ 0.98"
	Value    float64     `json:"value"`
	Interval *[2]float64 `json:"interval,omitempty"` // of 95 %
	Rows     int         `json:"rows,omitempty"`     // that it was taken on
}

// Variant is the ONNX file for one provider.
type Variant struct {
	Provider  encoder.Provider `json:"provider"`
	File      string           `json:"file"`      // one of Files
	Precision string           `json:"precision"` // fp32, fp16, int8 or int4: for people, it changes nothing
	Batching  encoder.Batching `json:"batching"`
}

// precisions are the values of Variant.Precision.
var precisions = []string{"fp32", "fp16", "int8", "int4"}

// Hash is a SHA-256. Its text form is "sha256:" and 64 hexadecimal digits.
type Hash [sha256.Size]byte

const hashPrefix = "sha256:"

// String returns the text form.
func (h Hash) String() string { return hashPrefix + hex.EncodeToString(h[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), hashPrefix)
	if !ok || len(digits) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("%q is no hash: it must be %s and %d hexadecimal digits", text, hashPrefix, hex.EncodedLen(len(h)))
	}
	if _, err := hex.Decode(h[:], []byte(digits)); err != nil {
		return fmt.Errorf("%q is no hash: %w", text, err)
	}
	return nil
}

// Attributes returns what the model measures, in the attributes' order.
func (m Manifest) Attributes() []toxscreen.Attribute {
	var measured []toxscreen.Attribute
	for attribute := range m.Thresholds.All() {
		measured = append(measured, attribute)
	}
	return measured
}

// Identity returns name@version and the first twelve digits of the manifest's
// own SHA-256. The manifest holds the hash of each file, so that two models
// with one identity give the same results.
func (m Manifest) Identity() string {
	return fmt.Sprintf("%s@%s %s", m.Name, m.Version, m.sum.String()[:len(hashPrefix)+12])
}

// Variant returns the variant for a provider. The error lists those there are.
func (m Manifest) Variant(provider encoder.Provider) (Variant, error) {
	var there []string
	for _, v := range m.Variants {
		if v.Provider == provider {
			return v, nil
		}
		there = append(there, string(v.Provider))
	}
	return Variant{}, fmt.Errorf("model %s has no variant for provider %s, only for %s", m.Name, provider, strings.Join(there, ", "))
}

// maxManifest is the size in bytes over which a manifest is refused: a
// thousand times what one has.
const maxManifest = 1 << 20

// ReadManifest reads and checks the manifest of a model's folder, but not the
// files that it names; see [Verify]. A key that is not known or given twice,
// a value that makes no sense and anything behind the object are errors that
// name the key.
func ReadManifest(fsys fs.FS) (Manifest, error) {
	data, sum, err := readFile(fsys, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("failed to read model: there is no %s, which makes a folder a model: %w", ManifestName, err)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("failed to read model: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("failed to read %s: %w", ManifestName, err)
	}
	m.sum = sum
	return m, nil
}

func parseManifest(data []byte) (Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return Manifest{}, fmt.Errorf("line %d: unknown key %s", lineOf(data, key), key)
		}
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Manifest{}, fmt.Errorf("%s: a %s where a %s belongs", cmp.Or(strings.TrimPrefix(wrong.Field, "Spec."), "the whole"), wrong.Value, wrong.Type)
		}
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			return Manifest{}, fmt.Errorf("line %d: %w", 1+bytes.Count(data[:wrong.Offset], []byte("\n")), err)
		}
		return Manifest{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, errors.New("there is more behind the end of its object")
	}
	if err := checkKeys(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return Manifest{}, err
	}
	return m, m.Validate()
}

// checkKeys reports a key that one object gives twice, of which
// [json.Decoder.Decode] silently takes the last. The JSON must be valid.
func checkKeys(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return nil
	}
	for seen := map[string]bool{}; dec.More(); {
		if token == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if seen[key.(string)] {
				return fmt.Errorf("key %q is given twice", key)
			}
			seen[key.(string)] = true
		}
		if err := checkKeys(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// lineOf returns the line in which a quoted key is first given.
func lineOf(data []byte, key string) int {
	before, _, _ := bytes.Cut(data, []byte(key))
	return 1 + bytes.Count(before, []byte("\n"))
}

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9-]+$`)
	versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)
)

// Validate reports what makes a manifest unusable, all of it at once. Reading
// one does so already.
func (m Manifest) Validate() error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	if m.Format != Format {
		return fmt.Errorf("format: %d is not known to this version of toxscreen, which reads %d", m.Format, Format)
	}
	if !namePattern.MatchString(m.Name) {
		wrong("name: %q must be made of a-z, 0-9 and -", m.Name)
	}
	if m.Name == DefaultName {
		wrong("name: %q stands for the embedded model, whichever that is", m.Name)
	}
	if !versionPattern.MatchString(m.Version) {
		wrong("version: %q must be like 1.0.0", m.Version)
	}
	if m.License == "" {
		wrong("license: missing")
	}
	for name := range m.Files {
		if name == ManifestName || name == "." || name == ".." || name == "" || strings.ContainsAny(name, `/\:`) {
			wrong("files: %q must be the plain name of a file beside %s", name, ManifestName)
		}
	}
	listed := func(key, name string) {
		if name == "" {
			wrong("%s: missing", key)
		} else if _, ok := m.Files[name]; !ok {
			wrong("%s: %q is not among files", key, name)
		}
	}
	listed("tokenizer", m.Tokenizer)
	if len(m.Variants) == 0 {
		wrong("variants: missing")
	}
	for i, v := range m.Variants {
		key := fmt.Sprintf("variants[%d].", i)
		if _, err := encoder.ParseProvider(string(v.Provider)); err != nil {
			wrong("%sprovider: %w", key, err)
		}
		if slices.ContainsFunc(m.Variants[:i], func(w Variant) bool { return w.Provider == v.Provider }) {
			wrong("%sprovider: %q has a variant already", key, v.Provider)
		}
		listed(key+"file", v.File)
		if !slices.Contains(precisions, v.Precision) {
			wrong("%sprecision: %q must be one of %s", key, v.Precision, strings.Join(precisions, ", "))
		}
		if _, err := encoder.ParseBatching(string(v.Batching)); err != nil {
			wrong("%sbatching: %w", key, err)
		}
	}
	if err := m.Spec.Validate(); err != nil {
		found = append(found, err)
	}
	measured := map[toxscreen.Attribute]bool{}
	for _, l := range m.Labels {
		if l.Attribute == nil || measured[*l.Attribute] {
			continue
		}
		measured[*l.Attribute] = true
		if _, ok := m.Thresholds.Get(*l.Attribute); !ok {
			wrong("thresholds: %s is missing, which is among the labels", *l.Attribute)
		}
	}
	for a, t := range m.Thresholds.All() {
		if !measured[a] {
			wrong("thresholds: %s is not among the labels", a)
		}
		if !(t > 0 && t <= 1) {
			wrong("thresholds: %v for %s is not over 0 and up to 1", t, a)
		}
	}
	return errors.Join(found...)
}

// encode returns the manifest as a file.
func (m Manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("failed to encode %s: %w", ManifestName, err)
	}
	return append(data, '\n'), nil
}
