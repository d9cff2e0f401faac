package scan

import "strings"

// table reads the lines of a text and finds the heading of a column, where consecutive
// lines have the same number of separators. A heading is a cue for the cells below it:
// "lot" and "SSN" tell apart numbers that look the same.
type table struct {
	text       string
	start, end int // of the line that was looked at last, without its end of line
	separator  byte
	count      int // of the separator in each line
	head       string
}

// MaxRow is the limit of a line of a table in bytes, which bounds the time for each cell.
const MaxRow = 4096

const maxHeading = 40 // bytes

// Separators are the bytes that separate columns, with the number of them that makes a line
// a row. Commas need more, since sentences have commas, too.
var Separators = [...]struct {
	Byte byte
	rows int
}{{'\t', 1}, {'|', 2}, {';', 2}, {',', 2}}

// heading returns the heading of the cell at an offset, or "". From call to call, the
// offset may fall by at most a line.
func (t *table) heading(at int) string {
	for at > t.end {
		t.next()
	}
	if t.separator == 0 || at < t.start || t.head == "" {
		return ""
	}
	cell := t.head
	for range strings.Count(t.text[t.start:at], string(rune(t.separator))) {
		_, cell, _ = strings.Cut(cell, string(rune(t.separator)))
	}
	cell, _, _ = strings.Cut(cell, string(rune(t.separator)))
	if len(cell) > maxHeading || strings.ContainsAny(cell, ":=") {
		return ""
	}
	for i := range len(cell) {
		if Is(cell, i, Digit) && !Is(cell, i-1, Word) { // data, unlike "address2"
			return ""
		}
	}
	return cell
}

// next looks at the next line.
func (t *table) next() {
	if t.end >= 0 {
		t.start = t.end + 1
	}
	t.end = len(t.text)
	if i := strings.IndexByte(t.text[t.start:], '\n'); i >= 0 {
		t.end = t.start + i
	}
	line := t.text[t.start:t.end]
	if len(line) > MaxRow {
		t.separator, t.head = 0, ""
		return
	}
	if t.separator != 0 && strings.Count(line, string(rune(t.separator))) == t.count {
		return
	}
	t.separator, t.head = 0, ""
	for _, s := range Separators {
		if n := strings.Count(line, string(rune(s.Byte))); n >= s.rows {
			t.separator, t.count, t.head = s.Byte, n, line
			return
		}
	}
}
