package kind

import (
	"encoding/base64"
	"math"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Secret is a key, token or password.
const Secret toxscreen.EntityType = "SECRET"

var secrets = []scan.Kind{
	{
		Type: Secret, Description: "a key, token or password that opens something: of cloud and code services, JWT, PEM, assignments",
		HIPAA: "R",
		Cues: []string{
			"password", "passwd", "pwd", "secret", "token", "apikey", "api key", "access key", "private key", "credential", "aws", "bearer", "passphrase",
		},
		Patterns: []scan.Pattern{
			{At: scan.Letters | scan.Mixed, Least: 16, Turn: scan.Late, Find: key},
			{At: scan.Letters | scan.Mixed, Next: "_-.", Most: 15, Turn: scan.Late, Find: key},
			{At: scan.Letters | scan.Mixed, Next: `"' =:`, Turn: scan.Late, Find: assignment},
			{Bytes: "-", Find: pem},
		},
		Examples: []string{
			"«AKIAIOSFODNN7EXAMPLE»", "«ghp_abcdefghijklmnopqrstuvwxyz0123456789»", "password = \"«hunter2!»\"", "DB_PASSWORD=«s3cr3t-Pa55»", "\"apiKey\": \"«9f8e7d6c5b4a39281706f5e4»\"", "my password is «hunter22»!", "Authorization: Bearer «abcdef1234567890abcdef12345678»", "pwd: «P@ssw0rd!»",
			"«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»",
			"«-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----» end", "«AIzaSyA-1234567890abcdefghijklmnopqrstu»",
			"my pw is «Tr0ub4dor&3»", "Authorization: Basic «YWxhZGRpbjpvcGVuc2VzYW1l»",
		},
		Counterexamples: []string{
			"password = os.environ[\"PW\"]", "password: <your password>", "token = getToken()", "the password is wrong", "password: required", "PASSWORD=${PASSWORD}", "secret: \"\"", "PASS: TestFind/a#01", "Pass: !found.Flagged1,",
			"-----BEGIN CERTIFICATE-----\nMIIEabc\n-----END CERTIFICATE-----", "eyJmb28.eyJiYXIiOjF9aaaa.abcdefghij", "max_tokens: 4096", "sk-learn", "primary_key: 123456789", "Basic understanding of SQL",
		},
	},
}

// keys are the forms of keys that services give out, by their beginnings. Letters, digits,
// - and _ follow the beginning.
var keys = []struct {
	prefix   string
	min, max int // bytes after it
}{
	{"AKIA", 16, 16}, {"ASIA", 16, 16}, // Amazon Web Services
	{"ghp_", 36, 36}, {"gho_", 36, 36}, {"ghu_", 36, 36}, {"ghs_", 36, 255}, {"ghr_", 36, 255}, {"github_pat_", 50, 90}, // GitHub
	{"glpat-", 20, 60},                                                                                                // GitLab
	{"xoxb-", 20, 90}, {"xoxp-", 20, 90}, {"xoxa-", 20, 90}, {"xoxr-", 20, 90}, {"xoxs-", 20, 90}, {"xapp-", 20, 120}, // Slack
	{"sk_live_", 16, 120}, {"rk_live_", 16, 120}, {"sk_test_", 16, 120}, {"rk_test_", 16, 120}, {"whsec_", 24, 60}, // Stripe
	{"AIza", 35, 35},                                             // Google
	{"ya29", 20, 255},                                            //
	{"GOCSPX-", 20, 40},                                          //
	{"sk-ant-", 30, 140}, {"sk-proj-", 30, 200}, {"sk-", 32, 64}, // Anthropic, OpenAI
	{"hf_", 30, 40},     // Hugging Face
	{"npm_", 36, 36},    // npm
	{"pypi-", 50, 255},  // PyPI
	{"SG", 60, 70},      // SendGrid
	{"dop_v1_", 64, 64}, // DigitalOcean
	{"shpat_", 32, 32},  // Shopify
	{"AGE-SECRET-KEY-1", 58, 58},
}

// key finds a key of a service, or a JWT, that begins with a word.
func key(s *scan.Scanner, start, end int) {
	following := s.Has(end, '_') || s.Has(end, '-') || s.Has(end, '.') && (end-start == 2 || end-start == 4)
	if end-start < 16 && !following || start > 0 && strings.IndexByte("-_/.", s.Text[start-1]) >= 0 {
		return
	}
	if strings.HasPrefix(s.Text[start:], "eyJ") {
		jwt(s, start)
		return
	}
	for _, k := range keys {
		if !strings.HasPrefix(s.Text[start:], k.prefix) {
			continue
		}
		to := start + len(k.prefix)
		for to < len(s.Text) && to-start <= len(k.prefix)+k.max && (s.Is(to, scan.Digit|scan.Lower|scan.Upper) || s.Text[to] == '_' || s.Text[to] == '-' || s.Text[to] == '.' && (k.prefix == "SG" || k.prefix == "ya29")) {
			to++
		}
		for s.Text[to-1] == '.' {
			to--
		}
		if n := to - start - len(k.prefix); n < k.min || n > k.max || entropy(s.Text[start+len(k.prefix):to]) < 2.5 {
			continue
		}
		s.WordEnd = to
		s.Add(Secret, start, to, 0.95, "pattern")
		return
	}
}

// jwt finds a JSON Web Token (RFC 7519): three parts in base64url, the first of which is a
// JSON object with the name of an algorithm.
func jwt(s *scan.Scanner, start int) {
	at := start
	var first string
	for part := range 3 {
		end := at
		for end < len(s.Text) && (s.Is(end, scan.Digit|scan.Lower|scan.Upper) || s.Text[end] == '_' || s.Text[end] == '-') {
			end++
		}
		switch {
		case part == 0:
			first = s.Text[start:min(end, start+1024)]
		case end-at < 8:
			return
		}
		at = end
		if part < 2 {
			if !s.Has(end, '.') {
				s.WordEnd = end
				return
			}
			at++
		}
	}
	s.WordEnd = at
	header, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil || !strings.Contains(string(header), `"alg"`) {
		return
	}
	s.Add(Secret, start, at, 1, "pattern")
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	maxPEM   = 1 << 14 // bytes of a key; one of 16,384 bits takes 13 kB
)

// pem finds a private key in PEM form (RFC 7468) that begins with a dash. The scan goes on
// after the key. A key without its end ends with the last line of Base64.
func pem(s *scan.Scanner, start, _ int) {
	if !strings.HasPrefix(s.Text[start:], pemBegin) {
		return
	}
	label := s.Text[start+len(pemBegin) : min(len(s.Text), start+len(pemBegin)+64)]
	i := strings.Index(label, "-----")
	if i < 0 || !strings.HasSuffix(label[:i], "PRIVATE KEY") && !strings.HasSuffix(label[:i], "PRIVATE KEY BLOCK") {
		s.Skip(start + len(pemBegin))
		return
	}
	begin := start + len(pemBegin) + i + len("-----")
	end := begin
	rest := s.Text[begin:min(len(s.Text), begin+maxPEM)]
	if j := strings.Index(rest, pemEnd); j >= 0 {
		end = begin + j + len(pemEnd)
		if k := strings.Index(s.Text[end:min(len(s.Text), end+64)], "-----"); k >= 0 {
			end += k + len("-----")
		}
	} else {
		for end < begin+len(rest) && (s.Is(end, scan.Digit|scan.Lower|scan.Upper) || strings.IndexByte("+/= \r\n\\", s.Text[end]) >= 0) {
			end++
		}
		end = begin + len(strings.TrimRight(s.Text[begin:end], " \r\n\\"))
	}
	s.Add(Secret, start, end, 1, "pattern")
	s.Skip(end)
}

// assignment finds a secret that follows a name like password or api_key: after = or :,
// after "is" in the case of "password", or right after "Bearer" and "Basic".
func assignment(s *scan.Scanner, start, end int) {
	at, spoken := assigned(s, start, end)
	if at < 0 {
		return
	}
	kind := secretName(s.Text, start, end)
	if kind == noSecret || spoken && kind != password {
		return
	}
	for n := 0; n < 3 && (s.Has(at, ' ') || s.Has(at, '\t')); n++ {
		at++
	}
	ends := "\"'`,;)>]}&"
	if spoken {
		ends = strings.TrimSuffix(ends, "&") // which only divides the fields of an address
	}
	quoted := at < len(s.Text) && strings.IndexByte("\"'`", s.Text[at]) >= 0
	if quoted {
		ends = s.Text[at : at+1]
		at++
	}
	const most = 512
	to := at
	for to < len(s.Text) && to-at <= most && s.Text[to] > ' ' && strings.IndexByte(ends, s.Text[to]) < 0 {
		to++
	}
	if to-at > most {
		return
	}
	for !quoted && to > at && (s.Text[to-1] == '.' || spoken && strings.IndexByte("!?", s.Text[to-1]) >= 0) {
		to--
	}
	if isSecret(s.Text[at:to], kind, quoted) {
		s.Add(Secret, at, to, 0.6, "pattern")
	}
}

// assigned returns the beginning of the value that is assigned to the name from start to
// end, or -1 if there is none. spoken says that "is" assigns it.
func assigned(s *scan.Scanner, start, end int) (at int, spoken bool) {
	at = end
	if s.Has(at, '"') || s.Has(at, '\'') {
		at++
	}
	for at < end+3 && s.Has(at, ' ') {
		at++
	}
	switch {
	case s.Has(at, '='), s.Has(at, ':'):
		at++
		if s.Has(at, '=') || s.Has(at, '>') {
			at++
		}
		return at, false
	case at == end+1 && strings.HasPrefix(s.Text[at:], "is "):
		return at + len("is"), true
	case at == end+1 && (strings.EqualFold(s.Text[start:end], "bearer") || s.Text[start:end] == "Basic"):
		return at, false
	}
	return -1, false
}

type secretKind uint8

const (
	noSecret secretKind = iota
	password
	token
)

// secretName tells what a name that ends with a word holds. The word alone decides, as in
// dbPassword, or with the one before it, as in api_key.
func secretName(text string, start, end int) secretKind {
	if end-start > 40 {
		return noSecret
	}
	word := strings.ToLower(text[start:end])
	for _, suffix := range [...]string{"password", "passwd", "pwd", "passphrase", "passcode"} {
		if strings.HasSuffix(word, suffix) {
			return password
		}
	}
	for _, suffix := range [...]string{"secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey"} {
		if strings.HasSuffix(word, suffix) {
			return token
		}
	}
	switch word {
	case "pass", "pw":
		if text[start:end] == word { // "PASS: TestFind" is a test's
			return password
		}
	case "bearer", "basic":
		return token
	case "key":
		before := strings.ToLower(text[max(0, start-11):start])
		for _, prefix := range [...]string{"api", "access", "secret", "private", "auth", "encryption", "account", "signing"} {
			if len(before) > len(prefix) && strings.HasSuffix(before[:len(before)-1], prefix) {
				return token
			}
		}
	}
	return noSecret
}

var placeholders = scan.Words("password passwd secret token string required optional undefined changeme example placeholder redacted hidden none null true false your_password yourpassword")

// isSecret tells whether a value is a literal, rather than a name, a call or a placeholder.
func isSecret(value string, kind secretKind, quoted bool) bool {
	var seen byte
	signs := 0
	for i := range len(value) {
		seen |= scan.Class(value[i])
		if scan.Class(value[i]) == 0 {
			signs++
		}
	}
	small := strings.ToLower(value)
	switch {
	case len(value) < 6 || strings.ContainsAny(value[:1], "$<{%[(*&/@") || placeholders[small] || strings.ContainsAny(value, "([") && !quoted ||
		strings.Contains(small, "your") || strings.Contains(small, "xxxx") || strings.Contains(small, "...") || strings.Contains(value, "://") ||
		strings.Contains(value, "${") || strings.Contains(value, "{{") || seen&scan.Word == 0 || strings.Count(value, value[:1]) == len(value):
		return false
	case kind == token:
		return len(value) >= 16 && entropy(value) >= 3 && seen&scan.Digit != 0 && seen&scan.Letter != 0
	case seen&scan.Digit != 0:
		return seen&scan.Letter != 0 || signs > 0 || quoted || len(value) >= 6
	case quoted:
		return len(value) >= 8 || signs > 0
	default:
		return signs > strings.Count(value, ".")+strings.Count(value, "_")+strings.Count(value, "-")+strings.Count(value, "/")+strings.Count(value, ":")+strings.Count(value, "*")
	}
}

// entropy returns the Shannon entropy of the bytes of a value, in bits per byte.
func entropy(value string) float64 {
	var counts [256]int
	for i := range len(value) {
		counts[value[i]]++
	}
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			h -= p * math.Log2(p)
		}
	}
	return h
}
