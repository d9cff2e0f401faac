package selftest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
)

// Each attribute has toxic and clean texts of thirty kinds or more, and a judge that
// answers a text a second is asked for less than five minutes.
func TestTheCasesCoverEveryAttribute(t *testing.T) {
	cases := Cases()
	seen := map[string]bool{}
	kinds := [2]map[toxscreen.Attribute]map[string]bool{{}, {}}
	for _, c := range cases {
		if seen[c.ID] {
			t.Errorf("%q is in the cases twice, or shares its ID", c.Text)
		}
		seen[c.ID] = true
		for a, label := range c.Labels.All() {
			of := kinds[int(label)]
			if of[a] == nil {
				of[a] = map[string]bool{}
			}
			of[a][c.Kind] = true
		}
	}
	for _, a := range toxscreen.Attributes() {
		if n := len(kinds[1][a]); n < 30 {
			t.Errorf("%s: cases.jsonl has %d toxic kinds, want 30", a, n)
		}
		if n := len(kinds[0][a]); n < 30 {
			t.Errorf("%s: cases.jsonl has %d clean kinds, want 30", a, n)
		}
	}
	attacks := Attacks(cases[:20])
	if all := len(cases) + len(attacks); all >= 300 {
		t.Errorf("there are %d texts", all)
	}
	ways := map[string]bool{}
	for _, c := range attacks {
		ways[c.Kind] = true
		i := slices.IndexFunc(cases, func(o Case) bool { return o.ID == c.Carrier })
		if i < 0 {
			t.Fatalf("%.60q has the carrier %q, which does not exist", c.Text, c.Carrier)
		}
		if !strings.Contains(c.Text, cases[i].Text) {
			t.Errorf("%.60q does not contain its carrier", c.Text)
		}
		if c.Labels != cases[i].Labels {
			t.Errorf("%.60q has other labels than its carrier", c.Text)
		}
		if seen[c.ID] {
			t.Errorf("%.60q shares its ID with another text", c.Text)
		}
		seen[c.ID] = true
	}
	if len(ways) < 12 {
		t.Errorf("%d kinds of attack", len(ways))
	}
	if Attacks(nil) != nil {
		t.Error("attacks without a carrier")
	}
}

// A stored self-test is read again. One that is incomplete, of other texts or unreadable
// counts as none.
func TestSelfTestsAreStored(t *testing.T) {
	folder := t.TempDir()
	model := judge.Model{Digest: "0123", Rubric: "attributes@4567"}
	kept := New(model, time.Now())
	kept.Complete, kept.Answers["a"] = true, Answer{Error: "no answer"}
	for name, c := range map[string]struct {
		change                func(*Test)
		canGoOn, isTheOutcome bool
	}{
		"complete":          {func(*Test) {}, true, true},
		"incomplete":        {func(s *Test) { s.Complete = false }, true, false},
		"of other texts":    {func(s *Test) { s.Version = "older" }, false, false},
		"in another format": {func(s *Test) { s.Format = 1 }, false, false},
	} {
		one := kept
		c.change(&one)
		file, err := one.Save(folder)
		if err != nil {
			t.Fatal(err)
		}
		read, err := readFile(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (read != nil) != c.canGoOn {
			t.Errorf("%s: read %+v, want one: %v", name, read, c.canGoOn)
		}
		if read != nil && read.Answers["a"].Error != "no answer" {
			t.Errorf("%s: read the answers %+v", name, read.Answers)
		}
		complete, err := Read(folder, model)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (complete != nil) != c.isTheOutcome {
			t.Errorf("%s: read the outcome %+v, want one: %v", name, complete, c.isTheOutcome)
		}
	}
	missing, err := Read(folder, judge.Model{Digest: "other", Rubric: "r"})
	if err != nil {
		t.Error(err)
	}
	if missing != nil {
		t.Errorf("read %+v of a model that was not tested", missing)
	}
}
