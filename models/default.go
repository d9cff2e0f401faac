package models

import (
	"embed"
	"io/fs"
	"unsafe"
)

// The files are listed one by one so that no other file in the folder gets into
// the binary.
//
//go:embed toxicity-en/manifest.json toxicity-en/model.ort toxicity-en/tokenizer.json toxicity-en/LICENSE toxicity-en/README.md
var embedded embed.FS

// The same bytes again under a separate name; the binary contains them once.
//
//go:embed toxicity-en/model.ort
var embeddedModel string

// program is the folder of the embedded model. ONNX Runtime uses its weights in
// place: pages of weights that no text needs are never read.
type program struct{ fs.FS }

// content returns a file without copying it. Its bytes must not be modified.
func (program) content(name string) (data []byte, ok bool) {
	if name != "model.ort" {
		return nil, false
	}
	return unsafe.Slice(unsafe.StringData(embeddedModel), len(embeddedModel)), true //nolint:gosec // avoids a copy
}

// Default returns the folder of the embedded model.
func Default() fs.FS {
	folder, err := fs.Sub(embedded, "toxicity-en")
	if err != nil {
		panic(err) // the name is a valid path: see [fs.ValidPath]
	}
	return program{folder}
}
