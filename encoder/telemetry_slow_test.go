//go:build slow && linux

package encoder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/encoder"
)

// traced is the set of calls that strace records; call finds the name of a system call
// in its output.
const traced = "trace=%network,openat,open,mkdir,mkdirat,io_uring_setup"

var call = regexp.MustCompile(`^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)`)

// A program that uses the Go library for a minute makes no network system call, sets up
// no io_uring, which could replace such calls, creates no folder, and does not read the
// machine's id. strace records the calls of all threads from the program's start to its
// end, whether they succeed or not.
func TestScoringCallsNobody(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("the test needs strace: install it with the system's package manager, such as `apt-get install strace`")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	program := scoring(t, t.TempDir(), t.TempDir(), time.Minute)
	program.Path = strace
	program.Args = append([]string{"strace", "-f", "-q", "-e", traced, "-e", "signal=none", "-o", trace}, program.Args...)
	if out, err := program.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	noted, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	library := false
	for line := range strings.Lines(string(noted)) {
		found := call.FindStringSubmatch(line)
		switch {
		case found == nil: // the end of a thread
		case found[1] != "open" && found[1] != "openat":
			t.Errorf("it should not call: %s", line)
		case strings.Contains(line, `/etc/machine-id"`), strings.Contains(line, `/var/lib/dbus/machine-id"`):
			t.Errorf("it should not read: %s", line)
		}
		library = library || strings.Contains(line, encoder.LibraryName())
	}
	if !library {
		t.Errorf("strace has not seen ONNX Runtime's library being opened:\n%s", noted)
	}
}
