package ollama

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Probabilities returns the probability of each of several words at an offset of the
// reply's text: that of the tokens that begin it, divided by that of the tokens that
// begin any. The server returns probabilities from before the schema excludes tokens,
// so they include other words and white space, which are ignored.
//
// If none of the listed tokens begins a word, the word gets the probability of the
// last one, which is the most that it can have. ok is false if the server returned
// no probabilities, or if no listed token begins any of the words.
func (r Reply) Probabilities(at int, words ...string) (shares []float64, ok bool) {
	var written strings.Builder
	for _, t := range r.Logprobs {
		written.WriteString(ascii(t.Token))
	}
	// Thinking comes first and is not part of the text.
	offset := strings.LastIndex(written.String(), ascii(r.Text))
	if offset < 0 || r.Text == "" {
		return nil, false
	}
	at = offset + len(ascii(r.Text[:at]))
	start := 0
	for _, t := range r.Logprobs {
		token := ascii(t.Token)
		if at >= start+len(token) {
			start += len(token)
			continue
		}
		// The token may begin before the word, as in `"yes`.
		return sharesOf(t.TopLogprobs, token[:at-start], words)
	}
	return nil, false
}

// sharesOf returns the probability of each word among the alternatives of one token, of
// which the word follows what is before it.
func sharesOf(options []TokenLogprob, before string, words []string) (shares []float64, ok bool) {
	shares = make([]float64, len(words))
	least := math.Inf(1)
	for _, option := range options {
		mass := math.Exp(option.Logprob)
		least = min(least, mass)
		rest, ok := strings.CutPrefix(ascii(option.Token), before)
		if !ok {
			continue
		}
		for i, word := range words {
			if begins(rest, word) {
				shares[i] += mass
			}
		}
	}
	if slices.Max(shares) == 0 {
		return nil, false
	}
	all := 0.0
	for i := range shares {
		if shares[i] == 0 {
			shares[i] = least
		}
		all += shares[i]
	}
	for i := range shares {
		shares[i] /= all
	}
	return shares, true
}

// ascii returns the ASCII characters of a text. A token may be a part of a rune,
// which the server returns as U+FFFD, so the tokens do not add up to the text.
// Their ASCII characters do, and verdicts and the JSON around them are ASCII.
func ascii(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf {
			return -1
		}
		return c
	}, text)
}

// begins reports whether a token is the beginning of a word, or the whole word with
// something after it: "y", " Yes", `yes",`, but not "yesterday".
func begins(token, word string) bool {
	token = strings.ToLower(strings.TrimSpace(token))
	if token == "" {
		return false
	}
	rest, whole := strings.CutPrefix(token, word)
	if !whole {
		return strings.HasPrefix(word, token)
	}
	return rest == "" || !(rest[0] >= 'a' && rest[0] <= 'z')
}
