package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
)

// sbom is the name of the program's software bill of materials, CycloneDX in JSON.
const sbom = "sbom.cdx.json"

// describe writes the SBOM of the program: the Go modules that cyclonedx-gomod finds in the
// binary, ONNX Runtime and the models.
func (p program) describe(ctx context.Context) error {
	path := filepath.Join(p.dir, sbom)
	_, err := command(ctx, nil, "go", "-C", "scripts/release", "tool", "cyclonedx-gomod", "bin",
		"-json", "-std", "-licenses", "-noserial", "-notimestamp", "-version", "v"+toxscreen.Version, "-output", path, p.binary())
	if err != nil {
		return err
	}
	return rewrite(path, func(bom *cyclonedx.BOM) error {
		// The hash of the tool's own binary differs between machines.
		for i := range *bom.Metadata.Tools.Tools {
			(*bom.Metadata.Tools.Tools)[i].Hashes = nil
		}
		hash, err := hashOf(p.library())
		if err != nil {
			return err
		}
		*bom.Components = append(*bom.Components, cyclonedx.Component{
			BOMRef: "onnxruntime", Type: cyclonedx.ComponentTypeLibrary, Name: "onnxruntime", Version: encoder.LibraryVersion,
			PackageURL: "pkg:pypi/onnxruntime@" + encoder.LibraryVersion, Hashes: hash, Licenses: license("MIT"),
		})
		for _, folder := range []string{"toxicity-en", "entities-en"} {
			model, err := describeModel(folder)
			if err != nil {
				return err
			}
			*bom.Components = append(*bom.Components, model)
		}
		return nil
	})
}

// describeImage writes the SBOM of the image: that of the program, and Debian's packages.
func (p program) describeImage(path string, packages []debian) error {
	if err := copyFile(path, filepath.Join(p.dir, sbom)); err != nil {
		return fmt.Errorf("failed to write the SBOM of the image: %w", err)
	}
	return rewrite(path, func(bom *cyclonedx.BOM) error {
		for _, d := range packages {
			*bom.Components = append(*bom.Components, cyclonedx.Component{
				BOMRef: "debian-" + d.Name, Type: cyclonedx.ComponentTypeLibrary, Name: d.Name, Version: d.Version,
				PackageURL: fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s&distro=%s", d.Name, url.QueryEscape(d.Version), d.Architecture, debianRelease),
			})
		}
		return nil
	})
}

// describeModel describes an embedded model. Its manifest has the hashes of its files.
func describeModel(folder string) (cyclonedx.Component, error) {
	path := filepath.Join("models", folder, "manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return cyclonedx.Component{}, fmt.Errorf("failed to describe a model: %w", err)
	}
	var manifest struct{ Name, Version, License, Description string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return cyclonedx.Component{}, fmt.Errorf("failed to describe the model of %s: %w", path, err)
	}
	hash, err := hashOf(path)
	return cyclonedx.Component{
		BOMRef: "model-" + manifest.Name, Type: cyclonedx.ComponentTypeMachineLearningModel, Name: manifest.Name, Version: manifest.Version,
		Description: manifest.Description, Hashes: hash, Licenses: license(manifest.License),
	}, err
}

func license(id string) *cyclonedx.Licenses {
	return &cyclonedx.Licenses{{License: &cyclonedx.License{ID: id}}}
}

func hashOf(path string) (*[]cyclonedx.Hash, error) {
	h := sha256.New()
	if err := copyTo(h, path); err != nil {
		return nil, fmt.Errorf("failed to sum %s for the SBOM: %w", path, err)
	}
	return &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", h.Sum(nil))}}, nil
}

// rewrite changes the SBOM in a file.
func rewrite(path string, change func(*cyclonedx.BOM) error) error {
	data, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("failed to read an SBOM: %w", err)
	}
	defer data.Close()
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(data, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return fmt.Errorf("failed to read the SBOM %s: %w", path, err)
	}
	if err := change(&bom); err != nil {
		return err
	}
	to, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("failed to write an SBOM: %w", err)
	}
	defer to.Close()
	if err := cyclonedx.NewBOMEncoder(to, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(&bom); err != nil {
		return fmt.Errorf("failed to write the SBOM %s: %w", path, err)
	}
	return to.Close()
}
