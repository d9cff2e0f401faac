package names

import (
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
)

// Where the lines, columns and cells of a text end, if all of it were one name.
func TestBorders(t *testing.T) {
	for _, c := range []struct {
		why  string
		typ  toxscreen.EntityType
		text string
		want []string
	}{
		{"a blank is no border", kind.Person, "a b\u00a0c", []string{"a b\u00a0c"}},
		{"several are, as in a column of fixed width", kind.Person, "a   b", []string{"a", "b"}},
		{"a line break and its indentation are one border", kind.Person, "a \r\n\t b", []string{"a", "b"}},
		{"a comma is none in prose", kind.Person, "Berg,Anna", []string{"Berg,Anna"}},
		{"it is one in rows of a table, unless a blank follows", kind.Person, "x,\"b, c\",d\nx,y,z\n", []string{"x", "\"b, c\"", "d", "x", "y", "z"}},
		{"lines with another number of commas are no rows", kind.Person, "a,b\nc,d,e", []string{"a,b", "c,d,e"}},
		{"an address has lines", kind.Address, "a\nb\r\n c", []string{"a\nb\r\n c"}},
		{"unless each line is one", kind.Address, "12 Elm Street, Leeds\n14 Oak Road, York\n3 Mill Lane\nBath", []string{"12 Elm Street, Leeds", "14 Oak Road, York\n3 Mill Lane\nBath"}},
		{"a town is none", kind.Address, "12 Elm Street, Apt 4\n75002 Paris, France", []string{"12 Elm Street, Apt 4\n75002 Paris, France"}},
		{"but no blank lines", kind.Address, "a\n\nb\r\n\r\nc", []string{"a", "b", "c"}},
		{"it ends with the row of a table", kind.Address, "a\tb\nc\td", []string{"a", "b", "c", "d"}},
		{"a semicolon in prose may be a part of it", kind.Address, "a; b", []string{"a; b"}},
	} {
		b := newBorders(c.text)
		var got []string
		for at := 0; at < len(c.text); {
			end, next := b.next(c.typ, at, len(c.text))
			if end > at {
				got = append(got, c.text[at:end])
			}
			at = next
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q is %q, want %q", c.why, c.text, got, c.want)
		}
	}
}

// Each border lies in the part that was asked for and leads on.
func FuzzBorders(f *testing.F) {
	for _, text := range []string{"a\tb\r\nc|d", "a,b;c\na,b;c", "\u2028 \u0085\xff", ",", "\r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range []toxscreen.EntityType{kind.Person, kind.Address} {
			b := newBorders(text)
			for at := 0; at < len(text); {
				end, next := b.next(typ, at, len(text))
				if end < at || next < end || next <= at || next > len(text) {
					t.Fatalf("%q at %d: %d to %d", text, at, end, next)
				}
				at = next
			}
		}
	})
}
