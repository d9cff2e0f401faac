package sentence_test

import (
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen/internal/sentence"
)

// A cut inside a disguised word would leave two harmless halves.
func TestEnds(t *testing.T) {
	for text, want := range map[string][]string{
		"Go away. Now!":                          {"Go away. ", "Now!"},
		"You b!tch. Go!":                         {"You b!tch. ", "Go!"},
		"an !d!ot and a$$.hole, sh!t!":           {"an !d!ot and a$$.hole, sh!t!"},
		"F.U.C.K f.u.c.k B!TCH! No.":             {"F.U.C.K f.u.c.k B!TCH! ", "No."},
		"you i d ! o t! No: s h ! t":             {"you i d ! o t! ", "No: s h ! t"},
		"f?ck that. What?":                       {"f?ck that. ", "What?"},
		"Stop!Now. Oh!!no. Good ! I go.":         {"Stop!", "Now. ", "Oh!!", "no. ", "Good ! ", "I go."},
		"He left! a big loss\n!important\nx!\ny": {"He left! ", "a big loss\n", "!important\n", "x!\n", "y"},
		"\"Go!\" he said. 是的！好":                  {"\"Go!\" ", "he said. ", "是的！", "好"},
	} {
		var got []string
		at := 0
		for _, end := range sentence.Ends(text) {
			got, at = append(got, text[at:end]), end
		}
		if !slices.Equal(got, want) {
			t.Errorf("the sentences of %q are %q, want %q", text, got, want)
		}
	}
}
