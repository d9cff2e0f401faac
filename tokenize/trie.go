package tokenize

import "math/bits"

// trie maps byte strings to ids. Its edges are in one open-addressed table, so a step is a
// multiplication and almost always one memory access: nothing is rebuilt or rehashed for a
// longer prefix. It is read-only once filled.
type trie struct {
	edges []edge  // size is a power of two; at most half full
	shift int     // 32 − log2(len(edges))
	used  int     // edges taken
	ids   []int32 // by node; -1: no entry ends here
}

type edge struct {
	key uint32 // node<<8 | byte, plus one: 0 is an empty place
	to  uint32
}

// maxNodes bounds a trie so that a node and a byte fit a 32-bit key.
const maxNodes = 1<<24 - 1

// newTrie allocates space for the given number of entries of common length.
func newTrie(roots, entries int) *trie {
	t := &trie{}
	t.grow(1 << max(6, bits.Len(uint(entries))+2))
	for range roots {
		t.ids = append(t.ids, -1)
	}
	return t
}

func (t *trie) grow(size int) {
	old := t.edges
	t.edges, t.shift = make([]edge, size), 32-bits.TrailingZeros(uint(size))
	for _, e := range old {
		if e.key != 0 {
			*t.place(e.key) = e
		}
	}
}

// place returns the position of key, or where to insert it. The multiplier is 2³²/φ.
func (t *trie) place(key uint32) *edge {
	for i := key * 0x9E3779B1 >> t.shift; ; i = (i + 1) & uint32(len(t.edges)-1) {
		if e := &t.edges[i]; e.key == key || e.key == 0 {
			return e
		}
	}
}

// insert returns false when the trie is full.
func (t *trie) insert(root uint32, entry string, id int32) bool {
	node := root
	for i := range len(entry) {
		key := node<<8 | uint32(entry[i]) + 1
		e := t.place(key)
		if e.key == 0 {
			if len(t.ids) >= maxNodes {
				return false
			}
			*e = edge{key, uint32(len(t.ids))}
			t.ids = append(t.ids, -1)
			node = e.to
			if t.used++; t.used > len(t.edges)/2 {
				t.grow(len(t.edges) * 2)
			}
			continue
		}
		node = e.to
	}
	t.ids[node] = id
	return true
}

// longest returns the id and the length of the longest entry that s starts with,
// and -1 if there is none.
func longest[S string | []byte](t *trie, root uint32, s S) (id int32, length int) {
	id = -1
	node := root
	for i := range len(s) {
		key := node<<8 | uint32(s[i]) + 1
		e := t.place(key)
		if e.key == 0 {
			break
		}
		node = e.to
		if v := t.ids[node]; v >= 0 {
			id, length = v, i+1
		}
	}
	return id, length
}

// fitting returns the only entry that fits a pattern, in which a star stands for any
// letter from a to z; "" if there is none or more than one.
func (t *trie) fitting(root uint32, pattern string) string {
	found, entries := "", 0
	word := []byte(pattern)
	var fit func(node uint32, at int)
	fit = func(node uint32, at int) {
		if at == len(pattern) {
			if t.ids[node] >= 0 {
				found, entries = string(word), entries+1
			}
			return
		}
		first, last := pattern[at], pattern[at]
		if pattern[at] == '*' {
			first, last = 'a', 'z'
		}
		for b := first; b <= last && entries < 2; b++ {
			if e := t.place(node<<8 | uint32(b) + 1); e.key != 0 {
				word[at] = b
				fit(e.to, at+1)
			}
		}
	}
	if fit(root, 0); entries != 1 {
		return ""
	}
	return found
}
