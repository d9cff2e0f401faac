package screen

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
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
	Provider          encoder.Provider `json:"provider"`
	Cores             int              `json:"cores"`
	Threads           int              `json:"threads"` // concurrent runs of the model
	OpenMilliseconds  float64          `json:"open_milliseconds,omitempty"`
	ScoreMilliseconds float64          `json:"score_milliseconds,omitempty"`
	// Problems are sentences that say what is missing and how to get it.
	Problems []string `json:"problems"`
}

// Examine checks what scoring with the given settings needs: ONNX Runtime's
// library, the model and its files, and then the score of a text. Each check is
// independent, so that all problems are found at once. No judge is asked.
func Examine(ctx context.Context, s Settings) Diagnosis {
	d := Diagnosis{Toxscreen: toxscreen.Version(), Provider: s.Provider, Cores: runtime.NumCPU(), Threads: s.Threads, Problems: []string{}}
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
	if d.fine(d.examineModel(s.Model)) && d.Library.Path != "" {
		d.fine(d.try(ctx, s))
	}
	d.OK = len(d.Problems) == 0
	return d
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
	if _, err := screener.Score(ctx, "The weather is nice today."); err != nil {
		return err
	}
	d.OpenMilliseconds, d.ScoreMilliseconds = opened, milliseconds(start)
	return nil
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
