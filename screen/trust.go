package screen

import (
	"fmt"
	"slices"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
)

// TrustMode says which judges are asked, and whether their verdicts count.
type TrustMode string

// The modes of [Settings.JudgeTrust].
const (
	// TrustTested asks a judge that passed its self-test, or that was fitted on
	// labelled texts. It is the default.
	TrustTested TrustMode = "tested"
	// TrustNone asks every judge and gives its verdicts no weight, to gather verdicts
	// for fitting.
	TrustNone TrustMode = "none"
)

// ParseTrustMode reads a mode by its name.
func ParseTrustMode(name string) (TrustMode, error) {
	if mode := TrustMode(name); mode == TrustTested || mode == TrustNone {
		return mode, nil
	}
	return "", fmt.Errorf("%q is unknown: it must be %s or %s", name, TrustTested, TrustNone)
}

// TrustState is the reason for what a judge's verdicts may change.
type TrustState string

// The states of [Trust]. Only the verdicts of a judge that is Trusted or Calibrated
// change scores.
const (
	Untested    TrustState = "untested"    // the judge is not asked: it has no self-test
	Failed      TrustState = "failed"      // the judge is not asked: it failed its self-test, or did not help on labelled texts
	Trusted     TrustState = "trusted"     // by its self-test
	Calibrated  TrustState = "calibrated"  // by labelled texts
	Unweighted  TrustState = "unweighted"  // asked under [TrustNone]
	Unreachable TrustState = "unreachable" // the server does not answer, or does not have the model
)

// Trust says what a judge's verdicts may change, and why.
type Trust struct {
	State TrustState `json:"state"`
	// Attributes are those whose scores verdicts may change, in their numeric order;
	// nil if there are none.
	Attributes []toxscreen.Attribute `json:"attributes,omitempty"`
	// Since is the time of the self-test that State comes from; zero if it does not
	// come from one.
	Since time.Time `json:"since,omitzero"`
	// Why is a sentence that gives the reason and, if there is one, the way out.
	Why string `json:"why"`
}

// Asked reports whether a judge is asked at all.
func (t Trust) Asked() bool {
	return t.State == Trusted || t.State == Calibrated || t.State == Unweighted
}

// Warning returns why verdicts of the judge change no score, empty if they may.
func (t Trust) Warning() string {
	switch t.State {
	case Trusted, Calibrated:
		return ""
	case Unweighted:
		return t.Why
	case Unreachable:
		return "the judge gives no verdict: " + t.Why
	case Untested, Failed:
	}
	return "the judge is not asked: " + t.Why
}

// equal reports whether the other says the same, apart from the reasons of a server that does
// not answer, which differ each time.
func (t Trust) equal(other Trust) bool {
	return t.State == other.State && (t.State == Unreachable || t.Why == other.Why && slices.Equal(t.Attributes, other.Attributes))
}

// String returns the state with its attributes and its time, such as "trusted for
// insult, threat since 2026-01-02".
func (t Trust) String() string {
	s := string(t.State)
	if len(t.Attributes) > 0 {
		s += " for " + joined(t.Attributes, ", ")
	}
	if !t.Since.IsZero() {
		s += " since " + t.Since.Format(time.DateOnly)
	}
	return s
}

// toAsk is the way out for a judge that is not asked.
const toAsk = "run toxscreen judge --self-test, or set judge_trust to none to ask it without giving its verdicts any weight"

// TrustByTest returns the trust that a self-test earned by itself when it ended.
func TrustByTest(t selftest.Test) Trust {
	if !t.Complete {
		return Trust{State: Untested, Why: "the self-test was interrupted: run it again to go on"}
	}
	trust := Trust{State: Trusted, Since: t.When, Attributes: t.Trusted, Why: "the judge passed its self-test of " + t.When.Format(time.DateOnly)}
	if t.Failed != "" {
		trust.State, trust.Why = Failed, t.Failed
	}
	return trust
}

// weighed returns the fusion for a judge, and what its verdicts may change. tested is its
// self-test, nil if there is none, and measured what it allows beside the classifier in
// use; nil if the classifier is not at hand: then the trust is that of the end of the
// test.
func weighed(f *fusion.Fusion, model judge.Model, tested *selftest.Test, measured *fusion.Tested) (*fusion.Fusion, Trust) {
	trust := Trust{State: Untested, Why: "the judge has no self-test and was not fitted on labelled texts: " + toAsk}
	if tested != nil {
		trust = TrustByTest(*tested)
	}
	with := f.With(model.String(), model.Rubric, measured)
	if measured != nil {
		if trust.Attributes = measured.Trusted(); len(trust.Attributes) == 0 {
			trust.State, trust.Why = Failed, measured.Why
		}
	}
	if f.Knows(model.String(), model.Rubric) {
		trust = Trust{State: Calibrated, Attributes: with.Trusted(), Why: "the judge was fitted on labelled texts, by the parameters " + f.Version()}
		if len(trust.Attributes) == 0 {
			trust.State, trust.Why = Failed, "on labelled texts, the judge did not improve on the classifier alone"
		}
	}
	return with, trust
}
