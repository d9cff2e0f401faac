package models_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// The network finds in Go what it finds in scripts/train/entities_export.py, which wrote the
// file: the same names, and the same scores to the rounding of a shared run.
func TestNamesAreThoseOfTheTraining(t *testing.T) {
	data, err := os.ReadFile("../testdata/pii/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct {
		Text     string
		Entities []toxscreen.Entity
	}
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	names := openNames(t)
	for _, want := range texts {
		found, err := names.Find(t.Context(), want.Text)
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b toxscreen.Entity) bool {
			return a.Type == b.Type && a.Start == b.Start && a.End == b.End && max(a.Score-b.Score, b.Score-a.Score) < 0.01
		}
		if !slices.EqualFunc(found, want.Entities, same) {
			t.Errorf("%q:\n%v, want\n%v", want.Text, found, want.Entities)
		}
	}
}

// Long texts are read in windows; a name in a window's overlap is found once.
func TestNamesOfALongText(t *testing.T) {
	names := openNames(t)
	text, at := "", []int{}
	for range 60 {
		text += "The invoice was paid in time and nobody complained about it. "
		at = append(at, len(text))
		text += "Margaret Johnson signed the letter. "
	}
	found, err := names.Find(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	var starts []int
	for _, e := range found {
		if e.Type != "PERSON" || text[e.Start:e.End] != "Margaret Johnson" {
			t.Errorf("%s %q", e.Type, text[e.Start:e.End])
		}
		starts = append(starts, e.Start)
	}
	if !slices.Equal(starts, at) {
		t.Errorf("%v, want %v", starts, at)
	}
}

// A finder that never saw a text need not have opened the network.
func TestNamesAreOpenedByTheFirstText(t *testing.T) {
	names, err := models.OpenNames(models.Options{Library: "nowhere.so"})
	if err != nil {
		t.Fatal(err)
	}
	if len(names.Types()) != 5 || names.Version() == "" {
		t.Errorf("%v, %q", names.Types(), names.Version())
	}
	if _, err := names.Find(t.Context(), "text"); err == nil {
		t.Error("a text was read without the library")
	}
	if err := names.Close(); err != nil {
		t.Error(err)
	}
}

func openNames(t *testing.T) *models.Names {
	t.Helper()
	names, err := models.OpenNames(models.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := names.Close(); err != nil {
			t.Error(err)
		}
	})
	return names
}
