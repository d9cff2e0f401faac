package encoder_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// The library is looked up in this order; a path that is set is never skipped.
func TestFindLibrary(t *testing.T) {
	put := func(folder string) string {
		t.Helper()
		path := filepath.Join(folder, encoder.LibraryName())
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	find := func(explicit string, provider encoder.Provider) string {
		t.Helper()
		path, err := encoder.FindLibrary(explicit, provider)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv(encoder.LibraryEnv, "")

	system := put(t.TempDir())
	t.Setenv("LD_LIBRARY_PATH", filepath.Dir(system))
	if got := find("", encoder.CPU); got != system {
		t.Errorf("found %s, want the system's", got)
	}
	cache, err := encoder.LibraryCache(encoder.CPU)
	if err != nil {
		t.Fatal(err)
	}
	if cached := put(cache); find("", encoder.CPU) != cached {
		t.Errorf("found %s, want the cache's before the system's", find("", encoder.CPU))
	}
	if got := find("", encoder.CUDA); got != system {
		t.Errorf("found %s for CUDA, want a CUDA library", got)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := put(filepath.Dir(binary))
	defer os.Remove(beside)
	if got := find("", encoder.CPU); got != beside {
		t.Errorf("found %s, want the one next to the binary before the cache's", got)
	}
	env := put(t.TempDir())
	t.Setenv(encoder.LibraryEnv, env)
	if got := find("", encoder.CPU); got != env {
		t.Errorf("found %s, want the value of %s", got, encoder.LibraryEnv)
	}
	flag := put(t.TempDir())
	if got := find(flag, encoder.CPU); got != flag {
		t.Errorf("found %s, want the explicit path first", got)
	}
	if got := find(filepath.Dir(flag), encoder.CPU); got != flag {
		t.Errorf("found %s, want the library in the folder that was named", got)
	}
	if path, err := encoder.FindLibrary(flag+".gone", encoder.CPU); !errors.Is(err, encoder.ErrNoLibrary) {
		t.Errorf("%s, %v: want ErrNoLibrary, since the explicit path is missing", path, err)
	}
}

func TestNoLibraryNamesTheWayOut(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv(encoder.LibraryEnv, "")
	path, err := encoder.FindLibrary("", encoder.CPU)
	if err == nil {
		if strings.HasPrefix(path, "/usr/") {
			return // this system has its own library
		}
		t.Fatalf("found %s", path)
	}
	if !errors.Is(err, encoder.ErrNoLibrary) || !strings.Contains(err.Error(), "get-onnxruntime") {
		t.Errorf("error %v", err)
	}
}

// Unusable libraries are refused with a clear error. Each is loaded by its
// own process, since a process keeps the first library that it loads.
func TestLoadLibraryRefuses(t *testing.T) {
	if library := os.Getenv("TEST_LOAD_LIBRARY"); library != "" {
		_, err := encoder.LoadLibrary(library, encoder.CPU)
		if err != nil {
			os.Stdout.WriteString("refused: " + err.Error())
		}
		os.Exit(0)
	}
	folder := t.TempDir()
	notes := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(notes, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	compile := func(name, code string) string {
		source := filepath.Join(folder, name+".c")
		if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
		library := filepath.Join(folder, name+".so")
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return library
	}
	// A release older than the binding's API returns 0 for a version that it
	// does not know.
	old := compile("old", `
static const void *get_api(unsigned version) { return 0; }
static const char *get_version(void) { return "1.10.0"; }
static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = {get_api, get_version};
const void *OrtGetApiBase(void) { return &base; }
`)
	other := compile("other", `int something_else(void) { return 0; }`)
	for _, test := range []struct{ library, want string }{
		{old, "it is older than " + encoder.MinLibraryVersion},
		{other, "failed to load ONNX Runtime from " + other},
		{notes, "failed to load ONNX Runtime from " + notes},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLoadLibraryRefuses$")
		cmd.Env = append(os.Environ(), "TEST_LOAD_LIBRARY="+test.library)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "refused: ") || !strings.Contains(string(out), test.want) || !strings.Contains(string(out), "get-onnxruntime") {
			t.Errorf("%s: %v %s\nwant an error with %q", filepath.Base(test.library), err, out, test.want)
		}
	}
}
