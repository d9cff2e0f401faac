// Package screen opens everything that scoring needs, from settings to a
// Screener:
//
//	screener, err := screen.Open(screen.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer screener.Close()
//	result, err := screener.Score(ctx, "you are a stupid idiot")
//
// That is the model inside the binary on all cores. With a judge, texts near a
// decision get a second opinion from a language model on an Ollama server:
//
//	screener, err := screen.Open(screen.Settings{Judge: screen.Judge{Model: "llama3.1:8b"}})
//
// The command line, the server, library users and workers open the same thing
// here.
package screen

import (
	"errors"
	"fmt"
	"os"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/models"
)

// Settings say what is opened. The zero value of each field is its default.
type Settings struct {
	// Model is the name of a model, or its folder; see package models. Default:
	// the model inside the binary.
	Model string
	// Library is the path of ONNX Runtime's library. Default: the one that
	// [encoder.FindLibrary] finds.
	Library string
	// Provider is where the model runs. Default: the CPU.
	Provider encoder.Provider
	// Threads is how many runs of the model go side by side on the CPU. Default:
	// one for each core that Go may use.
	Threads int

	// Thresholds replace the model's for the attributes that have a number here.
	Thresholds toxscreen.Scores
	// MaxBytes is the length of a text that is accepted. Default:
	// [toxscreen.DefaultMaxBytes].
	MaxBytes int
	// Calibration is a file with fusion parameters, as [fusion.Params.Encode]
	// makes it. Default: parameters that change no score of the classifier.
	Calibration string

	// Judge is who gives a second opinion. Default: nobody.
	Judge Judge
	// NoJudge says in a sentence why no judge is asked, whatever Judge names. No
	// network is touched then.
	NoJudge string
}

// Screener is a [toxscreen.Screener] together with what it was opened from. It
// is safe for concurrent use; Close it when no call is under way any more.
type Screener struct {
	*toxscreen.Screener

	model  *models.Model
	fusion *fusion.Fusion // that knows no judge
	asked  *asked         // nil where no judge is
	judged string         // what verdicts depend on
	close  func()         // gives the judge back
}

// Open opens the model and the fusion parameters, and makes the judge ready. The
// judge's server is not asked before the first text needs it: without a server
// everything works on the classifier.
func Open(s Settings) (*Screener, error) {
	model, err := models.Open(s.Model, models.Options{Library: s.Library, Provider: s.Provider, Threads: s.Threads})
	if err != nil {
		return nil, err
	}
	screener, err := on(model, s)
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return screener, nil
}

// on opens what belongs to a model that is open.
func on(model *models.Model, s Settings) (*Screener, error) {
	f, err := openFusion(s.Calibration, model.Info().Version)
	if err != nil {
		return nil, err
	}
	opened := &Screener{model: model, fusion: f, judged: "none", close: func() {}}
	options := []toxscreen.Option{toxscreen.WithThresholds(s.Thresholds), toxscreen.WithFusion(f)}
	if s.MaxBytes > 0 {
		options = append(options, toxscreen.WithMaxBytes(s.MaxBytes))
	}
	switch {
	case s.NoJudge != "":
		options = append(options, toxscreen.WithoutJudge(s.NoJudge))
	case s.Judge.Model == "":
	default:
		judge, err := OpenJudge(s.Judge)
		if err != nil {
			return nil, err
		}
		folder, err := SelfTests()
		if err != nil {
			judge.Close()
			return nil, err
		}
		opened.close = judge.Close
		opened.judged = fmt.Sprintf("%s by %s", s.Judge.Model, judge.Rubric().Version())
		if s.Judge.Band != nil {
			opened.judged += " in " + s.Judge.Band.String()
		}
		opened.asked = &asked{judge: judge.Judge, folder: folder, band: s.Judge.Band, fusion: f, best: f.AtBest()}
		options = append(options, toxscreen.WithJudge(opened.asked, opened.asked), toxscreen.WithFusion(opened.asked))
	}
	opened.Screener = toxscreen.New(model, options...)
	return opened, nil
}

// Close frees the model and gives the connections of the judge back.
func (s *Screener) Close() error {
	s.close()
	return s.model.Close()
}

// Manifest returns what the model's folder says of the model.
func (s *Screener) Manifest() models.Manifest { return s.model.Manifest() }

// Calibration returns the hash of the fusion parameters, as results show it.
func (s *Screener) Calibration() string { return s.fusion.Version() }

// JudgedBy names what verdicts depend on: the judge's model, its rubric and the
// band, or "none".
func (s *Screener) JudgedBy() string { return s.judged }

// Explain returns how the scores of a result came about, step by step.
func (s *Screener) Explain(r toxscreen.Result) ([]fusion.Explanation, error) {
	if s.asked == nil {
		return s.fusion.Explain(r)
	}
	return s.asked.now().Explain(r)
}

// ReadCalibration reads a file with fusion parameters.
func ReadCalibration(path string) (fusion.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return fusion.File{}, fmt.Errorf("failed to read fusion parameters: %w", err)
	}
	defer in.Close()
	file, err := fusion.Read(in)
	if err != nil {
		return fusion.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// openFusion returns the fusion by the parameters of a file for a model by its
// version.
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
