package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
)

// line returns a result with a score for toxicity, as batch writes it.
func line(score float64) string {
	return fmt.Sprintf(`{"row":1,"text":"a","score":%v,"attributes":{"toxicity":{"score":%v,"threshold":0.5}},"versions":{"model":"m@1"}}`+"\n", score, score)
}

// corpusOf returns a corpus with scores for toxicity.
func corpusOf(t testing.TB, scores []float64) Corpus {
	t.Helper()
	var b strings.Builder
	for _, score := range scores {
		b.WriteString(line(score))
	}
	c, err := readCorpus(strings.NewReader(b.String()), "scored.jsonl", []toxscreen.Attribute{toxscreen.Toxicity})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// uneven returns n scores as a classifier gives them: most are low, some are high.
func uneven(n int) []float64 {
	rng := rand.New(rand.NewPCG(7, 0))
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = math.Round(1e6/(1+math.Exp(3.5-2*rng.NormFloat64()))) / 1e6
	}
	return scores
}

// truth draws whether each text is toxic, as often as its score says.
func truth(scores []float64) []bool {
	rng := rand.New(rand.NewPCG(11, 0))
	toxic := make([]bool, len(scores))
	for i, score := range scores {
		toxic[i] = rng.Float64() < score
	}
	return toxic
}

// ask labels the whole sample.
func ask(t testing.TB, d Design, toxic []bool) Labels {
	t.Helper()
	l := NewLabels(d)
	for _, row := range d.Sample() {
		share := 0.0
		if toxic[row-1] {
			share = 1
		}
		if err := l.set(row, toxscreen.Toxicity, share); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func draw(t testing.TB, c Corpus, plan Plan) Design {
	t.Helper()
	d, err := c.Draw(plan)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The whole way: the intervals hold what is true of the corpus, and every figure that
// the scores alone decide is exact.
func TestMeasure(t *testing.T) {
	scores := uneven(5000)
	toxic := truth(scores)
	c := corpusOf(t, scores)
	d := draw(t, c, Plan{Labels: 400, HeldBack: 200, Seed: 3})
	results, err := Measure(c, d, ask(t, d, toxic), Questions{
		Requirements: []Requirement{{FalsePositiveRate, 0.03}, {Precision, 0.999}},
		Bands:        []toxscreen.Band{{Low: 0.25, High: 0.75}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := results.Attributes[0]
	holds := func(name string, e *eval.Estimate, want float64) {
		t.Helper()
		if e == nil || e.Interval == nil || want < e.Interval.Low || want > e.Interval.High || e.Value < e.Interval.Low || e.Value > e.Interval.High {
			t.Errorf("%s: %+v, want an interval around %v", name, e, want)
		}
	}
	holds("prevalence", &a.Prevalence, share(scores, toxic, func(float64, bool) bool { return true }, positive))
	holds("difference", &a.ByDifference, share(scores, toxic, func(float64, bool) bool { return true }, positive))
	for _, at := range a.Thresholds {
		over := func(s float64, _ bool) bool { return s >= at.Threshold }
		if want := share(scores, toxic, func(float64, bool) bool { return true }, over); math.Abs(at.Flagged-want) > 1e-9 {
			t.Errorf("threshold %v flags %v, want %v", at.Threshold, at.Flagged, want)
		}
		if at.Threshold != 0.5 {
			continue
		}
		holds("precision", at.Precision, share(scores, toxic, over, positive))
		holds("recall", at.Recall, share(scores, toxic, positive, over))
		holds("false positives", at.FalsePositiveRate, share(scores, toxic, negative, over))
	}
	if len(a.Thresholds) != 19 {
		t.Errorf("%d thresholds, want 19, with that of the model once", len(a.Thresholds))
	}
	own := a.Bands[len(a.Bands)-1]
	if want := share(scores, toxic, func(float64, bool) bool { return true }, func(s float64, _ bool) bool { return s >= 0.25 && s <= 0.75 }); math.Abs(own.Share-want) > 1e-9 {
		t.Errorf("the band has %v of the texts, want %v", own.Share, want)
	}
	holds("missed", own.Missed, share(scores, toxic, positive, func(s float64, _ bool) bool { return s < 0.25 }))
	holds("false alarms", own.FalseAlarms, share(scores, toxic, negative, func(s float64, _ bool) bool { return s > 0.75 }))
	kept := a.Guarantees[0]
	if kept.Threshold == nil {
		t.Fatalf("no guarantee: %s", kept.Refused)
	}
	if rate := share(scores, toxic, negative, func(s float64, _ bool) bool { return s >= *kept.Threshold }); rate > 0.03 {
		t.Errorf("at %v, %v of the clean texts are flagged, and 0.03 is promised", *kept.Threshold, rate)
	}
	if refused := a.Guarantees[1]; refused.Threshold != nil || refused.Refused == "" || !results.Refused() {
		t.Errorf("%+v, want a refusal: the scores are never that sure", refused)
	}
	if _, err := json.Marshal(results); err != nil {
		t.Error(err)
	}
	again, err := Measure(c, d, ask(t, d, toxic), Questions{})
	if err != nil || again.Attributes[0].Prevalence.Value != a.Prevalence.Value {
		t.Errorf("%v, %v: the same labels give another result", again.Attributes[0].Prevalence, err)
	}
	var page bytes.Buffer
	if err := results.Document().HTML(&page); err != nil || strings.Contains(page.String(), "NaN") {
		t.Errorf("the page: %v, or it shows NaN", err)
	}
}

func positive(_ float64, toxic bool) bool { return toxic }
func negative(_ float64, toxic bool) bool { return !toxic }

// share returns the share of those texts that are of one kind that are of another, too.
func share(scores []float64, toxic []bool, of, are func(score float64, toxic bool) bool) float64 {
	n, k := 0.0, 0.0
	for i, s := range scores {
		if of(s, toxic[i]) {
			n++
			if are(s, toxic[i]) {
				k++
			}
		}
	}
	return k / n
}

// What the labels cannot tell is said or absent, and is never a wrong number.
func TestMeasureLittle(t *testing.T) {
	for _, test := range []struct {
		name    string
		scores  []float64
		labels  int
		share   func(row int) float64 // of people; NaN: no label
		value   float64               // prevalence
		low     float64
		high    float64
		warning string
		err     string
	}{
		{
			name: "three rows, all labelled: known exactly", scores: []float64{0.1, 0.5, 0.9}, labels: 400,
			share: func(row int) float64 { return float64(row / 3) }, value: 1. / 3, low: 1. / 3, high: 1. / 3,
		},
		{
			name: "no positive: only an upper limit", scores: uneven(2000), labels: 200,
			share: func(int) float64 { return 0 }, value: 0, low: 0, high: 0.05, warning: "no labelled text has the attribute",
		},
		{
			name: "all positive: only a lower limit", scores: uneven(2000), labels: 200,
			share: func(int) float64 { return 1 }, value: 1, low: 0.95, high: 1, warning: "every labelled text has the attribute",
		},
		{
			name: "constant scores: a simple random sample", scores: slices.Repeat([]float64{0.25}, 1000), labels: 100,
			share: func(row int) float64 { return float64(row % 2) }, value: 0.5, low: 0.3, high: 0.7, warning: "one stratum",
		},
		{
			name: "half of the people: it has the attribute", scores: slices.Repeat([]float64{0.25}, 100), labels: 100,
			share: func(int) float64 { return 0.5 }, value: 1, low: 1, high: 1,
		},
		{
			name: "half labelled", scores: slices.Repeat([]float64{0.25}, 1000), labels: 200,
			share: func(row int) float64 { return []float64{0, math.NaN()}[row%2] }, value: 0, low: 0, high: 0.06, warning: "have no label",
		},
		{
			name: "nothing labelled", scores: uneven(100), labels: 20,
			share: func(int) float64 { return math.NaN() }, err: "no row of the sample has a label",
		},
		{
			name: "one row labelled", scores: uneven(2000), labels: 200,
			share: func(row int) float64 { return map[bool]float64{true: 1, false: math.NaN()}[row < 40] }, err: "has a label, and these are",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := corpusOf(t, test.scores)
			d := draw(t, c, Plan{Labels: test.labels, Seed: 1})
			l := NewLabels(d)
			for _, row := range d.Sample() {
				if s := test.share(row); !math.IsNaN(s) {
					if err := l.set(row, toxscreen.Toxicity, s); err != nil {
						t.Fatal(err)
					}
				}
			}
			results, err := Measure(c, d, l, Questions{Requirements: []Requirement{{FalsePositiveRate, 0.01}, {MissRate, 0.1}, {Precision, 0.9}, {Recall, 0.9}}})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e := results.Attributes[0].Prevalence
			if math.Abs(e.Value-test.value) > 0.1 || e.Interval.Low < test.low-1e-6 || e.Interval.High > test.high+1e-6 || e.Value < e.Interval.Low-1e-9 || e.Value > e.Interval.High+1e-9 {
				t.Errorf("%v with %v, want %v within %v to %v", e.Value, *e.Interval, test.value, test.low, test.high)
			}
			if test.warning != "" && !strings.Contains(strings.Join(results.Warnings, "\n"), test.warning) {
				t.Errorf("%q, want a warning that %q", results.Warnings, test.warning)
			}
			if _, err := json.Marshal(results); err != nil {
				t.Error(err)
			}
		})
	}
}
