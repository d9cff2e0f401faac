package terminal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// done is the progress of a run after some time.
func done(at, length int64, rowsDone int64, after time.Duration) State {
	return State{Rows: rowsDone, Duration: after, At: at, Length: length}
}

// The remaining time follows the bytes and not the rows, and counts what this run has
// done: an earlier run says nothing about the speed of this one.
func TestRemainingTime(t *testing.T) {
	for name, c := range map[string]struct {
		now     State
		skipped int64
		want    time.Duration
	}{
		"before the first row":  {now: done(0, 1000, 0, time.Second)},
		"an unknown length":     {now: done(500, 0, 5, time.Second)},
		"one row of many bytes": {now: done(900, 1000, 1, 90*time.Second), want: 10 * time.Second},
		"many rows of one byte": {now: done(100, 1000, 100, 10*time.Second), want: 90 * time.Second},
		"a resumed run":         {now: done(500, 1000, 50, 10*time.Second), skipped: 400, want: 50 * time.Second},
		"the end":               {now: done(1000, 1000, 9, time.Minute)},
	} {
		if got := remaining(c.now, c.skipped); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// During a long text, no row is done for minutes: the remaining time is counted down.
func TestProgressDuringALongText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		waits := false
		p := Progress{W: &screen, Waits: func() bool { return waits }}
		shows := func(want string) {
			t.Helper()
			synctest.Wait()
			p.lock.Lock()
			defer p.lock.Unlock()
			lines := strings.Split(screen.String(), "\r")
			if last := lines[len(lines)-1]; !strings.Contains(last, want) {
				t.Errorf("%q, want %q", last, want)
			}
		}
		p.At(done(0, 1000, 0, 0))
		time.Sleep(10*time.Second + time.Second/4)
		shows("0 rows, 0 per second")
		p.At(done(100, 1000, 2, 10*time.Second))
		shows("2 rows, 0.2 per second, about 1m30s left  10%")
		time.Sleep(30 * time.Second)
		shows("2 rows, 0.2 per second, about 1m0s left  10%") // by the tick before
		time.Sleep(time.Second / 4)
		p.At(done(950, 1000, 3, 40*time.Second))
		shows("3 rows, 0.075 per second, about 2s left  95%")
		time.Sleep(time.Minute)
		shows("3 rows, 0.075 per second  95%")
		p.lock.Lock()
		waits = true
		p.lock.Unlock()
		time.Sleep(time.Second)
		shows("3 rows, 0.075 per second, waiting for the judge, which does not answer  95%")
		p.End()
	})
}
