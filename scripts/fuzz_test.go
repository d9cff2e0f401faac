// Package scripts_test tests the shell scripts of this folder.
package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A stand-in for the go command, since Go's own failure is a race that no test
// can bring about: it lists one target and fails with the output in OUTPUT.
const fakeGo = `#!/bin/sh
case "$*" in
"list ./...") echo example.org/words ;;
*-list*) echo FuzzWords ;;
*) printf '%s' "$OUTPUT"; exit 1 ;;
esac
`

func TestFuzzFailsForInputsAndNotForItsOwnDeadline(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fakeGo), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		output string
		passes bool
	}{
		"golang/go#75804": {"--- FAIL: FuzzWords (10.16s)\n    context deadline exceeded\nFAIL\n", true},
		"failing input": {"--- FAIL: FuzzWords (3s)\n    context deadline exceeded\n" +
			"    Failing input written to testdata/fuzz/FuzzWords/1\nFAIL\n", false},
		"does not build": {"words.go:1:1: expected 'package'\nFAIL\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			script := exec.Command("bash", "fuzz.sh", "1s")
			script.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "OUTPUT="+test.output)
			printed, err := script.CombinedOutput()
			if passes := err == nil; passes != test.passes {
				t.Errorf("passes: %v, want %v; the script printed:\n%s", passes, test.passes, printed)
			}
		})
	}
}
