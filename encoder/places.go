package encoder

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// place is a folder that may have libraries, and the patterns of their paths in it.
type place struct {
	folder   string
	patterns []string
}

// inFolder is the place of a folder with the library itself, or with the onnxruntime
// wheel as pip's --target unpacks it.
func inFolder(folder string) place {
	return place{folder, []string{LibraryName(), inWheel()}}
}

// inWheel is the pattern of the library's path in an onnxruntime wheel: except on
// Windows, the name has the version.
func inWheel() string {
	name := map[string]string{"windows": LibraryName(), "darwin": "libonnxruntime.*.dylib"}[runtime.GOOS]
	return path.Join("onnxruntime/capi", cmp.Or(name, "libonnxruntime.so.*"))
}

// pythonFolders are the folders of Python packages under the prefix of an
// installation, as pip, Debian, Fedora, conda, uv and Windows lay them out. The last
// is that of pip's --target.
var pythonFolders = []string{
	"lib/python*/site-packages", "lib/python*/dist-packages",
	"lib64/python*/site-packages", "lib64/python*/dist-packages",
	"Lib/site-packages", "site-packages", ".",
}

// inEnvironment is the place of a Python environment with the toxscreen wheel, which has
// the library, or an onnxruntime wheel.
func inEnvironment(prefix string) place {
	p := place{folder: prefix}
	for _, inPackages := range []string{"toxscreen/lib/" + LibraryName(), inWheel()} {
		for _, folder := range pythonFolders {
			p.patterns = append(p.patterns, path.Join(folder, inPackages))
		}
	}
	return p
}

// places returns where the library may be, in the order to look for it.
func places(provider Provider) []place {
	var all []place
	if binary, err := os.Executable(); err == nil {
		if binary, err = filepath.EvalSymlinks(binary); err == nil {
			folder := filepath.Dir(binary)
			all = append(all, inFolder(folder), inFolder(filepath.Join(folder, "lib")))
			if name := filepath.Base(folder); name == "bin" || name == "Scripts" { // where pip puts the binary of a wheel
				all = append(all, inEnvironment(filepath.Dir(folder)))
			}
		}
	}
	if cache, err := LibraryCache(provider); err == nil {
		all = append(all, inFolder(cache))
	}
	for _, folder := range systemLibraryFolders() {
		all = append(all, inFolder(folder))
	}
	return all
}

// systemLibraryFolders returns the default folders of the system's loader, as
// far as they are known without asking it.
func systemLibraryFolders() []string {
	switch runtime.GOOS {
	case "windows":
		return filepath.SplitList(os.Getenv("PATH"))
	case "darwin":
		return append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), "/opt/homebrew/lib", "/usr/local/lib")
	default:
		multiarch := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
		return append(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")),
			"/usr/local/lib", "/usr/lib/"+multiarch, "/usr/lib64", "/usr/lib")
	}
}

// libraries returns the libraries of a place in the order of the patterns. Those with a
// version in their name come last, the newest first, without those that are too old.
func (p place) libraries() []string {
	type library struct {
		path    string
		version version
	}
	var found []library
	for _, pattern := range p.patterns {
		// A folder that cannot be read has no library that could be loaded.
		names, _ := fs.Glob(os.DirFS(p.folder), pattern)
		for _, name := range names {
			if v, ok := versionIn(path.Base(name)); ok && !v.before(minLibrary) {
				found = append(found, library{filepath.Join(p.folder, filepath.FromSlash(name)), v})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b library) int { return slices.Compare(b.version[:], a.version[:]) })
	paths := make([]string, len(found))
	for i, l := range found {
		paths[i] = l.path
	}
	return paths
}

// version has the numbers of a release.
type version [3]int

// unknown comes before all others: only the library itself tells when it is loaded.
var unknown = version{math.MaxInt}

var minLibrary, _ = parseVersion(MinLibraryVersion)

// versionIn reads the version in the name of a library.
func versionIn(name string) (v version, ok bool) {
	if name == LibraryName() {
		return unknown, true
	}
	before, after, _ := strings.Cut(path.Base(inWheel()), "*")
	return parseVersion(strings.TrimSuffix(strings.TrimPrefix(name, before), after))
}

func parseVersion(text string) (v version, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d.%d", &v[0], &v[1], &v[2])
	return v, n == len(v)
}

func (v version) before(other version) bool { return slices.Compare(v[:], other[:]) < 0 }
