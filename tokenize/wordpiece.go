package tokenize

import (
	"fmt"
	"unicode/utf8"
)

// wordPiece divides words into the longest entries of a vocabulary, from left to right.
type wordPiece struct {
	vocab    *trie // entries under startRoot begin a word, entries under restRoot continue one
	unknown  int64
	maxChars int // longer words are unknown
}

const (
	startRoot = 0
	restRoot  = 1
)

func newWordPiece(m *modelSpec) (*wordPiece, error) {
	unknownToken, prefix := or(m.UnkToken, "[UNK]"), or(m.ContinuingSubwordPrefix, "##")
	unknown, ok := m.ids[unknownToken]
	if !ok {
		return nil, fmt.Errorf("the vocabulary lacks unk_token %q; add it, words that it cannot spell need it", unknownToken)
	}
	w := &wordPiece{unknown: int64(unknown), maxChars: or(m.MaxInputCharsPerWord, 100), vocab: newTrie(2, len(m.ids))}
	for entry, id := range m.ids {
		fits := w.vocab.insert(startRoot, entry, id)
		if len(entry) > len(prefix) && entry[:len(prefix)] == prefix {
			fits = fits && w.vocab.insert(restRoot, entry[len(prefix):], id)
		}
		if !fits {
			return nil, fmt.Errorf("the vocabulary has more than %d prefixes", maxNodes)
		}
	}
	w.vocab.ids[startRoot], w.vocab.ids[restRoot] = -1, -1 // an empty entry matches nothing
	return w, nil
}

// tokens is used with normalisers and pre-tokenizers other than BERT's.
func (w *wordPiece) tokens(word []byte, out []token) ([]token, error) {
	first := len(out)
	unknown := token{id: int32(w.unknown), from: 0, to: len(word)}
	if utf8.RuneCount(word) > w.maxChars {
		return append(out, unknown), nil
	}
	root := uint32(startRoot)
	for at := 0; at < len(word); root = restRoot {
		id, n := longest(w.vocab, root, word[at:])
		if id < 0 {
			return append(out[:first], unknown), nil
		}
		out = append(out, token{id: id, from: at, to: at + n})
		at += n
	}
	return out, nil
}
