package toxscreen

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Result is the result of scoring one text. Its JSON form is the native format of
// the command line.
type Result struct {
	// ID is the caller's name for the text; Score leaves it empty.
	ID string `json:"id,omitempty"`

	// Score is the share of people, in 0..1, who would call the text toxic, as
	// estimated: about 80 % for texts with a score of 0.8. On another scale than the
	// guideline's, see [Versions.Scale], it estimates the number of that scale.
	Score Probability `json:"score"`

	// Flagged is true if any attribute is at or over its threshold. If NotDecided is
	// set, it is false, and absent in JSON.
	Flagged bool `json:"flagged"`

	// Severity is the band that Score falls into, relative to the model's threshold
	// for toxicity, see [SeverityOf]. Thresholds of the caller do not change it. If
	// NotDecided is set, it is empty, and absent in JSON.
	Severity Severity `json:"severity,omitempty"`

	// NotDecided says why the text is called neither toxic nor clean: it is almost certainly
	// in a language that the model was not trained on, no score reaches its threshold, and no
	// verdict of the judge counts. Then there are no passages, and the scores mean little. It
	// is empty for a text that was decided.
	NotDecided string `json:"not_decided,omitempty"`

	// Language is the ISO 639 or BCP 47 code of the language that the text seems to be written
	// in, or that the caller stated; empty if it is not known. Of a short text, it is a guess.
	Language string `json:"language,omitempty"`

	// UnsupportedLanguage is the ISO 639 code of the language of a text that seems to be in
	// none of the languages that the model was trained on, such as "de", or "und" if more is
	// not known. It is empty for all other texts. The code may be that of a similar language.
	UnsupportedLanguage string `json:"unsupported_language,omitempty"`

	// Direction is always HigherIsMoreToxic. It is part of every result
	// because other systems' scores run the other way.
	Direction Direction `json:"direction"`

	// Attributes holds the measurements for each attribute. An attribute that the
	// model does not measure is absent.
	Attributes AttributeResults `json:"attributes"`

	// Passages are the parts of a flagged text to look at first: at most three windows
	// of the model, the worst first, without overlap. Each reaches the threshold of an
	// attribute by itself, with the judge's verdict if the judge saw it. A text of one
	// window is one passage. It is nil for a text that is not flagged, or in which no
	// window stands out.
	Passages []Passage `json:"passages,omitempty"`

	// Sentences are the sentences of the text with the score that each has by itself, in
	// their order and without gaps. Score leaves them nil; package server fills them for
	// requests that ask for them.
	Sentences []Passage `json:"sentences,omitempty"`

	// Spans are the words that cause the score, ordered by Start, without overlap, each
	// within a sentence. A span has only attributes whose score is at least mild, see
	// [SeverityOf]. It is empty if there are none, and nil if the model cannot mark
	// words; Warnings then says so.
	Spans []Span `json:"spans"`

	// Readings are the words that are read differently than they are written because
	// they look disguised or misspelt, ordered by Start and without overlap. The text was
	// then scored both ways. It is nil if there are none.
	Readings []Reading `json:"readings,omitempty"`

	// Entities are the personal data in the text, ordered by Start and without overlap. It is
	// empty if there is none, and nil, and absent in JSON, if it was not looked for, see
	// [WithEntities].
	Entities []Entity `json:"entities,omitzero"`

	// OffsetUnit is the unit of the offsets in Passages, Sentences, Spans, Readings, Entities
	// and Judge.
	OffsetUnit OffsetUnit `json:"offset_unit"`

	// Exit is the exit of the network at which the text, clearly harmless, left it, counted
	// from 1; of a text in several parts, the last that one took. Its scores are estimates. It
	// is 0, and absent in JSON, if the whole network was run on the text or on a part of it.
	Exit int `json:"exit,omitempty"`

	// Source tells which stages the Score comes from.
	Source Source `json:"source"`

	// Judge tells whether the judge was asked, and why.
	Judge JudgeReport `json:"judge"`

	// Warnings are sentences about the limits of this result.
	Warnings []string `json:"warnings"`

	// Versions identifies everything that the numbers depend on.
	Versions Versions `json:"versions"`
}

// MarshalJSON leaves out every flag if the text is not decided.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result // without this method
	if r.NotDecided == "" {
		return marshal(fields(r))
	}
	return marshal(struct {
		fields

		Flagged    *bool               `json:"flagged,omitempty"`
		Attributes undecidedAttributes `json:"attributes"`
	}{fields: fields(r), Attributes: undecidedAttributes(r.Attributes)})
}

// marshal returns the JSON form of a value. It leaves the escaping of <, > and & to the
// caller's encoder.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Limits are what [Result.Reaches] looks for. The zero value is reached by no result.
type Limits struct {
	// Flagged is reached by a result that is flagged, by its own thresholds.
	Flagged bool
	// Scores, in 0..1, are reached by a score at or over that of its attribute.
	Scores Scores
}

// Reaches reports whether the result is flagged, if the limits say so, or the score of
// any attribute, rounded as it is printed, is at or over its limit. Attributes without a
// limit do not count. A text that is not decided reaches none.
func (r Result) Reaches(limits Limits) bool {
	if r.NotDecided != "" {
		return false
	}
	if limits.Flagged && r.Flagged {
		return true
	}
	for a, limit := range limits.Scores.All() {
		if measured, ok := r.Attributes[a]; ok && measured.Score.Rounded() >= limit {
			return true
		}
	}
	return false
}

// AttributeResult holds the measurements for one attribute.
type AttributeResult struct {
	// Score is the final probability in 0..1.
	Score Probability `json:"score"`
	// Classifier is the classifier's own calibrated probability in 0..1, before
	// [Opinion].Fuse.
	Classifier Probability `json:"classifier"`
	// Plain is the classifier's probability for the text as it is written, if
	// undoing disguise changed Classifier noticeably; otherwise nil.
	Plain *Probability `json:"plain,omitempty"`
	// Judge is the judge's own probability, not calibrated; nil if it gave none.
	// [Opinion].Fuse decides how much it counts in Score.
	Judge *Probability `json:"judge,omitempty"`
	// Threshold is the lowest probability that is flagged.
	Threshold Probability `json:"threshold"`
	// Flagged is false, and absent in JSON, if [Result].NotDecided is set.
	Flagged bool `json:"flagged"`
}

// AttributeResults maps attributes to their measurements.
type AttributeResults map[Attribute]AttributeResult

// MarshalJSON writes an object with the attributes in their numeric order, not in
// alphabetical order.
func (r AttributeResults) MarshalJSON() ([]byte, error) {
	return marshalAttributes(r, func(measured AttributeResult) any { return measured })
}

// undecidedAttributes are the attributes of a text that is not decided: their JSON form
// has no flags.
type undecidedAttributes AttributeResults

// MarshalJSON implements [json.Marshaler].
func (u undecidedAttributes) MarshalJSON() ([]byte, error) {
	return marshalAttributes(u, func(measured AttributeResult) any {
		return struct {
			AttributeResult

			Flagged *bool `json:"flagged,omitempty"`
		}{AttributeResult: measured}
	})
}

func marshalAttributes(r map[Attribute]AttributeResult, shown func(AttributeResult) any) ([]byte, error) {
	out := []byte{'{'}
	for a := range attributeCount {
		measured, ok := r[a]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		value, err := json.Marshal(shown(measured))
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

// JudgeReport describes the judge's part in a result.
type JudgeReport struct {
	Asked bool `json:"asked"`
	// Pending is true if the judge has not answered yet and its answer may change
	// the result.
	Pending bool `json:"pending,omitempty"`
	// ID is the id of the final result on the server, if the server answered before
	// the judge did.
	ID string `json:"id,omitempty"`
	// Why is a sentence that gives the reason.
	Why string `json:"why"`
	// Verdicts is empty if the judge was not asked or gave no verdict.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Error says why a judge that was asked gave no verdict.
	Error string `json:"error,omitempty"`
	// Raw is the beginning of an answer that is not a valid verdict.
	Raw string `json:"raw,omitempty"`
	// Milliseconds is how long the verdict took, including waiting.
	Milliseconds float64 `json:"milliseconds,omitempty"`
}

// Missing reports whether a verdict was asked for and there is none.
func (j JudgeReport) Missing() bool { return j.Asked && !j.Pending && len(j.Verdicts) == 0 }

// Versions identifies everything that a result depends on, except [Screener.EndsEarly]: where
// that is the same, the same text under the same versions has the same result.
type Versions struct {
	Toxscreen string `json:"toxscreen"`
	// Model is name@version and the hash of the model's manifest, which contains
	// the hash of each of its files.
	Model string `json:"model"`
	// Scale is the scale of the scores, see [Scale]; empty, and absent in JSON, for the guideline's.
	Scale Scale `json:"scale,omitempty"`
	// Calibration is the hash of the fusion parameters, if the scores were fused.
	Calibration string `json:"calibration,omitempty"`
	// Entities is the version of what found the personal data, if it was looked for.
	Entities string `json:"entities,omitempty"`
	// Rubric and JudgeModel are the verdict's, if there is one.
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
	SourceClassifier Source = "classifier" // the classifier alone
	SourceFused      Source = "fused"      // a verdict counted for some attribute
)

// Severity is a band of scores.
type Severity string

// The bands of [SeverityOf].
const (
	SeverityNone     Severity = "none"     // odds below a ninth of the threshold's
	SeverityMild     Severity = "mild"     // below the threshold
	SeverityModerate Severity = "moderate" // at or over the threshold
	SeveritySevere   Severity = "severe"   // odds of at least four times the threshold's
)

// SeverityOf returns the band of a score for a threshold, both in 0..1. With a
// threshold of 0.5, the bands begin at 0.1, 0.5 and 0.8.
func SeverityOf(score, threshold float64) Severity {
	a, b := score*(1-threshold), threshold*(1-score)
	switch {
	case 9*a < b:
		return SeverityNone
	case score < threshold:
		return SeverityMild
	case a < 4*b:
		return SeverityModerate
	default:
		return SeveritySevere
	}
}
