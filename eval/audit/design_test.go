package audit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Whatever the corpus is, a design draws what was planned, each row has its
// probability, and these sum up to the number of draws.
func TestInclusionProbabilitiesSumToTheSample(t *testing.T) {
	for name, scores := range map[string][]float64{
		"uneven": uneven(3000), "constant": slices.Repeat([]float64{0.3}, 500), "all 0": make([]float64, 700),
		"two values": slices.Concat(make([]float64, 990), slices.Repeat([]float64{1}, 10)), "few": uneven(12), "one": {0.4},
		"rising": eval.Thresholds(1000),
	} {
		for _, n := range []int{1, 7, 100, 399, 100_000} {
			for _, held := range []int{0, 150} {
				t.Run(fmt.Sprintf("%s, %d of %d, %d held back", name, n, len(scores), held), func(t *testing.T) {
					c := corpusOf(t, scores)
					d := draw(t, c, Plan{Labels: n, HeldBack: held, Seed: 5})
					for part, planned := range map[part]int{drawn: n, heldBack: held} {
						sum, rows := 0.0, 0
						for _, s := range d.Strata {
							of, probability := s.rowsOf(part), s.InclusionProbability
							if part == heldBack {
								probability = s.HeldBackProbability
							}
							if probability > 1 || part == drawn && probability <= 0 {
								t.Errorf("probability %v", probability)
							}
							sum += probability * float64(s.Rows)
							rows += len(of)
							for _, row := range of {
								if score := scores[row-1]; score < s.Low || score > s.High {
									t.Errorf("row %d with score %v is in the stratum %v to %v", row, score, s.Low, s.High)
								}
							}
						}
						if want := min(planned, len(scores)); rows != want || math.Abs(sum-float64(want)) > 1e-6 {
							t.Errorf("%d rows, and probabilities that sum to %v, want %d", rows, sum, want)
						}
					}
					if err := d.check(c); err != nil {
						t.Error(err)
					}
					var b bytes.Buffer
					if err := plainjson.Write(&b, d, "  "); err != nil {
						t.Fatal(err)
					}
					read, err := readDesign(&b)
					if err != nil || !slices.Equal(read.Sample(), d.Sample()) {
						t.Errorf("%v: the design changes when it is stored", err)
					}
				})
			}
		}
	}
}

// Over many seeds, rows are drawn as often as the design says.
func TestEachRowIsDrawnAsOftenAsTheDesignSays(t *testing.T) {
	c := corpusOf(t, uneven(300))
	counts := make([]float64, c.Len()+1)
	const seeds = 3000
	var d Design // whose strata do not depend on the seed
	for seed := range uint64(seeds) {
		d = draw(t, c, Plan{Labels: 60, Seed: seed})
		for _, s := range d.Strata {
			for _, row := range s.Drawn {
				counts[row]++
			}
		}
	}
	for i, score := range c.scores[toxscreen.Toxicity] {
		want := d.Strata[d.stratumOf(score)].InclusionProbability * seeds
		if got := counts[c.rows[i]]; math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("row %d was drawn %v times, want about %v", c.rows[i], got, want)
		}
	}
}

// Texts about which the scores say little are drawn more often than others, but no
// stratum is left out however sure the scores are.
func TestUnsureTextsAreDrawnMoreOften(t *testing.T) {
	scores := slices.Concat(slices.Repeat([]float64{0}, 9000), slices.Repeat([]float64{0.5}, 1500), slices.Repeat([]float64{1}, 2000))
	d := draw(t, corpusOf(t, scores), Plan{Labels: 100, Seed: 1})
	if len(d.Strata) != 3 {
		t.Fatalf("%d strata, want one for each score", len(d.Strata))
	}
	clean, unsure, toxic := d.Strata[0], d.Strata[1], d.Strata[2]
	// sqrt(p(1-p)) is 0.1 for the surest scores and 0.5 for 0.5: 9000, 1500 and 2000 texts get
	// 895, 750 and 199 of 1844 shares.
	if len(clean.Drawn) != 48 || len(unsure.Drawn) != 41 || len(toxic.Drawn) != 11 {
		t.Errorf("%d, %d and %d drawn, want 48, 41 and 11", len(clean.Drawn), len(unsure.Drawn), len(toxic.Drawn))
	}
}

// Each attribute has its part in how the sample is divided.
func TestAttributesShareASample(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		threat := 0.001
		if i%2 == 0 {
			threat = 0.5
		}
		fmt.Fprintf(&b, `{"attributes":{"toxicity":{"score":%v},"threat":{"score":%v}},"versions":{"model":"m"}}`+"\n", float64(i%2)/2, threat)
	}
	both := []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.Threat}
	share := func(attributes []toxscreen.Attribute) float64 {
		c, err := readCorpus(strings.NewReader(b.String()), "scored.jsonl", attributes)
		if err != nil {
			t.Fatal(err)
		}
		d := draw(t, c, Plan{Labels: 100, Seed: 1})
		return float64(len(d.Strata[1].Drawn)) / 100
	}
	if one, two := share(both[:1]), share(both); one < 0.7 || math.Abs(two-0.5) > 0.02 {
		t.Errorf("%v and %v of the sample are unsure about toxicity, want most for toxicity alone and half for both", one, two)
	}
}

func TestDesignOfAnotherCorpus(t *testing.T) {
	c := corpusOf(t, uneven(500))
	for _, test := range []struct {
		name   string
		change func(d *Design)
		want   string
	}{
		{"another file", func(d *Design) { d.Corpus.SHA256 = "00" }, "is not the file that the sample was drawn from"},
		{"another model", func(d *Design) { d.Model = "m@2" }, "scored.jsonl was scored by m@1, and the sample was drawn by scores of m@2"},
		{"an attribute that was not read", func(d *Design) { d.Attributes = append(d.Attributes, toxscreen.Threat) }, "the scores for threat"},
		{"a row that does not exist", func(d *Design) { d.Strata[0].Drawn[0] = 501 }, "edited"},
		{"a row twice", func(d *Design) { d.Strata[0].Drawn[1] = d.Strata[0].Drawn[0] }, "edited"},
		{"a row in another stratum", func(d *Design) { d.Strata[0].Drawn, d.Strata[1].Drawn = d.Strata[1].Drawn, d.Strata[0].Drawn }, "edited"},
		{"a stratum that was removed", func(d *Design) { d.Strata = d.Strata[1:] }, "edited"},
		{"a stratum without rows", func(d *Design) { d.Strata[0].Drawn = nil }, "edited"},
		{"another size", func(d *Design) { d.Strata[0].Rows++ }, "edited"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := draw(t, c, Plan{Labels: 100, Seed: 1})
			test.change(&d)
			if err := d.check(c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if _, err := Measure(c, d, NewLabels(d), Questions{}); err == nil {
				t.Error("it is measured all the same")
			}
		})
	}
}

func TestReadCorpusRefuses(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"nothing", "", "contains none"},
		{"only failed rows", `{"row":1,"error":"no text"}` + "\n", "contains none"},
		{"no JSON", "text\n", "line 1"},
		{"texts in place of results", `{"text":"a"}` + "\n", "it is not a result"},
		{"estimates of an exit", line(0.5) + strings.Replace(line(0.1), `"text"`, `"exit":2,"text"`, 1), "line 2: it left the network early"},
		{"two models", line(0.5) + strings.Replace(line(0.1), "m@1", "m@2", 1), "line 2: it was scored by m@2, earlier lines by m@1"},
		{"no score", strings.Replace(line(0.5), `"toxicity":`, `"insult":`, 1), "it has no score for toxicity"},
		{"a score that is none", line(1.5), "1.5 is not a score in 0..1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readCorpus(strings.NewReader(test.lines), "scored.jsonl", []toxscreen.Attribute{toxscreen.Toxicity})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestReadCorpusCounts(t *testing.T) {
	lines := line(0.25) + "\n" + `{"row":2,"error":"no text"}` + "\n" + strings.Replace(line(0.75), `"text"`, `"not_decided":"it seems to be German","text"`, 1)
	c, err := readCorpus(strings.NewReader(lines), "scored.jsonl", []toxscreen.Attribute{toxscreen.Toxicity})
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 2 || c.Failed != 1 || c.NotDecided != 1 || !slices.Equal(c.rows, []int{1, 3}) {
		t.Errorf("%d texts with the numbers %v, %d failed, %d not decided", c.Len(), c.rows, c.Failed, c.NotDecided)
	}
}
