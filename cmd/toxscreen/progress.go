package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far a batch is on a terminal. The bar is that of the
// input's bytes or rows; the rate is counted in rows since this run began.
type progress struct {
	bar     *progressbar.ProgressBar // nil where nothing is shown
	began   time.Time
	before  int64 // rows of earlier runs
	skipped int64 // of the input, in the bar's unit
	shown   time.Time
}

func newProgress(w io.Writer, show bool, length, skipped, before int64) *progress {
	p := &progress{began: time.Now(), before: before, skipped: skipped}
	if !show {
		return p
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionUseANSICodes(os.Getenv("TERM") != "dumb"),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "·", BarStart: " ", BarEnd: " "}),
	}
	if length <= 0 {
		length = -1
	} else {
		length -= skipped
	}
	p.bar = progressbar.NewOptions64(max(length, -1), options...)
	return p
}

// at tells that the rows up to a place in the input are done.
func (p *progress) at(upTo int64, done tally) {
	if p.bar == nil || time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	p.bar.Describe(fmt.Sprintf("%d rows, %.0f a second", done.rows, p.rate(done)))
	_ = p.bar.Set64(upTo - p.skipped) // what cannot be shown is no reason to stop
}

// rate returns the rows a second of this run.
func (p *progress) rate(done tally) float64 {
	return float64(done.rows-p.before) / max(time.Since(p.began).Seconds(), 1e-3)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
