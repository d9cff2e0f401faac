// Release makes what a release consists of.
package main

import (
	_ "github.com/CycloneDX/cyclonedx-go"
	_ "github.com/google/go-containerregistry/pkg/v1/tarball"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/files"
	_ "github.com/toxscreen/toxscreen"
)

func main() {}
