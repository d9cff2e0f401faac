package pii

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/spelling"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// patterns are compiled for the first text that needs them, which takes a millisecond.
var patterns = sync.OnceValue(func() *scan.Patterns { return scan.Compile(Kinds()) })

// Kinds returns all kinds of this package's finders, in the order of the documentation.
func Kinds() []scan.Kind { return slices.Clone(kind.All) }

// Types returns the types of [Kinds], in the same order.
func Types() []toxscreen.EntityType { return typesOf(func(scan.Kind) bool { return true }) }

// defaultTypes are found unless [Settings.Types] says otherwise.
func defaultTypes() []toxscreen.EntityType {
	return typesOf(func(k scan.Kind) bool { return !k.OnRequest })
}

func typesOf(is func(scan.Kind) bool) []toxscreen.EntityType {
	var types []toxscreen.EntityType
	for _, k := range kind.All {
		if is(k) {
			types = append(types, k.Type)
		}
	}
	return types
}

// ParseType returns the type with a name: one of the settings' recognizers, or one of
// [Kinds], whose names may be in any case. For any other name, the error suggests the most
// similar one.
func (s Settings) ParseType(name string) (toxscreen.EntityType, error) {
	own := toxscreen.EntityType(name)
	if slices.ContainsFunc(s.Recognizers, func(r Recognizer) bool { return r.Type == own }) {
		return own, nil
	}
	t := toxscreen.EntityType(strings.ToUpper(name))
	if slices.Contains(Types(), t) {
		return t, nil
	}
	return "", s.unknownType(name)
}

// unknownType returns the error for the name of a type that nothing finds.
func (s Settings) unknownType(name string) error {
	var known []string
	for _, t := range Types() {
		known = append(known, string(t))
	}
	for _, r := range s.Recognizers {
		known = append(known, string(r.Type))
	}
	nearest, _ := spelling.Nearest(strings.ToUpper(name), known)
	return fmt.Errorf("unknown type %q of personal data: the nearest known one is %s", name, nearest)
}
