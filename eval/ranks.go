package eval

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Ranks returns the rank of each value, from 1. Equal values share the mean of their
// ranks.
func Ranks(values []float64) []float64 {
	order := Order(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			ranks[at] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// Order returns the positions 0 to n-1 in the order in which compare puts them; equal ones
// rise.
func Order(n int, compare func(a, b int) int) []int {
	order := numbers(n)
	slices.SortStableFunc(order, compare)
	return order
}

// numbers returns 0 to n-1.
func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Spearman returns the rank correlation, in -1..1, of two columns of the same length. It
// is NaN if a column is constant.
func Spearman(x, y []float64) float64 {
	return stat.Correlation(Ranks(x), Ranks(y), nil)
}

// Kendall returns the rank correlation tau-b, in -1..1, of two columns of the same
// length, with Knight's algorithm (1966) in n log n steps. It is NaN if a column is constant.
func Kendall(x, y []float64) float64 {
	order := Order(len(x), func(a, b int) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b])) })
	pairs := func(n int) float64 { return float64(n) * float64(n-1) / 2 }
	// tied counts the pairs of neighbours in order that same says are equal.
	tied := func(same func(a, b int) bool) float64 {
		sum, run := 0.0, 1
		for i := 1; i <= len(order); i++ {
			if i < len(order) && same(order[i-1], order[i]) {
				run++
				continue
			}
			sum += pairs(run)
			run = 1
		}
		return sum
	}
	all := pairs(len(x))
	tiedX := tied(func(a, b int) bool { return x[a] == x[b] })
	tiedBoth := tied(func(a, b int) bool { return x[a] == x[b] && y[a] == y[b] })
	byX := make([]float64, len(order))
	for i, at := range order {
		byX[i] = y[at]
	}
	discordant := inversions(byX)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	tiedY := tied(func(a, b int) bool { return y[a] == y[b] })
	return (all - tiedX - tiedY + tiedBoth - 2*discordant) / math.Sqrt((all-tiedX)*(all-tiedY))
}

// inversions sorts values and returns the number of pairs that were in falling order.
func inversions(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	left := slices.Clone(values[:len(values)/2])
	right := slices.Clone(values[len(values)/2:])
	count := inversions(left) + inversions(right)
	i, j := 0, 0
	for k := range values {
		if j == len(right) || i < len(left) && left[i] <= right[j] {
			values[k] = left[i]
			i++
		} else {
			values[k] = right[j]
			j++
			count += float64(len(left) - i)
		}
	}
	return count
}

// AUC returns the area under the ROC curve: how often a toxic text has a higher score
// than a clean one, where a tie counts half (Mann and Whitney, 1947). It is NaN without
// texts of both kinds.
func AUC(scores []float64, toxic []bool) float64 {
	ranks := Ranks(scores)
	sum, positive := 0.0, 0.0
	for i, rank := range ranks {
		if toxic[i] {
			sum += rank
			positive++
		}
	}
	negative := float64(len(scores)) - positive
	return (sum - positive*(positive+1)/2) / (positive * negative)
}
