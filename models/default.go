package models

import (
	"embed"
	"io/fs"
)

// The files are named one by one so that nothing else that lies in the folder
// gets into the binary.
//
//go:embed toxicity-en/manifest.json toxicity-en/model.onnx toxicity-en/tokenizer.json toxicity-en/LICENSE toxicity-en/README.md
var embedded embed.FS

// Default returns the folder of the embedded model.
func Default() fs.FS {
	folder, err := fs.Sub(embedded, "toxicity-en")
	if err != nil {
		panic(err) // the name is a valid path: see [fs.ValidPath]
	}
	return folder
}
