package judge

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/judge/ollama"
)

// topLogprobs is the number of alternatives that are requested for each token: the
// server's maximum.
const topLogprobs = 20

// plain returns the ASCII characters of a text. A token may be a part of a rune,
// which the server returns as U+FFFD, so the tokens do not add up to the text.
// Their ASCII characters do, and verdicts and the JSON around them are ASCII.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf {
			return -1
		}
		return c
	}, text)
}

// probability returns P(first) of two possible verdicts; see [probabilities].
func probability(tokens []ollama.Logprob, text string, at int, first, second string) (p float64, ok bool) {
	shares, ok := probabilities(tokens, text, at, first, second)
	if !ok {
		return 0, false
	}
	return shares[0], true
}

// probabilities returns the probability of each of several possible verdicts: that of
// the tokens that begin it, divided by that of the tokens that begin any. text is what
// the model wrote, and at is the offset of its verdict. The server returns
// probabilities from before the schema excludes tokens, so they include other words
// and white space, which are ignored.
//
// If none of the listed tokens begins a verdict, it gets the probability of the
// last one, which is the most that it can have. ok is false if the server returned
// no probabilities, or none of any verdict.
func probabilities(tokens []ollama.Logprob, text string, at int, verdicts ...string) (shares []float64, ok bool) {
	var written strings.Builder
	for _, t := range tokens {
		written.WriteString(plain(t.Token))
	}
	// Thinking comes first and is not part of the text.
	offset := strings.LastIndex(written.String(), plain(text))
	if offset < 0 || text == "" {
		return nil, false
	}
	at = offset + len(plain(text[:at]))
	start := 0
	for _, t := range tokens {
		token := plain(t.Token)
		if at >= start+len(token) {
			start += len(token)
			continue
		}
		// The token may begin before the verdict, as in `"yes`.
		before := token[:at-start]
		sums := make([]float64, len(verdicts))
		least := math.Inf(1)
		for _, option := range t.TopLogprobs {
			mass := math.Exp(option.Logprob)
			least = min(least, mass)
			rest, ok := strings.CutPrefix(plain(option.Token), before)
			if !ok {
				continue
			}
			for i, verdict := range verdicts {
				if begins(rest, verdict) {
					sums[i] += mass
				}
			}
		}
		if slices.Max(sums) == 0 {
			return nil, false
		}
		all := 0.0
		for i := range sums {
			if sums[i] == 0 {
				sums[i] = least
			}
			all += sums[i]
		}
		for i := range sums {
			sums[i] /= all
		}
		return sums, true
	}
	return nil, false
}

// begins reports whether a token is the beginning of a verdict, or the whole
// verdict with something after it: "y", " Yes", `yes",`, but not "yesterday".
func begins(token, verdict string) bool {
	token = strings.ToLower(strings.TrimSpace(token))
	if token == "" {
		return false
	}
	rest, whole := strings.CutPrefix(token, verdict)
	if !whole {
		return strings.HasPrefix(verdict, token)
	}
	return rest == "" || !(rest[0] >= 'a' && rest[0] <= 'z')
}
