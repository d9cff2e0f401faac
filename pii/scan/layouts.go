package scan

import "strings"

// layout is a form of an identifier, see [Kind].Layouts. Where a form has letters, small
// letters count as capitals, at a lower score.
type layout struct {
	form  string
	score float64 // of what passes the check, without a cue
	kind  int     // its number
}

// firstGroup is the length, in bytes, of the part of a form before its first blank, dash or
// stop.
func firstGroup(form string) int {
	if first := strings.IndexAny(form, " -."); first >= 0 {
		return first
	}
	return len(form)
}

// maxGroup is the highest length, in bytes, of the first group of a layout.
const maxGroup = 23

// sampleScore is the score of a well-known sample without a cue: under [DefaultThreshold],
// but over it with a cue.
const sampleScore = 0.15

// layouts finds the identifiers that begin with a word.
func (s *Scanner) layouts(start, end int) {
	if end-start >= len(s.patterns.layouts) || len(s.patterns.layouts[end-start]) == 0 || !s.ApartBefore(start) {
		return
	}
	var buffer [24]byte
	for _, l := range s.patterns.layouts[end-start] {
		to := start + len(l.form)
		if to > len(s.Text) || s.Is(to, Word) {
			continue
		}
		id, small, ok := read(s.Text[start:to], l.form, buffer[:0])
		if !ok || !s.ApartAfter(to) {
			continue
		}
		kind := &s.patterns.kinds[l.kind]
		score := l.score
		why := []string{"pattern"}
		switch kind.Check(id) {
		case Impossible:
			continue
		case Checked:
			why = []string{"checksum"}
		case Sample:
			score = min(score, sampleScore)
		case Plausible:
		}
		if small {
			score = min(score, 0.3)
		}
		if strings.Contains(l.form, " ") && s.InRow(start, to) {
			score = min(score, 0.1)
		}
		if score <= 0.9 && s.opposed(1<<l.kind, start) {
			continue
		}
		s.add(kind.Type, 1<<l.kind, kind.Reach, start, to, score, why...)
	}
}

// read returns the identifier that a text of a form spells, without its separators and in
// capitals. small says that the text had small letters.
func read(text, form string, buffer []byte) (id string, small, ok bool) {
	for i := range len(form) {
		b := text[i]
		class := classes[b]
		ok = true
		switch f := form[i]; f {
		case '0':
			ok = class == Digit
		case '*', 'A':
			if class == Lower {
				b -= 'a' - 'A'
				small = true
			}
			ok = class&(Lower|Upper) != 0 || f == '*' && class == Digit
		default:
			if b != f {
				return "", false, false
			}
			if classes[f]&Word == 0 {
				continue
			}
		}
		if !ok {
			return "", false, false
		}
		buffer = append(buffer, b)
	}
	return string(buffer), small, true
}
