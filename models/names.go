package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/pii"
	piinames "github.com/toxscreen/toxscreen/pii/names"
	"github.com/toxscreen/toxscreen/tokenize"
)

// NamesManifest is the content of the manifest.json of the embedded network of names. It
// reads what the first stage of the default model makes of a text, so that the largest part
// of both, the embeddings, is in the program once.
type NamesManifest struct {
	Format      int        `json:"format"`
	Name        string     `json:"name"`
	Version     string     `json:"version"`
	Description string     `json:"description"`
	License     string     `json:"license"`
	Languages   []string   `json:"languages"`
	Provenance  Provenance `json:"provenance"`

	Files      map[string]Hash `json:"files"` // one: the network
	Embeddings struct {
		Shared

		Output string `json:"output"` // of the file, and input of the network
		Width  int    `json:"width"`
	} `json:"embeddings"`
	Tokenizer Shared `json:"tokenizer"`

	Output     string                           `json:"output"` // logits, float32 [windows, tokens, 1 + 2·types]
	Types      []toxscreen.EntityType           `json:"types"`
	Thresholds map[toxscreen.EntityType]float64 `json:"thresholds"`
	Window     encoder.Window                   `json:"window"`

	Card Card `json:"card,omitzero"`

	sum Hash // of the manifest file
}

// Shared is a file of the default model.
type Shared struct {
	Model string `json:"model"`
	File  string `json:"file"`
	Hash  Hash   `json:"hash"`
}

// Identity returns name@version and the first twelve digits of the manifest's SHA-256, like
// [Manifest.Identity].
func (m NamesManifest) Identity() string {
	return fmt.Sprintf("%s@%s %s", m.Name, m.Version, m.sum.String()[:len(hashPrefix)+12])
}

// Names is the embedded network of names, see [names.Network]. The network is opened when the
// first text needs it. It is safe for concurrent use; Close it when no call is active.
type Names struct {
	manifest NamesManifest
	parallel int
	open     func() (*piinames.Network, error) // once
	network  *piinames.Network                 // nil until it is open
}

var _ pii.Names = (*Names)(nil)

// OpenNames reads the manifest of the embedded network of names.
func OpenNames(o Options) (*Names, error) {
	manifest, err := readNames(namesFolder())
	if err != nil {
		return nil, fmt.Errorf("failed to open the network of names: %w", err)
	}
	n := &Names{manifest: manifest, parallel: encoder.InfoOf(namesBatching, o.Threads).Parallel}
	n.open = sync.OnceValues(func() (*piinames.Network, error) {
		opened, err := openNames(manifest, o)
		n.network = opened
		return opened, err
	})
	return n, nil
}

// Manifest returns the manifest.
func (n *Names) Manifest() NamesManifest { return n.manifest }

// Find implements [pii.Names]. The first call opens the network, which takes a tenth of a
// second.
func (n *Names) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	network, err := n.open()
	if err != nil {
		return nil, err
	}
	return network.Find(ctx, text)
}

// Types implements [pii.Names].
func (n *Names) Types() []toxscreen.EntityType { return n.manifest.Types }

// Version implements [pii.Names].
func (n *Names) Version() string { return n.manifest.Identity() }

// Parallel implements [pii.Names].
func (n *Names) Parallel() int { return n.parallel }

// Close frees the network's memory if it was opened.
func (n *Names) Close() error {
	if n.network == nil {
		return nil
	}
	return n.network.Close()
}

// namesBatching is how short texts share runs of the network of names.
const namesBatching = encoder.Bucketed

// readNames reads the manifest in a folder.
func readNames(folder fs.FS) (NamesManifest, error) {
	data, sum, err := readFile(folder, ManifestName, maxManifest)
	if err != nil {
		return NamesManifest{}, err
	}
	m := NamesManifest{sum: sum}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return NamesManifest{}, fmt.Errorf("failed to read %s: %w", ManifestName, err)
	}
	return m, nil
}

// openNames opens the network. It needs the default model's files that it was trained on.
func openNames(m NamesManifest, o Options) (*piinames.Network, error) {
	base, err := ReadManifest(Default())
	if err != nil {
		return nil, err
	}
	for _, shared := range []Shared{m.Embeddings.Shared, m.Tokenizer} {
		if base.Name != shared.Model || base.Files[shared.File] != shared.Hash {
			return nil, fmt.Errorf("failed to open the network of names: it was trained on %s of %s with %s, and the program has another: train it again", shared.File, shared.Model, shared.Hash)
		}
	}
	embeddings, err := base.read(Default(), m.Embeddings.File)
	words, wordsErr := base.read(Default(), m.Tokenizer.File)
	if err = errors.Join(err, wordsErr); err != nil {
		return nil, err
	}
	tokenizer, err := tokenize.Load(words)
	if err != nil {
		return nil, fmt.Errorf("failed to load %s: %w", m.Tokenizer.File, err)
	}
	const ids, mask, shapes = "input_ids", "attention_mask", "token_shapes"
	return piinames.Open(piinames.Config{
		Encoder: encoder.Config{
			Stages: []encoder.Stage{
				{Model: embeddings, Inputs: []string{ids, mask}, Hidden: m.Embeddings.Output, Width: m.Embeddings.Width},
				{Model: namesNetwork(), Inputs: []string{mask, shapes}, Heads: []encoder.Head{
					{Name: "names", Output: m.Output, Task: encoder.TokenClassification, Columns: 1 + 2*len(m.Types)},
				}},
			},
			Tokenizer: tokenizer, Window: m.Window, Batching: namesBatching,
			Provider: encoder.CPU, Library: o.Library, Threads: o.Threads,
		},
		Types: m.Types, Thresholds: m.Thresholds,
	})
}
