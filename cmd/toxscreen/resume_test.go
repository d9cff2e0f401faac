//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/encoder"
)

// A process is killed with SIGKILL at random moments and started again with
// --resume until it is done. The output must then be, byte by byte, that of a
// run that nobody disturbed: nothing is lost, nothing repeated, nothing torn.
func TestResumeAfterKill(t *testing.T) {
	inputs := writeInputs(t, t.TempDir(), 2000)
	for _, test := range []struct{ in, out string }{
		{"in.jsonl", "out.jsonl"},
		{"in.csv", "out.csv"},
		{"in.parquet", "out.parquet"},
	} {
		t.Run(test.in+" to "+test.out, func(t *testing.T) {
			folder := t.TempDir()
			args := []string{"batch", "-i", inputs[test.in], "--keep-text", "--fail-on", "threat=0.5"}
			if filepath.Ext(test.out) == ".parquet" {
				args = append(args, "--row-group", "150")
			}
			whole, cut := filepath.Join(folder, "whole-"+test.out), filepath.Join(folder, test.out)
			start := time.Now()
			code, summary := runProcess(t, 0, append(args, "-o", whole)...)
			if code != exitReached {
				t.Fatalf("the undisturbed run ended with %d: %s", code, summary)
			}
			undisturbed := time.Since(start)
			_, counted, _ := strings.Cut(summary, "a second: ")

			// The first as soon as there is something to be left behind, so
			// that there is one.
			c, _ := process(append(args, "-o", cut, "--resume")...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, noteOf(cut))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			kills := 1
			for {
				// So early now and then that nothing is done yet, so late now
				// and then that all is.
				after := time.Duration(1 + rand.Int64N(int64(undisturbed)*3/4))
				if kills == 6 {
					after = 0 // enough
				}
				code, summary = runProcess(t, after, append(args, "-o", cut, "--resume")...)
				if code != killed {
					break
				}
				kills++
				if _, err := os.Stat(noteOf(cut)); errors.Is(err, os.ErrNotExist) && written(cut) {
					break // it was done, and had only to end
				}
			}
			switch {
			case code == killed:
			case code != exitReached:
				t.Fatalf("after %d kills the last run ended with %d: %s", kills, code, summary)
			case !strings.HasSuffix(summary, counted):
				t.Errorf("the resumed run counts %s\nthe undisturbed %s", summary, counted)
			}
			t.Logf("killed %d times", kills)
			want, got := read(t, whole), read(t, cut)
			if !bytes.Equal(got, want) {
				t.Errorf("after %d kills the output has %d bytes, undisturbed %d; the first difference is at %d", kills, len(got), len(want), difference(got, want))
			}
			for _, left := range []string{noteOf(cut), partsOf(cut)} {
				if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is left behind", left)
				}
			}
		})
	}
}

// written tells whether there is a file.
func written(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// An interrupt, unlike a kill, leaves every finished row, in Parquet too; and
// the exit code of the resumed run counts what was found before.
func TestResumeAfterInterrupt(t *testing.T) {
	inputs := writeInputs(t, t.TempDir(), 1500)
	for _, out := range []string{"out.jsonl", "out.csv", "out.parquet"} {
		t.Run(out, func(t *testing.T) {
			folder := t.TempDir()
			args := []string{"batch", "-i", inputs["in.jsonl"], "--keep-text", "--fail-on", "threat=0.5"}
			whole, cut := filepath.Join(folder, "whole-"+out), filepath.Join(folder, out)
			if code, summary := runProcess(t, 0, append(args, "-o", whole)...); code != exitReached {
				t.Fatalf("the undisturbed run ended with %d: %s", code, summary)
			}
			c, messages := process(append(args, "-o", cut)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, noteOf(cut))
			time.Sleep(30 * time.Millisecond)
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if code := c.ProcessState.ExitCode(); code == exitReached {
				t.Log("the run was done before the interrupt")
			} else if code != exitFailed || !bytes.Contains(messages.Bytes(), []byte("toxscreen: interrupted; ")) ||
				!bytes.Contains(messages.Bytes(), []byte("with --resume goes on from there")) {
				t.Fatalf("the interrupted run ended with %d: %s", code, messages)
			} else if code, summary := runProcess(t, 0, append(args, "-o", cut, "--resume")...); code != exitReached {
				t.Fatalf("the resumed run ended with %d: %s", code, summary)
			}
			want, got := read(t, whole), read(t, cut)
			if !bytes.Equal(got, want) {
				t.Errorf("the output has %d bytes, undisturbed %d; the first difference is at %d", len(got), len(want), difference(got, want))
			}
		})
	}
}

// A run is only resumed with what it began with.
func TestResumeRefused(t *testing.T) {
	rows := read(t, writeInputs(t, t.TempDir(), 3000)["in.jsonl"])
	for _, test := range []struct {
		name   string
		change func(t *testing.T, in, out string) []string // more flags
		want   string
	}{
		{"another input", func(t *testing.T, in, _ string) []string {
			write(t, in, append(read(t, in), "{\"text\":\"garden\"}\n"...))
			return nil
		}, "the input is not the one that the run began with"},
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
		}, "what should be row 1 of it is not"},
		{"without --resume", func(*testing.T, string, string) []string {
			return []string{"--resume=false"}
		}, "is an unfinished output: go on with --resume"},
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
			if code, messages := runProcess(t, 0, append(args, test.change(t, in, out)...)...); code != exitFailed || !strings.Contains(messages, test.want) {
				t.Errorf("it ended with %d: %s\nwant %q", code, messages, test.want)
			}
		})
	}
}

// Two runs cannot write one output: a supervisor may take the first for dead.
func TestResumeWhileRunning(t *testing.T) {
	folder := t.TempDir()
	in, out := writeInputs(t, folder, 3000)["in.jsonl"], filepath.Join(folder, "out.jsonl")
	c, _ := process("batch", "-i", in, "-o", out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, out)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil { // so that it is not done too soon
		t.Fatal(err)
	}
	for _, flag := range []string{"--resume", "--overwrite"} {
		if code, messages := runProcess(t, 0, "batch", "-i", in, "-o", out, flag); code != exitFailed || !strings.Contains(messages, "another run is writing it") {
			t.Errorf("%s ended with %d: %s", flag, code, messages)
		}
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitRows {
		t.Errorf("the first run ended with %d", code)
	}
}

// writeInputs writes the same rows in each format.
func writeInputs(t *testing.T, folder string, rows int) map[string]string {
	t.Helper()
	words := []string{"you", "stupid", "idiot", "garden", "kill", "bread", "silly", "walk", "grün", "😀"}
	random := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	lines.WriteString("id,text,note\n")
	for i := range rows {
		text := ""
		for range 1 + random.IntN(12) {
			text += words[random.IntN(len(words))] + " "
		}
		if i%97 == 5 {
			fmt.Fprintf(&lines, "%d,too few\n", i) // a row that fails
		} else {
			fmt.Fprintf(&lines, "%d,%q,\"line\nbreak, \"\"%d\"\"\"\n", i, text, i)
		}
	}
	paths := map[string]string{}
	for _, name := range []string{"in.csv", "in.jsonl", "in.parquet"} {
		paths[name] = filepath.Join(folder, name)
	}
	write(t, paths["in.csv"], lines.Bytes())
	for _, name := range []string{"in.jsonl", "in.parquet"} {
		if code, messages := runProcess(t, 0, "batch", "-i", paths["in.csv"], "-o", paths[name], "--keep-text", "--overwrite"); code != exitRows {
			t.Fatalf("making %s ended with %d: %s", name, code, messages)
		}
	}
	return paths
}

const killed = -1

// runProcess runs toxscreen as a process of its own and returns its exit code
// and standard error. Unless after is 0 it is killed by then.
func runProcess(t *testing.T, after time.Duration, args ...string) (code int, messages string) {
	t.Helper()
	c, stderr := process(args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		kill := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer kill.Stop()
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
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
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

func difference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
