package tokenize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A pattern returns the first match in text at or after i, or -1. Matches are not empty.
type pattern func(text []byte, i int) (from, to int)

// The supported regular expressions. Those of a tokenizer.json are Oniguruma's, with
// look-ahead and another Unicode version than Go's, so only these are accepted.
const (
	gpt2Expression       = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	whitespaceExpression = `\w+|[^\w\s]+`
)

func readPattern(data json.RawMessage) (pattern, error) {
	var p struct {
		String *string
		Regex  *string
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("pattern %.80s should be a String or a Regex: %w", data, err)
	}
	switch {
	case p.String != nil && *p.String != "":
		return literal([]byte(*p.String)), nil
	case p.Regex == nil:
		return nil, fmt.Errorf("pattern %.80s should be a String or a Regex", data)
	}
	space := func(r rune) bool { return r == ' ' }
	switch *p.Regex {
	case `\s`:
		return run(isBlank, 1, 1), nil
	case `\s+`:
		return run(isBlank, 1, 0), nil
	case ` `:
		return run(space, 1, 1), nil
	case ` +`:
		return run(space, 1, 0), nil
	case ` {2,}`:
		return run(space, 2, 0), nil
	case gpt2Expression:
		return gpt2, nil
	case whitespaceExpression:
		return wordsOrSymbols, nil
	}
	return nil, fmt.Errorf("the regular expression %q is not one known to give Hugging Face's offsets; "+
		"export the model with a fast path (BERT, RoBERTa, XLM-R) or request support for the expression", *p.Regex)
}

func literal(what []byte) pattern {
	return func(text []byte, i int) (int, int) {
		n := bytes.Index(text[i:], what)
		if n < 0 {
			return -1, -1
		}
		return i + n, i + n + len(what)
	}
}

// run matches at least least and at most most characters for which f is true; 0 is no limit.
func run(f func(rune) bool, least, most int) pattern {
	return func(text []byte, i int) (int, int) {
		from, count := i, 0
		for i < len(text) {
			r, n := utf8.DecodeRune(text[i:])
			switch {
			case f(r):
				count++
				i += n
				if count == most {
					return from, i
				}
				continue
			case count >= least:
				return from, i
			}
			i += n
			from, count = i, 0
		}
		if count >= least {
			return from, i
		}
		return -1, -1
	}
}

// classRun returns the end of the characters from i on whose masked flags equal want.
func classRun(text []byte, i int, mask, want uint16) int {
	runes := runeData()
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if runes.flags(r)&mask != want {
			break
		}
		i += n
	}
	return i
}

// gpt2 matches gpt2Expression, which matches at every position.
func gpt2(text []byte, i int) (from, to int) {
	rest := text[i:]
	for _, suffix := range [...]string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(rest) >= len(suffix) && string(rest[:len(suffix)]) == suffix {
			return i, i + len(suffix)
		}
	}
	const classes = isLetter | isNumber | isSpace
	start := i
	if text[i] == ' ' {
		start++
	}
	for _, class := range [...]uint16{isLetter, isNumber, 0} {
		if end := classRun(text, start, classes, class); end > start {
			return i, end
		}
	}
	end := classRun(text, i, isSpace, isSpace)
	if end < len(text) {
		// Leave the last blank to the following word, if there is another blank.
		_, n := utf8.DecodeLastRune(text[i:end])
		if end-n > i {
			end -= n
		}
	}
	return i, end
}

// wordsOrSymbols matches whitespaceExpression.
func wordsOrSymbols(text []byte, i int) (from, to int) {
	i = classRun(text, i, isSpace, isSpace)
	if i == len(text) {
		return -1, -1
	}
	if end := classRun(text, i, isWord, isWord); end > i {
		return i, end
	}
	return i, classRun(text, i, isWord|isSpace, 0)
}
