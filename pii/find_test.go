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

// The numbers are samples that brands and authorities publish, or computed ones.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		typ   toxscreen.EntityType
		texts []string // «» stand around what is found
		not   []string // nothing is found
	}{
		{pii.EmailAddress, []string{
			"Write to «john.doe@example.com».", "«O'Brien@mail.b.co.uk», please", "<«a+b@sub.domain.test»>", "“«x_y@z-a.de»…”", "mailto:«jo@example.org»?subject=x", "«jörg@münchen.de»",
		}, []string{"user@localhost", "git@github.com:a/b.git", "logo@2x.png", "a @ b.com", "@example.com", "npm i pkg@1.2.3", "x@.com", "@app.route"}},
		{pii.URL, []string{
			"See «https://example.com/a(b)c?d=e#f».", "(«https://example.com/ä»)!", "[x](«https://example.com/y»)", "«http://[2001:db8::1]:8080/x»", "«example.com:8080/x?y»", "(«http://Example.co.nz/»)", "«www.example.org», then", "on «example.com»", "«example.com/path», «shop.example.fi/x», «example.pl/x»",
			"«ftp://files.example.net:21/pub»", "website: «orf.at»",
		}, []string{
			"main.go readme.md foo.py lib.rs run.sh run.pl model.pt", "i.e. e.g. U.S. a.m.", "the end.It began", "obj.name user.id list.map", "logger.info(x)", "http://localhost:8080/",
			"http://127.0.0.1/", "file:///etc/hosts", "well-known up-to-date", "orf.at", "ASP.NET, Node.js",
		}},
		{pii.IPAddress, []string{
			"from «192.168.1.20»:443", "«203.0.113.7»/24", "«2001:db8::8a2e:370:7334»", "[«fe80::1»]", "ping «8.8.8.8»", "«::ffff:203.0.113.7»", "4f8a:c99e is no address, «4f8a:c99e:dc86:faf9:5988:5f63:375e:8a2a» is",
		}, []string{
			"127.0.0.1 0.0.0.0 ::1 255.255.255.0", "version 10.20.30.40", "v10.20.30.40", "firmware: 9.25.1.191", "section 1.2.3.4", "300.1.1.1", "1.2.3.4.5", "Chrome/120.0.10.20", "Context 14.100.0.0", "std::vector a::b",
		}},
		{pii.MACAddress, []string{"«aa:bb:cc:dd:ee:ff»", "«AA-BB-CC-11-22-33»", "«00:1A:2B:3C:4D:5E»", "«00-1a-2b-3c-4d-5e»", "«001a.2b3c.4d5e»"}, []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "00:1A:2B:3C:4D:5E:6F"}},
		{pii.PhoneNumber, []string{
			"«(415) 555-2671»", "«415-555-2671», «415.555.2671»", "«+44 20 7946 0958»", "«+1-415-555-2671 x1234»", "«020 7946 0958»", "«01 42 68 53 00»", "call «4155552671»", "Tel. «555-0123»",
			"(«415-555-2671»)", "“«415-555-2671»”…", "«+33 (0)1 42 68 53 00»", "«(0)20 7946 0958»", "my number is «14155552671»", "«001-415-555-2671»", "reach me at «(37) 788-063»", "«9469 9966» office", "«415-555-2671»-Fax", "«(11) 91234-5678»", "«+1 415 555 2671»", "«0044 20 7946 0958», «01144 20 7946 0958»", "fax «166-684-7899 ext. 12»", "«98765 43210»", "«030 901820»",
			"Mob=«9840012345»", "text me «5035550142»", "my # is «5035550142»", "«0341 / 55 50 123»",
		}, []string{
			"4155552671", "ISBN 978-3-16-148410-0", "0-306-40615-2", "1,234,567,890", "2024-01-15", "12:30:45", "order 415-555-2671", "1700000000", "-33.8688, 151.2093", "555-0123", "12 345 678 901 234",
			"550e8400-e29b-41d4-a716-446655440000", "part no. 948-958-8223", "0.4155552671", "RFC 7519", "deltas (91155/91155)", "call about 2023-119", "ref 2291-4471, call back", "call about PO 4155552671", "3 / 4155552671", "https://x.example/4155552671",
		}},
		{pii.CreditCard, []string{
			"«4111 1111 1111 1111»", "«4111-1111-1111-1111»", "«4111111111111111»", "«378282246310005»", "«3782 822463 10005»", "«5555555555554444»", "«2223003122003222»", "«6011111111111117»",
			"«30569309025904»", "«3530111333300000»", "«6200000000000005»", "visa «4222222222222»", "maestro «6759649826438453»",
		}, []string{
			"4111 1111 1111 1112", "1700000000000", "4222222222222", "94111111111111111", "4111111111111111.5", "0.4111111111111111", "/4111111111111111/", "a4111111111111111", "order: 4111111111111111",
			"4111 1111 1111 1111 1111 1111", "0000000000000000", "1234567812345670",
		}},
		{pii.IBANCode, []string{"«GB82 WEST 1234 5698 7654 32»", "«DE89370400440532013000»", "«gb82west12345698765432»", "«NO93 8601 1117 947»", "«FR14-2004-1010-0505-0001-3M02-606»"},
			[]string{"GB82 WEST 1234 5698 7654 33", "DE8937040044053201300", "XX82 WEST 1234 5698 7654 32", "GB82"}},
		{pii.Crypto, []string{
			"«1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa»", "«bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4»", "«bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0»",
			"«0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed»", "«0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed»",
		}, []string{
			"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed00",
		}},
		{pii.USSSN, []string{"«536-22-1234»", "SSN: «536221234»", "social security number is «536 22 1234»", "«536-22-1234» (SSN)", "my SSN is «123-45-6789»",
			"user_ssn=«536221234»", "userSSN: «536221234»"},
			[]string{"000-22-1234", "666-22-1234", "536-00-1234", "536-22-0000", "536221234", "078-05-1120", "1536-22-1234", "536-22-12345", "lot 536-22-1234", "public 536221234"}},
		{pii.USITIN, []string{"«912-70-1234»", "ITIN «912701234»"}, []string{"912-69-1234", "912701234"}},
		{pii.USPassport, []string{"passport number «C12345678»", "Passport No. «123456789»"}, []string{"C12345678", "a passport costs 130 dollars", "the passport of section 12345"}},
		{pii.USDriverLicense, []string{"driver's license number is «D1234567»", "Driving licence: «M943-6888-9630»", "DL «50473044»"}, []string{"D1234567", "public 50473044", "driver 50473044"}},
		{pii.USBankNumber, []string{"account number «000123456789»", "checking account: «12345678»", "a/c no «40882917»", "acc no. «40882917»"}, []string{"000123456789", "on account of 1234 things"}},
		{pii.ABARouting, []string{"routing number «021000021»"}, []string{"021000021", "routing number 021000022"}},
		{pii.USNPI, []string{"NPI «1234567893»"}, []string{"1234567893", "NPI 1234567894"}},
		{pii.USMBI, []string{"«1EG4-TE5-MK73»", "«1EG4TE5MK73»"}, []string{"1SG4-TE5-MK73", "0EG4-TE5-MK73"}},
		{pii.MedicalLicense, []string{"DEA «AB1234563»", "«AB1234563»"}, []string{"AB1234564"}},
		{pii.UKNHS, []string{"«999 000 0018»", "NHS «943 476 5919»", "NHS number «9434765919»", "NHS «999 000 0018»"}, []string{"943 476 5918", "9434765919"}},
		{pii.UKNINO, []string{"«AB 12 34 56 C»", "«AB123456C»", "NI number «ab123456c»"}, []string{"QQ 12 34 56 C", "AB 12 34 56 E", "GB123456A", "ab123456c"}},
		{pii.CASIN, []string{"«130-692-544»", "SIN «130692544»", "social insurance number: «046 454 286»"}, []string{"130-692-545", "130692544", "130 692 544 312"}},
		{pii.AUTFN, []string{"TFN «123 456 782»", "tax file number «123456782»"}, []string{"123456782", "TFN 123 456 783"}},
		{pii.AUMedicare, []string{"«2123 45670 1»", "Medicare «2123456701»"}, []string{"2123 45671 1", "2123456701"}},
		{pii.INAadhaar, []string{"«2341 2341 2346»", "Aadhaar «234123412346»"}, []string{"2341 2341 2347", "234123412346"}},
		{pii.VIN, []string{"«1M8GDM9AXKP042788»", "VIN «WVWZZZ1JZXW000010»"}, []string{"1M8GDM9A1KP042788", "WVWZZZ1JZXW000010", "12345678901234567"}},
		{pii.MedicalRecord, []string{"MRN: «00123456»", "medical record number «A-12345»", "Patient ID «12345678»", "Hosp no: «H2298471»", "chart #«448812»"}, []string{"record 00123456", "the patient took 12345 steps"}},
		{pii.HealthPlan, []string{"member ID «XYZ123456789»", "policy number «H12345678»", "Policy #: «77-2291-B»", "subscriber # «XEH123456789»"}, []string{"XYZ123456789", "a member since 12345"}},
		{pii.DateTime, []string{
			"«2024-01-15T10:30:00Z»", "«15.01.2024»", "«1/15/2024», «15/01/24»", "«January 15, 1985» and «Jan 5th»", "«15 March 2024»", "the «4th of July»", "«May 2024»", "at «10:30 am», «5 pm»", "«23:59:59.123»", "«10:30:00+02:00»", "«9:30 a.m.»", "«12:00-0500»", "«5 Jan. 2024»", "«Mar. 5, 2020»", "«March the 5th»",
			"see you «Monday»", "«31-Jan-2024»", "born on «may 5»", "«2024-01-15 19:28:54»", "«September 3, 2020»",
			"«Tue 8 Oct», «Sat., June 8», «Wed 10:30»", "«Nov '23» and «4 Nov '23»", "at «5.30pm», «14.30 Uhr», «9 o'clock», «0215 hrs»", "on «22/5», 4/12 «10:30»", "exp «04/27», thru «09/2026»",
		}, []string{"2024", "version 1.2.2024.5", "10.12.15", "13/13/2024", "25:61", "2024-13-01", "you may 5 times", "1/2", "main.go:10:25", "3-1", "22/5", "on 24/7", "on 1/2", "step 10/2000", "the sun sat on mon wed", "1430 hours", "0260 hrs", "5.30"}},
		{pii.Age, []string{ // every age, since it is asked for by name
			"he is «93 years old»", "a «101-year-old» woman", "aged «95»", "she turned «99»", "Age: «92»", "«97 y/o» male", "her «94th birthday»",
			"I am «34».", "I'm «34», she's «7» and he is «12».", "i’m «34»", "my son is «7» now", "When I was «5», we moved.", "she is already «60» and retired", "Anna Berg, «34», of Leeds", "a «45-year-old»",
			"«34 yo» female", "«34yo»", "aged «7»", "at the age of «16»", "Age/Sex: «34»/M", "I («34»M) and my wife («32»F)", "«3 months old», a «2-week-old» kitten", "he turns «40», just turned «50»", "his «5th birthday»",
			"{\"age\": «34»}", "name,age,town\nAnna,«34»,Leeds\nTom,«7»,York\n", "my mother is «89 years old»",
		}, []string{
			"aged 90 days", "aged 6 months", "93 years", "130 years old", "page 93", "I am 34 minutes late", "she is 5 feet tall", "I am 100% sure", "he is 2 blocks away", "It is 34.", "we are 12", "version 34", "In May, 5, 6 and 7 people came",
			"lines 12, 34, 56", "it turned 30 degrees", "chapter 7", "the result is 12",
		}},
		{pii.Title, []string{
			"«Dr.» Anna Berg and «Mr» Hill", "«Ms.» Okafor, «Mrs.» Novak, «Miss» Lee", "«Professor» Ängström", "«Prof. Dr.» Anna Berg", "dear «mr» smith", "«MR» HILL", "Dear «Sir» or «Madam»,", "Thank you, «Doctor»!", "«Sir» Tim", "«Rev.» Green", "title,name\n«Dr»,Anna\n",
			"On May 5, «Dr.» Berg came.", "Title: «Ms»",
		}, []string{"12 Elm Dr. Springfield", "the professor said", "mr and mrs", "5 ms later", "MS Word", "I miss Anna", "Gen Z", "a drive, sir", "Rev 2", "www.dr.example"}},
		{pii.Secret, []string{
			"«AKIAIOSFODNN7EXAMPLE»", "«ghp_abcdefghijklmnopqrstuvwxyz0123456789»", "password = \"«hunter2!»\"", "DB_PASSWORD=«s3cr3t-Pa55»", "\"apiKey\": \"«9f8e7d6c5b4a39281706f5e4»\"", "my password is «hunter22»!", "Authorization: Bearer «abcdef1234567890abcdef12345678»", "pwd: «P@ssw0rd!»",
			"«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»",
			"«-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----» end", "«AIzaSyA-1234567890abcdefghijklmnopqrstu»",
			"my pw is «Tr0ub4dor&3»", "Authorization: Basic «YWxhZGRpbjpvcGVuc2VzYW1l»",
		}, []string{
			"password = os.environ[\"PW\"]", "password: <your password>", "token = getToken()", "the password is wrong", "password: required", "PASSWORD=${PASSWORD}", "secret: \"\"", "PASS: TestFind/a#01", "Pass: !found.Flagged1,",
			"-----BEGIN CERTIFICATE-----\nMIIEabc\n-----END CERTIFICATE-----", "eyJmb28.eyJiYXIiOjF9aaaa.abcdefghij", "max_tokens: 4096", "sk-learn", "primary_key: 123456789", "Basic understanding of SQL",
		}},
	} {
		t.Run(string(c.typ), func(t *testing.T) {
			only := pii.Settings{Types: []toxscreen.EntityType{c.typ}}
			for _, marked := range c.texts {
				text := strings.NewReplacer("«", "", "»", "").Replace(marked)
				want := []string{}
				for _, m := range regexp.MustCompile(`(?s)«(.*?)»`).FindAllStringSubmatch(marked, -1) {
					want = append(want, string(c.typ)+" "+m[1])
				}
				if got := found(t, only, text); !slices.Equal(got, want) {
					t.Errorf("%q: %q, want %q", text, got, want)
				}
			}
			for _, text := range c.not {
				if got := found(t, only, text); len(got) > 0 {
					t.Errorf("%q: %q", text, got)
				}
			}
		})
	}
}

// A label stands on the line before its number, but the name of a column is of another number.
func TestFindAgesUnderTheirLabel(t *testing.T) {
	for text, want := range map[string][]string{"Age:\n34": {"AGE 34"}, "id,age,note\n1,34,\"a, b\"": nil, "age;note\n1;x": nil} {
		if got := found(t, pii.Settings{Types: []toxscreen.EntityType{pii.Age}}, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
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
		{"by name", []toxscreen.EntityType{pii.Age}, []string{"AGE 93 years old", "AGE 45 years old"}},
		{"the default types by name", pii.DefaultTypes(), []string{"AGE 93 years old", "AGE 45 years old"}},
		{"all types", pii.Types(), []string{"TITLE Dr.", "AGE 93 years old", "TITLE Mr.", "AGE 45 years old"}},
	} {
		if got := found(t, pii.Settings{Types: c.types}, text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	// The name of the settings tells the two apart.
	versions := map[string]bool{}
	for _, types := range [][]toxscreen.EntityType{nil, pii.DefaultTypes()} {
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
	s := pii.Settings{Types: []toxscreen.EntityType{pii.Person, pii.Title}, Names: names{pii.Person: "Dr. Anna Berg"}}
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
	if len(got) != 1 || got[0].Start != 50 || got[0].End != 61 || got[0].Type != pii.USSSN || !slices.Equal(got[0].Why, []string{"pattern", `cue "ssn"`}) {
		t.Errorf("%+v, want the number at 50 to 61", got)
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
		if got := len(found(t, pii.Settings{Types: []toxscreen.EntityType{pii.USSSN}}, text)) == 1; got != want {
			t.Errorf("%q: found %v", text, got)
		}
	}
	own := pii.Settings{Types: []toxscreen.EntityType{pii.USSSN}, Cues: []string{"payroll file"}}
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

func (n names) Types() []toxscreen.EntityType { return []toxscreen.EntityType{pii.Person, pii.Address} }
func (n names) Version() string               { return "names@1" }

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
		{"a name gives way to an e-mail address", names{pii.Person: "Ann Lee ann@example.com"}, "Ann Lee ann@example.com", []string{"PERSON Ann Lee", "EMAIL_ADDRESS ann@example.com"}},
		{"a number is no name", names{pii.Person: "4155"}, "4155", nil},
		{"a label is no name", names{pii.Person: "IBAN", pii.Address: "SSN"}, "his IBAN and SSN", nil},
		{"a postcode may stand alone", names{pii.Address: "04109"}, "3. 04109", []string{"ADDRESS 04109"}},
		{"the number of a list is no address", names{pii.Address: "3"}, "3. nothing", nil},
		{"an address contains a number", names{pii.Address: "12 Elm St, 415-555-2671 Springfield"}, "12 Elm St, 415-555-2671 Springfield", []string{"ADDRESS 12 Elm St, 415-555-2671 Springfield"}},
		{"a certain number is no part of an address", names{pii.Address: "NPI 1234567893, 12 Elm St"}, "NPI 1234567893, 12 Elm St", []string{"US_NPI 1234567893", "ADDRESS 12 Elm St"}},
		{"nor is one near its cue, and the cue is none", names{pii.Address: "mob 98310 55012"}, "mob 98310 55012", []string{"PHONE_NUMBER 98310 55012"}},
		{"what is left of a name stays", names{pii.Person: "Ann Lee, 415-555-2671, Bob"}, "Ann Lee, 415-555-2671, Bob", []string{"PERSON Ann Lee", "PHONE_NUMBER 415-555-2671", "PERSON Bob"}},
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
	if got := found(t, pii.Settings{Types: []toxscreen.EntityType{pii.PhoneNumber}}, "call 4111-1111-1111-1111"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := found(t, pii.Settings{Types: []toxscreen.EntityType{pii.EmailAddress}}, "https://example.com/?to=ann@example.com"); len(got) != 1 {
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
		"types":         {pii.Settings{Types: []toxscreen.EntityType{pii.PhoneNumber}}, 1},
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
	if plain.Version() == own.Version() || !strings.Contains(own.Version(), "names@1") || !strings.Contains(own.Version(), "settings sha256:") {
		t.Errorf("%q and %q", plain.Version(), own.Version())
	}
	if got, err := own.Find(context.Background(), "the bluebird files"); err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if same, err := own.With(func(s *pii.Settings) { s.Recognizers, s.Names = nil, nil }); err != nil || same.Version() != plain.Version() {
		t.Errorf("%v, want %q", err, plain.Version())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := plain.Find(ctx, strings.Repeat("word ", 1<<16)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an ended context is %v", err)
	}
	if got, err := plain.Find(context.Background(), "nothing here"); got == nil || err != nil {
		t.Errorf("%v, %v, want an empty slice", got, err)
	}
}

func TestParseType(t *testing.T) {
	if got, err := pii.ParseType("us_ssn"); got != pii.USSSN || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := pii.ParseType("US_SNN"); err == nil || !strings.Contains(err.Error(), "US_SSN") {
		t.Errorf("%v", err)
	}
	if got := pii.Describe("SHOE_SIZE"); got != "" {
		t.Errorf("%q", got)
	}
	for _, k := range pii.Kinds() {
		if k.Description == "" || pii.Describe(k.Type) != k.Description || !k.Network && len(k.Cues) == 0 {
			t.Errorf("%s has no description or no cues", k.Type)
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
