package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Plan says how many texts people are to label.
type Plan struct {
	// Labels is the number of texts for all estimates, 1 or more. If the corpus has fewer,
	// all of its texts are drawn.
	Labels int `json:"labels"`
	// HeldBack is the number of further texts for guarantees, 0 or more. Their labels only
	// confirm a threshold that other labels have chosen.
	HeldBack int `json:"held_back"`
	// Seed decides which texts are drawn. The same seed draws the same texts.
	Seed uint64 `json:"seed"`
}

// Design is a sample of a corpus: the drawn rows and the probability of each to be drawn.
// Its JSON form is the file beside the sheet that people fill in.
type Design struct {
	Corpus     Source                `json:"corpus"`
	Rows       int                   `json:"rows"` // texts of the corpus with scores
	Model      string                `json:"model"`
	Attributes []toxscreen.Attribute `json:"attributes"` // the first decides the strata
	Plan       Plan                  `json:"plan"`
	Strata     []Stratum             `json:"strata"`
}

// Stratum is the part of a corpus whose scores for the first attribute lie in Low..High.
// Drawn and HeldBack are two independent samples without replacement: a row may be in both.
type Stratum struct {
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Rows     int     `json:"rows"`
	Drawn    []int   `json:"drawn"` // numbers of rows, rising
	HeldBack []int   `json:"held_back,omitempty"`
	// InclusionProbability is the probability, for each row of the stratum, to be drawn,
	// and HeldBackProbability the probability to be held back.
	InclusionProbability float64 `json:"inclusion_probability"`
	HeldBackProbability  float64 `json:"held_back_probability,omitempty"`
}

const (
	// mostStrata is the highest number of strata. More hardly help (Cochran, Sampling
	// Techniques, 1977, section 5A.8), and each needs labels for its variance.
	mostStrata = 10
	// perStratum is the mean number of labels for each stratum that decides how many strata
	// there are, up to mostStrata.
	perStratum = 20
	// leastDrawn is the lowest number of texts that are drawn from a stratum which has as
	// many, however sure its scores seem.
	leastDrawn = 5
	// surest is the lowest share of errors that the division of the sample assumes for a
	// score. Without it, a model that is too sure of itself would hide texts.
	surest = 0.01
)

// Draw draws a stratified sample. The score of the first attribute divides the corpus into
// strata, and each stratum has the same sum of sqrt(p(1-p)), the standard deviations that
// the scores predict for the labels. These sums also divide the sample. This is the
// model-based stratification of Wright (1983), see Särndal, Swensson and Wretman, Model
// Assisted Survey Sampling (1992), section 12.4. If the scores are right, it is the optimum
// allocation of Neyman (1934). With several attributes, each counts the same in the sums
// (Cochran 1977, section 5A.4). The same corpus and plan give the same sample.
func (c Corpus) Draw(plan Plan) (Design, error) {
	switch {
	case plan.Labels < 1:
		return Design{}, fmt.Errorf("failed to draw a sample: %d labels: it must be 1 or more", plan.Labels)
	case plan.HeldBack < 0:
		return Design{}, fmt.Errorf("failed to draw a sample: %d labels held back: it must be 0 or more", plan.HeldBack)
	}
	design, parts, err := c.divided(plan)
	if err != nil {
		return Design{}, err
	}
	c.fill(design.Strata, parts, plan.Seed)
	return design, nil
}

// divided returns a design whose strata lack their drawn rows, and the positions of each
// stratum's rows.
func (c Corpus) divided(plan Plan) (Design, [][]int, error) {
	first := c.scores[c.attributes[0]]
	order := eval.Order(c.Len(), func(a, b int) int { return cmp.Compare(first[a], first[b]) }) // positions of rows by rising score
	spread := c.spread()
	parts := divide(order, first, spread, min(max(min(plan.Labels, c.Len())/perStratum, 1), mostStrata))
	if plan.HeldBack > 0 && plan.HeldBack < len(parts) {
		return Design{}, nil, fmt.Errorf("failed to draw a sample: %s fewer than the %d strata: hold back more", plural.Count(plan.HeldBack, "label held back is", "labels held back are"), len(parts))
	}
	design := Design{Corpus: c.Source, Rows: c.Len(), Model: c.Model, Attributes: c.attributes, Plan: plan, Strata: make([]Stratum, len(parts))}
	sizes, sums := make([]int, len(parts)), make([]float64, len(parts))
	for h, part := range parts {
		sizes[h] = len(part)
		for _, i := range part {
			sums[h] += spread[i]
		}
	}
	drawn, heldBack := allocate(plan.Labels, sizes, sums), allocate(plan.HeldBack, sizes, sums)
	for h, part := range parts {
		design.Strata[h] = Stratum{
			Low: first[part[0]], High: first[part[len(part)-1]], Rows: len(part),
			Drawn: make([]int, drawn[h]), InclusionProbability: float64(drawn[h]) / float64(len(part)),
			HeldBack: make([]int, heldBack[h]), HeldBackProbability: float64(heldBack[h]) / float64(len(part)),
		}
	}
	return design, parts, nil
}

// fill draws the rows of strata.
func (c Corpus) fill(strata []Stratum, parts [][]int, seed uint64) {
	// Two sources, so that the held back rows are the same whatever else is drawn.
	rng, held := source(seed, 0), source(seed, 1)
	for h, part := range parts {
		c.pick(rng, part, strata[h].Drawn)
		c.pick(held, part, strata[h].HeldBack)
	}
}

// spread returns, for each row, the standard deviation that the scores predict for its
// label, relative to the mean of the attribute and averaged over the attributes.
func (c Corpus) spread() []float64 {
	all := make([]float64, c.Len())
	for _, attribute := range c.attributes {
		one := make([]float64, c.Len())
		for i, p := range c.scores[attribute] {
			p = min(max(p, surest), 1-surest)
			one[i] = math.Sqrt(p * (1 - p))
		}
		middle := mean(one)
		for i := range all {
			all[i] += one[i] / middle / float64(len(c.attributes))
		}
	}
	return all
}

// divide cuts rows, ordered by score, into at most n parts with about the same sum of
// spreads. Rows with equal scores stay in one part.
func divide(order []int, scores, spread []float64, n int) [][]int {
	total := sum(spread)
	var parts [][]int
	before, latest := 0.0, -1
	for begin := 0; begin < len(order); {
		end, own := begin, 0.0
		for end < len(order) && scores[order[end]] == scores[order[begin]] {
			own += spread[order[end]]
			end++
		}
		// Equal scores belong to the part that the middle of them falls into.
		part := min(int(float64(n)*(before+own/2)/total), n-1)
		if part == latest {
			parts[len(parts)-1] = append(parts[len(parts)-1], order[begin:end]...)
		} else {
			parts = append(parts, order[begin:end:end])
		}
		latest, before, begin = part, before+own, end
	}
	return parts
}

// allocate divides n draws among strata in proportion to sums, with at least
// [leastDrawn] for each where n allows it, and at most as many as a stratum has rows.
func allocate(n int, sizes []int, sums []float64) []int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	if n >= total {
		return sizes
	}
	exact := func(scale float64, h int) float64 {
		least := min(leastDrawn, sizes[h], n/len(sizes))
		return min(max(scale*sums[h], float64(least)), float64(sizes[h]))
	}
	// The number of draws grows with the scale: the one that gives n is between these.
	low, high := 0.0, 1.0
	draws := func(scale float64) float64 {
		sum := 0.0
		for h := range sizes {
			sum += exact(scale, h)
		}
		return sum
	}
	for draws(high) < float64(n) {
		high *= 2
	}
	for range 100 {
		if middle := (low + high) / 2; draws(middle) < float64(n) {
			low = middle
		} else {
			high = middle
		}
	}
	counts, left := make([]int, len(sizes)), n
	for h := range sizes {
		counts[h] = int(exact(high, h))
		left -= counts[h]
	}
	// The largest remainders are rounded up.
	rest := func(h int) float64 { return exact(high, h) - float64(counts[h]) }
	byRest := eval.Order(len(sizes), func(a, b int) int { return cmp.Compare(rest(b), rest(a)) })
	for i := 0; left > 0; i = (i + 1) % len(byRest) {
		if h := byRest[i]; counts[h] < sizes[h] {
			counts[h]++
			left--
		}
	}
	return counts
}

// pick fills numbers with the numbers of randomly drawn rows, in rising order. part has the
// positions to draw from, without replacement, by Floyd's algorithm (Bentley and Floyd,
// 1987).
func (c Corpus) pick(rng *rand.Rand, part, numbers []int) {
	picked := map[int]bool{}
	for last := len(part) - len(numbers); last < len(part); last++ {
		at := rng.IntN(last + 1)
		if picked[at] {
			at = last
		}
		picked[at] = true
	}
	numbers = numbers[:0]
	for at := range picked {
		numbers = append(numbers, c.rows[part[at]])
	}
	slices.Sort(numbers)
}

func source(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // samples that can be drawn again
}

// Sample returns the numbers of all rows of the sample, those held back included, each once
// and in rising order.
func (d Design) Sample() []int {
	var all []int
	for _, s := range d.Strata {
		all = append(append(all, s.Drawn...), s.HeldBack...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// longestDesign is the limit of a design in bytes: enough for a million labels.
const longestDesign = 64 << 20

// readDesign reads a design that [Design.Save] wrote.
func readDesign(r io.Reader) (Design, error) {
	data, err := io.ReadAll(io.LimitReader(r, longestDesign+1))
	if err != nil {
		return Design{}, fmt.Errorf("failed to read the design of a sample: %w", err)
	}
	if len(data) > longestDesign {
		return Design{}, fmt.Errorf("failed to read the design of a sample: it has more than %d bytes", longestDesign)
	}
	var d Design
	if err := plainjson.Unmarshal(data, &d); err != nil {
		return Design{}, fmt.Errorf("failed to read the design of a sample: %w", err)
	}
	if len(d.Strata) == 0 || len(d.Attributes) == 0 {
		return Design{}, errors.New("failed to read the design of a sample: it has no strata or no attributes: draw the sample with `toxscreen audit sample`")
	}
	return d, nil
}

// check returns an error unless the design was drawn from a corpus.
func (d Design) check(c Corpus) error {
	switch {
	case d.Model != c.Model:
		return fmt.Errorf("%s was scored by %s, and the sample was drawn by scores of %s: pass the results that it was drawn from, or draw a new sample", c.File, c.Model, d.Model)
	case d.Corpus.SHA256 != c.SHA256:
		return fmt.Errorf("%s with %s is not the file that the sample was drawn from: that was %s with %s; pass that one, or draw a new sample",
			c.File, plural.Count(c.Len(), "row", "rows"), d.Corpus.File, plural.Count(d.Rows, "row", "rows"))
	}
	for _, attribute := range d.Attributes {
		if len(c.scores[attribute]) == 0 {
			return fmt.Errorf("the scores for %s of %s were not read: read the corpus with all attributes of the design", attribute, c.File)
		}
	}
	counts := make([]int, len(d.Strata))
	for _, score := range c.scores[d.Attributes[0]] {
		h := d.stratumOf(score)
		if h < 0 {
			return errEdited
		}
		counts[h]++
	}
	for h, s := range d.Strata {
		heldBack := d.Plan.HeldBack > 0
		if s.Rows != counts[h] || len(s.Drawn) == 0 || len(s.HeldBack) > 0 != heldBack || h > 0 && s.Low <= d.Strata[h-1].High {
			return errEdited
		}
		for _, rows := range [][]int{s.Drawn, s.HeldBack} {
			for k, row := range rows {
				i, ok := c.position(row)
				if !ok || d.stratumOf(c.scores[d.Attributes[0]][i]) != h || k > 0 && row <= rows[k-1] {
					return errEdited
				}
			}
		}
	}
	return nil
}

var errEdited = errors.New("the design does not fit the corpus: it was edited or is damaged; draw a new sample")

// position returns the index of a row among the rows with scores.
func (c Corpus) position(row int) (int, bool) { return slices.BinarySearch(c.rows, row) }

// stratumOf returns the index of the stratum for a score of the first attribute, -1 if no
// stratum has it.
func (d Design) stratumOf(score float64) int {
	h, _ := slices.BinarySearchFunc(d.Strata, score, func(s Stratum, score float64) int { return cmp.Compare(s.High, score) })
	if h == len(d.Strata) || score < d.Strata[h].Low {
		return -1
	}
	return h
}
