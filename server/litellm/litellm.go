// Package litellm is the format of LiteLLM's generic guardrail.
package litellm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Request is a request of LiteLLM's generic guardrail.
type Request struct {
	Texts      []string   `json:"texts"`
	InputType  string     `json:"input_type"` // request or response
	Parameters Parameters `json:"additional_provider_specific_params"`
	// Images, Tools and ToolCalls are not measured. The caller refuses Images by
	// [NewImages], or passes over them.
	Images    json.RawMessage `json:"images"`
	Tools     json.RawMessage `json:"tools"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// NotMeasured names the parts of the request that are not measured.
func (r Request) NotMeasured() []string {
	var names []string
	for _, part := range []struct {
		name  string
		given json.RawMessage
	}{{server.Images, r.Images}, {"tools", r.Tools}, {"tool_calls", r.ToolCalls}} {
		if inside := bytes.Trim(part.given, "[]{} \t\r\n"); len(inside) > 0 && string(inside) != "null" {
			names = append(names, part.name)
		}
	}
	return names
}

// Parameters are the guardrail's parameters, from the settings of LiteLLM.
type Parameters struct {
	// Threshold is the threshold of toxicity, over 0 to 1. If it or Thresholds is
	// given, only the attributes in them count; otherwise those that the server's
	// thresholds flag.
	Threshold *float64 `json:"threshold"`
	// Thresholds are the thresholds of the attributes that count, over 0 to 1.
	Thresholds toxscreen.Scores `json:"thresholds"`
	// Language is the code of the language of the texts, such as "en"; if it is empty, the
	// language is detected.
	Language string `json:"language"`
	// OnFlagged is what happens to a text that reaches a threshold.
	OnFlagged string `json:"on_flagged"`
}

// The values of [Parameters.OnFlagged].
const (
	Block = "block" // the default
	Mask  = "mask"  // replace the words that cause the score by asterisks
)

// Answer is the answer to a [Request].
type Answer struct {
	Action string `json:"action"`
	// BlockedReason is a sentence that quotes nothing of the text.
	BlockedReason string   `json:"blocked_reason,omitempty"`
	Texts         []string `json:"texts,omitempty"` // all texts of the request, the flagged ones masked
	// Own has what [Request.NotMeasured] returns, and is absent where that is nothing.
	Own server.Own `json:"toxscreen,omitzero"`
}

// The values of [Answer.Action].
const (
	actionNone       = "NONE"
	actionBlocked    = "BLOCKED"
	actionIntervened = "GUARDRAIL_INTERVENED"
)

// Read reads a request. Unknown fields are ignored, but unknown parameters of
// the guardrail are an error: a misspelt threshold would let everything through.
func Read(data []byte) (Request, error) {
	var in struct {
		Request
		Parameters json.RawMessage `json:"additional_provider_specific_params"`
	}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return in.Request, fmt.Errorf("failed to read the request: %w", err)
	}
	r := in.Request
	if len(in.Parameters) > 0 {
		if err := plainjson.UnmarshalStrict(in.Parameters, &r.Parameters); err != nil {
			return r, fmt.Errorf("failed to read additional_provider_specific_params: %w; there are threshold, thresholds, language and on_flagged", err)
		}
	}
	return r, r.Parameters.check()
}

func (p *Parameters) check() error {
	if p.Language != "" {
		if _, err := toxscreen.ParseLanguage(p.Language); err != nil {
			return fmt.Errorf("failed to read additional_provider_specific_params: language: %w", err)
		}
	}
	switch p.OnFlagged {
	case "":
		p.OnFlagged = Block
	case Block, Mask:
	default:
		return fmt.Errorf("failed to read additional_provider_specific_params: on_flagged is %q: it must be %s or %s", p.OnFlagged, Block, Mask)
	}
	if p.Threshold != nil {
		if _, ok := p.Thresholds.Get(toxscreen.Toxicity); ok {
			return errors.New("failed to read additional_provider_specific_params: threshold is that of toxicity, which thresholds has too; leave out one of them")
		}
		p.Thresholds.Set(toxscreen.Toxicity, *p.Threshold)
	}
	for a, threshold := range p.Thresholds.All() {
		if !(threshold > 0 && threshold <= 1) {
			return fmt.Errorf("failed to read additional_provider_specific_params: the threshold of %s is %v: it must be over 0 and at most 1", a, threshold)
		}
	}
	return nil
}

// NewImages returns the answer that refuses a request with images. LiteLLM shows the
// reason to its client; of a failure, it would show the status only.
func NewImages(r Request) Answer {
	return Answer{
		Action: actionBlocked, BlockedReason: "The request has images, which were not screened, and is blocked: only text is measured. The server's setting ignore_images lets it pass over images.",
		Own: server.Own{NotMeasured: r.NotMeasured()},
	}
}

// reached returns the attributes of a result that count and reach their thresholds,
// in their order.
func (p Parameters) reached(r toxscreen.Result) ([]toxscreen.Attribute, error) {
	var found []toxscreen.Attribute
	for a := range p.Thresholds.All() {
		if _, ok := r.Attributes[a]; !ok {
			return nil, fmt.Errorf("failed to apply the threshold of %s: model %s does not measure it", a, r.Versions.Model)
		}
	}
	for _, a := range slices.Sorted(maps.Keys(r.Attributes)) {
		measured := r.Attributes[a]
		reached := measured.Flagged
		if p.Thresholds.Len() > 0 {
			threshold, ok := p.Thresholds.Get(a)
			reached = ok && measured.Score.Rounded() >= threshold
		}
		if reached {
			found = append(found, a)
		}
	}
	return found, nil
}

// ToAnswer returns the answer to a request by the results of its texts. A text that was
// not decided is blocked, and so is one that should be masked but has no spans. Where
// texts are masked, left has all texts without the masked words: the caller must score
// these to find out whether masking is enough. Scores of the masked texts would not
// tell, since asterisks look like a hidden swear word.
func ToAnswer(r Request, results []toxscreen.Result) (answer Answer, left []string, err error) {
	masked, intervened := slices.Clone(r.Texts), false
	left = slices.Clone(r.Texts)
	own := server.Own{NotMeasured: r.NotMeasured()}
	for i, result := range results {
		attributes, err := r.Parameters.reached(result)
		if err != nil {
			return Answer{}, nil, err
		}
		if result.NotDecided != "" {
			return Answer{Action: actionBlocked, BlockedReason: fmt.Sprintf("%s was not screened and is blocked: %s.", nameOf(r, i), result.NotDecided), Own: own}, nil, nil
		}
		if len(attributes) == 0 {
			continue
		}
		spans := result.SpansOf(attributes)
		if r.Parameters.OnFlagged == Block || len(spans) == 0 {
			return Answer{Action: actionBlocked, BlockedReason: reason(r, i, result, attributes), Own: own}, nil, nil
		}
		masked[i], left[i], intervened = toxscreen.Mask(r.Texts[i], spans), without(r.Texts[i], spans), true
	}
	if intervened {
		return Answer{Action: actionIntervened, Texts: masked, Own: own}, left, nil
	}
	return Answer{Action: actionNone, Own: own}, nil, nil
}

// without returns a text without its spans.
func without(text string, spans []toxscreen.Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}

func reason(r Request, i int, result toxscreen.Result, attributes []toxscreen.Attribute) string {
	found := make([]string, len(attributes))
	for j, a := range attributes {
		measured := result.Attributes[a]
		threshold := float64(measured.Threshold)
		if t, ok := r.Parameters.Thresholds.Get(a); ok {
			threshold = t
		}
		found[j] = fmt.Sprintf("%s %.2f reaches %.2f", strings.ReplaceAll(a.String(), "_", " "), measured.Score.Rounded(), threshold)
	}
	reason := fmt.Sprintf("%s is blocked as toxic: %s.", nameOf(r, i), strings.Join(found, ", "))
	if r.Parameters.OnFlagged == Mask {
		reason += " No word stands out that could be masked."
	}
	return reason
}

// nameOf names a text of a request at the beginning of a sentence.
func nameOf(r Request, i int) string {
	if len(r.Texts) == 1 {
		return "The text"
	}
	return fmt.Sprintf("Text %d of %d", i+1, len(r.Texts))
}
