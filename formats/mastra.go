package formats

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// MastraMeasure is what the "measure" of Mastra's ToxicityMetric returns.
type MastraMeasure struct {
	Score float64    `json:"score"` // 0 to scale, higher is more toxic
	Info  MastraInfo `json:"info"`
}

// MastraInfo is the info of a [MastraMeasure].
type MastraInfo struct {
	Reason string `json:"reason"`
}

// MastraRun is what the "run" of the scorer that Mastra's createToxicityScorer
// makes returns.
type MastraRun struct {
	RunID             string        `json:"runId,omitempty"`
	AnalyzeStepResult MastraAnalyze `json:"analyzeStepResult"`
	AnalyzePrompt     string        `json:"analyzePrompt,omitempty"`
	Score             float64       `json:"score"` // 0 to scale, higher is more toxic
	Reason            string        `json:"reason"`
	// ReasonPrompt is the prompt that the reason answers. Mastra documents two
	// names for it, and a client may read either.
	ReasonPrompt         string `json:"reasonPrompt,omitempty"`
	GenerateReasonPrompt string `json:"generateReasonPrompt,omitempty"`
}

// MastraAnalyze is the first step of a [MastraRun].
type MastraAnalyze struct {
	Verdicts []MastraVerdict `json:"verdicts"`
}

// MastraVerdict is the verdict on one aspect.
type MastraVerdict struct {
	Verdict string `json:"verdict"` // yes or no
	Reason  string `json:"reason"`
}

// MastraRubric is the name of the rubric with the aspects that Mastra documents.
const MastraRubric = "toxicity"

// MastraOptions are what a result depends on beside the verdict.
type MastraOptions struct {
	// Scale is the highest score; the verdict's own where it is 0.
	Scale float64
	// RunID is the caller's name for the run.
	RunID string
	// Prompt is what the judge was sent. Where the verdict has a reason, that
	// is part of the same answer, and the prompt is the reason's too.
	Prompt string
}

// ToMastraMeasure translates a verdict on a text. The score is the documented
// one: the weighted sum of the severities by its maximum, times the scale.
func ToMastraMeasure(v toxscreen.Verdict, text string, o MastraOptions) (MastraMeasure, error) {
	score, err := mastraScore(v, o.Scale)
	if err != nil {
		return MastraMeasure{}, err
	}
	return MastraMeasure{score, MastraInfo{mastraReason(v, text, score, o.Scale)}}, nil
}

// ToMastraRun translates a verdict on a text.
func ToMastraRun(v toxscreen.Verdict, text string, o MastraOptions) (MastraRun, error) {
	score, err := mastraScore(v, o.Scale)
	if err != nil {
		return MastraRun{}, err
	}
	run := MastraRun{
		RunID: o.RunID, AnalyzeStepResult: MastraAnalyze{Verdicts: []MastraVerdict{}}, AnalyzePrompt: o.Prompt,
		Score: score, Reason: mastraReason(v, text, score, o.Scale),
	}
	if v.Reason != "" {
		run.ReasonPrompt, run.GenerateReasonPrompt = o.Prompt, o.Prompt
	}
	for _, a := range v.Aspects {
		verdict := MastraVerdict{"no", "no " + title(a.Name)}
		if a.Yes {
			verdict = MastraVerdict{"yes", aspectReason(a, text)}
		}
		run.AnalyzeStepResult.Verdicts = append(run.AnalyzeStepResult.Verdicts, verdict)
	}
	return run, nil
}

// mastraScore returns a verdict's score on another scale. Mastra's score is a
// number, and none is right for a text that was not judged.
func mastraScore(v toxscreen.Verdict, scale float64) (float64, error) {
	if v.Score == nil {
		why := "the judge tells no severity"
		if len(v.Warnings) > 0 {
			why = strings.Join(v.Warnings, "; ")
		}
		return 0, errors.New("failed to translate the verdict: it has no score, and Mastra's result needs one: " + why)
	}
	own := float64(v.Scale)
	return toxscreen.Probability(float64(*v.Score) / own * cmp.Or(scale, own)).Rounded(), nil
}

// MastraBand returns the name of the band that a score falls into, as Mastra
// documents them for a scale of 1. It leaves gaps between them, which belong
// to the band below here, but for the lowest: a score over 0 is some element
// that was detected.
func MastraBand(score, scale float64) string {
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

// mastraReason is the judge's own reason, or what the verdict says.
func mastraReason(v toxscreen.Verdict, text string, score, scale float64) string {
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
	reason := fmt.Sprintf("%s, %.4g of %.4g", MastraBand(score, scale), score, scale)
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
