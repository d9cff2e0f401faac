package audit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

func TestParseRequirement(t *testing.T) {
	for _, test := range []struct {
		text  string
		upper bool
		want  string // in words, or a part of the error
		ok    bool
	}{
		{"false_positive_rate=0.01", true, "at most 1 % of the texts without the attribute are flagged", true},
		{"miss_rate=0.125", true, "at most 12.5 % of the texts with the attribute are missed", true},
		{"precision=0.9", false, "at least 90 % of the flagged texts have the attribute", true},
		{"recall=0.8", false, "at least 80 % of the texts with the attribute are flagged", true},
		{"precision=0.9", true, `"precision" is not false_positive_rate or miss_rate`, false},
		{"recall", true, `"recall" is not false_positive_rate or miss_rate`, false},
		{"recall", false, `"" is not a share between 0 and 1`, false},
		{"recall=1", false, `"1" is not a share between 0 and 1`, false},
		{"recall=NaN", false, `"NaN" is not a share between 0 and 1`, false},
	} {
		r, err := ParseRequirement(test.text, test.upper)
		got := r.String()
		if err != nil {
			got = err.Error()
		}
		if (err == nil) != test.ok || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}

// The loss says what the requirement says: its sum over texts is at most 0 where the rate
// keeps the limit, and over 0 where it does not.
func TestLoss(t *testing.T) {
	// Of 10 flagged texts 8 are positive; of 90 others 2 are: the false positive rate is
	// 2/90, the miss rate 0.2, the precision 0.8 and the recall 0.8.
	for _, test := range []struct {
		measure Measured
		rate    float64
	}{{FalsePositiveRate, 2. / 90}, {MissRate, 0.2}, {Precision, 0.8}, {Recall, 0.8}} {
		for _, off := range []float64{-0.01, 0.01} {
			r := Requirement{test.measure, test.rate + off}
			sum := 8*r.loss(true, true) + 2*r.loss(true, false) + 2*r.loss(false, true) + 88*r.loss(false, false)
			if kept := test.measure.Upper() == (off > 0); kept != (sum < 0) {
				t.Errorf("%s: the losses sum up to %v", r, sum)
			}
		}
	}
}

// With constant scores the sample is a simple random one, and if it has no error the test
// is that of the binomial distribution: 299 clean texts prove a rate of 1 % with 95 %,
// 298 do not, since 0.99^298 is 0.0500 and 0.99^299 0.0495.
func TestGuaranteeWithoutErrorsIsBinomial(t *testing.T) {
	r := Requirement{FalsePositiveRate, 0.01}
	errorless := func(n int) float64 {
		s := stratum{size: 1e6, drawn: n}
		for range n {
			s.labels = append(s.labels, label{score: 0.2})
		}
		return r.evidence([]stratum{s}, []float64{1}, bet{threshold: 0.5, size: 1 / 0.99})
	}
	need := -math.Log(0.05)
	if errorless(299) < need || errorless(298) >= need {
		t.Errorf("evidence of 298 and 299 labels is %v and %v, needed is %v", errorless(298), errorless(299), need)
	}
}

// Without labels that are held back, or with too few, there is no threshold, but the number
// of labels that would be enough; and with as many there is one.
func TestRefusalNamesTheLabelsNeeded(t *testing.T) {
	scores := uneven(20_000)
	toxic := truth(scores)
	c := corpusOf(t, scores)
	r := Requirement{FalsePositiveRate, 0.002}
	answer := func(held int) Guarantee {
		d := draw(t, c, Plan{Labels: 400, HeldBack: held, Seed: 2})
		results, err := Measure(c, d, ask(t, d, toxic), Questions{Requirements: []Requirement{r}})
		if err != nil {
			t.Fatal(err)
		}
		return results.Attributes[0].Guarantees[0]
	}
	none, few := answer(0), answer(15)
	if none.Threshold != nil || !strings.Contains(none.Refused, "no labels are held back, and it needs about") || none.LabelsNeeded == nil {
		t.Fatalf("%+v", none)
	}
	if few.Threshold != nil || !strings.Contains(few.Refused, "15 labels are held back, and it needs about") {
		t.Errorf("%+v", few)
	}
	if enough := answer(*none.LabelsNeeded); enough.Threshold == nil {
		t.Errorf("with %d labels: %s", *none.LabelsNeeded, enough.Refused)
	}
}

// Rows that are held back and have no label prove nothing: each counts as an error.
func TestUnlabelledRowsCountAsErrors(t *testing.T) {
	r := Requirement{FalsePositiveRate, 0.05}
	s := stratum{size: 1000, drawn: 101, unlabelled: []float64{0.9}}
	for range 100 {
		s.labels = append(s.labels, label{score: 0.2})
	}
	b := bet{threshold: 0.5, size: 0.9}
	without := r.evidence([]stratum{{size: 1000, drawn: 100, labels: s.labels}}, []float64{1}, b)
	if got, want := r.evidence([]stratum{s}, []float64{1}, b), without+math.Log(1-0.9*0.95); math.Abs(got-want) > 1e-9 {
		t.Errorf("evidence %v, want %v", got, want)
	}
}

// The promise itself: a guarantee of 90 % is wrong for at most 10 % of the samples, also
// where the scores say nothing, so that the strata, the order of thresholds and the bets
// are wrong.
func TestGuaranteesAreRarelyWrong(t *testing.T) {
	const draws = 100
	scores := uneven(2000)
	rng := rand.New(rand.NewPCG(13, 0))
	toxic := make([]bool, len(scores))
	for i := range toxic {
		toxic[i] = rng.Float64() < 0.3
	}
	c := corpusOf(t, scores)
	d, parts, err := c.divided(Plan{Labels: 100, HeldBack: 100})
	if err != nil {
		t.Fatal(err)
	}
	population := d.population(c, toxscreen.Toxicity)
	for _, r := range []Requirement{{FalsePositiveRate, 0.05}, {Recall, 0.4}} {
		proved, wrong := 0, 0
		for seed := range uint64(draws) {
			c.fill(d.Strata, parts, seed)
			labels := ask(t, d, toxic)
			chosen, held := d.labelled(population, c, labels, toxscreen.Toxicity, drawn), d.labelled(population, c, labels, toxscreen.Toxicity, heldBack)
			g := guarantee(chosen, held, c.Len(), r, 0.9)
			if g.Threshold == nil {
				continue
			}
			proved++
			total := 0.0
			for i, score := range scores {
				total += r.loss(score >= *g.Threshold, toxic[i])
			}
			if total > 0 {
				wrong++
			}
		}
		// 19 or more of 100 have a probability of less than 1 % at a rate of 10 %.
		if wrong > 18 || proved < draws/2 {
			t.Errorf("%s: %d guarantees from %d samples, %d of them wrong", r, proved, draws, wrong)
		}
	}
}
