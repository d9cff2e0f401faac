package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// bpe merges neighbouring symbols of a word: the pair with the lowest rank first, the
// leftmost of equal pairs first.
type bpe struct {
	ids            map[string]int32
	merges         map[uint64]merged // by pairKey
	blanks         map[int32]blanks  // of tokens that begin or end with blanks
	prefix, suffix string
	unknown        int32 // -1: unknown characters are dropped
	fuse           bool
	bytes          *byteTokens // nil without byte_fallback
	ignoreMerges   bool
}

type merged struct{ rank, id int32 }

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

func newBPE(m *modelSpec) (*bpe, error) {
	if dropout := or(m.Dropout, 0); dropout != 0 {
		return nil, fmt.Errorf("its dropout is %v, which gives different tokens on every call; set it to null", dropout)
	}
	b := &bpe{
		ids: m.ids, prefix: or(m.ContinuingSubwordPrefix, ""), suffix: or(m.EndOfWordSuffix, ""),
		unknown: -1, fuse: m.FuseUnk, ignoreMerges: m.IgnoreMerges, blanks: map[int32]blanks{},
	}
	if m.UnkToken != nil {
		id, ok := b.ids[*m.UnkToken]
		if !ok {
			return nil, fmt.Errorf("the vocabulary lacks unk_token %q; add it or set unk_token to null", *m.UnkToken)
		}
		b.unknown = id
	}
	if m.ByteFallback {
		b.bytes = newByteTokens(b.ids)
	}
	for token, id := range b.ids {
		if n := blanksOf(token); n != (blanks{}) {
			b.blanks[id] = n
		}
	}
	return b, b.readMerges(m.Merges)
}

// byteTokens are the tokens <0x00> … <0xFF> that byte_fallback writes bytes as; -1 for
// tokens that the vocabulary lacks.
type byteTokens [256]int32

func newByteTokens(ids map[string]int32) *byteTokens {
	var table byteTokens
	for i := range table {
		table[i] = -1
		if id, ok := ids[fmt.Sprintf("<0x%02X>", i)]; ok {
			table[i] = id
		}
	}
	return &table
}

// spell reports whether there is a token for each byte.
func (t *byteTokens) spell(chars []byte) bool {
	return t != nil && !slices.ContainsFunc(chars, func(c byte) bool { return t[c] < 0 })
}

// readMerges reads ["a b", …] or [["a", "b"], …].
func (b *bpe) readMerges(data json.RawMessage) error {
	if data == nil {
		return errors.New("it has no merges")
	}
	var pairs [][]string
	var lines []string
	if json.Unmarshal(data, &pairs) != nil {
		if err := json.Unmarshal(data, &lines); err != nil {
			return fmt.Errorf("failed to read merges: %w", err)
		}
		if len(lines) > 0 && strings.HasPrefix(lines[0], "#version") {
			lines = lines[1:]
		}
		pairs = make([][]string, len(lines))
		for i, line := range lines {
			pairs[i] = strings.Split(line, " ")
		}
	}
	b.merges = make(map[uint64]merged, len(pairs))
	for rank, p := range pairs {
		if len(p) != 2 || len(p[1]) < len(b.prefix) {
			return fmt.Errorf("merge %d should be two tokens, it is %q", rank, p)
		}
		left, isLeft := b.ids[p[0]]
		right, isRight := b.ids[p[1]]
		id, isMerged := b.ids[p[0]+p[1][len(b.prefix):]]
		if !isLeft || !isRight || !isMerged {
			return fmt.Errorf("merge %d, %q, needs a token that the vocabulary lacks", rank, p)
		}
		b.merges[pairKey(left, right)] = merged{int32(rank), id}
	}
	return nil
}

// symbol is a piece of a word during merging; prev and next are list positions, -1 at
// the ends. A symbol that was merged into its left neighbour has size 0.
type symbol struct {
	id, prev, next int32
	size           int32 // bytes of the word
}

// candidate is a pair that may be merged, at the position of its left symbol.
type candidate struct{ rank, at, id int32 }

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

func (b *bpe) tokens(word []byte, out []token) ([]token, error) {
	if b.ignoreMerges {
		if id, ok := b.ids[string(word)]; ok {
			return append(out, token{id, 0, len(word), b.blanks[id]}), nil
		}
	}
	symbols := b.symbols(word)
	var queue []candidate // a heap
	look := func(at int32) {
		if at < 0 || symbols[at].next < 0 {
			return
		}
		if m, ok := b.merges[pairKey(symbols[at].id, symbols[symbols[at].next].id)]; ok {
			queue = push(queue, candidate{m.rank, at, m.id})
		}
	}
	for i := range symbols {
		look(int32(i))
	}
	for len(queue) > 0 {
		var c candidate
		c, queue = pop(queue)
		left := &symbols[c.at]
		if left.size == 0 || left.next < 0 {
			continue
		}
		right := &symbols[left.next]
		if m, ok := b.merges[pairKey(left.id, right.id)]; !ok || m.id != c.id {
			continue // one of the two has changed
		}
		left.id, left.size, left.next = c.id, left.size+right.size, right.next
		right.size = 0
		if left.next >= 0 {
			symbols[left.next].prev = c.at
		}
		look(left.prev)
		look(c.at)
	}
	at := 0
	for _, s := range symbols {
		if s.size > 0 {
			out = append(out, token{s.id, at, at + int(s.size), b.blanks[s.id]})
			at += int(s.size)
		}
	}
	return out, nil
}

// symbols divides a word into one token per character.
func (b *bpe) symbols(word []byte) []symbol {
	list := make([]symbol, 0, len(word))
	add := func(id int32, size int) {
		n := int32(len(list))
		if n > 0 {
			list[n-1].next = n
		}
		list = append(list, symbol{id, n - 1, -1, int32(size)})
	}
	unknown := 0 // bytes of an unknown token that may still grow
	addUnknown := func() {
		if unknown > 0 {
			add(b.unknown, unknown)
			unknown = 0
		}
	}
	for i := 0; i < len(word); {
		_, n := utf8.DecodeRune(word[i:])
		char := word[i : i+n]
		if i > 0 && b.prefix != "" || i+n == len(word) && b.suffix != "" {
			s := string(char)
			if i > 0 {
				s = b.prefix + s
			}
			if i+n == len(word) {
				s += b.suffix
			}
			char = []byte(s)
		}
		i += n
		id, ok := b.ids[string(char)]
		if ok {
			addUnknown()
			add(id, n)
			continue
		}
		if b.bytes.spell(char) {
			for _, c := range char {
				add(b.bytes[c], 1)
			}
			continue
		}
		if b.unknown < 0 {
			continue
		}
		if !b.fuse {
			addUnknown()
		}
		unknown += n
	}
	addUnknown()
	return list
}

func push(heap []candidate, c candidate) []candidate {
	heap = append(heap, c)
	for i := len(heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !heap[i].before(heap[up]) {
			break
		}
		heap[i], heap[up] = heap[up], heap[i]
		i = up
	}
	return heap
}

func pop(heap []candidate) (candidate, []candidate) {
	top, last := heap[0], len(heap)-1
	heap[0] = heap[last]
	heap = heap[:last]
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < len(heap) && heap[down].before(heap[least]) {
				least = down
			}
		}
		if least == i {
			return top, heap
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
