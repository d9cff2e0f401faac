package classifier

import (
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/tokenize"
)

func attribute(a toxscreen.Attribute) *toxscreen.Attribute { return &a }

// The spans of a text whose pieces are marked by hand: «i» and «p» before a
// piece mark it as insult and profanity, «.» as neither.
func TestSpans(t *testing.T) {
	spec := &SpanSpec{
		Labels:    []Label{{"insult", attribute(toxscreen.Insult)}, {"profanity", attribute(toxscreen.Profanity)}, {"unused", nil}},
		Threshold: 0.5,
	}
	for _, test := range []struct {
		name, text string
		pieces     []string // a mark and a piece of the text, in order
		want       string   // spans in brackets
	}{
		{"nothing marked", "you are kind", []string{".you", ".are", ".kind"}, "you are kind"},
		{"whole words from a single piece", "you numbskull!", []string{".you", "inumb", ".skull", ".!"}, "you [numbskull:insult]!"},
		{"punctuation stays outside", "an idiot, really", []string{".an", "iidiot", ".,", ".really"}, "an [idiot:insult], really"},
		{"neighbours over a blank become one", "stupid  idiot", []string{"istupid", "iidiot"}, "[stupid  idiot:insult]"},
		{"neighbours of different attributes too", "damned idiot", []string{"pdamned", "iidiot"}, "[damned idiot:insult+profanity]"},
		{"a comma keeps them apart", "stupid, idiot", []string{"istupid", ".,", "iidiot"}, "[stupid:insult], [idiot:insult]"},
		{"stars inside a word", "a d*mn shame", []string{".a", "pd", "p*", "pmn", ".shame"}, "a [d*mn:profanity] shame"},
		{"the apostrophe belongs to the word", "idiot's", []string{"iidiot", ".'", ".s"}, "[idiot's:insult]"},
		{"pieces that begin with the blank", "an idiot", []string{".an", "i idiot"}, "an [idiot:insult]"},
		{"a label without attribute marks nothing", "a word", []string{".a", "uword"}, "a word"},
		{"letters of several bytes", "ein Blödmann ✌🏽", []string{".ein", "iblöd", ".mann", ".✌🏽"}, "ein [Blödmann:insult] ✌🏽"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var offsets []tokenize.Offset
			var logits []float32
			at := 0
			for _, p := range test.pieces {
				mark, piece := p[:1], p[1:]
				found := strings.Index(strings.ToLower(test.text[at:]), strings.ToLower(piece))
				if found < 0 {
					t.Fatalf("%q is not in %q", piece, test.text[at:])
				}
				at += found
				offsets = append(offsets, tokenize.Offset{Start: int32(at), End: int32(at + len(piece))})
				at += len(piece)
				row := []float32{-2, -2, -2}
				if i := strings.Index("ipu", mark); i >= 0 {
					row[i] = 2
				}
				logits = append(logits, row...)
			}
			got := spans(test.text, offsets, logits, spec)
			if got == nil {
				t.Error("nil spans stand for a model without a token head")
			}
			if drawn := draw(test.text, got); drawn != test.want {
				t.Errorf("got  %s\nwant %s", drawn, test.want)
			}
		})
	}
}

// draw writes a text with its spans in brackets.
func draw(text string, spans []toxscreen.Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		var names []string
		for a := range s.Attributes.All() {
			names = append(names, a.String())
		}
		b.WriteString(text[at:s.Start] + "[" + text[s.Start:s.End] + ":" + strings.Join(names, "+") + "]")
		at = s.End
	}
	return b.String() + text[at:]
}
