//go:build slow

package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/toxscreen/toxscreen/encoder"
)

// Each source that this machine can reach delivers the listed files. The release
// archive is not tested: a machine that can reach pip's network may not reach
// GitHub.
func TestRealPackages(t *testing.T) {
	for _, test := range []struct{ source, platform string }{
		{"pip", "linux/amd64"},
		{"pip", "linux/arm64"},
		{"pip", "darwin/arm64"},
		{"pip", "windows/amd64"},
		{"npm", "linux/amd64"},
	} {
		t.Run(test.source+" "+test.platform, func(t *testing.T) {
			dir := t.TempDir()
			var stdout, stderr bytes.Buffer
			if err := run(t.Context(), []string{"-source", test.source, "-platform", test.platform, "-dir", dir}, &stdout, &stderr); err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			if test.platform == "linux/amd64" {
				found, err := encoder.FindLibrary(dir, encoder.CPU)
				if err != nil {
					t.Fatal(err)
				}
				if want := filepath.Clean(stdout.String()[:stdout.Len()-1]); found != want {
					t.Errorf("printed %s, found %s", want, found)
				}
			}
		})
	}
}
