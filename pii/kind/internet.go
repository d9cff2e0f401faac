package kind

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Types of addresses that lead to a person on the internet.
const (
	EmailAddress toxscreen.EntityType = "EMAIL_ADDRESS"
	URL          toxscreen.EntityType = "URL"
	IPAddress    toxscreen.EntityType = "IP_ADDRESS"
	MACAddress   toxscreen.EntityType = "MAC_ADDRESS"
)

var mails = []scan.Kind{
	{
		Type: EmailAddress, Description: "an e-mail address, also of a domain that is reserved for tests",
		HIPAA: "F", Container: true,
		Cues: []string{"email", "mail"},
		Patterns: []scan.Pattern{
			{Bytes: "@", Find: email},
		},
		Examples: []string{
			"Write to «john.doe@example.com».", "«O'Brien@mail.b.co.uk», please", "<«a+b@sub.domain.test»>", "“«x_y@z-a.de»…”", "mailto:«jo@example.org»?subject=x", "«jörg@münchen.de»",
		},
		Counterexamples: []string{
			"user@localhost", "git@github.com:a/b.git", "logo@2x.png", "a @ b.com", "@example.com", "npm i pkg@1.2.3", "x@.com", "@app.route",
		},
	},
}

var internet = []scan.Kind{
	{
		Type: URL, Description: "a web address: with scheme, with www., or a domain under a public suffix",
		HIPAA: "N", Container: true,
		Cues: []string{"website", "url", "site", "link", "domain", "webpage", "homepage"},
		Patterns: []scan.Pattern{
			{At: scan.Letters | scan.Digits | scan.Mixed | scan.Foreign, Next: ":", Find: url},
			{At: scan.Letters | scan.Digits | scan.Mixed | scan.Foreign, Next: ".-", Find: bareDomain},
		},
		Examples: []string{
			"See «https://example.com/a(b)c?d=e#f».", "(«https://example.com/ä»)!", "[x](«https://example.com/y»)", "«http://[2001:db8::1]:8080/x»", "«example.com:8080/x?y»", "(«http://Example.co.nz/»)", "«www.example.org», then", "on «example.com»", "«example.com/path», «shop.example.fi/x», «example.pl/x»",
			"«ftp://files.example.net:21/pub»", "website: «orf.at»",
		},
		Counterexamples: []string{
			"main.go readme.md foo.py lib.rs run.sh run.pl model.pt", "i.e. e.g. U.S. a.m.", "the end.It began", "obj.name user.id list.map", "logger.info(x)", "http://localhost:8080/",
			"http://127.0.0.1/", "file:///etc/hosts", "well-known up-to-date", "orf.at", "ASP.NET, Node.js",
		},
	},
	{
		Type: IPAddress, Description: "an IP address, version 4 or 6, that is neither loopback nor unspecified",
		HIPAA: "O",
		Cues: []string{
			"ip", "ipv4", "ipv6", "address", "host", "server", "dns", "ping", "client", "remote", "router", "gateway", "subnet", "nameserver",
		},
		Patterns: []scan.Pattern{
			{At: scan.Digits, Next: ".", Most: 3, Find: ipv4},
			{At: scan.Digits, Next: ":", Most: 4, Find: ipv6},
			{At: scan.Letters | scan.Mixed, Next: ":", Bytes: ":", Find: ipv6},
		},
		Examples: []string{
			"from «192.168.1.20»:443", "«203.0.113.7»/24", "«2001:db8::8a2e:370:7334»", "[«fe80::1»]", "ping «8.8.8.8»", "«::ffff:203.0.113.7»", "4f8a:c99e is no address, «4f8a:c99e:dc86:faf9:5988:5f63:375e:8a2a» is",
		},
		Counterexamples: []string{
			"127.0.0.1 0.0.0.0 ::1 255.255.255.0", "version 10.20.30.40", "v10.20.30.40", "firmware: 9.25.1.191", "section 1.2.3.4", "300.1.1.1", "1.2.3.4.5", "Chrome/120.0.10.20", "Context 14.100.0.0", "std::vector a::b",
		},
	},
	{
		Type: MACAddress, Description: "the hardware address of a network device",
		HIPAA: "M",
		Cues:  []string{"mac", "ethernet", "hwaddr", "bssid", "bluetooth"},
		Patterns: []scan.Pattern{
			{At: scan.Letters | scan.Digits | scan.Mixed, Next: ":-", Least: 2, Most: 2, Find: mac},
			{At: scan.Letters | scan.Digits | scan.Mixed, Next: ".", Least: 4, Most: 4, Find: mac},
		},
		Examples: []string{
			"«aa:bb:cc:dd:ee:ff»", "«AA-BB-CC-11-22-33»", "«00:1A:2B:3C:4D:5E»", "«00-1a-2b-3c-4d-5e»", "«001a.2b3c.4d5e»",
		},
		Counterexamples: []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "00:1A:2B:3C:4D:5E:6F"},
	},
}

const (
	maxLocal  = 64  // bytes before the @ of an address (RFC 5321, section 4.5.3.1.1)
	maxDomain = 253 // bytes of a domain name (RFC 1035, section 2.3.4)
)

// email finds the e-mail address around an @.
func email(s *scan.Scanner, at, _ int) {
	start := at
	for start > 0 && at-start < maxLocal && isLocal(s.Text[start-1]) {
		start--
	}
	for start < at && (!utf8.RuneStart(s.Text[start]) || strings.IndexByte(".-'+%", s.Text[start]) >= 0) {
		start++
	}
	if start == at || s.Text[at-1] == '.' {
		return
	}
	end, last := host(s, at+1)
	if last < 0 || end-at > maxDomain || s.Has(end, '@') {
		return
	}
	tld := s.Text[last:end]
	score := 0.95
	switch {
	case isReserved(tld):
	case scan.Is(tld, 0, scan.Digit) || len(tld) < 2:
		return
	case isPublic(s.Text[at+1 : end]):
	case FileEndings[strings.ToLower(tld)]: // logo@2x.png
		return
	default:
		score = 0.5
	}
	if s.Text[start:at] == "git" && (s.Has(end, ':') || s.Has(end, '/')) { // git@host:path is everybody's
		return
	}
	s.Add(EmailAddress, start, end, score, "pattern")
	s.Memory[domainEnd] = max(s.Memory[domainEnd], end)
}

func isLocal(b byte) bool { return scan.Class(b)&scan.Word != 0 || strings.IndexByte("._%+-'", b) >= 0 }

// host returns the end of the domain name that begins at an offset, and the beginning of
// its last label: -1 if the name has only one.
func host(s *scan.Scanner, at int) (end, last int) {
	last = -1
	label := at
	for {
		end = label
		for end < len(s.Text) && (scan.Class(s.Text[end])&scan.Word != 0 || s.Text[end] == '-' && (s.Is(end+1, scan.Word) || s.Has(end+1, '-'))) {
			end++
		}
		if end == label {
			return max(at, label-1), last
		}
		if label > at {
			last = label
		}
		if !s.Has(end, '.') || !s.Is(end+1, scan.Word) {
			return end, last
		}
		label = end + 1
	}
}

// isReserved tells whether a top-level domain is reserved for tests and documentation (RFC
// 2606). Addresses there are masked, too: people use them beside real ones.
func isReserved(tld string) bool {
	switch strings.ToLower(tld) {
	case "test", "example", "invalid", "local", "internal", "lan":
		return true
	}
	return false
}

// isPublic tells whether a domain ends in a public suffix of the ICANN section of the list
// in golang.org/x/net/publicsuffix.
func isPublic(domain string) bool {
	domain = strings.ToLower(domain)
	suffix, icann := publicsuffix.PublicSuffix(domain)
	return icann || strings.Contains(suffix, ".")
}

// FileEndings are endings of file names that are top-level domains, or may become one.
var FileEndings = scan.Words("png jpg jpeg gif svg webp pdf zip mov md py rs sh pl ps so js ts go cc css html htm json yaml yml txt csv xml log lock toml java class jar rb php exe dll tar gz")

// bareDomains are the top-level domains of names that are found without a scheme, www. or a
// path. Domains that are also words or file endings (it, in, name, md) are missing: a stop
// without a blank after it, or a field in code, would look like them.
var bareDomains = scan.Words("com org net edu gov mil info biz io ai co app dev xyz online site shop tech store cloud blog uk de fr nl eu ch se dk fi es ie ca au nz jp cn br mx ru ua tr za kr tw sg hk il ar cl gr cz hu ro test example")

// url finds the address whose scheme is the word from start to end.
func url(s *scan.Scanner, start, end int) {
	if !strings.HasPrefix(s.Text[end:], "://") || start < s.Memory[urlEnd] || !urlBegins(s, start) {
		return
	}
	score := 0.5
	switch strings.ToLower(s.Text[start:end]) {
	case "http", "https", "ftp", "ftps", "sftp", "ws", "wss":
		score = 0.85
	case "file", "data", "javascript":
		return
	}
	host := end + len("://")
	to := urlTail(s, host)
	if to == host {
		return
	}
	s.Memory[urlEnd] = to
	name := s.Text[host:to]
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
	s.AddAlone(URL, start, to, score, "pattern")
}

func urlBegins(s *scan.Scanner, start int) bool {
	return start == 0 || strings.IndexByte("@._-/\\$", s.Text[start-1]) < 0
}

// urlTail returns the end of an address: it stops before a blank, a quotation mark, a
// bracket that the address did not open, and the punctuation of the sentence around it.
func urlTail(s *scan.Scanner, at int) int {
	end := at
	open := 0
	for end < len(s.Text) {
		b := s.Text[end]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s.Text[end:])
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
	for end > at && strings.IndexByte(".,;:!?'*_(]", s.Text[end-1]) >= 0 && !(s.Text[end-1] == ']' && strings.Contains(s.Text[max(at, end-60):end-1], "[")) {
		end--
	}
	return end
}

// bareDomain finds an address without a scheme that begins with a word. A
// word with digits, and a stop or a dash with a digit after it, are a number.
func bareDomain(s *scan.Scanner, start, end int) {
	if !s.Is(end+1, scan.Word) || start < s.Memory[urlEnd] || start < s.Memory[domainEnd] || !urlBegins(s, start) ||
		s.Is(end+1, scan.Digit) && strings.ContainsAny(s.Text[start:end], "0123456789") {
		return
	}
	end, last := host(s, start)
	s.Memory[domainEnd] = end
	if last < 0 || end-start > maxDomain || end < len(s.Text) && strings.IndexByte("@(_$", s.Text[end]) >= 0 {
		return
	}
	to := end
	if s.Has(end, ':') && s.Is(end+1, scan.Digit) {
		to = s.Run(end+1, scan.Digit)
	}
	path := s.Has(to, '/') && (s.Is(to+1, scan.Word) || s.Has(to+1, '~'))
	if s.Has(to, '/') || s.Has(to, '?') && s.Is(to+1, scan.Word) {
		to = urlTail(s, to)
	}
	if score := domainScore(s.Text[start:end], s.Text[last:end], path); score > 0 {
		s.Memory[urlEnd] = to
		s.Add(URL, start, to, score, "pattern")
	}
}

// domainScore returns the score of a host name without a scheme, 0 if it is something else.
// path says that a path follows.
func domainScore(host, tld string, path bool) float64 {
	small := strings.ToLower(tld)
	first := host[:len(host)-len(tld)-1]
	switch {
	case tld != small && tld != strings.ToUpper(tld), scan.Is(tld, 0, scan.Digit): // the end of a sentence, a version
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
	case FileEndings[small]:
		return 0
	}
	return 0.1 // a cue, such as "website", makes it one
}

// ipv4 finds an address of four decimal bytes.
func ipv4(s *scan.Scanner, start, _ int) {
	at := start
	small := true
	for i := range 4 {
		if i > 0 {
			if !s.Has(at, '.') {
				return
			}
			at++
		}
		end := s.Run(at, scan.Digit)
		if end == at || end-at > 3 {
			return
		}
		small = small && end-at == 1
		at = end
	}
	addr, err := netip.ParseAddr(s.Text[start:at])
	if err != nil || s.Is(at, scan.Word) || s.Has(at, '.') && s.Is(at+1, scan.Digit) || s.Has(at, '-') && s.Is(at+1, scan.Word) ||
		!addressBegins(s, start) || isNobodys(addr) {
		return
	}
	s.AddressEnd = at
	if s.Opposed(IPAddress, start) {
		return
	}
	score := 0.8
	if small || strings.HasSuffix(s.Text[start:at], ".0") {
		score = 0.3 // 1.2.3.4 is as likely a version or a section, 10.20.0.0 a version or a network
	}
	s.Add(IPAddress, start, at, score, "pattern")
}

// addressBegins tells whether an address may begin at an offset: it does not continue a
// longer number or name.
func addressBegins(s *scan.Scanner, start int) bool {
	return start == 0 || strings.IndexByte(".-/:_@+", s.Text[start-1]) < 0 || !s.Is(start-2, scan.Word)
}

// isNobodys tells whether an address points to nobody: loopback and unspecified addresses,
// broadcasts and netmasks.
func isNobodys(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.Is4() && a.As4()[0] == 255
}

// ipv6 finds an address with colons that begins at an offset.
func ipv6(s *scan.Scanner, start, _ int) {
	if start < s.AddressEnd {
		return
	}
	end, colons := start, 0
	digits := false
	for end < len(s.Text) {
		if b := s.Text[end]; b == ':' {
			colons++
		} else if !scan.IsHexDigit(b) && b != '.' {
			break
		}
		digits = digits || s.Is(end, scan.Digit)
		end++
	}
	s.AddressEnd = end
	if colons < 2 || !digits || end-start > 47 || s.Is(end, scan.Word) || s.Is(start-1, scan.Word) || !addressBegins(s, start) {
		return
	}
	for end > start && (s.Text[end-1] == '.' || s.Text[end-1] == ':' && !s.Has(end-2, ':')) {
		end--
	}
	addr, err := netip.ParseAddr(s.Text[start:end])
	if err != nil || isNobodys(addr.Unmap()) {
		return
	}
	groups := 0
	for group := range strings.SplitSeq(s.Text[start:end], ":") {
		if group != "" {
			groups++
		}
	}
	if first, _, _ := strings.Cut(s.Text[start:end], ":"); groups < 3 && len(first) < 3 && !addr.Is4In6() { // a::1 is as likely a name in code
		return
	}
	s.Add(IPAddress, start, end, 0.8, "pattern")
}

// mac finds a hardware address: six bytes with colons or dashes, or three groups with dots.
func mac(s *scan.Scanner, start, _ int) {
	for _, form := range [...]struct {
		separator     byte
		groups, bytes int
	}{{':', 6, 2}, {'-', 6, 2}, {'.', 3, 4}} {
		if !s.Has(start+form.bytes, form.separator) {
			continue
		}
		at, letters, ones, zeros := start, 0, 0, 0
		for i := range form.groups {
			if i > 0 {
				if !s.Has(at, form.separator) {
					return
				}
				at++
			}
			for range form.bytes {
				switch {
				case at >= len(s.Text):
					return
				case !scan.IsHexDigit(s.Text[at]):
					return
				case !s.Is(at, scan.Digit):
					letters++
				}
				switch s.Text[at] {
				case '0':
					zeros++
				case 'f', 'F':
					ones++
				}
				at++
			}
		}
		if s.Is(at, scan.Word) || s.Has(at, form.separator) && s.Is(at+1, scan.Word) || !addressBegins(s, start) || zeros == 12 || ones == 12 {
			return
		}
		score := 0.8
		if letters == 0 && form.separator != ':' {
			score = 0.2
		}
		s.Add(MACAddress, start, at, score, "pattern")
		return
	}
}
