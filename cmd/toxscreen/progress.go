package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/toxscreen/toxscreen/rows"
)

// progress shows how far a batch is on a terminal. The bar is that of the
// input's bytes or rows; the rate is counted in rows since this run began.
type progress struct {
	w       io.Writer
	bar     *progressbar.ProgressBar // nil until the batch begins
	skipped int64                    // of the input, in the bar's unit
	shown   time.Time
}

// at shows that a batch is so far; the first call is the beginning.
func (p *progress) at(now rows.Progress) {
	if p.bar == nil {
		p.begin(now)
		return
	}
	if time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	p.bar.Describe(fmt.Sprintf("%d rows, %.0f a second", now.Rows, rate(now.Summary)))
	_ = p.bar.Set64(now.At - p.skipped) // what cannot be shown is no reason to stop
}

func (p *progress) begin(now rows.Progress) {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.w),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionUseANSICodes(os.Getenv("TERM") != "dumb"),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "·", BarStart: " ", BarEnd: " "}),
	}
	length := now.Length - now.At
	if now.Length <= 0 {
		length = -1
	}
	p.skipped = now.At
	p.bar = progressbar.NewOptions64(max(length, -1), options...)
}

// rate returns the rows a second of this run.
func rate(s rows.Summary) float64 {
	return float64(s.Rows-s.Before) / max(s.Duration.Seconds(), 1e-3)
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
