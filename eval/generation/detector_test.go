package generation_test

import (
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/generation"
)

// TestOwnDetector checks that the embedded counts can correct: some thousand texts, most
// toxic and clean ones on their sides.
func TestOwnDetector(t *testing.T) {
	d := generation.OwnDetector()
	run := mixed(0)
	run.Settings.Classifier = d.Classifier
	toxicity := measure(t, run, d).Attributes[0]
	if c := toxicity.Corrected; c == nil || c.Interval == nil || c.Value < toxicity.Fraction.Value/2 || c.Value > 2*toxicity.Fraction.Value {
		t.Errorf("the fraction %v is corrected to %v", toxicity.Fraction.Value, c)
	}
	if _, ok := d.Toxic[toxscreen.SevereToxicity]; ok {
		t.Error("severe_toxicity has counts, but its labels changed their meaning")
	}
}
