package migration_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/migration"
)

// exactScores lets cmp compare scores.
var exactScores = cmpopts.EquateComparable(toxscreen.Scores{})

// columns are those of the command by default.
var columns = migration.Columns{Text: "text", Labels: "labels", Language: "language", Old: true}

// People keep scores as the API answered, as an object, or as columns.
func TestScoresAreReadInTheFormsInWhichPeopleKeepThem(t *testing.T) {
	for name, c := range map[string]struct {
		column, row, want string
	}{
		"an object":                  {"", `{"old":{"toxicity":0.7,"threat":0}}`, `{"toxicity":0.7,"threat":0}`},
		"Perspective's names":        {"", `{"old":{"SEVERE_TOXICITY":0.1,"IDENTITY_ATTACK":0.2}}`, `{"severe_toxicity":0.1,"identity_attack":0.2}`},
		"versions and suffixes":      {"", `{"old":{"INSULT@6":0.1,"PROFANITY_EXPERIMENTAL":0.2,"TOXICITY_FAST":0.3}}`, `{"toxicity":0.3,"insult":0.1,"profanity":0.2}`},
		"the plain name counts":      {"", `{"old":{"TOXICITY_FAST":0.3,"TOXICITY":0.4,"TOXICITY@6":0.5}}`, `{"toxicity":0.4}`},
		"an answer of the API":       {"", `{"attributeScores":{"THREAT":{"spanScores":[],"summaryScore":{"value":0.25,"type":"PROBABILITY"}}}}`, `{"threat":0.25}`},
		"an answer in a column":      {"answer", `{"answer":{"attributeScores":{"THREAT":{"summaryScore":{"value":0.25}}},"languages":["en"]}}`, `{"threat":0.25}`},
		"an answer in a cell of CSV": {"answer", `{"answer":"{\"attributeScores\":{\"THREAT\":{\"summaryScore\":{\"value\":0.25}}}}"}`, `{"threat":0.25}`},
		"a result of toxscreen":      {"", `{"attributes":{"insult":{"score":0.5,"classifier":0.4,"threshold":0.7,"flagged":false}}}`, `{"insult":0.5}`},
		"columns":                    {"", `{"TOXICITY":"0.5","insult":0.25,"row":"3","score":0.5}`, `{"toxicity":0.5,"insult":0.25}`},
		"one column":                 {"p", `{"p":"0.5","insult":0.25}`, `{"toxicity":0.5}`},
		"the field of another name":  {"labels", `{"labels":{"toxicity":0.5}}`, `{"toxicity":0.5}`},
		"the input of batch":         {"labels", `{"input":{"labels":{"toxicity":0.5}}}`, `{"toxicity":0.5}`},
		"the input of batch in CSV":  {"labels", `{"input_labels":"{\"toxicity\":0.5}"}`, `{"toxicity":0.5}`},
		"not measured":               {"", `{"old":{"toxicity":null,"insult":"","threat":1}}`, `{"threat":1}`},
		"nothing":                    {"", `{"old":null,"text":"a"}`, `{}`},
		"no fields":                  {"", ``, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			from := columns
			from.Scores = c.column
			row, err := from.Row(1, "a", []byte(c.row))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(row.Scores)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, want %s (%v)", got, c.want, err)
			}
		})
	}
}

// A result of batch has the fields of its input, and may have old scores among them:
// they are not its own.
func TestTheScoresOfAResultAreItsOwn(t *testing.T) {
	for _, row := range []string{
		`{"attributes":{"toxicity":{"score":0.25}},"input":{"old":{"toxicity":0.5}}}`,
		`{"toxicity":"0.25","input_old":"{\"toxicity\":0.5}","input_toxicity":"0.5"}`,
		`{"attributes":{"toxicity":{"score":0.25}},"old":{"toxicity":0.5}}`,
	} {
		from := columns
		from.Old = false
		own, err := from.Row(1, "", []byte(row))
		if score, _ := own.Scores.Get(toxscreen.Toxicity); err != nil || score != 0.25 {
			t.Errorf("%s: %v (%v), want its own score", row, score, err)
		}
		from.Scores = "old"
		old, err := from.Row(1, "", []byte(row))
		if score, _ := old.Scores.Get(toxscreen.Toxicity); err != nil || score != 0.5 {
			t.Errorf("%s: %v (%v), want the score of its field", row, score, err)
		}
	}
}

func TestARowHasWhatElseIsKnownOfItsText(t *testing.T) {
	from := columns
	from.Groups = []string{"forum", "about", "none"}
	row, err := from.Row(3, "a", []byte(`{"text":"b","language":["de","en"],"labels":{"toxicity":true,"insult":0.5},"forum":7,"about":["x","y","x"],
		"old":{"toxicity":0.5,"FLIRTATION":0.1},"versions":{"model":"m@1"},"not_decided":"why"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := migration.Row{
		Number: 3, ID: "a", Text: "b", Model: "m@1", Language: "de", NotDecided: "why", Unknown: []string{"FLIRTATION"},
		Groups: map[string][]string{"forum": {"7"}, "about": {"x", "y"}},
	}
	want.Scores.Set(toxscreen.Toxicity, 0.5)
	want.Labels.Set(toxscreen.Toxicity, 1)
	want.Labels.Set(toxscreen.Insult, 0.5)
	if diff := cmp.Diff(want, row, exactScores); diff != "" {
		t.Errorf("the row differs (-want +got):\n%s", diff)
	}
}

// A wrong score would move a threshold, so each is refused with its row.
func TestWrongScoresAreRefused(t *testing.T) {
	for row, want := range map[string]string{
		`{"old":{"toxicity":70}}`:                             "row 5: old: toxicity: 70 is not in 0..1: scale the scores first, such as 70 of 100 to 0.7",
		`{"old":{"toxicity":-0.1}}`:                           "old: toxicity: -0.1 is not in 0..1",
		`{"old":{"toxicity":"NaN"}}`:                          "old: toxicity: NaN is not in 0..1",
		`{"old":{"toxicity":"high"}}`:                         `old: toxicity: "high" is not a number`,
		`{"old":[0.5]}`:                                       `old: "[0.5]" is not a number`,
		`{"old":{"toxicity":{"value":0.5}}}`:                  "old: toxicity: it has neither summaryScore.value nor score",
		`{"old":{"attributeScores":3}}`:                       "old: attributeScores: expected an object, found a number",
		`{"labels":{"toxicity":2}}`:                           "labels: toxicity: 2 is not in 0..1",
		`{"attributes":{"toxicity":{"score":0.01}},"exit":2}`: "it left the network early, so its scores are estimates: score the texts with `toxscreen batch --full`",
		`{"toxicity":"0.01","exit":"2"}`:                      "it left the network early",
		`{"old":{"toxicity":0.5}} {"old":{"toxicity":0.5}}`:   "there is more data after its JSON",
		`[]`: "expected an object, found a list",
	} {
		if _, err := columns.Row(5, "", []byte(row)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "row 5: ") {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}

// Whatever a file has, a row is either read with scores in 0..1 or refused.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{
		`{"old":{"toxicity":0.7}}`, `{"attributeScores":{"THREAT":{"summaryScore":{"value":0.25}}}}`, `{"TOXICITY":"0.5","input_labels":"{\"toxicity\":1}"}`,
		`{"labels":true,"attributes":{"insult":{"score":"1e-3"}},"input":{"group":["a",1,null,{}]}}`, `{"old":"\"0.5\"","exit":0}`, `{"old":{"attributeScores":"{}"}}`,
	} {
		f.Add([]byte(seed), "group")
	}
	f.Fuzz(func(t *testing.T, fields []byte, column string) {
		for _, scores := range []string{"", column} {
			from := migration.Columns{Text: "text", Labels: "labels", Language: column, Scores: scores, Groups: []string{column}}
			row, err := from.Row(1, "", fields)
			if err != nil {
				continue
			}
			for _, read := range []toxscreen.Scores{row.Scores, row.Labels} {
				for a, p := range read.All() {
					if !(p >= 0 && p <= 1) {
						t.Errorf("%s is %v", a, p)
					}
				}
			}
		}
	})
}

func scored(id string, toxicity float64) migration.Row {
	r := migration.Row{ID: id}
	r.Scores.Set(toxscreen.Toxicity, toxicity)
	return r
}

// The rows of two files belong together by their ids, in any order.
func TestRowsAreMatchedByID(t *testing.T) {
	old := []migration.Row{scored("a", 0.1), scored("only old", 0.2), scored("b", 0.3)}
	updated := []migration.Row{scored("b", 0.4), scored("a", 0.5), scored("only new", 0.6), scored("c", 0.7)}
	updated[0].Text, updated[0].Language, updated[0].NotDecided = "text", "en", "why"
	updated[0].Groups, old[2].Groups = map[string][]string{"x": {"1"}}, map[string][]string{"y": {"2"}}
	updated[0].Labels.Set(toxscreen.Insult, 1)
	pairs, left, err := migration.Match(old, updated)
	if err != nil {
		t.Fatal(err)
	}
	if left != (migration.Unmatched{Old: 1, New: 2}) {
		t.Errorf("%+v have no partner, want 1 old and 2 new rows", left)
	}
	if len(pairs) != 2 {
		t.Fatalf("%d rows are pairs, want 2", len(pairs))
	}
	want := migration.Pair{Row: scored("b", 0.3)}
	want.Text, want.Language, want.NotDecided, want.Groups = "text", "en", "why", map[string][]string{"x": {"1"}, "y": {"2"}}
	want.Labels.Set(toxscreen.Insult, 1)
	want.New.Set(toxscreen.Toxicity, 0.4)
	if diff := cmp.Diff(want, pairs[1], exactScores); diff != "" {
		t.Errorf("the second pair differs (-want +got):\n%s", diff)
	}
}

func TestRowsThatCannotBeMatchedAreRefused(t *testing.T) {
	a, b := scored("a", 0.1), scored("b", 0.2)
	a.Number, b.Number = 1, 2
	other := a
	a.Text, other.Text = "one", "two"
	for name, c := range map[string]struct {
		old, updated []migration.Row
		want         string
	}{
		"no id":        {[]migration.Row{a, scored("", 0.5)}, []migration.Row{a}, "of the old file has no id"},
		"twice":        {[]migration.Row{a}, []migration.Row{b, b}, `rows 2 and 2 of the new file have the same id, "b"`},
		"two texts":    {[]migration.Row{a}, []migration.Row{other}, `the rows with the id "a" have different texts`},
		"nothing same": {[]migration.Row{a}, []migration.Row{b}, `the ids of the old rows (1) and of the new ones (1) have none in common, such as "a" and "b"`},
		"no rows":      {nil, []migration.Row{b}, "the old file has no rows"},
	} {
		if _, _, err := migration.Match(c.old, c.updated); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
