package selftest

import (
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
)

// The outcome of a self-test has large factors without exponents.
func TestTheOutcomeOfASelfTestIsReadable(t *testing.T) {
	outcome := Outcome{Test: Test{Model: "m", Rubric: "r"}, Tested: fusion.Tested{
		Figures: map[toxscreen.Attribute]fusion.Figures{
			toxscreen.Insult: {Sensitivity: fit.ShareOf(42, 42), Specificity: fit.ShareOf(100, 130)},
		},
		Attributes: map[toxscreen.Attribute]fusion.Opinion{toxscreen.Insult: {Slope: 2, Cap: 7, Lower: 2}},
	}}
	text := outcome.Text()
	for _, want := range []string{
		"insult             100 % (92–100)      77 % (69–83)      multiply the odds by 0.14 to 361\n",
		"threat             it does not answer for this\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}
