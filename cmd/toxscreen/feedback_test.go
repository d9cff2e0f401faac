package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

func one(a toxscreen.Attribute, share float64) (s toxscreen.Scores) {
	s.Set(a, share)
	return s
}

// scoredBy returns a result of a model, with a verdict if a judge is named.
func scoredBy(model, judge string, p, yes float64) toxscreen.Result {
	probability, pYes, toxicity := toxscreen.Probability(p), toxscreen.Probability(yes), toxscreen.Toxicity
	r := toxscreen.Result{
		Score: probability, Severity: toxscreen.SeverityOf(p, 0.5), Direction: toxscreen.HigherIsMoreToxic,
		Attributes: toxscreen.AttributeResults{toxicity: {Score: probability, Classifier: probability, Threshold: 0.5, Flagged: p >= 0.5}},
		Spans:      []toxscreen.Span{{Start: 0, End: 1, Attributes: one(toxicity, p)}}, OffsetUnit: toxscreen.Bytes,
		Source: toxscreen.SourceClassifier, Warnings: []string{}, Versions: toxscreen.Versions{Model: model},
	}
	if judge != "" {
		r.Versions.JudgeModel, r.Versions.Rubric = judge, "attributes@1"
		r.Judge = toxscreen.JudgeReport{Asked: true, Milliseconds: 2000, Verdicts: []toxscreen.Verdict{{
			Rubric: "attributes@1", Model: judge, Scale: 1, Warnings: []string{}, InputTokens: 900, OutputTokens: 100,
			Aspects: []toxscreen.AspectVerdict{{Name: "toxicity", Attribute: &toxicity, Yes: yes >= 0.5, PYes: &pYes}},
		}}}
	}
	return r
}

const (
	tinyVersion  = "tiny@1.0.0 sha256:0123456789ab"
	someJudge    = "some-model@0123456789ab"
	earlierJudge = "other-model@ba9876543210"
)

// labelled FILE TEXTS adds feedback on that number of texts. Two moderators agree on
// most of them, and the classifier and the judge are right on most of them.
func labelledFeedback(ts *testscript.TestScript, _ bool, args []string) {
	texts, err := strconv.Atoi(args[1])
	ts.Check(err)
	kept, err := store.OpenFeedback(ts.MkAbs(args[0]), store.FeedbackOptions{})
	ts.Check(err)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range texts {
		x := -1 + 2.5*rng.NormFloat64()
		p, label, yes := 1/(1+math.Exp(-x)), 0.0, 0.05
		if rng.Float64() < p {
			label = 1
		}
		if (label == 1) != (rng.Float64() < 0.1) {
			yes = 0.95
		}
		for moderator := range 1 + i%2 {
			ts.Check(kept.Add(context.Background(), store.LabelSet{
				Text: fmt.Sprint("comment ", i), Source: "/v1/feedback", Caller: "forum", Token: fmt.Sprint(moderator),
				Labels: one(toxscreen.Toxicity, label), Result: scoredBy(tinyVersion, someJudge, p, yes),
			}))
		}
	}
	ts.Check(kept.Close())
}

// reports FILE sends each line of the file, a path and a body, to the server, as the
// people do who report texts to it. Each must be accepted.
func reports(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! reports")
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		path, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, ts.Getenv("URL")+path, strings.NewReader(body))
		ts.Check(err)
		response, err := client.Do(r)
		ts.Check(err)
		answer, err := io.ReadAll(response.Body)
		ts.Check(errors.Join(err, response.Body.Close()))
		if response.StatusCode >= 300 {
			ts.Fatalf("%s: %d %s", line, response.StatusCode, answer)
		}
	}
}

// Fusion parameters are for one model and one judge: each text is exported with the
// result that they can be fitted to, if there is one.
func TestExportIsOfOneModelAndOneJudge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feedback.db")
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, model, judge string }{
		{"only the old model", "old@1", someJudge},
		{"both models", "old@1", ""},
		{"both models", tinyVersion, ""},
		{"another judge", tinyVersion, earlierJudge},
		{"judged once", tinyVersion, someJudge},
		{"judged once", tinyVersion, ""},
	} {
		if err := kept.Add(t.Context(), store.LabelSet{Text: c.text, Token: c.model + c.judge, Labels: one(toxscreen.Toxicity, 1), Result: scoredBy(c.model, c.judge, 0.5, 0.9)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	export := func(args ...string) (models, judges []string, errors string) {
		code, out, errors := command(t, append([]string{"feedback", "export", "--feedback", file}, args...)...)
		if code != 0 {
			t.Fatal(errors)
		}
		for line := range strings.Lines(out) {
			var row rows.Result
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			models = append(models, row.Value.Versions.Model)
			judge := ""
			if len(row.Value.Judge.Verdicts) > 0 {
				judge = row.Value.Judge.Verdicts[0].Model
			}
			judges = append(judges, judge)
		}
		return models, judges, errors
	}
	count := func(all []string) map[string]int {
		n := map[string]int{}
		for _, one := range all {
			n[one]++
		}
		return n
	}
	models, judges, errors := export()
	if diff := cmp.Diff(map[string]int{tinyVersion: 3}, count(models)) + cmp.Diff(map[string]int{"": 2, someJudge: 1}, count(judges)); diff != "" {
		t.Error(diff)
	}
	want := "toxscreen: 3 texts with 5 label sets\n" +
		"toxscreen: 1 text is left out: only models older than " + tinyVersion + " have scored it; --all includes it\n" +
		"toxscreen: 1 text is written without its verdict, which is not by " + someJudge + "; --all includes it\n"
	if diff := cmp.Diff(want, errors); diff != "" {
		t.Error(diff)
	}
	models, judges, _ = export("--all")
	if diff := cmp.Diff(map[string]int{tinyVersion: 3, "old@1": 1}, count(models)) + cmp.Diff(map[string]int{"": 1, someJudge: 2, earlierJudge: 1}, count(judges)); diff != "" {
		t.Error(diff)
	}
}

// Feedback of earlier versions has estimates, on which nothing can be fitted. They are left
// out and counted, unless --all asks for them to score the texts again; a text that was
// reported again since has a result of the whole network.
func TestExportLeavesEstimatesOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feedback.db")
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		exit int
	}{{"an estimate", 1}, {"reported again", 0}, {"reported again", 2}, {"whole", 0}} {
		result := scoredBy(tinyVersion, "", 0.1, 0)
		result.Exit = c.exit
		if err := kept.Add(t.Context(), store.LabelSet{Text: c.text, Labels: one(toxscreen.Toxicity, 0), Result: result}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, notes := command(t, "feedback", "export", "--feedback", file)
	want := "toxscreen: 2 texts with 3 label sets\ntoxscreen: 1 text is left out: an earlier version stored only estimates of it; --all includes it\n"
	if code != 0 || notes != want || strings.Contains(out, "estimate") || strings.Contains(out, `"exit"`) {
		t.Errorf("exit code %d, %s%s", code, notes, out)
	}
	if _, err := labelled.Read(rows.Standard, bytes.NewBufferString(out)); err != nil {
		t.Error(err)
	}
	if _, out, _ := command(t, "feedback", "export", "--feedback", file, "--all"); !strings.Contains(out, `"exit":1`) {
		t.Errorf("--all leaves the estimate out: %s", out)
	}
}

// calibrate reads every row that export writes, with all values that it fits to.
func TestExportedRowsAreLabelledRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "feedback.db")
	kept, err := store.OpenFeedback(file, store.FeedbackOptions{KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Add(t.Context(), store.LabelSet{Text: "you \x00\xff <idiot>", Labels: one(toxscreen.Toxicity, 0.75), Weight: 3, Result: scoredBy(tinyVersion, someJudge, 0.625, 0.9)}); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	_, out, errors := command(t, "feedback", "export", "--feedback", file)
	read, err := labelled.Read(rows.Standard, bytes.NewBufferString(out))
	if err != nil || len(read.Rows) != 1 {
		t.Fatalf("%v: %s%s", err, out, errors)
	}
	row := read.Rows[0]
	if p, _ := row.Found.Scores.Get(toxscreen.Toxicity); p != 0.625 || row.Labels != one(toxscreen.Toxicity, 0.75) || row.Weight != 3 ||
		row.Seconds != 2 || row.Verdict == nil || row.Verdict.InputTokens != 900 || len(row.Found.Spans) != 1 || read.Model != tinyVersion || !strings.Contains(row.Name, "<idiot>") {
		t.Errorf("%+v of %s", row, out)
	}
}
