package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/terminal"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/screen"
)

// versions is the output of `version --format json`.
type versions struct {
	Toxscreen   string `json:"toxscreen"`
	Go          string `json:"go"`
	Platform    string `json:"platform"`
	Model       string `json:"model"`    // the embedded one
	Entities    string `json:"entities"` // what finds personal data by default
	ONNXRuntime struct {
		BuiltFor string `json:"built_for"`
		Oldest   string `json:"oldest"`
		Found    string `json:"found,omitempty"`
		Path     string `json:"path,omitempty"`
		Error    string `json:"error,omitempty"`
	} `json:"onnxruntime"`
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the versions that results depend on",
		Example: "  toxscreen version --format json",
		Args:    usage.Arguments(0, 0, ""),
		RunE:    a.version,
	}
	config.AddFlags(cmd, "format")
	config.AddFlags(cmd, config.RuntimeKeys...)
	return cmd
}

func (a *app) version(cmd *cobra.Command, _ []string) error {
	s, wrong, err := config.LoadOrDefault(cmd)
	if err != nil {
		return err
	}
	if wrong != nil {
		a.warn(wrong.Error() + "; it is ignored")
	}
	manifest, err := models.ReadManifest(models.Default())
	if err != nil {
		return fmt.Errorf("failed to read the embedded model: %w", err)
	}
	finder, err := screen.OpenFinder(screen.Settings{})
	if err != nil {
		return err
	}
	defer finder.Close()
	v := versions{
		Toxscreen: toxscreen.Version(),
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Model:     manifest.Identity(),
		Entities:  finder.Version(),
	}
	v.ONNXRuntime.BuiltFor, v.ONNXRuntime.Oldest = encoder.LibraryVersion, encoder.MinLibraryVersion
	library, err := encoder.LoadLibrary(s.Library, s.Provider)
	if err != nil {
		v.ONNXRuntime.Error = err.Error() // the other versions are still shown
	}
	v.ONNXRuntime.Found, v.ONNXRuntime.Path = library.Version, library.Path
	if s.Format == "json" {
		return plainjson.Write(a.out, v, "  ")
	}
	found := fmt.Sprintf("%s at %s", library.Version, terminal.Escape(library.Path))
	if err != nil {
		found = "no working library; see `toxscreen doctor`"
	}
	_, err = fmt.Fprintf(a.out, "toxscreen     %s\nmodel         %s\nentities      %s\nonnxruntime   %s (built for %s)\ngo            %s %s\n",
		v.Toxscreen, v.Model, v.Entities, found, v.ONNXRuntime.BuiltFor, v.Go, v.Platform)
	return err
}
