package language

import "slices"

// Names returns the English names of the languages in alphabetical order.
func (k Known) Names() []string {
	var names []string
	for l := range k.languages {
		names = append(names, l.String())
	}
	slices.Sort(names)
	return names
}
