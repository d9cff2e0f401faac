package pii_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/pii"
)

// Without the addresses between, the cue stands near the number: it is found before the text is
// masked, and the masked text has nothing to find.
func TestForMasking(t *testing.T) {
	const text = "ssn of the one we know: jane@example.com, joe@example.com, jill@example.com 123-45-6789 or é 536-22-8765"
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []pii.OperatorKind{pii.Redact, pii.Replace} {
		operators := pii.Operators{pii.DefaultOperator: {Kind: kind}}
		entities, err := finder.ForMasking(operators).Find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entities {
			found = found || text[e.Start:e.End] == "123-45-6789"
		}
		if want := kind == pii.Redact; found != want {
			t.Errorf("%s: the sample is found: %t, want %t, in %+v", kind, found, want, entities)
		}
		masked, err := pii.Mask(text, entities, operators)
		if err != nil {
			t.Fatal(err)
		}
		again, err := finder.Find(t.Context(), masked.Text)
		if err != nil || len(again) > 0 {
			t.Errorf("%s: %q still has %+v, %v", kind, masked.Text, again, err)
		}
	}
}
