// Picture creates the picture of the playground in README.md from the real page:
//
//	go run ./scripts/make/picture -binary bin/toxscreen -o docs/playground.png
//
// It starts the server, opens the page in a Chromium on the PATH, and saves a screenshot
// of its example when that is scored. `make chromium` installs the browser.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/toxscreen/toxscreen/internal/files"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	binary := flag.String("binary", "bin/toxscreen", "toxscreen `FILE`")
	out := flag.String("o", "docs/playground.png", "`FILE` to write")
	flag.Parse()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := run(ctx, *binary, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string) (err error) {
	server := exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0", "--feedback", "off", "--late-results", "off")
	server.Stderr = os.Stderr
	pipe, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("failed to start the server: %w", err)
	}
	defer func() { err = errors.Join(err, server.Process.Signal(syscall.SIGTERM), server.Wait()) }()
	address, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		return fmt.Errorf("failed to start the server: it printed no address: %w", err)
	}
	png, err := look(ctx, strings.TrimSpace(address))
	if err != nil {
		return fmt.Errorf("failed to take a picture of the page: %w", err)
	}
	if err := files.WriteBytes(out, 0o644, png); err != nil {
		return fmt.Errorf("failed to write %s: %w", out, err)
	}
	return nil
}

// look opens the page in a browser and returns a picture of it when its example is scored.
func look(ctx context.Context, address string) ([]byte, error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("%w: run `make chromium`", err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, end := chromedp.NewExecAllocator(ctx, options...)
	defer end()
	page, closePage := chromedp.NewContext(allocator)
	defer closePage()
	if err := chromedp.Do(page, chromedp.EmulateViewport(1180, 1120)); err != nil {
		return nil, err
	}
	light := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: "light"},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // bars would still grow
	}}
	if _, err := chromedp.Call(page, emulation.SetEmulatedMedia, light); err != nil {
		return nil, err
	}
	if err := chromedp.Do(page, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.ID("marked"))); err != nil {
		return nil, err
	}
	return chromedp.Run(page, chromedp.CaptureScreenshot())
}
