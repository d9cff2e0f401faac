package pii

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

const (
	maxLocal  = 64  // bytes before the @ of an address (RFC 5321, section 4.5.3.1.1)
	maxDomain = 253 // bytes of a domain name (RFC 1035, section 2.3.4)
)

// email finds the e-mail address around an @.
func (s *scanner) email(at int) {
	start := at
	for start > 0 && at-start < maxLocal && isLocal(s.text[start-1]) {
		start--
	}
	for start < at && (!utf8.RuneStart(s.text[start]) || strings.IndexByte(".-'+%", s.text[start]) >= 0) {
		start++
	}
	if start == at || s.text[at-1] == '.' {
		return
	}
	end, last := s.host(at + 1)
	if last < 0 || end-at > maxDomain || has(s.text, end, '@') {
		return
	}
	tld := s.text[last:end]
	score := 0.95
	switch {
	case isReserved(tld):
	case is(tld, 0, digitClass) || len(tld) < 2:
		return
	case isPublic(s.text[at+1 : end]):
	case fileEndings[strings.ToLower(tld)]: // logo@2x.png
		return
	default:
		score = 0.5
	}
	if s.text[start:at] == "git" && (has(s.text, end, ':') || has(s.text, end, '/')) { // git@host:path is everybody's
		return
	}
	s.add(EmailAddress, start, end, score, "pattern")
	s.domainEnd = max(s.domainEnd, end)
}

func isLocal(b byte) bool { return classes[b]&wordClass != 0 || strings.IndexByte("._%+-'", b) >= 0 }

// host returns the end of the domain name that begins at an offset, and where its last
// label begins, or -1 if there is only one.
func (s *scanner) host(at int) (end, last int) {
	last = -1
	label := at
	for {
		end = label
		for end < len(s.text) && (classes[s.text[end]]&wordClass != 0 || s.text[end] == '-' && (is(s.text, end+1, wordClass) || has(s.text, end+1, '-'))) {
			end++
		}
		if end == label {
			return max(at, label-1), last
		}
		if label > at {
			last = label
		}
		if !has(s.text, end, '.') || !is(s.text, end+1, wordClass) {
			return end, last
		}
		label = end + 1
	}
}

// isReserved tells whether a top-level domain is reserved for tests and documentation (RFC
// 2606). Addresses there are masked like others: people put real ones beside them.
func isReserved(tld string) bool {
	switch strings.ToLower(tld) {
	case "test", "example", "invalid", "local", "internal", "lan":
		return true
	}
	return false
}

// isPublic tells whether a domain ends in a public suffix of the ICANN section, by the list
// that golang.org/x/net carries.
func isPublic(domain string) bool {
	domain = strings.ToLower(domain)
	suffix, icann := publicsuffix.PublicSuffix(domain)
	return icann || strings.Contains(suffix, ".")
}

// fileEndings are endings of file names that are, or might become, top-level domains.
var fileEndings = set("png jpg jpeg gif svg webp pdf zip mov md py rs sh pl ps so js ts go cc css html htm json yaml yml txt csv xml log lock toml java class jar rb php exe dll tar gz")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// bareDomains are the top-level domains of names that are found without scheme, www. or
// path. Those that are words or file endings as well (it, in, name, md) are left out, since
// a stop without a blank after it and a field in code would look like them.
var bareDomains = set("com org net edu gov mil info biz io ai co app dev xyz online site shop tech store cloud blog uk de fr nl eu ch se dk fi es ie ca au nz jp cn br mx ru ua tr za kr tw sg hk il ar cl gr cz hu ro test example")

// url finds an address with a scheme, the word from start to end.
func (s *scanner) url(start, end int) {
	if start < s.urlEnd || !s.urlBegins(start) {
		return
	}
	score := 0.5
	switch strings.ToLower(s.text[start:end]) {
	case "http", "https", "ftp", "ftps", "sftp", "ws", "wss":
		score = 0.85
	case "file", "data", "javascript":
		return
	}
	host := end + len("://")
	to := s.urlTail(host)
	if to == host {
		return
	}
	s.urlEnd = to
	name := s.text[host:to]
	if i := strings.IndexAny(name, "/?#"); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	switch {
	case err == nil && (addr.IsLoopback() || addr.IsUnspecified()), name == "localhost": // on every machine
		return
	case err != nil && !strings.Contains(name, "."):
		score = 0.3
	}
	s.found = append(s.found, pattern(URL, start, to, score, "pattern"))
}

func (s *scanner) urlBegins(start int) bool {
	return start == 0 || strings.IndexByte("@._-/\\$", s.text[start-1]) < 0
}

// urlTail returns where an address ends: before a blank, a quotation mark or a bracket that
// it did not open, and before the punctuation of the sentence around it.
func (s *scanner) urlTail(at int) int {
	end := at
	open := 0
	for end < len(s.text) {
		b := s.text[end]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s.text[end:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				break
			}
			end += size
			continue
		}
		if b <= ' ' || b == 0x7F || strings.IndexByte("<>\"`{}|\\^", b) >= 0 || b == ')' && open == 0 {
			break
		}
		switch b {
		case '(':
			open++
		case ')':
			open--
		}
		end++
	}
	for end > at && strings.IndexByte(".,;:!?'*_(]", s.text[end-1]) >= 0 && !(s.text[end-1] == ']' && strings.Contains(s.text[max(at, end-60):end-1], "[")) {
		end--
	}
	return end
}

// domain finds an address without scheme.
func (s *scanner) domain(start int) {
	if start < s.urlEnd || start < s.domainEnd || !s.urlBegins(start) {
		return
	}
	end, last := s.host(start)
	s.domainEnd = end
	if last < 0 || end-start > maxDomain || end < len(s.text) && strings.IndexByte("@(_$", s.text[end]) >= 0 {
		return
	}
	to := end
	if has(s.text, end, ':') && is(s.text, end+1, digitClass) {
		to = run(s.text, end+1, digitClass)
	}
	path := has(s.text, to, '/') && (is(s.text, to+1, wordClass) || has(s.text, to+1, '~'))
	if has(s.text, to, '/') || has(s.text, to, '?') && is(s.text, to+1, wordClass) {
		to = s.urlTail(to)
	}
	if score := domainScore(s.text[start:end], s.text[last:end], path); score > 0 {
		s.urlEnd = to
		s.add(URL, start, to, score, "pattern")
	}
}

// domainScore scores the name of a host without scheme, 0 if it is none. path tells whether
// a path follows.
func domainScore(host, tld string, path bool) float64 {
	small := strings.ToLower(tld)
	first := host[:len(host)-len(tld)-1]
	switch {
	case tld != small && tld != strings.ToUpper(tld), is(tld, 0, digitClass): // the end of a sentence, a version
		return 0
	case len(host) > 4 && strings.EqualFold(host[:4], "www.") && strings.Contains(first, ".") && (isPublic(host) || isReserved(small)):
		return 0.8
	case bareDomains[small] && len(first) > 1 && (path || tld == small):
		return 0.5
	case bareDomains[small]: // ASP.NET
		return 0.3
	case !isPublic(host):
		return 0
	case path:
		return 0.5
	case fileEndings[small]:
		return 0
	}
	return 0.1 // a cue, such as "website", makes it one
}

// ipv4 finds an address of four decimal bytes.
func (s *scanner) ipv4(start int) {
	at := start
	small := true
	for i := range 4 {
		if i > 0 {
			if !has(s.text, at, '.') {
				return
			}
			at++
		}
		end := run(s.text, at, digitClass)
		if end == at || end-at > 3 {
			return
		}
		small = small && end-at == 1
		at = end
	}
	addr, err := netip.ParseAddr(s.text[start:at])
	if err != nil || is(s.text, at, wordClass) || has(s.text, at, '.') && is(s.text, at+1, digitClass) || has(s.text, at, '-') && is(s.text, at+1, wordClass) ||
		!s.addressBegins(start) || isNobodys(addr) {
		return
	}
	s.addressEnd = at
	if s.opposed(IPAddress, start) {
		return
	}
	score := 0.8
	if small || strings.HasSuffix(s.text[start:at], ".0") {
		score = 0.3 // 1.2.3.4 is as likely a version or a section, 10.20.0.0 a version or a network
	}
	s.add(IPAddress, start, at, score, "pattern")
}

// addressBegins tells whether what begins at an offset is not a part of a longer number or
// name.
func (s *scanner) addressBegins(start int) bool {
	return start == 0 || strings.IndexByte(".-/:_@+", s.text[start-1]) < 0 || !is(s.text, start-2, wordClass)
}

// isNobodys tells whether an address says nothing about anybody: loopback, unspecified,
// broadcast and masks.
func isNobodys(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.Is4() && a.As4()[0] == 255
}

// ipv6 finds an address with colons that begins at an offset.
func (s *scanner) ipv6(start int) {
	if start < s.addressEnd {
		return
	}
	end, colons := start, 0
	digits := false
	for end < len(s.text) {
		if b := s.text[end]; b == ':' {
			colons++
		} else if !isHexDigit(b) && b != '.' {
			break
		}
		digits = digits || is(s.text, end, digitClass)
		end++
	}
	s.addressEnd = end
	if colons < 2 || !digits || end-start > 47 || is(s.text, end, wordClass) || is(s.text, start-1, wordClass) || !s.addressBegins(start) {
		return
	}
	for end > start && (s.text[end-1] == '.' || s.text[end-1] == ':' && !has(s.text, end-2, ':')) {
		end--
	}
	addr, err := netip.ParseAddr(s.text[start:end])
	if err != nil || isNobodys(addr.Unmap()) {
		return
	}
	groups := 0
	for group := range strings.SplitSeq(s.text[start:end], ":") {
		if group != "" {
			groups++
		}
	}
	if first, _, _ := strings.Cut(s.text[start:end], ":"); groups < 3 && len(first) < 3 && !addr.Is4In6() { // a::1 is as likely a name in code
		return
	}
	s.add(IPAddress, start, end, 0.8, "pattern")
}

// mac finds a hardware address: six bytes with colons or dashes, or three groups with dots.
func (s *scanner) mac(start int) {
	for _, form := range [...]struct {
		separator     byte
		groups, bytes int
	}{{':', 6, 2}, {'-', 6, 2}, {'.', 3, 4}} {
		if !has(s.text, start+form.bytes, form.separator) {
			continue
		}
		at, letters, ones, zeros := start, 0, 0, 0
		for i := range form.groups {
			if i > 0 {
				if !has(s.text, at, form.separator) {
					return
				}
				at++
			}
			for range form.bytes {
				switch {
				case at >= len(s.text):
					return
				case !isHexDigit(s.text[at]):
					return
				case !is(s.text, at, digitClass):
					letters++
				}
				switch s.text[at] {
				case '0':
					zeros++
				case 'f', 'F':
					ones++
				}
				at++
			}
		}
		if is(s.text, at, wordClass) || has(s.text, at, form.separator) && is(s.text, at+1, wordClass) || !s.addressBegins(start) || zeros == 12 || ones == 12 {
			return
		}
		score := 0.8
		if letters == 0 && form.separator != ':' {
			score = 0.2
		}
		s.add(MACAddress, start, at, score, "pattern")
		return
	}
}

// uuid passes over an identifier like 123e4567-e89b-12d3-a456-426614174000, which holds
// groups that look like other things.
func (s *scanner) uuid(start, end int) bool {
	const length = 36
	if end-start != 8 || !has(s.text, end, '-') || start+length > len(s.text) || is(s.text, start+length, wordClass) {
		return false
	}
	for i := range length {
		b := s.text[start+i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if b != '-' {
				return false
			}
		} else if !isHexDigit(b) {
			return false
		}
	}
	s.wordEnd = start + length
	return true
}
