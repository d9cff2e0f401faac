package encoder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/tokenize"
)

// window is a range of a text's tokens that the model sees in one run.
type window struct {
	start, end int // tokens that it sees, end exclusive
	from, to   int // tokens that it owns: each token belongs to one window
}

// divide covers n tokens with windows of at most size tokens. A window ends
// after a sentence if one ends in its second half. The next window begins with
// up to overlap of its last tokens, at the start of a sentence if there is one
// among them. Each window owns the half of the shared tokens for which it sees
// more context.
func divide(text string, offsets []tokenize.Offset, size, overlap int) []window {
	n := len(offsets)
	if n <= size {
		return []window{{start: 0, end: n, from: 0, to: n}}
	}
	overlap = min(overlap, size/2)
	var windows []window
	start := 0
	for {
		end := min(start+size, n)
		if end < n {
			end = lastBreak(text, offsets, start+size/2, end)
		}
		w := window{start: start, end: end, from: start, to: end}
		if len(windows) > 0 {
			previous := &windows[len(windows)-1]
			previous.to = start + (previous.end-start+1)/2
			w.from = previous.to
		}
		windows = append(windows, w)
		if end == n {
			return windows
		}
		start = firstBreak(text, offsets, end-overlap, end)
	}
}

// lastBreak returns the largest i in (low, high] such that a sentence ends
// before token i; high if there is none.
func lastBreak(text string, offsets []tokenize.Offset, low, high int) int {
	for i := high; i > low; i-- {
		if sentenceEndsBefore(text, offsets, i) {
			return i
		}
	}
	return high
}

// firstBreak returns the smallest i in [low, high) such that a sentence ends
// before token i; low if there is none.
func firstBreak(text string, offsets []tokenize.Offset, low, high int) int {
	for i := low; i < high; i++ {
		if sentenceEndsBefore(text, offsets, i) {
			return i
		}
	}
	return low
}

// sentenceEndsBefore reports whether a sentence ends between tokens i-1 and
// i: at a line break, after a CJK full stop, or after another stop and a space.
// An abbreviation also ends a sentence by this rule. That only moves the end of
// a window. Blanks that token i begins with, as SentencePiece's do, are before it.
func sentenceEndsBefore(text string, offsets []tokenize.Offset, i int) bool {
	before, after, end := int(offsets[i-1].End), int(offsets[i].Start), int(offsets[i].End)
	if after < before {
		return false
	}
	if after < end {
		after = end - len(strings.TrimLeftFunc(text[after:end], unicode.IsSpace))
	}
	gap := text[before:after]
	if strings.ContainsAny(gap, "\n\u2028\u2029") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:before])
	switch last {
	case '。', '！', '？':
		return true
	case '.', '!', '?', '…':
		return gap != ""
	}
	return false
}
