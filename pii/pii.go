// Package pii finds personal data in texts and masks it:
//
//	finder, err := pii.New(pii.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	entities, err := finder.Find(ctx, "Her card is 4111 1111 1111 1111.")
//	if err != nil {
//		log.Fatal(err)
//	}
//	masked, err := pii.Mask(text, entities, nil)
//
// Identifiers with a form, like card numbers, are found by patterns, checked by their
// checksums and supported by cues, which are words near by. Names of people, places and
// organisations are found by a network, see [Settings.Names].
package pii

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// DefaultThreshold is the lowest score of an entity unless Settings say otherwise.
const DefaultThreshold = 0.4

// Settings select what a [Finder] finds. The zero value of each field is its default.
type Settings struct {
	// Types are the types to find. Default: [DefaultTypes], and those of Recognizers.
	Types []toxscreen.EntityType
	// Threshold is the lowest score of an entity, in 0..1. Default: [DefaultThreshold].
	Threshold float64
	// Regions are the ISO 3166 codes of the regions whose national phone numbers are found.
	// Default: US, GB, DE, FR, IL, IN, CA and BR. International numbers are always found.
	Regions []string
	// Recognizers are the caller's own.
	Recognizers []Recognizer
	// Cues are words that support every entity near them, beside the cues of its type.
	Cues []string
	// Allow are texts that are no personal data, compared with the whole of an entity.
	Allow []string
	// AllowPattern is a regular expression; an entity that it matches anywhere is dropped.
	// Default: none.
	AllowPattern *regexp.Regexp
	// Names finds PERSON, LOCATION, ADDRESS, ORGANIZATION and NRP. Default: none, and these
	// types are not found.
	Names Names
}

// Names finds names in texts. [Network] is one. Implementations must be safe for concurrent
// use.
type Names interface {
	// Find returns the names in a text, ordered by Start and free of overlap, with byte
	// offsets.
	Find(ctx context.Context, text string) ([]toxscreen.Entity, error)
	// Types are the types that it finds.
	Types() []toxscreen.EntityType
	// Version is name@version and a hash.
	Version() string
}

// Recognizer finds entities of one type by expressions, a list of words, or both. Its JSON
// and YAML forms have Presidio's names.
type Recognizer struct {
	Name string               `json:"name" yaml:"name"`
	Type toxscreen.EntityType `json:"supported_entity" yaml:"supported_entity"`
	// Patterns are regular expressions.
	Patterns []Pattern `json:"patterns,omitempty" yaml:"patterns"`
	// DenyList are words that are entities wherever they stand as whole words, with score 1.
	DenyList []string `json:"deny_list,omitempty" yaml:"deny_list"`
	// Cues are words that raise the score of a match near them.
	Cues []string `json:"context,omitempty" yaml:"context"`
}

// Pattern is a regular expression of a [Recognizer], in RE2's syntax.
type Pattern struct {
	Name  string  `json:"name" yaml:"name"`
	Regex string  `json:"regex" yaml:"regex"`
	Score float64 `json:"score" yaml:"score"` // of a match without a cue, in 0..1
}

// Finder finds personal data. It is immutable and safe for concurrent use.
type Finder struct {
	settings Settings
}

var _ toxscreen.EntityFinder = (*Finder)(nil)

// New returns a Finder. The error names what is wrong in the settings.
func New(s Settings) (*Finder, error) {
	if s.Threshold < 0 || s.Threshold > 1 {
		return nil, fmt.Errorf("failed to create a finder: the threshold %v is not in 0..1", s.Threshold)
	}
	if s.Threshold == 0 {
		s.Threshold = DefaultThreshold
	}
	if len(s.Types) == 0 {
		s.Types = DefaultTypes()
	}
	return &Finder{s}, nil
}

// With returns a Finder whose settings are changed, for one caller or one request. It is
// cheap unless Recognizers are added.
func (f *Finder) With(change func(*Settings)) (*Finder, error) {
	s := f.settings
	change(&s)
	return New(s)
}

// Settings returns the settings with their defaults filled in.
func (f *Finder) Settings() Settings { return f.settings }

// Version implements [toxscreen.EntityFinder].
func (f *Finder) Version() string {
	v := "patterns"
	if f.settings.Names != nil {
		v += " " + f.settings.Names.Version()
	}
	return v
}

var (
	email = regexp.MustCompile(`\b[a-zA-Z0-9._%+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+\b`)
	ssn   = regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`)
)

// Find implements [toxscreen.EntityFinder].
func (f *Finder) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	found := []toxscreen.Entity{}
	for t, pattern := range map[toxscreen.EntityType]*regexp.Regexp{EmailAddress: email, USSSN: ssn} {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			if slices.Contains(f.settings.Types, t) {
				found = append(found, toxscreen.Entity{Type: t, Start: at[0], End: at[1], Score: 0.85, Why: []string{"pattern"}})
			}
		}
	}
	if f.settings.Names != nil {
		names, err := f.settings.Names.Find(ctx, text)
		if err != nil {
			return nil, err
		}
		found = append(found, names...)
	}
	slices.SortFunc(found, func(a, b toxscreen.Entity) int { return a.Start - b.Start })
	return found, nil
}

// ErrBadExpression is in the chain of the error for an expression that RE2 cannot hold.
var ErrBadExpression = errors.New("bad expression")

// ParseType returns the type with the given name, in any case.
func ParseType(name string) (toxscreen.EntityType, error) {
	t := toxscreen.EntityType(strings.ToUpper(name))
	if !slices.Contains(Types(), t) {
		return "", fmt.Errorf("unknown type %q of personal data", name)
	}
	return t, nil
}
