package names

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// borders finds where the lines, columns and cells of a text end. What stands on both sides
// of a border is two names, even if the network reads one. A postal address is an
// exception: it goes on in the next line, unless a blank line or a row of a table ends
// there, or both lines are whole addresses.
//
// Borders are line breaks, tabs, two or more blanks in a row, vertical lines, semicolons
// and, in rows of a table, commas without a blank after them: "Berg, Anna" may be one name.
type borders struct {
	text       string
	start, end int  // of the line that was looked at last
	row        bool // whether that line is a row of a table
}

func newBorders(text string) *borders { return &borders{text: text, end: -1} }

// next returns the first border in the part from from to to; without a border, the end of
// the part.
func (b *borders) next(t toxscreen.EntityType, from, to int) (start, end int) {
	line := from // where the line begins in the part
	for at := from; at < to; {
		r, size := utf8.DecodeRuneInString(b.text[at:to])
		found := false
		end = at + size
		switch {
		case unicode.IsSpace(r):
			var blanks blankRun
			if blanks, end = blanksAt(b.text, at, to); blanks.lines > 0 {
				found = t != kind.Address || blanks.lines > 1 || b.inRow(at) || isAddressLine(b.text[line:at]) && isAddressLine(b.text[end:lineEnd(b.text, end)])
				line = end
			} else {
				found = blanks.tabs > 0 || blanks.blanks > 1
			}
		case strings.ContainsRune("|¦│┃║", r):
			found = true
		case r == ';':
			found = t != kind.Address || b.inRow(at)
		case r == ',':
			found = !blankFollows(b.text, at) && b.inRow(at)
		}
		if found {
			return at, end
		}
		at = end
	}
	return to, to
}

// isAddressLine tells whether a line is a whole address: it begins with a house number and
// goes on after a comma, as in "12 Elm Street, Leeds". Five digits are more likely a
// postcode.
func isAddressLine(line string) bool {
	digits := scan.Run(line, 0, scan.Digit)
	comma := strings.Index(line, ", ")
	return digits > 0 && digits < 5 && scan.Has(line, digits, ' ') && comma > digits
}

// blankRun counts the line breaks, tabs and blanks in a run of white space.
type blankRun struct{ lines, tabs, blanks int }

func blanksAt(text string, at, to int) (run blankRun, end int) {
	for at < to {
		r, size := utf8.DecodeRuneInString(text[at:to])
		switch {
		case r == '\r' && scan.Has(text, at+1, '\n'): // one line break with what follows
		case scan.IsLineBreak(r):
			run.lines++
		case r == '\t':
			run.tabs++
		case unicode.IsSpace(r):
			run.blanks++
		default:
			return run, at
		}
		at += size
	}
	return run, at
}

// blankFollows tells whether a blank or the end of the line follows the byte at an offset.
func blankFollows(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at+1:])
	return size == 0 || unicode.IsSpace(r)
}

// inRow tells whether a byte is in a row of a table: its line and a neighbouring one have
// the same number of separators. From call to call, offsets must not decrease.
func (b *borders) inRow(at int) bool {
	if at <= b.end {
		return b.row
	}
	b.start = strings.LastIndexAny(b.text[:at], "\n\r") + 1
	b.end = lineEnd(b.text, at)
	line := b.text[b.start:b.end]
	b.row = false
	if len(line) > scan.MaxRow {
		return false
	}
	before := strings.TrimRight(b.text[max(0, b.start-scan.MaxRow):b.start], "\r\n")
	before = before[strings.LastIndexAny(before, "\n\r")+1:]
	after := strings.TrimLeft(b.text[b.end:min(len(b.text), b.end+scan.MaxRow)], "\r\n")
	after = after[:lineEnd(after, 0)]
	for _, s := range scan.Separators {
		n := cells(line, s.Byte)
		b.row = b.row || n > 0 && (n == cells(before, s.Byte) || n == cells(after, s.Byte))
	}
	return b.row
}

// lineEnd returns the end of the line with the byte at an offset.
func lineEnd(text string, at int) int {
	if i := strings.IndexAny(text[at:], "\n\r"); i >= 0 {
		return at + i
	}
	return len(text)
}

// cells counts the separators in a line. Commas before a blank do not count.
func cells(line string, separator byte) int {
	n := 0
	for at := range len(line) {
		if line[at] == separator && !(separator == ',' && blankFollows(line, at)) {
			n++
		}
	}
	return n
}
