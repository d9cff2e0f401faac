package toxscreen

import (
	"context"
	"fmt"
)

// Opinion is a second opinion on texts: which of them a judge is asked about, what it says, and
// what that changes. Its parts are functions, so that those of different packages fit together:
//
//	toxscreen.Opinion{
//		Decide: f.Decide, Recall: j.Recall, Ask: j.Judge, Parallel: j.Parallel(), // a fusion.Fusion and a judge.Judge
//		Fuse: f.Fuse, Version: f.Version(),
//	}
//
// All of them must be safe for concurrent use.
type Opinion struct {
	// Decide decides whether to ask the judge about a text. It returns almost at once.
	// found is the output of the classifier; thresholds has an entry for each attribute of
	// its scores. If Decide is nil, the judge is asked about every text.
	Decide func(found Classification, thresholds Scores) Decision

	// Recall returns the stored verdict on a text, if there is one. It makes no network call
	// and returns almost at once. It is nil if no verdicts are stored.
	Recall func(ctx context.Context, text string, found Classification) (Verdict, bool)

	// Ask returns the judge's verdict on a text. found is what a classifier found in it; it
	// selects the passage to judge. The error has an [AbstentionError] in its chain if the
	// judge answered but gave no verdict. Ask is nil if there is no judge.
	Ask func(ctx context.Context, text string, found Classification) (Verdict, error)

	// Parallel is the number of concurrent texts that keeps the judge busy; 0 means 1.
	Parallel int

	// Fuse returns the final probabilities of the classifier's scores, each in 0..1, and of a
	// verdict, nil if there is none. An error says why a verdict is unusable; without a
	// verdict there is no error. Fuse must be deterministic. If it is nil, the final
	// probabilities are the classifier's, and a verdict stands beside them.
	Fuse func(scores Scores, verdict *Verdict) (Fused, error)

	// Version is the hash of the parameters of Fuse, as results show it.
	Version string
}

// Decision says whether the judge is asked about a text.
type Decision struct {
	Ask bool
	Why string // a sentence that gives the reason
	// Settle makes the final decision. It may need a network call, such as asking a server
	// which judge it has. It is nil if this decision is final.
	Settle func(ctx context.Context) Decision
}

// decide decides about a text of which found is known.
func (o Opinion) decide(found Classification, thresholds Scores) Decision {
	if o.Decide == nil {
		return Decision{Ask: true, Why: "the judge is asked about every text"}
	}
	return o.Decide(found, thresholds)
}

// fuse returns the final probabilities.
func (o Opinion) fuse(scores Scores, verdict *Verdict) (Fused, error) {
	if o.Fuse == nil {
		return Fused{Scores: scores}, nil
	}
	return o.Fuse(scores, verdict)
}

// Band is the range of toxicity in 0..1, both ends included, in which a text
// is borderline.
type Band struct{ Low, High float64 }

// Contains reports whether a probability is in the band.
func (b Band) Contains(p float64) bool { return p >= b.Low && p <= b.High }

// Decide is the part of an [Opinion] that asks about the texts in the band, whatever a verdict on
// them is worth.
func (b Band) Decide(found Classification, _ Scores) Decision {
	toxicity, _ := found.Scores.Get(Toxicity)
	if b.Contains(toxicity) {
		return Decision{Ask: true, Why: fmt.Sprintf("toxicity %.2f is inside the fixed band %s", toxicity, b)}
	}
	return Decision{Why: fmt.Sprintf("toxicity %.2f is outside the fixed band %s", toxicity, b)}
}

// String returns the band as results show it.
func (b Band) String() string { return fmt.Sprintf("%.2f–%.2f", b.Low, b.High) }

// Fused is the outcome of [Opinion].Fuse.
type Fused struct {
	// Scores has the final probability in 0..1 of each attribute that the
	// classifier scored.
	Scores Scores
	// Evidence is how far the verdict moved the log-odds of each attribute, in
	// nats. An attribute is absent if the verdict says nothing about it or does not
	// count.
	Evidence Scores
}

// Labelled is the classification and the verdict of a text, with the labels that
// people gave it. An [Opinion] is fitted and evaluated on such rows.
type Labelled struct {
	// Name identifies the text: rows with the same name are the same text.
	Name    string
	Found   Classification
	Verdict *Verdict // nil if there is none
	Seconds float64  // how long the verdict took
	// Labels holds the share in 0..1 of people who would say that the text has an
	// attribute. An attribute that was not annotated is absent.
	Labels Scores
	// Weight is the number of texts in the traffic that the row represents, over 0.
	Weight float64
}
