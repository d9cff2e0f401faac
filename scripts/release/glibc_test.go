package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Not every system has more than the C library, so the name of the wheel would promise too much.
func TestABinaryThatNeedsOtherLibrariesIsRefused(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	source := program + ".c"
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "gcc", "-o", program, source, "-Wl,--no-as-needed", "-lstdc++").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if _, err := needs(program); err == nil || !strings.Contains(err.Error(), "it needs libstdc++.so.6") {
		t.Errorf("a program that needs libstdc++: %v", err)
	}
	if release, err := needs(program, "libstdc++"); err != nil || release[0] != 2 {
		t.Errorf("where libstdc++ is allowed, it needs %v: %v", release, err)
	}
}
