package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Found shows personal data: how much there is, the text with marked entities, and a table of
// them.
func (v View) Found(text string, entities []toxscreen.Entity, shown toxscreen.Found) error {
	var b bytes.Buffer
	count := "no personal data found"
	if len(entities) > 0 {
		count = plural.Count(len(entities), "entity", "entities")
	}
	fmt.Fprintf(&b, "%s\n\n", v.Bold(count))
	if text == "" {
		b.WriteString(v.Dim("(empty)"))
	}
	marks := make([]mark, len(entities))
	for i, e := range entities {
		marks[i] = mark{e.Start, e.End, v.entityColour(e.Type)}
	}
	b.WriteString(v.marked(text, marks))
	b.WriteString("\n\n")
	if len(entities) > 0 {
		v.entities(&b, text, entities, shown.Entities)
		b.WriteString("\n")
	}
	for _, w := range shown.Warnings {
		fmt.Fprintf(&b, "%s %s\n", v.warning(), Escape(w))
	}
	fmt.Fprintf(&b, "%s\n", v.Dim("by "+Escape(shown.Versions.Entities)+", toxscreen "+shown.Versions.Toxscreen))
	_, err := v.Out.Write(b.Bytes())
	return err
}

// entities prints a line for each entity. shown have their offsets in the unit of the caller.
func (v View) entities(b *bytes.Buffer, text string, entities, shown []toxscreen.Entity) {
	types, places, whys := make([]string, len(entities)), make([]string, len(entities)), make([]string, len(entities))
	for i, e := range entities {
		types[i], places[i], whys[i] = Escape(string(e.Type)), fmt.Sprintf("%d–%d", shown[i].Start, shown[i].End), Escape(strings.Join(e.Why, ", "))
	}
	padded := func(texts []string, i int) string {
		widest := slices.MaxFunc(texts, func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) })
		return fmt.Sprintf("%-*s", utf8.RuneCountInString(widest), texts[i])
	}
	for i, e := range entities {
		fmt.Fprintf(b, "%s%s  %.2f  %s  %s  %s\n", v.square(v.entityColour(e.Type)), v.Bold(padded(types, i)), e.Score, v.Dim(padded(places, i)), v.Dim(padded(whys, i)),
			quotation(text[e.Start:e.End]))
	}
}

// entityColour returns the colour of a type, from a few that are easily told apart.
func (v View) entityColour(t toxscreen.EntityType) int {
	palette := []int{215, 80, 141, 221, 207, 78, 203, 117}
	return palette[(slices.Index(v.Types, t)+len(palette))%len(palette)]
}
