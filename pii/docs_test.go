package pii_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/pii"
)

// The documentation has the identifiers of HIPAA as the package has them.
func TestIdentifiersAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/personal-data.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range pii.HIPAA() {
		types := make([]string, len(i.Types))
		for n, one := range i.Types {
			types[n] = string(one)
		}
		if row := fmt.Sprintf("| %s | %s | %s | %s |\n", i.Letter, i.Name, strings.Join(types, ", "), i.Note); !strings.Contains(string(doc), row) {
			t.Errorf("docs/personal-data.md lacks\n%s", row)
		}
	}
}

// The documentation names every type.
func TestTypesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/personal-data.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range pii.Types() {
		if !strings.Contains(string(doc), string(of)) {
			t.Errorf("docs/personal-data.md lacks %s", of)
		}
	}
}
