package disguise

import (
	"iter"
	"strings"
)

// Links returns where the links of a text begin and end, in order: addresses with a scheme
// (https://example.org/a), with www., or with a path behind a host in one of the usual
// generic domains (example.org/a). Punctuation that ends a sentence is no part of them.
func Links(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for l := range links(text) {
			if !yield(l.start, l.end) {
				return
			}
		}
	}
}

// link is a link in a text. Its host ends at host.
type link struct{ start, host, end int }

// maxHost is the longest host with a port that is looked for, in bytes (RFC 1035, section
// 2.3.4, has 253).
const maxHost = 260

func links(text string) iter.Seq[link] {
	return func(yield func(link) bool) {
		for at := 0; ; {
			next := strings.IndexByte(text[at:], '/')
			if next < 0 {
				return
			}
			slash := at + next
			l := link{start: slash}
			switch {
			case slash > 0 && text[slash-1] == ':' && strings.HasPrefix(text[slash:], "//"):
				for l.start--; l.start > at && slash-l.start < maxHost && isScheme(text[l.start-1]); {
					l.start--
				}
				l.end = linkEnd(text, slash+2)
				l.host = slash + 2 + len(beforePath(text[slash+2:l.end]))
				if l.start == slash-1 || l.host == slash+2 {
					l.end = 0
				}
			default:
				for l.start > at && slash-l.start < maxHost && isHost(text[l.start-1]) {
					l.start--
				}
				if isDomain(text[l.start:slash]) && (l.start == 0 || text[l.start-1] != '@') {
					l.host, l.end = slash, linkEnd(text, slash)
				}
			}
			at = slash + 1
			if l.end > at {
				if !yield(l) {
					return
				}
				at = l.end
			}
		}
	}
}

func isScheme(b byte) bool {
	return byteKinds[b]&(letter|digit) != 0 || b == '+' || b == '-' || b == '.'
}

func isHost(b byte) bool {
	return byteKinds[b]&(letter|digit|wide) != 0 || b == '-' || b == '.' || b == ':'
}

// isDomain reports whether text before a path is a host, perhaps with a port. Without www.
// only the generic domains are: a stop without a blank behind it often ends a sentence.
func isDomain(host string) bool {
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	name, top, _ := strings.Cut(host, ".")
	if name == "" || top == "" {
		return false
	}
	switch host[strings.LastIndexByte(host, '.')+1:] {
	case "com", "org", "net", "edu", "gov", "int", "mil", "info", "io":
		return true
	}
	return name == "www" && strings.Contains(top, ".")
}

// beforePath returns the part of a link, without its scheme, before the path, the query or
// the fragment.
func beforePath(rest string) string {
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// linkEnd returns the end of the link that an offset lies in.
func linkEnd(text string, at int) int {
	start, open := at, 0 // brackets that are open
	for at < len(text) && byteKinds[text[at]] != blank && strings.IndexByte("<>\"`{}|\\^", text[at]) < 0 {
		switch text[at] {
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
		at++
	}
	for ; at > start; at-- {
		switch last := text[at-1]; {
		case (last == ')' || last == ']') && open < 0:
			open++
		case strings.IndexByte(".,;:!?'*_~", last) < 0:
			return at
		}
	}
	return at
}
