// Package toxscreen scores text for toxicity without a network. A local
// classifier gives a calibrated probability for each attribute and the
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
//   - Over HTTP, also for clients of the Perspective API, OpenAI and others that package
//     server/formats lists: package server, or the command toxscreen serve.
//   - Another model than the default one: package models imports and opens it; a
//     [Classifier] of one's own needs neither ONNX Runtime nor package screen.
//   - A second opinion: a judge in the settings of package screen, or package judge by itself.
//     How both become one score, and parameters for one's own texts: package fusion.
//
// # What stays stable
//
// The same text under the same [Versions] has the same result, to 1e-4, on processors of
// one architecture, if it may leave the network early in both cases or in neither, see
// [WithFullNetwork]. docs/model/card.md says how far arm64 is from amd64. The JSON
// form of [Result], the formats of package server, the exit codes and flags of
// the command, and the manifest of a model are contracts: they only grow, and
// CHANGELOG.md names what is new. The Go API may still change until version 1.0.0
// is tagged; packages in internal/ and scripts/ may change at any time. A new
// default model is a new version in [Versions], and its scores are other numbers.
package toxscreen

import (
	"context"
	"errors"
	"slices"
)

// Classifier is the model of a [Screener]. Implementations must be safe for
// concurrent use.
type Classifier interface {
	// Classify scores one text. It returns the context's error if that ends first.
	Classify(ctx context.Context, text string, depth Depth) (Classification, error)
	// Info describes the model. It always returns the same value.
	Info() ModelInfo
}

// Depth is how far a [Classifier] runs its network on a text.
type Depth uint8

const (
	// Full runs the whole network: all scores are exact.
	Full Depth = iota
	// Early may end on a part of a text as soon as no score of that part can reach the
	// model's threshold. The scores of the part are then estimates, and it has no spans.
	// [Classification.Exit] tells where a text ended. A network without exits is run in full.
	Early
)

// Classification is the output of a [Classifier] for one text.
type Classification struct {
	// Scores holds the calibrated probability in 0..1 of each attribute that the
	// model measures.
	Scores Scores
	// Language is the language that the text seems to be written in. The [Screener] sets it
	// if it is stated or the classifier is a [LanguageReader]. Otherwise it is what the
	// classifier says.
	Language Language
	// Plain holds the probability for the text as it is written, for each attribute
	// that undoing disguise changed noticeably.
	Plain Scores
	// Readings are the words that were read with their disguise undone, as
	// [Result.Readings] has them, with byte offsets into the text.
	Readings []Reading
	// Windows are the parts that a long text was scored in. They may overlap. A text
	// that was scored at once is one window with the same Scores. It is nil if the
	// classifier does not tell; results then have no passages.
	Windows []Window
	// Spans are ordered, free of overlap, with byte offsets into the text.
	// It is nil if the model cannot mark words.
	Spans []Span
	// Exit is the exit of the network at which the text left it, counted from 1; of a text in
	// several parts, the last that one took. 0 means that the whole network was run on the
	// text or on one of its parts.
	Exit int
	// Warnings are sentences about the limits of the classification.
	Warnings []string
}

// ModelInfo describes a model.
type ModelInfo struct {
	// Version is name@version and a hash, as results show it.
	Version string
	// Scale is the scale of the scores; empty for the guideline's.
	Scale Scale
	// Attributes are the attributes that the model measures, in their numeric
	// order.
	Attributes []Attribute
	// Thresholds holds, for each of Attributes, the lowest probability at which it is flagged.
	Thresholds Scores
	// Exits is the number of exits at which a text may leave the network.
	Exits int
	// Languages are the ISO 639 or BCP 47 codes of the languages that the model was
	// trained on; empty if they are not known.
	Languages []string
	// Parallel is the number of concurrent texts that keeps the model busy. [Batch]
	// classifies that many at once.
	Parallel int
	// Short is the length in bytes up to which texts share the model's runs:
	// Parallel applies to texts of that length. Texts of twice the length or more
	// do not share runs, and an eighth of Parallel of them keeps the model busy. 0
	// means that the length makes no difference.
	Short int
}

// DefaultMaxBytes is the maximum length of a text unless [WithMaxBytes] changes it:
// 1 MiB, about 200,000 words. The time that the default model takes grows with the
// length: two cores score 40 to 60 kB of a long text per second.
const DefaultMaxBytes = 1 << 20

// ErrTooLong is in the chain of the error for a text over the limit.
var ErrTooLong = errors.New("text too long")

// Screener scores texts. It is safe for concurrent use. [Batch] scores many texts on all
// cores.
type Screener struct {
	first        model
	multilingual model
	limits       Limits // of the caller
	maxBytes     int
	opinion      Opinion
	notAsked     string // why no judge is asked, if there is none

	entities    EntityFinder // nil if personal data is not looked for
	language    string       // of every text, as the caller states; empty if it does not
	anyLanguage bool         // decide texts in languages that the model does not know
	full        bool         // do not end early on any text
}

// Option changes a default of [New].
type Option func(*Screener)

// WithThresholds replaces the thresholds of all models for the attributes that have
// one in t.
func WithThresholds(t Scores) Option {
	return func(s *Screener) {
		for a, value := range t.All() {
			s.first.thresholds.Set(a, value)
			s.multilingual.thresholds.Set(a, value)
		}
	}
}

// WithMaxBytes replaces [DefaultMaxBytes].
func WithMaxBytes(n int) Option {
	return func(s *Screener) { s.maxBytes = n }
}

// WithOpinion asks for a second opinion on texts. If there is no verdict, the result says why.
func WithOpinion(o Opinion) Option {
	return func(s *Screener) { s.opinion = o }
}

// WithoutJudge asks no judge. why is a sentence with the reason, for
// [JudgeReport.Why]. Scores are still those of [Opinion].Fuse.
func WithoutJudge(why string) Option {
	return func(s *Screener) { s.opinion.Ask, s.notAsked = nil, why }
}

// WithFullNetwork runs the whole network on every text. It is for those who rank texts by
// their scores or fit something on the scores. [Screener.EndsEarly] says when that is done
// anyway.
func WithFullNetwork() Option {
	return func(s *Screener) { s.full = true }
}

// WithLimits names what the caller compares results with beside their thresholds, see
// [Result.Reaches]. No estimate of a text that left the network early is compared with a
// limit lower than the model's threshold.
func WithLimits(l Limits) Option {
	return func(s *Screener) { s.limits = l }
}

// New returns a Screener for a classifier. The caller closes the classifier when no
// call of the Screener is in progress.
func New(classifier Classifier, options ...Option) *Screener {
	s := &Screener{first: model{Classifier: classifier, info: classifier.Info()}, maxBytes: DefaultMaxBytes, notAsked: "no judge is configured"}
	for _, option := range options {
		option(s)
	}
	return s
}

// With returns a copy of s with some options changed. It is cheap, so that each
// caller with its own thresholds may have one.
func (s *Screener) With(options ...Option) *Screener {
	changed := *s
	for _, option := range options {
		option(&changed)
	}
	return &changed
}

// Info describes the model. Its languages include those of [WithMultilingual]'s.
func (s *Screener) Info() ModelInfo {
	info := s.first.info
	if s.multilingual.Classifier != nil && len(info.Languages) > 0 {
		info.Languages = slices.Concat(info.Languages, s.multilingual.info.Languages)
		slices.Sort(info.Languages)
		info.Languages = slices.Compact(info.Languages)
	}
	return info
}

// Versions returns the versions that results have without a verdict, of all models that may
// classify a text; a result names those that did.
func (s *Screener) Versions() Versions {
	all := classified{models: []ModelInfo{s.first.info}}
	if s.multilingual.Classifier != nil {
		all.models = append(all.models, s.multilingual.info)
	}
	return s.versions(all)
}

// versions returns the versions for the models that classified a text.
func (s *Screener) versions(found classified) Versions {
	v := Versions{Toxscreen: Version, Model: found.version(), Scale: found.models[0].Scale, Calibration: s.opinion.Version}
	if s.entities != nil {
		v.Entities = s.entities.Version()
	}
	return v
}

// EndsEarly reports whether a text may leave the network early. Its scores are then estimates,
// of which only one thing is sure: that they stay below the model's thresholds. That is not
// enough for a judge, for an [Opinion].Fuse, which can raise a score over its threshold, and for
// thresholds or limits lower than the model's.
func (s *Screener) EndsEarly() bool { return s.endsEarly(s.first) }

func (s *Screener) endsEarly(m model) bool {
	if m.info.Exits == 0 || s.full || s.HasJudge() || s.opinion.Fuse != nil {
		return false
	}
	for _, limits := range []Scores{m.thresholds, s.limits.Scores} {
		for a, limit := range limits.All() {
			if least, ok := m.info.Thresholds.Get(a); ok && limit < least {
				return false
			}
		}
	}
	return true
}

// HasJudge reports whether a judge may be asked about a text.
func (s *Screener) HasJudge() bool { return s.opinion.Ask != nil }

// Score scores one text completely: nothing is truncated. A text over the length
// limit is rejected with [ErrTooLong] in the chain. Score is [Screener.Begin]
// followed by [Screening.Consult], for callers who can wait for the judge.
func (s *Screener) Score(ctx context.Context, text string) (Result, error) {
	screening, err := s.Begin(ctx, text)
	if err != nil {
		return Result{}, err
	}
	return screening.Consult(ctx)
}

// Version is the version of this module, a semantic version without "v". It ends in "-dev"
// between releases.
const Version = "0.9.0"
