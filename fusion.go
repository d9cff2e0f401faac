package toxscreen

import "context"

// Rule decides which texts the judge is asked about. Implementations must be safe
// for concurrent use.
type Rule interface {
	// Escalate decides whether to ask the judge about a text; why is a sentence
	// with the reason. found is the output of the classifier; thresholds has an
	// entry for each attribute of its scores.
	Escalate(ctx context.Context, found Classification, thresholds Scores) (ask bool, why string)
}

// Presumer is a [Rule] that may need a network call to decide, such as asking a
// server which judge it has.
type Presumer interface {
	// Presume is Escalate for a caller who cannot wait. If settled is false, the
	// decision is provisional and only Escalate can make the final one.
	Presume(ctx context.Context, found Classification, thresholds Scores) (ask bool, why string, settled bool)
}

// Fusion combines the scores of the classifier and the verdict of the judge. It
// must be deterministic and safe for concurrent use.
type Fusion interface {
	// Fuse returns the final probabilities. scores are the classifier's, each in
	// 0..1; verdict is nil if there is none. An error says why a verdict is
	// unusable; without a verdict there is no error.
	Fuse(scores Scores, verdict *Verdict) (Fused, error)
	// Version is the hash of the parameters, as results show it.
	Version() string
}

// Fused is the outcome of a [Fusion].
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
// people gave it. A [Fusion] is fitted and evaluated on such rows.
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
