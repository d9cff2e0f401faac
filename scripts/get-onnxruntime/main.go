// Get-onnxruntime installs the release of ONNX Runtime that toxscreen is built and
// measured with in the user's cache, where toxscreen finds it:
//
//	go run github.com/toxscreen/toxscreen/scripts/get-onnxruntime@latest
//
// It takes the library from pip, else from npm, else from Microsoft's release
// archive, and installs no file whose SHA-256 is not in onnxruntime.sha256. It
// prints the library's path. If the right files are already installed, it does
// nothing else.
//
// Flags:
//
//	-gpu              the library of onnxruntime-gpu (CUDA 13), for the provider cuda
//	-source SOURCE    only from pip, npm or archive
//	-platform OS/ARCH for another machine, such as one without a network; needs -dir
//	-dir DIR          install there instead of in the cache
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/toxscreen/toxscreen/encoder"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "get-onnxruntime:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "get-onnxruntime:", err)
		os.Exit(1)
	}
}

// errUsage is in the error chain for wrong flags.
var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("get-onnxruntime", flag.ContinueOnError)
	flags.SetOutput(stderr)
	gpu := flags.Bool("gpu", false, "get the library of onnxruntime-gpu (CUDA 13)")
	source := flags.String("source", "", "get it only from `SOURCE`: pip, npm or archive")
	platform := flags.String("platform", runtime.GOOS+"/"+runtime.GOARCH, "get it for the platform `OS/ARCH`; another machine's platform needs -dir")
	dir := flags.String("dir", "", "install into `DIR` instead of the user's cache")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	provider := encoder.CPU
	if *gpu {
		provider = encoder.CUDA
	}
	if *dir == "" {
		if *platform != runtime.GOOS+"/"+runtime.GOARCH {
			return fmt.Errorf("%w: the library for %s does not belong in this machine's cache; give a folder with -dir", errUsage, *platform)
		}
		cache, err := encoder.LibraryCache(provider)
		if err != nil {
			return err
		}
		*dir = cache
	}
	files, err := readSums(sums)
	if err != nil {
		return err
	}
	in := installer{
		files:    files.of(provider, *platform),
		platform: *platform,
		provider: provider,
		sources:  sources,
		releases: releasesURL,
		client:   http.DefaultClient,
		log:      stderr,
	}
	if *source != "" {
		if in.sources, err = sourcesNamed(*source); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	if err := in.install(ctx, *dir); err != nil {
		return err
	}
	fmt.Fprintln(stdout, filepath.Join(*dir, in.files[0].name))
	return nil
}
