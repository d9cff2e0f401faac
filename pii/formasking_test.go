package pii_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/pii"
)

// Without the addresses between, or with a word in their place that is a cue, the number is
// near a cue: it is found before the text is masked, and the masked text has nothing to find.
func TestForMasking(t *testing.T) {
	const text = "ssn of the one we know: jane@example.com, joe@example.com, jill@example.com 123-45-6789 or é 536-22-8765"
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cue := "ssn"
	for name, test := range map[string]struct {
		operator pii.Operator
		found    bool
	}{
		"redact":           {pii.Operator{Kind: pii.Redact}, true},
		"replace":          {pii.Operator{Kind: pii.Replace}, false},
		"replace by a cue": {pii.Operator{Kind: pii.Replace, NewValue: &cue}, true},
	} {
		operators := pii.Operators{pii.DefaultOperator: test.operator}
		entities, err := finder.ForMasking(operators).Find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entities {
			found = found || text[e.Start:e.End] == "123-45-6789"
		}
		if found != test.found {
			t.Errorf("%s: the sample is found: %t, want %t, in %+v", name, found, test.found, entities)
		}
		masked, err := pii.Mask(text, entities, operators)
		if err != nil {
			t.Fatal(err)
		}
		again, err := finder.Find(t.Context(), masked.Text)
		if err != nil || len(again) > 0 {
			t.Errorf("%s: %q still has %+v, %v", name, masked.Text, again, err)
		}
	}
}
