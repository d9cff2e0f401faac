package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
)

// program is a folder with the binary, ONNX Runtime's library and the licences of
// everything in them. Its JSON form is what the Python package must know.
type program struct {
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Glibc   string `json:"glibc,omitempty"` // the oldest release of the GNU C library that has all symbols
	dir     string
}

// stage builds the program for the platform of the environment into an empty folder.
func stage(ctx context.Context, dir string, env []string) (program, error) {
	env = append(slices.Clone(env), "CGO_ENABLED=1")
	names, err := command(ctx, env, "go", "env", "GOOS", "GOARCH")
	if err != nil {
		return program{}, err
	}
	platform := strings.Fields(names)
	p := program{Version: toxscreen.Version, OS: platform[0], Arch: platform[1], dir: dir}
	commit, err := command(ctx, nil, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return program{}, err
	}
	// No paths of this machine and no random ids. What Go itself records of the clone depends on its tags.
	flags := "-s -w -buildid= -extldflags=-s -X github.com/toxscreen/toxscreen/screen.releasedFrom=" + strings.TrimSpace(commit)
	if _, err := command(ctx, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", p.binary(), "./cmd/toxscreen"); err != nil {
		return program{}, err
	}
	// Only from pip, since its package includes the licences.
	licenses := filepath.Join(dir, "licenses", "onnxruntime")
	here := []string{"GOOS=", "GOARCH=", "CC=", "CXX="} // of the program that gets it
	if _, err := command(ctx, here, "go", "run", "./scripts/get-onnxruntime", "-source=pip", "-platform="+p.OS+"/"+p.Arch, "-dir="+licenses); err != nil {
		return program{}, err
	}
	if err := os.Rename(filepath.Join(licenses, filepath.Base(p.library())), p.library()); err != nil {
		return program{}, fmt.Errorf("failed to place the library: %w", err)
	}
	if p.OS == "linux" {
		if p.Glibc, err = p.glibc(); err != nil {
			return program{}, err
		}
	}
	files, err := licensed(ctx, env)
	if err != nil {
		return program{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := copyFile(filepath.Join(dir, name), files[name]); err != nil {
			return program{}, fmt.Errorf("failed to add %s to the program: %w", name, err)
		}
	}
	return p, nil
}

func (p program) binary() string {
	if p.OS == "windows" {
		return filepath.Join(p.dir, "toxscreen.exe")
	}
	return filepath.Join(p.dir, "toxscreen")
}

func (p program) library() string {
	names := map[string]string{"windows": "onnxruntime.dll", "darwin": "libonnxruntime.dylib"}
	if name, ok := names[p.OS]; ok {
		return filepath.Join(p.dir, name)
	}
	return filepath.Join(p.dir, "libonnxruntime.so")
}

// licenseName matches the names of modules' licence files.
var licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents|authors)([._-].*)?$`)

// licensed returns the licences of everything in the binary: their paths in the program to
// those on disk.
func licensed(ctx context.Context, env []string) (map[string]string, error) {
	goroot, err := command(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"LICENSE":                               "LICENSE",
		"NOTICE":                                "NOTICE",
		"licenses/models/toxicity-en/LICENSE":   "models/toxicity-en/LICENSE",
		"licenses/models/toxicity-en/README.md": "models/toxicity-en/README.md",
		"licenses/models/entities-en/LICENSE":   "models/entities-en/LICENSE",
		"licenses/models/entities-en/README.md": "models/entities-en/README.md",
		"licenses/go/LICENSE":                   filepath.Join(strings.TrimSpace(goroot), "LICENSE"),
	}
	return files, addModules(ctx, env, files)
}

// addModules adds the licences of every module compiled into the binary. It takes them from
// the folders between each compiled package and its module's root, since some modules
// contain packages by others.
func addModules(ctx context.Context, env []string, files map[string]string) error {
	listed, err := command(ctx, env, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/toxscreen")
	if err != nil {
		return err
	}
	licensed := map[string]bool{} // by module
	for line := range strings.Lines(listed) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue // a package of the standard library
		}
		module, root, folder := fields[0], fields[1], fields[2]
		licensed[module] = licensed[module] || false
		for {
			entries, err := os.ReadDir(folder)
			if err != nil {
				return fmt.Errorf("failed to look for the licence of %s: %w", module, err)
			}
			for _, e := range entries {
				if !e.Type().IsRegular() || !licenseName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
					continue
				}
				within, err := filepath.Rel(root, folder)
				if err != nil {
					return err
				}
				files[filepath.ToSlash(filepath.Join("licenses", module, within, e.Name()))] = filepath.Join(folder, e.Name())
				licensed[module] = true
			}
			if folder == root || len(folder) < len(root) {
				break
			}
			folder = filepath.Dir(folder)
		}
	}
	for _, module := range slices.Sorted(maps.Keys(licensed)) {
		if !licensed[module] {
			return fmt.Errorf("module %s has no licence file: it cannot be distributed", module)
		}
	}
	return nil
}

// writeTexts writes what is the same on every processor: README.md, the systemd unit,
// manual pages and completions.
func writeTexts(ctx context.Context, dir string, env []string, created time.Time) error {
	env = append(slices.Clone(env), "CGO_ENABLED=1", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", created.Unix()))
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, folder := range []string{man, completions} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("failed to create a work folder: %w", err)
		}
	}
	if _, err := command(ctx, env, "go", "run", "-tags", "man", "./cmd/toxscreen", man); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "toxscreen.bash", "zsh": "_toxscreen", "fish": "toxscreen.fish"} {
		script, err := command(ctx, env, "go", "run", "./cmd/toxscreen", "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, name), []byte(script), 0o644); err != nil {
			return fmt.Errorf("failed to write the completions: %w", err)
		}
	}
	for _, path := range []string{"README.md", "deploy/toxscreen.service"} {
		if err := copyFile(filepath.Join(dir, filepath.Base(path)), path); err != nil {
			return fmt.Errorf("failed to add %s to the release: %w", path, err)
		}
	}
	return nil
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// files returns the paths of all regular files in the program's folder, sorted.
func (p program) files() ([]string, error) {
	var all []string
	err := filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(p.dir, path)
		all = append(all, filepath.ToSlash(name))
		return err
	})
	slices.Sort(all)
	return all, err
}
