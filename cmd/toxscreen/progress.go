package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/toxscreen/toxscreen/rows"
)

// progress shows the progress of a batch on a terminal. The bar counts bytes or
// rows of the input; the rate is in rows per second since this run began.
type progress struct {
	w       io.Writer
	bar     *progressbar.ProgressBar // nil until the batch begins
	skipped int64                    // of the input, in the bar's unit
	shown   time.Time
}

// at shows the current progress; the first call starts the bar.
func (p *progress) at(now rows.Progress) {
	if p.bar == nil {
		p.begin(now)
		return
	}
	if time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	p.bar.Describe(fmt.Sprintf("%d rows, %.0f per second", now.Rows, rate(now.Summary)))
	_ = p.bar.Set64(now.At - p.skipped) // a failure to draw must not stop the run
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

// rate returns the rows per second of this run.
func rate(s rows.Summary) float64 {
	return float64(s.Rows-s.Before) / max(s.Duration.Seconds(), 1e-3)
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
