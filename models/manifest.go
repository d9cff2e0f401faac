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
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/encoder"
)

// ManifestName is the name of the file that makes a folder a model.
const ManifestName = "manifest.json"

// Format is the version of the manifest's format that this package reads and
// writes.
const Format = 1

// Manifest is the content of a model's manifest.json. docs/models.md explains
// each key.
type Manifest struct {
	Format      int        `json:"format"`  // [Format]
	Name        string     `json:"name"`    // of a-z, 0-9 and -
	Version     string     `json:"version"` // MAJOR.MINOR.PATCH, with the suffixes of semantic versioning
	Description string     `json:"description"`
	License     string     `json:"license"` // SPDX expression, or the authors' name for it
	Languages   []string   `json:"languages,omitempty"`
	Provenance  Provenance `json:"provenance"`

	Files     map[string]Hash `json:"files"`     // every file that the model needs
	Tokenizer string          `json:"tokenizer"` // one of Files
	Variants  []Variant       `json:"variants"`  // at most one for a provider

	classifier.Spec // its keys are at the same level

	// Thresholds is the minimum probability, in (0, 1], for an attribute to be
	// flagged. Each attribute of Labels has one.
	Thresholds toxscreen.Scores `json:"thresholds"`
	// Sensitivity has the thresholds of the other sensitivities, low and high, for each
	// attribute of Labels; those of medium are Thresholds. nil if the model has none.
	Sensitivity map[Sensitivity]toxscreen.Scores `json:"sensitivity,omitempty"`

	Card Card `json:"card,omitzero"`

	sum Hash // of the manifest file
}

// Provenance says where a model comes from. It is for people and has no
// effect.
type Provenance struct {
	Base    string   `json:"base,omitempty"`
	Data    []string `json:"data,omitempty"`
	Command string   `json:"command,omitempty"`
	Trained string   `json:"trained,omitempty"`
	Notes   string   `json:"notes,omitempty"`
}

// Card summarises what a model is for and how well it performs. It is for
// people and has no effect.
type Card struct {
	Use     string   `json:"use,omitempty"`
	Misuse  string   `json:"misuse,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is one measurement of a model on texts that were not used for
// training.
type Figure struct {
	Measure  string      `json:"measure"`
	Goal     string      `json:"goal,omitempty"` // such as "≥ 0.98"
	Value    float64     `json:"value"`
	Interval *[2]float64 `json:"interval,omitempty"` // 95 %
	Rows     int         `json:"rows,omitempty"`     // that were measured
}

// Variant is the network for one provider.
type Variant struct {
	Provider  encoder.Provider `json:"provider"`
	File      string           `json:"file"`      // one of Files: the network, or its layers behind the last exit
	Precision string           `json:"precision"` // fp32, fp16, int8 or int4: for people, no effect
	Batching  encoder.Batching `json:"batching"`
	// Exits are where harmless texts may leave the network, in the order in which a text
	// reaches them.
	Exits []Exit `json:"exits,omitempty"`
	// Risk says how often decisions differ because of Exits. It is for people and has no effect.
	Risk *Risk `json:"risk,omitempty"`
}

// Exit is an exit of a network.
type Exit struct {
	Stage string `json:"stage"` // one of Files: the layers from the exit before up to this one
	File  string `json:"file"`  // one of Files: the exit itself, which takes what Stage passes on
	classifier.Exit
}

// Risk is the bound by which exits were chosen: with the given confidence, at most Share of the
// decisions differ from those of the whole network, on texts like the Rows that were measured.
type Risk struct {
	Share      float64 `json:"share"`
	Confidence float64 `json:"confidence"`
	Rows       int     `json:"rows"`
	Differ     int     `json:"differ"` // of Rows
}

// exits returns the exits as the classifier takes them, without their files.
func (v Variant) exits() []classifier.Exit {
	exits := make([]classifier.Exit, len(v.Exits))
	for i, e := range v.Exits {
		exits[i] = e.Exit
	}
	return exits
}

// files returns the names of the variant's files, in the order in which they run.
func (v Variant) files() []string {
	var names []string
	for _, e := range v.Exits {
		names = append(names, e.Stage, e.File)
	}
	return append(names, v.File)
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
		return fmt.Errorf("%q is not a hash: it must be %s and %d hexadecimal digits", text, hashPrefix, hex.EncodedLen(len(h)))
	}
	if _, err := hex.Decode(h[:], []byte(digits)); err != nil {
		return fmt.Errorf("%q is not a hash: %w", text, err)
	}
	return nil
}

// Attributes returns the attributes that the model measures, in their order.
func (m Manifest) Attributes() []toxscreen.Attribute {
	var measured []toxscreen.Attribute
	for attribute := range m.Thresholds.All() {
		measured = append(measured, attribute)
	}
	return measured
}

// Identity returns name@version and the first twelve digits of the manifest's
// SHA-256. The manifest contains the hash of each file, so two models with the
// same identity give the same results.
func (m Manifest) Identity() string {
	return fmt.Sprintf("%s@%s %s", m.Name, m.Version, m.sum.String()[:len(hashPrefix)+12])
}

// Variant returns the variant for a provider. The error lists the providers.
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

// maxManifest is the maximum size of a manifest in bytes: a thousand times the
// usual size.
const maxManifest = 1 << 20

// ReadManifest reads and checks the manifest of a model's folder, but not the
// files that it lists; see [Verify]. An unknown or duplicate key, an invalid
// value, and anything after the object are errors; the error names the key.
func ReadManifest(fsys fs.FS) (Manifest, error) {
	data, sum, err := readFile(fsys, ManifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("failed to read model: there is no %s, so the folder is not a model: %w", ManifestName, err)
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
			return Manifest{}, fmt.Errorf("%s: a %s instead of a %s", cmp.Or(strings.TrimPrefix(wrong.Field, "Spec."), "the manifest"), wrong.Value, wrong.Type)
		}
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			return Manifest{}, fmt.Errorf("line %d: %w", 1+bytes.Count(data[:wrong.Offset], []byte("\n")), err)
		}
		return Manifest{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, errors.New("there is text after the end of its object")
	}
	if err := checkKeys(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return Manifest{}, err
	}
	return m, m.Validate()
}

// checkKeys reports a key that occurs twice in one object; [json.Decoder.Decode]
// would silently take the last. The JSON must be valid.
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

// lineOf returns the line of the first occurrence of a quoted key.
func lineOf(data []byte, key string) int {
	before, _, _ := bytes.Cut(data, []byte(key))
	return 1 + bytes.Count(before, []byte("\n"))
}

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9-]+$`)
	versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)
)

// Validate reports everything that makes a manifest unusable. ReadManifest
// calls it.
func (m Manifest) Validate() error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	if m.Format != Format {
		return fmt.Errorf("format: %d is not known to this version of toxscreen, which reads %d", m.Format, Format)
	}
	if !namePattern.MatchString(m.Name) {
		wrong("name: %q must be made of a-z, 0-9 and -", m.Name)
	}
	if isEmbedded(m.Name) {
		wrong("name: %q is reserved for an embedded model", m.Name)
	}
	if !versionPattern.MatchString(m.Version) {
		wrong("version: %q must be like 1.0.0", m.Version)
	}
	if m.License == "" {
		wrong("license: missing")
	}
	for name := range m.Files {
		if name == ManifestName || name == "." || name == ".." || name == "" || strings.ContainsAny(name, `/\:`) {
			wrong("files: %q must be the plain name of a file next to %s", name, ManifestName)
		}
	}
	found = append(found, m.listed("tokenizer", m.Tokenizer), m.validateVariants())
	if err := m.Spec.Validate(); err != nil {
		found = append(found, err)
	}
	found = append(found, m.validateThresholds("thresholds", "", m.Thresholds), m.validateSensitivity())
	for _, scale := range slices.Sorted(maps.Keys(m.Scales)) {
		found = append(found, m.validateThresholds(fmt.Sprintf("scales.%s.thresholds", scale), scale, m.Scales[scale].Thresholds))
	}
	return errors.Join(found...)
}

// validateThresholds reports everything that is wrong with the thresholds under a key, which are on
// a scale.
func (m Manifest) validateThresholds(key string, scale toxscreen.Scale, thresholds toxscreen.Scores) error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(key+": "+format, args...)) }
	measured := map[toxscreen.Attribute]bool{}
	for _, l := range m.Labels {
		if l.Attribute == nil || l.Scale != scale || measured[*l.Attribute] {
			continue
		}
		measured[*l.Attribute] = true
		if _, ok := thresholds.Get(*l.Attribute); !ok {
			wrong("%s is missing, but it is among the labels", *l.Attribute)
		}
	}
	for a, t := range thresholds.All() {
		if !measured[a] {
			wrong("%s is not among the labels", a)
		}
		if !(t > 0 && t <= 1) {
			wrong("%v for %s must be over 0 and at most 1", t, a)
		}
	}
	return errors.Join(found...)
}

// listed returns an error if the file that a key names is not one of Files.
func (m Manifest) listed(key, name string) error {
	if name == "" {
		return fmt.Errorf("%s: missing", key)
	}
	if _, ok := m.Files[name]; !ok {
		return fmt.Errorf("%s: %q is not among files", key, name)
	}
	return nil
}

// validateVariants reports everything that makes the variants unusable.
func (m Manifest) validateVariants() error {
	if len(m.Variants) == 0 {
		return errors.New("variants: missing")
	}
	var found []error
	for i, v := range m.Variants {
		key := fmt.Sprintf("variants[%d].", i)
		wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(key+format, args...)) }
		if _, err := encoder.ParseProvider(string(v.Provider)); err != nil {
			wrong("provider: %w", err)
		}
		if slices.ContainsFunc(m.Variants[:i], func(w Variant) bool { return w.Provider == v.Provider }) {
			wrong("provider: %q already has a variant", v.Provider)
		}
		found = append(found, m.listed(key+"file", v.File))
		for j, e := range v.Exits {
			found = append(found, m.listed(fmt.Sprintf("%sexits[%d].stage", key, j), e.Stage), m.listed(fmt.Sprintf("%sexits[%d].file", key, j), e.File))
		}
		if err := m.ValidateExits(v.exits()); err != nil {
			wrong("%w", err)
		}
		if !slices.Contains(precisions, v.Precision) {
			wrong("precision: %q must be one of %s", v.Precision, strings.Join(precisions, ", "))
		}
		if _, err := encoder.ParseBatching(string(v.Batching)); err != nil {
			wrong("batching: %w", err)
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
