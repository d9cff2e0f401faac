package toxscreen

import "context"

// EntityType is a kind of personal data, such as "PERSON". Package pii lists the types
// that it finds; they have Presidio's names where Presidio knows the type.
type EntityType string

// Entity is a piece of personal data in a text.
type Entity struct {
	Type  EntityType `json:"type"`
	Start int        `json:"start"` // offset of its first unit
	End   int        `json:"end"`   // offset after its last unit
	// Score in 0..1 says how sure it is that the part of the text is of this type.
	Score Probability `json:"score"`
	// Why names what speaks for it, the first reason first: "pattern", "checksum",
	// "network", "deny list", or a cue near by, like `cue "ssn"`.
	Why []string `json:"why"`
}

// EntityFinder finds personal data. Package pii has one. Implementations must be safe for
// concurrent use.
type EntityFinder interface {
	// Find returns the personal data in a text, ordered by Start and free of overlap, with
	// byte offsets; it is empty, not nil, if there is none. It returns the context's error if
	// that ends first.
	Find(ctx context.Context, text string) ([]Entity, error)
	// Version identifies everything that the entities of a text depend on.
	Version() string
}

// WithEntities also finds the personal data in each text, for [Result.Entities].
func WithEntities(f EntityFinder) Option {
	return func(s *Screener) { s.entities = f }
}
