package screen

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/models"
)

// Parts calls line with what scoring consists of, for people. The name is empty for more
// about the part before.
func (d Diagnosis) Parts(line func(name, format string, args ...any)) {
	line("toxscreen", "%s", d.Toxscreen)
	if d.Library.Path != "" {
		line("library", "ONNX Runtime %s (built for %s)", d.Library.Version, d.Library.BuiltFor)
		line("", "%s", d.Library.Path)
		providers := make([]string, len(d.Library.Providers))
		for i, p := range d.Library.Providers {
			providers[i] = string(p)
		}
		line("", "runs on %s", strings.Join(providers, " and "))
	} else {
		line("library", "no working library")
	}
	if d.Model.Identity != "" {
		line("model", "%s, license %s", d.Model.Identity, d.Model.License)
		where, files, spans := d.Model.Folder, "files match the manifest", "with spans"
		if where == models.DefaultName || where == models.MultilingualName {
			where = "inside the binary"
		}
		if !d.Model.Verified {
			files = "files do NOT match the manifest"
		}
		if !d.Model.Spans {
			spans = "without spans"
		}
		line("", "%s, %s", where, files)
		line("", "measures %s, %s", AttributesText(d.Model.Attributes), spans)
		for _, variant := range d.Model.Variants {
			chosen := ""
			if variant.Provider == d.Provider {
				chosen = ", in use"
			}
			line("", "for %s: %s, texts %s%s", variant.Provider, variant.Precision, variant.Batching, chosen)
		}
	} else {
		line("model", "no working model")
	}
	if d.Multilingual.Identity != "" {
		files := "files match the manifest"
		if !d.Multilingual.Verified {
			files = "files do NOT match the manifest"
		}
		line("languages", "%s, %s, opened by the first text that is not surely English", d.Multilingual.Identity, files)
	}
	line("threads", "%d on %s", d.Threads, plural.Count(d.Cores, "core", "cores"))
}

// Measured calls line with how long scoring took, and with what the judge did.
func (d Diagnosis) Measured(line func(name, format string, args ...any)) {
	if d.ScoreMilliseconds > 0 {
		line("score", "%.1f ms for a short text, after %.0f ms to open the model", d.ScoreMilliseconds, d.OpenMilliseconds)
	}
	if d.Judge != nil {
		d.Judge.text(line)
	}
}

// text writes what is known about the judge.
func (d *JudgeDiagnosis) text(line func(name, format string, args ...any)) {
	if d.Identity == "" {
		line("judge", "%s", d.Model)
	} else {
		line("judge", "%s by %s, dialect %s", d.Identity, d.Rubric, d.Dialect)
	}
	if d.Trust != nil {
		line("", "%s: %s", d.Trust, d.Trust.Why)
	}
	if d.Context > 0 {
		line("", "loaded with a context of %d tokens after %.0f ms", d.Context, d.LoadMilliseconds)
	}
	if d.VerdictMilliseconds > 0 {
		line("", "%.0f ms for a verdict on a short text", d.VerdictMilliseconds)
	}
	if d.Problem != "" {
		line("", "no verdict: %s", d.Problem)
	}
}

// AttributesText returns the names of attributes, or "all".
func AttributesText(attributes []toxscreen.Attribute) string {
	if len(attributes) == len(toxscreen.Attributes()) {
		return "all"
	}
	return joined(attributes, " ")
}

func joined(attributes []toxscreen.Attribute, separator string) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.String()
	}
	return strings.Join(names, separator)
}
