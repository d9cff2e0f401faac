package audit

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// twelve is a design whose sample has the rows 1 to 12.
func twelve(attributes ...toxscreen.Attribute) Design {
	return Design{Attributes: attributes, Strata: []Stratum{{Rows: 12, Drawn: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}}}
}

func TestReadLabels(t *testing.T) {
	for _, test := range []struct {
		name, sheet string
		want        map[int]float64 // mean share of people for toxicity
		err         string
	}{
		{name: "0 and 1", sheet: "row,id,text,toxicity\n3,x,\"a, b\",1\n1,,\"two\nlines\",0\n", want: map[int]float64{3: 1, 1: 0}},
		{name: "words and shares", sheet: "row,toxicity\n1,Yes\n2,no\n3,TRUE\n4,n\n5,0.25\n", want: map[int]float64{1: 1, 2: 0, 3: 1, 4: 0, 5: 0.25}},
		{name: "an empty cell is no label", sheet: "row,toxicity\n1,\n2, \n3,1\n", want: map[int]float64{3: 1}},
		{name: "a line without its last cells, and an empty one", sheet: "row,text,toxicity\n1,a\n,,\n\n2,b,1\n", want: map[int]float64{2: 1}},
		{name: "raters in columns", sheet: "row,toxicity,toxicity_ann,toxicity_2\n1,1,0,\n2,1,1,0.4\n", want: map[int]float64{1: 0.5, 2: 0.8}},
		{name: "raters in rows", sheet: "row,toxicity\n1,1\n1,0\n1,0\n", want: map[int]float64{1: 1. / 3}},
		{name: "semicolons and commas in numbers, as of a spreadsheet in German", sheet: "\ufeffrow;text;toxicity\r\n1;a, b;0,5\r\n", want: map[int]float64{1: 0.5}},
		{name: "tabs", sheet: "row\ttoxicity\n7\t1\n", want: map[int]float64{7: 1}},
		{name: "other columns are ignored", sheet: "row,comment,toxicity,severe_toxicity\n1,hm,1,what\n", want: map[int]float64{1: 1}},
		{name: "empty", sheet: "", err: "it is empty"},
		{name: "no rows", sheet: "id,toxicity\n1,1\n", err: "there is no column row"},
		{name: "two columns of rows", sheet: "row,row,toxicity\n1,1,1\n", err: "two columns have the name row"},
		{name: "no labels", sheet: "row,toxcity\n1,1\n", err: `there is no column of labels: it must be called toxicity; is "toxcity" meant to be toxicity?`},
		{name: "another sample's row", sheet: "row,toxicity\n13,1\n", err: "line 2: row 13 is not in the sample"},
		{name: "a row that is no number", sheet: "row,toxicity\nx,1\n", err: `line 2: "x" is not the number of a row`},
		{name: "percent", sheet: "row,toxicity\n1,1\n2,50\n", err: `line 3: toxicity of row 2: "50" is not a label`},
		{name: "a word", sheet: "row,toxicity\n1,maybe\n", err: `"maybe" is not a label`},
		{name: "not a number", sheet: "row,toxicity\n1,NaN\n", err: `"NaN" is not a label`},
		{name: "a quote that does not end", sheet: "row,toxicity\n1,\"1\n", err: "line 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := NewLabels(twelve(toxscreen.Toxicity))
			err := l.read(strings.NewReader(test.sheet), "sample.csv")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || !strings.HasPrefix(err.Error(), "failed to read labels: sample.csv: ") {
					t.Errorf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := l.votes[toxscreen.Toxicity]
			if len(got) != len(test.want) || l.count() != len(test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
			for row, want := range test.want {
				if v := got[row]; math.Abs(v.sum/float64(v.count)-want) > 1e-9 {
					t.Errorf("row %d: %v of %d, want %v", row, v.sum, v.count, want)
				}
			}
		})
	}
}

// The sheet has every row of the sample once, no score, an order that is not that of the
// corpus, and nothing that a spreadsheet would run. People's labels come back from it.
func TestSheet(t *testing.T) {
	d := twelve(toxscreen.Toxicity, toxscreen.Threat)
	d.Strata[0].HeldBack = []int{2, 12}
	entries := map[int]Entry{}
	for row := range 12 {
		entries[row+1] = Entry{ID: "n" + strconv.Itoa(row+1), Text: "a \"b\",\nc"}
	}
	entries[5] = Entry{Text: "=HYPERLINK(\"x\")"}
	var b bytes.Buffer
	if err := d.writeSheet(&b, entries); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(all[0], ","); got != "row,id,text,toxicity,threat" {
		t.Errorf("header %s", got)
	}
	var rows []int
	for _, cells := range all[1:] {
		row, err := strconv.Atoi(cells[0])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		want := entries[row].Text
		if row == 5 {
			want = "'" + want
		}
		if cells[1] != entries[row].ID || cells[2] != want || cells[3] != "" || cells[4] != "" {
			t.Errorf("%q", cells)
		}
	}
	if slices.IsSorted(rows) {
		t.Error("the rows are in the order of the corpus")
	}
	slices.Sort(rows)
	if !slices.Equal(rows, d.Sample()) {
		t.Errorf("rows %v", rows)
	}
}

func TestEntries(t *testing.T) {
	c := corpusOf(t, []float64{0.1, 0.2, 0.3})
	d := draw(t, c, Plan{Labels: 3, Seed: 1})
	for _, test := range []struct{ name, lines, want string }{
		{"texts", `{"id":7,"text":"a"}` + "\n" + `{"id":"x","text":"b"}` + "\n\n" + `{"text":"c"}` + "\n", ""},
		{"as Python writes them", `{"id":7,"text":"a","stars":NaN}` + "\n" + `{"id":"x","text":"b"}` + "\n" + `{"id":NaN,"text":"c"}`, ""},
		{"no text", `{"text":"a"}` + "\n" + `{"id":2}` + "\n" + `{"text":"c"}` + "\n", "line 2: there is no text for people to label"},
		{"another file", `{"text":"a"}` + "\n", "it has 1 row, and scored.jsonl has 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries, err := c.entries(d, strings.NewReader(test.lines), "texts.jsonl")
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			if err != nil || entries[1] != (Entry{"7", "a"}) || entries[2] != (Entry{"x", "b"}) || entries[3] != (Entry{"", "c"}) {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// Whatever a sheet contains, labels are shares in 0..1 of rows of the sample, or there
// is an error.
func FuzzReadLabels(f *testing.F) {
	for _, sheet := range []string{"row,toxicity\n1,1\n", "\ufeffrow;toxicity_a\r\n2;0,5\r\n", "row\ttext\ttoxicity\n3\t\"a\"\"b\nc\"\tyes\n", "row,toxicity\n1,1e-1\n,\n", "toxicity,row\n0x1p-2,4\n"} {
		f.Add([]byte(sheet))
	}
	f.Fuzz(func(t *testing.T, sheet []byte) {
		l := NewLabels(twelve(toxscreen.Toxicity))
		if err := l.read(bytes.NewReader(sheet), "sample.csv"); err != nil {
			return
		}
		for row, v := range l.votes[toxscreen.Toxicity] {
			if row < 1 || row > 12 || v.count < 1 || !(v.sum >= 0 && v.sum <= float64(v.count)) {
				t.Errorf("row %d: %v of %d", row, v.sum, v.count)
			}
		}
	})
}
