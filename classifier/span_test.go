package classifier

import (
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/tokenize"
)

func attribute(a toxscreen.Attribute) *toxscreen.Attribute { return &a }

// TestSpansRelative: a word that would be marked alone is not marked next to a
// word that is marked much more strongly. This applies to each label separately.
func TestSpansRelative(t *testing.T) {
	spec := &SpanSpec{
		Labels:    []Label{{Name: "insult", Attribute: attribute(toxscreen.Insult)}, {Name: "profanity", Attribute: attribute(toxscreen.Profanity)}},
		Threshold: 0.1, Relative: 0.5,
	}
	offsets := []tokenize.Offset{{Start: 0, End: 4}, {Start: 6, End: 11}}
	for _, test := range []struct {
		name         string
		weak, strong [2]float64 // probabilities for insult and profanity
		want         string
	}{
		{"alone", [2]float64{0.3, 0}, [2]float64{0, 0}, "[dull:insult], idiot"},
		{"half of the strongest", [2]float64{0.4, 0}, [2]float64{0.79, 0}, "[dull:insult], [idiot:insult]"},
		{"less than half", [2]float64{0.4, 0}, [2]float64{0.81, 0}, "dull, [idiot:insult]"},
		{"strong for another label", [2]float64{0, 0.3}, [2]float64{0.9, 0}, "[dull:profanity], [idiot:insult]"},
		{"under the threshold", [2]float64{0.09, 0}, [2]float64{0.09, 0}, "dull, idiot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logits []float32
			for _, p := range append(test.weak[:], test.strong[:]...) {
				logits = append(logits, float32(logodds.Of(p)))
			}
			text := "dull, idiot"
			if drawn := draw(text, spans(text, offsets, logits, spec)); drawn != test.want {
				t.Errorf("got %s, want %s", drawn, test.want)
			}
		})
	}
}

// The spans of a text whose pieces are marked by hand: «i» and «p» before a
// piece mark it as insult and profanity, «.» as neither.
func TestSpans(t *testing.T) {
	spec := &SpanSpec{
		Labels:    []Label{{Name: "insult", Attribute: attribute(toxscreen.Insult)}, {Name: "profanity", Attribute: attribute(toxscreen.Profanity)}, {Name: "unused"}},
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
		{"so does the end of a sentence", "What an idiot. Idiot!", []string{".what", ".an", "iidiot", "i.", "iidiot"}, "What an [idiot.:insult] [Idiot:insult]!"},
		{"and that of a line", "idiot\nidiot", []string{"iidiot", "iidiot"}, "[idiot:insult]\n[idiot:insult]"},
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
				t.Error("nil spans mean a model without a token head")
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
