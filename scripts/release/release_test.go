//go:build release

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/toxscreen/toxscreen"
)

const version = toxscreen.Version

// What Python and Debian make of a version like 0.10.0-dev.
var (
	pythonVersion = strings.Replace(version, "-dev", ".dev0", 1)
	debianVersion = strings.Replace(version, "-dev", "~dev", 1)
)

// `make release-test` makes a release and gives these tests its folder. They need
// mmdebstrap, bubblewrap and podman, namespaces, and network for Debian's packages: what is
// tried has none.
var (
	dist = flag.String("dist", "../../dist", "the folder of the release")
	zig  = flag.String("zig", "", "the command that runs zig, to make the release again")
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if *dist, err = filepath.Abs(*dist); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestTheReleaseIsWhole(t *testing.T) {
	v := version
	want := []string{
		"SHA256SUMS",
		"toxscreen-" + v + "-image-amd64.cdx.json",
		"toxscreen-" + v + "-image-amd64.tar",
		"toxscreen-" + v + "-image-arm64.cdx.json",
		"toxscreen-" + v + "-image-arm64.tar",
		"toxscreen-" + v + "-linux-amd64.cdx.json",
		"toxscreen-" + v + "-linux-amd64.tar.gz",
		"toxscreen-" + v + "-linux-arm64.cdx.json",
		"toxscreen-" + v + "-linux-arm64.tar.gz",
		"toxscreen-" + pythonVersion + "-py3-none-manylinux_2_28_aarch64.whl",
		"toxscreen-" + pythonVersion + "-py3-none-manylinux_2_28_x86_64.whl",
		"toxscreen_" + debianVersion + "_amd64.deb",
		"toxscreen_" + debianVersion + "_arm64.deb",
	}
	entries, err := os.ReadDir(*dist)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the release has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	c.Dir = *dist
	if output, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// What a release weighs is in CHANGELOG.md, to 1 MB (of 10^6 bytes).
func TestTheChangelogHasTheSizes(t *testing.T) {
	changelog := read(t, "../../CHANGELOG.md")
	for what, path := range map[string]string{
		"archive, linux/amd64":        named("-linux-amd64.tar.gz"),
		"archive, linux/arm64":        named("-linux-arm64.tar.gz"),
		"Debian package, amd64":       debianFile("amd64"),
		"Debian package, arm64":       debianFile("arm64"),
		"wheel, x86_64":               wheelFile("x86_64"),
		"wheel, aarch64":              wheelFile("aarch64"),
		"OCI image, amd64":            named("-image-amd64.tar"),
		"OCI image, arm64":            named("-image-arm64.tar"),
		"model toxicity-en, embedded": "../../models/toxicity-en",
		"model entities-en, embedded": "../../models/entities-en",
	} {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(what) + ` \| ([\d.]+) MB \|$`).FindStringSubmatch(changelog)
		if row == nil {
			t.Errorf("CHANGELOG.md has no size for %q: its size is %.1f MB", what, megabytes(t, path))
			continue
		}
		if stated, _ := strconv.ParseFloat(row[1], 64); math.Abs(stated-megabytes(t, path)) > 1 {
			t.Errorf("CHANGELOG.md says %s MB for %q, and it has %.1f", row[1], what, megabytes(t, path))
		}
	}
	if size := megabytes(t, named("-linux-amd64.tar.gz")); size > 60 {
		t.Errorf("the archive has %.1f MB, more than the 60 that are allowed", size)
	}
}

// Another machine, here a clone in another folder, makes the same bytes. For a quarter of all
// commits, chosen by the hash, it also compiles everything again, which takes eight minutes.
func TestTheSameCommitMakesTheSameRelease(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "clone")
	output(t, exec.Command("git", "clone", "--quiet", "../..", clone))
	output(t, exec.Command("git", "-C", clone, "tag", "v99.9.9")) // says nothing about the bytes
	tool := filepath.Join(clone, "build/release/release")
	output(t, exec.Command("go", "build", "-C", filepath.Join(clone, "scripts/release"), "-o", tool, "."))
	c := exec.Command(tool, "-zig", *zig, "-o", "dist")
	c.Dir = clone
	if strings.ContainsAny(output(t, exec.Command("git", "rev-parse", "HEAD"))[1:2], "0123") { // the first digit chooses CI's suites
		c.Env = append(os.Environ(), "GOCACHE="+t.TempDir(), "ZIG_GLOBAL_CACHE_DIR="+t.TempDir())
	}
	output(t, c)
	if got, want := read(t, filepath.Join(clone, "dist/SHA256SUMS")), read(t, filepath.Join(*dist, "SHA256SUMS")); got != want {
		t.Errorf("the second release differs:\n%s\nthe first:\n%s", got, want)
	}
}

// On a machine that has nothing but Debian's packages, no compiler and no network, each
// artefact scores, finds personal data and serves.
func TestAMachineWithoutACompiler(t *testing.T) {
	bare := bareRoot(t, "bookworm", "essential", "amd64", "libstdc++6")
	t.Run("archive", func(t *testing.T) {
		folder := t.TempDir()
		output(t, exec.Command("tar", "-xzf", named("-linux-amd64.tar.gz"), "-C", folder, "--strip-components=1"))
		story(t, machine{root: bare, mounts: []string{"--ro-bind", folder, "/run/toxscreen"}, command: []string{"/run/toxscreen/toxscreen"}, library: "/run/toxscreen/libonnxruntime.so"})
	})
	t.Run("Debian package", func(t *testing.T) {
		root := filepath.Join(t.TempDir(), "root")
		output(t, exec.Command("cp", "--archive", bare, root))
		output(t, sandbox(t.Context(), []string{"--bind", root, "/", "--ro-bind", *dist, "/mnt"}, "dpkg", "--install", "/mnt/"+filepath.Base(debianFile("amd64"))))
		story(t, machine{root: root, command: []string{"toxscreen"}, library: "/usr/lib/toxscreen/libonnxruntime.so"})
		for _, path := range []string{
			"usr/lib/systemd/system/toxscreen.service", "usr/share/man/man1/toxscreen-score.1", "usr/share/doc/toxscreen/copyright",
			"usr/share/bash-completion/completions/toxscreen", "usr/share/zsh/vendor-completions/_toxscreen", "usr/share/fish/vendor_completions.d/toxscreen.fish",
		} {
			if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Size() == 0 {
				t.Errorf("the package installs no %s: %v", path, err)
			}
		}
		// What it wrote, it removes.
		output(t, sandbox(t.Context(), []string{"--bind", root, "/"}, "dpkg", "--purge", "toxscreen"))
		if left, _ := filepath.Glob(filepath.Join(root, "usr/*/toxscreen*")); len(left) > 0 {
			t.Errorf("after the package was removed, there is %s", left)
		}
	})
	t.Run("wheel", func(t *testing.T) {
		root := bareRoot(t, "bookworm", "essential", "amd64", "libstdc++6", "python3-venv")
		in := []string{"--bind", root, "/", "--ro-bind", *dist, "/mnt"}
		output(t, sandbox(t.Context(), in, "python3", "-m", "venv", "/opt/venv"))
		output(t, sandbox(t.Context(), in, "/opt/venv/bin/pip", "install", "--no-index", "--quiet", "/mnt/"+filepath.Base(wheelFile("x86_64"))))
		const library = "/opt/venv/lib/python3.11/site-packages/toxscreen/lib/libonnxruntime.so"
		story(t, machine{root: root, command: []string{"/opt/venv/bin/toxscreen"}, library: library})
		score := output(t, sandbox(t.Context(), []string{"--ro-bind", root, "/"}, "/opt/venv/bin/python", "-c", `import toxscreen
for result in toxscreen.score_many(["You are a stupid idiot.", "Thank you!"]):
    print(result.flagged)`))
		if score != "True\nFalse\n" {
			t.Errorf("in Python, the scores are %q", score)
		}
	})
	for name, path := range map[string]string{"go": "usr/local/go", "gcc": "usr/bin/gcc"} {
		if _, err := os.Stat(filepath.Join(bare, path)); err == nil {
			t.Errorf("the bare machine has %s", name)
		}
	}
}

// The program for arm64 runs under QEMU, and its scores are those of amd64.
func TestArm64(t *testing.T) {
	bare := bareRoot(t, "bookworm", "extract", "arm64", "base-files", "libc6", "libstdc++6")
	qemu := filepath.Join(bareRoot(t, "trixie", "extract", "amd64", "qemu-user"), "usr/bin/qemu-aarch64")
	folder := t.TempDir()
	output(t, exec.Command("tar", "-xzf", named("-linux-arm64.tar.gz"), "-C", folder, "--strip-components=1"))
	story(t, machine{
		root: bare, mounts: []string{"--ro-bind", qemu, "/run/qemu", "--ro-bind", folder, "/run/toxscreen"},
		command: []string{"/run/qemu", "/run/toxscreen/toxscreen"}, library: "/run/toxscreen/libonnxruntime.so",
	})

	// The other artefacts have the same program.
	unpacked := filepath.Join(t.TempDir(), "image")
	made, err := tarball.ImageFromPath(named("-image-arm64.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	unpack := exec.Command("tar", "--extract", "--one-top-level="+unpacked)
	unpack.Stdin = mutate.Extract(made)
	output(t, unpack)
	in := []string{"--ro-bind", unpacked, "/", "--tmpfs", "/run", "--ro-bind", qemu, "/run/qemu"}
	if got := output(t, sandbox(t.Context(), in, "/run/qemu", "/usr/bin/toxscreen", "--version")); got != "toxscreen "+version+"\n" {
		t.Errorf("the image has the version %q", got)
	}
	for name, list := range map[string][]string{
		"image":          {"cat", filepath.Join(unpacked, "usr/lib/toxscreen/toxscreen")},
		"Debian package": {"sh", "-c", "dpkg-deb --fsys-tarfile '" + debianFile("arm64") + "' | tar -xO ./usr/lib/toxscreen/toxscreen"},
		"wheel":          {"python3", "-c", "import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))", wheelFile("aarch64"), "toxscreen-" + pythonVersion + ".data/scripts/toxscreen"},
	} {
		if output(t, exec.Command(list[0], list[1:]...)) != read(t, filepath.Join(folder, "toxscreen")) {
			t.Errorf("the %s has another program than the archive", name)
		}
	}
}

// Every artefact has the licences of everything in it, and an SBOM that names it.
func TestLicensesAndSBOM(t *testing.T) {
	files := map[string]string{}
	archived, err := os.Open(named("-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer archived.Close()
	unzipped, err := gzip.NewReader(archived)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Typeflag != tar.TypeReg {
			t.Errorf("%s is of user %d and of type %q", header.Name, header.Uid, header.Typeflag)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		if header.Size > 1<<22 {
			continue // the binary and the library
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
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
		"man/toxscreen.1":            "toxscreen-score(1)",
		"completions/toxscreen.bash": "bash completion",
		"completions/_toxscreen":     "#compdef toxscreen",
		"completions/toxscreen.fish": "fish completion",
		"toxscreen.service":          "ExecStart=",
	} {
		if !strings.Contains(files[path], want) {
			t.Errorf("the archive's %s does not contain %q", path, want)
		}
	}
	if files[sbom] != read(t, named("-linux-amd64.cdx.json")) {
		t.Error("the SBOM in the archive is not the one beside it")
	}
	var bom struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(read(t, named("-image-amd64.cdx.json"))), &bom); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"github.com/spf13/cobra", "std", "onnxruntime", "toxicity-en", "entities-en", "libc6"} {
		if !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool { return c.Name == name && c.Version != "" }) {
			t.Errorf("the image's SBOM does not name %s", name)
		}
	}
}

// machine is where an artefact is installed: a file system, what bubblewrap mounts in it,
// the command that runs toxscreen there, and where it finds ONNX Runtime.
type machine struct {
	root            string
	mounts, command []string
	library         string
}

// story scores, finds personal data and serves, without a network, as another user than
// root, and without being able to write anywhere except in /tmp and /run.
func story(t *testing.T, m machine) {
	t.Helper()
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	in := []string{"--ro-bind", m.root, "/", "--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", shared, "/run/shared", "--uid", "1000", "--gid", "1000"}
	in = append(in, m.mounts...)
	toxscreen := func(args ...string) *exec.Cmd {
		return sandbox(t.Context(), in, append(slices.Clone(m.command), args...)...)
	}
	if got, want := output(t, toxscreen("--version")), "toxscreen "+version+"\n"; got != want {
		t.Errorf("the version is %q", got)
	}
	var diagnosis struct {
		OK      bool
		Library struct{ Path string }
	}
	decode(t, output(t, toxscreen("doctor", "--no-judge", "--format", "json")), &diagnosis)
	if !diagnosis.OK || diagnosis.Library.Path != m.library {
		t.Errorf("doctor says %+v, want the library %s", diagnosis, m.library)
	}
	var found struct {
		Entities []struct{ Type, Text string }
	}
	decode(t, output(t, toxscreen("pii", "--format", "json", "My name is Anna Miller, write to anna@example.org.")), &found)
	for _, want := range []string{"PERSON", "EMAIL_ADDRESS"} {
		if !slices.ContainsFunc(found.Entities, func(e struct{ Type, Text string }) bool { return e.Type == want }) {
			t.Errorf("of personal data, %+v is found, and no %s", found.Entities, want)
		}
	}
	// The scores are those of amd64: nine in ten texts to 1e-3, see docs/model/card.md.
	want, texts, apart := expected(t), 0, 0
	for i, scores := range scoresOf(t, toxscreen) {
		most := 0.0
		for attribute, score := range scores {
			most = max(most, math.Abs(score-want[i][attribute]))
		}
		texts++
		if most > 1e-3 {
			apart++
		}
		if most > 0.03 {
			t.Errorf("a score of text %d differs from amd64's by %.3f", i, most)
		}
	}
	if apart*10 > texts {
		t.Errorf("of %d texts, %d have a score that differs from amd64's by more than 0.001", texts, apart)
	}

	serve := toxscreen("serve", "--no-judge", "--until-eof", "--listen", "unix:/run/shared/socket")
	stop, err := serve.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	serve.Stderr = &messages
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(shared, "socket"))
	}}}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		answer, err := client.Get("http://localhost/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the server is not ready: %v\n%s", err, &messages)
		}
	}
	answer, err := client.Post("http://localhost/v1/score", "application/json", strings.NewReader(`{"text": "You are a stupid idiot."}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var result struct{ Flagged bool }
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil || !result.Flagged {
		t.Errorf("the server answers %s, flagged %v: %v", answer.Status, result.Flagged, err)
	}
	client.CloseIdleConnections()
	stop.Close()
	if err := serve.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &messages)
	}
}

// scoresOf returns what toxscreen gives each attribute of the first text of each behaviour.
func scoresOf(t *testing.T, toxscreen func(args ...string) *exec.Cmd) []map[string]float64 {
	t.Helper()
	var texts strings.Builder
	for line := range strings.Lines(read(t, "../../testdata/behaviours/behaviours.jsonl")) {
		var behaviour struct{ Texts []string }
		decode(t, line, &behaviour)
		row, err := json.Marshal(map[string]string{"text": behaviour.Texts[0]})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&texts, "%s\n", row)
	}
	batch := toxscreen("batch", "--no-judge", "--full", "--quiet", "-i", "-", "-o", "-")
	batch.Stdin = strings.NewReader(texts.String())
	var all []map[string]float64
	for line := range strings.Lines(output(t, batch)) {
		var row struct {
			Attributes map[string]struct{ Score float64 }
		}
		decode(t, line, &row)
		scores := map[string]float64{}
		for attribute, a := range row.Attributes {
			scores[attribute] = a.Score
		}
		all = append(all, scores)
	}
	if len(all) != strings.Count(texts.String(), "\n") || len(all[0]) != 7 {
		t.Fatalf("%d texts are scored for %d attributes", len(all), len(all[0]))
	}
	return all
}

// expected returns the scores of the archive for amd64 on this machine.
func expected(t *testing.T) []map[string]float64 {
	t.Helper()
	folder := t.TempDir()
	output(t, exec.Command("tar", "-xzf", named("-linux-amd64.tar.gz"), "-C", folder, "--strip-components=1"))
	return scoresOf(t, func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), filepath.Join(folder, "toxscreen"), args...)
	})
}

// sandbox runs a command in namespaces of its own, all of them without a network, with an
// empty environment.
func sandbox(ctx context.Context, in []string, command ...string) *exec.Cmd {
	args := append([]string{"--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "--setenv", "HOME", "/tmp"}, in...)
	return exec.CommandContext(ctx, "bwrap", slices.Concat(args, []string{"--proc", "/proc", "--dev", "/dev", "--chdir", "/", "--"}, command)...)
}

// bareRoot makes a file system of Debian packages.
func bareRoot(t *testing.T, suite, variant, arch string, packages ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	output(t, exec.CommandContext(t.Context(), "mmdebstrap", "--quiet", "--variant="+variant, "--architectures="+arch, "--include="+strings.Join(packages, ","), suite, root))
	return root
}

// named returns the path of a file of the release by the end of its name.
func named(end string) string { return filepath.Join(*dist, "toxscreen-"+version+end) }

func debianFile(arch string) string {
	return filepath.Join(*dist, "toxscreen_"+debianVersion+"_"+arch+".deb")
}

func wheelFile(machine string) string {
	return filepath.Join(*dist, "toxscreen-"+pythonVersion+"-py3-none-manylinux_2_28_"+machine+".whl")
}

func megabytes(t *testing.T, path string) float64 {
	t.Helper()
	var bytes int64
	err := filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(bytes) / 1e6
}

func output(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var messages bytes.Buffer
	c.Stderr = &messages
	got, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", c, err, got, &messages)
	}
	return string(got)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, from string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(from), into); err != nil {
		t.Fatalf("%v in %s", err, from)
	}
}
