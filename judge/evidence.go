package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
)

// folded is a text without case, white space and marks, with the origin of each
// rune.
type folded struct {
	runes      []rune
	start, end []int // byte offsets into the original, of each rune
}

func fold(text string, offset int) folded {
	var f folded
	for i, c := range text {
		if unicode.IsSpace(c) || c == mark {
			continue
		}
		f.runes = append(f.runes, unicode.ToLower(c))
		f.start = append(f.start, offset+i)
		_, size := utf8.DecodeRuneInString(text[i:])
		f.end = append(f.end, offset+i+size)
	}
	return f
}

// The limits of a near match: a short quotation would match almost anything.
const (
	leastNear = 8 // runes, folded
	nearShare = 5 // one rune in five may differ
)

// source is a text with the parts that the judge saw.
type source struct {
	text   string
	parts  []part
	folded []folded // the parts, computed when first needed
}

// locate returns where a quotation is in the parts that the judge saw: an exact
// match, otherwise one that differs in case and white space, otherwise the nearest
// match within the limits.
func (s *source) locate(quote string) (toxscreen.Evidence, bool) {
	// The judge saw marks in place of white space, and may copy them.
	plain := strings.TrimSpace(unmark(quote))
	if plain == "" {
		return toxscreen.Evidence{}, false
	}
	for _, p := range s.parts {
		if at, ok := index(s.text[p.start:p.end], plain); ok {
			return toxscreen.Evidence{Start: p.start + at, End: p.start + at + len(plain), Match: toxscreen.MatchExact}, true
		}
	}
	needle := fold(plain, 0).runes
	if len(needle) == 0 {
		return toxscreen.Evidence{}, false
	}
	if s.folded == nil {
		for _, p := range s.parts {
			s.folded = append(s.folded, fold(s.text[p.start:p.end], p.start))
		}
	}
	for _, hay := range s.folded {
		for i := 0; i+len(needle) <= len(hay.runes); i++ {
			if slices.Equal(hay.runes[i:i+len(needle)], needle) {
				return toxscreen.Evidence{Start: hay.start[i], End: hay.end[i+len(needle)-1], Match: toxscreen.MatchFolded}, true
			}
		}
	}
	if len(needle) < leastNear {
		return toxscreen.Evidence{}, false
	}
	bound, found := len(needle)/nearShare, toxscreen.Evidence{}
	for _, hay := range s.folded {
		if from, to, distance, ok := nearest(hay.runes, needle, bound); ok && to > from {
			bound = distance - 1
			found = toxscreen.Evidence{Start: hay.start[from], End: hay.end[to-1], Match: toxscreen.MatchNear}
		}
	}
	return found, found.Match != ""
}

// index returns the offset of a quotation: at word boundaries if possible,
// otherwise anywhere.
func index(text, quote string) (at int, ok bool) {
	first := -1
	for from := 0; ; {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			return first, first >= 0
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		behind, _ := utf8.DecodeRuneInString(text[i+len(quote):])
		if !wordRune(before) && !wordRune(behind) {
			return i, true
		}
		if first < 0 {
			first = i
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

func wordRune(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

// nearest returns the first substring of a text with the smallest edit distance to
// a needle, if that is at most bound (Sellers 1980). Rows are the runes of the
// needle, a column is a rune of the text, and a match may begin anywhere. Rows
// below the last one within the bound cannot become part of a match and are skipped
// (Ukkonen 1985), so that few rows are computed for a text without a match.
func nearest(text, needle []rune, bound int) (from, to, distance int, ok bool) {
	type cell struct{ cost, from int }
	column := make([]cell, len(needle)+1)
	for i := range column {
		column[i] = cell{cost: i}
	}
	last := min(bound, len(needle))
	for j, c := range text {
		diagonal := column[0]
		column[0] = cell{0, j + 1}
		rows := min(last+1, len(needle))
		for i, n := range needle[:rows] {
			best := diagonal // the same rune or another one
			if c != n {
				best.cost++
			}
			if left := column[i+1]; left.cost+1 < best.cost { // an additional rune in the text
				best = cell{left.cost + 1, left.from}
			}
			if above := column[i]; above.cost+1 < best.cost { // a missing rune
				best = cell{above.cost + 1, above.from}
			}
			diagonal, column[i+1] = column[i+1], best
		}
		for last = rows; last > 0 && column[last].cost > bound; last-- {
		}
		if last == len(needle) {
			from, to, distance, ok = column[last].from, j+1, column[last].cost, true
			bound = distance - 1
			if bound < 0 {
				return from, to, distance, ok
			}
			for ; last > 0 && column[last].cost > bound; last-- {
			}
		}
	}
	return from, to, distance, ok
}
