package screen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/rows"
)

// Masker masks the personal data in texts. Nil is a masker that masks nothing.
type Masker struct {
	operators pii.Operators
	mapping   *pii.Mapping // nil if the placeholders are not numbered
}

// OpenMasker opens a masker. mapping is the file that stores what numbered placeholders
// stand for; if it is empty, placeholders have no numbers.
func OpenMasker(operators pii.Operators, mapping string) (_ *Masker, err error) {
	m := &Masker{operators: operators}
	if mapping != "" {
		m.mapping, err = pii.OpenMapping(mapping)
	}
	return m, err
}

// Mask masks the entities of a text.
func (m *Masker) Mask(text string, entities []toxscreen.Entity) (string, error) {
	var masked pii.Masked
	var err error
	if m.mapping == nil {
		masked, err = pii.Mask(text, entities, m.operators)
	} else {
		masked, err = m.mapping.Mask(text, entities, m.operators)
	}
	if _, full := errors.AsType[*pii.MappingError](err); full {
		err = &rows.FatalError{Err: err}
	}
	return masked.Text, err
}

// Finder returns the finder for what is then masked.
func (m *Masker) Finder(f *Finder) toxscreen.EntityFinder {
	if m == nil {
		return f
	}
	return f.ForMasking(m.operators)
}

// Close closes the mapping.
func (m *Masker) Close() error {
	if m == nil || m.mapping == nil {
		return nil
	}
	return m.mapping.Close()
}

// Settings are what masked texts depend on. Of secrets there is a hash only.
func (m *Masker) Settings() ([]rows.Setting, error) {
	if m == nil {
		return []rows.Setting{{Name: "--mask", Value: "false"}}, nil
	}
	operators, err := json.Marshal(m.operators)
	if err != nil {
		return nil, err
	}
	id := "none"
	if m.mapping != nil {
		id = m.mapping.ID()
	}
	return []rows.Setting{{Name: "--mask", Value: "true"}, {Name: "the operators", Value: Fingerprint(operators)}, {Name: "the mapping", Value: id}}, nil
}

// Fingerprint returns the beginning of the SHA-256 of some data.
func Fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:8])
}
