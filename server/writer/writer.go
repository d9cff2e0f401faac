// Package writer is the format of Writer's toxic check.
package writer

import "github.com/toxscreen/toxscreen"

// request is the request of the toxic check. It is our own: Writer's check is
// part of every completion. One of the texts may be missing.
type request struct {
	Prompt     *string `json:"prompt"`
	Completion *string `json:"completion"`
}

// Check has the two fields that Writer adds to a completion.
type Check struct {
	PromptLabels     []Label `json:"prompt_labels,omitempty"`
	CompletionLabels []Label `json:"completion_labels,omitempty"`
}

// Label is the probability that a text is not toxic.
type Label struct {
	ClassName string                `json:"class_name"` // nontoxic, or toxic where Score is below 0.5
	Score     toxscreen.Probability `json:"score"`      // 0 to 1, that the text is not toxic: higher is safer
}

// middle is the score below which a text is toxic. Writer has no other
// threshold.
const middle = 0.5

// ToLabels returns the labels for the result of a text: one, or none if the text
// was not decided, which the caller must say, since Writer has no label for it.
func ToLabels(r toxscreen.Result) []Label {
	if r.NotDecided != "" {
		return nil
	}
	label := Label{ClassName: "nontoxic", Score: toxscreen.Probability((1 - r.Score).Rounded())}
	if label.Score < middle {
		label.ClassName = "toxic"
	}
	return []Label{label}
}
