package tokenize

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A splitter is one pre-tokenizer: it cuts every span and may change its text.
type splitter func([]span) []span

// newSplitters lists the pre-tokenizers in order and flattens each Sequence.
func newSplitters(p *preTokenizer, out []splitter) ([]splitter, error) {
	if p == nil {
		return out, nil
	}
	var err error
	flag := func(flags uint16) func(rune) bool {
		runes := runeData()
		return func(r rune) bool { return runes.flags(r)&flags != 0 }
	}
	switch p.Type {
	case "Sequence":
		for _, inner := range p.PreTokenizers {
			if out, err = newSplitters(inner, out); err != nil {
				return nil, err
			}
		}
		return out, nil
	case "BertPreTokenizer":
		return append(out, splitMatching(flag(isSpace), "Removed"), splitMatching(flag(isPunctuation), "Isolated")), nil
	case "WhitespaceSplit":
		return append(out, splitMatching(flag(isSpace), "Removed")), nil
	case "Whitespace":
		return append(out, splitSearching(wordsOrSymbols, "Removed", true)), nil
	case "Punctuation":
		behavior := cmp.Or(p.Behavior, "Isolated")
		return append(out, splitMatching(flag(isPunctuation), behavior)), checkBehavior(behavior)
	case "Digits":
		if p.IndividualDigits {
			return append(out, splitMatching(flag(isNumeric), "Isolated")), nil
		}
		return append(out, splitMatching(flag(isNumeric), "Contiguous")), nil
	case "CharDelimiterSplit":
		r, n := utf8.DecodeRuneInString(p.Delimiter)
		if n == 0 || n != len(p.Delimiter) {
			return nil, fmt.Errorf("the delimiter %q of CharDelimiterSplit should be one character", p.Delimiter)
		}
		return append(out, splitMatching(func(c rune) bool { return c == r }, "Removed")), nil
	case "Split":
		search, err := readPattern(p.Pattern)
		if err != nil {
			return nil, fmt.Errorf("pre_tokenizer Split: %w", err)
		}
		return append(out, splitSearching(search, p.Behavior, p.Invert)), checkBehavior(p.Behavior)
	case "ByteLevel":
		return newByteLevel(p, out)
	case "Metaspace":
		return newMetaspace(p, out)
	}
	return nil, fmt.Errorf("the pre_tokenizer %q is not supported; BertPreTokenizer, WhitespaceSplit, Whitespace, Punctuation, Digits, "+
		"CharDelimiterSplit, Split, ByteLevel, Metaspace and Sequences of them are", p.Type)
}

func checkBehavior(behavior string) error {
	switch behavior {
	case "Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext":
		return nil
	}
	return fmt.Errorf("the behavior %q should be Removed, Isolated, Contiguous, MergedWithPrevious or MergedWithNext", behavior)
}

// splitMatching cuts at each character for which f is true.
func splitMatching(f func(rune) bool, behavior string) splitter {
	return splitSearching(run(f, 1, 1), behavior, false)
}

func splitSearching(p pattern, behavior string, invert bool) splitter {
	return func(in []span) (out []span) {
		for _, s := range in {
			stretches := s.searching(p)
			if invert {
				for i := range stretches {
					stretches[i].match = !stretches[i].match
				}
			}
			out = s.split(stretches, behavior, out)
		}
		return out
	}
}

func newByteLevel(p *preTokenizer, out []splitter) ([]splitter, error) {
	if p.AddPrefixSpace == nil {
		return nil, errors.New("pre_tokenizer ByteLevel lacks add_prefix_space; add it")
	}
	useRegex := or(p.UseRegex, true)
	return append(out, func(in []span) (out []span) {
		for _, s := range in {
			if *p.AddPrefixSpace && s.text[0] != ' ' {
				s = s.prepend(" ")
			}
			if useRegex {
				out = s.split(s.searching(gpt2), "Isolated", out)
			} else {
				out = append(out, s)
			}
		}
		for i := range out {
			out[i] = byteLevel(out[i])
		}
		return out
	}), nil
}

// byteLevel replaces every byte by the printable character that represents it.
func byteLevel(s span) span {
	out := span{make([]byte, 0, 2*len(s.text)), make([]Offset, 0, 2*len(s.text))}
	for i, b := range s.text {
		c := byteAlphabet[b]
		out.text = append(out.text, c...)
		for range len(c) {
			out.at = append(out.at, s.at[i])
		}
	}
	return out
}

func newMetaspace(p *preTokenizer, out []splitter) ([]splitter, error) {
	if utf8.RuneCountInString(p.Replacement) != 1 {
		return nil, fmt.Errorf("the replacement %q of Metaspace should be one character", p.Replacement)
	}
	scheme := cmp.Or(p.PrependScheme, "always")
	if !or(p.AddPrefixSpace, true) {
		if p.PrependScheme != "" && scheme != "never" {
			return nil, errors.New("add_prefix_space of Metaspace contradicts its prepend_scheme; remove one of them")
		}
		// The library also refuses a file without prepend_scheme, whose default is "always".
		if p.PrependScheme == "" {
			return nil, errors.New(`add_prefix_space of Metaspace is false and it has no prepend_scheme; add "prepend_scheme": "never"`)
		}
	}
	if scheme != "always" && scheme != "first" && scheme != "never" {
		return nil, fmt.Errorf("the prepend_scheme %q of Metaspace should be always, first or never", scheme)
	}
	cut := or(p.Split, true)
	blank, marks := literal([]byte(" ")), literal([]byte(p.Replacement))
	return append(out, func(in []span) (out []span) {
		for _, s := range in {
			s = replaceAll(s, blank, p.Replacement)
			if !bytes.HasPrefix(s.text, []byte(p.Replacement)) && (scheme == "always" || scheme == "first" && s.at[0].Start == 0) {
				s = s.prepend(p.Replacement)
			}
			if cut {
				out = s.split(s.searching(marks), "MergedWithNext", out)
			} else {
				out = append(out, s)
			}
		}
		return out
	}), nil
}
