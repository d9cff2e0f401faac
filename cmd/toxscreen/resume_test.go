//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/encoder"
)

// A run is resumed only with the input and settings that it began with.
func TestResumeRefused(t *testing.T) {
	rows := bytes.Repeat([]byte("{\"text\":\"you stupid garden\"}\n"), 3000)
	for _, test := range []struct {
		name   string
		change func(t *testing.T, in, out string) []string // more flags
		want   string
	}{
		{"another input", func(t *testing.T, in, _ string) []string {
			write(t, in, append(read(t, in), "{\"text\":\"garden\"}\n"...))
			return nil
		}, "the input differs from the input of the interrupted run"},
		{"another threshold", func(*testing.T, string, string) []string {
			return []string{"--threshold", "insult=0.9"}
		}, "the thresholds was"},
		{"another model", func(*testing.T, string, string) []string {
			return []string{"-m", tinyModel(t) + "-no-spans"}
		}, "the model was"},
		{"another unit", func(*testing.T, string, string) []string {
			return []string{"--offset-unit", "utf16"}
		}, "--offset-unit was"},
		{"a changed output", func(t *testing.T, _, out string) []string {
			write(t, out, []byte("{\"row\":2}\n"))
			return nil
		}, "row 1 is not what the run wrote"},
		{"without --resume", func(*testing.T, string, string) []string {
			return []string{"--resume=false"}
		}, "is an unfinished output: continue it with --resume"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			in, out := filepath.Join(folder, "in.jsonl"), filepath.Join(folder, "out.jsonl")
			write(t, in, rows)
			args := []string{"batch", "-i", in, "-o", out, "--resume"}
			c, _ := process(args...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, out)
			_ = c.Process.Kill()
			_ = c.Wait()
			if code, messages := runProcess(t, append(args, test.change(t, in, out)...)...); code != exitFailed || !strings.Contains(messages, test.want) {
				t.Errorf("it ended with %d: %s\nwant %q", code, messages, test.want)
			}
		})
	}
}

// runProcess runs toxscreen in a separate process and returns its exit code
// and standard error.
func runProcess(t *testing.T, args ...string) (code int, messages string) {
	t.Helper()
	c, stderr := process(args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode(), stderr.String()
}

func process(args ...string) (*exec.Cmd, *bytes.Buffer) {
	tiny, err := filepath.Abs("../../testdata/models/tiny")
	if err != nil {
		panic(err)
	}
	library, err := encoder.FindLibrary("", encoder.CPU)
	if err != nil {
		panic(err)
	}
	c := exec.Command("toxscreen", args...)
	c.Env = []string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "TOXSCREEN_MODEL=" + tiny, encoder.LibraryEnv + "=" + library}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, &stderr
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear, or it stays empty", path)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A killed run that masks with a mapping continues with the same numbers, and only with the
// mapping that it began with: every masked text of the output can be restored.
func TestResumeWithMapping(t *testing.T) {
	folder := t.TempDir()
	in, out, mapping := filepath.Join(folder, "in.jsonl"), filepath.Join(folder, "out.jsonl"), filepath.Join(folder, "mapping.jsonl")
	var lines bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&lines, "{\"text\":\"from user%d@example.com to user%d@example.com\"}\n", i%7000, i*i%7000)
	}
	write(t, in, lines.Bytes())
	args := func(out, mapping string) []string {
		return []string{"pii", "batch", "-i", in, "-o", out, "--mapping", mapping, "--no-names", "--resume", "-q"}
	}
	c, _ := process(args(out, mapping)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, out)
	_ = c.Process.Kill()
	_ = c.Wait()

	kept := read(t, mapping)
	if err := os.Remove(mapping); err != nil {
		t.Fatal(err)
	}
	if code, messages := runProcess(t, args(out, mapping)...); code != exitFailed || !strings.Contains(messages, "the mapping was") {
		t.Errorf("without its mapping, the run ended with %d: %s", code, messages)
	}
	write(t, mapping, kept)
	if code, messages := runProcess(t, args(out, mapping)...); code != exitDone {
		t.Fatalf("the resumed run ended with %d: %s", code, messages)
	}
	whole := filepath.Join(folder, "whole.jsonl")
	if code, messages := runProcess(t, args(whole, filepath.Join(folder, "other.jsonl"))...); code != exitDone {
		t.Fatalf("the undisturbed run ended with %d: %s", code, messages)
	}
	if !bytes.Equal(read(t, out), read(t, whole)) {
		t.Error("the resumed output differs from that of an undisturbed run")
	}
}
