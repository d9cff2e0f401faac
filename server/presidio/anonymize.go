package presidio

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/pii"
)

// Masking is a request of Presidio's anonymizer: to mask the entities of a text, or to
// decrypt encrypted ones.
type Masking struct {
	Text string
	// Entities have byte offsets. Entities to mask may overlap and have any order. Entities
	// to restore are ordered by Start.
	Entities []toxscreen.Entity

	operators map[string]map[string]json.RawMessage // by type, or pii.DefaultOperator
	restore   bool
}

// Masked is the answer to a [Masking].
type Masked struct {
	Text  string `json:"text"`
	Items []Item `json:"items"` // the last one in the text comes first
}

// Item says what replaced an entity. Its offsets are code points of the new text.
type Item struct {
	Start    int                  `json:"start"`
	End      int                  `json:"end"`
	Type     toxscreen.EntityType `json:"entity_type"`
	Text     string               `json:"text"`
	Operator string               `json:"operator"`
}

// anonymizers returns the operators that mask an entity, in Presidio's order.
func anonymizers() []string {
	return []string{"encrypt", "hash", "keep", "mask", "redact", "replace"}
}

// deanonymizers returns the operators that restore an entity.
func deanonymizers() []string { return []string{"decrypt", restoreKeep} }

// restoreKeep is the name of keep among [deanonymizers].
const restoreKeep = "deanonymize_keep"

// invalidParam returns Presidio's error for an invalid parameter.
func invalidParam(format string, args ...any) error {
	return &Error{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...)}
}

// ReadAnonymize reads a request to mask a text. Every error is an [*Error].
func ReadAnonymize(data []byte) (Masking, error) {
	return readMasking(data, "anonymizers", "analyzer_results", false)
}

// ReadDeanonymize reads a request to restore a text. Every error is an [*Error].
func ReadDeanonymize(data []byte) (Masking, error) {
	return readMasking(data, "deanonymizers", "anonymizer_results", true)
}

func readMasking(data []byte, operators, parts string, restore bool) (Masking, error) {
	m := Masking{restore: restore}
	var fields map[string]json.RawMessage
	if err := plainjson.Unmarshal(data, &fields); err != nil {
		return m, invalid("%v", err)
	}
	if len(fields) == 0 {
		return m, &Error{http.StatusBadRequest, "Invalid request json"}
	}
	if raw, ok := fields["text"]; ok && json.Unmarshal(raw, &m.Text) != nil {
		return m, invalidParam("Invalid parameter value for text. Expecting 'string'.")
	}
	if raw, ok := fields[operators]; ok && json.Unmarshal(raw, &m.operators) != nil {
		return m, invalidParam("Invalid input, %s must be an object of operators by entity type", operators)
	}
	for _, o := range m.operators {
		var kind string
		if json.Unmarshal(o["type"], &kind) != nil || kind == "" {
			return m, invalidParam("Invalid input, operator config must contain operator_name")
		}
		if kind == "custom" && !restore {
			return m, &Error{http.StatusBadRequest, "Custom type anonymizer is not supported"}
		}
	}
	raw, ok := fields[parts]
	if !restore && (!ok || string(raw) == "null") {
		return m, invalidParam("Invalid input, request must contain analyzer results")
	}
	var in []part
	if ok && json.Unmarshal(raw, &in) != nil {
		return m, invalidParam("Invalid input, %s must be a list of entities with start, end and entity_type", parts)
	}
	var err error
	m.Entities, err = entitiesOf(m.Text, in, !restore)
	return m, err
}

// part is an entity in a request.
type part struct {
	Start *int                 `json:"start"`
	End   *int                 `json:"end"`
	Type  toxscreen.EntityType `json:"entity_type"`
	Score *float64             `json:"score"`
}

// entitiesOf returns the entities of a request with byte offsets.
func entitiesOf(text string, in []part, scored bool) ([]toxscreen.Entity, error) {
	points := make([]int, 0, 2*len(in))
	for _, p := range in {
		switch {
		case p.Start == nil:
			return nil, invalidParam("Invalid input, result must contain start")
		case p.End == nil:
			return nil, invalidParam("Invalid input, result must contain end")
		case p.Type == "":
			return nil, invalidParam("Invalid input, result must contain entity_type")
		case *p.Start < 0 || *p.End < 0:
			return nil, invalidParam("Invalid input, result start and end must be positive")
		case *p.Start > *p.End:
			return nil, invalidParam("Invalid input, start index '%d' must be smaller than end index '%d'", *p.Start, *p.End)
		case scored && p.Score == nil:
			return nil, invalidParam("Invalid input, analyzer result must contain score")
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
			return nil, invalidParam("Invalid analyzer result, start: %d and end: %d, while text length is only %d.", *p.Start, *p.End, utf8.RuneCountInString(text))
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

// bytesOf returns byte offsets for ascending offsets in code points. It leaves out offsets
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

// Operators returns the operators for the types of the entities and validates them. As in
// Presidio, an unused operator may have any parameters. To restore, an entity of a type
// without an operator is kept.
func (m Masking) Operators() (pii.Operators, error) {
	operators := pii.Operators{}
	for _, e := range m.Entities {
		if _, ok := operators[e.Type]; ok {
			continue
		}
		params, ok := m.operators[string(e.Type)]
		if !ok {
			params, ok = m.operators[string(pii.DefaultOperator)]
		}
		o := pii.Operator{Kind: pii.Replace}
		if m.restore {
			o.Kind = pii.Keep
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

// ToMasked returns the answer for a text that was masked or restored.
func (m Masking) ToMasked(masked pii.Masked) Masked {
	out := Masked{Text: masked.Text, Items: make([]Item, len(masked.Items))}
	for i, item := range masked.In(toxscreen.CodePoints).Items {
		kind := string(item.Operator)
		if m.restore && item.Operator == pii.Keep {
			kind = restoreKeep
		}
		out.Items[i] = Item{Start: item.Start, End: item.End, Type: item.Type, Text: item.Text, Operator: kind}
	}
	slices.Reverse(out.Items)
	return out
}

// readOperator reads and validates an operator. As in Presidio, only operators in use are
// validated.
func (m Masking) readOperator(params map[string]json.RawMessage) (o pii.Operator, err error) {
	var kind string
	_ = json.Unmarshal(params["type"], &kind) // it was read before
	o.Kind = pii.OperatorKind(kind)
	switch {
	case m.restore && !slices.Contains(deanonymizers(), kind), !m.restore && !slices.Contains(anonymizers(), kind):
		return o, invalidParam("Invalid operator class '%s'.", kind)
	case kind == restoreKeep:
		o.Kind = pii.Keep
	case o.Kind == pii.Replace:
		_, err = readValue(params, "new_value", "string", &o.NewValue)
	case o.Kind == pii.MaskOut:
		err = readMask(&o, params)
	case o.Kind == pii.Hash:
		err = readHash(&o, params)
	case o.Kind == pii.Encrypt, o.Kind == pii.Decrypt:
		var there bool
		if there, err = readValue(params, "key", "string", &o.Key); err == nil && !there {
			err = invalidParam("Expected parameter key")
		}
		if n := len(o.Key); err == nil && n != 16 && n != 24 && n != 32 {
			err = invalidParam("Invalid input, key must be of length 128, 192 or 256 bits")
		}
	}
	return o, err
}

func readMask(o *pii.Operator, params map[string]json.RawMessage) error {
	for _, p := range []struct {
		name, kind string
		into       any
		needed     bool
	}{
		{"masking_char", "string", &o.MaskingChar, true},
		{"chars_to_mask", "number", &o.CharsToMask, true},
		{"from_end", "boolean", &o.FromEnd, false},
	} {
		there, err := readValue(params, p.name, p.kind, p.into)
		if err != nil {
			return err
		}
		if !there && p.needed {
			return invalidParam("Expected parameter %s", p.name)
		}
	}
	if utf8.RuneCountInString(o.MaskingChar) != 1 {
		return invalidParam("Invalid input, masking_char must be a character")
	}
	if o.CharsToMask <= 0 {
		o.CharsToMask = -1 // none; 0 is all in package pii
	}
	return nil
}

func readHash(o *pii.Operator, params map[string]json.RawMessage) error {
	there, err := readValue(params, "hash_type", "string", &o.HashType)
	if err != nil {
		return err
	}
	if !there {
		o.HashType = "sha256"
	}
	if o.HashType != "sha256" && o.HashType != "sha512" {
		return invalidParam("Parameter hash_type value %s is not in range of values ['sha256', 'sha512']", o.HashType)
	}
	there, err = readValue(params, "salt", "string", &o.Salt)
	switch n := len(o.Salt); {
	case err != nil:
		return err
	case there && n == 0:
		return invalidParam("Salt parameter cannot be empty. Either omit the salt parameter to auto-generate a random salt, or provide a salt of at least 16 bytes (128 bits).")
	case there && n < 16:
		return invalidParam("Salt must be at least 16 bytes (128 bits). Provided salt is %d bytes.", n)
	}
	return nil
}

// readValue reads a parameter of an operator. there is false if the parameter is absent or
// null.
func readValue(params map[string]json.RawMessage, name, kind string, into any) (there bool, err error) {
	raw, ok := params[name]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	if json.Unmarshal(raw, into) == nil {
		return true, nil
	}
	found := map[byte]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean"}[raw[0]]
	return true, invalidParam("Invalid parameter value for %s. Expecting '%s', but got '%s'.", name, kind, cmp.Or(found, "number"))
}
