package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/config"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// unconfigured runs the tests without the settings of the user who runs them.
type unconfigured struct{ *testing.M }

func (u unconfigured) Run() int {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, config.EnvPrefix) && name != encoder.LibraryEnv {
			os.Unsetenv(name)
		}
	}
	return u.M.Run()
}

// raceOptions are for the commands of the tests if these run with the race detector: it
// would sleep for a second at the end of each, to wait for late races.
const raceOptions = "atexit_sleep_ms=20"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions) // for commands that tests start themselves
	testscript.Main(unconfigured{m}, map[string]func(){
		"toxscreen": func() {
			os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
		},
	})
}

// The scripts in testdata are commands that a user could type. $TINY, $NOSPANS, $EXITS and
// $SCALES are small models with known scores, $HUB is the folder with Hugging Face exports.
func TestStories(t *testing.T) {
	tiny, library := tinyModel(t), runtimeLibrary(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("TINY", tiny)
			env.Setenv("NOSPANS", tiny+"-no-spans")
			env.Setenv("EXITS", tiny+"-exits")
			env.Setenv("SCALES", tiny+"-scales")
			env.Setenv("HUB", filepath.Dir(tiny))
			env.Setenv("LIBRARY", library)
			env.Setenv(encoder.LibraryEnv, library)
			env.Setenv("GORACE", raceOptions)
			env.Values[servedKey] = map[string]*served{}
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":       exits,
			"unversioned": unversioned,
			"bytes":       writeBytes,
			"longline":    longLine,
			"packs":       packs,
			"serves":      serves,
			"asks":        asks,
			"stops":       stopsServing,
			"reloads":     reloads,
			"labelled":    labelledFeedback,
			"reports":     reports,
		},
	})
}

// configure gives the test its own environment, because [run] reads it.
func configure(t *testing.T) {
	t.Helper()
	library := runtimeLibrary(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("TOXSCREEN_MODEL", tinyModel(t))
	t.Setenv(encoder.LibraryEnv, library)
}

// exits CODE COMMAND ARGS... runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// unversioned FILE writes the output of the last command without the version of this
// build, which expected outputs cannot contain.
func unversioned(ts *testscript.TestScript, _ bool, args []string) {
	out := ts.ReadFile("stdout")
	out = strings.ReplaceAll(out, fmt.Sprintf("toxscreen %s\n", toxscreen.Version), "toxscreen VERSION\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out), 0o644))
}

// bytes FILE QUOTED writes the value of a quoted Go string.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	data, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(data), 0o644))
}

// longline FILE MEGABYTES appends a line that is a JSON object of that size.
func longLine(ts *testscript.TestScript, _ bool, args []string) {
	megabytes, err := strconv.Atoi(args[1])
	ts.Check(err)
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	defer file.Close()
	_, err = file.WriteString(`{"text":"`)
	ts.Check(err)
	chunk := strings.Repeat("garden ", 1<<20/7)
	for range megabytes {
		_, err := file.WriteString(chunk)
		ts.Check(err)
	}
	_, err = file.WriteString("\"}\n")
	ts.Check(err)
}

// packs FROM TO compresses a file as the name of the other says: .gz or .zst.
func packs(ts *testscript.TestScript, _ bool, args []string) {
	to, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer to.Close()
	var w io.WriteCloser = gzip.NewWriter(to)
	if strings.EqualFold(filepath.Ext(args[1]), ".zst") {
		w, err = zstd.NewWriter(to)
		ts.Check(err)
	}
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(w.Close())
}

func tinyModel(t testing.TB) string {
	t.Helper()
	tiny, err := filepath.Abs("../../testdata/models/tiny")
	if err != nil {
		t.Fatal(err)
	}
	return tiny
}

func runtimeLibrary(t testing.TB) string {
	t.Helper()
	library, err := encoder.FindLibrary("", encoder.CPU)
	if err != nil {
		t.Fatalf("the tests need ONNX Runtime: %v", err)
	}
	if library, err = filepath.Abs(library); err != nil {
		t.Fatal(err)
	}
	return library
}
