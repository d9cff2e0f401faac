package pii_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/national"
)

func TestRecognizers(t *testing.T) {
	staff := pii.Recognizer{
		Name: "staff", Type: "STAFF_NUMBER", Patterns: []pii.Pattern{{Name: "letter and digits", Regex: `\be\d{6}\b`, Score: 0.3}}, Cues: []string{"employee"},
	}
	projects := pii.Recognizer{Name: "projects", Type: "PROJECT", DenyList: []string{"Bluebird", "Red Kite", "C++ club", "(x) y"}}
	for _, c := range []struct {
		why  string
		own  pii.Recognizer
		text string
		want []string
	}{
		{"a weak pattern needs a cue", staff, "E123456", nil},
		{"a cue lifts it, and case does not matter", staff, "employee E123456", []string{"STAFF_NUMBER E123456"}},
		{"a cue may follow", staff, "E123456, an employee", []string{"STAFF_NUMBER E123456"}},
		{"a heading is a cue, for each pattern", pii.Recognizer{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `b\d`, Score: 0.1}, {Regex: `a\d`, Score: 0.1}}, Cues: []string{"code"}},
			"code,x,y\na1,a2,\nb1,b2,\n", []string{"N a1", "N b1"}},
		{"words of a deny list are whole words in any case", projects, "bluebird, Bluebirds, RED KITE, the c++ CLUB, (X) Y", []string{
			"PROJECT bluebird", "PROJECT RED KITE", "PROJECT c++ CLUB", "PROJECT (X) Y",
		}},
		{"matches without characters count for nothing", pii.Recognizer{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `n*`, Score: 1}}}, "annex", []string{"N nn"}},
		{"lines have ends, and a dot matches them", pii.Recognizer{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `^b.c$`, Score: 1}}}, "a\nb\nc\nd", []string{"N b\nc"}},
		{"a type of this package may have more patterns", pii.Recognizer{Name: "n", Type: national.USPassport, Patterns: []pii.Pattern{{Regex: `P-\d+`, Score: 1}}}, "P-12", []string{"US_PASSPORT P-12"}},
	} {
		if got := found(t, pii.Settings{Recognizers: []pii.Recognizer{c.own}}, c.text); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// Long texts are read in pieces: matches at their edges are found once.
// A type that is not asked for does not stand in the way of a recognizer of one's own.
func TestOwnRecognizersComeFirst(t *testing.T) {
	badge := pii.Recognizer{Name: "badge", Type: "BADGE", Patterns: []pii.Pattern{{Name: "digits", Regex: `\b\d{5}\b`, Score: 0.2}}, Cues: []string{"member"}}
	s := pii.Settings{Types: []toxscreen.EntityType{"BADGE"}, Recognizers: []pii.Recognizer{badge}}
	if got := found(t, s, "health plan member 10023"); !slices.Equal(got, []string{"BADGE 10023"}) {
		t.Errorf("%q", got)
	}
}

func TestRecognizersInLongTexts(t *testing.T) {
	own := pii.Settings{Recognizers: []pii.Recognizer{{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `é+x`, Score: 1}}}}}
	for _, before := range []int{1<<15 - 5, 1<<15 - 2, 1<<15 - 1, 1 << 15, 1<<16 - 3} {
		text := strings.Repeat("-", before) + "ééx" + strings.Repeat("-", 100)
		if got := found(t, own, text); !slices.Equal(got, []string{"N ééx"}) {
			t.Errorf("at %d: %q", before, got)
		}
	}
}

func TestRecognizersAreChecked(t *testing.T) {
	many := func(n int, s string) []string { return slices.Repeat([]string{s}, n) }
	one := []pii.Pattern{{Name: "p", Regex: "x", Score: 0.5}}
	for names, r := range map[string]pii.Recognizer{
		"supported_entity is missing": {Name: "n", Patterns: one},
		"letters, digits":             {Name: "n", Type: "A B", Patterns: one},
		"neither patterns nor":        {Name: "n", Type: "A"},
		"score 2":                     {Name: "n", Type: "A", Patterns: []pii.Pattern{{Regex: "x", Score: 2}}},
		"101 patterns":                {Name: "n", Type: "A", Patterns: slices.Repeat(one, 101)},
		"10001 entries":               {Name: "n", Type: "A", DenyList: many(10_001, "x")},
		"must have a letter":          {Name: "n", Type: "A", DenyList: []string{"--"}},
		"the cue":                     {Name: "n", Type: "A", Patterns: one, Cues: []string{"a b c d e"}},
	} {
		if _, err := pii.New(pii.Settings{Recognizers: []pii.Recognizer{r}}); err == nil || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), `"n"`) {
			t.Errorf("the error is %v, want one that names the recognizer and %s", err, names)
		}
	}
	if _, err := pii.New(pii.Settings{Recognizers: make([]pii.Recognizer, 101)}); err == nil {
		t.Error("101 recognizers are taken")
	}
	for regex, names := range map[string]string{
		`(?<=a)b`:                  "look-behind",
		`a(?!b)`:                   "look-ahead",
		`(a)\1`:                    `\1`,
		`(`:                        "missing closing",
		``:                         "empty",
		`((x{1,50}){1,20}y){1,30}`: "",
		strings.Repeat("x", 2_001): "2001 bytes",
		`(\pL{1,30}\pN\pL\pN){33}`: "instructions",
	} {
		_, err := pii.New(pii.Settings{Recognizers: []pii.Recognizer{{Name: "mine", Type: "A", Patterns: []pii.Pattern{{Name: "p", Regex: regex, Score: 0.5}}}}})
		wrong, ok := errors.AsType[*pii.ExpressionError](err)
		if !ok || wrong.Recognizer != "mine" || wrong.Pattern != "p" || wrong.Regex != regex || !strings.Contains(err.Error(), names) {
			t.Errorf("%.40q: the error is %v, want one about %q", regex, err, names)
		}
	}
}

// A piece begins with a line, so that what matches at the beginning of one does not match
// inside.
func TestRecognizersSeeLines(t *testing.T) {
	own := pii.Settings{Recognizers: []pii.Recognizer{{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `^y|\bz`, Score: 1}}}}}
	text := "y" + strings.Repeat(strings.Repeat("x", 99)+"\nxy xz ", 2_000)
	if got := found(t, own, text); !slices.Equal(got, []string{"N y"}) {
		t.Errorf("%d entities, want the first character only", len(got))
	}
}

// ending is a context that ends when it is looked at for the last time.
type ending struct {
	context.Context

	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// An expression that takes long on a long text ends with the context.
func TestRecognizersEndWithTheContext(t *testing.T) {
	finder, err := pii.New(pii.Settings{Recognizers: []pii.Recognizer{{Name: "n", Type: "N", Patterns: []pii.Pattern{{Regex: `(x+x+)+y`, Score: 1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x ", 1<<16)
	ctx := &ending{context.Background(), 1 << 20}
	if got, err := finder.Find(ctx, text); err != nil || len(got) > 0 {
		t.Errorf("%d entities, %v", len(got), err)
	}
	looks := 1<<20 - ctx.looks
	if looks < 10 {
		t.Errorf("Find looks at the context %d times in %d bytes", looks, len(text))
	}
	for left := range looks {
		if _, err := finder.Find(&ending{context.Background(), left}, text); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v after %d looks at the context", err, left)
		}
	}
}

const file = `
recognizers:
  - name: staff numbers
    supported_languages:
      - language: en
        context: [staff]
      - de
    supported_entity: STAFF_NUMBER
    type: custom
    patterns:
      - name: letter and digits
        regex: '\bE\d{6}\b'
        score: 0.3
    context: [employee]
  - name: projects
    supported_entity: PROJECT
    supported_language: en
    deny_list: [Bluebird]
  - name: off
    enabled: false
    supported_entity: OFF
    deny_list: [x]
`

func TestReadRecognizers(t *testing.T) {
	all, _, err := pii.ReadRecognizers([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, pii.Settings{Recognizers: all}, "staff E123456 and bluebird"); !slices.Equal(got, []string{"STAFF_NUMBER E123456", "PROJECT bluebird"}) {
		t.Errorf("%q from %+v", got, all)
	}
	for names, change := range map[string][2]string{
		`line 10: unknown key "patern": the nearest known one is patterns`: {"    patterns:", "    patern:"},
		`unknown key "scores": the nearest known one is score`:             {"score:", "scores:"},
		`unknown key "recognizer": the nearest known one is recognizers`:   {"recognizers:", "recognizer:"},
		`"off": its language must be en`:                                   {"    enabled: false", "    supported_language: fr"},
		`its type is "predefined"`:                                         {"type: custom", "type: predefined"},
		`"staff numbers": the expression`:                                  {`\bE\d{6}\b`, `(?<!x)E`},
		`more after the end`:                                               {"    deny_list: [x]", "    deny_list: [x]\n---\na: b"},
	} {
		if _, _, err := pii.ReadRecognizers([]byte(strings.Replace(file, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("the error is %v, want one that says %s", err, names)
		}
	}
	if _, _, err := pii.ReadRecognizers(nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("the error of an empty file is %v", err)
	}
	if _, _, err := pii.ReadRecognizers(make([]byte, 1<<20+1)); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("the error of a long file is %v", err)
	}
}
