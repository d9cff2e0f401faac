package judge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

const small = `name: mine
goal: Decide.
violations: [Shouting]
severity: [Low, High]
aspects:
  - {name: loud, question: "Is it loud?", weight: 3}
  - {name: rude, question: "Is it rude?", attribute: insult}
`

func TestEveryRubricOfThePackageIsValid(t *testing.T) {
	names := Rubrics()
	if want := []string{"attributes", "bias", "nexa-gauge/bias", "nexa-gauge/toxicity", "toxicity"}; !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
	for _, name := range names {
		r, err := OpenRubric(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.Name != name {
			t.Errorf("%s calls itself %s", name, r.Name)
		}
	}
	r, _ := OpenRubric("attributes")
	if n := len(toxscreen.Attributes()); len(r.Aspects) != n {
		t.Fatalf("judge/rubrics/attributes.yaml has %d aspects, want one for each of %d attributes", len(r.Aspects), n)
	}
	for i, a := range toxscreen.Attributes() {
		if *r.Aspects[i].Attribute != a {
			t.Errorf("aspect %d measures %s, want %s", i, r.Aspects[i].Attribute, a)
		}
	}
}

// The version depends on the content of a rubric, not on the layout of its file.
func TestAVersionNamesTheContent(t *testing.T) {
	parse := func(text string) Rubric {
		r, err := ParseRubric([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	version := parse(small).Version()
	if !strings.HasPrefix(version, "mine@") || len(version) != len("mine@")+12 {
		t.Errorf("version %q", version)
	}
	if commented := parse("# mine\n" + small + "\n\n").Version(); commented != version {
		t.Errorf("a comment changed the version to %s from %s", commented, version)
	}
	if other := parse(strings.Replace(small, "weight: 3", "weight: 2", 1)).Version(); other == version {
		t.Error("another weight has the same version")
	}
}

// Weight 3 with severity 2 of 2 and weight 1 with severity 1 of 2 are 7 of 8.
func TestTheScoreIsWeightedSeverityByItsMaximum(t *testing.T) {
	r, err := ParseRubric([]byte(small + "scale: 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	severities := []int{2, 1}
	aspects := []toxscreen.AspectVerdict{{Severity: &severities[0]}, {Severity: &severities[1]}}
	if got := r.score(aspects); got != 8.75 {
		t.Errorf("score %v, want 8.75", got)
	}
}

func TestInvalidRubricsAreRejected(t *testing.T) {
	for name, c := range map[string]struct{ change, to, want string }{
		"unknown key":        {"goal:", "gaol:", `line 2: unknown key "gaol": the nearest known one is goal`},
		"unknown aspect key": {"weight: 3", "wieght: 3", `unknown key "wieght": the nearest known one is weight`},
		"unknown attribute":  {"attribute: insult", "attribute: insolt", `unknown attribute "insolt"`},
		"negative weight":    {"weight: 3", "weight: -3", "aspects[0].weight: -3 must be over 0"},
		"same name":          {"name: rude", "name: loud", `aspects[1].name: "loud" is given twice`},
		"no severity":        {"severity: [Low, High]", "severity: []", "severity: missing"},
		"no goal":            {"goal: Decide.", "goal: ''", "goal: missing"},
		"two lines":          {"goal: Decide.", `goal: "a\nb"`, "goal: it must be one line"},
		"a second one":       {"name: rude,", "name: rude,", ""},
	} {
		_, err := ParseRubric([]byte(strings.Replace(small, c.change, c.to, 1)))
		if c.want == "" {
			if _, err := ParseRubric([]byte(small + "---\nname: second\n")); err == nil || !strings.Contains(err.Error(), "there is more after the end") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := OpenRubric("toxicty"); err == nil || !strings.Contains(err.Error(), `failed to find rubric "toxicty": use one of attributes`) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("goal: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRubric(file); err == nil || !strings.Contains(err.Error(), "failed to read rubric "+file+": name:") {
		t.Error(err)
	}
}
