package generation

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestOwnPromptsAreTenKindsOfTwenty(t *testing.T) {
	kinds := map[string]int{}
	for _, p := range OwnPrompts().Prompts {
		kinds[p.Band]++
		if p.Text != strings.TrimSpace(p.Text) || !strings.HasPrefix(p.ID, p.Band+"-") || (p.Group != "") != (p.Band == "identity") {
			t.Errorf("%+v", p)
		}
	}
	if len(kinds) != 10 {
		t.Errorf("%d kinds", len(kinds))
	}
	for kind, n := range kinds {
		if n != 20 {
			t.Errorf("%d prompts of kind %s", n, kind)
		}
	}
}

func save(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFormatsOfPrompts(t *testing.T) {
	for name, test := range map[string]struct {
		file, content string
		columns       Columns
		skip          bool
		want          []Prompt
	}{
		// Rows as they were published, shortened.
		"RealToxicityPrompts": {
			file: "rtp.jsonl",
			content: `{"filename":"a.txt","begin":340,"end":564,"challenging":false,"prompt":{"text":"The dog","toxicity":0.5,"profanity":null},"continuation":{"text":" barks","toxicity":0.1}}
{"filename":"b.txt","begin":1,"end":2,"challenging":true,"prompt":{"text":"The cat","toxicity":0.49},"continuation":{"text":" sleeps","toxicity":0.1}}
{"filename":"c.txt","begin":1,"end":2,"challenging":true,"prompt":{"text":"The fox","toxicity":null},"continuation":{"text":" runs","toxicity":0.1}}
`,
			want: []Prompt{{ID: "1", Text: "The dog", Band: "toxic"}, {ID: "2", Text: "The cat", Band: "non-toxic"}, {ID: "3", Text: "The fox"}},
		},
		"RealToxicityPrompts, written again by Python": {
			file:    "rtp.jsonl",
			content: `{"filename":"c.txt","begin":NaN,"prompt":{"text":"The fox","toxicity":NaN},"continuation":{"text":" runs","toxicity":NaN}}`,
			want:    []Prompt{{ID: "1", Text: "The fox"}},
		},
		"strings": {
			file:    "p.ndjson",
			content: "\ufeff{\"id\":7,\"text\":\"The dog\"}\n\n{\"id\":\"x\",\"prompt\":\"The cat\",\"text\":\"not this\",\"band\":\"b\",\"group\":\"g\"}",
			want:    []Prompt{{ID: "7", Text: "The dog"}, {ID: "x", Text: "The cat", Band: "b", Group: "g"}},
		},
		"named fields": {
			file: "p.jsonl", content: `{"q":"The dog","no":1,"kind":"b","who":"g","prompt":"not this"}`,
			columns: Columns{Text: "q", ID: "no", Band: "kind", Group: "who"},
			want:    []Prompt{{ID: "1", Text: "The dog", Band: "b", Group: "g"}},
		},
		"CSV": {
			file: "p.CSV", content: "\ufeffid,text,band\na,\"The dog, \nthe cat\",b\nb,The fox,\n",
			want: []Prompt{{ID: "a", Text: "The dog, \nthe cat", Band: "b"}, {ID: "b", Text: "The fox"}},
		},
		"TSV with named columns": {
			file: "p.tsv", content: "q\tno\nThe \"dog\t5\n", columns: Columns{Text: "q", ID: "no"},
			want: []Prompt{{ID: "5", Text: `The "dog`}},
		},
		"BOLD": {
			file: "gender_prompt.json", content: `{"American_actors":{"Jacob_Zachar":["Jacob Zachar is an ","In 2010, "]},"American_actresses":{"Jean":["Jean is "]}}`,
			want: []Prompt{
				{ID: "American_actors/Jacob_Zachar/1", Text: "Jacob Zachar is an ", Band: "gender", Group: "American_actors"},
				{ID: "American_actors/Jacob_Zachar/2", Text: "In 2010, ", Band: "gender", Group: "American_actors"},
				{ID: "American_actresses/Jean/1", Text: "Jean is ", Band: "gender", Group: "American_actresses"},
			},
		},
		"duplicates that are skipped": {
			file: "p.jsonl", content: "{\"text\":\"a\",\"band\":\"first\"}\n{\"text\":\"a\"}\n{\"text\":\"b\"}", skip: true,
			want: []Prompt{{ID: "1", Text: "a", Band: "first"}, {ID: "3", Text: "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := OpenPrompts(save(t, test.file, test.content), test.columns, test.skip)
			if err != nil || set.Name != test.file || !reflect.DeepEqual(set.Prompts, test.want) {
				t.Errorf("%q, %v:\n%q, want\n%q", set.Name, err, set.Prompts, test.want)
			}
		})
	}
}

// Each error names the row and what to do.
func TestPromptsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		file, content string
		columns       Columns
		want          string
	}{
		"an empty prompt":      {"p.jsonl", "{\"text\":\"a\"}\n{\"text\":\" \"}", Columns{}, "row 2: the prompt is empty: remove the row"},
		"a duplicate text":     {"p.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"a\"}", Columns{}, "row 3: it has the same prompt as row 1: remove one of them, or keep the first with --skip-duplicates"},
		"a duplicate id":       {"p.jsonl", "{\"id\":1,\"text\":\"a\"}\n{\"id\":\"1\",\"text\":\"b\"}", Columns{}, `row 2: it has the same id as row 1, "1": give each its own, or name another column with --id-column`},
		"no prompt":            {"p.jsonl", `{"question":"a"}`, Columns{}, `row 1: it has neither "prompt" nor "text": name the field with --prompt-column`},
		"no such field":        {"p.jsonl", `{"text":"a"}`, Columns{Text: "q"}, `row 1: it has no field "q"`},
		"no such band":         {"p.jsonl", `{"text":"a"}`, Columns{Band: "kind"}, `row 1: it has no field "kind"`},
		"a number as prompt":   {"p.jsonl", `{"prompt":5}`, Columns{}, "row 1: prompt: expected a string, or an object with a text"},
		"an object without":    {"p.jsonl", `{"prompt":{"toxicity":1}}`, Columns{}, `row 1: prompt: it has no "text"`},
		"a broken line":        {"p.jsonl", "{\"text\":\"a\"}\n{\"text\":", Columns{}, "row 2: its JSON breaks off"},
		"a long prompt":        {"p.jsonl", `{"text":"` + strings.Repeat("a", maxPromptBytes+1) + `"}`, Columns{}, "row 1: the prompt has 65537 bytes, more than 65536"},
		"a long line":          {"p.jsonl", "{\"text\":\"a\"}\n" + strings.Repeat(" ", maxLine+1), Columns{}, "row 2: it has more than 1048576 bytes"},
		"nothing":              {"p.jsonl", "\n", Columns{}, "it has no prompts"},
		"an unknown format":    {"p.parquet", "PAR1", Columns{}, "its name does not say what it is"},
		"a table without rows": {"p.csv", "text\n", Columns{}, "it has no prompts"},
		"an empty table":       {"p.csv", "", Columns{}, "it is empty: there must be a header"},
		"no such column":       {"p.csv", "a,b\n1,2\n", Columns{Text: "q"}, `it has no column "q": it has a, b`},
		"no column":            {"p.csv", "a,b\n1,2\n", Columns{}, "it has neither a column prompt nor text: it has a, b; name one with --prompt-column"},
		"a ragged table":       {"p.csv", "text,b\n1,2\n3\n", Columns{}, "row 2: record on line 3: wrong number of fields"},
		"not UTF-8":            {"p.csv", "text\n\xff\n", Columns{}, "row 1: it is not UTF-8: convert the file"},
		"a list as BOLD":       {"p.json", `[{"text":"a"}]`, Columns{}, "found [ instead of an object"},
		"an unfinished BOLD":   {"p.json", `{"a":{"b":["c"]}`, Columns{}, "its JSON breaks off"},
		"an empty BOLD prompt": {"p.json", `{"a":{"b":["c",""]}}`, Columns{}, "prompt 2: the prompt is empty"},
		"a BOLD of numbers":    {"p.json", `{"a":{"b":[1]}}`, Columns{}, "a: b: expected a string, found a number"},
	} {
		t.Run(name, func(t *testing.T) {
			path := save(t, test.file, test.content)
			_, err := OpenPrompts(path, test.columns, false)
			if err == nil || !strings.HasPrefix(err.Error(), "failed to read prompts: "+path+": "+test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if _, err := OpenPrompts(t.TempDir(), Columns{}, false); err == nil || !strings.Contains(err.Error(), "it is a folder: name a file") {
		t.Error(err)
	}
}

// A draw has the share of each band, keeps the order, and is the same for the same seed.
func TestDraw(t *testing.T) {
	var set Set
	for i := range 100 {
		p := Prompt{ID: string(rune('一' + i)), Band: "rare"}
		if i%10 != 0 {
			p.Band = "common"
		}
		set.Prompts = append(set.Prompts, p)
	}
	first := set.Draw(30, 1)
	rare := 0
	for _, p := range first.Prompts {
		if p.Band == "rare" {
			rare++
		}
	}
	ordered := slices.IsSortedFunc(first.Prompts, func(a, b Prompt) int { return strings.Compare(a.ID, b.ID) })
	if len(first.Prompts) != 30 || rare != 3 || !ordered {
		t.Errorf("%d prompts, %d of them rare, in order: %v", len(first.Prompts), rare, ordered)
	}
	if again := set.Draw(30, 1); again.String() != first.String() {
		t.Errorf("%s, then %s", first, again)
	}
	if other := set.Draw(30, 2); other.String() == first.String() {
		t.Error("another seed draws the same")
	}
	if whole := set.Draw(100, 1); whole.String() != set.String() {
		t.Errorf("all of 100 prompts are %s", whole)
	}
	for n := 1; n < 100; n++ {
		if got := len(set.Draw(n, 1).Prompts); got != n {
			t.Errorf("%d prompts, want %d", got, n)
		}
	}
}

// Whatever a file has, prompts that are read can be used: none is empty, and ids and texts
// differ.
func FuzzPrompts(f *testing.F) {
	for _, seed := range []string{
		`{"prompt":{"text":"a","toxicity":0.7},"continuation":{}}`, "{\"text\":\"a\"}\n{\"text\":\"b\"}", "text,id\na,1\n\"b\",2\n", "text\tband\na\"\tb\n",
		`{"a":{"b":["c"]}}`, "", "\ufeff{}", `{"text":null}`, `{"prompt":[]}`, "\xff",
	} {
		f.Add(seed, uint8(0))
	}
	names := []string{"p.jsonl", "p.csv", "p.tsv", "p_prompt.json"}
	f.Fuzz(func(t *testing.T, content string, format uint8) {
		for _, skip := range []bool{false, true} {
			prompts, err := readPrompts(strings.NewReader(content), names[int(format)%len(names)], Columns{}, skip)
			if err != nil {
				continue
			}
			ids, texts := map[string]bool{}, map[string]bool{}
			for _, p := range prompts {
				if p.ID == "" || strings.TrimSpace(p.Text) == "" || ids[p.ID] || texts[p.Text] {
					t.Fatalf("%+v", p)
				}
				ids[p.ID], texts[p.Text] = true, true
			}
		}
	})
}
