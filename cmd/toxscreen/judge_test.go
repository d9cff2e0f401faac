//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/ollama"
	"github.com/toxscreen/toxscreen/ollama/ollamatest"
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
	keepSelfTest(ts, args[0], func(judge.TestCase) bool { return false })
}

// believe VERDICT stores a self-test that it passed.
func believe(ts *testscript.TestScript, _ bool, args []string) {
	keepSelfTest(ts, args[0], func(c judge.TestCase) bool {
		insult, _ := c.Labels.Get(toxscreen.Insult)
		return insult > 0
	})
}

// keepSelfTest stores a self-test in which the judge of a verdict finds those texts rude
// that the function says.
func keepSelfTest(ts *testscript.TestScript, file string, toxic func(judge.TestCase) bool) {
	var verdict toxscreen.Verdict
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &verdict))
	client, err := ollama.New(ollama.Config{Model: "tiny", Host: ts.Getenv("OLLAMA_HOST")})
	ts.Check(err)
	defer client.Close()
	session, err := client.Identify(context.Background())
	ts.Check(err)
	outcome := judge.NewSelfTest(judge.Model{Name: "tiny", Digest: session.Digest, Rubric: verdict.Rubric, Dialect: "rubric"}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	answer := func(c judge.TestCase) {
		p := toxscreen.Probability(0.05)
		if toxic(c) {
			p = 0.95
		}
		a := toxscreen.Insult
		outcome.Answers[c.ID] = judge.TestAnswer{Verdict: &toxscreen.Verdict{
			Aspects: []toxscreen.AspectVerdict{{Name: "rude", Attribute: &a, Yes: p > 0.5, PYes: &p}},
		}}
	}
	var found []judge.TestCase
	for _, c := range judge.TestCases() {
		if answer(c); toxic(c) {
			found = append(found, c)
		}
	}
	for _, c := range judge.AttackCases(found) {
		answer(c)
	}
	outcome.Complete, outcome.Trusted = true, []toxscreen.Attribute{toxscreen.Insult}
	if len(found) == 0 {
		outcome.Trusted = nil
		outcome.Failed = "the judge failed its self-test of 2026-01-02: it finds nothing"
	}
	_, err = outcome.Save(filepath.Join(ts.Getenv("HOME"), ".config", "toxscreen", "judges"))
	ts.Check(err)
}
