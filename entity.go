package toxscreen

import (
	"context"
	"fmt"
	"unicode/utf8"
)

// EntityType is a kind of personal data, such as "PERSON". Package pii lists the types
// that it finds; they have Presidio's names where Presidio knows the type.
type EntityType string

// Entity is a piece of personal data in a text.
type Entity struct {
	Type  EntityType `json:"type"`
	Start int        `json:"start"` // offset of its first unit
	End   int        `json:"end"`   // offset after its last unit
	// Score in 0..1 says how sure the finder is of the type.
	Score Probability `json:"score"`
	// Why names the reasons, the first one first: "pattern", "checksum", "network",
	// "deny list", or a cue near by, like `cue "ssn"`.
	Why []string `json:"why"`
}

// EntityFinder finds personal data. Package pii has one. Implementations must be safe for
// concurrent use.
type EntityFinder interface {
	// Find returns the personal data in a text, ordered by Start and without overlap, with
	// byte offsets; a text without personal data gives an empty slice, not nil. If ctx ends
	// first, Find returns its error.
	Find(ctx context.Context, text string) ([]Entity, error)
	// Version identifies everything that the entities of a text depend on.
	Version() string
	// Parallel is how many concurrent texts keep the finder busy, 1 or more.
	Parallel() int
}

// Found is the personal data in one text. Its JSON form is the native format of the command
// line.
type Found struct {
	// Entities are ordered by Start, without overlap; empty, not nil, if there are none.
	Entities []Entity `json:"entities"`
	// Masked is the text with its entities masked; nil if masking was not asked for.
	Masked *string `json:"masked,omitempty"`
	// OffsetUnit is the unit of the offsets in Entities.
	OffsetUnit OffsetUnit `json:"offset_unit"`
	// Warnings are sentences about the limits of this result.
	Warnings []string `json:"warnings"`
	// Versions identifies everything that the entities depend on.
	Versions FoundVersions `json:"versions"`
}

// FoundVersions are the versions of [Found].
type FoundVersions struct {
	Toxscreen string `json:"toxscreen"`
	Entities  string `json:"entities"` // of the finder
}

// NewFound returns what a finder found in a text, with its offsets in a unit.
func NewFound(f EntityFinder, text string, entities []Entity, unit OffsetUnit) Found {
	found := Found{
		Entities: NewUnits(unit, text).Entities(entities), OffsetUnit: unit,
		Warnings: []string{}, Versions: FoundVersions{Version, f.Version()},
	}
	if warning := invalidUTF8(text); warning != "" {
		found.Warnings = append(found.Warnings, warning)
	}
	return found
}

// invalidUTF8 returns a warning that says how many bytes of a text are not valid UTF-8; empty if
// all are.
func invalidUTF8(text string) string {
	if utf8.ValidString(text) {
		return ""
	}
	invalid := 0
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if c == utf8.RuneError && size == 1 {
			invalid++
		}
		at += size
	}
	if invalid == 1 {
		return "1 byte is not valid UTF-8: it is read as U+FFFD"
	}
	return fmt.Sprintf("%d bytes are not valid UTF-8: they are read as U+FFFD", invalid)
}

// WithEntities also finds the personal data in each text, for [Result.Entities].
func WithEntities(f EntityFinder) Option {
	return func(s *Screener) { s.entities = f }
}
