// Package models opens models and contains the default one:
//
//	model, err := models.OpenDefault(models.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer model.Close()
//	screener := toxscreen.New(model)
//
// A model is a folder with a manifest.json, ONNX files and a tokenizer.json;
// docs/models.md describes it for people who bring their own. [Import] creates
// such a folder from a Hugging Face export.
//
// A model's name, here and on the command line, means
//
//   - the model of English that is embedded in the binary, if it is "default" or empty;
//   - the embedded model of many languages, if it is "multilingual";
//   - the folder at that path, if [IsPath] says so;
//   - else the imported model of that name, which is a folder in [UserDir].
package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/language"
	"github.com/toxscreen/toxscreen/tokenize"
)

// DefaultName is the name of the embedded model.
const DefaultName = "default"

// Options says how a model is run. The zero value runs it on all cores of the
// CPU.
type Options struct {
	// Library is the path of ONNX Runtime's library; if it is empty,
	// [encoder.FindLibrary] finds it.
	Library string
	// Provider is where the model runs; empty means the CPU.
	Provider encoder.Provider
	// Threads is the number of concurrent runs on the CPU; 0 means one per core.
	Threads int
}

// Model is an open model. It is safe for concurrent use; Close it when no call is
// active.
type Model struct {
	*classifier.Classifier
	manifest Manifest
	known    language.Known // languages that it was trained on
}

var (
	_ toxscreen.Classifier     = (*Model)(nil)
	_ toxscreen.LanguageReader = (*Model)(nil)
)

// Manifest returns the manifest of the model's folder.
func (m *Model) Manifest() Manifest { return m.manifest }

// On returns the model on one of the other scales of its manifest. It shares the network: close only
// one of the two.
func (m *Model) On(scale toxscreen.Scale) (*Model, error) {
	view, err := m.Classifier.On(scale)
	if err != nil {
		return nil, err
	}
	return &Model{Classifier: view, manifest: m.manifest, known: m.known}, nil
}

// Info implements [toxscreen.Classifier].
func (m *Model) Info() toxscreen.ModelInfo {
	info := m.Classifier.Info()
	info.Languages = m.manifest.Languages
	return info
}

// ReadLanguage implements [toxscreen.LanguageReader] with the languages of the manifest. It
// reads the text in plain typography.
func (m *Model) ReadLanguage(text string) (toxscreen.Language, []toxscreen.LanguagePart) {
	return readLanguage(m.known, m.manifest.Languages, text)
}

func readLanguage(known language.Known, codes []string, text string) (toxscreen.Language, []toxscreen.LanguagePart) {
	plain := disguise.Fold(text)
	read := known.Read(plain.Text)
	found := toxscreen.Language{Code: read.Other.Code, Foreign: read.Foreign, Certain: read.Certain}
	if read.Other.Sure {
		found.Name = read.Other.Name
	}
	if !read.Foreign && len(codes) == 1 {
		found.Code = cmp.Or(read.Likely.Code, codes[0])
	}
	parts := make([]toxscreen.LanguagePart, len(read.Parts))
	for i, p := range read.Parts {
		parts[i] = toxscreen.LanguagePart{End: len(text), Foreign: p.Foreign, Sure: p.Sure}
		if i > 0 {
			parts[i].Start, _ = plain.Original(p.Start, p.End)
			parts[i-1].End = parts[i].Start
		}
		found.Mixed = found.Mixed || p.Foreign && !read.Foreign
	}
	return found, parts
}

// OpenDefault opens the embedded model.
func OpenDefault(o Options) (*Model, error) { return Open(DefaultName, o) }

// Open opens the model with the given name, see the package comment. It first
// compares every file of its manifest with its hash, and uses the bytes that it
// compared.
func Open(name string, o Options) (*Model, error) {
	folder, err := Resolve(name)
	if err != nil {
		return nil, err
	}
	model, err := open(folder.FS, o)
	if err != nil {
		return nil, fmt.Errorf("failed to open model %s: %w", folder, err)
	}
	return model, nil
}

func open(fsys fs.FS, o Options) (*Model, error) {
	manifest, err := ReadManifest(fsys)
	if err != nil {
		return nil, err
	}
	provider := cmp.Or(o.Provider, encoder.CPU)
	variant, err := manifest.Variant(provider)
	if err != nil {
		return nil, err
	}
	names := variant.files()
	if err := manifest.verify(fsys, append(names, manifest.Tokenizer)...); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = manifest.read(fsys, name); err != nil {
			return nil, err
		}
	}
	exits := variant.exits()
	for i, e := range variant.Exits {
		exits[i].Stage, exits[i].Model = files[e.Stage], files[e.File]
	}
	words, err := manifest.read(fsys, manifest.Tokenizer)
	if err != nil {
		return nil, err
	}
	tokenizer, err := tokenize.Load(words)
	if err != nil {
		return nil, fmt.Errorf("failed to load %s: %w", manifest.Tokenizer, err)
	}
	c, err := classifier.Open(classifier.Config{
		Spec:       manifest.Spec,
		Exits:      exits,
		Model:      files[variant.File],
		Tokenizer:  tokenizer,
		Provider:   provider,
		Batching:   variant.Batching,
		Library:    o.Library,
		Threads:    o.Threads,
		Version:    manifest.Identity(),
		Thresholds: manifest.Thresholds,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
	}
	// Go would keep the unused memory of the files for a later heap of that size,
	// which never comes.
	debug.FreeOSMemory()
	return &Model{Classifier: c, manifest: manifest, known: language.New(manifest.Languages)}, nil
}

// Folder is the folder of a model.
type Folder struct {
	FS   fs.FS  // its files
	Path string // empty for the embedded models
	name string // of an embedded model
}

// String returns the path, or the name of an embedded model.
func (f Folder) String() string { return cmp.Or(f.Path, f.name) }

// Embedded reports whether the model is part of the program.
func (f Folder) Embedded() bool { return f.Path == "" }

// Resolve returns the folder for a name, see the package comment. Reading its
// manifest shows whether it is a model.
func Resolve(name string) (Folder, error) {
	switch name {
	case "", DefaultName:
		return Folder{FS: Default(), name: DefaultName}, nil
	case MultilingualName:
		return Folder{FS: multilingual(), name: MultilingualName}, nil
	}
	if !IsPath(name) {
		return inUserDir(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return Folder{}, fmt.Errorf("failed to find model: %w", err)
	}
	if !info.IsDir() {
		return Folder{}, fmt.Errorf("failed to find model: %s is a file: a model is a folder with a %s", name, ManifestName)
	}
	return Folder{FS: os.DirFS(name), Path: name}, nil
}

// IsPath reports whether a model is named by its path: the name contains a separator,
// or is . or .. itself. A folder of the working folder without a separator before it
// cannot take the place of an imported model.
func IsPath(name string) bool {
	return strings.ContainsAny(name, `/`+string(filepath.Separator)) || name == "." || name == ".."
}

// Remove deletes an imported model from [UserDir]. It refuses the embedded model and
// folders elsewhere. Other processes that have opened the model keep it.
func Remove(name string) error {
	if name == "" || isEmbedded(name) {
		return fmt.Errorf("failed to remove model: the model %s is part of the program", cmp.Or(name, DefaultName))
	}
	if IsPath(name) {
		return fmt.Errorf("failed to remove model: %s is a path: only imported models, named without a path, are removed", name)
	}
	folder, err := inUserDir(name)
	if err != nil {
		return err
	}
	// A folder with a dot before its name is not listed: the model disappears at once.
	gone := filepath.Join(filepath.Dir(folder.Path), ".removed-"+name)
	if err := os.RemoveAll(gone); err != nil { // of a removal that was interrupted
		return fmt.Errorf("failed to remove model %s: %w", name, err)
	}
	if err := os.Rename(folder.Path, gone); err != nil {
		return fmt.Errorf("failed to remove model %s: %w", name, err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("failed to remove model %s: it is no longer listed, but its files are still there: %w", name, err)
	}
	return nil
}

func inUserDir(name string) (Folder, error) {
	dir, err := UserDir()
	if err != nil {
		return Folder{}, fmt.Errorf("failed to find model %q: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Folder{FS: os.DirFS(path), Path: path}, nil
	}
	entries, err := List(dir)
	if err != nil {
		return Folder{}, fmt.Errorf("failed to find model %q: %w", name, err)
	}
	var there []string
	for _, e := range entries {
		there = append(there, e.Name)
	}
	here := ""
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		here = fmt.Sprintf("; for the folder in the working folder, use .%c%s", filepath.Separator, name)
	}
	return Folder{}, fmt.Errorf("failed to find model %q: there is none of that name in %s; available models: %s%s", name, dir, strings.Join(there, ", "), here)
}

// UserDir returns the folder of the user's own models, toxscreen/models in the
// user's configuration folder. It may not exist.
func UserDir() (string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's configuration folder: %w", err)
	}
	return filepath.Join(config, "toxscreen", "models"), nil
}

// Entry is one model of [List].
type Entry struct {
	Name     string // for [Open], if List was given [UserDir]
	Folder   Folder
	Manifest Manifest // valid if Err is nil
	Err      error    // why the manifest is unusable
}

// isEmbedded reports whether a name is that of an embedded model.
func isEmbedded(name string) bool { return name == DefaultName || name == MultilingualName }

// List returns the embedded models and then those in dir by name. It reads their
// manifests but not their files; see [Verify]. A missing dir contains no
// models.
func List(dir string) ([]Entry, error) {
	entries := []Entry{
		{Name: DefaultName, Folder: Folder{FS: Default(), name: DefaultName}},
		{Name: MultilingualName, Folder: Folder{FS: multilingual(), name: MultilingualName}},
	}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("failed to list models: %w", err)
	}
	for _, f := range found {
		path := filepath.Join(dir, f.Name())
		// Stat follows links to folders; a hidden folder is an import in
		// progress.
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		entries = append(entries, Entry{Name: f.Name(), Folder: Folder{FS: os.DirFS(path), Path: path}})
	}
	for i := range entries {
		entries[i].Manifest, entries[i].Err = ReadManifest(entries[i].Folder.FS)
	}
	return entries, nil
}
