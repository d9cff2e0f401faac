// Package terminal shows results and progress to people. Untrusted texts are made safe
// for a terminal:
//
//	fmt.Println(terminal.Escape("\x1b]0;title\x07")) // \x1b]0;title\x07
package terminal

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// Ends returns a text unchanged, or the two ends of a text that is longer than limit
// bytes. Each end has about a third of the limit.
func Ends(text string, limit int) (head, tail string) {
	if len(text) <= limit {
		return text, ""
	}
	from, to := limit/3, len(text)-limit/3
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[:from], text[to:]
}

// Escape escapes all characters of a text that could control a terminal or reorder
// what it shows. Line breaks stay, and so do the joiners that emoji and some scripts
// use.
func Escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case c == '\n' || c == '\u200c' || c == '\u200d':
			b.WriteRune(c)
		case c == '\t':
			b.WriteString("    ")
		case c < 0x100 && unicode.IsControl(c):
			fmt.Fprintf(&b, `\x%02x`, c)
		case unicode.In(c, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			if c > 0xFFFF {
				fmt.Fprintf(&b, `\U%08x`, c)
			} else {
				fmt.Fprintf(&b, `\u%04x`, c)
			}
		default:
			b.WriteRune(c)
		}
		i += size
	}
	return b.String()
}

// Table returns rows as lines with aligned columns.
func Table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Escape(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // to memory
	return b.String()
}
