package pii_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/national"
)

func TestMapping(t *testing.T) {
	mapping := pii.NewMapping()
	mask := func(text string, entities ...toxscreen.Entity) string {
		t.Helper()
		masked, err := mapping.Mask(text, entities, nil)
		if err != nil {
			t.Fatal(err)
		}
		if back, unknown := mapping.Restore(masked.Text); back != text || unknown != nil {
			t.Errorf("%q is restored as %q, unknown %v", masked.Text, back, unknown)
		}
		return masked.Text
	}

	text := "Ann called Bob, and Bob Ann."
	got := mask(text, toxscreen.Entity{Type: kind.Person, Start: 0, End: 3}, toxscreen.Entity{Type: kind.Person, Start: 11, End: 14},
		toxscreen.Entity{Type: kind.Person, Start: 20, End: 23}, toxscreen.Entity{Type: kind.Person, Start: 24, End: 27})
	if want := "<PERSON_1> called <PERSON_2>, and <PERSON_2> <PERSON_1>."; got != want {
		t.Errorf("the same value must have the same number: %q", got)
	}
	// The numbers are those of the whole run, and each type has its own.
	if got, want := mask("Bob in Rome", toxscreen.Entity{Type: kind.Person, End: 3}, toxscreen.Entity{Type: kind.Location, Start: 7, End: 11}), "<PERSON_2> in <LOCATION_1>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A type may have any name.
	if got, want := mask("T-1 and <x>", toxscreen.Entity{Type: "my ticket", End: 3}, toxscreen.Entity{Type: "<&>", Start: 8, End: 11}), "<MY_TICKET_1> and <____1>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// Bytes that are not UTF-8 stay as they are.
	mask("\xff Ann \xfe", toxscreen.Entity{Type: kind.Person, End: 5})
}

// The answer of a language model has the placeholders, but other words around them.
func TestRestoreAfterChanges(t *testing.T) {
	mapping := pii.NewMapping()
	if _, err := mapping.Mask("Ann, Bob", []toxscreen.Entity{{Type: kind.Person, End: 3}, {Type: kind.Person, Start: 5, End: 8}}, nil); err != nil {
		t.Fatal(err)
	}
	got, unknown := mapping.Restore("**Dear <PERSON_2>,**\n<PERSON_1>'s <PERSON_1><PERSON_2> <PERSON_12> <PERSON_3> <PERSON_12> <person_1> PERSON_1 <PERSON_01>")
	if want := "**Dear Bob,**\nAnn's AnnBob <PERSON_12> <PERSON_3> <PERSON_12> <person_1> PERSON_1 <PERSON_01>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"<PERSON_12>", "<PERSON_3>"}; !slices.Equal(unknown, want) {
		t.Errorf("unknown are %v, want %v", unknown, want)
	}
}

// What looked like a placeholder before is the same afterwards, in the same text and in one that was
// masked before there was such a placeholder.
func TestTextsWithPlaceholders(t *testing.T) {
	mapping := pii.NewMapping()
	for _, test := range []struct {
		text     string
		entities []toxscreen.Entity
		want     string
	}{
		{"<PERSON_1> is Ann", []toxscreen.Entity{{Type: kind.Person, Start: 14, End: 17}}, "<LITERAL_1> is <PERSON_1>"},
		{"<PERSON_2>", nil, "<LITERAL_2>"},
		{"Bob", []toxscreen.Entity{{Type: kind.Person, End: 3}}, "<PERSON_2>"},
		{"<LITERAL_1>", nil, "<LITERAL_3>"},
		{"a <PERSON_1> b", []toxscreen.Entity{{Type: kind.URL, End: 14}}, "<URL_1>"},                                 // an entity contains it
		{"a <PERSON_1> b", []toxscreen.Entity{{Type: kind.URL, End: 5}}, "<URL_2><LITERAL_1> b"},                     // is cut off by it
		{"a <PERSON_1> b", []toxscreen.Entity{{Type: kind.URL, Start: 3, End: 9}}, "a <LITERAL_1> b"},                // is inside it
		{"a <PERSON_1><PERSON_1>b", []toxscreen.Entity{{Type: kind.URL, Start: 5, End: 23}}, "a <LITERAL_1><URL_3>"}, // begins inside it
	} {
		masked, err := mapping.Mask(test.text, test.entities, nil)
		if err != nil || masked.Text != test.want {
			t.Errorf("%q is masked as %q, %v, want %q", test.text, masked.Text, err, test.want)
		}
		if back, _ := mapping.Restore(masked.Text); back != test.text {
			t.Errorf("%q is restored as %q", masked.Text, back)
		}
	}
}

// Other operators than replace leave nothing to put back.
func TestMappingWithOperators(t *testing.T) {
	mapping, name := pii.NewMapping(), "X"
	text := "Ann ann@example.com 123-45-6789"
	entities := []toxscreen.Entity{at(t, text, "Ann", kind.Person), at(t, text, "ann@example.com", kind.EmailAddress), at(t, text, "123-45-6789", national.USSSN)}
	masked, err := mapping.Mask(text, entities, pii.Operators{kind.Person: {Kind: pii.Replace, NewValue: &name}, kind.EmailAddress: {Kind: pii.Redact}})
	if err != nil || masked.Text != "X  <US_SSN_1>" {
		t.Errorf("got %q, %v", masked.Text, err)
	}
	if masked, err := mapping.Mask("AnnBob", []toxscreen.Entity{{Type: kind.EmailAddress, End: 3}, {Type: kind.Person, Start: 3, End: 6}}, pii.Operators{kind.EmailAddress: {Kind: pii.Redact}}); err != nil || masked.Text != "<PERSON_1>" {
		t.Errorf("got %q, %v", masked.Text, err)
	}
	// A value that looks like a placeholder would be restored to something else.
	name = "<US_SSN_1>"
	if _, err := mapping.Mask(text, entities, pii.Operators{kind.Person: {Kind: pii.Replace, NewValue: &name}}); err == nil || !strings.Contains(err.Error(), "is not a placeholder of the mapping") {
		t.Errorf("got %v", err)
	}
}

// A mapping in a file is complete whenever Mask returns, and continues.
func TestMappingInFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapping.jsonl")
	first, err := pii.OpenMapping(path)
	if err != nil {
		t.Fatal(err)
	}
	mask := func(m *pii.Mapping, text string) string {
		t.Helper()
		masked, err := m.Mask(text, []toxscreen.Entity{{Type: kind.Person, End: len(text)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return masked.Text
	}
	mask(first, "Ann")
	mask(first, "not \xff UTF-8")
	if other, err := pii.OpenMapping(path); err == nil || !strings.Contains(err.Error(), "another run is writing it") {
		t.Errorf("got %v, %v", other, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// A killed process may leave a part of a line.
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(`{"placeholder":"<PERSON_3>","te`)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := pii.OpenMapping(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if first.ID() != again.ID() {
		t.Errorf("the id was %q and is %q", first.ID(), again.ID())
	}
	for text, want := range map[string]string{"Ann": "<PERSON_1>", "not \xff UTF-8": "<PERSON_2>", "Bob": "<PERSON_3>"} {
		if got := mask(again, text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	only, err := pii.ReadMapping(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, unknown := only.Restore("<PERSON_3> <PERSON_2> <PERSON_1>"); got != "Bob not \xff UTF-8 Ann" || unknown != nil {
		t.Errorf("got %q, %v", got, unknown)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the mapping: %v, %v", info.Mode(), err)
	}
}

func TestMappingFilesThatAreNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapping.jsonl")
	if _, err := pii.ReadMapping(path); err == nil || !strings.Contains(err.Error(), "failed to read mapping "+path+": no such file") {
		t.Errorf("got %v", err)
	}
	for content, want := range map[string]string{
		"{\"text\":\"x\"}\n": "its first line must have the mapping's id",
		"text\n":             "line 1: invalid character",
		"{\"mapping\":\"m\"}\n{\"placeholder\":\"P\"}\n": `line 2: "P" is not a placeholder`,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, open := range map[string]func(string) (*pii.Mapping, error){"read": pii.ReadMapping, "open": pii.OpenMapping} {
			if _, err := open(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: got %v", name, content, err)
			}
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Errorf("the file was changed to %q, %v", data, err)
		}
	}
}

func TestMappingIsSafeForConcurrentUse(t *testing.T) {
	mapping := pii.NewMapping()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				text := fmt.Sprint("name ", (n+i)%50)
				masked, err := mapping.Mask(text, []toxscreen.Entity{{Type: kind.Person, End: len(text)}}, nil)
				if back, _ := mapping.Restore(masked.Text); err != nil || back != text {
					t.Errorf("got %q for %q, %v", back, text, err)
				}
			}
		})
	}
	all.Wait()
}

// carriers are sentences around entities: each {TYPE} is an entity.
var carriers = []string{
	"{PERSON} lives in {LOCATION}.",
	"Mail {EMAIL_ADDRESS} or call {PHONE_NUMBER}, {PERSON}!\r\n",
	"{PERSON}{PERSON} <{EMAIL_ADDRESS}> paid with {CREDIT_CARD};",
	"ssn={US_SSN}&iban={IBAN_CODE}",
	"Nothing to see here – наверное.",
	"“{PERSON}” 😀 {DATE_TIME}",
	"{URL}",
	"<PERSON_1> and <{PERSON}_2> are not {PERSON}",
	"<LITERAL_3>{IP_ADDRESS}<US_SSN_1>\x00\xff",
	"",
}

// values are what stands in place of the types, from few alternatives so that they repeat.
var values = map[toxscreen.EntityType][]string{
	kind.Person:       {"Ann Lee", "Zoë", "José\u0301", "李雷", "O'Neil", "<PERSON_2>", "a\xffb"},
	kind.Location:     {"Rome", "Łódź", "New York"},
	kind.EmailAddress: {"ann@example.com", "b+c@example.org"},
	kind.PhoneNumber:  {"+1 202-555-0143", "(202) 555-0143"},
	kind.CreditCard:   {"4111 1111 1111 1111", "378282246310005"},
	national.USSSN:    {"536-22-8765"},
	kind.IBANCode:     {"GB82 WEST 1234 5698 7654 32"},
	kind.DateTime:     {"2024-02-29", "tomorrow"},
	kind.URL:          {"https://example.com/?q=<PERSON_1>"},
	kind.IPAddress:    {"192.0.2.1", "2001:db8::1"},
}

// generated returns a text of several sentences with its entities.
func generated(random *rand.Rand) (string, []toxscreen.Entity) {
	var text strings.Builder
	var entities []toxscreen.Entity
	for range 1 + random.IntN(6) {
		rest := carriers[random.IntN(len(carriers))]
		for {
			before, after, found := strings.Cut(rest, "{")
			text.WriteString(before)
			if !found {
				break
			}
			kind, tail, _ := strings.Cut(after, "}")
			of := values[toxscreen.EntityType(kind)]
			start := text.Len()
			text.WriteString(of[random.IntN(len(of))])
			entities = append(entities, toxscreen.Entity{Type: toxscreen.EntityType(kind), Start: start, End: text.Len(), Score: 0.9})
			rest = tail
		}
		text.WriteString([]string{" ", "\n"}[random.IntN(2)])
	}
	return text.String(), entities
}

// Of 10,000 texts, every offset into the masked text is exact, and every text is restored byte
// by byte, also if something else stands around it then.
func TestGeneratedTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	mapping := pii.NewMapping()
	operators := []pii.Operator{
		{Kind: pii.Replace}, {Kind: pii.Redact}, {Kind: pii.MaskOut, CharsToMask: 3, FromEnd: true}, {Kind: pii.Hash}, {Kind: pii.Encrypt, Key: "0123456789abcdef"}, {Kind: pii.Keep},
	}
	for n := range 10_000 {
		text, entities := generated(random)
		operator := operators[n%len(operators)]
		plain, err := pii.Mask(text, entities, pii.Operators{pii.DefaultOperator: operator})
		if err != nil {
			t.Fatal(err)
		}
		checkItems(t, text, plain)
		if len(plain.Items) != len(entities) {
			t.Fatalf("%d items for %d entities", len(plain.Items), len(entities))
		}
		numbered, err := mapping.Mask(text, entities, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkItems(t, text, numbered)
		around := []string{"", "<PERSON_", "1>", "\xff"}[n%4]
		if back, unknown := mapping.Restore(around + numbered.Text + around); back != around+text+around || unknown != nil {
			t.Fatalf("%q is restored as %q, unknown %v", numbered.Text, back, unknown)
		}
		if operator.Kind != pii.Encrypt {
			continue
		}
		back, err := pii.Unmask(plain.Text, plain.Items, pii.Operators{pii.DefaultOperator: {Kind: pii.Decrypt, Key: operator.Key}})
		if err != nil || back.Text != text {
			t.Fatalf("%q is decrypted as %q, %v", plain.Text, back.Text, err)
		}
	}
}

// A generated text that was masked by replace or redact has nothing more to find, whatever is
// around the entities.
func TestGeneratedTextsAreClean(t *testing.T) {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(26, 20))
	mapping := pii.NewMapping()
	for range 2000 {
		text, _ := generated(random)
		entities, err := finder.Find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		for name, mask := range map[string]func() (pii.Masked, error){
			"replace": func() (pii.Masked, error) { return pii.Mask(text, entities, nil) },
			"redact": func() (pii.Masked, error) {
				return pii.Mask(text, entities, pii.Operators{pii.DefaultOperator: {Kind: pii.Redact}})
			},
			"numbered": func() (pii.Masked, error) { return mapping.Mask(text, entities, nil) },
		} {
			masked, err := mask()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := finder.Find(t.Context(), masked.Text); err != nil || len(again) > 0 {
				t.Fatalf("%s: %q was masked as %q, where there is %+v, %v", name, text, masked.Text, again, err)
			}
		}
	}
}

// checkItems checks that the items of a masked text are where they say, and that the rest of
// the text is as it was.
func checkItems(t *testing.T, text string, masked pii.Masked) {
	t.Helper()
	var original strings.Builder
	at := 0
	for _, item := range masked.Items {
		if masked.Text[item.Start:item.End] != item.Text {
			t.Fatalf("in %q there is %q at %d, not %q", masked.Text, masked.Text[item.Start:item.End], item.Start, item.Text)
		}
		original.WriteString(masked.Text[at:item.Start] + item.Original)
		at = item.End
	}
	if got := original.String() + masked.Text[at:]; got != text {
		t.Fatalf("around the items of %q there is %q, not %q", masked.Text, got, text)
	}
}

// Whatever the text and its entities are, it is restored, or refused because it would not be.
func FuzzRestore(f *testing.F) {
	f.Add("<PERSON_1> is Ann", []byte{14, 3})
	f.Add("<PERSON_<LITERAL_1>", []byte{8, 2, 12, 3})
	f.Add("<A_1><A_1>", []byte{0, 0, 3, 4})
	f.Fuzz(func(t *testing.T, text string, places []byte) {
		var entities []toxscreen.Entity
		for start := 0; len(places) >= 2 && start < len(text); places = places[2:] {
			start = min(start+int(places[0])%16, len(text))
			end := min(start+int(places[1])%16, len(text))
			entities = append(entities, toxscreen.Entity{Type: []toxscreen.EntityType{"PERSON", "A"}[places[1]%2], Start: start, End: end})
			start = end
		}
		mapping := pii.NewMapping()
		for range 2 { // the second time with the numbers of the first
			masked, err := mapping.Mask(text, entities, nil)
			if err != nil {
				if !strings.Contains(err.Error(), "is not a placeholder of the mapping") {
					t.Fatal(err)
				}
				return
			}
			if back, unknown := mapping.Restore(masked.Text); back != text || unknown != nil {
				t.Fatalf("%q is masked as %q and restored as %q, unknown %v", text, masked.Text, back, unknown)
			}
		}
	})
}
