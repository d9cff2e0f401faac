package ollamatest

import (
	"math"

	"github.com/ollama/ollama/api"
)

// Tokens makes the log-probabilities of the written tokens, which are strings. A
// map[string]float64 behind a token has its alternatives, with their probabilities in
// percent.
func Tokens(pieces ...any) []api.Logprob {
	var all []api.Logprob
	for _, p := range pieces {
		switch p := p.(type) {
		case string:
			all = append(all, api.Logprob{TokenLogprob: api.TokenLogprob{Token: p}})
		case map[string]float64:
			last := &all[len(all)-1]
			for token, share := range p {
				last.TopLogprobs = append(last.TopLogprobs, api.TokenLogprob{Token: token, Logprob: math.Log(share / 100)})
			}
		}
	}
	return all
}
