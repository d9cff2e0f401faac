//go:build release

package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/toxscreen/toxscreen"
)

var imageTime = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

// The files in deploy/ name the image of the release.
func TestDeployedImage(t *testing.T) {
	if strings.HasSuffix(version, "-dev") {
		t.Skip("between releases, they name that of the last one")
	}
	for _, name := range []string{"compose.yaml", "job.yaml"} {
		if want := "image: toxscreen:" + version + "\n"; !strings.Contains(read(t, filepath.Join("../../deploy", name)), want) {
			t.Errorf("deploy/%s has no %q", name, want)
		}
	}
}

// What matters of an image can be seen without running it, and so for every architecture.
func TestImagesAreWhatTheyPromise(t *testing.T) {
	staged := t.TempDir()
	for name, mode := range map[string]os.FileMode{"toxscreen": 0o700, "libonnxruntime.so": 0o600, "LICENSE": 0o600, "licenses/go/LICENSE": 0o600} {
		file := filepath.Join(staged, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for arch, loader := range map[string]string{"amd64": "lib64/ld-linux-x86-64.so.2", "arm64": "lib/ld-linux-aarch64.so.1"} {
		t.Run(arch, func(t *testing.T) {
			file, packages, err := image(t.Context(), t.TempDir(), staged, arch, imageTime)
			if err != nil {
				t.Fatal(err)
			}
			made, err := tarball.ImageFromPath(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(made); err != nil {
				t.Error(err)
			}
			index, err := layout.ImageIndexFromPath(unpackImage(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Index(index); err != nil {
				t.Error(err)
			}
			config, err := made.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if config.OS != "linux" || config.Architecture != arch || config.Config.User != "65532:65532" || !config.Created.Equal(imageTime) {
				t.Errorf("it is for %s/%s and the user %s, of %s", config.OS, config.Architecture, config.Config.User, config.Created)
			}
			checkFiles(t, made, packages, loader)
		})
	}
}

// checkFiles checks the files of an image: owners, modes, times, and what must be there.
func checkFiles(t *testing.T, made v1.Image, packages []debian, loader string) {
	t.Helper()
	files := map[string]*tar.Header{}
	all := mutate.Extract(made)
	defer all.Close()
	for r := tar.NewReader(all); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := path.Clean(h.Name)
		files[name] = h
		if h.Mode&0o6000 != 0 {
			t.Errorf("%s has mode %o: nobody may become another user", name, h.Mode)
		}
		if h.ModTime.After(imageTime) {
			t.Errorf("%s is of %s", name, h.ModTime)
		}
		if h.Mode&0o022 != 0 && h.Typeflag != tar.TypeSymlink && h.Mode&0o1000 == 0 {
			t.Errorf("%s has mode %o: everybody can change it", name, h.Mode)
		}
		if own := name == "data"; own != (h.Uid == user) || own != (h.Gid == user) || !own && h.Uid+h.Gid != 0 {
			t.Errorf("%s belongs to %d:%d", name, h.Uid, h.Gid)
		}
	}
	has := func(name string, mode int64) {
		t.Helper()
		if h := files[follow(files, name)]; h == nil {
			t.Errorf("%s is missing", name)
		} else if h.Mode != mode {
			t.Errorf("%s has mode %o, want %o", name, h.Mode, mode)
		}
	}
	for _, program := range []string{"usr/bin/toxscreen", "bin/sh", loader} {
		has(program, 0o755)
	}
	for _, file := range []string{
		"usr/lib/toxscreen/libonnxruntime.so", "usr/share/doc/toxscreen/licenses/go/LICENSE",
		"etc/passwd", "etc/group", "etc/os-release", "etc/ssl/certs/ca-certificates.crt",
	} {
		has(file, 0o644)
	}
	has("data", 0o700)
	has("tmp", 0o1777)
	var names []string
	for _, p := range packages {
		names = append(names, p.Name)
		if p.Version == "" || p.Architecture == "" {
			t.Errorf("the package %+v is not described", p)
		}
		has("usr/share/doc/"+p.Name+"/copyright", 0o644)
		has("var/lib/dpkg/status.d/"+p.Name, 0o644)
	}
	if !slices.Equal(names, basePackages) {
		t.Errorf("it has the packages %v", names)
	}
}

// follow returns the path that a path leads to, by the links in an image.
func follow(files map[string]*tar.Header, name string) string {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		if h := files[at]; h != nil && h.Typeflag == tar.TypeSymlink {
			target := h.Linkname
			if !path.IsAbs(target) {
				target = path.Join("/", path.Dir(at), target)
			}
			at = follow(files, strings.TrimPrefix(target, "/"))
		}
	}
	return at
}

// The image runs as docs/server.md says: as a user without rights, with a root that is
// read-only, no network but the loopback interface, and an empty volume. There it scores,
// finds personal data, serves, and ends when it is told to.
func TestTheImageRuns(t *testing.T) {
	file := named("-image-" + runtime.GOARCH + ".tar")
	e := loadImage(t, file)
	var result toxscreen.Result
	if err := json.Unmarshal([]byte(e.run("score", "--format", "json", "You are a stupid idiot.")), &result); err != nil || result.Score < 0.5 {
		t.Errorf("an insult scores %v: %v", result.Score, err)
	}
	if found := e.run("pii", "Her SSN is 856-45-6789."); !strings.Contains(found, "US_SSN") {
		t.Errorf("personal data is not found: %s", found)
	}

	// What deploy/job.yaml needs.
	if said := e.podman(slices.Concat([]string{"run", "--rm", "--entrypoint", "sh"}, confined, []string{e.image, "-c", "toxscreen version & wait $!"})...); !strings.Contains(said, version) {
		t.Errorf("the shell says %s", said)
	}

	// The server, with nothing but what the image says.
	id := strings.TrimSpace(e.podman(slices.Concat([]string{"run", "--detach", "--log-driver", "k8s-file"}, confined, []string{e.image})...))
	config := e.config(file)
	check := slices.Concat([]string{"exec", id}, config.Healthcheck.Test[1:])
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if output, err := e.command(check...).CombinedOutput(); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("it is not healthy: %s\nits log: %s", output, e.podman("logs", id))
		}
	}
	if address := e.podman("logs", id); !strings.Contains(address, "http://[::]:8080\n") {
		t.Errorf("it cannot be reached from outside the container: it listens on %s", address)
	}
	if answer := e.ask(id, "/healthz"); answer != `{"alive":true}`+"\n" {
		t.Errorf("GET /healthz: %s", answer)
	}
	if answer := e.ask(id, "/v1/score", "--data", `{"text": "you idiot"}`); !strings.Contains(answer, `"flagged":true`) {
		t.Errorf("POST /v1/score: %s", answer)
	}
	if answer := e.ask(id, "/v1/pii", "--data", `{"text": "Her SSN is 856-45-6789."}`); !strings.Contains(answer, `"US_SSN"`) {
		t.Errorf("POST /v1/pii: %s", answer)
	}
	inside := func(script string) string { return e.podman("exec", id, "sh", "-c", script) }
	status := inside(`while read -r line; do echo $line; done < /proc/1/status`)
	for _, want := range []string{"Name: toxscreen", "Uid: 65532 65532 65532 65532", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1"} {
		if !strings.Contains(status, want+"\n") {
			t.Errorf("the process has not %q:\n%s", want, status)
		}
	}
	if processes := strings.Fields(inside("echo /proc/[0-9]*")); len(processes) != 2 { // with that shell
		t.Errorf("there are the processes %v", processes)
	}
	if wrote := inside("(> /x) 2>&1 || (> /usr/lib/toxscreen/x) 2>&1 || echo no"); !strings.HasSuffix(wrote, "no\n") {
		t.Errorf("the root can be written to: %s", wrote)
	}
	e.podman("kill", "--signal", config.StopSignal, id)
	if code := strings.TrimSpace(e.podman("wait", id)); code != "0" {
		t.Errorf("after %s it ended with %s: %s", config.StopSignal, code, e.podman("logs", id))
	}
}

// engine is podman with a store of its own, which has one image.
type engine struct {
	t     *testing.T
	args  []string
	image string
}

// confined are the flags of a container that may do little. Those of podman that docs/server.md
// does not name work on machines of tests, too: podman would set up cgroups with systemd, and
// raise limits.
var confined = []string{
	"--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=none",
	"--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
}

// loadImage loads an image into a new store.
func loadImage(t *testing.T, file string) engine {
	t.Helper()
	store := t.TempDir()
	e := engine{t: t, image: "toxscreen:" + version, args: []string{
		"podman", "--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"), "--tmpdir", filepath.Join(store, "tmp"),
		"--storage-driver=vfs", "--runtime=crun", "--cgroup-manager=cgroupfs", "--events-backend=none",
	}}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err != nil && os.Getuid() == 0 {
		// crun refuses to run beside cgroups of version 1, even if it sets up none.
		e.args = append([]string{"unshare", "--mount", "sh", "-c", `umount -R -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"`, "sh"}, e.args...)
	}
	t.Cleanup(func() {
		e.podman("rm", "--all", "--force", "--volumes")
		e.podman("rmi", "--all", "--force")
	})
	if said := e.podman("load", "--input", file); !strings.Contains(said, e.image) {
		t.Fatalf("podman load: %s", said)
	}
	return e
}

// command returns a command of podman.
func (e engine) command(args ...string) *exec.Cmd {
	args = append(slices.Clone(e.args), args...)
	return exec.Command(args[0], args[1:]...)
}

// podman runs a command of podman, which must succeed, and returns its standard output.
func (e engine) podman(args ...string) string {
	e.t.Helper()
	c := e.command(args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	output, err := c.Output()
	if err != nil {
		e.t.Fatalf("podman %s: %v\n%s%s", strings.Join(args, " "), err, output, &stderr)
	}
	return string(output)
}

// run runs the image with the arguments of a command, and returns its standard output.
func (e engine) run(args ...string) string {
	e.t.Helper()
	return e.podman(slices.Concat([]string{"run", "--rm"}, confined, []string{e.image}, args)...)
}

// ask asks the server in a container, in its network, with more arguments for curl.
func (e engine) ask(id, path string, args ...string) string {
	e.t.Helper()
	pid := strings.TrimSpace(e.podman("inspect", "--format", "{{.State.Pid}}", id))
	enter := []string{"nsenter", "--target", pid, "--net", "curl", "--silent", "--show-error", "http://127.0.0.1:8080" + path}
	c := e.command(slices.Concat([]string{"unshare"}, enter, args)...) // into the user's own namespace
	if os.Getuid() == 0 {
		c = exec.Command(enter[0], slices.Concat(enter[1:], args)...)
	}
	output, err := c.CombinedOutput()
	if err != nil {
		e.t.Fatalf("%s: %v\n%s", path, err, output)
	}
	return string(output)
}

// config returns the configuration of an image.
func (e engine) config(file string) v1.Config {
	e.t.Helper()
	made, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		e.t.Fatal(err)
	}
	return config.Config
}

// unpackImage unpacks a tar of files into a new folder.
func unpackImage(t *testing.T, file string) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "tar", "-C", folder, "-xf", file).CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("%w\n%s", err, output))
	}
	return folder
}
