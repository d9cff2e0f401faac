package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/toxscreen/toxscreen"
)

const debianRelease = "bookworm"

// basePackages are the packages of Debian below the program, which needs the C and C++ libraries.
// A judge behind HTTPS needs the certificates, deploy/job.yaml a shell, and scanners
// /etc/os-release.
var basePackages = []string{"base-files", "ca-certificates", "dash", "gcc-12-base", "libc6", "libgcc-s1", "libstdc++6"}

// kept matches the files of these packages that are in the image. The others are for people at a
// terminal, for Debian's tools and for debuggers. The character sets of iconv are left out, too:
// nothing reads them, and for arm64 they are larger than all the rest.
var kept = regexp.MustCompile(`^(usr/(bin|lib|lib64)/.*|etc/(os-release|debian_version)|usr/share/doc/[^/]+(/copyright)?|usr/share/common-licenses/.*)$`)

var iconv = regexp.MustCompile(`^usr/lib/[^/]+/gconv/`)

// user owns /data and runs the program. The number is that of "nonroot" in other images
// without a distribution.
const user = 65532

// debian is a package of Debian in the image.
type debian struct{ Name, Version, Architecture string }

// image writes out/toxscreen-VERSION-image-ARCH.tar, an image that runs the program in the
// folder staged. The tar is an OCI image layout that `docker load` and `podman load` read, too.
// image returns its path, and the packages of Debian in it, by name. No file in it is newer than
// created, and the same packages and the same folder give the same bytes.
//
// The packages come from Debian's mirror, whose signature apt checks. None of their scripts
// runs, so that a machine can make images for another architecture.
func image(ctx context.Context, out, staged, arch string, created time.Time) (_ string, _ []debian, err error) {
	work, err := os.MkdirTemp("", "toxscreen-image-")
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	created = created.UTC().Truncate(time.Second)
	base, packages, err := baseTree(ctx, work, arch)
	if err != nil {
		return "", nil, fmt.Errorf("failed to make the base of the image for %s: %w", arch, err)
	}
	program, err := programTree(staged)
	if err != nil {
		return "", nil, fmt.Errorf("failed to read the program for the image for %s: %w", arch, err)
	}
	var layers []mutate.Addendum
	for _, l := range []struct {
		tree tree
		from string
	}{{base, "packages of Debian " + debianRelease}, {program, "toxscreen " + toxscreen.Version}} {
		file := filepath.Join(work, fmt.Sprintf("layer-%d.tar", len(layers)))
		if err := l.tree.write(file, created); err != nil {
			return "", nil, err
		}
		layer, err := tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
		if err != nil {
			return "", nil, err
		}
		layers = append(layers, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: l.from}})
	}
	assembled, err := assemble(layers, arch, created)
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(out, fmt.Sprintf("toxscreen-%s-image-%s.tar", toxscreen.Version, arch))
	if err := writeImage(file, filepath.Join(work, "layout"), assembled, created); err != nil {
		return "", nil, fmt.Errorf("failed to write %s: %w", file, err)
	}
	return file, packages, nil
}

// assemble returns the image of the layers.
func assemble(layers []mutate.Addendum, arch string, created time.Time) (v1.Image, error) {
	made, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layers...)
	if err != nil {
		return nil, err
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: created}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%[1]d", user),
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM",
		Entrypoint:   []string{"/usr/bin/toxscreen"},
		Cmd:          []string{"serve"},
		Env: []string{
			"PATH=/usr/bin",
			"XDG_CONFIG_HOME=/data/config",
			"XDG_CACHE_HOME=/data/cache",
			// A setting rather than a flag of the command: so that `serve` with flags of
			// one's own is reached from outside the container, and `serve ready` asks there.
			"TOXSCREEN_LISTEN=0.0.0.0:8080",
		},
		Healthcheck: &v1.HealthConfig{
			Test:        []string{"CMD", "/usr/bin/toxscreen", "serve", "ready"},
			Interval:    30 * time.Second,
			Timeout:     10 * time.Second,
			StartPeriod: 10 * time.Second,
			Retries:     3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "toxscreen",
			"org.opencontainers.image.description": "Scores text for toxicity and finds personal data, without a network",
			"org.opencontainers.image.version":     toxscreen.Version,
			"org.opencontainers.image.created":     created.Format(time.RFC3339),
			"org.opencontainers.image.source":      "https://github.com/toxscreen/toxscreen",
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
	return mutate.ConfigFile(made, config)
}

// writeImage writes the image to a tar, by way of an OCI image layout in a new folder.
func writeImage(file, folder string, made v1.Image, created time.Time) error {
	const short = "toxscreen:" + toxscreen.Version
	name, err := reference.ParseNormalizedNamed(short) // what containerd and Docker call it
	if err != nil {
		return err
	}
	images, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := images.AppendImage(made, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": toxscreen.Version,
		"io.containerd.image.name":          name.String(),
	})); err != nil {
		return err
	}
	manifest, err := made.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return path.Join("blobs", d.Digest.Algorithm, d.Digest.Hex) }
	loaded := tarball.Descriptor{Config: blob(manifest.Config), RepoTags: []string{short}}
	for _, l := range manifest.Layers {
		loaded.Layers = append(loaded.Layers, blob(l))
	}
	list, err := json.Marshal(tarball.Manifest{loaded}) // for load
	if err != nil {
		return err
	}
	all, err := folderTree(folder, func(name string) string { return name })
	if err != nil {
		return err
	}
	all.add("manifest.json", entry{mode: 0o644, data: list})
	return all.write(file, created)
}

// entry is a file, a folder or a link in a layer.
type entry struct {
	mode  fs.FileMode // the type, the permissions and the sticky bit
	owner int
	link  string
	data  []byte
	file  string // has the data, if data is nil
}

// tree has entries by their paths, relative to the root.
type tree map[string]entry

// add adds an entry, and the folders above it.
func (t tree) add(name string, e entry) {
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		if _, ok := t[up]; !ok {
			t[up] = entry{mode: fs.ModeDir | 0o755}
		}
	}
	t[name] = e
}

// programTree returns the layer of the program, which lies where its Debian package has it.
func programTree(staged string) (tree, error) {
	t, err := folderTree(staged, func(name string) string { return strings.TrimPrefix(debianPath(name), "/") })
	if err != nil {
		return nil, err
	}
	// Nobody is at a terminal there.
	maps.DeleteFunc(t, func(name string, _ entry) bool {
		return strings.HasPrefix(name, "usr/share/") && !strings.HasPrefix(name, "usr/share/doc") || strings.HasPrefix(name, "usr/lib/systemd")
	})
	t.add("usr/bin/toxscreen", entry{mode: fs.ModeSymlink | 0o777, link: "../lib/toxscreen/toxscreen"})
	return t, nil
}

// folderTree returns the files of a folder, each where place puts it. Their permissions are
// 0755 or 0644, whatever the umask was.
func folderTree(folder string, place func(name string) string) (tree, error) {
	t := tree{}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder", file)
		}
		e := entry{mode: 0o644, file: file}
		if info.Mode()&0o100 != 0 {
			e.mode = 0o755
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		t.add(place(filepath.ToSlash(name)), e)
		return nil
	})
	return t, err
}

// baseTree returns the layer below the program, and the packages that it is made of. It
// downloads them into the folder work.
func baseTree(ctx context.Context, work, arch string) (tree, []debian, error) {
	// Only what it downloads is used: it gives apt folders of its own, for any architecture, with
	// root and without.
	_, err := command(ctx, nil, "mmdebstrap", "--quiet", "--variant=extract", "--format=null", "--architectures="+arch,
		"--include="+strings.Join(basePackages, ","), "--extract-hook=copy-out /var/cache/apt/archives '"+work+"'", debianRelease, "/dev/null")
	if err != nil {
		return nil, nil, err
	}
	t := tree{}
	var packages []debian
	var certificates []byte
	for _, name := range basePackages {
		files, err := filepath.Glob(filepath.Join(work, "archives", name+"_*.deb"))
		if err != nil {
			return nil, nil, err
		}
		if len(files) != 1 {
			return nil, nil, fmt.Errorf("mmdebstrap left %d packages %s, want one", len(files), name)
		}
		of, err := t.addPackage(ctx, files[0], &certificates)
		if err != nil {
			return nil, nil, fmt.Errorf("failed to read the package %s: %w", filepath.Base(files[0]), err)
		}
		packages = append(packages, of)
	}
	t.add("etc/ssl/certs/ca-certificates.crt", entry{mode: 0o644, data: certificates})
	t.add("etc/passwd", entry{mode: 0o644, data: fmt.Appendf(nil, "root:x:0:0:root:/root:/usr/sbin/nologin\n"+
		"toxscreen:x:%d:%[1]d:toxscreen:/data:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", user)})
	t.add("etc/group", entry{mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\ntoxscreen:x:%d:\nnogroup:x:65534:\n", user)})
	for _, name := range []string{"dev", "proc", "run", "sys"} {
		t.add(name, entry{mode: fs.ModeDir | 0o755})
	}
	t.add("root", entry{mode: fs.ModeDir | 0o700})
	t.add("tmp", entry{mode: fs.ModeDir | fs.ModeSticky | 0o777})
	t.add("var/tmp", entry{mode: fs.ModeDir | fs.ModeSticky | 0o777})
	t.add("data", entry{mode: fs.ModeDir | 0o700, owner: user})
	return t, packages, nil
}

// addPackage adds the files of a package of Debian that are kept, and the description by which
// scanners know it. It appends certificates of authorities to one file, which the package's
// script would do.
func (t tree) addPackage(ctx context.Context, file string, certificates *[]byte) (debian, error) {
	shown, err := command(ctx, nil, "dpkg-deb", "--show", "--showformat=${Package} ${Version} ${Architecture}", file)
	if err != nil {
		return debian{}, err
	}
	var d debian
	if _, err := fmt.Sscan(shown, &d.Name, &d.Version, &d.Architecture); err != nil {
		return debian{}, err
	}
	control, err := command(ctx, nil, "dpkg-deb", "--field", file)
	if err != nil {
		return debian{}, err
	}
	t.add("var/lib/dpkg/status.d/"+d.Name, entry{mode: 0o644, data: []byte(control)})

	files, err := command(ctx, nil, "dpkg-deb", "--fsys-tarfile", file)
	if err != nil {
		return debian{}, err
	}
	for r := tar.NewReader(strings.NewReader(files)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return debian{}, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return debian{}, err
		}
		name := t.merged(path.Clean(h.Name))
		switch {
		case strings.HasSuffix(name, ".crt") && h.Typeflag == tar.TypeReg:
			*certificates = append(*certificates, data...)
		case h.Typeflag == tar.TypeDir || !kept.MatchString(name) || iconv.MatchString(name):
		case h.Typeflag == tar.TypeReg:
			t.add(name, entry{mode: h.FileInfo().Mode().Perm(), data: data})
		case h.Typeflag == tar.TypeSymlink:
			t.add(name, entry{mode: fs.ModeSymlink | 0o777, link: h.Linkname})
		default:
			return debian{}, fmt.Errorf("%s is neither a file nor a folder nor a symbolic link", name)
		}
	}
	return d, nil
}

// merged returns the path at which Debian's systems have a file since /bin, /lib and /lib64 are
// links to folders in /usr. Packages still name the old paths.
func (t tree) merged(name string) string {
	top, _, below := strings.Cut(name, "/")
	if !below || !slices.Contains([]string{"bin", "lib", "lib64"}, top) {
		return name
	}
	t.add(top, entry{mode: fs.ModeSymlink | 0o777, link: "usr/" + top})
	return "usr/" + name
}

// write writes a tar of the entries, sorted by their paths, to a file.
func (t tree) write(file string, created time.Time) (err error) {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	w := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if err := t[name].write(w, name, created); err != nil {
			return err
		}
	}
	return w.Close()
}

func (e entry) write(w *tar.Writer, name string, created time.Time) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(e.mode.Perm()), Uid: e.owner, Gid: e.owner, ModTime: created}
	if e.mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	switch {
	case e.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case e.link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
	case e.data == nil:
		from, err := os.Open(e.file)
		if err != nil {
			return err
		}
		defer from.Close()
		info, err := from.Stat()
		if err != nil {
			return err
		}
		h.Size = info.Size()
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = io.Copy(w, from)
		return err
	default:
		h.Size = int64(len(e.data))
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(e.data)
	return err
}
