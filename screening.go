package toxscreen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Screening is a text with its classification, for callers who must answer before
// the judge does. It is immutable and safe for concurrent use.
type Screening struct {
	screener *Screener
	text     string
	found    classified
	entities []Entity // nil if they were not looked for
	fused    Fused    // without a verdict
	decision Decision // about asking the judge
	standing Result
}

// Begin is the first step of [Screener.Score], with the same errors. It runs the
// classifier, decides about asking the judge, and uses a stored verdict if there is one. It
// waits neither for the judge nor for a decision that needs the network.
func (s *Screener) Begin(ctx context.Context, text string) (*Screening, error) {
	found, err := s.classify(ctx, text)
	if err != nil {
		return nil, err
	}
	g := &Screening{screener: s, text: text, found: found, decision: Decision{Why: s.notAsked}}
	if g.fused, err = g.fuse(found.Scores, nil); err != nil {
		return nil, fmt.Errorf("failed to score text: %w", err)
	}
	if s.entities != nil {
		if g.entities, err = s.entities.Find(ctx, text); err != nil {
			return nil, fmt.Errorf("failed to find personal data: %w", err)
		}
	}
	switch {
	case !s.HasJudge():
	case !found.by(s.first):
		g.decision = Decision{Why: "the judge is asked about text in " + strings.Join(s.first.info.Languages, ", ") + " only"}
	default:
		g.decision = s.opinion.decide(found.Classification, found.thresholds)
	}
	report := JudgeReport{Asked: g.decision.Ask, Why: g.decision.Why, Pending: g.decision.Ask || g.decision.Settle != nil}
	start := time.Now()
	if verdict, ok := g.recall(ctx); ok {
		report.Pending, report.Milliseconds = false, since(start)
		g.standing, err = g.judged(report, verdict)
	} else {
		g.standing, err = g.result(report, g.fused, nil)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// fuse returns the final probabilities of scores. What a model of other languages says alone
// stays as it is: verdicts and parameters are about the first one.
func (g *Screening) fuse(scores Scores, verdict *Verdict) (Fused, error) {
	if !g.found.by(g.screener.first) {
		return Fused{Scores: scores}, nil
	}
	return g.screener.opinion.fuse(scores, verdict)
}

// Result returns the current result. It is final unless [JudgeReport.Pending] is
// true.
func (g *Screening) Result() Result { return g.standing }

// Language returns the language of the text according to the classifier.
func (g *Screening) Language() Language { return g.found.Language }

// Consult is the second step of [Screener.Score]: it asks the judge if that is
// pending, and returns the final result. If the judge fails, the scores of the
// classifier remain: an error is the context's or comes from a broken [Opinion].Fuse.
func (g *Screening) Consult(ctx context.Context) (Result, error) {
	report := g.standing.Judge
	if !report.Pending {
		return g.standing, nil
	}
	start := time.Now()
	report.Pending = false
	if g.decision.Settle != nil {
		final := g.decision.Settle(ctx)
		report.Asked, report.Why = final.Ask, final.Why
		if !report.Asked {
			return g.result(report, g.fused, nil)
		}
	}
	verdict, err := g.screener.opinion.Ask(ctx, g.text, g.found.Classification)
	report.Milliseconds = since(start)
	if ended := ctx.Err(); ended != nil {
		return Result{}, fmt.Errorf("failed to score text: %w", ended)
	}
	if err != nil {
		report.Error = err.Error()
		if abstained, ok := errors.AsType[*AbstentionError](err); ok {
			report.Raw = abstained.Raw
		}
		return g.result(report, g.fused, nil)
	}
	return g.judged(report, verdict)
}

// since returns the milliseconds since a time.
func since(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }

// classify returns the output of the classifier, or an error if it is invalid.
func (s *Screener) classify(ctx context.Context, text string) (classified, error) {
	if len(text) > s.maxBytes {
		return classified{}, fmt.Errorf("failed to score text: %w: it has %d bytes, the limit is %d; raise the limit or split the text", ErrTooLong, len(text), s.maxBytes)
	}
	found, err := s.classifyLanguages(ctx, text)
	if err != nil {
		return classified{}, fmt.Errorf("failed to score text: %w", err)
	}
	for a, score := range found.Scores.All() {
		if math.IsNaN(score) || score < 0 || score > 1 {
			return classified{}, fmt.Errorf("failed to score text: model %s gave %v for %s, which is not a probability", found.version(), score, a)
		}
		if _, ok := found.own.Get(a); !ok {
			return classified{}, fmt.Errorf("failed to score text: model %s has no threshold for %s", found.version(), a)
		}
	}
	if _, ok := found.Scores.Get(Toxicity); !ok {
		return classified{}, fmt.Errorf("failed to score text: model %s gave no toxicity", found.version())
	}
	return found, nil
}

// recall returns the stored verdict of the judge, if it is certain that the judge is asked.
func (g *Screening) recall(ctx context.Context) (Verdict, bool) {
	recall := g.screener.opinion.Recall
	if recall == nil || !g.decision.Ask || g.decision.Settle != nil {
		return Verdict{}, false
	}
	return recall(ctx, g.text, g.found.Classification)
}

// judged returns the result with a verdict. An unusable verdict changes no score,
// and the report says why.
func (g *Screening) judged(report JudgeReport, verdict Verdict) (Result, error) {
	for _, a := range verdict.Aspects {
		if p := a.PYes; p != nil && !(*p >= 0 && *p <= 1) {
			report.Error = fmt.Sprintf("the judge %s gave %v for %s, which is not a probability", verdict.Model, float64(*p), a.Name)
			return g.result(report, g.fused, nil)
		}
	}
	report.Verdicts = []Verdict{verdict}
	fused, err := g.fuse(g.found.Scores, &verdict)
	if err != nil {
		report.Error = err.Error()
	}
	if err != nil || fused.Evidence.Len() == 0 {
		return g.result(report, g.fused, &verdict)
	}
	held, err := g.holdUp(&fused, verdict)
	if err != nil {
		return Result{}, fmt.Errorf("failed to score text: %w", err)
	}
	result, err := g.result(report, fused, &verdict)
	if err == nil && len(held) > 0 {
		result.Warnings = append(result.Warnings, "the judge saw the worst passage only: other parts of the text keep the verdict from lowering "+strings.Join(held, ", ")+" further")
	}
	return result, err
}

// result returns the result for a report and the verdict in it, if there is one:
// the final probabilities and everything derived from them.
func (g *Screening) result(report JudgeReport, fused Fused, verdict *Verdict) (Result, error) {
	result := Result{
		Direction:  HigherIsMoreToxic,
		Attributes: make(AttributeResults, attributeCount),
		Spans:      g.found.Spans,
		Readings:   g.found.Readings,
		Entities:   g.entities,
		OffsetUnit: Bytes,
		Exit:       g.found.Exit,
		Source:     SourceClassifier,
		Judge:      report,
		Warnings:   append([]string{}, g.found.Warnings...),
		Versions:   g.screener.versions(g.found),
	}
	var measured Scores // by the judge
	if verdict != nil {
		measured = verdict.Measured()
		result.Versions.Rubric, result.Versions.JudgeModel = verdict.Rubric, verdict.Model
		if len(verdict.Addressed) > 0 {
			result.Warnings = append(result.Warnings, "the text addresses the judge: findings that it is harmless are ignored")
		}
		if fused.Evidence.Len() > 0 {
			result.Source = SourceFused
			result.Spans = withEvidence(result.Spans, *verdict, fused)
		}
	}
	if err := g.fill(&result, fused.Scores, measured); err != nil {
		return Result{}, err
	}
	g.checkLanguage(&result)
	result.Spans = relevant(result.Spans, result.Attributes)
	if result.Flagged {
		var err error
		var counts *Verdict
		if result.Source == SourceFused {
			counts = verdict
		}
		if result.Passages, err = g.passages(result.Score, counts); err != nil {
			return Result{}, fmt.Errorf("failed to score text: %w", err)
		}
	}
	if warning := invalidUTF8(g.text); warning != "" {
		result.Warnings = append(result.Warnings, warning)
	}
	if strings.TrimSpace(g.text) == "" {
		result.Warnings = append(result.Warnings, "the text is empty or blank: its scores mean nothing")
	}
	if result.Flagged && result.Spans != nil && len(result.FlaggedSpans()) == 0 {
		result.Warnings = append(result.Warnings, "flagged without a span: no single word stands out")
	}
	return result, nil
}

// checkLanguage leaves a result undecided if the model certainly does not know the language of the
// text, nothing is flagged and no verdict counts. A text that seems to be in another language
// and is decided gets a warning.
func (g *Screening) checkLanguage(result *Result) {
	language := g.found.Language
	result.Language = language.Code
	if language.Foreign {
		result.UnsupportedLanguage = cmp.Or(language.Code, "und") // ISO 639's code for an undetermined language
		result.Warnings = append(result.Warnings, language.reason()+": its scores mean little")
	}
	switch {
	case language.Mixed:
		result.Warnings = append(result.Warnings, "a part of the text seems to be in a language that the model does not know: the scores of that part mean little")
	case language.Foreign && result.Source == SourceFused:
		result.Warnings = append(result.Warnings, "the decision rests on the judge's verdict: the model does not know the language of the text")
	case language.Certain && !result.Flagged && !g.screener.anyLanguage:
		result.NotDecided, result.Severity = language.reason(), ""
	}
}

// fill writes the final probabilities and everything derived from them.
func (g *Screening) fill(result *Result, final, measured Scores) error {
	for a, score := range g.found.Scores.All() {
		probability, ok := final.Get(a)
		if !ok || math.IsNaN(probability) || probability < 0 || probability > 1 {
			return fmt.Errorf("failed to score text: the fusion %s gave %v for %s, which is not a probability", result.Versions.Calibration, probability, a)
		}
		threshold, _ := g.found.thresholds.Get(a)
		filled := AttributeResult{
			Score: Probability(probability), Classifier: Probability(score),
			Threshold: Probability(threshold), Flagged: probability >= threshold,
		}
		if plain, ok := g.found.Plain.Get(a); ok {
			shown := Probability(plain)
			filled.Plain = &shown
		}
		if p, ok := measured.Get(a); ok {
			shown := Probability(p)
			filled.Judge = &shown
		}
		result.Attributes[a] = filled
		result.Flagged = result.Flagged || filled.Flagged
	}
	result.Score = result.Attributes[Toxicity].Score
	threshold, _ := g.found.own.Get(Toxicity)
	result.Severity = SeverityOf(float64(result.Score), threshold)
	return nil
}

// withoutStoring is the context key of [WithoutStoring].
type withoutStoring struct{}

// WithoutStoring returns a context for a text that must not be stored: a judge does
// not store its verdict on it either.
func WithoutStoring(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutStoring{}, true)
}

// MayStore reports whether a text and its verdict may be stored under a context. It
// is for implementations of [Opinion].
func MayStore(ctx context.Context) bool { return ctx.Value(withoutStoring{}) == nil }
