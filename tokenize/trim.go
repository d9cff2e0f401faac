package tokenize

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// trim is a post-processor that removes the blanks of a token from its offsets.
type trim struct{ addPrefixSpace bool }

// blanks counts the blanks, as characters, that a token begins and ends with.
type blanks struct{ leading, trailing int32 }

// byteLevelBlank represents a blank in the byte-level alphabet.
const byteLevelBlank = 'Ġ'

func blanksOf(token string) blanks {
	blank := func(r rune) bool { return r == byteLevelBlank || isBlank(r) }
	front := strings.TrimLeftFunc(token, blank)
	back := strings.TrimRightFunc(token, blank)
	return blanks{
		int32(utf8.RuneCountInString(token[:len(token)-len(front)])),
		int32(utf8.RuneCountInString(token[len(back):])),
	}
}

// readTrims lists the post-processors that trim, in order: some files have two.
func readTrims(p *postProcessor) ([]trim, error) {
	if p == nil {
		return nil, nil
	}
	switch p.Type {
	case "Sequence":
		var all []trim
		for _, inner := range p.Processors {
			trims, err := readTrims(inner)
			if err != nil {
				return nil, err
			}
			all = append(all, trims...)
		}
		return all, nil
	case "ByteLevel", "RobertaProcessing":
		if p.TrimOffsets == nil || p.AddPrefixSpace == nil {
			return nil, errors.New(p.Type + " lacks trim_offsets or add_prefix_space; add them")
		}
		if *p.TrimOffsets {
			return []trim{{*p.AddPrefixSpace}}, nil
		}
	}
	return nil, nil
}

// trimOffsets is ByteLevel's process_offsets. It moves by characters of the text. A
// blank that a pre-tokenizer inserted before a word inside the text is also removed, and
// with it the word's first character, as Hugging Face does.
func (t *Tokenizer) trimOffsets(text string, enc *Encoding) {
	for _, trim := range t.trims {
		for i, b := range enc.blanks {
			at := &enc.Offsets[i]
			if b.leading > 0 {
				n := b.leading
				if (i == 0 || at.Start == 0) && trim.addPrefixSpace && n == 1 {
					n = 0
				}
				for ; n > 0 && at.Start < at.End; n-- {
					_, size := utf8.DecodeRuneInString(text[at.Start:])
					at.Start += int32(size)
				}
				at.Start = min(at.Start, at.End)
			}
			if b.trailing > 0 && utf8.RuneCountInString(text[:min(int(at.End), 4*int(b.trailing))]) >= int(b.trailing) {
				for n := b.trailing; n > 0 && at.End > at.Start; n-- {
					_, size := utf8.DecodeLastRuneInString(text[:at.End])
					at.End -= int32(size)
				}
				at.End = max(at.End, at.Start)
			}
		}
	}
}
