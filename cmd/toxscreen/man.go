//go:build man

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"
)

// With the build tag man, the program writes its manual pages into a folder and ends:
//
//	go run -tags man ./cmd/toxscreen DIR
//
// SOURCE_DATE_EPOCH is their date. A tag keeps the formatter out of the program that is
// shipped.
func init() {
	root := (&app{}).rootCommand()
	root.DisableAutoGenTag = true
	header := doc.GenManHeader{Section: "1", Source: "toxscreen " + root.Version, Manual: "toxscreen"}
	if err := doc.GenManTree(root, &header, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
