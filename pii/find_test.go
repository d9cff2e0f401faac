package pii_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/national"
)

// found returns what a finder with the given settings finds, as "TYPE text".
func found(t testing.TB, s pii.Settings, text string) []string {
	t.Helper()
	finder, err := pii.New(s)
	if err != nil {
		t.Fatal(err)
	}
	entities, err := finder.Find(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, e := range entities {
		all = append(all, string(e.Type)+" "+text[e.Start:e.End])
	}
	return all
}

// Each type is found in the examples of its declaration, where they are marked, and not in the
// counterexamples. The numbers are samples that brands and authorities publish, or computed ones.
func TestFind(t *testing.T) {
	marked := regexp.MustCompile(`(?s)«(.*?)»`)
	for _, k := range pii.Kinds() {
		if k.Network {
			continue
		}
		t.Run(string(k.Type), func(t *testing.T) {
			if len(k.Examples) == 0 || len(k.Counterexamples) == 0 {
				t.Fatal("it has no examples or no counterexamples")
			}
			only := pii.Settings{Types: []toxscreen.EntityType{k.Type}}
			for _, example := range k.Examples {
				text := strings.NewReplacer("«", "", "»", "").Replace(example)
				var want []string
				for _, m := range marked.FindAllStringSubmatch(example, -1) {
					want = append(want, string(k.Type)+" "+m[1])
				}
				if len(want) == 0 {
					t.Errorf("the example %q has nothing between « and »", example)
				}
				if got := found(t, only, text); !slices.Equal(got, want) {
					t.Errorf("%q: %q, want %q", text, got, want)
				}
			}
			for _, text := range k.Counterexamples {
				if got := found(t, only, text); len(got) > 0 {
					t.Errorf("%q: %q, want nothing", text, got)
				}
			}
		})
	}
}

// A label stands on the line before its number, but the name of a column is of another number.
func TestFindAgesUnderTheirLabel(t *testing.T) {
	for text, want := range map[string][]string{"Age:\n34": {"AGE 34"}, "id,age,note\n1,34,\"a, b\"": nil, "age;note\n1;x": nil} {
		if got := found(t, pii.Settings{Types: []toxscreen.EntityType{kind.Age}}, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// byDefault returns the types that are found without being asked for.
func byDefault() []toxscreen.EntityType {
	return slices.DeleteFunc(pii.Types(), func(t toxscreen.EntityType) bool { return t == kind.Title })
}

// Ages under 90 and titles say little about anybody: they are found where they are asked for by name.
func TestFindWhatIsAskedFor(t *testing.T) {
	text := "Dr. Berg is 93 years old, her son Mr. Berg is 45 years old."
	for _, c := range []struct {
		why   string
		types []toxscreen.EntityType
		want  []string
	}{
		{"by default", nil, []string{"AGE 93 years old"}},
		{"by name", []toxscreen.EntityType{kind.Age}, []string{"AGE 93 years old", "AGE 45 years old"}},
		{"the default types by name", byDefault(), []string{"AGE 93 years old", "AGE 45 years old"}},
		{"all types", pii.Types(), []string{"TITLE Dr.", "AGE 93 years old", "TITLE Mr.", "AGE 45 years old"}},
	} {
		if got := found(t, pii.Settings{Types: c.types}, text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	// The name of the settings tells the two apart.
	versions := map[string]bool{}
	for _, types := range [][]toxscreen.EntityType{nil, byDefault()} {
		finder, err := pii.New(pii.Settings{Types: types})
		if err != nil {
			t.Fatal(err)
		}
		versions[finder.Version()] = true
	}
	if len(versions) != 2 {
		t.Errorf("%v, want two versions", versions)
	}
	// A title is no part of a name, and takes none of it.
	s := pii.Settings{Types: []toxscreen.EntityType{kind.Person, kind.Title}, Names: names{kind.Person: "Dr. Anna Berg"}}
	if got := found(t, s, "to Dr. Anna Berg"); !slices.Equal(got, []string{"TITLE Dr.", "PERSON Anna Berg"}) {
		t.Errorf("%q", got)
	}
}

// The example of a customer's document: the sample number is found, since its cue stands
// near by.
func TestFindSampleWithCue(t *testing.T) {
	text := "Sure! Happy to provide the SSN of John Doe - it's 123-45-6789."
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := finder.Find(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%+v, want the number only", got)
	}
	if got[0].Type != national.USSSN {
		t.Errorf("the type is %s", got[0].Type)
	}
	if got[0].Start != 50 || got[0].End != 61 {
		t.Errorf("it is at %d to %d, want 50 to 61", got[0].Start, got[0].End)
	}
	if want := []string{"pattern", `cue "ssn"`}; !slices.Equal(got[0].Why, want) {
		t.Errorf("it was found by %q, want %q", got[0].Why, want)
	}
}

// What people put into logs, code and tables is not personal because it has digits.
func TestFindNothing(t *testing.T) {
	for _, text := range []string{
		"go1.26.8 linux/amd64, cmake 3.28.1, v2.0.7-rc.1+build.5, 1.2.3.4-alpha",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 d41d8cd98f00b204e9800998ecf8427e",
		"[1700000000.123456] pid 12345: read 4096 bytes at 0x7ffd5e8a3b20 in 0.0034 s",
		"ISBN 978-0-306-40615-7, ISSN 2049-3630, doi:10.1000/182, EAN 4006381333931",
		"lat 52.520008, lon 13.404954; 1,234,567.89 EUR; 3.14159265358979",
		"550e8400-e29b-41d4-a716-446655440000 00000000-0000-0000-0000-000000000000",
		"for i := 0; i < 1000000; i++ { sum += table[i%256] * 2654435761 }",
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"123 456 789 012 345 678 901 234 567 890",
		"lot\tpart no.\tunits\n413-58-6933\t948-958-8223\t12\n708-99-3986\t458-618-6811\t14\n",
		"epoch_ms,value\n1793092977762,30741\n1793093004426,30552\n",
		"x = 0x1F600; y = 1e-9; z = 6.02214076e23; #ff8800; rgb(255,136,0)",
		"HTTP/1.1 200 OK, content-length: 1234567, etag: \"5f3e-5a1b2c3d4e5f6\"",
		"RFC 7519, ISO 8601, IEEE 754, UTF-8, x86_64, MP3, H2O, B2B, 4K",
	} {
		if got := found(t, pii.Settings{}, text); len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// A heading tells about the cells below it, for and against.
func TestFindInTables(t *testing.T) {
	for text, want := range map[string][]string{
		"name,ssn,lot\nAnn,536221234,536221235\nBob,536221236,536221237\n": {"US_SSN 536221234", "US_SSN 536221236"},
		"| id | phone |\n| --- | --- |\n| 4155552671 | 4155552672 |\n":     {"PHONE_NUMBER 4155552672"},
		"phone: 4155552671, 4155552672 and, well, nothing\n":               {"PHONE_NUMBER 4155552671", "PHONE_NUMBER 4155552672"},
	} {
		if got := found(t, pii.Settings{}, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFindDisguised(t *testing.T) {
	for _, card := range []string{
		"４１１１ １１１１ １１１１ １１１１", "4111\u00a01111\u202f1111\u20091111", "4\u200b1\u200c1\u200d1 1111\u2060 1111 1111", "4111–1111–1111–1111", "𝟒𝟏𝟏𝟏 𝟙𝟙𝟙𝟙 𝟣𝟣𝟣𝟣 𝟷𝟷𝟷𝟷", "٤١١١ ١١١١ ١١١١ ١١١١", "4111 1111 1111 111１",
	} {
		text := "é 日本 " + card + " — and\u200b so on"
		if got := found(t, pii.Settings{}, text); !slices.Equal(got, []string{"CREDIT_CARD " + card}) {
			t.Errorf("%q: %q", text, got)
		}
	}
	// A hidden character at the edge is not a part of the entity.
	if got := found(t, pii.Settings{}, "x \u200b4111 1111 1111 1111\u200b y"); !slices.Equal(got, []string{"CREDIT_CARD 4111 1111 1111 1111"}) {
		t.Errorf("%q", got)
	}
	if got := found(t, pii.Settings{}, "ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ"); len(got) != 1 {
		t.Errorf("%q, want one e-mail address", got)
	}
}

// A number does not go on in the next line, whatever ends the line, nor in the next cell.
func TestFindWithinLines(t *testing.T) {
	for _, number := range []string{"card 4111 1111%s1111 1111", "call 415 555%s2671", "SSN 536 22%s1234", "IBAN GB82 WEST 1234%s5698 7654 32", "she is 93%syears old", "due at 5%spm"} {
		for _, border := range []string{"\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\t"} {
			text := fmt.Sprintf(number, border)
			for _, e := range found(t, pii.Settings{}, text) {
				if strings.Contains(e, border) {
					t.Errorf("%q: %q", text, e)
				}
			}
		}
	}
}

// Phones, word processors and web pages write other quotes, blanks and hyphens than keyboards do,
// and HTML its own characters. They hide nothing, and offsets are of what was written.
func TestFindInAnyTypography(t *testing.T) {
	own := pii.Settings{
		Recognizers: []pii.Recognizer{{Name: "tickets", Type: "TICKET", Patterns: []pii.Pattern{{Name: "ticket", Regex: `ticket "[a-z]+"`, Score: 0.9}}}},
		Allow:       []string{"d’arcy@example.com"},
	}
	for text, want := range map[string][]string{
		"Her&nbsp;card is 4111&nbsp;1111&nbsp;1111&nbsp;1111.":        {"CREDIT_CARD 4111&nbsp;1111&nbsp;1111&nbsp;1111"},
		"mail: jane&#46;doe&#64;example.com, not d'arcy@example.com":  {"EMAIL_ADDRESS jane&#46;doe&#64;example.com"},
		"mail: jane.\u00addoe@exam\u200bple.com":                      {"EMAIL_ADDRESS jane.\u00addoe@exam\u200bple.com"},
		"ticket “abc”, ticket &quot;def&quot;, ticket â€œghiâ€\u009d": {"TICKET ticket “abc”", "TICKET ticket &quot;def&quot;", "TICKET ticket â€œghiâ€\u009d"},
		"https://example.org/?a=1&amp;b=2 or":                         {"URL https://example.org/?a=1&amp;b=2"},
		"SSN 856‑45‑6789":                                             {"US_SSN 856‑45‑6789"},
	} {
		if got := found(t, own, text); !slices.Equal(got, want) {
			t.Errorf("in %q there is %q, want %q", text, got, want)
		}
	}
}

func TestCues(t *testing.T) {
	for text, want := range map[string]bool{
		"SSN 536221234":             true,
		"SSNs: 536221234":           true,
		"social-security 536221234": true,
		"ssn\n536221234":            true,
		"ssn\n\n536221234":          false, // another paragraph
		"ssn one two three four five six seven eight 536221234":      true,
		"ssn one two three four five six seven eight nine 536221234": false,
		"536221234 is my SSN":       true,
		"536221234. The SSN is red": false, // the next sentence
		"assness 536221234":         false, // a part of a word
		"<US_SSN> 536221234":        false, // a mask
		"536221234 <US_SSN>":        false,
		"<b>SSN</b> 536221234":      true,
	} {
		if got := len(found(t, pii.Settings{Types: []toxscreen.EntityType{national.USSSN}}, text)) == 1; got != want {
			t.Errorf("%q: found %v", text, got)
		}
	}
	own := pii.Settings{Types: []toxscreen.EntityType{national.USSSN}, Cues: []string{"payroll file"}}
	if got := found(t, own, "from the Payroll File: 536221235"); len(got) != 1 {
		t.Error("a cue of the settings does not count")
	}
}

// names finds the given parts of a text.
type names map[toxscreen.EntityType]string

func (n names) Find(_ context.Context, text string) ([]toxscreen.Entity, error) {
	var all []toxscreen.Entity
	for t, part := range n {
		if at := strings.Index(text, part); at >= 0 {
			all = append(all, toxscreen.Entity{Type: t, Start: at, End: at + len(part), Score: 0.9, Why: []string{"network"}})
		}
	}
	return all, nil
}

func (n names) Types() []toxscreen.EntityType {
	return []toxscreen.EntityType{kind.Person, kind.Address}
}
func (n names) Version() string { return "names@1" }

func (names) Parallel() int { return 2 }

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		why   string
		names names
		text  string
		want  []string
	}{
		{"an e-mail address contains a domain", nil, "ann@example.com", []string{"EMAIL_ADDRESS ann@example.com"}},
		{"a web address contains what is in it", nil, "https://example.com/?to=ann@example.com&ip=203.0.113.7", []string{"URL https://example.com/?to=ann@example.com&ip=203.0.113.7"}},
		{"a name gives way to an e-mail address", names{kind.Person: "Ann Lee ann@example.com"}, "Ann Lee ann@example.com", []string{"PERSON Ann Lee", "EMAIL_ADDRESS ann@example.com"}},
		{"a number is no name", names{kind.Person: "4155"}, "4155", nil},
		{"a label is no name", names{kind.Person: "IBAN", kind.Address: "SSN"}, "his IBAN and SSN", nil},
		{"a postcode may stand alone", names{kind.Address: "04109"}, "3. 04109", []string{"ADDRESS 04109"}},
		{"the number of a list is no address", names{kind.Address: "3"}, "3. nothing", nil},
		{"an address contains a number", names{kind.Address: "12 Elm St, 415-555-2671 Springfield"}, "12 Elm St, 415-555-2671 Springfield", []string{"ADDRESS 12 Elm St, 415-555-2671 Springfield"}},
		{"a certain number is no part of an address", names{kind.Address: "NPI 1234567893, 12 Elm St"}, "NPI 1234567893, 12 Elm St", []string{"US_NPI 1234567893", "ADDRESS 12 Elm St"}},
		{"nor is one near its cue, and the cue is none", names{kind.Address: "mob 98310 55012"}, "mob 98310 55012", []string{"PHONE_NUMBER 98310 55012"}},
		{"what is left of a name stays", names{kind.Person: "Ann Lee, 415-555-2671, Bob"}, "Ann Lee, 415-555-2671, Bob", []string{"PERSON Ann Lee", "PHONE_NUMBER 415-555-2671", "PERSON Bob"}},
		{"what is left of a time stays", nil, "password: 2024-01-15 10:30", []string{"SECRET 2024-01-15", "DATE_TIME 10:30"}},
		{"a card is no password", nil, "password: 4111 1111 1111 1111", []string{"CREDIT_CARD 4111 1111 1111 1111"}},
		{"a checksum is stronger than a form", nil, "phone or card 4111 1111 1111 1111", []string{"CREDIT_CARD 4111 1111 1111 1111"}},
		{"the nearest cue decides", nil, "account 011401533, routing 021000021", []string{"US_BANK_NUMBER 011401533", "ABA_ROUTING_NUMBER 021000021"}},
	} {
		s := pii.Settings{}
		if c.names != nil {
			s.Names = c.names
		}
		if got := found(t, s, c.text); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	// A part of a card number is no phone number where only these are asked for, and an
	// e-mail address in a web address is found where only those are.
	if got := found(t, pii.Settings{Types: []toxscreen.EntityType{kind.PhoneNumber}}, "call 4111-1111-1111-1111"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := found(t, pii.Settings{Types: []toxscreen.EntityType{kind.EmailAddress}}, "https://example.com/?to=ann@example.com"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestSettings(t *testing.T) {
	text := "ann@example.com and bob@example.com, 415-555-2671"
	for name, c := range map[string]struct {
		settings pii.Settings
		want     int
	}{
		"default":       {pii.Settings{}, 3},
		"types":         {pii.Settings{Types: []toxscreen.EntityType{kind.PhoneNumber}}, 1},
		"threshold":     {pii.Settings{Threshold: 0.9}, 2},
		"allow":         {pii.Settings{Allow: []string{"Ann@Example.com", "555-2671"}}, 2},
		"allow pattern": {pii.Settings{AllowPattern: regexp.MustCompile(`@example\.com$`)}, 1},
		"regions":       {pii.Settings{Regions: []string{"de"}, Threshold: 0.5}, 2},
	} {
		if got := found(t, c.settings, text); len(got) != c.want {
			t.Errorf("%s: %q, want %d", name, got, c.want)
		}
	}
	for _, c := range []struct {
		settings pii.Settings
		names    string
	}{
		{pii.Settings{Threshold: 1.5}, "1.5"},
		{pii.Settings{Regions: []string{"XX"}}, `"XX"`},
		{pii.Settings{Types: []toxscreen.EntityType{"SHOE_SIZE"}}, `"SHOE_SIZE"`},
		{pii.Settings{Cues: []string{"one two three four five"}}, "one two"},
		{pii.Settings{Allow: make([]string, 10_001)}, "10001"},
	} {
		if _, err := pii.New(c.settings); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: the error is %v, want one that names %s", c.settings, err, c.names)
		}
	}
}

func TestWithAndVersion(t *testing.T) {
	plain, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := plain.With(func(s *pii.Settings) {
		s.Recognizers = []pii.Recognizer{{Name: "project", Type: "PROJECT", DenyList: []string{"Bluebird"}}}
		s.Names = names{}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"names@1", "settings sha256:"} {
		if !strings.Contains(own.Version(), part) {
			t.Errorf("the version %q lacks %q", own.Version(), part)
		}
		if strings.Contains(plain.Version(), part) {
			t.Errorf("the version %q of the default settings has %q", plain.Version(), part)
		}
	}
	got, err := own.Find(context.Background(), "the bluebird files")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Errorf("%+v, want the project", got)
	}
	same, err := own.With(func(s *pii.Settings) { s.Recognizers, s.Names = nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if same.Version() != plain.Version() {
		t.Errorf("with the default settings again, the version is %q, want %q", same.Version(), plain.Version())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := plain.Find(ctx, strings.Repeat("word ", 1<<16)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an ended context is %v", err)
	}
	none, err := plain.Find(context.Background(), "nothing here")
	if err != nil {
		t.Fatal(err)
	}
	if none == nil {
		t.Error("without entities it returns nil, want an empty slice, which is [] in JSON")
	}
}

func TestParseType(t *testing.T) {
	got, err := pii.Settings{}.ParseType("us_ssn")
	if err != nil {
		t.Fatal(err)
	}
	if got != national.USSSN {
		t.Errorf("us_ssn is %s", got)
	}
	if _, err := (pii.Settings{}).ParseType("US_SNN"); err == nil || !strings.Contains(err.Error(), "US_SSN") {
		t.Errorf("the error is %v, want one that names US_SSN", err)
	}
}

func TestKindsAreDeclared(t *testing.T) {
	for _, k := range pii.Kinds() {
		if k.Description == "" {
			t.Errorf("%s has no description", k.Type)
		}
		if !k.Network && len(k.Cues) == 0 {
			t.Errorf("%s has no cues", k.Type)
		}
		if len(k.Layouts) > 0 && k.Check == nil {
			t.Errorf("%s has layouts and no check", k.Type)
		}
	}
}

// Texts that are made to be slow end, and what they say is sane.
func TestFindEnds(t *testing.T) {
	for _, unit := range []string{
		"7", ".", "@", "a", "a@", "a.", "1.", "1:", ":", "http://", "+4", "(415)", "415 555 2671 ", "021000021 ", "-----BEGIN PRIVATE KEY-----", "password=", "eyJ", "eyJ.", "4111-", "a,1234567\n", "1 ", "\u200b", "１",
	} {
		text := strings.Repeat(unit, 1<<16/len(unit))
		if got := found(t, pii.Settings{}, text); len(got) > 0 && unit != "415 555 2671 " && unit != "password=" && unit != "-----BEGIN PRIVATE KEY-----" {
			t.Errorf("%q: %d entities, the first of %d bytes", unit, len(got), len(got[0]))
		}
	}
}

// A text whose entities are replaced has no new ones.
func TestFindMasked(t *testing.T) {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	parts := []string{
		"SSN", "card", "call", "account", "passport", "password:", "my password is", "born", "415-555-2671", "4155552671", "536221234", "536-22-1234", "4111 1111 1111 1111", "4222222222222",
		"021000021", "ann@example.com", "https://example.com/x", "MRN", "12345678", "A1234567", "hunter22", "2024-01-15", "10:30", "May 5", "203.0.113.7", "and", "the", "of", ",", ".", "\n", "aged 93", "GB82 WEST 1234 5698 7654 32",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		var words []string
		for range 3 + random.IntN(12) {
			words = append(words, parts[random.IntN(len(parts))])
		}
		text := strings.Join(words, " ")
		entities, err := finder.Find(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		var replaced strings.Builder
		at := 0
		for _, e := range entities {
			replaced.WriteString(text[at:e.Start] + "<" + string(e.Type) + ">")
			at = e.End
		}
		replaced.WriteString(text[at:])
		if again := found(t, pii.Settings{}, replaced.String()); len(again) > 0 {
			t.Errorf("%q became %q, which has %q", text, replaced.String(), again)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"SSN 123-45-6789, call +44 20 7946 0958 or (415) 555-2671 ext. 5", "４１１１ 1111\u200b1111 1111", "https://a:b@[::1]:80/x(y)z. www.a.b", "password: 'x y z1!' eyJhbGciOiJ9.a.b",
		"-----BEGIN PRIVATE KEY-----\nabc", "a|b|c\n1|2|3\n", "\xff\xfe4111111111111111\xff", "may 5th, 93 years old, 10:30 p.m.", "x" + strings.Repeat("é", 40) + "@example.com", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed GB82WEST12345698765432",
		"Dr. Dr. med. Berg, 34, (34M) i'm 7. Dear Sir or Ms. 3-week-old",
		"card&nbsp;4111&nbsp;1111&nbsp;1111&nbsp;1111 â€œa@example.comâ€\u009d 🇰🇾🇸",
	} {
		f.Add(text)
	}
	finder, err := pii.New(pii.Settings{Types: append(pii.Types(), "OWN"), Threshold: 0.01, Recognizers: []pii.Recognizer{
		{Name: "own", Type: "OWN", Patterns: []pii.Pattern{{Name: "x", Regex: `x+|\b`, Score: 0.5}}, DenyList: []string{"(c) x", "é"}},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := finder.Find(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := finder.Find(context.Background(), text)
		if fmt.Sprint(first) != fmt.Sprint(again) {
			t.Fatalf("%v, then %v", first, again)
		}
		at := 0
		for _, e := range first {
			if e.Start < at || e.End <= e.Start || e.End > len(text) || e.Score <= 0 || e.Score > 1 || len(e.Why) == 0 {
				t.Fatalf("%+v after %d in %q", e, at, text)
			}
			if !utf8.RuneStart(text[e.Start]) && utf8.ValidString(text) || e.End < len(text) && !utf8.RuneStart(text[e.End]) && utf8.ValidString(text) {
				t.Fatalf("%+v splits a character of %q", e, text)
			}
			at = e.End
		}
	})
}
