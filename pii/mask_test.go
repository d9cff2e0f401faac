package pii_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/kind"
)

// at returns an entity at the first place of some words in a text.
func at(t testing.TB, text, words string, kind toxscreen.EntityType) toxscreen.Entity {
	t.Helper()
	start := strings.Index(text, words)
	if start < 0 {
		t.Fatalf("%q does not have %q", text, words)
	}
	return toxscreen.Entity{Type: kind, Start: start, End: start + len(words), Score: 0.8}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestOperators(t *testing.T) {
	const text = "Zoë’s card: 4111 1111 1111 1111."
	const salt = "0123456789abcdef"
	value, empty := "***", ""
	for name, test := range map[string]struct {
		operator pii.Operator
		want     string
	}{
		"replace writes the type":              {pii.Operator{Kind: pii.Replace}, "<CREDIT_CARD>"},
		"replace with a value of one's own":    {pii.Operator{Kind: pii.Replace, NewValue: &value}, "***"},
		"an empty value is none, as elsewhere": {pii.Operator{Kind: pii.Replace, NewValue: &empty}, "<CREDIT_CARD>"},
		"redact leaves nothing":                {pii.Operator{Kind: pii.Redact}, ""},
		"mask replaces all characters":         {pii.Operator{Kind: pii.MaskOut}, "*******************"},
		"mask from the beginning":              {pii.Operator{Kind: pii.MaskOut, MaskingChar: "•", CharsToMask: 15}, "•••••••••••••••1111"},
		"mask from the end":                    {pii.Operator{Kind: pii.MaskOut, MaskingChar: "#", CharsToMask: 4, FromEnd: true}, "4111 1111 1111 ####"},
		"mask more than there is":              {pii.Operator{Kind: pii.MaskOut, CharsToMask: 99}, "*******************"},
		"a negative number masks nothing":      {pii.Operator{Kind: pii.MaskOut, CharsToMask: -1}, "4111 1111 1111 1111"},
		"hash has the salt behind the text":    {pii.Operator{Kind: pii.Hash, Salt: salt}, sha("4111 1111 1111 1111" + salt)},
		"keep keeps":                           {pii.Operator{Kind: pii.Keep}, "4111 1111 1111 1111"},
	} {
		t.Run(name, func(t *testing.T) {
			masked, err := pii.Mask(text, []toxscreen.Entity{at(t, text, "4111 1111 1111 1111", kind.CreditCard)}, pii.Operators{kind.CreditCard: test.operator})
			if err != nil {
				t.Fatal(err)
			}
			if want := "Zoë’s card: " + test.want + "."; masked.Text != want {
				t.Errorf("got %q, want %q", masked.Text, want)
			}
			item := masked.Items[0]
			if masked.Text[item.Start:item.End] != test.want || item.Text != test.want || item.Original != "4111 1111 1111 1111" || item.Operator != test.operator.Kind {
				t.Errorf("the item is %+v", item)
			}
		})
	}
}

// mask counts characters, not bytes.
func TestMaskCountsCharacters(t *testing.T) {
	text := "Zoë Ørsted"
	for want, operator := range map[string]pii.Operator{
		"*** Ørsted": {Kind: pii.MaskOut, CharsToMask: 3},
		"Zoë ******": {Kind: pii.MaskOut, CharsToMask: 6, FromEnd: true},
	} {
		masked, err := pii.Mask(text, []toxscreen.Entity{at(t, text, text, kind.Person)}, pii.Operators{kind.Person: operator})
		if err != nil || masked.Text != want {
			t.Errorf("got %q, %v, want %q", masked.Text, err, want)
		}
	}
}

// An operator for DEFAULT is for all types that have none of their own.
func TestDefaultOperator(t *testing.T) {
	text := "Ann, ann@example.com"
	entities := []toxscreen.Entity{at(t, text, "Ann", kind.Person), at(t, text, "ann@example.com", kind.EmailAddress)}
	masked, err := pii.Mask(text, entities, pii.Operators{pii.DefaultOperator: {Kind: pii.Redact}, kind.Person: {Kind: pii.Replace}})
	if err != nil || masked.Text != "<PERSON>, " {
		t.Errorf("got %q, %v", masked.Text, err)
	}
}

func TestHashWithoutSaltIsOfOneText(t *testing.T) {
	text := "Ann and Bob and Ann"
	entities := []toxscreen.Entity{{Type: kind.Person, Start: 0, End: 3}, {Type: kind.Person, Start: 8, End: 11}, {Type: kind.Person, Start: 16, End: 19}}
	var hashes []string
	for range 2 {
		masked, err := pii.Mask(text, entities, pii.Operators{kind.Person: {Kind: pii.Hash}})
		if err != nil {
			t.Fatal(err)
		}
		if masked.Items[0].Text != masked.Items[2].Text || masked.Items[0].Text == masked.Items[1].Text {
			t.Errorf("the same value must have the same hash: %q", masked.Text)
		}
		hashes = append(hashes, masked.Items[0].Text)
	}
	if hashes[0] == hashes[1] || hashes[0] == sha("Ann") {
		t.Errorf("without a salt, hashes of another text must differ: %v", hashes)
	}
}

func TestOperatorsThatCannotBeApplied(t *testing.T) {
	for name, test := range map[string]struct {
		operator pii.Operator
		want     string
	}{
		"unknown":        {pii.Operator{Kind: "blur"}, `unknown operator "blur"`},
		"none":           {pii.Operator{}, `unknown operator ""`},
		"two characters": {pii.Operator{Kind: pii.MaskOut, MaskingChar: "**"}, `masking_char must be one character, not "**"`},
		"hash type":      {pii.Operator{Kind: pii.Hash, HashType: "md5"}, `hash_type must be sha256 or sha512, not "md5"`},
		"short salt":     {pii.Operator{Kind: pii.Hash, Salt: "short"}, "salt must have 16 bytes or more, it has 5"},
		"no key":         {pii.Operator{Kind: pii.Encrypt}, "key must have 16, 24 or 32 bytes, it has 0"},
		"wrong key":      {pii.Operator{Kind: pii.Encrypt, Key: "seventeen bytes!!"}, "key must have 16, 24 or 32 bytes, it has 17"},
		"decrypt":        {pii.Operator{Kind: pii.Decrypt, Key: "0123456789abcdef"}, "decrypt masks nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pii.Mask("Ann", []toxscreen.Entity{{Type: kind.Person, End: 3}}, pii.Operators{kind.Person: test.operator})
			if err == nil || !strings.HasPrefix(err.Error(), "failed to mask text: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestMaskRefusesEntitiesThatOverlap(t *testing.T) {
	for name, entities := range map[string][]toxscreen.Entity{
		"overlap":  {{Type: "A", Start: 0, End: 3}, {Type: "B", Start: 2, End: 4}},
		"order":    {{Type: "A", Start: 3, End: 4}, {Type: "B", Start: 0, End: 1}},
		"backward": {{Type: "A", Start: 3, End: 2}},
		"outside":  {{Type: "A", Start: 3, End: 9}},
		"negative": {{Type: "A", Start: -1, End: 2}},
	} {
		if _, err := pii.Mask("words", entities, nil); err == nil || !strings.Contains(err.Error(), "not in order, or not in the text") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What this package encrypts it can decrypt.
func TestEncrypt(t *testing.T) {
	text, key := "call Zoë", "WmZq4t7w!z%C&F)J"
	masked, err := pii.Mask(text, []toxscreen.Entity{at(t, text, "Zoë", kind.Person)}, pii.Operators{kind.Person: {Kind: pii.Encrypt, Key: key}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := pii.Unmask(masked.Text, masked.Items, pii.Operators{pii.DefaultOperator: {Kind: pii.Decrypt, Key: key}})
	if err != nil || back.Text != text || back.Items[0].Text != "Zoë" || back.Items[0].Operator != pii.Decrypt {
		t.Errorf("got %+v, %v", back, err)
	}
	for name, operators := range map[string]pii.Operators{"no operator": nil, "keep": {kind.Person: {Kind: pii.Keep}}} {
		if kept, err := pii.Unmask(masked.Text, masked.Items, operators); err != nil || kept.Text != masked.Text {
			t.Errorf("%s: got %+v, %v", name, kept, err)
		}
	}
	for name, test := range map[string]struct {
		text     string
		operator pii.Operator
		want     string
	}{
		"another key":    {masked.Text, pii.Operator{Kind: pii.Decrypt, Key: "0123456789abcdef"}, "it was not encrypted with this key"},
		"not encrypted":  {strings.Repeat("x", len(masked.Text)), pii.Operator{Kind: pii.Decrypt, Key: key}, "it was not encrypted with this key"},
		"no way back":    {masked.Text, pii.Operator{Kind: pii.Hash}, "hash cannot be undone"},
		"a key too long": {masked.Text, pii.Operator{Kind: pii.Decrypt, Key: key + "x"}, "key must have 16, 24 or 32 bytes"},
	} {
		if _, err := pii.Unmask(test.text, masked.Items, pii.Operators{kind.Person: test.operator}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What Presidio hashed and encrypted is the same here: the texts are by presidio-anonymizer
// 2.2.366.
func TestPresidiosTexts(t *testing.T) {
	for _, encrypted := range []string{"flzfj-i7rGj_5-7sZyI_FyUIwT0Y_Sr2ifwdyioR2Xo=", "flzfj+i7rGj/5+7sZyI/FyUIwT0Y/Sr2ifwdyioR2Xo="} { // Presidio reads both
		back, err := pii.Unmask(encrypted, []pii.MaskedItem{{Type: kind.Person, End: len(encrypted)}}, pii.Operators{kind.Person: {Kind: pii.Decrypt, Key: "WmZq4t7w!z%C&F)J"}})
		if err != nil || back.Text != "Zoë" {
			t.Errorf("got %+v, %v", back, err)
		}
	}
	hashed, err := pii.Mask("Zoë", []toxscreen.Entity{{Type: kind.Person, End: 4}}, pii.Operators{kind.Person: {Kind: pii.Hash, HashType: pii.SHA512, Salt: "0123456789abcdef"}})
	const want = "bb6fe1a80b2ccc5bdea27b85cce3316708daed82ce09d7d47610e92e405bbebceece7d4cc6902af9581bac8602e4de532c5ba370aab989fa484bbcc54c84304b"
	if err != nil || hashed.Text != want {
		t.Errorf("got %q, %v", hashed.Text, err)
	}
}

// The JSON form of operators is what Presidio's clients send.
func TestOperatorsAsJSON(t *testing.T) {
	const request = `{"DEFAULT":{"type":"replace","new_value":"ANON"},"PHONE_NUMBER":{"type":"mask","masking_char":"*","chars_to_mask":4,"from_end":true}}`
	var operators pii.Operators
	if err := json.Unmarshal([]byte(request), &operators); err != nil {
		t.Fatal(err)
	}
	value := "ANON"
	want := pii.Operators{
		pii.DefaultOperator: {Kind: pii.Replace, NewValue: &value},
		kind.PhoneNumber:    {Kind: pii.MaskOut, MaskingChar: "*", CharsToMask: 4, FromEnd: true},
	}
	if diff := cmp.Diff(want, operators); diff != "" {
		t.Error(diff)
	}
	back, err := json.Marshal(operators)
	if err != nil || string(back) != request {
		t.Errorf("got %s, %v", back, err)
	}
}

// Entities from outside may overlap and have any order.
func TestMerge(t *testing.T) {
	const text = "Dr Ann B. Lee  of Lee Inc"
	e := func(kind toxscreen.EntityType, start, end int, score float64) toxscreen.Entity {
		return toxscreen.Entity{Type: kind, Start: start, End: end, Score: toxscreen.Probability(score)}
	}
	for name, test := range map[string]struct{ given, want []toxscreen.Entity }{
		"nothing":                        {nil, []toxscreen.Entity{}},
		"they are ordered":               {[]toxscreen.Entity{e("B", 10, 13, 1), e("A", 0, 2, 1)}, []toxscreen.Entity{e("A", 0, 2, 1), e("B", 10, 13, 1)}},
		"one type that overlaps":         {[]toxscreen.Entity{e("A", 0, 5, 0.5), e("A", 3, 9, 0.7), e("A", 8, 12, 0.6)}, []toxscreen.Entity{e("A", 0, 12, 0.7)}},
		"one type that touches":          {[]toxscreen.Entity{e("A", 0, 3, 0.5), e("A", 3, 6, 0.7)}, []toxscreen.Entity{e("A", 0, 3, 0.5), e("A", 3, 6, 0.7)}},
		"one inside another":             {[]toxscreen.Entity{e("A", 3, 6, 1), e("B", 3, 13, 0.1)}, []toxscreen.Entity{e("B", 3, 13, 0.1)}},
		"the same place, by score":       {[]toxscreen.Entity{e("A", 3, 6, 0.9), e("B", 3, 6, 0.5)}, []toxscreen.Entity{e("A", 3, 6, 0.9)}},
		"the same place and score":       {[]toxscreen.Entity{e("A", 3, 6, 0.5), e("B", 3, 6, 0.5)}, []toxscreen.Entity{e("B", 3, 6, 0.5)}},
		"one type with spaces between":   {[]toxscreen.Entity{e("A", 3, 6, 0.5), e("A", 7, 9, 0.7)}, []toxscreen.Entity{e("A", 3, 9, 0.7)}},
		"one type with words between":    {[]toxscreen.Entity{e("A", 3, 6, 0.5), e("A", 10, 13, 0.7)}, []toxscreen.Entity{e("A", 3, 6, 0.5), e("A", 10, 13, 0.7)}},
		"types with spaces between":      {[]toxscreen.Entity{e("A", 3, 6, 0.5), e("B", 7, 9, 0.7)}, []toxscreen.Entity{e("A", 3, 6, 0.5), e("B", 7, 9, 0.7)}},
		"types that overlap are cut":     {[]toxscreen.Entity{e("A", 3, 9, 0.5), e("B", 7, 13, 0.7)}, []toxscreen.Entity{e("A", 3, 7, 0.5), e("B", 7, 13, 0.7)}},
		"joined ones can contain others": {[]toxscreen.Entity{e("A", 3, 6, 1), e("B", 5, 8, 1), e("A", 5, 9, 1)}, []toxscreen.Entity{e("A", 3, 9, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.Clone(test.given)
			got, err := pii.Merge(text, given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.given, given); diff != "" {
				t.Errorf("the caller's entities changed: %s", diff)
			}
			if _, err := pii.Mask(text, got, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for _, outside := range []toxscreen.Entity{e("A", -1, 2, 1), e("A", 5, 2, 1), e("A", 0, 99, 1)} {
		if _, err := pii.Merge(text, []toxscreen.Entity{outside}); err == nil || !strings.Contains(err.Error(), "is not in the text, which has 25 bytes") {
			t.Errorf("got %v", err)
		}
	}
}

// Whatever is merged can be masked, nothing that an entity covers stays, and nothing else is
// masked except spaces between two entities.
func FuzzMerge(f *testing.F) {
	f.Add("Ann Lee, Bob", []byte{0, 3, 0, 9, 4, 7, 0, 9, 2, 9, 1, 5})
	f.Add("a  b", []byte{0, 1, 2, 3, 3, 4, 2, 3})
	f.Fuzz(func(t *testing.T, text string, places []byte) {
		var entities []toxscreen.Entity
		covered := make([]bool, len(text))
		for p := places; len(p) >= 4 && len(text) > 0; p = p[4:] {
			start := int(p[0]) % len(text)
			end := start + int(p[1])%(len(text)-start+1)
			entities = append(entities, toxscreen.Entity{Type: toxscreen.EntityType('A' + rune(p[2]%3)), Start: start, End: end, Score: toxscreen.Probability(p[3]) / 255})
			for i := start; i < end; i++ {
				covered[i] = true
			}
		}
		merged, err := pii.Merge(text, entities)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pii.Mask(text, merged, nil); err != nil {
			t.Fatal(err)
		}
		got := make([]bool, len(text))
		for _, e := range merged {
			for i := e.Start; i < e.End; i++ {
				got[i] = true
			}
		}
		for i := range got {
			if covered[i] && !got[i] || got[i] && !covered[i] && text[i] != ' ' {
				t.Fatalf("byte %d of %q: covered %t, merged %t: %+v", i, text, covered[i], got[i], merged)
			}
		}
	})
}

// words is a [pii.Names] that takes every word with a capital for a name.
type words struct{}

func (words) Find(_ context.Context, text string) ([]toxscreen.Entity, error) {
	found := []toxscreen.Entity{}
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && (text[end] >= 'A' && text[end] <= 'Z' || text[end] >= 'a' && text[end] <= 'z' || text[end] == '_') {
			end++
		}
		if end > start && text[start] >= 'A' && text[start] <= 'Z' {
			found = append(found, toxscreen.Entity{Type: kind.Person, Start: start, End: end, Score: 0.9, Why: []string{"network"}})
		}
		start = end + 1
	}
	return found, nil
}

func (words) Types() []toxscreen.EntityType { return []toxscreen.EntityType{kind.Person} }
func (words) Version() string               { return "words@1" }

func (words) Parallel() int { return 2 }

// A text that was masked by replace or redact has nothing to mask: what was written is not
// found, whatever a network takes it for.
func TestMaskedTextIsClean(t *testing.T) {
	finder, err := pii.New(pii.Settings{Names: words{}})
	if err != nil {
		t.Fatal(err)
	}
	text := "we wrote to Ann at ann@example.com about ssn 536-22-8765, and Bob saw it"
	entities, err := finder.Find(t.Context(), text)
	if err != nil || len(entities) != 4 {
		t.Fatalf("%d entities, %v", len(entities), err)
	}
	mapping := pii.NewMapping()
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
		again, err := finder.Find(t.Context(), masked.Text)
		if err != nil || len(again) > 0 {
			t.Errorf("%s: in %q there is %+v, %v", name, masked.Text, again, err)
		}
	}
	// Other words in angle brackets may be names.
	if found, err := finder.Find(t.Context(), "<ANN>"); err != nil || len(found) != 1 {
		t.Errorf("in <ANN> there is %+v, %v", found, err)
	}
}
