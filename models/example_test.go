package models_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

func ExampleOpenDefault() {
	model, err := models.OpenDefault(models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()

	result, err := toxscreen.New(model).Score(context.Background(), "What a stupid idiot you are!")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Flagged, result.Attributes[toxscreen.Insult].Flagged, result.Attributes[toxscreen.Threat].Flagged)
	// Output: true true false
}

// A model whose labels do not say what they mean needs a map, which its model
// card gives.
func ExampleImport() {
	dir, err := os.MkdirTemp("", "models")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	const export = "../testdata/models/hub-xlm-roberta" // config.json, tokenizer.json, model.onnx
	manifest, err := models.Import(export, filepath.Join(dir, "mine"), models.ImportOptions{
		Name:   "mine",
		Labels: map[string]toxscreen.Attribute{"LABEL_1": toxscreen.Toxicity},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(manifest.Name, manifest.Activation, manifest.Window.Tokens)
	// Output: mine softmax 128
}

func ExampleVerify() {
	manifest, err := models.Verify(os.DirFS("../testdata/models/tiny"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(manifest.Name, manifest.Version, len(manifest.Files), "files are whole")
	// Output: tiny 1.0.0 2 files are whole
}
