package screen

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

// Versions are what results depend on. Their JSON form is the output of `toxscreen version
// --format json`.
type Versions struct {
	Toxscreen    string `json:"toxscreen"`
	Commit       string `json:"commit,omitempty"` // if the binary was built in a clone with git
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	Model        string `json:"model"`        // the embedded one of English
	Multilingual string `json:"multilingual"` // the embedded one of many languages
	Entities     string `json:"entities"`     // what finds personal data by default
	ONNXRuntime  struct {
		BuiltFor string `json:"built_for"`
		Oldest   string `json:"oldest"`
		Found    string `json:"found,omitempty"`
		Path     string `json:"path,omitempty"`
		Error    string `json:"error,omitempty"`
	} `json:"onnxruntime"`
}

// ReadVersions returns the versions of this program and of the library that the settings
// name. A missing library is one of its facts, and not an error.
func ReadVersions(s Settings) (Versions, error) {
	manifest, err := models.ReadManifest(models.Default())
	if err != nil {
		return Versions{}, fmt.Errorf("failed to read the embedded model: %w", err)
	}
	others, err := models.OpenMultilingual(models.Options{})
	if err != nil {
		return Versions{}, err
	}
	finder, err := OpenFinder(Settings{})
	if err != nil {
		return Versions{}, err
	}
	defer finder.Close()
	v := Versions{
		Toxscreen: toxscreen.Version,
		Commit:    commit(),
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Model:     manifest.Identity(), Multilingual: others.Info().Version,
		Entities: finder.Version(),
	}
	v.ONNXRuntime.BuiltFor, v.ONNXRuntime.Oldest = encoder.LibraryVersion, encoder.MinLibraryVersion
	library, err := encoder.LoadLibrary(s.Library, s.Provider)
	if err != nil {
		v.ONNXRuntime.Error = err.Error() // the other versions are still shown
	}
	v.ONNXRuntime.Found, v.ONNXRuntime.Path = library.Version, library.Path
	return v, nil
}

// releasedFrom is the commit of a release, which the linker sets.
var releasedFrom string

// commit returns the first 12 digits of the commit that the binary was built from, with
// "-modified" if files differed from it; empty if the build does not record it.
func commit() string {
	commit := releasedFrom
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return commit
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += "-modified"
		}
	}
	return commit
}

// Text returns the versions in lines for people.
func (v Versions) Text() string {
	found := fmt.Sprintf("%s at %s", v.ONNXRuntime.Found, v.ONNXRuntime.Path)
	if v.ONNXRuntime.Error != "" {
		found = "no working library; see `toxscreen doctor`"
	}
	built := ""
	if v.Commit != "" {
		built = " of commit " + v.Commit
	}
	return fmt.Sprintf("toxscreen     %s%s\nmodel         %s\nlanguages     %s\nentities      %s\nonnxruntime   %s (built for %s)\ngo            %s %s\n",
		v.Toxscreen, built, v.Model, v.Multilingual, v.Entities, found, v.ONNXRuntime.BuiltFor, v.Go, v.Platform)
}
