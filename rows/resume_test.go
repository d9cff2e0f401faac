//go:build unix

package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows"
)

// jobEnv contains the job of a process that is a run and not a test.
const jobEnv = "ROWS_TEST_JOB"

// job is a run in its own process, which can be killed.
type job struct {
	Input, Output     string
	Resume, Overwrite bool
	RowGroup          int
	Find              bool // personal data, in place of scores
	Shard             rows.Shard
	// Stuck, unless it is 0, is the number of texts after which each further one waits for the end of
	// the run: the process can then only be killed or interrupted.
	Stuck int64
}

// stuck returns the path of a file that appears when a job is stuck.
func stuck(output string) string { return output + ".stuck" }

// stuckAfter makes a step wait for the end of the run if n others were taken before it.
// The job is stuck when these are done.
type stuckAfter struct {
	left   *atomic.Int64
	taken  *sync.WaitGroup
	output string
}

func newStuckAfter(n int64, output string) stuckAfter {
	s := stuckAfter{&atomic.Int64{}, &sync.WaitGroup{}, output}
	s.left.Store(n)
	s.taken.Add(int(n))
	return s
}

// step returns what to call when the step is done.
func (s stuckAfter) step(ctx context.Context) (done func(), err error) {
	if s.left == nil {
		return func() {}, nil
	}
	if s.left.Add(-1) >= 0 {
		return s.taken.Done, nil
	}
	s.taken.Wait()
	if err := os.WriteFile(stuck(s.output), nil, 0o644); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

type stuckWords struct {
	words
	stuckAfter
}

func (s stuckWords) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	done, err := s.step(ctx)
	if err != nil {
		return toxscreen.Classification{}, err
	}
	defer done()
	return s.words.Classify(ctx, text, depth)
}

type stuckPlants struct {
	plants
	stuckAfter
}

func (s stuckPlants) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	done, err := s.step(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.plants.Find(ctx, text)
}

func TestMain(m *testing.M) {
	if encoded := os.Getenv(jobEnv); encoded != "" {
		os.Exit(work([]byte(encoded)))
	}
	os.Exit(m.Run())
}

// work runs a job and prints the summary or the error.
func work(encoded []byte) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var todo job
	err := json.Unmarshal(encoded, &todo)
	if err == nil {
		var limits toxscreen.Limits
		limits.Scores.Set(toxscreen.Threat, 0.5)
		o := rows.Options{Input: todo.Input, Output: todo.Output, Resume: todo.Resume, Overwrite: todo.Overwrite, RowGroup: todo.RowGroup, Shard: todo.Shard, KeepText: true, Limits: limits}
		var opened *rows.Job
		if opened, err = rows.Open(ctx, o); err == nil {
			defer opened.Close()
			var summary rows.Summary
			var after stuckAfter
			if todo.Stuck > 0 {
				after = newStuckAfter(todo.Stuck, todo.Output)
			}
			if todo.Find {
				summary, err = opened.Find(stuckPlants{plants{pause: 200 * time.Microsecond}, after}, rows.Finding{Mask: uprooted, FailOn: []toxscreen.EntityType{"TREE"}})
			} else {
				summary, err = opened.Score(toxscreen.New(stuckWords{words{version: "words@1", pause: 200 * time.Microsecond}, after}))
			}
			summary.Duration, summary.Before = 0, 0
			fmt.Printf("%+v", summary)
		}
	}
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	return 0
}

func (j job) process(t *testing.T) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	encoded, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	c = exec.Command(os.Args[0])
	// The race detector would sleep for a second at the end of each process.
	c.Env = append(os.Environ(), jobEnv+"="+string(encoded), "GORACE=atexit_sleep_ms=20")
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	c.Stdout, c.Stderr = stdout, stderr
	return c, stdout, stderr
}

const killed = -1

// run runs the job in its own process and returns its exit code and output. Unless
// after is 0, the process is killed after that time.
func (j job) run(t *testing.T, after time.Duration) (code int, summary, failure string) {
	t.Helper()
	c, stdout, stderr := j.process(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		kill := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer kill.Stop()
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// start starts the job and waits until a file exists.
func (j job) start(t *testing.T, file string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	c, stdout, stderr = j.process(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if exists(file) {
			return c, stdout, stderr
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", file)
	return nil, nil, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// note returns the note of an unfinished output.
func note(output string) string { return output + ".resume.json" }

// A process is killed with SIGKILL at random times and started again with Resume
// until it is done. The output must then be, byte by byte, the same as that of an
// undisturbed run: no row is lost, repeated or incomplete.
func TestResumeAfterKill(t *testing.T) {
	inputs := writeInputs(t, 1000)
	for _, test := range []struct {
		in, out string
		find    bool
	}{
		{"in.jsonl", "out.jsonl", false},
		{"in.csv", "out.csv", false},
		{"in.parquet", "out.parquet", false},
		{"in.jsonl.gz", "out.tsv", false},
		{"in.csv.zst", "out.jsonl", false},
		{"in.csv", "out.parquet", true}, // the other forms of what is found are written like scores
	} {
		t.Run(fmt.Sprintf("%s to %s, find %t", test.in, test.out, test.find), func(t *testing.T) {
			folder := t.TempDir()
			j := job{Input: inputs[test.in], Find: test.find}
			if filepath.Ext(test.out) == ".parquet" {
				j.RowGroup = 150
			}
			whole, cut := filepath.Join(folder, "whole-"+test.out), filepath.Join(folder, test.out)
			j.Output = whole
			start := time.Now()
			code, counted, failure := j.run(t, 0)
			if code != 0 {
				t.Fatalf("the undisturbed run ended with %d: %s", code, failure)
			}
			undisturbed := time.Since(start)

			// The first kill comes when the run is stuck inside the input, so that there
			// is at least one that leaves rows.
			j.Output, j.Resume, j.Stuck = cut, true, 400
			c, _, _ := j.start(t, stuck(cut))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if !exists(note(cut)) {
				t.Fatal("the killed run left no note")
			}
			kills := 1
			j.Stuck = 0
			var summary string
			for {
				// Some kills come before the first row is done, some after the
				// last one.
				after := time.Duration(1 + rand.Int64N(int64(undisturbed)*3/4))
				if kills == 6 {
					after = 0 // enough kills
				}
				if code, summary, failure = j.run(t, after); code != killed {
					break
				}
				kills++
				if !exists(note(cut)) && exists(cut) {
					break // the output was complete
				}
			}
			switch {
			case code == killed:
			case code != 0:
				t.Fatalf("after %d kills the last run ended with %d: %s", kills, code, failure)
			case summary != counted:
				t.Errorf("the resumed run counts %s\nthe undisturbed %s", summary, counted)
			}
			t.Logf("killed %d times", kills)
			same(t, cut, whole)
			for _, left := range []string{note(cut), cut + ".parts"} {
				if exists(left) {
					t.Errorf("%s was not removed", left)
				}
			}
		})
	}
}

// An interrupt, unlike a kill, keeps every finished row, also in Parquet. The summary
// of the resumed run includes the earlier rows.
func TestResumeAfterInterrupt(t *testing.T) {
	const n = 800
	inputs := writeInputs(t, n)
	for _, out := range []string{"out.jsonl", "out.csv", "out.parquet"} {
		t.Run(out, func(t *testing.T) {
			folder := t.TempDir()
			whole, cut := filepath.Join(folder, "whole-"+out), filepath.Join(folder, out)
			j := job{Input: inputs["in.jsonl"], Output: whole}
			code, counted, failure := j.run(t, 0)
			if code != 0 {
				t.Fatalf("the undisturbed run ended with %d: %s", code, failure)
			}
			const before = 300
			j.Output, j.Stuck = cut, before
			c, _, stderr := j.start(t, stuck(cut))
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if code := c.ProcessState.ExitCode(); code != 1 {
				t.Fatalf("the interrupted run ended with %d: %s", code, stderr)
			}
			var done int
			if _, err := fmt.Sscanf(stderr.String(), "interrupted; %d rows are done", &done); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			// Rows that fail need no model, so there are more than texts.
			if done < before || done > before+before/20 {
				t.Errorf("%d rows are done, want all those of %d texts", done, before)
			}
			// The resumed run is stuck if it needs the model for rows that are done.
			j.Resume, j.Stuck = true, int64(n-done)
			code, summary, failure := j.run(t, time.Minute)
			if code != 0 {
				t.Fatalf("the resumed run ended with %d: %s", code, failure)
			}
			if summary != counted {
				t.Errorf("the resumed run counts %s\nwant %s", summary, counted)
			}
			same(t, cut, whole)
		})
	}
}

// Two runs cannot write one output: a supervisor may consider the first run dead.
func TestResumeWhileRunning(t *testing.T) {
	j := job{Input: writeInputs(t, 1500)["in.jsonl"], Output: filepath.Join(t.TempDir(), "out.jsonl")}
	c, stdout, stderr := j.start(t, j.Output)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil { // so that it does not end too early
		t.Fatal(err)
	}
	for _, other := range []job{{Resume: true}, {Overwrite: true}} {
		other.Input, other.Output = j.Input, j.Output
		if code, _, failure := other.run(t, 0); code != 1 || !strings.Contains(failure, "another run is writing it") {
			t.Errorf("%+v ended with %d: %s", other, code, failure)
		}
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 0 || !strings.HasPrefix(stdout.String(), "{Rows:1500 ") {
		t.Errorf("the first run ended with %d: %s%s", code, stdout, stderr)
	}
}

// A run is resumed only with the input and settings that it began with.
func TestResumeRefused(t *testing.T) {
	in := strings.Repeat("{\"text\":\"you idiot\"}\n", 5)
	begun := rows.Setting{Name: "the thresholds", Value: "0.5"}
	for name, c := range map[string]struct {
		begin   func(o *rows.Options) // other options of the first run
		change  func(o *rows.Options)
		model   string
		setting rows.Setting
		want    string
	}{
		"nothing is changed": {},
		"another input":      {change: func(o *rows.Options) { write(t, o.Input, in+in) }, want: "the input differs from the input of the interrupted run"},
		"a changed output":   {change: func(o *rows.Options) { write(t, o.Output, "{\"row\":2}\n") }, want: "row 1 is not what the run wrote"},
		"no note":            {change: func(o *rows.Options) { os.Remove(note(o.Output)) }, want: "exists, but it is not the output of an interrupted run"},
		"a broken note":      {change: func(o *rows.Options) { write(t, note(o.Output), "{") }, want: "is broken"},
		"another format":     {change: func(o *rows.Options) { o.InputFormat, o.TextColumn = rows.CSV, `{"text":"you idiot"}` }, want: `InputFormat was "jsonl" and is now "csv"`},
		"another delimiter": {
			begin: func(o *rows.Options) {
				o.InputFormat = rows.CSV
				write(t, o.Input, "text"+strings.Repeat("\nyou idiot", 5))
			},
			change: func(o *rows.Options) { o.Delimiter = ';' }, want: `Delimiter was "," and is now ";"`,
		},
		"another unit":       {change: func(o *rows.Options) { o.OffsetUnit = toxscreen.UTF16Units }, want: `OffsetUnit was "byte" and is now "utf16"`},
		"without Resume":     {change: func(o *rows.Options) { o.Resume = false }, want: "is an unfinished output: continue it with Resume"},
		"another model":      {model: "words@2", want: `the model was "words@1" and is now "words@2"`},
		"another threshold":  {setting: rows.Setting{Name: "the thresholds", Value: "0.6"}, want: `the thresholds was "0.5" and is now "0.6"`},
		"an unknown setting": {setting: rows.Setting{Name: "the weather", Value: "fine"}, want: `the weather was "unknown" and is now "fine"`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			o := rows.Options{Input: write(t, filepath.Join(folder, "in.jsonl"), in), Output: filepath.Join(folder, "out.jsonl")}
			if c.begin != nil {
				c.begin(&o)
			}
			ctx, cancel := context.WithCancel(t.Context())
			o.Progress = func(p rows.Progress) {
				if p.Rows == 1 {
					cancel()
				}
			}
			opened, err := rows.Open(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			summary, err := opened.Score(toxscreen.New(words{version: "words@1", pause: 50 * time.Millisecond}), begun)
			if _, ok := errors.AsType[*rows.UnfinishedError](err); !ok {
				t.Fatalf("%v, want an unfinished run", err)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that of the context", err)
			}
			if summary.Rows == 0 {
				t.Error("the interrupted run has written nothing")
			}
			if err := opened.Close(); err != nil {
				t.Fatal(err)
			}
			o.Progress, o.Resume = nil, true
			if c.change != nil {
				c.change(&o)
			}
			model, setting := c.model, c.setting
			if model == "" {
				model = "words@1"
			}
			if setting.Name == "" {
				setting = begun
			}
			summary, err = score(t, o, toxscreen.New(words{version: model}), setting)
			if c.want == "" {
				summary.Duration, summary.Before = 0, 0
				counts(t, summary, rows.Summary{Rows: 5, Flagged: 5})
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// writeInputs writes the same rows in each format.
func writeInputs(t *testing.T, n int) map[string]string {
	t.Helper()
	folder := t.TempDir()
	vocabulary := []string{"you", "stupid", "idiot", "garden", "kill", "bread", "silly", "walk", "grün", "😀"}
	random := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	lines.WriteString("id,text,note\n")
	for i := range n {
		text := ""
		for range 1 + random.IntN(12) {
			text += vocabulary[random.IntN(len(vocabulary))] + " "
		}
		if i%97 == 5 {
			fmt.Fprintf(&lines, "%d,too few\n", i) // a failing row
		} else {
			fmt.Fprintf(&lines, "%d,%q,\"line\nbreak, \"\"%d\"\"\"\n", i, text, i)
		}
	}
	paths := map[string]string{}
	for _, name := range []string{"in.csv", "in.jsonl", "in.parquet"} {
		paths[name] = filepath.Join(folder, name)
	}
	write(t, paths["in.csv"], lines.String())
	for _, name := range []string{"in.jsonl", "in.parquet"} {
		if _, err := score(t, rows.Options{Input: paths["in.csv"], Output: paths[name], KeepText: true}, screener()); err != nil {
			t.Fatal(err)
		}
	}
	for name, ending := range map[string]string{"in.jsonl": ".gz", "in.csv": ".zst"} {
		content := packed(t, ending, func(w io.Writer) { _, _ = io.WriteString(w, read(t, paths[name])) })
		paths[name+ending] = write(t, paths[name]+ending, string(content))
	}
	return paths
}

// same compares two files.
func same(t *testing.T, path, want string) {
	t.Helper()
	a, b := read(t, path), read(t, want)
	if a == b {
		return
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	t.Errorf("the output has %d bytes, undisturbed %d; the first difference is at %d", len(a), len(b), at)
}
