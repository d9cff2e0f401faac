package store_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
)

func openFeedback(t testing.TB, path string, o store.FeedbackOptions) *store.Feedback {
	t.Helper()
	f, err := store.OpenFeedback(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func all(t testing.TB, f *store.Feedback) []store.LabelSet {
	t.Helper()
	var found []store.LabelSet
	for l, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, l)
	}
	return found
}

func labels(a toxscreen.Attribute, share float64) (s toxscreen.Scores) {
	s.Set(a, share)
	return s
}

// said is a moderator's label set of a text that the judge was asked about.
func said(text string) store.LabelSet {
	insult, p := toxscreen.Insult, toxscreen.Probability(0.9)
	return store.LabelSet{
		Text: text, Source: "/v1/feedback", Caller: "forum", Community: "cats", Token: "comment-7",
		Labels: labels(toxscreen.Insult, 1), Weight: 2.5,
		Result: toxscreen.Result{
			Score: 0.75, Flagged: true, Severity: toxscreen.SeverityModerate, Direction: toxscreen.HigherIsMoreToxic,
			Attributes: toxscreen.AttributeResults{toxscreen.Toxicity: {Score: 0.75, Classifier: 0.5, Threshold: 0.5, Flagged: true}},
			Spans:      []toxscreen.Span{{Start: 0, End: 5, Attributes: labels(toxscreen.Toxicity, 0.5)}}, OffsetUnit: toxscreen.Bytes,
			Source: toxscreen.SourceFused, Warnings: []string{},
			Judge: toxscreen.JudgeReport{Asked: true, Why: "it is near the threshold", Milliseconds: 812, Raw: "{" + text, Verdicts: []toxscreen.Verdict{{
				Rubric: "r@1", Model: "m@2", Scale: 1, Reason: "it says " + text, Warnings: []string{"its first answer was " + text},
				Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &insult, Yes: true, PYes: &p, NotInText: []string{text + "s"}}},
			}}},
			Versions: toxscreen.Versions{Toxscreen: "1.2.3", Model: "tiny@1", Calibration: "sha256:01", Rubric: "r@1", JudgeModel: "m@2"},
		},
	}
}

var equalScores = cmp.Comparer(func(a, b toxscreen.Scores) bool { return a == b })

func TestFeedbackIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	f, err := store.OpenFeedback(path, store.FeedbackOptions{KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	if found := all(t, f); len(found) != 0 {
		t.Errorf("an empty file has %v", found)
	}
	want := said("idiot")
	if err := f.Add(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	found := all(t, openFeedback(t, path, store.FeedbackOptions{}))
	if len(found) != 1 {
		t.Fatalf("%d label sets, want 1", len(found))
	}
	if age := time.Since(found[0].Time); age < 0 || age > time.Minute {
		t.Errorf("it was added %v ago", age)
	}
	want.Hash = "48fab7a56479b7ec15bd571024dee1cdfe85678289c5cca3ed95769793797c6e" // printf idiot | sha256sum
	if diff := cmp.Diff(want, found[0], equalScores, cmpopts.IgnoreFields(store.LabelSet{}, "Time")); diff != "" {
		t.Error(diff)
	}
}

// Where texts are not stored, nothing that quotes them is.
func TestWithoutTheTextNothingOfItIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	f := openFeedback(t, path, store.FeedbackOptions{})
	l := said("rhubarb")
	l.Result.ID = "rhubarb"
	if err := f.Add(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	found := all(t, f)[0]
	// As `printf rhubarb | sha256sum` says.
	if want := "b3f487fbc1970da9"; found.Text != "" || len(found.Hash) != 64 || found.Hash[:16] != want {
		t.Errorf("text %q, hash %s, want %s…", found.Text, found.Hash, want)
	}
	if held := fmt.Sprintf("%+v", found); strings.Contains(held, "rhubarb") {
		t.Errorf("the text is in %s", held)
	}
	if v := found.Result.Judge.Verdicts[0]; *v.Aspects[0].PYes != 0.9 || v.Model != "m@2" {
		t.Errorf("the verdict itself is %+v", v)
	}
	if l.Result.Judge.Verdicts[0].Aspects[0].NotInText == nil {
		t.Error("the caller's verdict was changed")
	}
}

// The label sets of a text follow each other, from whatever caller.
func TestFeedbackComesTextByText(t *testing.T) {
	f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{KeepText: true})
	for i := range 30 {
		l := said(fmt.Sprint("text ", i%3))
		l.Token = fmt.Sprint(i)
		if err := f.Add(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	texts, tokens := "", map[string]string{}
	for _, l := range all(t, f) {
		if tokens[l.Text] == "" {
			texts += l.Text + ", "
		}
		tokens[l.Text] += l.Token + " "
	}
	if strings.Count(texts, "text ") != 3 || tokens["text 1"] != "1 4 7 10 13 16 19 22 25 28 " {
		t.Errorf("%s, %v", texts, tokens)
	}
	// A reader may stop early.
	for range f.All(t.Context()) {
		break
	}
	if len(all(t, f)) != 30 {
		t.Error("the file is not as it was")
	}
}

func TestTheNewestModelAndItsJudge(t *testing.T) {
	f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{})
	if v, err := f.Newest(t.Context()); err != nil || v != (toxscreen.Versions{}) {
		t.Errorf("%+v, %v", v, err)
	}
	for _, v := range []toxscreen.Versions{
		{Model: "old@1", Rubric: "r@0", JudgeModel: "old@0"},
		{Model: "new@1", Rubric: "r@1", JudgeModel: "m@2"},
		{Model: "old@1", Rubric: "r@0", JudgeModel: "old@0"},
		{Model: "new@1"},
	} {
		l := said("x")
		l.Result.Versions = v
		if err := f.Add(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	want := toxscreen.Versions{Model: "new@1", Rubric: "r@1", JudgeModel: "m@2"}
	if v, err := f.Newest(t.Context()); err != nil || v != want {
		t.Errorf("%+v, %v, want %+v", v, err, want)
	}
}

func TestFeedbackThatMakesNoSense(t *testing.T) {
	f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{})
	for want, change := range map[string]func(*store.LabelSet){
		"there are no labels":                      func(l *store.LabelSet) { l.Labels = toxscreen.Scores{} },
		"the label 1.5 for insult is not a share":  func(l *store.LabelSet) { l.Labels.Set(toxscreen.Insult, 1.5) },
		"the label NaN for insult is not a share":  func(l *store.LabelSet) { l.Labels.Set(toxscreen.Insult, math.NaN()) },
		"the weight -1 is not a number of texts":   func(l *store.LabelSet) { l.Weight = -1 },
		"the weight NaN is not a number of texts":  func(l *store.LabelSet) { l.Weight = math.NaN() },
		"the weight +Inf is not a number of texts": func(l *store.LabelSet) { l.Weight = math.Inf(1) },
		"the token has 2000 bytes":                 func(l *store.LabelSet) { l.Token = strings.Repeat("x", 2000) },
		"the community has 2000 bytes":             func(l *store.LabelSet) { l.Community = strings.Repeat("x", 2000) },
	} {
		l := said("x")
		change(&l)
		if err := f.Add(t.Context(), l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if found := all(t, f); len(found) != 0 {
		t.Errorf("%d label sets were kept", len(found))
	}
}

// A label set that does not fit is rejected, and those before stay. Nothing is
// removed to make room.
func TestAFullFileTakesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	f := openFeedback(t, path, store.FeedbackOptions{MaxBytes: 64 << 10})
	added := 0
	var err error
	for ; err == nil; added++ {
		if added > 10_000 {
			t.Fatal("it is never full")
		}
		l := said(fmt.Sprint(added))
		l.Token = fmt.Sprint(added)
		err = f.Add(t.Context(), l)
	}
	added--
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), path+" has reached its limit of 65536 bytes") || !strings.Contains(err.Error(), "toxscreen feedback export") {
		t.Error(err)
	}
	if found := all(t, f); len(found) != added || added < 5 {
		t.Errorf("%d label sets of %d that were taken", len(found), added)
	}
	// With a higher limit, there is room again.
	more := openFeedback(t, path, store.FeedbackOptions{})
	if err := more.Add(t.Context(), said("one more")); err != nil {
		t.Error(err)
	}
	if found := all(t, more); len(found) != added+1 {
		t.Errorf("%d label sets, want %d", len(found), added+1)
	}
}

// Whatever a client sends is stored unchanged, or rejected.
func FuzzFeedback(f *testing.F) {
	f.Add([]byte("idiot"), "comment-7", "cats", 1.0)
	f.Add([]byte("\xff\x00\xf0\x9f"), "'; DROP TABLE feedback; --", "\x00", 0.123456)
	f.Add([]byte{}, "\xff", "\uffff", math.SmallestNonzeroFloat64)
	f.Add([]byte("x"), "", "", math.MaxFloat64)
	f.Fuzz(func(t *testing.T, text []byte, token, community string, number float64) {
		kept := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{KeepText: true})
		want := said(string(text))
		want.Token, want.Community, want.Weight = token, community, number
		want.Labels = labels(toxscreen.Threat, number)
		err := kept.Add(t.Context(), want)
		if (err == nil) != (want.Validate() == nil) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		found := all(t, kept)
		if len(found) != 1 {
			t.Fatalf("%d label sets, want 1", len(found))
		}
		got := found[0]
		share, _ := got.Labels.Get(toxscreen.Threat)
		if got.Text != want.Text || got.Token != token || got.Community != community || got.Weight != number || math.Abs(share-number) > 1e-6 {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
