package toxscreen

import (
	"encoding/json"
	"fmt"
)

// Result is what a [Screener] says of one text. Its JSON form is the native
// format of the command line.
type Result struct {
	// ID is the caller's name for the text; Score leaves it empty.
	ID string `json:"id,omitempty"`

	// Score is the calibrated probability in 0..1 that people would call the
	// text toxic: of the texts scored 0.8, about 80 % would be called so.
	Score Probability `json:"score"`

	// Flagged tells whether any attribute is at or over its threshold.
	Flagged bool `json:"flagged"`

	// Severity is the band that Score falls into.
	Severity Severity `json:"severity"`

	// Direction is always HigherIsMoreToxic. It is part of every result
	// because other systems' scores run the other way.
	Direction Direction `json:"direction"`

	// Attributes holds what was measured for each attribute. An attribute
	// that the model does not have is absent.
	Attributes AttributeResults `json:"attributes"`

	// Spans are the words that make the text score, ordered by Start and
	// without overlap. It is empty where no word does, and nil where the
	// model cannot tell, which Warnings then says.
	Spans []Span `json:"spans"`

	// OffsetUnit is what the offsets of Spans count.
	OffsetUnit OffsetUnit `json:"offset_unit"`

	// Source tells which stages the Score comes from.
	Source Source `json:"source"`

	// Judge tells whether the judge was asked, and why.
	Judge JudgeReport `json:"judge"`

	// Warnings are sentences about what limits this result.
	Warnings []string `json:"warnings"`

	// Versions names everything that the numbers depend on.
	Versions Versions `json:"versions"`
}

// Reaches tells whether the score of any attribute is at or over its limit, as
// both are printed. Attributes that limits has no number for do not count.
func (r Result) Reaches(limits Scores) bool {
	for a, limit := range limits.All() {
		if measured, ok := r.Attributes[a]; ok && measured.Score.Rounded() >= limit {
			return true
		}
	}
	return false
}

// AttributeResult is what was measured for one attribute.
type AttributeResult struct {
	// Score is the final probability in 0..1.
	Score Probability `json:"score"`
	// Classifier is the classifier's own calibrated probability in 0..1, before
	// any Fusion.
	Classifier Probability `json:"classifier"`
	// Plain is the classifier's probability of the text as it is written, where
	// reading it without its disguise changed Classifier noticeably; else nil.
	Plain *Probability `json:"plain,omitempty"`
	// Judge is the judge's own probability, not calibrated; nil where it gave
	// none. What it counts for in Score, the Fusion decides.
	Judge *Probability `json:"judge,omitempty"`
	// Threshold is the probability from which Flagged is true.
	Threshold Probability `json:"threshold"`
	Flagged   bool        `json:"flagged"`
}

// AttributeResults maps attributes to what was measured for them.
type AttributeResults map[Attribute]AttributeResult

// MarshalJSON writes an object with the attributes in their order rather than
// in that of the alphabet.
func (r AttributeResults) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for a := range attributeCount {
		measured, ok := r[a]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		value, err := json.Marshal(measured)
		if err != nil {
			return nil, fmt.Errorf("failed to encode %s: %w", a, err)
		}
		out = append(out, '"')
		out = append(out, attributeNames[a]...)
		out = append(out, '"', ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// JudgeReport tells what part the judge had in a result.
type JudgeReport struct {
	Asked bool `json:"asked"`
	// Pending tells that the judge has not answered yet: the same text may have
	// another result when it has.
	Pending bool `json:"pending,omitempty"`
	// ID is what the final result can be fetched by from the server that answered
	// before the judge did.
	ID string `json:"id,omitempty"`
	// Why is a sentence that gives the reason.
	Why string `json:"why"`
	// Verdicts is empty where the judge was not asked or gave none.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Error tells why a judge that was asked gave no verdict.
	Error string `json:"error,omitempty"`
	// Raw is the beginning of an answer that was no verdict.
	Raw string `json:"raw,omitempty"`
	// Milliseconds is how long the verdict took, waiting included.
	Milliseconds float64 `json:"milliseconds,omitempty"`
}

// Versions names what a result depends on: the same text under the same
// versions gives the same result.
type Versions struct {
	Toxscreen string `json:"toxscreen"`
	// Model is name@version and the hash of the model's manifest, which in
	// turn holds the hash of each of its files.
	Model string `json:"model"`
	// Calibration is the hash of the parameters that scores were fused with, if
	// they were.
	Calibration string `json:"calibration,omitempty"`
	// Rubric and JudgeModel are those of the verdict, if there is one.
	Rubric     string `json:"rubric,omitempty"`
	JudgeModel string `json:"judge_model,omitempty"`
}

// Direction tells which end of a score is the toxic one.
type Direction string

// HigherIsMoreToxic is the direction of every score of this package.
const HigherIsMoreToxic Direction = "higher_is_more_toxic"

// Source tells which stages a score comes from.
type Source string

// The sources of [Result].
const (
	SourceClassifier Source = "classifier" // the classifier's alone
	SourceFused      Source = "fused"      // a verdict counted for some attribute
)

// Severity is a band of scores.
type Severity string

// The bands of [SeverityOf].
const (
	SeverityNone     Severity = "none"     // score below 0.1
	SeverityMild     Severity = "mild"     // below 0.4
	SeverityModerate Severity = "moderate" // below 0.8
	SeveritySevere   Severity = "severe"   // 0.8 and above
)

// SeverityOf returns the band that a score in 0..1 falls into.
func SeverityOf(score float64) Severity {
	switch {
	case score < 0.1:
		return SeverityNone
	case score < 0.4:
		return SeverityMild
	case score < 0.8:
		return SeverityModerate
	default:
		return SeveritySevere
	}
}
