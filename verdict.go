package toxscreen

// Verdict is the opinion of a judge on one text under one rubric.
type Verdict struct {
	// Rubric is name@hash of the rubric.
	Rubric string `json:"rubric"`
	// Model is the name of the judge's model and the beginning of its digest.
	Model string `json:"model"`
	// Score is the weighted severity of the aspects, divided by the highest that
	// the rubric allows and multiplied by Scale. It is nil if the text was not
	// judged, which is not the same as 0.
	Score *Probability `json:"score,omitempty"`
	// Scale is the highest Score that the rubric allows.
	Scale Probability `json:"scale"`
	// Passage is the part of the text that the judge saw. It is nil if the judge saw
	// several parts of a long text; a warning then says so.
	Passage *Range `json:"passage,omitempty"`
	// Core has the parts of Passage that the classifier's score rests on, ordered and
	// without overlap, if the judge was also asked about them alone.
	Core []Range `json:"core,omitempty"`
	// Aspects are in the rubric's order.
	Aspects []AspectVerdict `json:"aspects"`
	// Addressed are the places where the text addresses the judge. A "no" on such a
	// text may be what the text asked for, so it is ignored.
	Addressed []Evidence `json:"addressed,omitempty"`
	// Reason is the judge's own explanation, if it was asked for.
	Reason string `json:"reason,omitempty"`
	// Warnings are sentences about the limits of the verdict.
	Warnings []string `json:"warnings"`
	// InputTokens and OutputTokens are the tokens that the judge read and wrote,
	// including a second attempt and the question about Core.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// AspectVerdict is the verdict on one aspect of a rubric.
type AspectVerdict struct {
	Name string `json:"name"`
	// Attribute is the attribute that the aspect measures; nil if the aspect is about
	// something else.
	Attribute *Attribute `json:"attribute,omitempty"`
	Yes       bool       `json:"yes"` // the text has the aspect
	// PYes is the probability of "yes" against "no" according to the model's
	// log-probabilities; nil if there are none. It is not calibrated.
	PYes *Probability `json:"p_yes,omitempty"`
	// YesAlone and PYesAlone are Yes and PYes for [Verdict].Core alone; nil if the judge
	// was not asked about the core or gave no answer. The sentences around the core may
	// have argued for a "no" on the passage.
	YesAlone  *bool        `json:"yes_alone,omitempty"`
	PYesAlone *Probability `json:"p_yes_alone,omitempty"`
	// Severity is 0 if Yes is false, otherwise one of the rubric's levels; nil if
	// the judge gives none.
	Severity *int `json:"severity,omitempty"`
	// Violations are the rubric's violations that the judge named.
	Violations []string `json:"violations,omitempty"`
	// Evidence are the places of the quotations that are in the text.
	Evidence []Evidence `json:"evidence,omitempty"`
	// NotInText are quotations that are not in the text: they are ignored.
	NotInText []string `json:"not_in_text,omitempty"`
}

// Range is a part of a text.
type Range struct {
	Start int `json:"start"` // offset of its first unit
	End   int `json:"end"`   // offset after its last unit
}

// Evidence is a place in the judged text.
type Evidence struct {
	Start int   `json:"start"` // offset of its first unit
	End   int   `json:"end"`   // offset after its last unit
	Match Match `json:"match"`
}

// Match tells how a quotation was found in a text.
type Match string

// The kinds of match, from the strictest.
const (
	MatchExact  Match = "exact"  // the same bytes
	MatchFolded Match = "folded" // differs only in case and white space
	MatchNear   Match = "near"   // the nearest match, up to a fifth of it differs
)

// Measured returns the probabilities of the attributes that the verdict measures. A
// "no" on a text that addresses the judge does not count.
func (v Verdict) Measured() Scores {
	var s Scores
	for _, a := range v.Aspects {
		if a.Attribute != nil && a.PYes != nil && (a.Yes || len(v.Addressed) == 0) {
			s.Set(*a.Attribute, float64(*a.PYes))
		}
	}
	return s
}

// AbstentionError is the error of a judge that answered but gave no verdict.
type AbstentionError struct {
	Why string
	Raw string // the beginning of the answer
}

// Error implements error.
func (a *AbstentionError) Error() string { return "the judge gave no verdict: " + a.Why }
