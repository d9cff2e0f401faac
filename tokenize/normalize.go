package tokenize

import (
	"fmt"
	"strings"
)

// A step is one normaliser applied to a span.
type step func(span) (span, error)

// newSteps lists the normalisers in order and flattens each Sequence.
func newSteps(n *normalizer, out []step) ([]step, error) {
	if n == nil {
		return out, nil
	}
	var err error
	switch n.Type {
	case "Sequence":
		for _, inner := range n.Normalizers {
			if out, err = newSteps(inner, out); err != nil {
				return nil, err
			}
		}
		return out, nil
	case "BertNormalizer":
		options, err := n.bertOptions()
		return append(out, bertStep(options)), err
	case "Lowercase":
		return append(out, bertStep(bertOptions{lower: true})), nil
	case "NFD":
		return append(out, bertStep(bertOptions{strip: true})), nil
	case "NFC":
		return append(out, composeStep(canonical)), nil
	case "NFKC":
		return append(out, composeStep(compatibility)), nil
	case "NFKD":
		return append(out, decomposeStep), nil
	case "StripAccents":
		return append(out, filterStep(func(r rune) bool { return runeData().flags(r)&isCombining == 0 })), nil
	case "Nmt":
		return append(out, filterStep(isNmtKept), nmtBlanks), nil
	case "Strip":
		return append(out, stripStep(n.StripLeft, n.StripRight)), nil
	case "Prepend":
		return append(out, func(s span) (span, error) { return s.prepend(n.Prepend), nil }), nil
	case "Replace":
		p, err := readPattern(n.Pattern)
		if err != nil {
			return nil, fmt.Errorf("normalizer Replace: %w", err)
		}
		return append(out, func(s span) (span, error) { return replaceAll(s, p, n.Content), nil }), nil
	case "ByteLevel":
		return append(out, func(s span) (span, error) { return byteLevel(s), nil }), nil
	case "Precompiled":
		p, err := newCharsmap(n.Charsmap)
		if err != nil {
			return nil, fmt.Errorf("normalizer Precompiled: %w", err)
		}
		return append(out, p.normalize), nil
	}
	return nil, fmt.Errorf("the normalizer %q is not supported; BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, StripAccents, Nmt, Strip, "+
		"Prepend, Replace, ByteLevel, Precompiled and Sequences of them are", n.Type)
}

// bertStep runs the fast path's normaliser on a span.
func bertStep(o bertOptions) step {
	b := &bert{options: o, runes: runeData()}
	return func(s span) (span, error) {
		var enc Encoding
		b.normalize(s, &enc)
		return span{enc.scratch.normalized, enc.scratch.normalizedAt}, nil
	}
}

func filterStep(keep func(rune) bool) step {
	return func(s span) (span, error) { return s.filter(keep), nil }
}

func stripStep(left, right bool) step {
	return func(s span) (span, error) {
		from, to := 0, len(s.text)
		if left {
			from = to - len(strings.TrimLeftFunc(string(s.text), isBlank))
		}
		if right {
			to = max(from, len(strings.TrimRightFunc(string(s.text), isBlank)))
		}
		return s.slice(from, to), nil
	}
}

// isNmtKept and nmtBlanks are SentencePiece's rules for machine translation.
func isNmtKept(r rune) bool {
	return !(r >= 0x1 && r <= 0x8 || r == 0xb || r >= 0xe && r <= 0x1f || r == 0x7f || r == 0x8f || r == 0x9f)
}

func nmtBlanks(s span) (span, error) {
	return s.each(func(out *span, r rune, at Offset) {
		switch {
		case r == 0x9, r == 0xa, r == 0xc, r == 0xd, r == 0x1680, r >= 0x200b && r <= 0x200f,
			r == 0x2028, r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd:
			r = ' '
		}
		out.append(r, at)
	}), nil
}

// replaceAll aligns the new text with the last character of the old text.
func replaceAll(s span, p pattern, content string) span {
	stretches := s.searching(p)
	if len(stretches) == 0 || len(stretches) == 1 && !stretches[0].match {
		return s
	}
	out := span{make([]byte, 0, len(s.text)), make([]Offset, 0, len(s.text))}
	for _, f := range stretches {
		if !f.match {
			out.text, out.at = append(out.text, s.text[f.from:f.to]...), append(out.at, s.at[f.from:f.to]...)
			continue
		}
		for _, r := range content {
			out.append(r, s.at[f.to-1])
		}
	}
	return out
}
