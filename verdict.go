package toxscreen

import (
	"context"
	"fmt"
)

// Judge is what a [Screener] asks for a second opinion. Implementations must
// be safe for concurrent use.
type Judge interface {
	// Judge returns the verdict on one text. spans are what a classifier found
	// in it, ordered and with offsets in bytes; they tell which parts of a long
	// text to look at. The error has an [AbstentionError] in its chain where the
	// judge answered, but gave no verdict.
	Judge(ctx context.Context, text string, spans []Span) (Verdict, error)
	// Parallel is how many texts at once keep the judge busy.
	Parallel() int
}

// Recaller is a [Judge] that keeps its verdicts.
type Recaller interface {
	// Recall returns the verdict on a text where it is known already. It asks
	// nobody, so that it takes next to no time.
	Recall(ctx context.Context, text string, spans []Span) (Verdict, bool)
}

// Verdict is what a judge says of one text under one rubric.
type Verdict struct {
	// Rubric is name@hash of the rubric.
	Rubric string `json:"rubric"`
	// Model is the name of the judge's model and the beginning of its digest.
	Model string `json:"model"`
	// Score is the weighted severity of the aspects, divided by the highest
	// that the rubric allows and multiplied by Scale. It is nil where the text
	// was not judged, which is not the same as 0.
	Score *Probability `json:"score,omitempty"`
	// Scale is the highest Score that the rubric allows.
	Scale Probability `json:"scale"`
	// Aspects are in the rubric's order.
	Aspects []AspectVerdict `json:"aspects"`
	// Addressed are the places where the text speaks to whoever judges it. A
	// "no" on such a text may be what the text asked for: it counts for nothing.
	Addressed []Evidence `json:"addressed,omitempty"`
	// Reason is the judge's own words, where they were asked for.
	Reason string `json:"reason,omitempty"`
	// Warnings are sentences about what limits the verdict.
	Warnings []string `json:"warnings"`
	// InputTokens and OutputTokens are what the judge read and wrote, a second
	// attempt included.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// AspectVerdict is the verdict on one aspect of a rubric.
type AspectVerdict struct {
	Name string `json:"name"`
	// Attribute is the one that the aspect measures; nil where it is none of
	// the seven.
	Attribute *Attribute `json:"attribute,omitempty"`
	Yes       bool       `json:"yes"` // the aspect is there
	// PYes is the probability of "yes" against "no" that the model's
	// log-probabilities give; nil where there are none. It is the model's own
	// and not calibrated.
	PYes *Probability `json:"p_yes,omitempty"`
	// Severity is 0 where Yes is false, else one of the rubric's levels; nil
	// where the judge does not tell.
	Severity *int `json:"severity,omitempty"`
	// Violations are those of the rubric's violations that the judge named.
	Violations []string `json:"violations,omitempty"`
	// Evidence are the quotations that are in the text.
	Evidence []Evidence `json:"evidence,omitempty"`
	// NotInText are quotations that are not: they count for nothing.
	NotInText []string `json:"not_in_text,omitempty"`
}

// Evidence is a stretch of the judged text.
type Evidence struct {
	Start int   `json:"start"` // offset of its first unit
	End   int   `json:"end"`   // offset behind its last unit
	Match Match `json:"match"`
}

// Match tells how a quotation was found in a text.
type Match string

// The ways, from the strictest.
const (
	MatchExact  Match = "exact"  // the same bytes
	MatchFolded Match = "folded" // the same but for case and white space
	MatchNear   Match = "near"   // the nearest stretch, up to a fifth of it different
)

// Measured returns the attributes that the verdict gives a probability for.
// A "no" on a text that addresses the judge is none.
func (v Verdict) Measured() Scores {
	var s Scores
	for _, a := range v.Aspects {
		if a.Attribute != nil && a.PYes != nil && (a.Yes || len(v.Addressed) == 0) {
			s.Set(*a.Attribute, float64(*a.PYes))
		}
	}
	return s
}

// AbstentionError is the error of a judge that answered, but gave no verdict.
type AbstentionError struct {
	Why string
	Raw string // the beginning of the answer
}

// Error implements error.
func (a *AbstentionError) Error() string { return "the judge gave no verdict: " + a.Why }

// Band is the range of toxicity in 0..1, both ends included, in which a text
// is borderline.
type Band struct{ Low, High float64 }

// DefaultBand is the band where none is configured. It is a fixed one: no data
// chose it.
var DefaultBand = Band{Low: 0.3, High: 0.7}

// Contains tells whether a probability is in the band.
func (b Band) Contains(p float64) bool { return p >= b.Low && p <= b.High }

// Escalate implements [Rule] by toxicity alone, and knows nothing of what a
// verdict is worth.
func (b Band) Escalate(_ context.Context, found Classification, _ Scores) (ask bool, why string) {
	toxicity, _ := found.Scores.Get(Toxicity)
	if b.Contains(toxicity) {
		return true, fmt.Sprintf("toxicity %.2f is inside the fixed band %s", toxicity, b)
	}
	return false, fmt.Sprintf("toxicity %.2f is outside the fixed band %s", toxicity, b)
}

// String returns the band as results show it.
func (b Band) String() string { return fmt.Sprintf("%.2f–%.2f", b.Low, b.High) }
