package toxscreen

import "context"

// Rule tells which texts a judge is asked about. Implementations must be safe
// for concurrent use.
type Rule interface {
	// Escalate tells whether a text is worth asking the judge about, and why in
	// a sentence. found is what the classifier said; thresholds has an entry for
	// each attribute of its scores.
	Escalate(ctx context.Context, found Classification, thresholds Scores) (ask bool, why string)
}

// Presumer is a [Rule] that may have to ask somebody before it can tell, such as
// a server which judge it has.
type Presumer interface {
	// Presume is Escalate for a caller who cannot wait. Where settled is false
	// it is what can be said so far, and only Escalate can tell.
	Presume(ctx context.Context, found Classification, thresholds Scores) (ask bool, why string, settled bool)
}

// Fusion makes one probability of what the classifier and the judge say. It
// must be safe for concurrent use, and the same for the same input.
type Fusion interface {
	// Fuse returns the final probabilities. scores are the classifier's, each
	// in 0..1; verdict is nil where there is none. An error says what makes a
	// verdict unusable; without a verdict there is none.
	Fuse(scores Scores, verdict *Verdict) (Fused, error)
	// Version is the hash of the parameters, as results show it.
	Version() string
}

// Fused is the outcome of a [Fusion].
type Fused struct {
	// Scores has the final probability in 0..1 of each attribute that the
	// classifier scored.
	Scores Scores
	// Evidence is how far the verdict moved the log-odds of each attribute that
	// it counted for, in nats. An attribute that it said nothing of, or nothing
	// that counts, is absent.
	Evidence Scores
}

// Labelled is what was found in a text together with what people say of it. It
// is what a [Fusion] is fitted on and measured by.
type Labelled struct {
	// Name tells texts apart: rows with the same name are the same text.
	Name    string
	Found   Classification
	Verdict *Verdict // nil where there is none
	Seconds float64  // that the verdict took
	// Labels holds the share in 0..1 of people who would say that the text has
	// an attribute. What nobody looked for is absent.
	Labels Scores
	// Weight is how many texts of the traffic the row stands for, over 0.
	Weight float64
}
