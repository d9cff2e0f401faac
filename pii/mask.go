package pii

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Operator says what becomes of an entity when a text is masked. Its JSON form is
// Presidio's.
type Operator struct {
	// Kind is replace, redact, mask, hash, encrypt or keep.
	Kind OperatorKind `json:"type"`
	// NewValue is what replace writes. Default: the type in angle brackets, like <PERSON>.
	NewValue *string `json:"new_value,omitempty"`
	// MaskingChar, CharsToMask and FromEnd belong to mask.
	MaskingChar string `json:"masking_char,omitempty"`
	CharsToMask int    `json:"chars_to_mask,omitempty"`
	FromEnd     bool   `json:"from_end,omitempty"`
	// HashType and Salt belong to hash: sha256 or sha512, and 16 bytes or more.
	HashType string `json:"hash_type,omitempty"`
	Salt     string `json:"salt,omitempty"`
	// Key belongs to encrypt: 16, 24 or 32 bytes.
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
)

// DefaultOperator is the key in [Operators] for the types that have none of their own.
const DefaultOperator toxscreen.EntityType = "DEFAULT"

// Operators maps types to operators. Without an entry for the type and for
// [DefaultOperator], entities are replaced.
type Operators map[toxscreen.EntityType]Operator

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
	Text     string               `json:"text"`     // what stands there now
	Original string               `json:"original"` // what stood there
}

// Mask masks the entities of a text, whose offsets are bytes of it, ordered by Start and
// free of overlap. The error names an operator that cannot be applied.
func Mask(text string, entities []toxscreen.Entity, operators Operators) (Masked, error) {
	var out strings.Builder
	masked := Masked{Items: []MaskedItem{}}
	at := 0
	for _, e := range entities {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return Masked{}, fmt.Errorf("failed to mask text: the entity %s at %d to %d is not in order, or not in the text", e.Type, e.Start, e.End)
		}
		out.WriteString(text[at:e.Start])
		start := out.Len()
		written := "<" + string(e.Type) + ">"
		out.WriteString(written)
		masked.Items = append(masked.Items, MaskedItem{e.Type, Replace, start, out.Len(), written, text[e.Start:e.End]})
		at = e.End
	}
	out.WriteString(text[at:])
	masked.Text = out.String()
	return masked, nil
}
