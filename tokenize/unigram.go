package tokenize

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// unigram finds the pieces of a word with the highest total score (Viterbi).
type unigram struct {
	pieces  *trie
	ids     map[string]int32
	scores  []float64
	unknown int32       // -1: the model has none
	unkCost float64     // the score of an unknown character
	bytes   *byteTokens // nil without byte_fallback
}

// unknownPenalty is SentencePiece's: an unknown character scores this much less than the
// least probable piece.
const unknownPenalty = 10

func newUnigram(m *modelSpec) (*unigram, error) {
	list := m.pieces
	u := &unigram{ids: m.ids, scores: make([]float64, len(list)), pieces: newTrie(1, len(list)), unknown: -1}
	if m.UnkID != nil {
		if *m.UnkID < 0 || *m.UnkID >= len(list) {
			return nil, fmt.Errorf("its unk_id %d is outside the vocabulary of %d pieces", *m.UnkID, len(list))
		}
		u.unknown = int32(*m.UnkID)
	}
	least := 0.0
	for i, p := range list {
		if i == 0 || p.score < least {
			least = p.score
		}
		u.scores[i] = p.score
		if !u.pieces.insert(startRoot, p.token, int32(i)) {
			return nil, fmt.Errorf("the vocabulary has more than %d prefixes", maxNodes)
		}
	}
	u.pieces.ids[startRoot] = -1
	u.unkCost = least - unknownPenalty
	if m.ByteFallback {
		u.bytes = newByteTokens(u.ids)
	}
	return u, nil
}

var errNoUnknown = errors.New("a character is not in the vocabulary and the model has no unk_id; set unk_id")

// best is the best way to spell a word up to a position.
type best struct {
	score float64
	id    int32
	from  int32 // start of its last piece; -1: no way found yet
}

func (u *unigram) tokens(word []byte, out []token) ([]token, error) {
	ends := make([]best, len(word)+1)
	for i := range ends {
		ends[i].from = -1
	}
	offer := func(from, to int, id int32, score float64) {
		if e := &ends[to]; e.from < 0 || score > e.score {
			*e = best{score, id, int32(from)}
		}
	}
	for i := 0; i < len(word); {
		here := ends[i].score
		_, n := utf8.DecodeRune(word[i:])
		whole := false
		node := uint32(startRoot)
		for j := i; j < len(word); j++ {
			e := u.pieces.place(node<<8 | uint32(word[j]) + 1)
			if e.key == 0 {
				break
			}
			node = e.to
			if id := u.pieces.ids[node]; id >= 0 {
				offer(i, j+1, id, u.scores[id]+here)
				whole = whole || j+1-i == n
			}
		}
		if !whole {
			if u.unknown < 0 && u.unkCost+here > ends[i+n].score || u.unknown < 0 && ends[i+n].from < 0 {
				return out, errNoUnknown
			}
			offer(i, i+n, u.unknown, u.unkCost+here)
		}
		i += n
	}
	first := len(out)
	for to := len(word); to > 0; {
		e := ends[to]
		from := int(e.from)
		// Adjacent unknown characters are one token.
		if n := len(out); e.id == u.unknown && n > first && out[n-1].id == u.unknown {
			out[n-1].from = from
		} else {
			out = append(out, token{id: e.id, from: from, to: to})
		}
		to = from
	}
	slices.Reverse(out[first:])
	return u.spellUnknown(word, out, first), nil
}

// spellUnknown writes unknown pieces as bytes if the vocabulary has them all.
func (u *unigram) spellUnknown(word []byte, out []token, first int) []token {
	if u.bytes == nil {
		return out
	}
	var spelt []token
	for _, t := range out[first:] {
		chars := word[t.from:t.to]
		if t.id != u.unknown || !u.bytes.spell(chars) {
			spelt = append(spelt, t)
			continue
		}
		for _, c := range chars {
			spelt = append(spelt, token{id: u.bytes[c], from: t.from, to: t.to})
		}
	}
	return append(out[:first], spelt...)
}
