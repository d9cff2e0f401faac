package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// PresidioMasking is a request of Presidio's anonymizer, to mask the entities of a text or
// to restore those that were encrypted.
type PresidioMasking struct {
	Text string
	// Entities have byte offsets. Those to mask may overlap and have any order; those to
	// restore are ordered by Start.
	Entities []toxscreen.Entity

	operators map[string]map[string]json.RawMessage // by type, or presidioDefault
	restore   bool
}

// presidioDefault is the key of the operator for types that have none of their own.
const presidioDefault = "DEFAULT"

// PresidioOperator is an operator of Presidio's anonymizer, validated. Only the fields of
// its kind are set.
type PresidioOperator struct {
	// Kind is one of [PresidioAnonymizers] or [PresidioDeanonymizers].
	Kind        string
	NewValue    string // "" for the type in angle brackets
	MaskingChar string // one code point
	CharsToMask int    // of the entity's code points, 0 or less for none
	FromEnd     bool
	HashType    string // sha256 or sha512
	Salt        string // of 16 bytes or more, or "" for a random one
	Key         string // of 16, 24 or 32 bytes
}

// PresidioMasked is the answer to a [PresidioMasking].
type PresidioMasked struct {
	Text  string         `json:"text"`
	Items []PresidioItem `json:"items"` // the last one in the text comes first
}

// PresidioItem is what became of an entity. Its offsets are code points of the new text, but
// bytes where [ToPresidioMasked] takes it.
type PresidioItem struct {
	Start    int                  `json:"start"`
	End      int                  `json:"end"`
	Type     toxscreen.EntityType `json:"entity_type"`
	Text     string               `json:"text"`
	Operator string               `json:"operator"`
}

// PresidioAnonymizers returns the operators that mask an entity, in the order of Presidio.
func PresidioAnonymizers() []string {
	return []string{"encrypt", "hash", "keep", "mask", "redact", "replace"}
}

// PresidioDeanonymizers returns the operators that restore an entity.
func PresidioDeanonymizers() []string { return []string{"decrypt", presidioKeep} }

// presidioKeep is keep among [PresidioDeanonymizers].
const presidioKeep = "deanonymize_keep"

// presidioParam returns the error that Presidio has for a parameter.
func presidioParam(format string, args ...any) error {
	return &PresidioError{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...)}
}

// ReadPresidioAnonymize reads a request to mask a text. Errors are a [*PresidioError].
func ReadPresidioAnonymize(data []byte) (PresidioMasking, error) {
	return readPresidioMasking(data, "anonymizers", "analyzer_results", false)
}

// ReadPresidioDeanonymize reads a request to restore a text. Errors are a
// [*PresidioError].
func ReadPresidioDeanonymize(data []byte) (PresidioMasking, error) {
	return readPresidioMasking(data, "deanonymizers", "anonymizer_results", true)
}

func readPresidioMasking(data []byte, operators, parts string, restore bool) (PresidioMasking, error) {
	m := PresidioMasking{restore: restore}
	var fields map[string]json.RawMessage
	if err := plainjson.Unmarshal(data, &fields); err != nil {
		return m, presidioInvalid("%v", err)
	}
	if len(fields) == 0 {
		return m, &PresidioError{http.StatusBadRequest, "Invalid request json"}
	}
	if raw, ok := fields["text"]; ok && json.Unmarshal(raw, &m.Text) != nil {
		return m, presidioParam("Invalid parameter value for text. Expecting 'string'.")
	}
	if raw, ok := fields[operators]; ok && json.Unmarshal(raw, &m.operators) != nil {
		return m, presidioParam("Invalid input, %s must be an object of operators by entity type", operators)
	}
	for _, o := range m.operators {
		var kind string
		if json.Unmarshal(o["type"], &kind) != nil || kind == "" {
			return m, presidioParam("Invalid input, operator config must contain operator_name")
		}
		if kind == "custom" && !restore {
			return m, &PresidioError{http.StatusBadRequest, "Custom type anonymizer is not supported"}
		}
	}
	raw, ok := fields[parts]
	if !restore && (!ok || string(raw) == "null") {
		return m, presidioParam("Invalid input, request must contain analyzer results")
	}
	var in []presidioPart
	if ok && json.Unmarshal(raw, &in) != nil {
		return m, presidioParam("Invalid input, %s must be a list of entities with start, end and entity_type", parts)
	}
	var err error
	m.Entities, err = presidioEntities(m.Text, in, !restore)
	return m, err
}

// presidioPart is an entity in a request.
type presidioPart struct {
	Start *int                 `json:"start"`
	End   *int                 `json:"end"`
	Type  toxscreen.EntityType `json:"entity_type"`
	Score *float64             `json:"score"`
}

// presidioEntities returns the entities of a request with byte offsets.
func presidioEntities(text string, in []presidioPart, scored bool) ([]toxscreen.Entity, error) {
	points := make([]int, 0, 2*len(in))
	for _, p := range in {
		switch {
		case p.Start == nil:
			return nil, presidioParam("Invalid input, result must contain start")
		case p.End == nil:
			return nil, presidioParam("Invalid input, result must contain end")
		case p.Type == "":
			return nil, presidioParam("Invalid input, result must contain entity_type")
		case *p.Start < 0 || *p.End < 0:
			return nil, presidioParam("Invalid input, result start and end must be positive")
		case *p.Start > *p.End:
			return nil, presidioParam("Invalid input, start index '%d' must be smaller than end index '%d'", *p.Start, *p.End)
		case scored && p.Score == nil:
			return nil, presidioParam("Invalid input, analyzer result must contain score")
		}
		points = append(points, *p.Start, *p.End)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	bytes := bytesOf(text, points)
	entities := make([]toxscreen.Entity, len(in))
	for i, p := range in {
		start, _ := slices.BinarySearch(points, *p.Start)
		end, _ := slices.BinarySearch(points, *p.End)
		if end >= len(bytes) {
			return nil, presidioParam("Invalid analyzer result, start: %d and end: %d, while text length is only %d.", *p.Start, *p.End, codePoints(text))
		}
		entities[i] = toxscreen.Entity{Type: p.Type, Start: bytes[start], End: bytes[end]}
		if p.Score != nil {
			entities[i].Score = toxscreen.Probability(*p.Score)
		}
	}
	if !scored {
		slices.SortStableFunc(entities, func(a, b toxscreen.Entity) int { return cmp.Compare(a.Start, b.Start) })
	}
	return entities, nil
}

// bytesOf returns the byte offsets of ascending offsets in code points, those that are not
// after the end of the text.
func bytesOf(text string, at []int) []int {
	bytes := make([]int, 0, len(at))
	points := 0
	for i := range text {
		if len(bytes) == len(at) {
			return bytes
		}
		if at[len(bytes)] == points {
			bytes = append(bytes, i)
		}
		points++
	}
	if len(bytes) < len(at) && at[len(bytes)] == points {
		bytes = append(bytes, len(text))
	}
	return bytes
}

// Operators returns the operators of the types of the entities, validated. As in Presidio,
// an operator that is not used may have any parameters. To restore, a type without an
// operator is kept.
func (m PresidioMasking) Operators() (map[toxscreen.EntityType]PresidioOperator, error) {
	operators := map[toxscreen.EntityType]PresidioOperator{}
	for _, e := range m.Entities {
		if _, ok := operators[e.Type]; ok {
			continue
		}
		params, ok := m.operators[string(e.Type)]
		if !ok {
			params, ok = m.operators[presidioDefault]
		}
		o := PresidioOperator{Kind: "replace"}
		if m.restore {
			o.Kind = presidioKeep
		}
		if ok {
			var err error
			if o, err = m.readOperator(params); err != nil {
				return nil, err
			}
		}
		operators[e.Type] = o
	}
	return operators, nil
}

// ToPresidioMasked returns the answer to a request, from the new text and what became of
// its entities, in the order of the text and with byte offsets.
func ToPresidioMasked(text string, items []PresidioItem) PresidioMasked {
	masked := PresidioMasked{Text: text, Items: slices.Clone(items)}
	at, points := 0, 0
	count := func(to int) int {
		points += codePoints(text[at:to])
		at = to
		return points
	}
	for i, item := range items {
		masked.Items[i].Start, masked.Items[i].End = count(item.Start), count(item.End)
	}
	slices.Reverse(masked.Items)
	if masked.Items == nil {
		masked.Items = []PresidioItem{}
	}
	return masked
}

// readOperator validates an operator. As in Presidio, this happens where it is used.
func (m PresidioMasking) readOperator(params map[string]json.RawMessage) (o PresidioOperator, err error) {
	var kind string
	_ = json.Unmarshal(params["type"], &kind) // it was read before
	o.Kind = kind
	switch {
	case m.restore && !slices.Contains(PresidioDeanonymizers(), kind), !m.restore && !slices.Contains(PresidioAnonymizers(), kind):
		return o, presidioParam("Invalid operator class '%s'.", kind)
	case kind == "replace":
		_, err = presidioValue(params, "new_value", "string", &o.NewValue)
	case kind == "mask":
		err = o.readMask(params)
	case kind == "hash":
		err = o.readHash(params)
	case kind == "encrypt" || kind == "decrypt":
		var there bool
		if there, err = presidioValue(params, "key", "string", &o.Key); err == nil && !there {
			err = presidioParam("Expected parameter key")
		}
		if n := len(o.Key); err == nil && n != 16 && n != 24 && n != 32 {
			err = presidioParam("Invalid input, key must be of length 128, 192 or 256 bits")
		}
	}
	return o, err
}

func (o *PresidioOperator) readMask(params map[string]json.RawMessage) error {
	for _, p := range []struct {
		name, kind string
		into       any
		needed     bool
	}{
		{"masking_char", "string", &o.MaskingChar, true},
		{"chars_to_mask", "number", &o.CharsToMask, true},
		{"from_end", "boolean", &o.FromEnd, false},
	} {
		there, err := presidioValue(params, p.name, p.kind, p.into)
		if err != nil {
			return err
		}
		if !there && p.needed {
			return presidioParam("Expected parameter %s", p.name)
		}
	}
	if codePoints(o.MaskingChar) != 1 {
		return presidioParam("Invalid input, masking_char must be a character")
	}
	return nil
}

func (o *PresidioOperator) readHash(params map[string]json.RawMessage) error {
	there, err := presidioValue(params, "hash_type", "string", &o.HashType)
	if err != nil {
		return err
	}
	if !there {
		o.HashType = "sha256"
	}
	if o.HashType != "sha256" && o.HashType != "sha512" {
		return presidioParam("Parameter hash_type value %s is not in range of values ['sha256', 'sha512']", o.HashType)
	}
	there, err = presidioValue(params, "salt", "string", &o.Salt)
	switch n := len(o.Salt); {
	case err != nil:
		return err
	case there && n == 0:
		return presidioParam("Salt parameter cannot be empty. Either omit the salt parameter to auto-generate a random salt, or provide a salt of at least 16 bytes (128 bits).")
	case there && n < 16:
		return presidioParam("Salt must be at least 16 bytes (128 bits). Provided salt is %d bytes.", n)
	}
	return nil
}

// presidioValue reads a parameter of an operator. there is false if it is absent or null.
func presidioValue(params map[string]json.RawMessage, name, kind string, into any) (there bool, err error) {
	raw, ok := params[name]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	if json.Unmarshal(raw, into) == nil {
		return true, nil
	}
	found := map[byte]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean"}[raw[0]]
	return true, presidioParam("Invalid parameter value for %s. Expecting '%s', but got '%s'.", name, kind, cmp.Or(found, "number"))
}
