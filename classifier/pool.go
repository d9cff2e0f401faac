package classifier

import "math"

// pool combines the logits of a text's windows for one label, weighted by the
// number of tokens that each window owns; see [Window].
func pool(logits []float64, tokens []int, pooling float64) float64 {
	highest, total := math.Inf(-1), 0.0
	for i, n := range tokens {
		highest = max(highest, logits[i])
		total += float64(n)
	}
	if len(tokens) == 1 {
		return logits[0]
	}
	sum := 0.0
	for i, n := range tokens {
		share := float64(n) / total
		if pooling == 0 {
			sum += share * logits[i]
		} else {
			sum += share * math.Exp(pooling*(logits[i]-highest))
		}
	}
	if pooling == 0 {
		return sum
	}
	return highest + math.Log(sum)/pooling
}
