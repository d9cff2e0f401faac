package pii_test

import (
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
)

// The regulation has 18 identifiers, and two of them cannot be in a text.
func TestHIPAA(t *testing.T) {
	known := pii.Types()
	absent := 0
	for i, identifier := range pii.HIPAA() {
		if want := string(rune('A' + i)); identifier.Letter != want {
			t.Errorf("%s stands at %s", identifier.Letter, want)
		}
		if len(identifier.Types) == 0 {
			absent++
			if identifier.Note == "" {
				t.Errorf("%s is not looked for, and nothing says why", identifier.Name)
			}
		}
		for _, typ := range identifier.Types {
			if !slices.Contains(known, typ) || !slices.Contains(pii.PHITypes(), typ) {
				t.Errorf("%s has the type %s, which nothing finds", identifier.Name, typ)
			}
		}
	}
	if n := len(pii.HIPAA()); n != 18 || absent != 2 {
		t.Errorf("%d identifiers, %d of them not in text", n, absent)
	}
	if slices.Contains(pii.PHITypes(), pii.NRP) {
		t.Error("NRP is no identifier of HIPAA")
	}
}

// Ages under 90 may be found where they were asked for. They may stay under Safe Harbor.
func TestIsIdentifier(t *testing.T) {
	for text, want := range map[string]bool{"93 years old": true, "90": true, "９３ years old": true, "her 94th birthday": true, "89 years old": false, "34": false, "90 months old": false, "95-day-old": false} {
		if got := pii.IsIdentifier(text, toxscreen.Entity{Type: pii.Age, End: len(text)}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !pii.IsIdentifier("Ann", toxscreen.Entity{Type: pii.Person, End: 3}) || pii.IsIdentifier("Dr.", toxscreen.Entity{Type: pii.Title, End: 3}) {
		t.Error("a name is an identifier, a title none")
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
		for _, r := range pii.HealthContent(text) {
			got = append(got, text[r.Start:r.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
