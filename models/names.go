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

// namesManifest is the content of the manifest.json of the embedded network of names. The
// network takes what the first stage of the default model makes of a text: the embeddings,
// the largest part of both models, are in the program once.
type namesManifest struct {
	Format      int        `json:"format"`
	Name        string     `json:"name"`
	Version     string     `json:"version"`
	Description string     `json:"description"`
	License     string     `json:"license"`
	Languages   []string   `json:"languages"`
	Provenance  Provenance `json:"provenance"`

	Files      map[string]Hash `json:"files"` // the network only
	Embeddings struct {
		shared

		Output string `json:"output"` // of the first stage; the network takes it as its input of that name
		Width  int    `json:"width"`
	} `json:"embeddings"`
	Tokenizer shared `json:"tokenizer"`

	Output     string                           `json:"output"` // logits, float32 [windows, tokens, 1 + 2·types]
	Types      []toxscreen.EntityType           `json:"types"`
	Thresholds map[toxscreen.EntityType]float64 `json:"thresholds"`
	Window     encoder.Window                   `json:"window"`

	Card Card `json:"card,omitzero"`

	sum Hash // of the manifest file
}

// shared is a file of the default model.
type shared struct {
	Model string `json:"model"`
	File  string `json:"file"`
	Hash  Hash   `json:"hash"`
}

// Identity returns name@version and the first twelve digits of the manifest's SHA-256, like
// [Manifest.Identity].
func (m namesManifest) Identity() string {
	return fmt.Sprintf("%s@%s %s", m.Name, m.Version, m.sum.String()[:len(hashPrefix)+12])
}

// Names is the embedded network of names, see [names.Network]. The first call of Find opens the
// network. Names is safe for concurrent use; Close it when no call is active.
type Names struct {
	manifest namesManifest
	parallel int
	open     func() (*piinames.Network, error) // once
	network  *piinames.Network                 // nil until it is open
}

var _ pii.Names = (*Names)(nil)

// OpenNames reads the manifest of the embedded network of names.
func OpenNames(o Options) (*Names, error) {
	manifest, err := readNames(embeddedFolder("entities-en"))
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

// Find implements [pii.Names]. Opening the network at the first call takes a tenth of a second.
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
func readNames(folder fs.FS) (namesManifest, error) {
	data, sum, err := readFile(folder, ManifestName, maxManifest)
	if err != nil {
		return namesManifest{}, err
	}
	m := namesManifest{sum: sum}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return namesManifest{}, fmt.Errorf("failed to read %s: %w", ManifestName, err)
	}
	return m, nil
}

// openNames opens the network. It needs the default model's files that it was trained on.
func openNames(m namesManifest, o Options) (*piinames.Network, error) {
	base, err := ReadManifest(Default())
	if err != nil {
		return nil, err
	}
	for _, file := range []shared{m.Embeddings.shared, m.Tokenizer} {
		if base.Name != file.Model || base.Files[file.File] != file.Hash {
			return nil, fmt.Errorf("failed to open the network of names: it was trained on %s of %s with %s, and the program has another: train it again", file.File, file.Model, file.Hash)
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
				{Model: bytesOf(networkOfNames), Inputs: []string{mask, shapes}, Heads: []encoder.Head{
					{Name: "names", Output: m.Output, Task: encoder.TokenClassification, Columns: 1 + 2*len(m.Types)},
				}},
			},
			Tokenizer: tokenizer, Window: m.Window, Batching: namesBatching,
			Provider: encoder.CPU, Library: o.Library, Threads: o.Threads,
		},
		Types: m.Types, Thresholds: m.Thresholds,
	})
}
