//go:build unix

package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/internal/store"
)

// The file that the test's own binary writes feedback to when it is run as a child,
// the prefix of its rows' tokens, and the limit of its files in bytes.
const (
	writerFile  = "STORE_TEST_WRITER_FILE"
	writerName  = "STORE_TEST_WRITER_NAME"
	writerLimit = "STORE_TEST_WRITER_LIMIT"
)

func TestMain(m *testing.M) {
	path := os.Getenv(writerFile)
	if path == "" {
		os.Exit(m.Run())
	}
	if limit, err := strconv.ParseUint(os.Getenv(writerLimit), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ) // the write fails instead
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			panic(err)
		}
	}
	fmt.Fprintln(os.Stderr, write(path, os.Getenv(writerName)))
	os.Exit(1)
}

// write adds feedback until something fails, and acknowledges each set that was
// stored on standard output.
func write(path, name string) error {
	f, err := store.OpenFeedback(path, store.FeedbackOptions{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		l := said("idiot")
		l.Token = fmt.Sprintf("%s/%d", name, i)
		if err := f.Add(context.Background(), l); err != nil {
			return err
		}
		if _, err := fmt.Println(l.Token); err != nil {
			return err
		}
	}
}

// Feedback that was acknowledged survives a kill, whatever the process was doing,
// and the next process can open the file. Two processes write at a time.
func TestKillsLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	acknowledged := map[string]bool{}
	for kill := 0; kill < kills; kill += 2 {
		var writers sync.WaitGroup
		var lock sync.Mutex
		for i := range 2 {
			writer := exec.CommandContext(t.Context(), os.Args[0])
			writer.Env = append(os.Environ(), writerFile+"="+path, fmt.Sprintf("%s=%d", writerName, kill+i))
			writer.Stderr = os.Stderr
			out, err := writer.StdoutPipe()
			if err == nil {
				err = writer.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			writers.Go(func() {
				defer writer.Wait()
				lines := bufio.NewScanner(out)
				for rows := 0; lines.Scan(); rows++ {
					if rows == 0 { // it has begun to write
						time.AfterFunc(rand.N(100*time.Millisecond), func() { _ = writer.Process.Kill() })
					}
					lock.Lock()
					acknowledged[lines.Text()] = true
					lock.Unlock()
				}
			})
		}
		writers.Wait()
		left := tokens(t, path)
		for token := range acknowledged {
			if !left[token] {
				t.Fatalf("after %d kills %s is lost, which was acknowledged", kill+2, token)
			}
		}
		// Each kill may have cut off one acknowledgement.
		if len(left) > len(acknowledged)+kill+2 {
			t.Fatalf("after %d kills there are %d rows, of which %d were acknowledged", kill+2, len(left), len(acknowledged))
		}
	}
	if len(acknowledged) < kills {
		t.Errorf("%d rows in %d runs: the writers did not write", len(acknowledged), kills)
	}
	t.Logf("%d rows were acknowledged in %d runs", len(acknowledged), kills)
	if found := all(t, openFeedback(t, path, store.FeedbackOptions{})); len(found) < len(acknowledged) {
		t.Errorf("%d rows can be read, of %d", len(found), len(acknowledged))
	}
}

// tokens opens the file as the next process does, checks its integrity with SQLite
// and returns the tokens in it.
func tokens(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := store.OpenFeedback(path, store.FeedbackOptions{})
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found := ""
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
		t.Fatalf("the file is broken: %s, %v", found, err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT token FROM feedback")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	left := map[string]bool{}
	for rows.Next() {
		token := ""
		if err := rows.Scan(&token); err != nil {
			t.Fatal(err)
		}
		if left[token] {
			t.Errorf("%s is there twice", token)
		}
		left[token] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return left
}

// Where writes fail, nothing more is acknowledged, and what was stored stays.
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
	// With room again, writes succeed.
	if err := openFeedback(t, path, store.FeedbackOptions{}).Add(t.Context(), said("x")); err != nil {
		t.Error(err)
	}
}
