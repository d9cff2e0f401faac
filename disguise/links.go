package disguise

import (
	"iter"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// The longest scheme, and the longest host with a user and a port, that are looked for, in
// bytes. A host has 253 at most (RFC 1035, section 2.3.4).
const (
	maxScheme = 32
	maxHost   = 320
)

// links returns the links of a text in order, see [Reading.CutLinks].
func links(text string) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		next := func(part string, from int) int {
			if i := strings.Index(text[from:], part); i >= 0 {
				return from + i
			}
			return len(text)
		}
		slash, www := next("/", 0), next("www.", 0)
		for at := 0; at < len(text); {
			if slash < at {
				slash = next("/", at)
			}
			if www < at {
				www = next("www.", at)
			}
			sign := min(slash, www)
			if sign == len(text) {
				return
			}
			link := linkAround(text, at, sign)
			if at = sign + 1; link.end > sign {
				if !yield(link) {
					return
				}
				at = link.end
			}
		}
	}
}

// linkAround returns the link with the slash or the www. at an offset, which begins at byte
// from or later. It is empty if there is none.
func linkAround(text string, from, sign int) (link stretch) {
	start, host, isLink := sign, sign, isDomain
	switch {
	case text[sign] == 'w':
		if sign > 0 && (isHost(text[sign-1]) || text[sign-1] == '@') {
			return link
		}
	case sign > from && text[sign-1] == ':' && strings.HasPrefix(text[sign:], "//"):
		for start--; start > from && sign-start <= maxScheme && isScheme(text[start-1]); {
			start--
		}
		if scheme := sign - 1 - start; scheme == 0 || scheme == maxScheme {
			return link
		}
		host, isLink = sign+2, isServer
	default:
		for start > from && sign-start < maxHost && isHost(text[start-1]) {
			start--
		}
		if start > 0 && (text[start-1] == '@' || text[start-1] == '/') {
			return link
		}
		host, isLink = start, isGeneric
	}
	end := host
	for end < len(text) && end-host < maxHost && (isHost(text[end]) || strings.IndexByte("@[]", text[end]) >= 0) {
		end++
	}
	if end-host == maxHost || !isLink(strings.ToLower(strings.TrimRight(text[host:end], ends))) {
		return link
	}
	return stretch{start, linkEnd(text, host)}
}

// ends are characters that a link does not end with: they belong to the sentence around it.
const ends = ".,;:!?'*_~)]"

func isInLink(b byte) bool {
	return byteKinds[b] != blank && strings.IndexByte("<>\"`{}|\\^", b) < 0
}

func isScheme(b byte) bool {
	return byteKinds[b]&(letter|digit) != 0 || b == '+' || b == '-' || b == '.'
}

func isHost(b byte) bool {
	return byteKinds[b]&(letter|digit|wide) != 0 || b == '-' || b == '.' || b == ':'
}

// isServer reports whether a name behind a scheme, perhaps with a user and a port, is one
// that a server can have.
func isServer(name string) bool {
	name = name[strings.LastIndexByte(name, '@')+1:]
	if _, err := netip.ParseAddrPort(name); err == nil {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	host, _, _ := strings.Cut(name, ":")
	return host == "localhost" || isDomain(name)
}

// isDomain reports whether a name, perhaps with a port, is under a public suffix by the list
// that golang.org/x/net carries, or under a domain that is reserved for private use, tests and
// documentation (RFC 2606 and 6762).
func isDomain(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "example", "test", "local", "internal":
		return strings.Contains(name, ".")
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	return name != suffix && (icann || strings.Contains(suffix, "."))
}

// isGeneric reports whether a name, perhaps with a port, is under a generic domain. Other
// top-level domains may be words: a stop before them often ends a sentence whose author left
// out the blank.
func isGeneric(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "com", "org", "net", "edu", "gov", "int", "mil", "info", "io":
		return isDomain(name)
	}
	return strings.HasPrefix(name, "www.") && isDomain(name)
}

// linkEnd returns the end of the link that an offset lies in.
func linkEnd(text string, at int) int {
	start, open := at, 0 // brackets that are open
	for at < len(text) && isInLink(text[at]) {
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
		case last == ')' || last == ']' || strings.IndexByte(ends, last) < 0:
			return at
		}
	}
	return at
}
