package screen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/screen"
)

const mail = "you idiot, mail jane@example.com"

func TestOpenFinder(t *testing.T) {
	finder, err := screen.OpenFinder(screen.Settings{PII: screen.PII{NoNames: true, Settings: pii.Settings{Types: []toxscreen.EntityType{kind.EmailAddress}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	found, err := finder.Find(t.Context(), mail)
	if err != nil || len(found) != 1 || found[0].Type != kind.EmailAddress || found[0].Start != 16 {
		t.Errorf("got %+v, %v", found, err)
	}
	_, err = screen.OpenFinder(screen.Settings{PII: screen.PII{Settings: pii.Settings{Types: []toxscreen.EntityType{"EMAIL"}}}})
	if want := `unknown type "EMAIL" of personal data: the nearest known one is EMAIL_ADDRESS`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A Screener finds personal data only if that is asked for.
func TestScreenerWithPII(t *testing.T) {
	for _, with := range []bool{true, false} {
		screener, err := screen.Open(screen.Settings{Model: "../testdata/models/tiny", WithPII: with, PII: screen.PII{NoNames: true}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := screener.Score(t.Context(), mail)
		if err != nil || (result.Entities != nil) != with || with && len(result.Entities) != 1 || (result.Versions.Entities != "") != with {
			t.Errorf("with %t: got %+v of %q, %v", with, result.Entities, result.Versions.Entities, err)
		}
		if err := screener.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadRecognizers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
recognizers:
  - name: tickets
    supported_entity: TICKET
    patterns: [{name: number, regex: '\bT-\d{6}\b', score: 0.4}]
    context: [ticket]
  - {name: projects, supported_entity: PROJECT, deny_list: [Bluebird]}
allow_list: [info@example.com]
`)
	got, allow, err := screen.ReadRecognizers(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []pii.Recognizer{
		{Name: "tickets", Type: "TICKET", Patterns: []pii.Pattern{{Name: "number", Regex: `\bT-\d{6}\b`, Score: 0.4}}, Cues: []string{"ticket"}},
		{Name: "projects", Type: "PROJECT", DenyList: []string{"Bluebird"}},
	}
	if diff := cmp.Diff(want, got) + cmp.Diff([]string{"info@example.com"}, allow); diff != "" {
		t.Error(diff)
	}
	if _, err := (pii.Settings{Recognizers: got}).ParseType("TICKET"); err != nil {
		t.Error(err)
	}
	for content, want := range map[string]string{
		"recognisers: []":                "recognisers",
		"recognizers: 3":                 "cannot unmarshal",
		strings.Repeat("#", 1<<20) + "#": "1048576",
	} {
		write(content)
		if _, _, err := screen.ReadRecognizers(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
