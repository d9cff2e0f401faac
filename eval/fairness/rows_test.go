package fairness

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// A row names its groups in a cell, in a list, or by numbers in columns of groups, as Civil
// Comments does.
func TestRowsNameTheirGroups(t *testing.T) {
	for _, test := range []struct {
		columns, fields string
		want            []string
	}{
		{"who", `{"who":"women"}`, []string{"women"}},
		{"who", `{"who":" women; muslims;;women "}`, []string{"muslims", "women"}},
		{"who", `{"who":["women","muslims"]}`, []string{"muslims", "women"}},
		{"who", `{"who":null}`, nil},
		{"who", `{"who":""}`, nil},
		{"who", `{}`, nil},
		{"who", `{"who":"nan"}`, nil}, // an empty cell of pandas
		{"female", `{"female":0.8}`, []string{"female"}},
		{"female", `{"female":"0.5"}`, []string{"female"}},
		{"female", `{"female":true}`, []string{"female"}},
		{"female", `{"female":0.4}`, nil},
		{"female", `{"female":"0"}`, nil},
		{"gender,race", `{"gender":"female","race":"black"}`, []string{"gender=female", "race=black"}},
		{"female,black", `{"female":1,"black":1}`, []string{"black", "female"}},
	} {
		r := Rows{Label: "label", Groups: strings.Split(test.columns, ",")}
		someone := `{"label":0`
		for _, column := range r.Groups {
			someone += fmt.Sprintf(`,%q:"someone"`, column)
		}
		for i, fields := range []string{`{"label":1,` + test.fields[1:], someone + "}"} {
			if err := r.Add(int64(i+1), "x", 0.5, []byte(strings.Replace(fields, ",}", "}", 1))); err != nil {
				t.Fatalf("%s: %v", fields, err)
			}
		}
		texts, err := r.Texts()
		if err != nil {
			t.Errorf("%s: %v", test.fields, err)
			continue
		}
		if got := texts[0].Groups; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q, want %q", test.fields, got, test.want)
		}
	}
}

func TestRowsHaveLabels(t *testing.T) {
	for fields, want := range map[string]bool{
		`{"g":"a","label":1}`:                         true,
		`{"g":"a","label":"0.5"}`:                     true,
		`{"g":"a","label":0.49}`:                      false,
		`{"g":"a","label":false}`:                     false,
		`{"g":"a","labels":{"identity_attack":1}}`:    true,
		`{"g":"a","labels":{"identity_attack":"0"}}`:  false,
		`{"g":"a","label":0,"labels":{"toxicity":1}}`: false,
	} {
		r := Rows{Label: "label", Groups: []string{"g"}, Attribute: toxscreen.IdentityAttack}
		if err := r.Add(1, "x", 0.5, []byte(fields)); err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		texts, err := r.Texts()
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		if texts[0].Toxic != want {
			t.Errorf("%s: toxic: %t, want %t", fields, texts[0].Toxic, want)
		}
	}
}

// A row without a label is left out and counted.
func TestRowsWithoutLabelAreLeftOut(t *testing.T) {
	r := Rows{Label: "label", Groups: []string{"g"}, Template: "t"}
	for i, fields := range []string{`{"g":"a;b","label":1,"t":"x"}`, `{"g":"a"}`, `{"g":"a","label":null}`, `{"g":"a","labels":{"threat":1}}`, `{"g":"b","label":0,"t":7}`} {
		if err := r.Add(int64(i+1), fields, 0.5, []byte(fields)); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := r.Texts()
	if err != nil {
		t.Fatal(err)
	}
	if r.unlabelled != 3 {
		t.Errorf("%d rows have no label, want 3", r.unlabelled)
	}
	want := []Text{
		{Text: `{"g":"a;b","label":1,"t":"x"}`, Score: 0.5, Toxic: true, Groups: []string{"a", "b"}, Intersections: []string{"a × b"}, Unit: "template x", Frame: "x", Weight: 1},
		{Text: `{"g":"b","label":0,"t":7}`, Score: 0.5, Groups: []string{"b"}, Unit: "template 7", Frame: "7", Weight: 1},
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("the texts differ (-want +got):\n%s", diff)
	}
}

func TestWrongRows(t *testing.T) {
	columns := Rows{Label: "label", Groups: []string{"g"}, Template: "t"}
	for fields, want := range map[string]string{
		`{"label":1.5}`:                       "row 3: label: 1.5: it is not in 0..1",
		`{"label":-1}`:                        "row 3: label: -1: it is not in 0..1",
		`{"label":"toxic"}`:                   `row 3: label: expected a number in 0..1, found "toxic"`,
		`{"label":[1]}`:                       "row 3: label: expected a number in 0..1, found [1]",
		`{"labels":1}`:                        "row 3: labels: expected an object, found a number",
		`{"labels":{"toxicity":2}}`:           "row 3: labels.toxicity: 2: it is not in 0..1",
		`{"label":1,"g":34}`:                  "row 3: g: 34: it is not in 0..1: a number says how far the row belongs to the group that its column names; give other groups as words",
		`{"label":1,"g":{"a":1}}`:             `row 3: g: expected a word or a list of words, found {"a":1}`,
		`{"label":1,"g":[1]}`:                 "row 3: g: expected a word or a list of words, found [1]",
		`{"label":1,"t":[]}`:                  "row 3: t: expected a word, found []",
		`{"g":"` + groupList(21) + `"}`:       "row 3: a row may have 20 groups at most",
		`{"label":1` + strings.Repeat(" ", 3): "row 3: its JSON breaks off",
	} {
		r := columns
		if got := errorOf(r.Add(3, "x", 0.5, []byte(fields))); got != want {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
}

func groupList(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("g", i))
	}
	return strings.Join(names, ";")
}

func errorOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Columns that are in no row are likely misspelt.
func TestMissingColumns(t *testing.T) {
	for want, r := range map[string]Rows{
		`no row has the column "who"; there are, beside the text: "g", "label"`:   {Label: "label", Groups: []string{"who"}},
		`no row has the column "toxic"; there are, beside the text: "g", "label"`: {Label: "toxic", Groups: []string{"g"}},
		`no row has the column "t"; there are, beside the text: "g", "label"`:     {Label: "label", Groups: []string{"g"}, Template: "t"},
		"there are no rows with a score":                                          {Label: "label", Groups: []string{"none"}},
	} {
		if r.Groups[0] != "none" {
			if err := r.Add(1, "x", 0.5, []byte(`{"label":1,"g":"a"}`)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Texts(); errorOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	r := Rows{Label: "label", Groups: []string{"g"}}
	_ = r.Add(1, "x", 0.5, []byte(`{"label":1,"g":null}`))
	if _, err := r.Texts(); errorOf(err) != "1 row, none with a group in g" {
		t.Error(err)
	}
}

// Any row gives either an error or a text that can be measured.
func FuzzRows(f *testing.F) {
	for _, fields := range []string{`{"label":1,"g":"a;b","t":"x"}`, `{"label":"0.2","g":["a"],"h":0.7}`, `{"labels":{"toxicity":1},"g":true,"h":"nan"}`, `null`, `{"label":"1e400"}`} {
		f.Add([]byte(fields))
	}
	f.Fuzz(func(t *testing.T, fields []byte) {
		r := Rows{Label: "label", Groups: []string{"g", "h"}, Template: "t"}
		if err := r.Add(1, "x", 0.1, fields); err != nil {
			if !strings.HasPrefix(err.Error(), "row 1: ") {
				t.Errorf("%v", err)
			}
			return
		}
		texts, err := r.Texts()
		if err != nil {
			return
		}
		texts = append(texts, Text{Score: 0.9, Unit: "other", Weight: 1})
		grid, err := newGrid(texts, groupsOf, Settings{Threshold: 0.5, MinSize: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(grid); err != nil {
			t.Error(err)
		}
		for _, g := range grid.Groups {
			for m, e := range g.Metrics {
				if math.IsNaN(e.Value) {
					t.Errorf("%s of %q is NaN", m, g.Name)
				}
			}
		}
	})
}
