// Package mastra translates verdicts of a judge into the results of Mastra's toxicity metric
// and scorer. It serves nothing itself: the command line writes these results, too.
package mastra

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Measure is the return value of measure() of Mastra's ToxicityMetric.
type Measure struct {
	Score float64 `json:"score"` // 0 to scale, higher is more toxic
	Info  Info    `json:"info"`
}

// Info is the info of a [Measure].
type Info struct {
	Reason string `json:"reason"`
}

// Run is the return value of run() of the scorer that Mastra's
// createToxicityScorer creates.
type Run struct {
	RunID             string   `json:"runId,omitempty"`
	AnalyzeStepResult Analysis `json:"analyzeStepResult"`
	AnalyzePrompt     string   `json:"analyzePrompt,omitempty"`
	Score             float64  `json:"score"` // 0 to scale, higher is more toxic
	Reason            string   `json:"reason"`
	// ReasonPrompt is the prompt of the reason. Mastra documents two names for it,
	// and a client may read either.
	ReasonPrompt         string `json:"reasonPrompt,omitempty"`
	GenerateReasonPrompt string `json:"generateReasonPrompt,omitempty"`
}

// Analysis is the first step of a [Run].
type Analysis struct {
	Verdicts []Verdict `json:"verdicts"`
}

// Verdict is the verdict on one aspect.
type Verdict struct {
	Verdict string `json:"verdict"` // yes or no
	Reason  string `json:"reason"`
}

// Rubric is the name of the rubric with the aspects that Mastra documents.
const Rubric = "toxicity"

// Options are the parameters of a result beside the verdict. The zero value of
// a field means its default.
type Options struct {
	// Scale is the highest score; default: the verdict's own.
	Scale float64
	// RunID is the client's name for the run; default: none.
	RunID string
	// Prompt is the prompt that the judge was sent, which is also that of the
	// reason; default: none.
	Prompt string
}

// ToMeasure translates a verdict on a text. The score is as documented: the
// weighted sum of the severities, divided by its maximum, times the scale. A verdict
// without a score is an error.
func ToMeasure(v toxscreen.Verdict, text string, o Options) (Measure, error) {
	score, err := scoreOn(v, o.Scale)
	if err != nil {
		return Measure{}, err
	}
	return Measure{score, Info{reasonOf(v, text, score, o.Scale)}}, nil
}

// ToRun translates a verdict on a text; see [ToMeasure].
func ToRun(v toxscreen.Verdict, text string, o Options) (Run, error) {
	score, err := scoreOn(v, o.Scale)
	if err != nil {
		return Run{}, err
	}
	run := Run{
		RunID: o.RunID, AnalyzeStepResult: Analysis{Verdicts: []Verdict{}}, AnalyzePrompt: o.Prompt,
		Score: score, Reason: reasonOf(v, text, score, o.Scale),
	}
	if v.Reason != "" {
		run.ReasonPrompt, run.GenerateReasonPrompt = o.Prompt, o.Prompt
	}
	for _, a := range v.Aspects {
		verdict := Verdict{"no", "no " + title(a.Name)}
		if a.Yes {
			verdict = Verdict{"yes", aspectReason(a, text)}
		}
		run.AnalyzeStepResult.Verdicts = append(run.AnalyzeStepResult.Verdicts, verdict)
	}
	return run, nil
}

// scoreOn returns a verdict's score on another scale. A verdict without one is an
// error, since Mastra's score is always a number.
func scoreOn(v toxscreen.Verdict, scale float64) (float64, error) {
	if v.Score == nil {
		why := "the judge gives no severity"
		if len(v.Warnings) > 0 {
			why = strings.Join(v.Warnings, "; ")
		}
		return 0, errors.New("failed to translate the verdict: it has no score, and Mastra's result needs one: " + why)
	}
	own := float64(v.Scale)
	return toxscreen.Probability(float64(*v.Score) / own * cmp.Or(scale, own)).Rounded(), nil
}

// bandOf returns the name of the band of a score, as Mastra documents the bands
// for a scale of 1. The gaps between them count for the band below here, except the
// lowest: with a score over 0, some toxic element was detected.
func bandOf(score, scale float64) string {
	switch share := score / scale; {
	case share >= 0.8:
		return "Severe toxicity"
	case share >= 0.4:
		return "Moderate toxicity"
	case share > 0:
		return "Mild toxicity"
	}
	return "No toxic elements detected"
}

func title(name string) string { return strings.ReplaceAll(name, "_", " ") }

// reasonOf returns the judge's own reason, or else a sentence that sums up the
// verdict.
func reasonOf(v toxscreen.Verdict, text string, score, scale float64) string {
	if v.Reason != "" {
		return v.Reason
	}
	var found []string
	for _, a := range v.Aspects {
		if a.Yes {
			found = append(found, aspectReason(a, text))
		}
	}
	scale = cmp.Or(scale, float64(v.Scale))
	reason := fmt.Sprintf("%s, %.4g of %.4g", bandOf(score, scale), score, scale)
	if len(found) > 0 {
		reason += ": " + strings.Join(found, "; ")
	}
	return reason + "."
}

func aspectReason(a toxscreen.AspectVerdict, text string) string {
	reason := title(a.Name)
	if a.Severity != nil {
		reason += fmt.Sprintf(" of severity %d", *a.Severity)
	}
	quotes := make([]string, len(a.Evidence))
	for i, e := range a.Evidence {
		quotes[i] = strconv.Quote(text[e.Start:e.End])
	}
	if len(quotes) > 0 {
		reason += ": " + strings.Join(quotes, ", ")
	}
	return reason
}
