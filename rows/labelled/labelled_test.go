package labelled_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

// scored returns a line of a result with more fields.
func scored(fields string) string {
	return `{"score":0.7,"attributes":{"toxicity":{"score":0.7,"classifier":0.8,"plain":0.6,"threshold":0.5}},"versions":{"model":"mine@1"}` + fields + "}\n"
}

func TestReadNamesRows(t *testing.T) {
	const said = `,"input":{"labels":{"toxicity":1}}`
	in := scored(said+`,"id":"a","text":"you idiot"`) + scored(said+`,"id":"b","text":""`) + "\n" + scored(said+`,"id":7`) + scored(said) + scored(said+`,"id":null`)
	all, err := labelled.Read(rows.Standard, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range all.Rows {
		names = append(names, row.Name)
	}
	if got := fmt.Sprintf("%q", names); got != `["you idiot" "b" "7" "line 5" "line 6"]` {
		t.Error(got)
	}
	row := all.Rows[0]
	plain, _ := row.Found.Plain.Get(toxscreen.Toxicity)
	threshold, _ := all.Thresholds.Get(toxscreen.Toxicity)
	if got, want := fmt.Sprintf("%s %v %v %v", all.Model, threshold, plain, row.Weight), "mine@1 0.5 0.6 1"; got != want {
		t.Errorf("model, threshold, plain score and weight are %s, want %s", got, want)
	}
	if row.Verdict != nil {
		t.Errorf("there is a verdict: %+v", row.Verdict)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":           {"\n", "standard input contains none"},
		"no JSON":           {"{", "standard input: line 1: its JSON breaks off"},
		"no result":         {`{"row":1}`, "it is not a result"},
		"no labels":         {scored(`,"input":{"stars":1}`), "it has no labels"},
		"labels of nothing": {scored(`,"input":{"labels":{"rudeness":1}}`), `unknown attribute "rudeness"`},
		"a label in words":  {scored(`,"input":{"labels":{"toxicity":"yes"}}`), "input: failed to read scores: toxicity must be a number"},
		"labels from CSV":   {scored(`,"input":{"labels":"{\"toxicity\":1}"}`), "input: labels: expected an object, found a string"},
		"a weight in words": {scored(`,"input":{"labels":{"toxicity":1},"weight":"2"}`), "input: weight: expected a number, found a string"},
		"another object":    {`{"row":"first"}`, "row: expected a whole number, found a string"},
		"no label":          {scored(`,"input":{"labels":{"toxicity":null}}`), "toxicity is null"},
		"a failed row":      {`{"row":1,"error":"too long"}`, "the row failed: too long; remove it"},
		"a line too long":   {strings.Repeat(" ", 64<<20+1), "token too long"},
	} {
		if _, err := labelled.Read(rows.Standard, strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := labelled.Read(t.TempDir()+"/missing.jsonl", nil); err == nil || !strings.Contains(err.Error(), "failed to read labelled rows: ") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSetPriorWeighsRows(t *testing.T) {
	toxic, clean := scored(`,"input":{"labels":{"toxicity":1}}`), scored(`,"input":{"labels":{"toxicity":0}}`)
	all, err := labelled.Read(rows.Standard, strings.NewReader(toxic+toxic+toxic+clean))
	if err != nil {
		t.Fatal(err)
	}
	if err := all.SetPrior(0.25); err != nil {
		t.Fatal(err)
	}
	if a, b := all.Rows[0].Weight, all.Rows[3].Weight; 3*a != 1 || b != 3 {
		t.Errorf("weights are %v and %v, want 1/3 and 3: a quarter of 4 texts is toxic", a, b)
	}
	if prior, ok := all.Prior(); !ok || prior != 0.25 {
		t.Errorf("the share of toxic texts is %v, want 0.25", prior)
	}
	all.Rows = all.Rows[:3]
	if err := all.SetPrior(0.25); err == nil {
		t.Error("SetPrior needs a clean row")
	}
}

// The weights count in the share of toxic texts; texts without a label for toxicity
// do not.
func TestPriorCountsWeights(t *testing.T) {
	row := func(labels, weight string) string {
		return scored(`,"input":{"labels":` + labels + `,"weight":` + weight + `}`)
	}
	other := row(`{"insult":1}`, "5")
	all, err := labelled.Read(rows.Standard, strings.NewReader(row(`{"toxicity":1}`, "1")+row(`{"toxicity":0.4}`, "3")+other))
	if err != nil {
		t.Fatal(err)
	}
	if prior, ok := all.Prior(); !ok || prior != 0.25 {
		t.Errorf("%v, %t, want 0.25", prior, ok)
	}
	if err := all.SetPrior(0.5); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(all.Rows[0].Weight, all.Rows[1].Weight, all.Rows[2].Weight); got != "1 1 5" {
		t.Errorf("the weights are %s, want 1, 1 and 5", got)
	}
	if all, err = labelled.Read(rows.Standard, strings.NewReader(other)); err != nil {
		t.Fatal(err)
	}
	if prior, ok := all.Prior(); ok {
		t.Errorf("%v without a label for toxicity", prior)
	}
}

// Every input for labelled results is read or refused.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"row":1,"id":7,"score":0.5,"attributes":{"toxicity":{"score":0.5,"classifier":0.5,"plain":0.25,"threshold":0.5}},"passages":[{"start":0,"end":3,"score":0.5}],"spans":[],` +
			`"judge":{"verdicts":[{"score":1}],"milliseconds":5},"versions":{"model":"m"},"input":{"labels":{"toxicity":0.5},"weight":3}}`,
		`{"input":null,"attributes":null,"id":{"a":[]},"text":null}`, "", "\n", "{}", "[]", "null", `{"text":"a`, "{\"text\":\"\xff\"}", `{"id":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := labelled.Read(rows.Standard, bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, r := range all.Rows {
			if r.Name == "" || r.Found.Scores.Len() == 0 {
				t.Errorf("%q is read as %+v", data, r)
			}
		}
	})
}
