//go:build slow && linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// A machine needs only the archive: unpacked into an empty folder, with an empty
// home, an empty environment and no network, its binary scores.
func TestTheArchiveScoresWithoutANetwork(t *testing.T) {
	t.Chdir("../..")
	archive, err := dist(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := unpack(t, archive)

	// The user namespace avoids the need for root; the network namespace in it has
	// only a loopback device that is down.
	c := exec.Command("unshare", "--map-root-user", "--net", filepath.Join(folder, "toxscreen"), "score", "--format", "json", "You are a stupid idiot.")
	c.Dir = t.TempDir()
	c.Env = []string{"HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	output, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var result struct {
		Score float64
		Spans []struct{ Start, End int }
	}
	if err := json.Unmarshal(output, &result); err != nil {
		t.Fatal(err)
	}
	if result.Score < 0.5 {
		t.Errorf("an insult scores %v", result.Score)
	}
	if len(result.Spans) == 0 {
		t.Error("an insult has no spans")
	}

	c = exec.Command("unshare", "--map-root-user", "--net", filepath.Join(folder, "toxscreen"), "doctor", "--format", "json")
	c.Env = []string{"HOME=" + t.TempDir()}
	if output, err = c.Output(); err != nil {
		t.Fatal(err)
	}
	if beside := filepath.Join(folder, encoder.LibraryName()); !bytes.Contains(output, []byte(beside)) {
		t.Errorf("doctor does not report the library next to the binary, %s:\n%s", beside, output)
	}
}

// The archive contains the licences of everything in it.
func TestTheArchiveHoldsTheLicenses(t *testing.T) {
	t.Chdir("../..")
	archive, err := dist(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := unpack(t, archive)
	for path, want := range map[string]string{
		"LICENSE":                      "Apache License",
		"NOTICE":                       "CC-BY-SA",
		"licenses/go/LICENSE":          "The Go Authors",
		"licenses/onnxruntime/LICENSE": "Microsoft Corporation",
		"licenses/onnxruntime/ThirdPartyNotices.txt":        "protobuf",
		"licenses/models/toxicity-en/LICENSE":               "Apache License",
		"licenses/models/entities-en/LICENSE":               "Apache License",
		"licenses/github.com/yalue/onnxruntime_go/LICENSE":  "Permission is hereby granted",
		"licenses/github.com/spf13/cobra/LICENSE.txt":       "Apache License",
		"licenses/github.com/sugarme/tokenizer/LICENSE":     "Apache License",
		"licenses/github.com/parquet-go/parquet-go/LICENSE": "Apache License",
	} {
		text, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			t.Error(err)
		} else if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s does not contain %q", path, want)
		}
	}
}

// The folder of the Python package has all that is in the wheel, and what it needs is
// described.
func TestTheFolderOfTheWheelHoldsTheBinaryTheLibraryAndTheLicenses(t *testing.T) {
	t.Chdir("../..")
	folder := t.TempDir()
	d, err := wheel(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if d.OS != "linux" {
		t.Errorf("the binary is for the system %q", d.OS)
	}
	if d.Arch != runtime.GOARCH {
		t.Errorf("the binary is for the processor %q", d.Arch)
	}
	if !regexp.MustCompile(`^2\.\d+$`).MatchString(d.Glibc) {
		t.Errorf("the binary needs glibc %q", d.Glibc)
	}
	if d.Version == "" {
		t.Error("the binary has no version")
	}
	for _, path := range []string{
		"toxscreen", encoder.LibraryName(), "LICENSE", "NOTICE", "licenses/go/LICENSE",
		"licenses/github.com/yalue/onnxruntime_go/LICENSE", "licenses/onnxruntime/LICENSE", "licenses/onnxruntime/ThirdPartyNotices.txt",
	} {
		if _, err := os.Stat(filepath.Join(folder, path)); err != nil {
			t.Error(err)
		}
	}
}

// Not every system has more than the C library, so the name of the wheel would promise too much.
func TestABinaryThatNeedsOtherLibrariesIsRefused(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	source := program + ".c"
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "gcc", "-o", program, source, "-Wl,--no-as-needed", "-lstdc++").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if _, err := glibc(program); err == nil || !strings.Contains(err.Error(), "it needs libstdc++.so.6") {
		t.Errorf("a program that needs libstdc++: %v", err)
	}
	if _, err := glibc(program, "libstdc++"); err != nil {
		t.Errorf("a library that may need libstdc++: %v", err)
	}
}

func TestTheSameCommitGivesTheSameArchive(t *testing.T) {
	t.Chdir("../..")
	var made [2][]byte
	for i := range made {
		archive, err := dist(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if made[i], err = os.ReadFile(archive); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two archives of one commit differ")
	}
}

// unpack returns the one folder of an archive.
func unpack(t *testing.T, path string) string {
	t.Helper()
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	top := strings.TrimSuffix(filepath.Base(path), ".tar.gz")
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(to, top)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(header.Name, top+"/") || !filepath.IsLocal(header.Name) {
			t.Fatalf("%s is not inside %s", header.Name, top)
		}
		target := filepath.Join(to, header.Name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, content, header.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
}
