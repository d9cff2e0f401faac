package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// people returns each word of a text as a person.
func people(text string) []toxscreen.Entity {
	var all []toxscreen.Entity
	for at := 0; at < len(text); at++ {
		if end := scan.Run(text, at, scan.Word); end > at {
			all = append(all, toxscreen.Entity{Type: kind.Person, Start: at, End: end})
			at = end
		}
	}
	return all
}

// What remains of the names is what was there, in its order, and lies in the text.
func FuzzNotTools(f *testing.F) {
	for _, text := range []string{"Jenkins server", "`claude`", "Jenkins 2.4.1", "Dr. Jenkins.", "Travis, can you", "Ping Jenkins", "julia:", "jenkins.yaml\xff", "a Jenkins\n\nJenkins CI"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		given := people(text)
		for _, e := range notTools(text, slices.Clone(given)) {
			if !slices.ContainsFunc(given, func(g toxscreen.Entity) bool { return g.End == e.End && g.Start <= e.Start }) || e.Start >= e.End {
				t.Fatalf("%+v of %q", e, text)
			}
		}
	})
}

// The time for each name does not grow with the length of the text.
func BenchmarkNotTools(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		text := strings.Repeat("Jenkins is slow and ", n)
		b.Run(fmt.Sprint(n, " names"), func(b *testing.B) {
			for b.Loop() {
				notTools(text, people(text))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/name")
		})
	}
}

// A given name that does something is a person's, also if the verb is a technical term.
func TestWhoDoesSomethingIsNoTool(t *testing.T) {
	for text, person := range map[string]bool{
		"Robin reboots servers every night.": true, "Julia downloads music.": true, "Victoria restarted the server.": true, "Julia logs in to the app.": true,
		"Julia downloads are slow.": false, "Julia servers": false,
	} {
		name, _, _ := strings.Cut(text, " ")
		kept := notTools(text, []toxscreen.Entity{{Type: kind.Person, Start: 0, End: len(name)}})
		if (len(kept) == 1) != person {
			t.Errorf("%q: %v", text, kept)
		}
	}
}
