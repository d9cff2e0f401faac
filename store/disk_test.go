//go:build unix

package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toxscreen/toxscreen/store"
)

// writerLimit is how many bytes a file of the writer may have.
const writerLimit = "STORE_TEST_WRITER_LIMIT"

func init() {
	limit := uint64(0)
	if _, err := fmt.Sscan(os.Getenv(writerLimit), &limit); err != nil {
		return // of another run
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
}

// Where the system writes no more, nothing is acknowledged, and what was before
// stays.
func TestADiskThatTakesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), writerFile+"="+path, writerName+"=0", writerLimit+"=200000")
	var failure strings.Builder
	writer.Stderr = &failure
	out, err := writer.StdoutPipe()
	if err == nil {
		err = writer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		acknowledged = append(acknowledged, lines.Text())
	}
	_ = writer.Wait() // it ends with the failure
	if !strings.Contains(failure.String(), "failed to write the feedback "+path) || len(acknowledged) < 10 {
		t.Errorf("%d rows, and then %s", len(acknowledged), &failure)
	}
	left := tokens(t, path)
	for _, token := range acknowledged {
		if !left[token] {
			t.Errorf("%s is lost, which was acknowledged", token)
		}
	}
	if len(left) != len(acknowledged) {
		t.Errorf("%d rows are there, %d were acknowledged", len(left), len(acknowledged))
	}
	// With room again, it goes on.
	if err := openFeedback(t, path, store.FeedbackOptions{}).Add(t.Context(), said("x")); err != nil {
		t.Error(err)
	}
}
