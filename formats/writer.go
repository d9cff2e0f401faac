package formats

import "github.com/toxscreen/toxscreen"

// WriterRequest is the request of the toxic check. It is our own: Writer's check is
// part of every completion. One of the texts may be missing.
type WriterRequest struct {
	Prompt     *string `json:"prompt"`
	Completion *string `json:"completion"`
}

// WriterCheck has the two fields that Writer adds to a completion.
type WriterCheck struct {
	PromptLabels     []WriterLabel `json:"prompt_labels,omitempty"`
	CompletionLabels []WriterLabel `json:"completion_labels,omitempty"`
}

// WriterLabel is the probability that a text is not toxic.
type WriterLabel struct {
	ClassName string                `json:"class_name"` // nontoxic, or toxic where Score is below 0.5
	Score     toxscreen.Probability `json:"score"`      // 0 to 1, that the text is not toxic: higher is safer
}

// writerMiddle is the score below which a text is toxic. Writer has no other
// threshold.
const writerMiddle = 0.5

// ToWriterLabels returns the labels for the result of a text: one, or none if the text
// was not decided, which the caller must say, since Writer has no label for it.
func ToWriterLabels(r toxscreen.Result) []WriterLabel {
	if r.NotDecided != "" {
		return nil
	}
	label := WriterLabel{ClassName: "nontoxic", Score: toxscreen.Probability((1 - r.Score).Rounded())}
	if label.Score < writerMiddle {
		label.ClassName = "toxic"
	}
	return []WriterLabel{label}
}
