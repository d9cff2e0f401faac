package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/toxscreen/toxscreen/internal/plural"
)

// State is how far a run is.
type State struct {
	Rows   int64 // done, also by earlier runs
	Before int64 // of Rows, those of earlier runs
	// At is the position up to which the input is done, and Length its end, in bytes of the
	// input or of its texts. Length is 0 if unknown.
	At, Length int64
	Duration   time.Duration // of this run
}

// Progress shows the progress of a run on a terminal. The bar counts bytes of the
// input or of its texts; the rate is in rows per second since this run began. A text
// can take minutes, so the remaining time is also counted down between two rows, and
// not shown when it is over.
type Progress struct {
	W     io.Writer
	Waits func() bool // whether rows wait for a judge that fails; nil: no judge is asked

	lock    sync.Mutex
	bar     *progressbar.ProgressBar // nil until the batch begins
	skipped int64                    // of the input, in the bar's unit
	latest  State
	came    time.Time // when the latest came
	shown   time.Time
	ended   chan struct{}
}

// At shows the current progress; the first call starts the bar.
func (p *Progress) At(now State) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.latest, p.came = now, time.Now()
	if p.bar == nil {
		p.begin(now)
		go p.tick()
		return
	}
	if time.Since(p.shown) >= 100*time.Millisecond {
		p.show()
	}
}

// tick shows the progress each second, also during a long text.
func (p *Progress) tick() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			p.lock.Lock()
			if p.bar != nil {
				p.show()
			}
			p.lock.Unlock()
		case <-p.ended:
			return
		}
	}
}

func (p *Progress) show() {
	p.shown = time.Now()
	line := fmt.Sprintf("%s, %s per second", plural.Count(p.latest.Rows, "row", "rows"), p.latest.Rate())
	if left := remaining(p.latest, p.skipped) - time.Since(p.came); left > 0 {
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if p.Waits != nil && p.Waits() {
		line += ", waiting for the judge, which does not answer"
	}
	_ = p.bar.Set64(p.latest.At - p.skipped) // a failure to draw must not stop the run
	p.bar.Describe(line)
}

// remaining estimates the time that the rest of the input takes, from the mean time
// of a byte since this run began: rows can have a word or a book. It is 0 if it is
// unknown, as before the first row is done.
func remaining(now State, skipped int64) time.Duration {
	done := now.At - skipped
	if now.Length <= 0 || done <= 0 {
		return 0
	}
	return time.Duration(float64(now.Duration) * float64(now.Length-now.At) / float64(done))
}

func (p *Progress) begin(now State) {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.W),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(os.Getenv("TERM") != "dumb"),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), // it takes the mean of rates, which a long text does not change
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "·", BarStart: " ", BarEnd: " "}),
	}
	length := now.Length - now.At
	if now.Length <= 0 {
		length = -1
	}
	p.skipped, p.ended = now.At, make(chan struct{})
	p.bar = progressbar.NewOptions64(max(length, -1), options...)
}

// Rate returns the rows per second of this run.
func (s State) Rate() string {
	perSecond := float64(s.Rows-s.Before) / max(s.Duration.Seconds(), 1e-3)
	if perSecond >= 10 {
		return fmt.Sprintf("%.0f", perSecond)
	}
	return fmt.Sprintf("%.2g", perSecond)
}

// Aside writes something that is not the bar, and not in the middle of it.
func (p *Progress) Aside(write func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	write()
}

// End removes the bar.
func (p *Progress) End() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.bar != nil {
		close(p.ended)
		_ = p.bar.Clear()
		p.bar = nil
	}
}
