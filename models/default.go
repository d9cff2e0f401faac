package models

import (
	"embed"
	"io/fs"
	"unsafe"
)

// The files are listed one by one so that no other file in the folder gets into
// the binary.
//
//go:embed toxicity-en/manifest.json toxicity-en/tokenizer.json toxicity-en/LICENSE toxicity-en/README.md
//go:embed toxicity-en/stage-1.ort toxicity-en/exit-1.ort toxicity-en/stage-2.ort toxicity-en/exit-2.ort toxicity-en/stage-3.ort
//go:embed toxicity-multi/model.ort toxicity-multi/manifest.json toxicity-multi/tokenizer.json toxicity-multi/LICENSE toxicity-multi/README.md
//go:embed entities-en/manifest.json entities-en/LICENSE entities-en/README.md
var embedded embed.FS

// The files of the networks as strings, which are not copied when they are read. The binary
// contains each file once.
var (
	//go:embed toxicity-en/stage-1.ort
	stage1 string
	//go:embed toxicity-en/exit-1.ort
	exit1 string
	//go:embed toxicity-en/stage-2.ort
	stage2 string
	//go:embed toxicity-en/exit-2.ort
	exit2 string
	//go:embed toxicity-en/stage-3.ort
	stage3 string
	//go:embed toxicity-multi/model.ort
	networkOfMany string
	//go:embed entities-en/network.ort
	networkOfNames string
)

// program is the folder of an embedded model. ONNX Runtime uses its weights in
// place: pages of weights that no text needs are never read.
type program struct {
	fs.FS

	networks map[string]string
}

// content returns a file without copying it. Its bytes must not be modified.
func (p program) content(name string) (data []byte, ok bool) {
	network, ok := p.networks[name]
	if !ok {
		return nil, false
	}
	return bytesOf(network), true
}

// bytesOf returns the bytes of a string without copying them.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // avoids a copy
}

// Default returns the folder of the embedded model of English.
func Default() fs.FS {
	return program{embeddedFolder("toxicity-en"), map[string]string{"stage-1.ort": stage1, "exit-1.ort": exit1, "stage-2.ort": stage2, "exit-2.ort": exit2, "stage-3.ort": stage3}}
}

// multilingual returns the folder of the embedded model of many languages.
func multilingual() fs.FS {
	return program{embeddedFolder("toxicity-multi"), map[string]string{"model.ort": networkOfMany}}
}

// embeddedFolder returns a folder in the binary.
func embeddedFolder(name string) fs.FS {
	folder, err := fs.Sub(embedded, name)
	if err != nil {
		panic(err) // the name is not a valid path: see [fs.ValidPath]
	}
	return folder
}
