package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// Each attribute has toxic and clean texts of thirty kinds or more, and a judge that
// answers a text a second is asked for less than five minutes.
func TestTheCasesCoverEveryAttribute(t *testing.T) {
	cases := TestCases()
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
		if toxic, clean := len(kinds[1][a]), len(kinds[0][a]); toxic < 30 || clean < 30 {
			t.Errorf("%s: %d toxic and %d clean kinds", a, toxic, clean)
		}
	}
	attacks := AttackCases(cases[:20])
	if all := len(cases) + len(attacks); all >= 300 {
		t.Errorf("there are %d texts", all)
	}
	ways := map[string]bool{}
	for _, c := range attacks {
		ways[c.Kind] = true
		carrier := slices.IndexFunc(cases, func(o TestCase) bool { return o.ID == c.Carrier })
		if carrier < 0 || !strings.Contains(c.Text, cases[carrier].Text) || c.Labels != cases[carrier].Labels || seen[c.ID] {
			t.Errorf("%.60q does not have its carrier", c.Text)
		}
		seen[c.ID] = true
	}
	if len(ways) < 12 {
		t.Errorf("%d kinds of attack", len(ways))
	}
	if AttackCases(nil) != nil {
		t.Error("attacks without a carrier")
	}
}

// A stored self-test is read again. One that is incomplete, of other texts or unreadable
// counts as none.
func TestSelfTestsAreStored(t *testing.T) {
	folder := t.TempDir()
	model := Model{Digest: "0123", Rubric: "attributes@4567"}
	kept := SelfTest{Format: selfTestFormat, Version: SelfTestVersion(), Digest: model.Digest, Rubric: model.Rubric, Complete: true,
		Answers: map[string]TestAnswer{"a": {Error: "no answer"}}}
	for name, c := range map[string]struct {
		change func(*SelfTest)
		ok     bool
	}{
		"complete":          {func(*SelfTest) {}, true},
		"incomplete":        {func(s *SelfTest) { s.Complete = false }, true}, // it goes on
		"of other texts":    {func(s *SelfTest) { s.Version = "older" }, false},
		"in another format": {func(s *SelfTest) { s.Format = 1 }, false},
	} {
		one := kept
		c.change(&one)
		file, err := one.Save(folder)
		if err != nil {
			t.Fatal(err)
		}
		read, err := readSelfTest(file)
		if err != nil || (read != nil) != c.ok || read != nil && read.Answers["a"].Error != "no answer" {
			t.Errorf("%s: %v, %+v", name, err, read)
		}
		if read, err := ReadSelfTest(folder, model); err != nil || (read != nil) != (name == "complete") {
			t.Errorf("%s: %v, %+v", name, err, read)
		}
	}
	if read, err := ReadSelfTest(folder, Model{Digest: "other", Rubric: "r"}); read != nil || err != nil {
		t.Errorf("a missing self-test: %v, %v", read, err)
	}
}
