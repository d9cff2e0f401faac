// Package toxscreen scores text for toxicity without a network. A local
// classifier gives a calibrated probability for each of seven attributes and the
// words that cause it; a language model on an Ollama server of one's own may
// judge the texts near a decision.
//
// Package screen opens what is needed:
//
//	screener, err := screen.Open(screen.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer screener.Close()
//	result, err := screener.Score(ctx, "you are a stupid idiot")
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(result.Score, result.Flagged, result.Spans)
//
// This package holds the vocabulary and the order of the steps, and imports only
// the standard library.
//
// # What to use when
//
//   - One text at a time: [Screener.Score]. A caller who has to answer before the
//     judge does takes [Screener.Begin] and [Screening.Consult].
//   - Many texts: [Batch], which keeps the order and the memory flat. Files in
//     JSONL, CSV and Parquet, which can be resumed: package rows.
//   - Over HTTP, also for clients of the Perspective API, OpenAI, LiteLLM, Patronus
//     and Writer: package httpapi, or the command toxscreen serve.
//   - Another model than the default one: package models imports and opens it; a
//     [Classifier] of one's own needs neither ONNX Runtime nor package screen.
//   - A second opinion: a judge in the settings of package screen, or package judge by itself.
//     How both become one score, and parameters for one's own texts: package fusion.
//
// # What stays stable
//
// The same text under the same [Versions] has the same result, to 1e-4. The JSON
// form of [Result], the formats of package httpapi, the exit codes and flags of
// the command, and the manifest of a model are contracts: they only grow, and
// CHANGELOG.md names what is new. The Go API may still change until version 1.0.0
// is tagged; packages in internal/ and scripts/ may change at any time. A new
// default model is a new version in [Versions], and its scores are other numbers.
package toxscreen

import (
	"context"
	"errors"
	"runtime/debug"
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
	// Model is name@version and a hash of the model that scored the text, as
	// results show it.
	Model string
	// Thresholds is the probability from which each attribute is flagged. It has
	// an entry for each of Scores.
	Thresholds Scores
	// Language is what the text seems to be written in.
	Language Language
	// Plain holds the probability of the text as it is written for those
	// attributes that reading it as it seems to be meant, without its disguise,
	// changed noticeably.
	Plain Scores
	// Spans are ordered, free of overlap, with byte offsets into the text.
	// It is nil where the model has no token head.
	Spans []Span
	// Warnings are sentences about what limits the classification.
	Warnings []string
}

// Language is what a text seems to be written in.
type Language struct {
	// Code is that of ISO 639, such as "de"; empty where it cannot be told.
	Code string
	// Foreign tells that the text is almost certainly in none of the languages
	// that the model was trained on.
	Foreign bool
}

// ModelInfo describes a model.
type ModelInfo struct {
	// Version is name@version and a hash, as [Classification.Model] has it.
	Version string
	// Attributes are what the model measures, in their order.
	Attributes []Attribute
	// Languages are the codes of ISO 639 or BCP 47 of the languages that the
	// model was trained on; empty where that is not known.
	Languages []string
	// Parallel is how many texts at once keep the model busy: what [Batch]
	// has under way.
	Parallel int
	// Short is the length in bytes up to which texts share the model's runs:
	// Parallel is for texts of that length. Texts of twice the length or more do
	// not share runs, and an eighth of Parallel keeps the model busy. 0 means
	// that length makes no difference.
	Short int
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
	thresholds Scores // in place of the model's
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
		classifier: classifier, info: info, maxBytes: DefaultMaxBytes,
		notAsked: "no judge is configured",
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// With returns a Screener that differs from s by some options. It costs next to
// nothing, so that a caller with thresholds of its own may have one.
func (s *Screener) With(options ...Option) *Screener {
	changed := *s
	for _, option := range options {
		option(&changed)
	}
	return &changed
}

// Info describes the model.
func (s *Screener) Info() ModelInfo { return s.info }

// HasJudge tells whether a judge may be asked about a text.
func (s *Screener) HasJudge() bool { return s.judge != nil }

// Score scores one text. Every byte of it counts: nothing is cut. A text over
// the limit of bytes is refused with [ErrTooLong] in the chain. It is
// [Screener.Begin] and [Screening.Consult], for those who can wait for the judge.
func (s *Screener) Score(ctx context.Context, text string) (Result, error) {
	screening, err := s.Begin(ctx, text)
	if err != nil {
		return Result{}, err
	}
	return screening.Consult(ctx)
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
