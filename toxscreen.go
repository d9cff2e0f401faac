// Package toxscreen scores text for toxicity without a network:
//
//	model, err := models.OpenDefault(models.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer model.Close()
//	screener := toxscreen.New(model)
//	result, err := screener.Score(ctx, "you are a stupid idiot")
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(result.Score, result.Flagged, result.Spans)
//
// A local classifier gives a calibrated probability for each of seven
// attributes and the words that cause it. This package holds the vocabulary
// and the order of the steps, and imports only the standard library; package
// models opens what it needs.
package toxscreen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"
)

// Classifier is what a [Screener] needs of a model. Implementations must be
// safe for concurrent use.
type Classifier interface {
	// Classify scores one text. It returns the context's error when that
	// ends first.
	Classify(ctx context.Context, text string) (Classification, error)
	// Info describes the model. It always returns the same.
	Info() ModelInfo
}

// Classification is what a [Classifier] says of one text.
type Classification struct {
	// Scores holds the calibrated probability in 0..1 of each attribute that
	// the model has.
	Scores Scores
	// Plain holds the probability of the text as it is written for those
	// attributes that reading it as it seems to be meant, without its disguise,
	// raised noticeably.
	Plain Scores
	// Spans are ordered, free of overlap, with byte offsets into the text.
	// It is nil where the model has no token head.
	Spans []Span
	// Warnings are sentences about what limits the classification.
	Warnings []string
}

// ModelInfo describes a model.
type ModelInfo struct {
	// Version is name@version and a hash, as results show it.
	Version string
	// Thresholds is the probability from which each attribute of the model
	// is flagged.
	Thresholds Scores
	// Parallel is how many texts at once keep the model busy: what [Batch]
	// has under way.
	Parallel int
}

// DefaultMaxBytes is the length of text that [Screener.Score] accepts unless
// [WithMaxBytes] says otherwise: 1 MiB, about 200,000 words, which take some
// ten seconds on two cores.
const DefaultMaxBytes = 1 << 20

// ErrTooLong is in the chain of the error for a text over the limit.
var ErrTooLong = errors.New("text too long")

// Screener scores texts. It is safe for concurrent use; to score many texts
// on all cores, see [Batch].
type Screener struct {
	classifier Classifier
	info       ModelInfo
	thresholds Scores
	maxBytes   int
	judge      Judge // nil where there is none
	notAsked   string
	rule       Rule   // which texts the judge is asked about
	fusion     Fusion // nil where the scores are the classifier's
}

// Option changes a default of [New].
type Option func(*Screener)

// WithThresholds replaces the model's thresholds for the attributes that have
// one in t.
func WithThresholds(t Scores) Option {
	return func(s *Screener) {
		for a, value := range t.All() {
			s.thresholds.Set(a, value)
		}
	}
}

// WithMaxBytes replaces [DefaultMaxBytes].
func WithMaxBytes(n int) Option {
	return func(s *Screener) { s.maxBytes = n }
}

// WithJudge asks a judge for a second opinion on the texts that the rule picks:
// a [Band], or one that knows what a verdict is worth, see package fusion.
// Without [WithFusion] its verdict stands beside the classifier's scores and
// does not change them. Where it gives none, the result says why.
func WithJudge(j Judge, rule Rule) Option {
	return func(s *Screener) { s.judge, s.rule = j, rule }
}

// WithFusion makes one score of what the classifier and the judge say. It
// corrects the classifier's scores where no judge is asked, too.
func WithFusion(f Fusion) Option {
	return func(s *Screener) { s.fusion = f }
}

// WithoutJudge makes results say why no judge is asked. The sentence is that
// of [JudgeReport.Why].
func WithoutJudge(why string) Option {
	return func(s *Screener) { s.judge, s.notAsked = nil, why }
}

// New returns a Screener on a classifier, which the caller closes when no
// call of the Screener is under way any more.
func New(classifier Classifier, options ...Option) *Screener {
	info := classifier.Info()
	s := &Screener{
		classifier: classifier, info: info, thresholds: info.Thresholds, maxBytes: DefaultMaxBytes,
		notAsked: "no judge is configured",
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// With returns a Screener that differs from s by the options. It shares the
// classifier and the judge with s, and costs nothing to make.
func (s *Screener) With(options ...Option) *Screener {
	other := *s
	for _, option := range options {
		option(&other)
	}
	return &other
}

// Info describes the model.
func (s *Screener) Info() ModelInfo { return s.info }

// Score scores one text. Every byte of it counts: nothing is cut. A text over
// the limit of bytes is refused with [ErrTooLong] in the chain.
func (s *Screener) Score(ctx context.Context, text string) (Result, error) {
	w, err := s.classify(ctx, text)
	if err != nil {
		return Result{}, err
	}
	if err := s.consult(ctx, w); err != nil {
		return Result{}, err
	}
	return s.finish(w)
}

// work is a text between the steps of [Screener.Score], which [Batch] takes at
// paces of their own.
type work struct {
	text   string
	found  Classification
	fused  Fused
	result Result
}

// classify is the first step: what the classifier says, and whether that is
// worth a verdict.
func (s *Screener) classify(ctx context.Context, text string) (*work, error) {
	if len(text) > s.maxBytes {
		return nil, fmt.Errorf("failed to score text: %w: it has %d bytes, the limit is %d; raise the limit or split the text", ErrTooLong, len(text), s.maxBytes)
	}
	found, err := s.classifier.Classify(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("failed to score text: %w", err)
	}
	for a, score := range found.Scores.All() {
		if math.IsNaN(score) || score < 0 || score > 1 {
			return nil, fmt.Errorf("failed to score text: model %s gave %v for %s, which is no probability", s.info.Version, score, a)
		}
		if _, ok := s.thresholds.Get(a); !ok {
			return nil, fmt.Errorf("failed to score text: model %s has no threshold for %s", s.info.Version, a)
		}
	}
	if _, ok := found.Scores.Get(Toxicity); !ok {
		return nil, fmt.Errorf("failed to score text: model %s gave no toxicity", s.info.Version)
	}
	w := &work{text: text, found: found, result: Result{
		Direction:  HigherIsMoreToxic,
		Attributes: make(AttributeResults, attributeCount),
		Spans:      found.Spans,
		OffsetUnit: Bytes,
		Source:     SourceClassifier,
		Judge:      JudgeReport{Why: s.notAsked},
		Warnings:   found.Warnings,
		Versions:   Versions{Toxscreen: Version(), Model: s.info.Version},
	}}
	if w.fused, err = s.fuse(found.Scores, nil); err != nil {
		return nil, fmt.Errorf("failed to score text: %w", err)
	}
	if s.fusion != nil {
		w.result.Versions.Calibration = s.fusion.Version()
	}
	if s.judge != nil {
		w.result.Judge.Asked, w.result.Judge.Why = s.rule.Escalate(ctx, found, s.thresholds)
	}
	return w, nil
}

// consult is the second step: the judge's verdict, where it is worth it.
// Whatever goes wrong with the judge, the classifier's scores stand.
func (s *Screener) consult(ctx context.Context, w *work) error {
	if !w.result.Judge.Asked {
		return nil
	}
	verdict := s.ask(ctx, w)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("failed to score text: %w", err)
	}
	if verdict == nil {
		return nil
	}
	judged, err := s.fuse(w.found.Scores, verdict)
	switch {
	case err != nil:
		w.result.Judge.Error = err.Error()
	case judged.Evidence.Len() > 0:
		w.fused, w.result.Source = judged, SourceFused
		w.result.Spans = withEvidence(w.result.Spans, *verdict, judged)
	}
	return nil
}

// finish is the last step: the final probabilities and what follows from them.
func (s *Screener) finish(w *work) (Result, error) {
	result := w.result
	if err := s.fill(&result, w.found, w.fused.Scores); err != nil {
		return Result{}, err
	}
	if strings.TrimSpace(w.text) == "" {
		result.Warnings = append(result.Warnings, "the text is empty or blank: its scores say nothing")
	}
	if result.Flagged && result.Spans != nil && len(result.Spans) == 0 {
		result.Warnings = append(result.Warnings, "flagged without a span: no single word stands out")
	}
	if result.Warnings == nil {
		result.Warnings = []string{}
	}
	return result, nil
}

// fuse is the Fusion's, or the classifier's scores where there is none.
func (s *Screener) fuse(scores Scores, verdict *Verdict) (Fused, error) {
	if s.fusion == nil {
		return Fused{Scores: scores}, nil
	}
	return s.fusion.Fuse(scores, verdict)
}

// fill writes the final probabilities and what follows from them.
func (s *Screener) fill(result *Result, found Classification, final Scores) error {
	measured := Scores{}
	for _, v := range result.Judge.Verdicts {
		measured = v.Measured()
	}
	for a, score := range found.Scores.All() {
		probability, ok := final.Get(a)
		if !ok || math.IsNaN(probability) || probability < 0 || probability > 1 {
			return fmt.Errorf("failed to score text: the fusion %s gave %v for %s, which is no probability", result.Versions.Calibration, probability, a)
		}
		threshold, _ := s.thresholds.Get(a)
		filled := AttributeResult{
			Score: Probability(probability), Classifier: Probability(score),
			Threshold: Probability(threshold), Flagged: probability >= threshold,
		}
		if plain, ok := found.Plain.Get(a); ok {
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
	result.Severity = SeverityOf(float64(result.Score))
	return nil
}

// ask returns the judge's verdict, which it puts into the result, or nil with
// the reason in the result.
func (s *Screener) ask(ctx context.Context, w *work) *Verdict {
	report := &w.result.Judge
	start := time.Now()
	verdict, err := s.judge.Judge(ctx, w.text, w.found.Spans)
	report.Milliseconds = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		report.Error = err.Error()
		if abstained, ok := errors.AsType[*AbstentionError](err); ok {
			report.Raw = abstained.Raw
		}
		return nil
	}
	for _, a := range verdict.Aspects {
		if p := a.PYes; p != nil && !(*p >= 0 && *p <= 1) {
			report.Error = fmt.Sprintf("the judge %s gave %v for %s, which is no probability", verdict.Model, float64(*p), a.Name)
			return nil
		}
	}
	report.Verdicts = []Verdict{verdict}
	w.result.Versions.Rubric, w.result.Versions.JudgeModel = verdict.Rubric, verdict.Model
	if len(verdict.Addressed) > 0 {
		w.result.Warnings = append(w.result.Warnings, "the text speaks to whoever judges it: what the judge finds harmless in it counts for nothing")
	}
	return &verdict
}

const modulePath = "github.com/toxscreen/toxscreen"

// Version returns the version of this module as the build knows it: a tag, or
// "devel" and the commit where the binary was built from a checkout.
func Version() string { return version }

var version = func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			return dep.Version
		}
	}
	if v := info.Main.Version; info.Main.Path == modulePath && v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = "-" + setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = "-modified"
		}
	}
	return "devel" + commit + modified
}()
