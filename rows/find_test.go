package rows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows"
)

// plants finds gardens and bread.
type plants struct{ pause time.Duration }

var plant = regexp.MustCompile("garden|bread")

func (p plants) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	found := []toxscreen.Entity{}
	for _, at := range plant.FindAllStringIndex(text, -1) {
		kind := toxscreen.EntityType("FOOD")
		if text[at[0]] == 'g' {
			kind = "TREE"
		}
		found = append(found, toxscreen.Entity{Type: kind, Start: at[0], End: at[1], Score: 0.75, Why: []string{"pattern"}})
	}
	select {
	case <-time.After(p.pause):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return found, nil
}

func (plants) Version() string { return "plants@1" }

func (plants) Parallel() int { return 2 }

// uprooted masks by the types.
func uprooted(text string, entities []toxscreen.Entity) (string, error) {
	masked, at := "", 0
	for _, e := range entities {
		masked += text[at:e.Start] + "<" + string(e.Type) + ">"
		at = e.End
	}
	return masked + text[at:], nil
}

// find runs a job that finds personal data.
func find(t *testing.T, o rows.Options, f rows.Finding) (rows.Summary, error) {
	t.Helper()
	job, err := rows.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	summary, err := job.Find(plants{}, f)
	summary.Duration = 0
	return summary, err
}

const gardens = `{"id":1,"text":"😀 a garden, bread, a garden","by":"ann"}
{"text":"nothing"}
{"text":17}
{"id":"long","text":"this text has more bytes than the limit"}
`

func TestFind(t *testing.T) {
	var out strings.Builder
	summary, err := find(t, rows.Options{Stdin: strings.NewReader(gardens), Stdout: &out, MaxBytes: 30, OffsetUnit: toxscreen.CodePoints},
		rows.Finding{Mask: uprooted, FailOn: []toxscreen.EntityType{"TREE"}})
	if err != nil {
		t.Fatal(err)
	}
	want := rows.Summary{
		Rows: 4, Failed: 2, FirstFailure: `row 3: line 3: the field "text" is not a string but a number`,
		Reached: 1, Entities: 3, WithEntities: 1,
	}
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Error(diff)
	}
	lines := strings.Split(strings.ReplaceAll(out.String(), toxscreen.Version, "VERSION"), "\n")
	const end = `"offset_unit":"code_point","warnings":[],"versions":{"toxscreen":"VERSION","entities":"plants@1"}`
	for i, want := range []string{
		`{"row":1,"id":1,"entities":[{"type":"TREE","start":4,"end":10,"score":0.75,"why":["pattern"]},{"type":"FOOD","start":12,"end":17,"score":0.75,"why":["pattern"]},` +
			`{"type":"TREE","start":21,"end":27,"score":0.75,"why":["pattern"]}],"masked":"😀 a <TREE>, <FOOD>, a <TREE>",` + end + `,"input":{"by":"ann"}}`,
		`{"row":2,"entities":[],"masked":"nothing",` + end + `}`,
		`{"row":3,"error":"line 3: the field \"text\" is not a string but a number"}`,
		`{"row":4,"id":"long","error":"failed to find personal data: text too long: it has 39 bytes, the limit is 30; raise the limit or split the text"}`,
	} {
		if lines[i] != want {
			t.Errorf("row %d\n got %s\nwant %s", i+1, lines[i], want)
		}
	}
	// A line is read and written again as it was.
	for line := range strings.Lines(out.String()) {
		var f rows.Found
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(f); err != nil || string(again)+"\n" != line && !strings.Contains(line, "<") {
			t.Errorf("%s is written as %s, %v", line, again, err)
		}
	}
}

// The columns for entities, with and without a masked text.
func TestFindColumns(t *testing.T) {
	for name, test := range map[string]struct {
		mask func(string, []toxscreen.Entity) (string, error)
		want string
	}{
		"out.csv": {nil, `row,id,entities,types,count,warnings,error,input
1,1,"[{""type"":""TREE"",""start"":7,""end"":13,""score"":0.75,""why"":[""pattern""]},{""type"":""FOOD"",""start"":15,""end"":20,""score"":0.75,""why"":[""pattern""]},{""type"":""TREE"",""start"":24,""end"":30,""score"":0.75,""why"":[""pattern""]}]","[""TREE"",""FOOD""]",3,[],,"{""by"":""ann""}"
2,,[],[],0,[],,
3,,,,,,"line 3: the field ""text"" is not a string but a number",
4,long,[],[],0,[],,
`},
		"masked.csv": {uprooted, `row,id,entities,types,count,masked,warnings,error,input
1,1,"[{""type"":""TREE"",""start"":7,""end"":13,""score"":0.75,""why"":[""pattern""]},{""type"":""FOOD"",""start"":15,""end"":20,""score"":0.75,""why"":[""pattern""]},{""type"":""TREE"",""start"":24,""end"":30,""score"":0.75,""why"":[""pattern""]}]","[""TREE"",""FOOD""]",3,"😀 a <TREE>, <FOOD>, a <TREE>",[],,"{""by"":""ann""}"
2,,[],[],0,nothing,[],,
3,,,,,,,"line 3: the field ""text"" is not a string but a number",
4,long,[],[],0,this text has more bytes than the limit,[],,
`},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), name)
			if _, err := find(t, rows.Options{Stdin: strings.NewReader(gardens), Output: out}, rows.Finding{Mask: test.mask}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, read(t, out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A row whose text cannot be masked fails, and a fatal error ends the run before its row.
func TestFindWithMaskThatFails(t *testing.T) {
	refuse := func(text string, _ []toxscreen.Entity) (string, error) {
		return "", fmt.Errorf("failed to mask %d bytes", len(text))
	}
	summary, err := find(t, rows.Options{Stdin: strings.NewReader(gardens), Stdout: &strings.Builder{}}, rows.Finding{Mask: refuse})
	if err != nil {
		t.Fatal(err)
	}
	counts(t, summary, rows.Summary{Rows: 4, Failed: 4, FirstFailure: "row 1: failed to mask 30 bytes"})
	full := errors.New("the disk is full")
	summary, err = find(t, rows.Options{Stdin: strings.NewReader(gardens), Stdout: &strings.Builder{}}, rows.Finding{Mask: func(text string, _ []toxscreen.Entity) (string, error) {
		if text == "nothing" {
			return "", &rows.FatalError{Err: full}
		}
		return text, nil
	}})
	if !errors.Is(err, full) {
		t.Fatalf("%v, want %v", err, full)
	}
	if want := "the disk is full; 1 row is done"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if summary.Rows != 1 {
		t.Errorf("%d rows are done, want 1", summary.Rows)
	}
}

func TestFindHasNoJudge(t *testing.T) {
	folder := t.TempDir()
	in, out := write(t, filepath.Join(folder, "in.jsonl"), gardens), write(t, filepath.Join(folder, "out.jsonl"), "")
	if _, err := find(t, rows.Options{Input: in, Output: out, Redo: true}, rows.Finding{}); err == nil || !strings.Contains(err.Error(), "there is no judge for personal data") {
		t.Errorf("got %v", err)
	}
}
