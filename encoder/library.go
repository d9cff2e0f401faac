package encoder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// LibraryVersion is the ONNX Runtime release that toxscreen is built and
// measured with. Any release with the same or a newer C API works, see
// [MinLibraryVersion].
const LibraryVersion = "1.30.0"

// MinLibraryVersion is the oldest release with the C API (version 24) that
// the Go binding was compiled for.
const MinLibraryVersion = "1.24.0"

// LibraryEnv is the environment variable for the library's path.
const LibraryEnv = "TOXSCREEN_ONNXRUNTIME"

var errNoLibrary = errors.New("ONNX Runtime's library was not found")

// getLibraryHint says how to install the library.
const getLibraryHint = "`go run github.com/toxscreen/toxscreen/scripts/get-onnxruntime@latest` installs it into the cache"

// LibraryName returns the file name of the library on this platform.
func LibraryName() string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	default:
		return "libonnxruntime.so"
	}
}

// cudaProvider returns the path of the CUDA provider that belongs to a library.
func cudaProvider(library string) string {
	return filepath.Join(filepath.Dir(library), "libonnxruntime_providers_cuda.so")
}

// LibraryCache returns the folder in the user's cache where scripts/get-onnxruntime
// installs the library for a provider.
func LibraryCache(provider Provider) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("failed to find the user's cache folder: %w", err)
	}
	version := LibraryVersion
	if provider == CUDA {
		version += "-gpu"
	}
	return filepath.Join(cache, "toxscreen", "onnxruntime", version), nil
}

// FindLibrary returns the path of ONNX Runtime's shared library: the explicit
// path if given, else the value of the environment variable [LibraryEnv], else
// the first library found next to the running binary, in the newest onnxruntime
// wheel of the Python environment whose bin folder has the binary, in the user's
// cache or in the system's library folders. If an explicit path or the variable
// is set, no other library is used.
func FindLibrary(explicit string, provider Provider) (string, error) {
	if explicit == "" {
		explicit = os.Getenv(LibraryEnv)
	}
	if explicit != "" {
		info, err := os.Stat(explicit)
		if err != nil {
			return "", fmt.Errorf("%w: %w; correct the path given by flag, configuration or %s", errNoLibrary, err, LibraryEnv)
		}
		if info.IsDir() {
			explicit = filepath.Join(explicit, LibraryName())
			if _, err := os.Stat(explicit); err != nil {
				return "", fmt.Errorf("%w: %w; give the path of the file itself", errNoLibrary, err)
			}
		}
		return explicit, nil
	}
	var beside, others []string
	var installed wheels
	if binary, err := os.Executable(); err == nil {
		if binary, err = filepath.EvalSymlinks(binary); err == nil {
			beside = []string{filepath.Dir(binary), filepath.Join(filepath.Dir(binary), "lib")}
			installed = findWheels(binary, provider)
		}
	}
	if cache, err := LibraryCache(provider); err == nil {
		others = append(others, cache)
	}
	others = append(others, systemLibraryFolders()...)
	for _, path := range slices.Concat(librariesIn(beside), installed.usable, librariesIn(others)) {
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("failed to look for ONNX Runtime's library: %w", err)
		}
	}
	missing, hint := installed.missing(provider)
	return "", fmt.Errorf("%w: no %s in %s%s; %s", errNoLibrary, LibraryName(), strings.Join(slices.Concat(beside, others), ", "), missing, hint)
}

// librariesIn returns the path of the library in each folder.
func librariesIn(folders []string) []string {
	paths := make([]string, len(folders))
	for i, folder := range folders {
		paths[i] = filepath.Join(folder, LibraryName())
	}
	return paths
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
