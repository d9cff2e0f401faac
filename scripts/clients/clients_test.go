//go:build clients && linux

// The clients of other systems, unchanged, against `toxscreen serve`. Each has a
// story: a short program as a user would write it. If an answer is not what the
// client's users expect, it prints a sentence and exits with a status other than 0.
//
// The tag differs from that of the other slow tests: the go command does not see
// what this test builds, and would take its result from the cache after changes to
// the server.
package clients_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/scripts/story"
)

// patience is the time limit of a story or an installation; on an idle machine
// they take seconds.
const patience = 8 * time.Minute

// perspectiveHost is the address of the Perspective API in the code of some
// programs.
const perspectiveHost = "commentanalyzer.googleapis.com"

// TestClients: clients with a configurable server address.
func TestClients(t *testing.T) {
	build := install(t)
	s := story.Serve(t, filepath.Join(build, "toxscreen"), "--listen", "127.0.0.1:0")
	t.Run("stories", func(t *testing.T) {
		for _, name := range []string{
			"go", "python/perspective.py", "python/openai_moderations.py", "python/litellm_guardrail.py", "python/litellm_presidio.py", "python/presidio.py", "python/patronus_toxicity.py",
			"node/googleapis.js", "node/openai.mjs", "node/promptfoo.mjs",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tell(t, build, name, s.Environment("SERVER="+s.Address, "KEY="+s.Key))
			})
		}
	})
	s.Stop(t)

	t.Run("the clients' suggestions are stored", func(t *testing.T) {
		export := exec.CommandContext(t.Context(), filepath.Join(build, "toxscreen"), "feedback", "export")
		export.Env, export.Dir = s.Environment(), s.Folder
		out, err := export.Output()
		if err != nil || !bytes.Contains(out, []byte(`"toxicity":1`)) {
			t.Errorf("the suggestions of the clients are not in the feedback: %v\n%s", err, out)
		}
	})
}

// TestTransparent: clients that have Google's address in their code. They run with
// that name in /etc/hosts and only the loopback interface.
func TestTransparent(t *testing.T) {
	build := install(t)
	if !story.Isolate(t, perspectiveHost) {
		return
	}
	s := story.Serve(t, filepath.Join(build, "toxscreen"), "--listen", "127.0.0.1:443", "--as", perspectiveHost)
	authority := filepath.Join(s.Folder, "toxscreen", "authority", perspectiveHost+".pem")
	for name, trust := range map[string]string{
		"node/perspective-api-client.js": "NODE_EXTRA_CA_CERTS",
		"python/helm_perspective.py":     "HTTPLIB2_CA_CERTS",
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, build, name, s.Environment("KEY="+s.Key, trust+"="+authority))
		})
	}
	s.Stop(t)
}

// tell runs a story in the folder where its client is installed.
func tell(t *testing.T, build, name string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	language, file, _ := strings.Cut(name, "/")
	var cmd *exec.Cmd
	switch language {
	case "go":
		cmd = exec.CommandContext(ctx, filepath.Join(build, "go"))
	case "python":
		cmd = exec.CommandContext(ctx, filepath.Join(build, "python", "bin", "python"), filepath.Join("python", file))
	case "node":
		cmd = exec.CommandContext(ctx, "node", file)
		cmd.Dir = filepath.Join(build, "node") // modules are searched next to the program
	}
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// install builds the server, installs the missing clients into build/_clients and
// returns the folder. The underscore hides it from the go command: promptfoo
// includes Go files.
func install(t *testing.T) string {
	t.Helper()
	build, err := filepath.Abs("../../build/_clients")
	if err != nil {
		t.Fatal(err)
	}
	if story.Isolated() { // the parent has done it
		return build
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stories, err := filepath.Glob("node/*js")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	errs := make([]error, 3)
	all.Go(func() {
		errs[0] = errors.Join(
			story.Run(ctx, "../..", "go", "build", "-o", filepath.Join(build, "toxscreen"), "./cmd/toxscreen"),
			story.Run(ctx, "go", "go", "build", "-o", filepath.Join(build, "go"), "."),
		)
	})
	all.Go(func() { errs[1] = story.Python(ctx, filepath.Join(build, "python"), "python/requirements.txt") })
	all.Go(func() { errs[2] = story.Node(ctx, filepath.Join(build, "node"), "node/package.json", stories...) })
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return build
}
