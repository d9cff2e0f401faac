//go:build unix && slow

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The command in the Kubernetes job and the Slurm script are run for each of their shards:
// together they do all of the work, once.
func TestDeployedShards(t *testing.T) {
	in := t.TempDir()
	for i := range 5 {
		var lines bytes.Buffer
		for k := range 10 {
			fmt.Fprintf(&lines, "{\"id\":%d,\"text\":\"you stupid garden %d\"}\n", k, i)
		}
		lines.WriteString("{\"comment\":\"a row that fails\"}\n")
		write(t, filepath.Join(in, fmt.Sprintf("%d.jsonl", i)), lines.Bytes())
	}
	files := filepath.Join(in, "*.jsonl")
	whole := filepath.Join(t.TempDir(), "whole")
	if code, messages := runProcess(t, "batch", "-q", "-i", files, "-o", whole, "--no-judge"); code != exitPartly {
		t.Fatalf("the whole ended with %d: %s", code, messages)
	}

	t.Run("Kubernetes", func(t *testing.T) {
		command, completions := kubernetesJob(t)
		out := filepath.Join(t.TempDir(), "out")
		command = strings.NewReplacer("/usr/bin/toxscreen", "toxscreen", "/in/*.parquet", files, "/out", out).Replace(command)
		for index := range completions {
			if code, messages := runScript(t, []string{"sh", "-c", command}, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index)); code != exitDone {
				t.Fatalf("index %d ended with %d: %s", index, code, messages)
			}
		}
		sameOutputs(t, out, whole)
		// Nothing but the index decides which shard it is.
		if code, messages := runScript(t, []string{"sh", "-c", command}, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", completions)); code != exitUsage {
			t.Errorf("an index too high ended with %d: %s", code, messages)
		}
	})
	t.Run("Slurm", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		script := []string{"bash", "../../deploy/array.sbatch", files, out}
		const tasks = 3
		task := func(index, least, most, count int) []string {
			return []string{
				fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", index), fmt.Sprintf("SLURM_ARRAY_TASK_COUNT=%d", count),
				fmt.Sprintf("SLURM_ARRAY_TASK_MIN=%d", least), fmt.Sprintf("SLURM_ARRAY_TASK_MAX=%d", most), "SLURM_CPUS_PER_TASK=1",
			}
		}
		// An array of some indexes does not know how many shards there are.
		if code, messages := runScript(t, script, task(2, 2, 2, 1)...); code != exitUsage || !strings.Contains(messages, "name the number of shards") {
			t.Errorf("an array of one index ended with %d: %s", code, messages)
		}
		if code, messages := runScript(t, append(slices.Clone(script), "3"), task(2, 2, 2, 1)...); code != exitDone {
			t.Errorf("index 2 of 3 ended with %d: %s", code, messages)
		}
		for index := range tasks {
			if code, messages := runScript(t, script, task(index, 0, tasks-1, tasks)...); code != exitDone {
				t.Fatalf("task %d ended with %d: %s", index, code, messages)
			}
		}
		sameOutputs(t, out, whole)
	})
}

// A pod that is evicted gets SIGTERM: the shell passes it on, and the next pod goes on from the
// rows that are done.
func TestDeployedShardIsInterrupted(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	write(t, filepath.Join(in, "a.jsonl"), bytes.Repeat([]byte("{\"text\":\"you stupid garden\"}\n"), 40_000))
	command, _ := kubernetesJob(t)
	command = strings.NewReplacer("/usr/bin/toxscreen", "toxscreen", "/in/*.parquet", filepath.Join(in, "*"), "/out", out, "/16", "/1").Replace(command)
	c, stderr := script([]string{"sh", "-c", command}, "JOB_COMPLETION_INDEX=0")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(out, "a.jsonl"))
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) || !strings.Contains(stderr.String(), "toxscreen: interrupted; ") {
		t.Fatalf("it ended with %d: %s", code, stderr)
	}
	code, messages := runScript(t, []string{"sh", "-c", command}, "JOB_COMPLETION_INDEX=0")
	if rows := bytes.Count(read(t, filepath.Join(out, "a.jsonl")), []byte("\n")); code != exitDone || rows != 40_000 || !strings.Contains(messages, "of them in earlier runs") {
		t.Errorf("the next pod ended with %d and %d rows: %s", code, rows, messages)
	}
}

// kubernetesJob returns the shell command of the Kubernetes job and its number of shards.
func kubernetesJob(t *testing.T) (command string, completions int) {
	t.Helper()
	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					Containers []struct{ Command []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(read(t, "../../deploy/job.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	containers := job.Spec.Template.Spec.Containers
	if job.Spec.CompletionMode != "Indexed" || len(containers) != 1 || len(containers[0].Command) != 3 {
		t.Fatalf("it is not an indexed job with one command in a shell: %+v", job)
	}
	command, completions = containers[0].Command[2], job.Spec.Completions
	if shard := fmt.Sprintf("--shard \"$JOB_COMPLETION_INDEX/%d\"", completions); !strings.Contains(command, shard) {
		t.Fatalf("%s\nhas no %s, though there are as many completions", command, shard)
	}
	return command, completions
}

func script(args []string, env ...string) (*exec.Cmd, *bytes.Buffer) {
	c, stderr := process()
	c.Path, c.Args = "/usr/bin/env", append([]string{"env"}, args...)
	c.Env = append(c.Env, env...)
	return c, stderr
}

// runScript runs a script and returns its exit code and standard error.
func runScript(t *testing.T, args []string, env ...string) (code int, messages string) {
	t.Helper()
	c, stderr := script(args, env...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode(), stderr.String()
}

// sameOutputs compares two folders of outputs.
func sameOutputs(t *testing.T, got, want string) {
	t.Helper()
	entries, err := os.ReadDir(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && !bytes.Equal(read(t, filepath.Join(got, e.Name())), read(t, filepath.Join(want, e.Name()))) {
			t.Errorf("%s is not that of the whole", e.Name())
		}
	}
	if others, err := os.ReadDir(got); err != nil || len(others) != len(entries) {
		t.Errorf("the shards have the outputs %v, the whole has %v", others, entries)
	}
}
