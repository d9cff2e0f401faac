package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	nfpmdeb "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"

	"github.com/toxscreen/toxscreen"
)

// deb writes a Debian package. The binary lies beside ONNX Runtime's library in
// /usr/lib/toxscreen; the systemd unit is installed and not enabled, since no service
// should listen unasked. An upgrade restarts the server if it runs.
func deb(_ context.Context, p program, out string, created time.Time) error {
	names, err := p.files()
	if err != nil {
		return err
	}
	contents := files.Contents{{
		Type: files.TypeSymlink, Source: "/usr/lib/toxscreen/toxscreen", Destination: "/usr/bin/toxscreen",
		FileInfo: &files.ContentFileInfo{MTime: created},
	}}
	for _, name := range names {
		contents = append(contents, &files.Content{
			Source: filepath.Join(p.dir, name), Destination: debianPath(name),
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(p.mode(name)), MTime: created},
		})
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "toxscreen", Arch: p.Arch, Platform: "linux", Version: toxscreen.Version, VersionSchema: "semver",
		Section: "text", Priority: "optional", License: "Apache-2.0", Homepage: "https://github.com/toxscreen/toxscreen",
		Maintainer:  "The toxscreen authors <toxscreen@users.noreply.github.com>",
		Description: "Score text for toxicity, offline\nSeven calibrated probabilities and the words that cause them, computed by an embedded\nmodel on the CPU; personal data; a server that existing clients know.",
		MTime:       created,
		Overridables: nfpm.Overridables{
			Depends:  []string{"libc6 (>= " + p.Glibc + ")", "libgcc-s1", "libstdc++6 (>= 8)"},
			Contents: contents,
			Scripts: nfpm.Scripts{
				PostInstall: "scripts/release/debian/postinst", PreRemove: "scripts/release/debian/prerm", PostRemove: "scripts/release/debian/postrm",
			},
			Deb: nfpm.Deb{Compression: "gzip"}, // Go's xz takes a minute and saves 3 %
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return fmt.Errorf("failed to describe the Debian package: %w", err)
	}
	to, err := os.Create(filepath.Join(out, nfpmdeb.Default.ConventionalFileName(info)))
	if err != nil {
		return fmt.Errorf("failed to make the Debian package: %w", err)
	}
	defer to.Close()
	if err := nfpmdeb.Default.Package(info, to); err != nil {
		return fmt.Errorf("failed to make the Debian package: %w", err)
	}
	return to.Close()
}

// debianPath returns where Debian has a file of the program.
func debianPath(name string) string {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(name, "man/"):
		return "/usr/share/man/man1/" + base
	case base == "toxscreen.bash":
		return "/usr/share/bash-completion/completions/toxscreen"
	case base == "_toxscreen":
		return "/usr/share/zsh/vendor-completions/_toxscreen"
	case base == "toxscreen.fish":
		return "/usr/share/fish/vendor_completions.d/toxscreen.fish"
	case base == "toxscreen.service":
		return "/usr/lib/systemd/system/toxscreen.service"
	case name == "toxscreen", name == "libonnxruntime.so":
		return "/usr/lib/toxscreen/" + name
	case name == "NOTICE":
		return "/usr/share/doc/toxscreen/copyright"
	default:
		return "/usr/share/doc/toxscreen/" + name
	}
}
