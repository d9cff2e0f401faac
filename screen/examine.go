package screen

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
	"github.com/toxscreen/toxscreen/models"
)

// Diagnosis is the result of [Examine]. Its JSON form is a part of the output of
// `toxscreen doctor`.
type Diagnosis struct {
	OK        bool   `json:"ok"` // whether scoring works
	Toxscreen string `json:"toxscreen"`
	Library   struct {
		BuiltFor  string             `json:"built_for"`
		Path      string             `json:"path,omitempty"`
		Version   string             `json:"version,omitempty"`
		Providers []encoder.Provider `json:"providers,omitempty"`
	} `json:"library"`
	Model struct {
		Folder     string                `json:"folder,omitempty"`
		Identity   string                `json:"identity,omitempty"`
		License    string                `json:"license,omitempty"`
		Verified   bool                  `json:"verified"` // whether each file has the hash in the manifest
		Attributes []toxscreen.Attribute `json:"attributes,omitempty"`
		Spans      bool                  `json:"spans"`
		Variants   []models.Variant      `json:"variants,omitempty"`
	} `json:"model"`
	// Multilingual is the model of many languages; absent beside a model of one's own.
	Multilingual struct {
		Identity string `json:"identity,omitempty"`
		Verified bool   `json:"verified"` // likewise
	} `json:"multilingual,omitzero"`
	Provider          encoder.Provider `json:"provider"`
	Cores             int              `json:"cores"`
	Threads           int              `json:"threads"` // concurrent runs of the model
	OpenMilliseconds  float64          `json:"open_milliseconds,omitempty"`
	ScoreMilliseconds float64          `json:"score_milliseconds,omitempty"`
	// Judge is nil if no judge is configured.
	Judge *JudgeDiagnosis `json:"judge,omitempty"`
	// Problems are sentences that say what is missing and how to get it.
	Problems []string `json:"problems"`
}

// JudgeDiagnosis is what is known about a judge, as far as its server was reached.
type JudgeDiagnosis struct {
	Model               string  `json:"model"`              // as it is configured
	Identity            string  `json:"identity,omitempty"` // with the beginning of its digest; empty if the server does not have it
	Rubric              string  `json:"rubric,omitempty"`
	Dialect             string  `json:"dialect,omitempty"` // form of its prompts: "rubric", or the family of a guard model
	Context             int     `json:"context,omitempty"` // of each call, in tokens
	LoadMilliseconds    float64 `json:"load_milliseconds,omitempty"`
	VerdictMilliseconds float64 `json:"verdict_milliseconds,omitempty"` // of a short text
	// Trust is what its verdicts may change.
	Trust *Trust `json:"trust,omitempty"`
	// Problem is a sentence that says why there is no verdict; empty if there is one.
	// Scoring works without.
	Problem string `json:"problem,omitempty"`
}

// Examine checks what scoring with the given settings needs: ONNX Runtime's
// library, the model and its files, and then the score of a text. Each check is
// independent, so that all problems are found at once. A judge is asked for a verdict on
// the same text, unless NoJudge is set: then no network connection is made.
func Examine(ctx context.Context, s Settings) Diagnosis {
	d := Diagnosis{Toxscreen: toxscreen.Version, Provider: s.Provider, Cores: runtime.NumCPU(), Threads: s.Threads, Problems: []string{}}
	if d.Provider == "" {
		d.Provider = encoder.CPU
	}
	if d.Threads == 0 {
		d.Threads = runtime.GOMAXPROCS(0)
	}
	d.Library.BuiltFor = encoder.LibraryVersion
	library, err := encoder.LoadLibrary(s.Library, d.Provider)
	if d.fine(err) {
		d.Library.Path, d.Library.Version, d.Library.Providers = library.Path, library.Version, library.Providers
	}
	possible := d.fine(s.checkScale())
	if d.fine(d.examineModel(s.Model)) && possible && d.Library.Path != "" {
		d.fine(d.try(ctx, s))
	}
	d.OK = len(d.Problems) == 0
	if s.Judge.Model != "" && s.NoJudge == "" {
		d.Judge = &JudgeDiagnosis{Model: s.Judge.Model}
		if err := d.Judge.examine(ctx, s, d.Model.Identity); err != nil {
			d.Judge.Problem = err.Error()
		}
	}
	return d
}

// sample is the text that is scored and judged.
const sample = "The weather is nice today."

// examine asks the judge for a verdict. model is the version of the classifier's model,
// which labelled texts were scored with; empty if it does not work.
func (d *JudgeDiagnosis) examine(ctx context.Context, s Settings, model string) error {
	s.JudgeCache = NoCache
	opened, err := OpenJudge(s)
	if err != nil {
		return err
	}
	defer opened.Close()
	found, err := opened.Identify(ctx)
	if err != nil {
		return err
	}
	d.Identity, d.Rubric, d.Dialect = found.String(), found.Rubric, found.Dialect
	trust, err := opened.trust(found, s, model)
	if err != nil {
		return err
	}
	d.Trust = &trust
	start := time.Now()
	if found, err = opened.Connect(ctx); err != nil {
		return err
	}
	d.Context, d.LoadMilliseconds = found.Context, milliseconds(start)
	start = time.Now()
	if _, err := opened.Judge.Judge(ctx, sample, toxscreen.Classification{}); err != nil {
		return err
	}
	d.VerdictMilliseconds = milliseconds(start)
	return nil
}

// trust returns what the verdicts of the judge may change under the settings.
func (o OpenedJudge) trust(found judge.Model, s Settings, model string) (Trust, error) {
	if s.JudgeTrust == TrustNone {
		return unweighted, nil
	}
	if model == "" {
		s.Calibration = "" // it says nothing without the model that it was fitted to
	}
	f, err := openFusion(s.Calibration, model)
	if err != nil {
		return Trust{}, err
	}
	folder, err := SelfTests()
	if err != nil {
		return Trust{}, err
	}
	tested, err := selftest.Read(folder, found)
	if err != nil {
		return Trust{}, err
	}
	_, trust := weighed(f, found, tested, nil)
	return trust, nil
}

// fine adds an error to the problems. It reports whether there is none.
func (d *Diagnosis) fine(err error) bool {
	if err != nil {
		d.Problems = append(d.Problems, err.Error())
	}
	return err == nil
}

// examineModel checks a model's manifest and files.
func (d *Diagnosis) examineModel(name string) error {
	folder, err := models.Resolve(name)
	if err != nil {
		return err
	}
	d.Model.Folder = folder.String()
	manifest, err := models.ReadManifest(folder.FS)
	if err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	d.Model.Identity, d.Model.License = manifest.Identity(), manifest.License
	d.Model.Attributes, d.Model.Spans, d.Model.Variants = manifest.Attributes(), manifest.Spans != nil, manifest.Variants
	if _, err := models.Verify(folder.FS); err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	d.Model.Verified = true
	if name != "" && name != models.DefaultName {
		return nil
	}
	return d.examineMultilingual()
}

// examineMultilingual checks the manifest and the files of the embedded model of many languages.
func (d *Diagnosis) examineMultilingual() error {
	folder, err := models.Resolve(models.MultilingualName)
	if err != nil {
		return err
	}
	manifest, err := models.ReadManifest(folder.FS)
	if err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	d.Multilingual.Identity = manifest.Identity()
	if _, err := models.Verify(folder.FS); err != nil {
		return fmt.Errorf("model %s: %w", folder, err)
	}
	d.Multilingual.Verified = true
	return nil
}

// try scores a text.
func (d *Diagnosis) try(ctx context.Context, s Settings) error {
	start := time.Now()
	s.NoJudge = "this is a test without a judge"
	screener, err := Open(s)
	if err != nil {
		return err
	}
	defer screener.Close()
	opened := milliseconds(start)
	start = time.Now()
	if _, err := screener.Score(ctx, sample); err != nil {
		return err
	}
	d.OpenMilliseconds, d.ScoreMilliseconds = opened, milliseconds(start)
	return nil
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
