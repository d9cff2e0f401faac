package judge

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/ollama"
)

// topLogprobs is how many tokens the server is asked for at each place: the
// most that it gives.
const topLogprobs = 20

// plain returns what of a text is ASCII. A token may be half of a rune, which
// the server gives as U+FFFD, so that tokens do not add up to what was written;
// what of them is ASCII does, and verdicts and the JSON around them are.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf {
			return -1
		}
		return c
	}, text)
}

// probability returns P(first) among two possible verdicts: the share that the
// model gave to tokens that begin the first, of what it gave to those that
// begin either. at is where the verdict that it wrote begins in text, which is
// what it wrote. The server computes the probabilities before the schema rules
// tokens out, so that other words and white space are among them; they count
// for neither.
//
// A verdict that none of the listed tokens begins is given the probability of
// the last of them, which is the most that it can have. ok is false where the
// server gave no probabilities, or none of either verdict.
func probability(tokens []ollama.Logprob, text string, at int, first, second string) (p float64, ok bool) {
	var written strings.Builder
	for _, t := range tokens {
		written.WriteString(plain(t.Token))
	}
	// What a model thinks comes before, and is no part of its text.
	offset := strings.LastIndex(written.String(), plain(text))
	if offset < 0 || text == "" {
		return 0, false
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
		var sums [2]float64
		least := math.Inf(1)
		for _, option := range t.TopLogprobs {
			mass := math.Exp(option.Logprob)
			least = min(least, mass)
			rest, ok := strings.CutPrefix(plain(option.Token), before)
			if !ok {
				continue
			}
			for i, verdict := range []string{first, second} {
				if begins(rest, verdict) {
					sums[i] += mass
				}
			}
		}
		switch {
		case sums[0] == 0 && sums[1] == 0:
			return 0, false
		case sums[0] == 0:
			sums[0] = least
		case sums[1] == 0:
			sums[1] = least
		}
		return sums[0] / (sums[0] + sums[1]), true
	}
	return 0, false
}

// begins tells whether a token is the beginning of a verdict, or the verdict
// and what stands behind it: "y", " Yes", `yes",`, but not "yesterday".
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
