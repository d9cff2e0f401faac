package files_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/internal/files"
)

func TestReadsAllThatThereIs(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	in, feed := io.Pipe()
	go func() {
		for range 1000 {
			if _, err := io.WriteString(feed, "0123456789"); err != nil {
				t.Error(err)
			}
		}
		feed.Close()
	}()
	all, err := io.ReadAll(files.Interruptible(t.Context(), iotest.HalfReader(in)))
	if err != nil || len(all) != 10_000 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

func TestAReadThatWaitsEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	in, feed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := files.Interruptible(ctx, in).Read(make([]byte, 1))
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	feed.Close() // ends the goroutine that reads the pipe
}
