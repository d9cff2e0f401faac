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

// patterns are compiled when the first text needs them, which takes a millisecond.
var patterns = sync.OnceValue(func() *scan.Patterns { return scan.Compile(Kinds()) })

// Kinds returns all types that this package finds, in the order of the documentation.
func Kinds() []scan.Kind { return slices.Clone(kind.All) }

// Types returns the types of [Kinds].
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

// ParseType returns the type with the given name, in any case. The error names the most
// similar one.
func ParseType(name string) (toxscreen.EntityType, error) {
	t := toxscreen.EntityType(strings.ToUpper(name))
	known := Types()
	if slices.Contains(known, t) {
		return t, nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	nearest, _ := spelling.Nearest(string(t), names)
	return "", fmt.Errorf("unknown type %q of personal data: the nearest known one is %s", name, nearest)
}
