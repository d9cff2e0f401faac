package pii

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/names"
)

// finding is an entity before overlaps are resolved.
type finding struct {
	toxscreen.Entity

	rank rank
}

// rank orders overlapping findings: a lower rank wins.
type rank uint8

const (
	container  rank = iota // what may contain others: e-mail and web addresses
	identifier             // what patterns and recognizers find
	name                   // what the network finds
)

// patternFinding returns what a pattern or a recognizer found.
func patternFinding(e toxscreen.Entity) finding {
	if containers[e.Type] {
		return finding{e, container}
	}
	return finding{e, identifier}
}

// containers are the types whose kinds have [scan.Kind].Container.
var containers = func() map[toxscreen.EntityType]bool {
	all := map[toxscreen.EntityType]bool{}
	for _, k := range Kinds() {
		all[k.Type] = k.Container
	}
	return all
}()

// resolve applies the rules of [Finder.Find] to overlapping findings and returns the
// entities that remain, ordered by Start.
func resolve(found []finding, text string) []toxscreen.Entity {
	kept := make([]toxscreen.Entity, 0, len(found))
	slices.SortFunc(found, func(a, b finding) int { return a.Start - b.Start })
	overlap := false
	for i, f := range found {
		kept = append(kept, f.Entity)
		overlap = overlap || i > 0 && f.Start < found[i-1].End
	}
	if !overlap {
		return kept
	}
	kept = kept[:0]
	found = withoutNumbersOfAddresses(found, text)
	slices.SortFunc(found, func(a, b finding) int {
		byLength, byScore := cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(b.Score, a.Score)
		if a.rank == container {
			byLength, byScore = byScore, byLength
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), byScore, byLength, cmp.Compare(a.Start, b.Start), strings.Compare(string(a.Type), string(b.Type)))
	})
	taken := make([]int32, len(text)) // the number of the entity at each byte, plus one
	for _, f := range found {
		whole := f.rank != name && touches(kept, taken, f)
		for start, end := range free(taken, f.Start, f.End) {
			if end-start < f.End-f.Start {
				start, end = trim(text, start, end)
				if whole || start == end || f.rank == name && !names.IsPart(strings.ToUpper(text[start:end])) {
					continue
				}
			}
			e := f.Entity
			e.Start, e.End = start, end
			kept = append(kept, e)
			for i := start; i < end; i++ {
				taken[i] = int32(len(kept))
			}
		}
	}
	slices.SortFunc(kept, func(a, b toxscreen.Entity) int { return a.Start - b.Start })
	return kept
}

// cover returns a function that tells whether a finding overlaps any of some.
func cover(text string, some []finding) func(finding) bool {
	if len(some) == 0 {
		return func(finding) bool { return false }
	}
	covered := make([]bool, len(text))
	for _, f := range some {
		for at := f.Start; at < f.End; at++ {
			covered[at] = true
		}
	}
	return func(f finding) bool { return slices.Contains(covered[f.Start:f.End], true) }
}

// withoutNumbersOfAddresses drops the identifiers inside a postal address, except certain
// ones.
func withoutNumbersOfAddresses(found []finding, text string) []finding {
	var inside []int32 // the number of the address at each byte, plus one
	for i, f := range found {
		if f.rank == name && f.Type == kind.Address {
			if inside == nil {
				inside = make([]int32, len(text))
			}
			for at := f.Start; at < f.End; at++ {
				inside[at] = int32(i) + 1
			}
		}
	}
	if inside == nil {
		return found
	}
	return slices.DeleteFunc(found, func(f finding) bool {
		return f.rank == identifier && !isCertain(f) && inside[f.Start] != 0 && inside[f.Start] == inside[f.End-1]
	})
}

// isCertain tells whether an identifier counts even inside an address: its form belongs to
// its type alone, or the form is usual and a cue stands near, or its checksum is right and
// a cue stands near.
func isCertain(f finding) bool {
	return f.Score >= 0.8 || len(f.Why) > 1 && f.Why[0] == "checksum"
}

// touches tells whether an entity of the same type has taken a part of a finding's place.
// The rest of the finding is then dropped.
func touches(kept []toxscreen.Entity, taken []int32, f finding) bool {
	for _, i := range taken[f.Start:f.End] {
		if i != 0 && kept[i-1].Type == f.Type {
			return true
		}
	}
	return false
}

// free yields the parts of a range that no entity has taken.
func free(taken []int32, start, end int) func(yield func(start, end int) bool) {
	return func(yield func(int, int) bool) {
		for start < end {
			from := start
			for from < end && taken[from] != 0 {
				from++
			}
			to := from
			for to < end && taken[to] == 0 {
				to++
			}
			if from < to && !yield(from, to) {
				return
			}
			start = to
		}
	}
}

// trim returns a range without the blanks and punctuation at its ends, for the rest of a
// name.
func trim(text string, start, end int) (int, int) {
	isEdge := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	part := text[start:end]
	start += len(part) - len(strings.TrimLeftFunc(part, isEdge))
	return start, max(start, end-len(part)+len(strings.TrimRightFunc(part, isEdge)))
}
