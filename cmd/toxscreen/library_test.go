//go:build slow

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The messages about a missing library have a command that gets it, on a machine that has
// pip but not Go.
func TestTheRemedyForAMissingLibraryWorks(t *testing.T) {
	home := filepath.Join(t.TempDir(), "a home")
	in := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		c.Dir = t.TempDir()
		output, err := c.CombinedOutput()
		return string(output), err
	}
	for _, args := range [][]string{{"score", "Thank you!"}, {"doctor"}} {
		output, err := in("toxscreen", args...)
		if err == nil {
			t.Skip("this system has its own library")
		}
		command := regexp.MustCompile("`(.* pip .*?)`").FindStringSubmatch(output)
		if command == nil {
			t.Fatalf("%v names no command:\n%s", args, output)
		}
		if output, err := in("sh", "-c", command[1]); err != nil {
			t.Fatalf("%s: %v\n%s", command[1], err, output)
		}
		if output, err := in("toxscreen", args...); err != nil {
			t.Errorf("%v after %s: %v\n%s", args, command[1], err, output)
		}
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
	}
}
