package encoder_test

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// The library is looked up in this order; a path that is set is never skipped.
func TestFindLibrary(t *testing.T) {
	put := func(folder string) string {
		t.Helper()
		return put(t, filepath.Join(folder, encoder.LibraryName()))
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
	if path, err := encoder.FindLibrary("", encoder.CUDA); !errors.Is(err, encoder.ErrNoLibrary) {
		t.Errorf("%s, %v: want ErrNoLibrary, since no library has the provider", path, err)
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
	if path, err := encoder.FindLibrary(t.TempDir(), encoder.CPU); !errors.Is(err, encoder.ErrNoLibrary) {
		t.Errorf("%s, %v: want ErrNoLibrary, since the folder that was named has none", path, err)
	}
	if path, err := encoder.FindLibrary(flag+".gone", encoder.CPU); !errors.Is(err, encoder.ErrNoLibrary) {
		t.Errorf("%s, %v: want ErrNoLibrary, since the explicit path is missing", path, err)
	}
}

// The command of the message works without Go: cmd/toxscreen runs it.
func TestNoLibraryNamesTheWayOut(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv(encoder.LibraryEnv, "")
	for provider, distribution := range map[encoder.Provider]string{encoder.CPU: "onnxruntime", encoder.CUDA: "onnxruntime-gpu"} {
		path, err := encoder.FindLibrary("", provider)
		if strings.HasPrefix(path, "/usr/") {
			t.Skip("this system has its own library")
		}
		if !errors.Is(err, encoder.ErrNoLibrary) {
			t.Fatalf("%s, %v: want ErrNoLibrary", path, err)
		}
		folder, _ := encoder.LibraryCache(provider)
		for _, want := range []string{"--target \"" + folder + "\" " + distribution + "==" + encoder.LibraryVersion, "--onnxruntime"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", provider, err, want)
			}
		}
	}
}

// A binary finds the library of a wheel beside it, in the Python environment that it was
// installed in, and in the cache, wherever pip, uv or conda put it. Each case is a process
// of its own, since the place of the running binary decides.
func TestFindLibraryOfAWheel(t *testing.T) {
	if provider := os.Getenv("TEST_FIND_LIBRARY"); provider != "" {
		path, err := encoder.FindLibrary("", encoder.Provider(provider))
		if err != nil {
			os.Stdout.WriteString("error: " + err.Error())
		} else {
			os.Stdout.WriteString("found: " + path)
		}
		os.Exit(0)
	}
	if runtime.GOOS != "linux" {
		t.Skip("the names are those of the Linux wheels")
	}
	const (
		bundled = "lib/python3.12/site-packages/toxscreen/lib/libonnxruntime.so"
		capi    = "onnxruntime/capi/libonnxruntime.so."
		wheel   = "lib/python3.12/site-packages/" + capi + "1.30.0"
		cache   = "cache/toxscreen/onnxruntime/" + encoder.LibraryVersion + "/"
		cuda    = "onnxruntime/capi/libonnxruntime_providers_cuda.so"
	)
	for _, test := range []struct {
		name     string
		binary   string // default: bin/toxscreen
		files    []string
		provider encoder.Provider // default: CPU
		want     string           // a file; empty: an error
	}{
		{name: "a virtual environment, conda, pip --user", files: []string{bundled}, want: bundled},
		{name: "Debian", files: []string{"lib/python3/dist-packages/toxscreen/lib/libonnxruntime.so"}, want: "lib/python3/dist-packages/toxscreen/lib/libonnxruntime.so"},
		{name: "Fedora", files: []string{"lib64/python3.13/site-packages/toxscreen/lib/libonnxruntime.so"}, want: "lib64/python3.13/site-packages/toxscreen/lib/libonnxruntime.so"},
		{name: "pip --target", files: []string{"toxscreen/lib/libonnxruntime.so"}, want: "toxscreen/lib/libonnxruntime.so"},
		{name: "Scripts", binary: "Scripts/toxscreen", files: []string{"Lib/site-packages/toxscreen/lib/libonnxruntime.so"}, want: "Lib/site-packages/toxscreen/lib/libonnxruntime.so"},
		{name: "toxscreen's own before a newer onnxruntime", files: []string{"lib/python3.12/site-packages/" + capi + "1.99.0", bundled}, want: bundled},
		{name: "onnxruntime", files: []string{wheel}, want: wheel},
		{name: "the newest counts, by numbers", files: []string{"lib/python3.9/site-packages/" + capi + "1.99.0", "lib/python3.12/site-packages/" + capi + "1.100.0", "lib/python3.13/site-packages/" + capi + "1.30.0"}, want: "lib/python3.12/site-packages/" + capi + "1.100.0"},
		{name: "next to the binary first", files: []string{"bin/libonnxruntime.so", bundled}, want: "bin/libonnxruntime.so"},
		{name: "in lib next to the binary", binary: "tools/toxscreen", files: []string{"tools/lib/libonnxruntime.so"}, want: "tools/lib/libonnxruntime.so"},
		{name: "pip --target of the binary's folder", binary: "tools/toxscreen", files: []string{"tools/" + capi + "1.30.0"}, want: "tools/" + capi + "1.30.0"},
		{name: "before the cache", files: []string{cache + "libonnxruntime.so", wheel}, want: wheel},
		{name: "the cache, by get-onnxruntime", files: []string{cache + "libonnxruntime.so", cache + capi + "1.30.0"}, want: cache + "libonnxruntime.so"},
		{name: "the cache, by pip --target", files: []string{cache + capi + "1.30.0"}, want: cache + capi + "1.30.0"},
		{name: "one that is too old is passed over", files: []string{cache + "libonnxruntime.so", "lib/python3.12/site-packages/" + capi + "1.23.2"}, want: cache + "libonnxruntime.so"},
		{name: "names without a version", files: []string{capi + "1", capi + "old"}},
		{name: "CUDA needs its provider", provider: encoder.CUDA, files: []string{bundled, wheel}},
		{name: "CUDA", provider: encoder.CUDA, files: []string{bundled, "lib/python3.12/site-packages/" + capi + "1.30.0", "lib/python3.12/site-packages/" + cuda}, want: wheel},
		{name: "a bin folder is not searched from elsewhere", binary: "tools/toxscreen", files: []string{bundled, wheel}},
	} {
		t.Run(test.name, func(t *testing.T) {
			prefix, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			prefix = filepath.Join(prefix, "a [strange] prefix")
			for _, name := range test.files {
				put(t, filepath.Join(prefix, name))
			}
			binary := filepath.Join(prefix, cmp.Or(test.binary, "bin/toxscreen"))
			copyTestBinary(t, binary)
			// The tool managers put a link to the binary on the PATH.
			link := filepath.Join(t.TempDir(), "toxscreen")
			if err := os.Symlink(binary, link); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(link, "-test.run=^TestFindLibraryOfAWheel$")
			cmd.Env = []string{"TEST_FIND_LIBRARY=" + string(cmp.Or(test.provider, encoder.CPU)), "HOME=" + prefix, "XDG_CACHE_HOME=" + filepath.Join(prefix, "cache")}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got := string(out)
			if test.want == "" && strings.HasPrefix(got, "found: /usr/") {
				t.Skip("this system has its own library")
			}
			if test.want == "" && !strings.HasPrefix(got, "error: ") || test.want != "" && got != "found: "+filepath.Join(prefix, test.want) {
				t.Errorf("%s\nwant %s", got, cmp.Or(test.want, "an error"))
			}
		})
	}
}

// copyTestBinary puts this test's binary, by a hard link if possible, at a path.
func copyTestBinary(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Link(self, path) == nil {
		return
	}
	content, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(path, content, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// put creates an empty file and its folder.
func put(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
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
		if err != nil {
			t.Fatalf("%s: %v %s", filepath.Base(test.library), err, out)
		}
		for _, want := range []string{"refused: ", test.want, encoder.Remedy(encoder.CPU)} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %s\nwant an error with %q", filepath.Base(test.library), out, want)
			}
		}
	}
}
