package pii

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
)

// Operator says what replaces an entity when a text is masked. Its JSON form is Presidio's.
type Operator struct {
	// Kind is replace, redact, mask, hash, encrypt or keep for [Mask], and decrypt or keep
	// for [Unmask].
	Kind OperatorKind `json:"type"`
	// NewValue is what replace writes. Default, also for an empty text: the type in angle
	// brackets, like <PERSON>.
	NewValue *string `json:"new_value,omitempty"`
	// MaskingChar is the character that mask writes. Default: an asterisk.
	MaskingChar string `json:"masking_char,omitempty"`
	// CharsToMask is the number of characters (code points) that mask replaces, from the
	// end if FromEnd is set. Default: all. A negative number replaces none.
	CharsToMask int  `json:"chars_to_mask,omitempty"`
	FromEnd     bool `json:"from_end,omitempty"`
	// HashType is the algorithm of hash: sha256 or sha512. Default: sha256.
	HashType string `json:"hash_type,omitempty"`
	// Salt is the salt of hash, of 16 bytes or more. Default: a random one for each text,
	// so that equal values have equal hashes within one text only.
	Salt string `json:"salt,omitempty"`
	// Key is the AES key of encrypt and decrypt, of 16, 24 or 32 bytes.
	Key string `json:"key,omitempty"`
}

// OperatorKind is a kind of [Operator].
type OperatorKind string

// The kinds of operators.
const (
	Replace OperatorKind = "replace"
	Redact  OperatorKind = "redact"
	MaskOut OperatorKind = "mask"
	Hash    OperatorKind = "hash"
	Encrypt OperatorKind = "encrypt"
	Keep    OperatorKind = "keep"
	Decrypt OperatorKind = "decrypt" // for [Unmask]
)

// The values of [Operator].HashType.
const (
	SHA256 = "sha256"
	SHA512 = "sha512"
)

// minSalt is the least length of a salt in bytes, as in Presidio.
const minSalt = 16

// OperatorKinds returns the kinds that [Mask] accepts, in the order of the documentation.
func OperatorKinds() []OperatorKind {
	return []OperatorKind{Replace, Redact, MaskOut, Hash, Encrypt, Keep}
}

// Validate returns the reason why the operator cannot be applied, or nil.
func (o Operator) Validate() error {
	switch o.Kind {
	case Replace, Redact, Keep:
	case MaskOut:
		if utf8.RuneCountInString(o.MaskingChar) > 1 {
			return fmt.Errorf("mask: masking_char must be one character, not %q", o.MaskingChar)
		}
	case Hash:
		switch {
		case o.HashType != "" && o.HashType != SHA256 && o.HashType != SHA512:
			return fmt.Errorf("hash: hash_type must be %s or %s, not %q", SHA256, SHA512, o.HashType)
		case o.Salt != "" && len(o.Salt) < minSalt:
			return fmt.Errorf("hash: salt must have %d bytes or more, it has %d", minSalt, len(o.Salt))
		}
	case Encrypt, Decrypt:
		if n := len(o.Key); n != 16 && n != 24 && n != 32 {
			return fmt.Errorf("%s: key must have 16, 24 or 32 bytes, it has %d", o.Kind, n)
		}
	default:
		return fmt.Errorf("unknown operator %q", o.Kind)
	}
	return nil
}

// DefaultOperator is the key in [Operators] for all types without an operator of their own.
const DefaultOperator toxscreen.EntityType = "DEFAULT"

// Operators maps types to operators. A type with no operator, in a map without
// [DefaultOperator], is replaced.
type Operators map[toxscreen.EntityType]Operator

// of returns the operator of a type, or else one of the kind otherwise.
func (o Operators) of(t toxscreen.EntityType, otherwise OperatorKind) Operator {
	if own, ok := o[t]; ok {
		return own
	}
	if other, ok := o[DefaultOperator]; ok {
		return other
	}
	return Operator{Kind: otherwise}
}

// Masked is a masked text.
type Masked struct {
	Text  string       `json:"text"`
	Items []MaskedItem `json:"items"` // in the order of the text
}

// MaskedItem is an entity of a masked text. Its offsets are bytes of the masked text.
type MaskedItem struct {
	Type     toxscreen.EntityType `json:"type"`
	Operator OperatorKind         `json:"operator"`
	Start    int                  `json:"start"`
	End      int                  `json:"end"`
	Text     string               `json:"text"`     // new text
	Original string               `json:"original"` // text before
}

// In returns the masked text with the offsets of its items in another unit. m keeps its
// own.
func (m Masked) In(unit toxscreen.OffsetUnit) Masked {
	units := toxscreen.NewUnits(unit, m.Text)
	m.Items = slices.Clone(m.Items)
	for i, item := range m.Items {
		m.Items[i].Start, m.Items[i].End = units.Range(item.Start, item.End)
	}
	return m
}

// Mask masks the entities of a text. Their offsets are bytes of the text, they are ordered
// by Start and do not overlap, as [Finder.Find] and [Merge] return them. The error names an
// operator that cannot be applied, or an entity out of order.
func Mask(text string, entities []toxscreen.Entity, operators Operators) (Masked, error) {
	return rewrite(text, entities, operators.writer(text))
}

// writer returns a function that returns the kind of an entity's operator and its new text.
func (o Operators) writer(text string) func(toxscreen.Entity) (OperatorKind, string, error) {
	salt := rand.Text() // 26 bytes
	return func(e toxscreen.Entity) (OperatorKind, string, error) {
		own := o.of(e.Type, Replace)
		if own.Kind == Decrypt {
			return own.Kind, "", errors.New("decrypt masks nothing")
		}
		if own.Kind == Hash && own.Salt == "" {
			own.Salt = salt
		}
		written, err := own.apply(e.Type, text[e.Start:e.End])
		return own.Kind, written, err
	}
}

// Unmask decrypts the items of a masked text that were encrypted. It reads Type, Start and
// End of items, which are in the order of the text. operators are decrypt, with the key, or
// keep; a type without an operator is kept. The error names an item that cannot be
// decrypted.
func Unmask(text string, items []MaskedItem, operators Operators) (Masked, error) {
	entities := make([]toxscreen.Entity, len(items))
	for i, item := range items {
		entities[i] = toxscreen.Entity{Type: item.Type, Start: item.Start, End: item.End}
	}
	return rewrite(text, entities, func(e toxscreen.Entity) (OperatorKind, string, error) {
		o := operators.of(e.Type, Keep)
		if o.Kind != Decrypt && o.Kind != Keep {
			return o.Kind, "", fmt.Errorf("%s cannot be undone: it must be %s or %s", o.Kind, Decrypt, Keep)
		}
		written, err := o.apply(e.Type, text[e.Start:e.End])
		return o.Kind, written, err
	})
}

// rewrite replaces each entity of a text by the text that write returns for it.
func rewrite(text string, entities []toxscreen.Entity, write func(toxscreen.Entity) (OperatorKind, string, error)) (Masked, error) {
	var out strings.Builder
	masked := Masked{Items: []MaskedItem{}}
	at := 0
	for _, e := range entities {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return Masked{}, fmt.Errorf("failed to mask text: the entity %s at %d to %d is not in order, or not in the text", e.Type, e.Start, e.End)
		}
		kind, written, err := write(e)
		if err != nil {
			return Masked{}, fmt.Errorf("failed to mask text: the entity %s at %d to %d: %w", e.Type, e.Start, e.End, err)
		}
		out.WriteString(text[at:e.Start])
		start := out.Len()
		out.WriteString(written)
		masked.Items = append(masked.Items, MaskedItem{e.Type, kind, start, out.Len(), written, text[e.Start:e.End]})
		at = e.End
	}
	out.WriteString(text[at:])
	masked.Text = out.String()
	return masked, nil
}

// apply returns the text that replaces an entity.
func (o Operator) apply(t toxscreen.EntityType, original string) (string, error) {
	if err := o.Validate(); err != nil {
		return "", err
	}
	switch o.Kind {
	case Replace:
		if o.NewValue != nil && *o.NewValue != "" {
			return *o.NewValue, nil
		}
		return "<" + string(t) + ">", nil
	case Redact:
		return "", nil
	case MaskOut:
		return o.maskOut(original), nil
	case Hash:
		salted := []byte(original + o.Salt)
		if o.HashType == SHA512 {
			sum := sha512.Sum512(salted)
			return hex.EncodeToString(sum[:]), nil
		}
		sum := sha256.Sum256(salted)
		return hex.EncodeToString(sum[:]), nil
	case Encrypt:
		return encrypt(o.Key, original)
	case Decrypt:
		return decrypt(o.Key, original)
	case Keep:
	}
	return original, nil
}

// maskOut replaces CharsToMask characters at one end.
func (o Operator) maskOut(original string) string {
	char := o.MaskingChar
	if char == "" {
		char = "*"
	}
	length := utf8.RuneCountInString(original)
	hidden := length
	if o.CharsToMask != 0 {
		hidden = min(max(o.CharsToMask, 0), length)
	}
	shown := length - hidden
	stars := strings.Repeat(char, hidden)
	if o.FromEnd {
		return original[:offsetOf(original, shown)] + stars
	}
	return stars + original[offsetOf(original, hidden):]
}

// offsetOf returns the byte offset after a number of characters of a text.
func offsetOf(text string, characters int) int {
	at := 0
	for range characters {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// encrypt encrypts a text so that Presidio can decrypt it, and the other way round:
// URL-safe Base64 of a random initial vector and the text in AES-CBC with the padding of
// PKCS #7. Nothing protects the encrypted text from changes.
func encrypt(key, text string) (string, error) {
	block, err := aes.NewCipher([]byte(key))
	if err != nil {
		return "", err
	}
	padding := aes.BlockSize - len(text)%aes.BlockSize
	plain := append([]byte(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
	vector := make([]byte, aes.BlockSize)
	if _, err := rand.Read(vector); err != nil {
		return "", err
	}
	cipher.NewCBCEncrypter(block, vector).CryptBlocks(plain, plain)
	return base64.URLEncoding.EncodeToString(slices.Concat(vector, plain)), nil
}

// errNotEncrypted is the error for a text that decrypt refuses. It hides the exact reason,
// which could help to guess the text.
var errNotEncrypted = errors.New("it was not encrypted with this key, or it was changed")

// decrypt undoes encrypt.
func decrypt(key, text string) (string, error) {
	block, err := aes.NewCipher([]byte(key))
	if err != nil {
		return "", err
	}
	data, err := base64.URLEncoding.DecodeString(strings.NewReplacer("+", "-", "/", "_").Replace(text)) // Presidio reads both alphabets
	if err != nil || len(data) < 2*aes.BlockSize || len(data)%aes.BlockSize != 0 {
		return "", errNotEncrypted
	}
	plain := data[aes.BlockSize:]
	cipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(plain, plain)
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize || !bytes.Equal(plain[len(plain)-padding:], bytes.Repeat([]byte{byte(padding)}, padding)) {
		return "", errNotEncrypted
	}
	return string(plain[:len(plain)-padding]), nil
}

// replaced matches what replace writes by default, and the placeholders of a [Mapping].
var replaced = regexp.MustCompile(`<([A-Z0-9_]+?)(?:_[1-9][0-9]{0,6})?>`)

// notReplaced returns the entities that do not overlap what replace wrote for one of types.
// entities are ordered by Start.
func notReplaced(text string, entities []toxscreen.Entity, types []toxscreen.EntityType) []toxscreen.Entity {
	if len(entities) == 0 {
		return entities
	}
	labels := map[string]bool{literal: true}
	for _, t := range types {
		labels[labelOf(t)] = true
	}
	var places [][]int
	for _, at := range replaced.FindAllStringSubmatchIndex(text, -1) {
		if labels[text[at[2]:at[3]]] {
			places = append(places, at[:2])
		}
	}
	return slices.DeleteFunc(entities, func(e toxscreen.Entity) bool {
		for len(places) > 0 && places[0][1] <= e.Start {
			places = places[1:]
		}
		return len(places) > 0 && places[0][0] < e.End
	})
}

// Merge turns entities that may overlap and have any order into entities for [Mask]. It
// follows the rule that Presidio calls MERGE_SIMILAR_OR_CONTAINED:
//
//   - entities of one type that overlap become one, with the higher score;
//   - an entity inside another one is dropped; of two at the same place, the one with the
//     higher score stays, or the later one;
//   - entities of one type with only spaces between them become one.
//
// If entities still overlap, the first ends where the next begins. In Presidio, both
// operators get the shared part. The error names an entity that is not in the text.
func Merge(text string, entities []toxscreen.Entity) ([]toxscreen.Entity, error) {
	for _, e := range entities {
		if e.Start < 0 || e.End < e.Start || e.End > len(text) {
			return nil, fmt.Errorf("failed to merge entities: %s at %d to %d is not in the text, which has %d bytes", e.Type, e.Start, e.End, len(text))
		}
	}
	merged := []toxscreen.Entity{}
	for _, e := range outermost(joined(entities)) {
		if last := len(merged) - 1; last >= 0 {
			before := &merged[last]
			between := text[min(before.End, e.Start):e.Start]
			if before.Type == e.Type && between != "" && strings.Trim(between, " ") == "" {
				*before = union(*before, e)
				continue
			}
			before.End = min(before.End, e.Start)
		}
		merged = append(merged, e)
	}
	return merged, nil
}

// byPlace orders entities by Start; of those with the same Start, the longer comes first.
func byPlace(a, b toxscreen.Entity) int {
	if a.Start != b.Start {
		return a.Start - b.Start
	}
	return b.End - a.End
}

// joined makes one entity of those of one type that overlap. Entities come and go ordered
// by place.
func joined(entities []toxscreen.Entity) []toxscreen.Entity {
	entities = slices.Clone(entities)
	slices.SortStableFunc(entities, byPlace)
	var all []toxscreen.Entity
	last := map[toxscreen.EntityType]int{} // the index of the last entity of a type
	for _, e := range entities {
		if i, ok := last[e.Type]; ok && e.Start < all[i].End && e.Start < e.End {
			all[i] = union(all[i], e)
			continue
		}
		last[e.Type] = len(all)
		all = append(all, e)
	}
	slices.SortStableFunc(all, byPlace)
	return all
}

// union returns one entity for two of one type: from the first start to the last end, with
// the higher score.
func union(a, b toxscreen.Entity) toxscreen.Entity {
	if b.Score > a.Score {
		a.Score, a.Why = b.Score, b.Why
	}
	a.Start, a.End = min(a.Start, b.Start), max(a.End, b.End)
	return a
}

// outermost drops the entities inside another one. entities are ordered by place.
func outermost(entities []toxscreen.Entity) []toxscreen.Entity {
	var kept []toxscreen.Entity
	for _, e := range entities {
		last := len(kept) - 1
		switch {
		case last >= 0 && kept[last].Start == e.Start && kept[last].End == e.End:
			if e.Score >= kept[last].Score {
				kept[last] = e
			}
		case last >= 0 && e.End <= kept[last].End:
		default:
			kept = append(kept, e)
		}
	}
	return kept
}
