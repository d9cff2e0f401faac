package models

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/language"
)

// MultilingualName is the name of the embedded model of many languages.
const MultilingualName = "multilingual"

// Multilingual is the embedded model of many languages. The first text opens it, so that it costs
// no memory where all texts are English. It is safe for concurrent use; Close it when no call is
// active.
type Multilingual struct {
	manifest Manifest
	info     toxscreen.ModelInfo
	known    language.Known
	open     func() (*Model, error) // once
	model    *Model                 // nil until it is open
}

var (
	_ toxscreen.Classifier     = (*Multilingual)(nil)
	_ toxscreen.LanguageReader = (*Multilingual)(nil)
)

// OpenMultilingual reads the manifest of the embedded model of many languages.
func OpenMultilingual(o Options) (*Multilingual, error) {
	manifest, err := ReadManifest(multilingual())
	if err != nil {
		return nil, fmt.Errorf("failed to open model %s: %w", MultilingualName, err)
	}
	variant, err := manifest.Variant(cmp.Or(o.Provider, encoder.CPU))
	if err != nil {
		return nil, fmt.Errorf("failed to open model %s: %w", MultilingualName, err)
	}
	busy := encoder.InfoOf(variant.Batching, o.Threads)
	m := &Multilingual{manifest: manifest, known: language.New(manifest.Languages), info: toxscreen.ModelInfo{
		Version: manifest.Identity(), Attributes: manifest.Attributes(), Thresholds: manifest.Thresholds, Exits: len(variant.Exits),
		Languages: manifest.Languages, Parallel: busy.Parallel, Short: busy.Short,
	}}
	m.open = sync.OnceValues(func() (*Model, error) {
		opened, err := Open(MultilingualName, o)
		m.model = opened
		return opened, err
	})
	return m, nil
}

// Classify implements [toxscreen.Classifier]. The first call takes a quarter of a second longer.
func (m *Multilingual) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	model, err := m.open()
	if err != nil {
		return toxscreen.Classification{}, err
	}
	return model.Classify(ctx, text, depth)
}

// Info implements [toxscreen.Classifier].
func (m *Multilingual) Info() toxscreen.ModelInfo { return m.info }

// Manifest returns the model's manifest.
func (m *Multilingual) Manifest() Manifest { return m.manifest }

// ReadLanguage implements [toxscreen.LanguageReader], like [Model.ReadLanguage].
func (m *Multilingual) ReadLanguage(text string) (toxscreen.Language, []toxscreen.LanguagePart) {
	return readLanguage(m.known, m.manifest.Languages, text)
}

// Close frees the model's memory if it was opened.
func (m *Multilingual) Close() error {
	if m.model == nil {
		return nil
	}
	return m.model.Close()
}
