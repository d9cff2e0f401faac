// Package formats holds other systems' JSON: their types, and the translation
// of verdicts into them. Nothing here asks a judge or reads a file.
package formats

import (
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
// makes returns. Its prompts, which Mastra calls optional, are left out: they
// hold the text in a form that nobody but the model should read.
type MastraRun struct {
	RunID             string        `json:"runId,omitempty"`
	AnalyzeStepResult MastraAnalyze `json:"analyzeStepResult"`
	Score             float64       `json:"score"`
	Reason            string        `json:"reason"`
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

// errNotJudged: Mastra's score is a number, and none is right.
var errNotJudged = errors.New("failed to translate the verdict: the text was not judged, and Mastra has no score for that")

// ToMastraMeasure translates a verdict on a text. The verdict's score is the
// documented one: the weighted sum of the severities by its maximum, times the
// scale.
func ToMastraMeasure(v toxscreen.Verdict, text string) (MastraMeasure, error) {
	if v.Score == nil {
		return MastraMeasure{}, errNotJudged
	}
	return MastraMeasure{float64(*v.Score), MastraInfo{mastraReason(v, text)}}, nil
}

// ToMastraRun translates a verdict on a text. runID may be empty.
func ToMastraRun(v toxscreen.Verdict, text, runID string) (MastraRun, error) {
	if v.Score == nil {
		return MastraRun{}, errNotJudged
	}
	run := MastraRun{RunID: runID, AnalyzeStepResult: MastraAnalyze{Verdicts: []MastraVerdict{}}, Score: float64(*v.Score), Reason: mastraReason(v, text)}
	for _, a := range v.Aspects {
		verdict := MastraVerdict{"no", "no " + title(a.Name)}
		if a.Yes {
			verdict = MastraVerdict{"yes", aspectReason(a, text)}
		}
		run.AnalyzeStepResult.Verdicts = append(run.AnalyzeStepResult.Verdicts, verdict)
	}
	return run, nil
}

// MastraBand returns the name of the band that a score falls into, as Mastra
// documents them for a scale of 1. It leaves gaps between them, which belong
// to the band below here.
func MastraBand(score, scale float64) string {
	switch share := score / scale; {
	case share >= 0.8:
		return "Severe toxicity"
	case share >= 0.4:
		return "Moderate toxicity"
	case share >= 0.1:
		return "Mild toxicity"
	}
	return "No toxic elements detected"
}

func title(name string) string { return strings.ReplaceAll(name, "_", " ") }

// mastraReason is the judge's own reason, or what the verdict says.
func mastraReason(v toxscreen.Verdict, text string) string {
	if v.Reason != "" {
		return v.Reason
	}
	var found []string
	for _, a := range v.Aspects {
		if a.Yes {
			found = append(found, aspectReason(a, text))
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("The score is %.4g of %.4g: none of the aspects was found.", *v.Score, v.Scale)
	}
	return fmt.Sprintf("The score is %.4g of %.4g: %s.", *v.Score, v.Scale, strings.Join(found, "; "))
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
