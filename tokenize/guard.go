package tokenize

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/sugarme/tokenizer/pretokenizer"
	"github.com/sugarme/tokenizer/spm"
)

// guarded is every tokenizer that is not BERT's. It uses github.com/sugarme/tokenizer
// for what that does as Hugging Face does: the byte alphabet and SentencePiece's precompiled
// map. The library's Encode, its normalisers and its models BPE and Unigram give different
// ids and offsets, crash or take quadratic time, so the rest is our own code
// (docs/decisions/0002-tokenizer-guard.md).
type guarded struct {
	steps     []step
	splitters []splitter
	words     wordModel
	trims     bool
	added     addedTokens // those that are searched in the normalised text
}

// maxGuardedBytes bounds a text: normalising takes about 50 bytes of memory per byte.
const maxGuardedBytes = 16 << 20

// A wordModel divides one word into tokens and appends them to out.
type wordModel interface {
	tokens(word []byte, out []token) ([]token, error)
}

// token is a piece of a word, from byte from to byte to.
type token struct {
	id       int32
	from, to int
	blanks   blanks
}

// newGuarded loads a tokenizer that BERT's fast path does not support. If the library
// panics because it does not understand the file, that becomes an error.
func newGuarded(f *file, trims bool) (g *guarded, size int, err error) {
	defer recovered(&err)
	if size, err = f.Model.vocabularySize(); err != nil {
		return nil, 0, err
	}
	g = &guarded{trims: trims}
	switch f.Model.Type {
	case "BPE":
		g.words, err = newBPE(&f.Model)
	case "Unigram":
		g.words, err = newUnigram(&f.Model)
	case "WordPiece":
		g.words, err = newWordPiece(&f.Model)
	case "WordLevel":
		g.words, err = newWordLevel(&f.Model)
	default:
		err = errors.New("its type is not supported; BPE, Unigram, WordLevel and WordPiece are")
	}
	if err != nil {
		return nil, 0, err
	}
	if g.trims && f.Model.Type != "BPE" {
		return nil, 0, errors.New("its post_processor trims offsets, which is supported only for BPE models; set trim_offsets to false")
	}
	if g.steps, err = newSteps(f.Normalizer, nil); err != nil {
		return nil, 0, err
	}
	if g.splitters, err = newSplitters(f.PreTokenizer, nil); err != nil {
		return nil, 0, err
	}
	g.added, err = newAddedTokens(f, true, g.normalizeString)
	return g, size, err
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the tokenizer library panicked: %v", p)
	}
}

func (g *guarded) encode(text string, from, to int, enc *Encoding) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("failed to tokenize the text from byte %d on: %w", from, err)
		}
	}()
	defer recovered(&err)
	if to-from > maxGuardedBytes {
		return fmt.Errorf("%d bytes are over this kind of tokenizer's limit of %d; cut the text into parts", to-from, maxGuardedBytes)
	}
	s, err := g.normalize(newSpan(text, from, to))
	if err != nil {
		return err
	}
	at := 0
	for m := range g.added.matches(string(s.text)) {
		if err := g.encodeWords(s.slice(at, max(at, m.start)), enc); err != nil {
			return err
		}
		enc.append(m.id, s.offset(m.start, m.end))
		if g.trims {
			enc.blanks = append(enc.blanks, blanksOf(string(s.text[m.start:m.end])))
		}
		enc.words++
		at = m.end
	}
	return g.encodeWords(s.slice(at, len(s.text)), enc)
}

func (g *guarded) normalize(s span) (span, error) {
	var err error
	for _, step := range g.steps {
		if len(s.text) == 0 {
			break
		}
		if s, err = step(s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (g *guarded) normalizeString(text string) string {
	s, err := g.normalize(span{[]byte(text), make([]Offset, len(text))})
	if err != nil {
		return ""
	}
	return string(s.text)
}

func (g *guarded) encodeWords(s span, enc *Encoding) error {
	if len(s.text) == 0 {
		return nil
	}
	words := []span{s}
	for _, split := range g.splitters {
		words = split(words)
	}
	var tokens []token
	var err error
	for _, w := range words {
		if tokens, err = g.words.tokens(w.text, tokens[:0]); err != nil {
			return err
		}
		for _, t := range tokens {
			enc.append(int64(t.id), w.offset(t.from, t.to))
			if g.trims {
				enc.blanks = append(enc.blanks, t.blanks)
			}
		}
		enc.words++
	}
	return nil
}

// byteAlphabet is how byte-level models represent bytes.
var byteAlphabet = func() (table [256]string) {
	for b, c := range pretokenizer.BytesChar {
		table[b] = c
	}
	return table
}()

// charsmap is SentencePiece's map from texts to their normalised forms.
type charsmap struct {
	trie   *spm.DoubleArray
	values string // each ends with a NUL
}

// newCharsmap checks for data that would make the library read out of bounds.
func newCharsmap(encoded []byte) (*charsmap, error) {
	// encoding/json has already decoded the base64.
	if len(encoded) < 8 || uint64(binary.LittleEndian.Uint32(encoded)) > uint64(len(encoded)-4) || binary.LittleEndian.Uint32(encoded) < 4 {
		return nil, fmt.Errorf("its precompiled_charsmap %.40s… is truncated or not a SentencePiece map", base64.StdEncoding.EncodeToString(encoded))
	}
	p, err := spm.NewPrecompiledFrom(encoded)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(p.Normalized) {
		return nil, errors.New("its precompiled_charsmap maps to texts that are not UTF-8")
	}
	return &charsmap{p.Trie, p.Normalized}, nil
}

// lookup returns the value of the shortest prefix of chars that is in the map.
func (m *charsmap) lookup(chars []byte) (string, bool) {
	found := m.trie.CommonPrefixSearch(chars)
	if len(found) == 0 {
		return "", false
	}
	value, _, _ := strings.Cut(m.values[found[0]:], "\x00")
	return value, true
}

// longestGrapheme is the maximum size in bytes of a user-perceived character that is
// looked up as a whole: SentencePiece's rule.
const longestGrapheme = 5

func (m *charsmap) normalize(s span) (span, error) {
	changes := make([]change, 0, len(s.text))
	modified := false
	replace := func(old []byte, value string) {
		modified = true
		diff := utf8.RuneCountInString(value) - utf8.RuneCount(old)
		for _, r := range value {
			changes = append(changes, change{r, 0})
		}
		for i := range max(diff, 0) {
			changes[len(changes)-1-i].kind = 1
		}
		if diff < 0 && len(changes) > 0 {
			changes[len(changes)-1].kind += diff
		}
	}
	for rest := s.text; len(rest) > 0; {
		grapheme := firstGrapheme(rest)
		rest = rest[len(grapheme):]
		if len(grapheme) <= longestGrapheme {
			if value, ok := m.lookup(grapheme); ok {
				replace(grapheme, value)
				continue
			}
		}
		for i := 0; i < len(grapheme); {
			r, n := utf8.DecodeRune(grapheme[i:])
			if value, ok := m.lookup(grapheme[i : i+n]); ok {
				replace(grapheme[i:i+n], value)
			} else {
				changes = append(changes, change{r, 0})
			}
			i += n
		}
	}
	if !modified {
		return s, nil
	}
	return s.transform(changes, 0)
}

// firstGrapheme returns the first user-perceived character.
func firstGrapheme(text []byte) []byte {
	if len(text) > 1 && text[0] < utf8.RuneSelf && text[1] < utf8.RuneSelf && text[0] != '\r' {
		return text[:1]
	}
	grapheme, rest, _, _ := uniseg.FirstGraphemeCluster(text, -1)
	// uniseg's Unicode is older than the library's: add the new marks, unless they
	// follow a control character, which nothing joins.
	if r, _ := utf8.DecodeLastRune(grapheme); unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
		return grapheme
	}
	for len(rest) > 0 {
		r, n := utf8.DecodeRune(rest)
		if runeData().flags(r)&isJoined == 0 {
			break
		}
		more, after, _, _ := uniseg.FirstGraphemeCluster(rest[n:], -1)
		grapheme, rest = text[:len(grapheme)+n], rest[n:]
		if r, _ := utf8.DecodeRune(more); len(more) > 0 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) {
			grapheme, rest = text[:len(grapheme)+len(more)], after
		}
	}
	return grapheme
}

// wordLevel looks up whole words.
type wordLevel struct {
	ids     map[string]int32
	unknown int32
}

func newWordLevel(m *modelSpec) (*wordLevel, error) {
	unknownToken := or(m.UnkToken, "<unk>")
	unknown, ok := m.ids[unknownToken]
	if !ok || unknownToken == "" {
		return nil, fmt.Errorf("the vocabulary lacks unk_token %q; add it, words outside the vocabulary need it", unknownToken)
	}
	return &wordLevel{m.ids, unknown}, nil
}

func (w *wordLevel) tokens(word []byte, out []token) ([]token, error) {
	id, ok := w.ids[string(word)]
	if !ok {
		id = w.unknown
	}
	return append(out, token{id: id, from: 0, to: len(word)}), nil
}
