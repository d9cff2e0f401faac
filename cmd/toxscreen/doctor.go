package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/screen"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what scoring needs and say how to mend what is missing",
		Long: `Check what scoring needs: ONNX Runtime's library, the model and its files, the
configuration; then score a text. Exits with 1 if that does not work.`,
		Example: `  toxscreen doctor
  toxscreen doctor --provider cuda --format json`,
		Args: arguments(0, 0, ""),
		RunE: a.doctor,
	}
	addFlags(cmd, "format")
	addFlags(cmd, modelFlags...)
	return cmd
}

// diagnosis is what `doctor --format json` prints.
type diagnosis struct {
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
		Verified   bool                  `json:"verified"` // whether each file has the hash that it should
		Attributes []toxscreen.Attribute `json:"attributes,omitempty"`
		Spans      bool                  `json:"spans"`
		Variants   []models.Variant      `json:"variants,omitempty"`
	} `json:"model"`
	Provider encoder.Provider `json:"provider"`
	Cores    int              `json:"cores"`
	Threads  int              `json:"threads"` // runs of the model side by side
	Config   struct {
		LookedFor []string `json:"looked_for"`
		Read      []string `json:"read"`
	} `json:"config"`
	OpenMilliseconds  float64  `json:"open_milliseconds,omitempty"`
	ScoreMilliseconds float64  `json:"score_milliseconds,omitempty"`
	Problems          []string `json:"problems"`
}

func (a *app) doctor(cmd *cobra.Command, _ []string) error {
	s, err := loadSettings(cmd)
	d := diagnosis{Problems: []string{}}
	if err != nil {
		if _, usage := errors.AsType[exit](err); usage {
			return err
		}
		d.problem(err)
		s = defaultSettings()
		if cmd.Flags().Lookup("format").Value.String() == "json" {
			s.Format = "json"
		}
	}
	d.examine(cmd.Context(), s)
	if s.Format == "json" {
		err = plainjson.Write(a.out, d, "  ")
	} else {
		_, err = a.out.Write([]byte(d.text(a.view())))
	}
	if err == nil && !d.OK {
		err = exit{code: exitFailed}
	}
	return err
}

func (d *diagnosis) problem(err error) { d.Problems = append(d.Problems, err.Error()) }

// examine looks at one thing after the other, each by itself, so that all
// that is wrong is said at once.
func (d *diagnosis) examine(ctx context.Context, s *settings) {
	d.Toxscreen = toxscreen.Version()
	d.Provider = s.Provider
	d.Cores = runtime.NumCPU()
	if d.Threads = s.Threads; d.Threads == 0 {
		d.Threads = runtime.GOMAXPROCS(0)
	}
	d.Config.LookedFor, d.Config.Read = configFiles(), s.files()

	d.Library.BuiltFor = encoder.LibraryVersion
	library, err := encoder.LoadLibrary(s.Library, s.Provider)
	haveLibrary := err == nil
	if err != nil {
		d.problem(err)
	} else {
		d.Library.Path, d.Library.Version, d.Library.Providers = library.Path, library.Version, library.Providers
	}

	folder, err := models.Resolve(s.Model)
	if err != nil {
		d.problem(err)
		return
	}
	d.Model.Folder = folder.String()
	manifest, err := models.ReadManifest(folder.FS)
	if err != nil {
		d.problem(fmt.Errorf("model %s: %w", folder, err))
		return
	}
	d.Model.Identity, d.Model.License = manifest.Identity(), manifest.License
	d.Model.Attributes, d.Model.Spans, d.Model.Variants = measured(manifest), manifest.Spans != nil, manifest.Variants
	if _, err := models.Verify(folder.FS); err != nil {
		d.problem(fmt.Errorf("model %s: %w", folder, err))
		return
	}
	d.Model.Verified = true
	if !haveLibrary {
		return
	}

	start := time.Now()
	s.NoJudge = "doctor scores without a judge"
	screener, err := screen.Open(s.Settings)
	if err == nil {
		defer screener.Close()
		err = fits(s, screener.Info())
	}
	if err != nil {
		d.problem(err)
		return
	}
	d.OpenMilliseconds = milliseconds(start)
	start = time.Now()
	if _, err := screener.Score(ctx, "The weather is nice today."); err != nil {
		d.problem(err)
		return
	}
	d.ScoreMilliseconds = milliseconds(start)
	d.OK = len(d.Problems) == 0
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}

// text is the diagnosis for people.
func (d *diagnosis) text(v view) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%s %s\n", v.style(bold, fmt.Sprintf("%-10s", name)), printable(fmt.Sprintf(format, args...)))
	}
	line("toxscreen", "%s", d.Toxscreen)
	if d.Library.Path != "" {
		line("library", "ONNX Runtime %s (built for %s)", d.Library.Version, d.Library.BuiltFor)
		line("", "%s", d.Library.Path)
		providers := make([]string, len(d.Library.Providers))
		for i, p := range d.Library.Providers {
			providers[i] = string(p)
		}
		line("", "computes on %s", strings.Join(providers, " and "))
	} else {
		line("library", "none that works")
	}
	if d.Model.Identity != "" {
		line("model", "%s, license %s", d.Model.Identity, d.Model.License)
		where, files, spans := d.Model.Folder, "files as the manifest says", "with spans"
		if where == models.DefaultName {
			where = "inside the binary"
		}
		if !d.Model.Verified {
			files = "files NOT as the manifest says"
		}
		if !d.Model.Spans {
			spans = "without spans"
		}
		line("", "%s, %s", where, files)
		line("", "measures %s, %s", someAttributes(d.Model.Attributes), spans)
		for _, variant := range d.Model.Variants {
			chosen := ""
			if variant.Provider == d.Provider {
				chosen = ", in use"
			}
			line("", "for %s: %s, texts %s%s", variant.Provider, variant.Precision, variant.Batching, chosen)
		}
	} else {
		line("model", "none that works")
	}
	line("threads", "%d on %d cores", d.Threads, d.Cores)
	for i, file := range d.Config.LookedFor {
		name, state := "", "not there"
		if i == 0 {
			name = "config"
		}
		if slices.Contains(d.Config.Read, file) {
			state = "read"
		}
		line(name, "%s: %s", file, state)
	}
	if d.ScoreMilliseconds > 0 {
		line("score", "%.1f ms for a short text, after %.0f ms to open the model", d.ScoreMilliseconds, d.OpenMilliseconds)
	}
	b.WriteString("\n")
	for _, p := range d.Problems {
		fmt.Fprintf(&b, "%s %s\n", v.style(foreground(severityColours[toxscreen.SeveritySevere])+";"+bold, "problem:"), printable(p))
	}
	if d.OK {
		b.WriteString(v.style(foreground(severityColours[toxscreen.SeverityNone]), "All that scoring needs is there.") + "\n")
	} else {
		b.WriteString("Scoring does not work before this is mended.\n")
	}
	return b.String()
}
