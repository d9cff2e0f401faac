package encoder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	name := "libonnxruntime_providers_cuda.so"
	if runtime.GOOS == "windows" {
		name = "onnxruntime_providers_cuda.dll"
	}
	return filepath.Join(filepath.Dir(library), name)
}

// LibraryCache returns the folder in the user's cache where the library for a provider
// is installed, by scripts/get-onnxruntime or by `pip install --target`.
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

// FindLibrary returns the path of ONNX Runtime's shared library: the explicit path if
// given, else the value of the environment variable [LibraryEnv], else the first library
// found next to the running binary, in the Python environment whose bin folder has the
// binary (that of the toxscreen wheel, else that of the newest onnxruntime wheel), in the
// user's cache or in the system's library folders. The provider CUDA needs a library that
// has it. If an explicit path or the variable is set, no other library is used.
func FindLibrary(explicit string, provider Provider) (string, error) {
	if explicit == "" {
		explicit = os.Getenv(LibraryEnv)
	}
	if explicit != "" {
		info, err := os.Stat(explicit)
		if err != nil {
			return "", fmt.Errorf("%w: %w; correct the path given by flag, configuration or %s", errNoLibrary, err, LibraryEnv)
		}
		if !info.IsDir() {
			return explicit, nil
		}
		found := inFolder(explicit).libraries()
		if len(found) == 0 {
			return "", fmt.Errorf("%w: no %s in %s; give the path of the file itself", errNoLibrary, LibraryName(), explicit)
		}
		return found[0], nil
	}
	var folders []string
	for _, p := range places(provider) {
		for _, path := range p.libraries() {
			if _, err := os.Stat(cudaProvider(path)); provider != CUDA || err == nil {
				return path, nil
			}
		}
		folders = append(folders, p.folder)
	}
	return "", fmt.Errorf("%w: no %s for the provider %s, and no Python package %s of %s or newer, in %s; %s", errNoLibrary,
		LibraryName(), cmp.Or(provider, CPU), distribution(provider), MinLibraryVersion, strings.Join(folders, ", "), remedy(provider))
}

// distribution returns the name of the Python package with the library for a provider.
func distribution(provider Provider) string {
	if provider == CUDA {
		return "onnxruntime-gpu"
	}
	return "onnxruntime"
}

// remedy says how to get the library. It is the same in the wheels for all versions of
// Python, so the command takes one of them, whichever Python runs pip.
func remedy(provider Provider) string {
	cache, err := LibraryCache(provider)
	if err != nil {
		return "set its path by --onnxruntime or " + LibraryEnv
	}
	return fmt.Sprintf("install it with `python3 -m pip install -U --no-deps --ignore-requires-python --python-version 3.12 --target %q %s==%s`, "+
		"or set the path of another by --onnxruntime or %s", cache, distribution(provider), LibraryVersion, LibraryEnv)
}
