package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// The packages of these tests have a few bytes in place of the library. The rest
// is real except pip and npm, which are shell scripts that deliver a file.
const library = "a library, for these tests"

func TestTheFirstSourceThatWorksIsTaken(t *testing.T) {
	wheel := zipOf(t, "onnxruntime/capi/lib.so", library, "onnxruntime/LICENSE", "terms")
	tarball := tgzOf(t, "package/lib.so", library)
	archive := tgzOf(t, "./release/lib/lib.so", library) // "./" as in the archive for macOS
	tests := []struct {
		name            string
		pip, npm, https []byte // what each delivers; nil if missing
		want            string
	}{
		{"pip before all others", wheel, tarball, archive, "from pip"},
		{"npm where pip is missing", nil, tarball, archive, "from npm"},
		{"the release archive where both are missing", nil, nil, archive, "from archive"},
		{"npm where pip's library is another one", zipOf(t, "onnxruntime/capi/lib.so", "changed", "onnxruntime/LICENSE", "terms"), tarball, archive, "from npm"},
		{"npm where pip's wheel is cut off", wheel[:len(wheel)/2], tarball, archive, "from npm"},
		{"npm where pip's wheel lacks the library", zipOf(t, "onnxruntime/LICENSE", "terms"), tarball, archive, "from npm"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, log := testInstaller(t, test.pip, test.npm, test.https)
			dir := filepath.Join(t.TempDir(), "cache")
			if err := in.install(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), test.want+" is in "+dir) {
				t.Errorf("the log does not contain %q:\n%s", test.want, log)
			}
			if got := read(t, filepath.Join(dir, "lib.so")); got != library {
				t.Errorf("the library is %q", got)
			}
		})
	}
}

func TestNothingIsInstalledUnlessItsSumIsKnown(t *testing.T) {
	changed := zipOf(t, "onnxruntime/capi/lib.so", "changed", "onnxruntime/LICENSE", "terms")
	in, _ := testInstaller(t, changed, tgzOf(t, "package/lib.so", "changed as well"), nil)
	dir := t.TempDir()
	err := in.install(t.Context(), dir)
	if err == nil {
		t.Fatal("installed")
	}
	for _, want := range []string{
		"pip: refused onnxruntime/capi/lib.so of onnxruntime.whl: its SHA-256 is",
		"npm: refused package/lib.so",
		"archive: GET ", "404 Not Found",
		"-dir",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q:\n%v", want, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestALibraryThatIsThereIsNotFetchedAgain(t *testing.T) {
	in, _ := testInstaller(t, nil, tgzOf(t, "package/lib.so", library), nil)
	dir := t.TempDir()
	if err := in.install(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	again, log := testInstaller(t, nil, nil, nil) // no source works
	if err := again.install(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "already") {
		t.Errorf("log: %s", log)
	}
	// A file that was changed later does not count as installed.
	if err := os.WriteFile(filepath.Join(dir, "lib.so"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := again.install(t.Context(), dir); err == nil {
		t.Error("a changed library counts as installed")
	}
	in, _ = testInstaller(t, nil, tgzOf(t, "package/lib.so", library), nil)
	if err := in.install(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "lib.so")); got != library {
		t.Errorf("the changed library was not replaced: %q", got)
	}
}

// If pip, npm and the network are all missing, the error reports each of them.
func TestTheErrorNamesEverySource(t *testing.T) {
	in, _ := testInstaller(t, nil, nil, nil)
	in.releases = "https://127.0.0.1:1/"
	err := in.install(t.Context(), t.TempDir())
	if err == nil {
		t.Fatal("installed")
	}
	for _, want := range []string{"pip: no Python with pip", "npm: ", "archive: ", "127.0.0.1:1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q:\n%v", want, err)
		}
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	other := "windows/amd64"
	if runtime.GOOS == "windows" {
		other = "linux/amd64"
	}
	for _, test := range []struct{ args, want string }{
		{"-platform " + other, "-dir"},
		{"-source conda", "pip, npm, archive"},
		{"now", `unexpected argument "now"`},
		{"-platform plan9/arm -dir " + t.TempDir(), "no SHA-256 is known for cpu on plan9/arm"},
		{"-gpu -platform darwin/arm64 -dir " + t.TempDir(), "no SHA-256 is known for cuda on darwin/arm64"},
	} {
		err := run(t.Context(), strings.Fields(test.args), &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}

// The list is complete: for every source, the library comes first and has the name
// that the encoder looks for, and CUDA's library has its providers next to it.
func TestTheListOfSums(t *testing.T) {
	list, err := readSums(sums)
	if err != nil {
		t.Fatal(err)
	}
	libraries := map[string]string{"linux": "libonnxruntime.so", "darwin": "libonnxruntime.dylib", "windows": "onnxruntime.dll"}
	if libraries[runtime.GOOS] != encoder.LibraryName() {
		t.Errorf("the encoder looks for %s, these tests for %s", encoder.LibraryName(), libraries[runtime.GOOS])
	}
	groups := map[string]fileList{}
	for _, f := range list {
		key := fmt.Sprint(f.provider, " ", f.platform, " ", f.source)
		groups[key] = append(groups[key], f)
		if _, err := sourcesNamed(f.source); err != nil {
			t.Error(err)
		}
		if _, err := encoder.ParseProvider(string(f.provider)); err != nil {
			t.Error(err)
		}
		if f.source == "pip" && wheelPlatforms[f.platform] == "" {
			t.Errorf("no wheel is known for %s", f.platform)
		}
		if strings.Contains(f.member, ".so.1.") && !strings.HasSuffix(f.member, encoder.LibraryVersion) {
			t.Errorf("%s is not of release %s", f.member, encoder.LibraryVersion)
		}
	}
	for key, files := range groups {
		goos, _, _ := strings.Cut(files[0].platform, "/")
		if files[0].name != libraries[goos] {
			t.Errorf("%s: the first file is %s", key, files[0].name)
		}
		isProvider := func(f file) bool { return strings.Contains(f.name, "providers_cuda") }
		if files[0].provider == encoder.CUDA && !slices.ContainsFunc(files, isProvider) {
			t.Errorf("%s: CUDA's provider is missing", key)
		}
	}
}

// testInstaller returns an installer whose PATH has the given pip and npm, and
// whose release archive comes from a local server.
func testInstaller(t *testing.T, pip, npm, archive []byte) (installer, *bytes.Buffer) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Fatal("these tests replace pip and npm by shell scripts")
	}
	programs := t.TempDir()
	t.Setenv("PATH", programs)
	if pip != nil {
		program(t, programs, "python3", pip, "onnxruntime.whl")
	}
	if npm != nil {
		program(t, programs, "npm", npm, "onnxruntime.tgz")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if archive == nil || r.URL.Path != "/release.tgz" {
			http.NotFound(w, r)
			return
		}
		w.Write(archive)
	}))
	t.Cleanup(server.Close)
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	log := &bytes.Buffer{}
	return installer{
		files: fileList{
			{sum(library), encoder.CPU, "linux/amd64", "pip", "onnxruntime/capi/lib.so", "lib.so"},
			{sum("terms"), encoder.CPU, "linux/amd64", "pip", "onnxruntime/LICENSE", "LICENSE"},
			{sum(library), encoder.CPU, "linux/amd64", "npm", "package/lib.so", "lib.so"},
			{sum(library), encoder.CPU, "linux/amd64", "archive", "release/lib/lib.so", "lib.so"},
		},
		provider: encoder.CPU,
		platform: "linux/amd64",
		sources:  sources,
		releases: server.URL + "/",
		client:   server.Client(),
		log:      log,
	}, log
}

// program writes a shell script that, when asked to download a package, delivers it
// into its current folder.
func program(t *testing.T, folder, name string, pack []byte, as string) {
	t.Helper()
	packed := filepath.Join(folder, as)
	if err := os.WriteFile(packed, pack, 0o644); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--version) ;; *download*|pack*) /bin/cp '%s' . ;; *) exit 1 ;; esac\n", packed)
	if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func zipOf(t *testing.T, namesAndTexts ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	for i := 0; i < len(namesAndTexts); i += 2 {
		member, err := archive.Create(namesAndTexts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write([]byte(namesAndTexts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func tgzOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
