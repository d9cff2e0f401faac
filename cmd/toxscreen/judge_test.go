//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/judgetest"
	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/judge/selftest"
)

// The scripts in testdata/judge use a real server with a tiny model, whose answers
// are random. Each script has a server of its own: scripts run in parallel and ask with different
// num_ctx, and Ollama can wait forever for a model that it reloads while it is asked (ollama/ollama#17408).
func TestJudgeStories(t *testing.T) {
	model, library := tinyModel(t), runtimeLibrary(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/judge",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			server := ollamatest.Start(t)
			server.Create(t, "tiny", ollamatest.Tiny)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GORACE", raceOptions)
			env.Setenv("OLLAMA_HOST", server.URL)
			env.Setenv("TOXSCREEN_MODEL", model)
			env.Setenv("TOXSCREEN_JUDGE_MODEL", "tiny")
			env.Setenv("TOXSCREEN_JUDGE_RUBRIC", "small.yaml")
			env.Setenv("TOXSCREEN_JUDGE_TIMEOUT", "5m")
			env.Setenv(encoder.LibraryEnv, library)
			env.Values[servedKey] = map[string]*served{}
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":      exits,
			"disbelieve": disbelieve,
			"believe":    believe,
			"compact":    compact,
			"serves":     serves,
			"asks":       asks,
			"until":      until,
			"fetched":    fetched,
			"stops":      stopsServing,
		},
	})
}

// compact FROM TO writes a JSON file as one line.
func compact(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	ts.Check(json.Compact(&b, []byte(ts.ReadFile(args[0]))))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

// disbelieve VERDICT stores a self-test that the judge of a verdict failed.
func disbelieve(ts *testscript.TestScript, _ bool, args []string) {
	keepSelfTest(ts, args[0], judgetest.Nothing)
}

// believe VERDICT stores a self-test that it passed.
func believe(ts *testscript.TestScript, _ bool, args []string) {
	keepSelfTest(ts, args[0], judgetest.Insulting)
}

// keepSelfTest stores a self-test of the judge of a verdict.
func keepSelfTest(ts *testscript.TestScript, file string, insulting func(selftest.Case) bool) {
	var verdict toxscreen.Verdict
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &verdict))
	client, err := ollama.New(ollama.Config{Model: "tiny", Host: ts.Getenv("OLLAMA_HOST")})
	ts.Check(err)
	defer client.Close()
	session, err := client.Identify(context.Background())
	ts.Check(err)
	model := judge.Model{Name: "tiny", Digest: session.Digest, Rubric: verdict.Rubric, Dialect: "rubric"}
	ts.Check(judgetest.Store(filepath.Join(ts.Getenv("HOME"), ".config", "toxscreen", "judges"), model, insulting))
}
