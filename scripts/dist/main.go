// Dist creates one archive that needs no network and no installation except the
// system's C library: the binary, ONNX Runtime's library next to it, where the
// binary finds it, and the licence of everything in it.
//
//	go run ./scripts/dist [-o DIR]
//
// It builds for the current machine and prints the archive's path,
// DIR/toxscreen-VERSION-OS-ARCH.tar.gz. The same commit and Go version give the
// same archive.
//
//	go build -o build/ ./scripts/dist
//	build/dist -wheel DIR
//
// This writes what the Python package holds into a folder and describes it in JSON. It
// builds for GOOS and GOARCH.
package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen/encoder"
)

func main() {
	out := flag.String("o", "dist", "write the archive into `DIR`")
	folder := flag.String("wheel", "", "write the files of the Python package into `DIR` instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, folder string) error {
	if folder != "" {
		described, err := wheel(ctx, folder)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(described)
	}
	archive, err := dist(ctx, out)
	if err != nil {
		return err
	}
	fmt.Println(archive)
	return nil
}

// dist must run in the module's root. It returns the archive's path.
func dist(ctx context.Context, out string) (string, error) {
	work, err := os.MkdirTemp("", "toxscreen-dist-*")
	if err != nil {
		return "", fmt.Errorf("failed to create a work folder: %w", err)
	}
	defer os.RemoveAll(work)

	binary := filepath.Join(work, binaryName(runtime.GOOS))
	if err := build(ctx, binary); err != nil {
		return "", err
	}
	// Only from pip, since its package includes the licences.
	library := filepath.Join(work, "onnxruntime")
	if _, err := goCommand(ctx, "run", "./scripts/get-onnxruntime", "-source=pip", "-dir="+library); err != nil {
		return "", err
	}
	version, built, err := stamp(binary)
	if err != nil {
		return "", err
	}

	files := map[string]string{ // path in the archive to path on disk
		filepath.Base(binary):                        binary,
		encoder.LibraryName():                        filepath.Join(library, encoder.LibraryName()),
		"README.md":                                  "README.md",
		"licenses/onnxruntime/LICENSE":               filepath.Join(library, "LICENSE"),
		"licenses/onnxruntime/ThirdPartyNotices.txt": filepath.Join(library, "ThirdPartyNotices.txt"),
	}
	if err := addLicenses(ctx, files); err != nil {
		return "", err
	}
	name := fmt.Sprintf("toxscreen-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	path := filepath.Join(out, name+".tar.gz")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("failed to create the folder of the archive: %w", err)
	}
	if err := pack(path, name, files, built); err != nil {
		return "", fmt.Errorf("failed to write %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

// binaryName returns the binary's file name on an operating system.
func binaryName(goos string) string {
	if goos == "windows" {
		return "toxscreen.exe"
	}
	return "toxscreen"
}

// build builds the binary. Paths of the build machine and the linker's random ids are
// omitted; the commit must be included, since it gives the version.
func build(ctx context.Context, binary string) error {
	_, err := goCommand(ctx, "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", binary, "./cmd/toxscreen")
	return err
}

// stamp returns the version that the binary shows and the time of the commit that
// it was built from.
func stamp(binary string) (version string, built time.Time, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("failed to read the binary's version: %w", err)
	}
	version = info.Main.Version
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			if built, err = time.Parse(time.RFC3339, setting.Value); err != nil {
				return "", time.Time{}, fmt.Errorf("failed to read the binary's version: %w", err)
			}
		}
	}
	return version, built, nil
}

// licenseName matches the names of modules' licence files.
var licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents|authors)([._-].*)?$`)

// addLicenses adds the licences of everything in the binary to the files.
func addLicenses(ctx context.Context, files map[string]string) error {
	goroot, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	maps.Copy(files, map[string]string{
		"LICENSE":                               "LICENSE",
		"NOTICE":                                "NOTICE",
		"licenses/models/toxicity-en/LICENSE":   "models/toxicity-en/LICENSE",
		"licenses/models/toxicity-en/README.md": "models/toxicity-en/README.md",
		"licenses/models/entities-en/LICENSE":   "models/entities-en/LICENSE",
		"licenses/models/entities-en/README.md": "models/entities-en/README.md",
		"licenses/go/LICENSE":                   filepath.Join(strings.TrimSpace(goroot), "LICENSE"),
	})
	return addModuleLicenses(ctx, files)
}

// addModuleLicenses adds the licences of every module compiled into the binary. It
// takes them from the folders between each compiled package and its module's root,
// since some modules contain packages by others.
func addModuleLicenses(ctx context.Context, files map[string]string) error {
	listed, err := goCommand(ctx, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/toxscreen")
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

// pack writes the files in order of their names, with one time and one owner, into
// a folder of the archive.
func pack(path, folder string, files map[string]string, at time.Time) (err error) {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := add(archive, folder+"/"+name, files[name], at); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func add(archive *tar.Writer, name, path string, at time.Time) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	err = archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		Name: name, Size: info.Size(), Mode: int64(mode), ModTime: at,
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, from)
	return err
}

// goCommand runs the go command and returns its standard output.
func goCommand(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Stderr = os.Stderr
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(output), nil
}
