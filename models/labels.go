package models

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// ParseLabels reads LABEL=ATTRIBUTE pairs for [ImportOptions]. An error begins with the
// pair.
func ParseLabels(pairs []string) (map[string]toxscreen.Attribute, error) {
	labels := map[string]toxscreen.Attribute{}
	for _, pair := range pairs {
		at := strings.LastIndexByte(pair, '=') // a label may contain one too
		if at < 1 {
			return nil, fmt.Errorf("%s: it must be LABEL=ATTRIBUTE, like hateful=toxicity", pair)
		}
		attribute, err := toxscreen.ParseAttribute(pair[at+1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pair, err)
		}
		if _, twice := labels[pair[:at]]; twice {
			return nil, fmt.Errorf("%s: %s is already mapped", pair, pair[:at])
		}
		labels[pair[:at]] = attribute
	}
	return labels, nil
}
