// Package screen opens everything that scoring needs, from settings to a Screener:
//
//	screener, err := screen.Open(screen.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer screener.Close()
//	result, err := screener.Score(ctx, "you are a stupid idiot")
//
// This uses the embedded model on all cores. With a judge, borderline texts get a
// second opinion from a language model on an Ollama server:
//
//	screener, err := screen.Open(screen.Settings{Judge: judge.Config{Model: "llama3.1:8b"}})
//
// The command line and the server open their Screener here, too.
package screen

import (
	"errors"
	"fmt"
	"os"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/models"
)

// Settings select what is opened. The zero value of each field is its default.
type Settings struct {
	// Model is the name of a model, or its folder; see package models. Default: the embedded
	// model of English, and that of many languages for texts, and parts of texts, that are not
	// surely English, see [toxscreen.WithMultilingual].
	Model string
	// Library is the path of ONNX Runtime's library. Default: the one that
	// [encoder.FindLibrary] finds.
	Library string
	// Provider is where the model runs. Default: the CPU.
	Provider encoder.Provider
	// Threads is the number of concurrent runs of the model on the CPU. Default:
	// one for each core that Go may use.
	Threads int

	// Scale is the scale of scores and thresholds. It is an error if the model does not have it, and
	// if there are a Judge, a Calibration or a low or high Sensitivity, which belong to the guideline's.
	// Default: [toxscreen.GuidelineScale].
	Scale toxscreen.Scale
	// Sensitivity selects the thresholds among those of the model. Low and high are an error
	// for a model whose manifest has no thresholds for them. Default:
	// [models.SensitivityMedium].
	Sensitivity models.Sensitivity
	// Thresholds replace the thresholds of the Scale and the Sensitivity for the attributes that
	// have a number here.
	Thresholds toxscreen.Scores
	// MaxBytes is the maximum length of a text in bytes. Default:
	// [toxscreen.DefaultMaxBytes].
	MaxBytes int
	// Language states the language of all texts, see [toxscreen.WithLanguage]. Default: it is
	// detected.
	Language string
	// Full runs the whole network on every text, see [toxscreen.WithFullNetwork]. Default:
	// clearly harmless texts leave it early.
	Full bool
	// FailOn are the limits that the caller compares results with, see [toxscreen.WithLimits].
	FailOn toxscreen.Limits
	// Calibration is a file with fusion parameters, as [fusion.Params.Encode]
	// returns it. It implies Full, since parameters can raise a score over its threshold.
	// Default: parameters that change no score of the classifier.
	Calibration string

	// PII selects what personal data is found, see [OpenFinder]. WithPII also finds it in each
	// text, for [toxscreen.Result].Entities. Default: it is not looked for.
	PII     PII
	WithPII bool

	// Judge is the judge, if it has a Model; Open sets its Classifier and its Cache. Default:
	// none. With a Log, the errors in results do not name the address of its server: a server
	// needs that for clients that are not to know it.
	Judge judge.Config
	// JudgeBand is the range of toxicity in which the judge is asked; nil asks it if its
	// verdict is worth its price. It does not matter if the judge is not trusted.
	JudgeBand *toxscreen.Band
	// JudgeTrust says whether a judge must have earned trust to be asked; default:
	// [TrustTested].
	JudgeTrust TrustMode
	// OnTrust is called when it becomes known what the judge's verdicts may change, and
	// when that changes, from one goroutine at a time. Default: not called.
	OnTrust func(Trust)
	// JudgeCache is the file that stores verdicts, or [NoCache]; default: verdicts.db in
	// toxscreen's folder of the user's cache.
	JudgeCache string
	// NoJudge is a sentence that says why no judge is asked. If there is one, Judge is
	// ignored and no network connection is made.
	NoJudge string
}

// Screener is a [toxscreen.Screener] with the model and the judge that it uses. It
// is safe for concurrent use; Close it when no call is in progress.
type Screener struct {
	*toxscreen.Screener

	model    *models.Model
	others   *models.Multilingual // nil beside a model of one's own
	settings Settings
	finder   *Finder        // nil if personal data is not looked for
	fusion   *fusion.Fusion // without a judge
	asked    *asked         // nil without a judge
	judged   string         // what verdicts depend on, for JudgedBy
	close    func()         // closes the judge
}

// Open opens the model, the fusion parameters and the judge. It does not contact
// the judge's server before the first text needs it: without a server, all scores
// are the classifier's.
func Open(s Settings) (*Screener, error) {
	if err := s.checkScale(); err != nil {
		return nil, err
	}
	options := models.Options{Library: s.Library, Provider: s.Provider, Threads: s.Threads}
	model, err := models.Open(s.Model, options)
	if err != nil {
		return nil, err
	}
	stated := s.Thresholds
	if s.Thresholds, err = s.inForce(model.Manifest()); err != nil {
		return nil, errors.Join(err, model.Close())
	}
	scored := model
	if !s.Scale.IsGuideline() {
		if scored, err = model.On(s.Scale); err != nil {
			return nil, errors.Join(err, model.Close())
		}
	}
	screener, err := on(scored, s)
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	screener.model, screener.settings = model, s
	if s.Model == "" || s.Model == models.DefaultName {
		if err := screener.openMultilingual(options, stated); err != nil {
			return nil, errors.Join(err, screener.Close())
		}
	}
	if s.WithPII {
		if screener.finder, err = OpenFinder(s); err != nil {
			return nil, errors.Join(err, screener.Close())
		}
		screener.Screener = screener.With(toxscreen.WithEntities(screener.finder))
	}
	return screener, nil
}

// openMultilingual opens the model of many languages. The thresholds that the caller states count for
// it, too; the others are its own, for the sensitivity. It has no other scale than the guideline's.
func (s *Screener) openMultilingual(options models.Options, stated toxscreen.Scores) error {
	others, err := models.OpenMultilingual(options)
	if err != nil {
		return err
	}
	s.others = others
	own := s.settings
	own.Scale, own.Thresholds = "", stated
	thresholds, err := own.inForce(others.Manifest())
	if err != nil {
		return err
	}
	s.Screener = s.With(toxscreen.WithMultilingual(others, thresholds))
	return nil
}

// checkScale refuses what belongs to the guideline's scale where scores are on another one. Nobody has
// measured what a verdict, or fusion parameters, would be worth there.
func (s Settings) checkScale() error {
	switch {
	case s.Scale.IsGuideline():
	case s.Calibration != "":
		return fmt.Errorf("failed to apply the fusion parameters %s: they belong to the scale %s, not to %s: use that scale, or leave calibration empty", s.Calibration, toxscreen.GuidelineScale, s.Scale)
	case s.Judge.Model != "" && s.NoJudge == "":
		return fmt.Errorf("failed to ask the judge %s on the scale %s: its verdicts are about the scale %s: use that scale, or no judge (--no-judge)", s.Judge.Model, s.Scale, toxscreen.GuidelineScale)
	}
	return nil
}

// inForce returns the thresholds that count: the caller's, and for other attributes those of
// the scale and the sensitivity.
func (s Settings) inForce(model models.Manifest) (toxscreen.Scores, error) {
	thresholds, err := model.ThresholdsAt(s.Scale, s.Sensitivity)
	for a, threshold := range s.Thresholds.All() {
		thresholds.Set(a, threshold)
	}
	return thresholds, err
}

// options are the options of a Screener that do not depend on the scale.
func (s Settings) options() []toxscreen.Option {
	options := []toxscreen.Option{toxscreen.WithLanguage(s.Language)}
	if s.MaxBytes > 0 {
		options = append(options, toxscreen.WithMaxBytes(s.MaxBytes))
	}
	return options
}

// on returns a Screener that scores by a classifier.
func on(classifier toxscreen.Classifier, s Settings) (*Screener, error) {
	f, err := openFusion(s.Calibration, classifier.Info().Version)
	if err != nil {
		return nil, err
	}
	opened := &Screener{fusion: f, judged: "none", close: func() {}}
	var opinion toxscreen.Opinion
	if s.Scale.IsGuideline() {
		opinion.Version = f.Version()
	}
	if s.Calibration != "" {
		opinion.Fuse = f.Fuse // the embedded parameters change no score
	}
	options := append(s.options(), toxscreen.WithThresholds(s.Thresholds), toxscreen.WithLimits(s.FailOn))
	if s.Full {
		options = append(options, toxscreen.WithFullNetwork())
	}
	switch {
	case s.NoJudge != "":
		options = append(options, toxscreen.WithoutJudge(s.NoJudge))
	case s.Judge.Model == "":
	default:
		s.Judge.Classifier = classifier
		j, err := OpenJudge(s)
		if err != nil {
			return nil, err
		}
		folder, err := SelfTests()
		if err != nil {
			j.Close()
			return nil, err
		}
		opened.close = j.Close
		opened.judged = fmt.Sprintf("%s by %s", s.Judge.Model, j.Version())
		if s.JudgeBand != nil {
			opened.judged += " in " + s.JudgeBand.String()
		}
		opened.asked = &asked{judge: j.Judge, settings: s, folder: folder, fusion: f, best: f.AtBest()}
		if s.JudgeTrust == TrustNone {
			opened.judged += " without weight"
			opened.asked.tell(unweighted)
		}
		opinion = opened.asked.opinion()
	}
	opened.Screener = toxscreen.New(classifier, append(options, toxscreen.WithOpinion(opinion))...)
	return opened, nil
}

// Close closes the models, the finder of personal data and the judge.
func (s *Screener) Close() error {
	s.close()
	var errs []error
	if s.finder != nil {
		errs = append(errs, s.finder.Close())
	}
	if s.others != nil {
		errs = append(errs, s.others.Close())
	}
	return errors.Join(append(errs, s.model.Close())...)
}

// OtherScales returns, if s scores on the guideline's scale, a Screener for each other scale of the
// model. Texts in other languages than English are scored on the guideline's scale there, too. It has
// the limits and the language of s and the thresholds of the models, and asks no judge. It uses the
// models of s, and must not be used after s is closed.
func (s *Screener) OtherScales() map[toxscreen.Scale]*toxscreen.Screener {
	if !s.settings.Scale.IsGuideline() {
		return nil
	}
	others := map[toxscreen.Scale]*toxscreen.Screener{}
	for scale := range s.Manifest().Scales {
		view, err := s.model.On(scale)
		if err != nil {
			panic(err) // the manifest has the scale
		}
		options := append(s.settings.options(), toxscreen.WithoutJudge(fmt.Sprintf("no judge is asked about scores on the scale %s", scale)))
		if s.others != nil {
			options = append(options, toxscreen.WithMultilingual(s.others, toxscreen.Scores{}))
		}
		others[scale] = toxscreen.New(view, options...)
	}
	return others
}

// Manifest returns the model's manifest.
func (s *Screener) Manifest() models.Manifest { return s.model.Manifest() }

// Calibration returns the hash of the fusion parameters, as results show it.
func (s *Screener) Calibration() string { return s.fusion.Version() }

// JudgedBy names what verdicts depend on: the judge's model, its rubric, the band
// and whether verdicts count, or "none".
func (s *Screener) JudgedBy() string { return s.judged }

// Explain returns how the scores of a result were computed, step by step.
func (s *Screener) Explain(r toxscreen.Result) ([]string, error) {
	if s.asked == nil {
		return s.fusion.Explain(r)
	}
	return s.asked.now().Explain(r)
}

// ReadCalibration reads a file with fusion parameters.
func ReadCalibration(path string) (fusion.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return fusion.File{}, fmt.Errorf("failed to read fusion parameters: %w", err)
	}
	file, err := fusion.Read(data)
	if err != nil {
		return fusion.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// openFusion returns the fusion with the parameters of a file, for a version of a
// model.
func openFusion(path, model string) (*fusion.Fusion, error) {
	if path == "" {
		return fusion.New(fusion.Default(), model)
	}
	params, err := ReadCalibration(path)
	if err != nil {
		return nil, err
	}
	f, err := fusion.New(params, model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
