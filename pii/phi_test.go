package pii

import (
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
)

// The regulation has 18 identifiers, and two of them cannot be in a text.
func TestHIPAA(t *testing.T) {
	looked := map[toxscreen.EntityType]bool{}
	absent := 0
	for i, identifier := range HIPAA() {
		if want := string(rune('A' + i)); identifier.Letter != want {
			t.Errorf("%s stands at %s", identifier.Letter, want)
		}
		if len(identifier.Types) == 0 {
			absent++
			if identifier.Note == "" {
				t.Errorf("%s is not looked for, and nothing says why", identifier.Name)
			}
		}
		for _, found := range identifier.Types {
			looked[found] = true
		}
	}
	if n := len(HIPAA()); n != 18 {
		t.Errorf("%d identifiers, want 18", n)
	}
	if absent != 2 {
		t.Errorf("%d identifiers are not looked for, want 2", absent)
	}
	for _, k := range Kinds() {
		if looked[k.Type] != (k.HIPAA != "") {
			t.Errorf("%s has the letters %q, which no identifier has", k.Type, k.HIPAA)
		}
	}
	if looked[kind.NRP] {
		t.Error("NRP is taken for an identifier of HIPAA")
	}
}

// Ages under 90 may be found where they were asked for. They may stay under Safe Harbor.
func TestIsIdentifier(t *testing.T) {
	for text, want := range map[string]bool{"93 years old": true, "90": true, "９３ years old": true, "her 94th birthday": true, "89 years old": false, "34": false, "90 months old": false, "95-day-old": false} {
		if got := isIdentifier(text, toxscreen.Entity{Type: kind.Age, End: len(text)}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for typ, want := range map[toxscreen.EntityType]bool{kind.Person: true, kind.Title: false, "STAFF_NUMBER": true} {
		if got := isIdentifier("Ann", toxscreen.Entity{Type: typ, End: 3}); got != want {
			t.Errorf("%s: %v, want %v", typ, got, want)
		}
	}
}

func TestHealthContent(t *testing.T) {
	for text, want := range map[string][]string{
		"John Doe is in the hospital for a bad case of carpal tunnel.":                    {"carpal tunnel"},
		"She was diagnosed with Type 2 Diabetes and takes metformin.":                     {"diagnosed", "Diabetes", "metformin"},
		"High blood pressure, two heart attacks, chest\npain":                             {"High blood pressure", "heart attacks", "chest\npain"},
		"He had open-heart surgery after the X-ray.":                                      {"open-heart surgery", "X-ray"},
		"The operation of the pump was cold and dry; his strokes of genius are ostrokes.": {"strokes"},
		"The committee meets on Monday to talk about the budget of the public library.":   nil,
		"": nil,
	} {
		var got []string
		for _, r := range healthContent(text) {
			got = append(got, text[r.Start:r.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
