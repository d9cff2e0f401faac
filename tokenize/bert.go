package tokenize

import (
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"
)

// bert is BertNormalizer, BertPreTokenizer and WordPiece in one pass over the text.
type bert struct {
	options bertOptions
	runes   *runeTable
	// The lane of each ASCII byte, and its lowercase form.
	lane [256]uint8
	fold [256]byte
	// The ids of ASCII punctuation, each a separate word.
	punctuation [128]int64

	wordPiece

	added addedTokens // those that are searched in the normalised text
}

type bertOptions struct {
	clean, chinese, lower bool
	strip                 bool   // decompose and
	drop                  uint16 // drop the characters with these flags
}

// The lanes of an ASCII byte. Everything else takes the slow path, rune by rune.
const (
	laneSlow = iota
	laneLetter
	laneSpace
	lanePunctuation
)

// isBert reports whether the normaliser and the pre-tokenizer are BERT's.
func isBert(f *file) bool {
	return (f.Normalizer == nil || f.Normalizer.Type == "BertNormalizer") &&
		f.PreTokenizer != nil && f.PreTokenizer.Type == "BertPreTokenizer"
}

func newBert(f *file) (*bert, int, error) {
	b := &bert{runes: runeData()}
	var err error
	if f.Normalizer != nil {
		if b.options, err = f.Normalizer.bertOptions(); err != nil {
			return nil, 0, err
		}
	}
	size, err := f.Model.vocabularySize()
	if err != nil {
		return nil, 0, err
	}
	words, err := newWordPiece(&f.Model)
	if err != nil {
		return nil, 0, err
	}
	b.wordPiece = *words
	b.buildLanes()
	b.added, err = newAddedTokens(f, true, b.normalizeString)
	return b, size, err
}

func (n *normalizer) bertOptions() (bertOptions, error) {
	if n.CleanText == nil || n.HandleChineseChars == nil || n.Lowercase == nil {
		return bertOptions{}, errors.New("BertNormalizer lacks clean_text, handle_chinese_chars or lowercase; add them")
	}
	return bertOptions{
		clean: *n.CleanText, chinese: *n.HandleChineseChars, lower: *n.Lowercase,
		strip: or(n.StripAccents, *n.Lowercase), drop: isAccent,
	}, nil
}

func (b *bert) buildLanes() {
	for c := range utf8.RuneSelf {
		flags := b.runes.flags(rune(c))
		b.fold[c] = byte(c)
		switch {
		case flags&isRemoved != 0 && b.options.clean:
		case flags&isSpace != 0:
			b.lane[c] = laneSpace
		case flags&isPunctuation != 0:
			b.lane[c] = lanePunctuation
			b.punctuation[c] = b.unknown
			if id, _ := longest(b.vocab, startRoot, string(rune(c))); id >= 0 && b.maxChars >= 1 {
				b.punctuation[c] = int64(id)
			}
		default:
			b.lane[c] = laneLetter
			if b.options.lower {
				b.fold[c] = byte(unicode.ToLower(rune(c)))
			}
		}
	}
}

// scratch is the memory of the slow path.
type scratch struct {
	word  []byte   // the normalised word, at most one character longer than WordPiece takes
	at    []Offset // source character of each of its bytes
	chars int
	whole Offset // what the word covers, even if it is too long to keep

	marks []pendingMark // combining marks not yet in canonical order
	queue []Offset      // source characters of the marks, in text order
	last  Offset        // source of the character before them
	keep  bool          // strip_accents keeps some of them

	collect      bool // write to normalized instead of word
	normalized   []byte
	normalizedAt []Offset
}

type pendingMark struct {
	r     rune
	class uint8
	first bool // begins the decomposition of a character
}

func (b *bert) encode(text string, from, to int, enc *Encoding) error {
	if b.added.any() {
		b.encodeNormalized(text, from, to, enc)
		return nil
	}
	s := &enc.scratch
	for i := from; i < to; {
		switch b.lane[text[i]] {
		case laneSpace:
			i++
		case lanePunctuation:
			enc.append(b.punctuation[text[i]], Offset{int32(i), int32(i + 1)})
			enc.words++
			i++
			// A combining mark after it would be a separate word: no part of it joins the
			// punctuation, so the slow path may start afresh.
		case laneLetter:
			start := i
			word := s.word[:0]
			for i < to && b.lane[text[i]] == laneLetter {
				if len(word) <= b.maxChars {
					word = append(word, b.fold[text[i]])
				}
				i++
			}
			s.word = word[:0]
			if i < to && b.lane[text[i]] == laneSlow {
				i = b.encodeSlowly(text, start, to, enc)
				continue
			}
			b.pieces(word, start, i, enc)
		default:
			i = b.encodeSlowly(text, i, to, enc)
		}
	}
	return nil
}

// pieces appends the pieces of a word whose bytes correspond one to one to those of
// text[start:end].
func (b *bert) pieces(word []byte, start, end int, enc *Encoding) {
	before := len(enc.IDs)
	if len(word) > b.maxChars {
		enc.append(b.unknown, Offset{int32(start), int32(end)})
		enc.words++
		return
	}
	root := uint32(startRoot)
	for at := 0; at < len(word); root = restRoot {
		id, n := longest(b.vocab, root, word[at:])
		if id < 0 {
			enc.truncate(before)
			enc.append(b.unknown, Offset{int32(start), int32(end)})
			break
		}
		enc.append(int64(id), Offset{int32(start + at), int32(start + at + n)})
		at += n
	}
	enc.words++
}

func (enc *Encoding) truncate(n int) {
	enc.IDs, enc.Offsets, enc.Words = enc.IDs[:n], enc.Offsets[:n], enc.Words[:n]
}

// encodeSlowly goes rune by rune until after an ASCII blank and returns the position.
func (b *bert) encodeSlowly(text string, i, to int, enc *Encoding) int {
	enc.scratch.reset()
	for i < to {
		if c := text[i]; c < utf8.RuneSelf && b.lane[c] == laneSpace {
			break
		}
		r, n := utf8.DecodeRuneInString(text[i:to])
		b.clean(r, Offset{int32(i), int32(i + n)}, enc)
		i += n
	}
	b.flushMarks(enc)
	b.flushWord(enc)
	return i
}

func (s *scratch) reset() {
	s.word, s.at, s.chars = s.word[:0], s.at[:0], 0
	s.marks, s.queue, s.keep = s.marks[:0], s.queue[:0], false
}

// clean is clean_text and handle_chinese_chars for one character.
func (b *bert) clean(r rune, at Offset, enc *Encoding) {
	flags := b.runes.flags(r)
	if b.options.clean {
		if flags&isRemoved != 0 {
			return
		}
		if flags&isSpace != 0 {
			r = ' '
			flags = isSpace
		}
	}
	if b.options.chinese && flags&isChinese != 0 {
		b.decompose(' ', isSpace, at, enc)
		b.decompose(r, flags, at, enc)
		b.decompose(' ', isSpace, at, enc)
		return
	}
	b.decompose(r, flags, at, enc)
}

// decompose is strip_accents for one character: canonical decomposition. Marks are put
// into canonical order when the next starter shows that the sequence is complete.
func (b *bert) decompose(r rune, flags uint16, at Offset, enc *Encoding) {
	if !b.options.strip {
		b.lowercase(r, flags, at, enc)
		return
	}
	switch {
	case flags&(isComposed|isHangul|isMark) == 0:
		b.starter(r, flags, at, enc)
	case flags&isHangul != 0:
		lead, vowel, tail := hangul(r)
		b.starter(lead, 0, at, enc)
		b.starter(vowel, 0, at, enc)
		if tail != 0 {
			b.starter(tail, 0, at, enc)
		}
	case flags&isComposed != 0:
		for i, d := range b.runes.decomposition[r] {
			if flags := b.runes.flags(d); flags&isMark != 0 {
				b.mark(d, flags, i == 0, at, enc)
			} else {
				b.starter(d, flags, at, enc)
			}
		}
	default:
		b.mark(r, flags, true, at, enc)
	}
}

func (b *bert) starter(r rune, flags uint16, at Offset, enc *Encoding) {
	b.flushMarks(enc)
	enc.scratch.last = at
	if flags&b.options.drop == 0 {
		b.lowercase(r, flags, at, enc)
	}
}

func (b *bert) mark(r rune, flags uint16, first bool, at Offset, enc *Encoding) {
	s := &enc.scratch
	s.marks = append(s.marks, pendingMark{r, b.runes.class[r], first})
	if first {
		s.queue = append(s.queue, at)
	}
	s.keep = s.keep || flags&b.options.drop == 0
}

// flushMarks passes on the marks that are not stripped, sorted by class. As in the
// library, the alignment of a mark follows its place and not its origin: the first mark
// of a decomposition takes the next character of the text, the others repeat.
func (b *bert) flushMarks(enc *Encoding) {
	s := &enc.scratch
	if len(s.marks) == 0 {
		return
	}
	if s.keep {
		slices.SortStableFunc(s.marks, func(a, b pendingMark) int { return int(a.class) - int(b.class) })
		at, next := s.last, 0
		for _, m := range s.marks {
			if m.first {
				at = s.queue[next]
				next++
			}
			if flags := b.runes.flags(m.r); flags&b.options.drop == 0 {
				b.lowercase(m.r, flags, at, enc)
			}
		}
	}
	if n := len(s.queue); n > 0 {
		s.last = s.queue[n-1]
	}
	s.marks, s.queue, s.keep = s.marks[:0], s.queue[:0], false
}

func (b *bert) lowercase(r rune, flags uint16, at Offset, enc *Encoding) {
	if b.options.lower && flags&isCased != 0 {
		if r == 'İ' { // the only letter that becomes two characters
			b.put('i', 0, at, enc)
			r = '\u0307'
		} else {
			r = toLower(r)
		}
		flags = b.runes.flags(r)
	}
	b.put(r, flags, at, enc)
}

// put adds a normalised character to the word, or ends the word.
func (b *bert) put(r rune, flags uint16, at Offset, enc *Encoding) {
	s := &enc.scratch
	switch {
	case s.collect:
		n := len(s.normalized)
		s.normalized = utf8.AppendRune(s.normalized, r)
		for range len(s.normalized) - n {
			s.normalizedAt = append(s.normalizedAt, at)
		}
	case flags&isSpace != 0:
		b.flushWord(enc)
	case flags&isPunctuation != 0:
		b.flushWord(enc)
		s.add(r, at, b.maxChars)
		b.flushWord(enc)
	default:
		s.add(r, at, b.maxChars)
	}
}

// add keeps only as much of a word as shows that it is too long.
func (s *scratch) add(r rune, at Offset, maxChars int) {
	if s.chars == 0 {
		s.whole.Start = at.Start
	}
	s.whole.End = at.End
	if s.chars > maxChars {
		return
	}
	s.chars++
	n := len(s.word)
	s.word = utf8.AppendRune(s.word, r)
	for range len(s.word) - n {
		s.at = append(s.at, at)
	}
}

func (b *bert) flushWord(enc *Encoding) {
	s := &enc.scratch
	if s.chars == 0 {
		return
	}
	before := len(enc.IDs)
	known := s.chars <= b.maxChars
	root := uint32(startRoot)
	for at := 0; known && at < len(s.word); root = restRoot {
		id, n := longest(b.vocab, root, s.word[at:])
		if known = id >= 0; known {
			enc.append(int64(id), Offset{s.at[at].Start, s.at[at+n-1].End})
			at += n
		}
	}
	if !known {
		enc.truncate(before)
		enc.append(b.unknown, s.whole)
	}
	enc.words++
	s.word, s.at, s.chars = s.word[:0], s.at[:0], 0
}

// encodeNormalized is for tokenizers with added tokens that are searched in the
// normalised text, which must therefore exist as a whole.
func (b *bert) encodeNormalized(text string, from, to int, enc *Encoding) {
	b.normalize(newSpan(text, from, to), enc)
	s := &enc.scratch
	whole := string(s.normalized)
	at := 0
	words := func(to int) {
		for i := at; i < to; {
			r, n := utf8.DecodeRuneInString(whole[i:])
			b.put(r, b.runes.flags(r), s.normalizedAt[i], enc)
			i += n
		}
		b.flushWord(enc)
	}
	for m := range b.added.matches(whole) {
		words(m.start)
		enc.append(m.id, Offset{s.normalizedAt[m.start].Start, s.normalizedAt[m.end-1].End})
		enc.words++
		at = m.end
	}
	words(len(whole))
}

// normalize leaves the normalised span in the scratch memory.
func (b *bert) normalize(in span, enc *Encoding) {
	s := &enc.scratch
	s.reset()
	s.normalized, s.normalizedAt = s.normalized[:0], s.normalizedAt[:0]
	s.collect = true
	for i := 0; i < len(in.text); {
		r, n := utf8.DecodeRune(in.text[i:])
		b.clean(r, in.at[i], enc)
		i += n
	}
	b.flushMarks(enc)
	s.collect = false
}

func (b *bert) normalizeString(text string) string {
	var enc Encoding
	b.normalize(newSpan(text, 0, len(text)), &enc)
	return string(enc.scratch.normalized)
}
