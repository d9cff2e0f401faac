package encoder

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// pythonFolders are the folders of Python packages under the prefix of an
// installation, as pip, Debian, Fedora, conda, uv and Windows lay them out. The last
// is that of pip's --target.
var pythonFolders = []string{
	"lib/python*/site-packages", "lib/python*/dist-packages",
	"lib64/python*/site-packages", "lib64/python*/dist-packages",
	"Lib/site-packages", "site-packages", ".",
}

// wheels are the libraries of the onnxruntime wheels that are installed under one
// prefix with the binary.
type wheels struct {
	prefix string   // empty if the binary is not in a folder of programs
	usable []string // the newest first
	tooOld []string
}

// findWheels looks for libraries for a provider under the prefix of a binary: the
// folder above its bin, where pip puts the binary of a wheel.
func findWheels(binary string, provider Provider) wheels {
	folder := filepath.Dir(binary)
	if name := filepath.Base(folder); name != "bin" && name != "Scripts" {
		return wheels{}
	}
	w := wheels{prefix: filepath.Dir(folder)}
	var found []library
	for _, folder := range pythonFolders {
		// A folder that cannot be read has no library that could be loaded.
		names, _ := fs.Glob(os.DirFS(w.prefix), path.Join(folder, "onnxruntime/capi", wheelLibrary()))
		for _, name := range names {
			l, ok := newLibrary(filepath.Join(w.prefix, filepath.FromSlash(name)))
			if provider == CUDA {
				_, err := os.Stat(cudaProvider(l.path))
				ok = ok && err == nil
			}
			switch {
			case !ok:
			case l.version.before(minLibrary):
				w.tooOld = append(w.tooOld, l.path)
			default:
				found = append(found, l)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b library) int { return slices.Compare(b.version[:], a.version[:]) })
	for _, l := range found {
		w.usable = append(w.usable, l.path)
	}
	return w
}

// missing says what is missing under the prefix, and how to get it.
func (w wheels) missing(provider Provider) (what, hint string) {
	if w.prefix == "" {
		return "", getLibraryHint
	}
	name := "onnxruntime"
	if provider == CUDA {
		name += "-gpu"
	}
	what = fmt.Sprintf(", no %s wheel in %s", name, w.prefix)
	if len(w.tooOld) > 0 {
		what = fmt.Sprintf(", and %s is older than %s", strings.Join(w.tooOld, ", "), MinLibraryVersion)
	}
	return what, fmt.Sprintf("`pip install -U %s` in the Python environment of this binary installs it there, and %s", name, getLibraryHint)
}

// wheelLibrary is the pattern of the library's name in a wheel: it has the version.
func wheelLibrary() string {
	switch runtime.GOOS {
	case "windows":
		return LibraryName()
	case "darwin":
		return "libonnxruntime.*.dylib"
	default:
		return "libonnxruntime.so.*"
	}
}

// library is a library with the version in its name.
type library struct {
	path    string
	version version
}

// newLibrary reads the version in a name. On Windows there is none, and only the
// library itself tells when it is loaded.
func newLibrary(path string) (library, bool) {
	if runtime.GOOS == "windows" {
		return library{path, minLibrary}, true
	}
	before, after, _ := strings.Cut(wheelLibrary(), "*")
	v, ok := parseVersion(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), before), after))
	return library{path, v}, ok
}

// version has the numbers of a release.
type version [3]int

var minLibrary, _ = parseVersion(MinLibraryVersion)

func parseVersion(text string) (v version, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d.%d", &v[0], &v[1], &v[2])
	return v, n == len(v)
}

func (v version) before(other version) bool { return slices.Compare(v[:], other[:]) < 0 }
