package classifier_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
)

// exiting is tiny with an exit for texts of a few harmless words and one for all harmless texts.
const exiting = "../testdata/models/tiny-exits"

// withExits is the configuration of a model with exits, in a folder.
func withExits(t testing.TB, folder string) classifier.Config {
	t.Helper()
	c := config(t, folder)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var manifest struct {
		Thresholds toxscreen.Scores
		Variants   []struct {
			Exits []struct {
				Stage, File string
				classifier.Exit
			}
		}
	}
	if err := json.Unmarshal(read("manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	c.Thresholds = manifest.Thresholds
	for _, e := range manifest.Variants[0].Exits {
		exit := e.Exit
		exit.Stage, exit.Model = read(e.Stage), read(e.File)
		c.Exits = append(c.Exits, exit)
	}
	return c
}

// bothWays classifies a text by the whole network, and with exits.
func bothWays(t *testing.T, c *classifier.Classifier, text string) (full, early toxscreen.Classification) {
	t.Helper()
	full, err := c.Classify(t.Context(), text, toxscreen.Full)
	if err == nil {
		early, err = c.Classify(t.Context(), text, toxscreen.Early)
	}
	if err != nil {
		t.Fatal(err)
	}
	return full, early
}

// A harmless text leaves early, with estimates near the scores of the whole network. A text with
// something to flag or to mark has the same classification as without exits.
func TestHarmlessTextsLeaveEarly(t *testing.T) {
	c := open(t, withExits(t, exiting))
	for text, exit := range map[string]int{
		"":                      1,
		"tea":                   1,
		"we walk and talk":      2,
		"silly":                 0, // one in three would call it toxic
		"you idiot":             0,
		"you 1d10t":             0, // its reading is flagged
		"he said: the k1ll fee": 0,
	} {
		full, early := bothWays(t, c, text)
		if early.Exit != exit {
			t.Errorf("%q left at exit %d, want %d", text, early.Exit, exit)
		}
		if full.Exit != 0 {
			t.Errorf("%q left at exit %d of the whole network", text, full.Exit)
		}
		allowed := 0.03
		if exit == 0 {
			allowed = 1e-6
			if !cmp.Equal(full.Spans, early.Spans, scoresEqual) {
				t.Errorf("%q has the spans %+v with exits, %+v without", text, early.Spans, full.Spans)
			}
		}
		if largestGap(t, full, early) > allowed {
			t.Errorf("%q has the scores %+v with exits, %+v without", text, early.Scores, full.Scores)
		}
	}
}

var scoresEqual = cmp.AllowUnexported(toxscreen.Scores{})

// Of a long text, the harmless windows leave, and the others are scored and marked as without exits.
func TestWindowsOfALongTextLeave(t *testing.T) {
	c := open(t, withExits(t, exiting))
	harmless := strings.Repeat("we walk and talk and play. ", 20)
	text := harmless + "you stupid idiot. " + harmless
	full, early := bothWays(t, c, text)
	if early.Exit != 0 {
		t.Errorf("the whole text left at exit %d", early.Exit)
	}
	if !cmp.Equal(early.Spans, full.Spans, scoresEqual) {
		t.Errorf("the spans %+v with exits, %+v without", early.Spans, full.Spans)
	}
	if largestGap(t, full, early) > 1e-6 {
		t.Errorf("the scores %+v with exits, %+v without", early.Scores, full.Scores)
	}
	if _, early := bothWays(t, c, harmless); early.Exit != 2 {
		t.Errorf("a harmless page left at exit %d, want 2", early.Exit)
	}
}

// A window whose exit itself calls it toxic does not leave, however low its doubt is.
func TestNothingFlaggedLeaves(t *testing.T) {
	config := withExits(t, exiting)
	for i := range config.Exits {
		config.Exits[i].Doubt = 100
	}
	c := open(t, config)
	for text, exit := range map[string]int{"we walk and talk": 1, "silly": 0} {
		found, err := c.Classify(t.Context(), text, toxscreen.Early)
		if err != nil {
			t.Fatal(err)
		}
		if found.Exit != exit {
			t.Errorf("%q left at exit %d, want %d", text, found.Exit, exit)
		}
	}
}

// Open refuses exits that are not usable.
func TestOpenRefusesExits(t *testing.T) {
	for name, test := range map[string]struct {
		want  string
		spoil func(*classifier.Config)
	}{
		"layers go back":    {"exits[1].layer: 1 does not follow 1", func(c *classifier.Config) { c.Exits[1].Layer = 1 }},
		"no output":         {"exits[0].output: missing", func(c *classifier.Config) { c.Exits[0].Output = "" }},
		"nothing passed on": {"exits[0].hidden: missing", func(c *classifier.Config) { c.Exits[0].Hidden = "" }},
		"no width":          {"exits[0].width: 0", func(c *classifier.Config) { c.Exits[0].Width = 0 }},
		"calibration of others": {"exits[1].calibration", func(c *classifier.Config) {
			c.Exits[1].Calibration = map[toxscreen.Attribute]classifier.Calibration{toxscreen.Toxicity: {}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := withExits(t, exiting)
			c.Exits = slices.Clone(c.Exits)
			test.spoil(&c)
			opened, err := classifier.Open(c)
			if err == nil {
				opened.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
