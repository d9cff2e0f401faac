package models_test

import (
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// typographies write a text as programs do that people write with. The same words mean the
// same.
var typographies = map[string]func(string) string{
	"curly quotes":      strings.NewReplacer(`"`, "“", "'", "’", "...", "…").Replace,
	"low and prime":     strings.NewReplacer(`"`, "„", "'", "′").Replace,
	"angle quotes":      strings.NewReplacer(`"`, "»", "'", "´").Replace,
	"no-break blanks":   strings.NewReplacer(" ", "\u00a0").Replace,
	"thin blanks":       strings.NewReplacer(" ", "\u2009").Replace,
	"soft hyphens":      strings.NewReplacer("ou", "o\u00adu", "st", "s\u00adt").Replace,
	"zero-width blanks": strings.NewReplacer("e", "e\u200b").Replace,
	"HTML":              html.EscapeString,
	"HTML twice":        func(text string) string { return html.EscapeString(html.EscapeString(text)) },
	"named references":  strings.NewReplacer(`"`, "&ldquo;", "'", "&rsquo;", " ", "&nbsp;", "...", "&hellip;").Replace,
	"misread":           func(text string) string { return misread(strings.NewReplacer(`"`, "“", "'", "’").Replace(text)) },
	"misread twice": func(text string) string {
		return misread(misread(strings.NewReplacer("'", "’", "...", "…").Replace(text)))
	},
	"ligatures": strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ", "ff", "ﬀ").Replace,
}

// misread reads the UTF-8 of a text as Windows-1252.
func misread(text string) string {
	out, err := charmap.Windows1252.NewDecoder().String(text)
	if err != nil {
		panic(err)
	}
	return out
}

var plainTexts = []string{
	"I don't think you're stupid.", `"You idiot" is what he called her.`, "He didn't say 'shut up'... did he?", "you are a stupid idiot",
	"Don't you dare, you f*cking 1d10t", "It's the first official rifle office.", "Salt & pepper, <b>5 > 4</b>", "you a$$hole, i d i o t",
	strings.Repeat("The committee didn't object to the plan. ", 30) + `"You're an idiot", he said. ` + strings.Repeat("It wasn't clear. ", 30),
}

// TestTypographyDoesNotCount: a text in another typography has the scores of the same text in
// plain typography, and the same words are marked in it.
func TestTypographyDoesNotCount(t *testing.T) {
	model := open(t, models.DefaultName)
	classify := func(text string) toxscreen.Classification {
		t.Helper()
		found, err := model.Classify(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, plain := range plainTexts {
		want := classify(plain)
		for name, write := range typographies {
			text := write(plain)
			got := classify(text)
			for a, p := range want.Scores.All() {
				if q, _ := got.Scores.Get(a); math.Abs(p-q) > 1e-6 {
					t.Errorf("%s: %q has %s %v, plainly written %v", name, text, a, q, p)
				}
			}
			if len(got.Windows) != len(want.Windows) {
				t.Errorf("%s: %q has %d windows, plainly written %d", name, text, len(got.Windows), len(want.Windows))
			}
			var marked, wanted []string
			for _, s := range got.Spans {
				marked = append(marked, text[s.Start:s.End])
			}
			for _, s := range want.Spans {
				wanted = append(wanted, write(plain[s.Start:s.End]))
			}
			if !slices.EqualFunc(marked, wanted, func(a, b string) bool {
				return strings.Trim(a, "\u00ad\u200b") == strings.Trim(b, "\u00ad\u200b")
			}) {
				t.Errorf("%s: in %q the spans are %q, want %q", name, text, marked, wanted)
			}
			for i, r := range got.Readings {
				if r.ReadAs != want.Readings[i].ReadAs {
					t.Errorf("%s: in %q the reading %d is %+v, plainly written %+v", name, text, i, r, want.Readings[i])
				}
				if r.Start >= r.End || r.End > len(text) {
					t.Errorf("%s: in %q the reading %d is from %d to %d", name, text, i, r.Start, r.End)
				}
			}
		}
	}
}

// TestLinksDoNotCount: words in an address raise no flag and are not marked, and what stands
// beside it has the score that it has alone, to the last digit.
func TestLinksDoNotCount(t *testing.T) {
	model := open(t, models.DefaultName)
	for _, link := range []string{
		"https://example.org/wiki/Dickcissel", "http://example.com/r/shittyfoodporn/comments/1", "www.example.com/stupid-idiot?q=moron", "example.org/you/suck",
	} {
		alone, err := model.Classify(t.Context(), link)
		if err != nil {
			t.Fatal(err)
		}
		for a, p := range alone.Scores.All() {
			if threshold, _ := alone.Thresholds.Get(a); p >= threshold {
				t.Errorf("%s: %s is %v", link, a, p)
			}
		}
		if len(alone.Spans) > 0 {
			t.Errorf("%s: spans %v", link, alone.Spans)
		}
		if len(alone.Warnings) != 1 || !strings.Contains(alone.Warnings[0], "nothing but links") {
			t.Errorf("%s: warnings %q", link, alone.Warnings)
		}
		for _, text := range []string{"you are an idiot", "I will kill you", "Thanks for the help!", "kill the process"} {
			want, err := model.Classify(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			for _, beside := range []string{text + " " + link, link + "\n" + text, text + " (" + link + ")"} {
				got, err := model.Classify(t.Context(), beside)
				if err != nil {
					t.Fatal(err)
				}
				for a, p := range want.Scores.All() {
					if q, _ := got.Scores.Get(a); p != q && !strings.Contains(beside, "(") {
						t.Errorf("%q: %s is %v, without the link %v", beside, a, q, p)
					}
				}
				at := strings.Index(beside, link)
				for _, s := range got.Spans {
					if s.Start < at+len(link) && at < s.End {
						t.Errorf("%q: %q is marked", beside, beside[s.Start:s.End])
					}
				}
			}
		}
	}
}

// BenchmarkRuns: a text of one sign or word over and over must not take longer than prose of
// its length, or limits that are set for prose do not hold. x-prose is its time beside that of
// prose, measured in the same run.
func BenchmarkRuns(b *testing.B) {
	model, err := models.OpenDefault(models.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer model.Close()
	const size = 100_000
	seconds := func(unit string) float64 {
		text := strings.Repeat(unit, size/len(unit))
		start := time.Now()
		if _, err := model.ClassifyEarly(b.Context(), text); err != nil {
			b.Fatal(err)
		}
		return time.Since(start).Seconds()
	}
	prose := seconds("The committee met on Tuesday to discuss the plans for the new library, which should open next spring. Several members asked " +
		"about the costs, and the chair promised a report. Nobody objected to the colour of the doors, though one suggested green. ")
	for _, unit := range []string{".", "!", "-", ". ", "?!", "!.?-,;", "…", "-\n", "| --- ", "ha", "ha ", "a", "a ", "0,", "😀", "😀 ", "\u200b", "\u00a0", "&amp;", "🇰", "中", "é", "\u0301", "\xff"} {
		b.Run(strconv.QuoteToASCII(unit), func(b *testing.B) {
			total := 0.0
			for b.Loop() {
				total += seconds(unit)
			}
			b.ReportMetric(total/float64(b.N)/prose, "x-prose")
		})
	}
}
