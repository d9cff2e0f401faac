package classifier_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
)

const withScales = "../testdata/models/tiny-scales"

// A model with two scales has, on the guideline's, what the same network has without the other: the
// further columns change neither scores nor spans nor where texts leave.
func TestTheGuidelinesScaleStaysAsItIs(t *testing.T) {
	one, two := open(t, withExits(t, exiting)), open(t, withExits(t, withScales))
	if one.Info().Scale != "" || two.Info().Scale != "" {
		t.Errorf("the scales are %q and %q, want none", one.Info().Scale, two.Info().Scale)
	}
	for _, text := range []string{"tea", "we walk and talk", "silly", "you 1d10t, damn"} {
		plain, early := bothWays(t, one, text)
		same, sameEarly := bothWays(t, two, text)
		if !cmp.Equal(plain, same, scoresEqual) || !cmp.Equal(early, sameEarly, scoresEqual) {
			t.Errorf("%q has %+v and %+v with one scale, %+v and %+v with two", text, plain, early, same, sameEarly)
		}
	}
}

// On the other scale, scores come from its own columns and its own calibration, the spans are the
// same, and no text leaves early, since exits estimate the guideline's scores.
func TestAnotherScale(t *testing.T) {
	c := open(t, withExits(t, withScales))
	view, err := c.On(toxscreen.PerspectiveScale)
	if err != nil {
		t.Fatal(err)
	}
	info := view.Info()
	if threshold, _ := info.Thresholds.Get(toxscreen.Threat); info.Scale != toxscreen.PerspectiveScale || threshold != 0.7 || info.Exits != 0 || len(info.Attributes) != 7 {
		t.Errorf("the scale is %+v", info)
	}
	odds := func(found toxscreen.Classification, a toxscreen.Attribute) float64 {
		p, _ := found.Scores.Get(a)
		return math.Log(p / (1 - p))
	}
	for _, text := range []string{"tea", "silly", "you stupid idiot", "we walk and talk"} {
		on, _ := bothWays(t, c, text)
		full, early := bothWays(t, view, text)
		if early.Exit != 0 || !cmp.Equal(full, early, scoresEqual) {
			t.Errorf("%q left at exit %d", text, early.Exit)
		}
		if !cmp.Equal(full.Spans, on.Spans, scoresEqual) {
			t.Errorf("%q has the spans %+v, on the other scale %+v", text, on.Spans, full.Spans)
		}
		// tiny-scales: logits are higher by 2, and the calibration halves those of toxicity.
		for a, want := range map[toxscreen.Attribute]float64{
			toxscreen.Toxicity: (odds(on, toxscreen.Toxicity) + 2) / 2, toxscreen.Insult: odds(on, toxscreen.Insult) + 2,
		} {
			if got := odds(full, a); math.Abs(got-want) > 1e-4 {
				t.Errorf("%q has log-odds %v of %s, want %v", text, got, a, want)
			}
		}
	}
}

func TestAScaleThatIsNotThere(t *testing.T) {
	if _, err := open(t, config(t, "../testdata/models/tiny")).On(toxscreen.PerspectiveScale); err == nil {
		t.Error("tiny has another scale")
	}
}

// Both scales are views of one network, so they may be used at the same time.
func TestScalesShareTheNetwork(t *testing.T) {
	c := open(t, withExits(t, withScales))
	view, err := c.On(toxscreen.PerspectiveScale)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := bothWays(t, view, "you idiot")
	done := make(chan error)
	for _, one := range []*classifier.Classifier{c, view, c, view} {
		go func() {
			var err error
			for range 50 {
				var found toxscreen.Classification
				if found, err = one.Classify(t.Context(), "you idiot", toxscreen.Early); err != nil {
					break
				}
				if one == view && !cmp.Equal(found, want, scoresEqual) {
					t.Errorf("got %+v, want %+v", found, want)
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
