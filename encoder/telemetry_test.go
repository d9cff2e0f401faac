package encoder_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

// scoreForEnv tells a process of the test binary how long to score.
const scoreForEnv = "TEST_SCORE_FOR"

// A program that uses the Go library leaves no files in its user's home and cache
// folders. ONNX Runtime's telemetry would create a folder there when it starts.
func TestScoringLeavesNoFiles(t *testing.T) {
	if duration := os.Getenv(scoreForEnv); duration != "" {
		score(t, duration)
		return
	}
	home, cache := t.TempDir(), t.TempDir()
	program := scoring(t, home, cache, 2*time.Second)
	if out, err := program.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, folder := range []string{home, cache} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if path != folder {
				t.Errorf("%s was created", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// scoring returns the command of a program that scores for a while with only the Go
// library and the given user folders. Its arguments begin with the program's path.
func scoring(t *testing.T, home, cache string, duration time.Duration) *exec.Cmd {
	t.Helper()
	library, err := encoder.FindLibrary("", encoder.CPU)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), binary, "-test.run=^TestScoringLeavesNoFiles$")
	// Nothing else is passed on: the environment may already disable the telemetry.
	program.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + cache, encoder.LibraryEnv + "=" + library, scoreForEnv + "=" + duration.String()}
	return program
}

// score is that program.
func score(t *testing.T, duration string) {
	t.Helper()
	limit, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.OpenDefault(models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	screener := toxscreen.New(model)
	for start := time.Now(); time.Since(start) < limit; {
		if _, err := screener.Score(t.Context(), "You are a stupid idiot, and so is your edit."); err != nil {
			t.Fatal(err)
		}
	}
}
