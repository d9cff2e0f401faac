package pii_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/national"
)

// Prose, code, logs and tables are full of numbers, and none of them is that of a country: hashes,
// lots, prices and versions pass some checksum now and then, but not in the form and the company of
// such a number. See testdata/pii/README.md.
func TestHarmlessTextsHaveNoNationalNumbers(t *testing.T) {
	file, err := os.Open("../testdata/pii/harmless.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var types []toxscreen.EntityType
	for _, k := range national.All() {
		types = append(types, k.Type)
	}
	texts := 0
	for in := json.NewDecoder(unzipped); in.More(); {
		var document struct{ ID, Part, Text string }
		if err := in.Decode(&document); err != nil {
			t.Fatal(err)
		}
		if document.Part != "dev" {
			continue
		}
		texts++
		for _, number := range found(t, pii.Settings{Types: types}, document.Text) {
			t.Errorf("%s: %s", document.ID, number)
		}
	}
	if texts < 50 {
		t.Errorf("only %d texts were read", texts)
	}
}
