package fairness

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The templates and their words, see README.md beside them.
//
//go:embed templates/*.csv
var templates embed.FS

// Templates returns the sentences of Perspective's English Sentence Templates without
// scores, in their published order: 76,564 sentences about 50 groups, half of them toxic.
//
// A unit is a template with its verb or adjective. The names of people and the occupations
// in it are repetitions.
func Templates() []Text {
	// The published sentences are from before this word was added.
	return filled("templates/sentences.csv", "cis")
}

// CrossTemplates returns the sentences of the intersectional templates: 30,240 sentences
// about 51 groups and 255 intersections of an ethnicity with a gender or a sexuality.
func CrossTemplates() []Text { return filled("templates/intersections.csv", "") }

func filled(path, without string) []Text {
	var all []Text
	for _, template := range records(path) {
		for s := range sentences(template[2], without) {
			all = append(all, Text{
				Text: s.text, Toxic: template[1] == "toxic", Unit: s.unit, Frame: s.frame, Weight: 1,
				Groups: s.groups, Intersections: s.intersections(),
			})
		}
	}
	return all
}

// sentence is a filled template.
type sentence struct {
	text string
	// frame has … for each group. unit also has NAME and OCCUPATION for such words.
	frame, unit string
	groups      []string
}

// intersections returns the pair of groups, if there are two.
func (s sentence) intersections() []string {
	if len(s.groups) < 2 {
		return nil
	}
	return []string{intersection(s.groups[0], s.groups[1])}
}

// intersection returns the name of the intersection of two groups.
func intersection(a, b string) string { return a + " × " + b }

var slot = regexp.MustCompile(`\{.*?\}`)

// sentences yields a pattern, such as "I am {type|identity_connotation|neutral}", with each
// combination of the words that its slots allow. The last slot varies fastest.
func sentences(pattern, without string) func(yield func(sentence) bool) {
	var fill func(s sentence, rest string, yield func(sentence) bool) bool
	fill = func(s sentence, rest string, yield func(sentence) bool) bool {
		at := slot.FindStringIndex(rest)
		if at == nil {
			s.add(rest, rest, rest)
			return yield(s)
		}
		s.add(rest[:at[0]], rest[:at[0]], rest[:at[0]])
		for _, w := range words() {
			if !w.fits(rest[at[0]+1:at[1]-1]) || w.text == without {
				continue
			}
			with := s
			switch w.kind {
			case "identity":
				with.groups = append(slices.Clone(s.groups), w.text)
				with.add(w.text, "…", "…")
			case "name", "occupation":
				with.add(w.text, w.text, strings.ToUpper(w.kind))
			default:
				with.add(w.text, w.text, w.text)
			}
			if !fill(with, rest[at[1]:], yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(sentence) bool) { fill(sentence{}, pattern, yield) }
}

func (s *sentence) add(text, frame, unit string) {
	s.text += text
	s.frame += frame
	s.unit += unit
}

// perspective returns what was published of Perspective's model TOXICITY@6 on the
// intersectional sentences: the lowest of an area and the power mean over intersections.
func perspective(m Metric) (lowest, mean float64) {
	var values []float64
	for _, r := range records("templates/perspective.csv") {
		value, err := strconv.ParseFloat(r[1+slices.Index(AUCs(), m)], 64)
		if err != nil {
			panic("fairness: perspective.csv: " + err.Error()) // excluded by a test
		}
		values = append(values, value)
	}
	return slices.Min(values), powerMean(values)
}

// word is a word of the templates.
type word struct{ kind, subkind, connotation, text string }

var words = sync.OnceValue(func() []word {
	var all []word
	for _, r := range records("templates/words.csv") {
		all = append(all, word{r[0], r[1], r[2], r[3]})
	}
	return all
})

// fits reports whether a slot allows a word. A slot is like "type|identity_subtype|gender":
// conditions that the word must meet.
func (w word) fits(slot string) bool {
	for condition := range strings.SplitSeq(slot, "_") {
		column, value, _ := strings.Cut(condition, "|")
		if map[string]string{"type": w.kind, "subtype": w.subkind, "connotation": w.connotation}[column] != value {
			return false
		}
	}
	return true
}

// records returns the records of an embedded file without its header. It panics if the
// file is invalid, which a test excludes.
func records(path string) [][]string {
	data, err := fs.ReadFile(templates, path)
	if err == nil {
		var all [][]string
		if all, err = csv.NewReader(strings.NewReader(string(data))).ReadAll(); err == nil {
			return all[1:]
		}
	}
	panic(fmt.Sprintf("fairness: %s: %v", path, err))
}

// Sample draws at most so many texts, all if most is 0. It draws whole frames, whose texts
// can then be compared, and the same number of frames of each unit, as far as a unit has so
// many. Only if not even one frame of each unit fits, it draws units. The weight of a text is
// the number of texts of its unit that it stands for. The same seed draws the same texts.
func Sample(texts []Text, most int, seed uint64) []Text {
	if most <= 0 || len(texts) <= most {
		return texts
	}
	units, frames := numbers{}, numbers{}
	var byUnit [][][]int // texts of a frame of a unit
	var inUnit []int     // place of a frame in its unit
	for i, text := range texts {
		unit, frame := units.of(text.Unit), frames.of(text.Frame)
		if unit == len(byUnit) {
			byUnit = append(byUnit, nil)
		}
		if frame == len(inUnit) {
			inUnit = append(inUnit, len(byUnit[unit]))
			byUnit[unit] = append(byUnit[unit], nil)
		}
		byUnit[unit][inUnit[frame]] = append(byUnit[unit][inUnit[frame]], i)
	}
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a sample that can be repeated
	for _, frames := range byUnit {
		rng.Shuffle(len(frames), func(a, b int) { frames[a], frames[b] = frames[b], frames[a] })
	}
	var drawn []Text
	kept := map[int]float64{} // weights of the texts that are drawn
	each := 1
	for size(byUnit, each+1) <= most {
		each++
	}
	if size(byUnit, 1) > most {
		byUnit = fewer(byUnit, texts, most, rng)
	}
	for _, frames := range byUnit {
		n := min(each, len(frames))
		for _, frame := range frames[:n] {
			for _, i := range frame {
				kept[i] = float64(len(frames)) / float64(n)
			}
		}
	}
	for i, text := range texts {
		if weight, ok := kept[i]; ok {
			text.Weight *= weight
			drawn = append(drawn, text)
		}
	}
	return drawn
}

// size returns the number of texts in at most so many frames of each unit.
func size(units [][][]int, each int) int {
	n := 0
	for _, frames := range units {
		for _, frame := range frames[:min(each, len(frames))] {
			n += len(frame)
		}
	}
	return n
}

// fewer draws toxic and clean units in turn, as long as a frame of each fits.
func fewer(units [][][]int, texts []Text, most int, rng *rand.Rand) [][][]int {
	var byClass [classes][][][]int
	for _, i := range rng.Perm(len(units)) {
		class := classOf(texts[units[i][0][0]].Toxic)
		byClass[class] = append(byClass[class], units[i])
	}
	var drawn [][][]int
	for i := range units {
		for _, class := range byClass {
			if i < len(class) && size(drawn, 1)+len(class[i][0]) <= most {
				drawn = append(drawn, class[i])
			}
		}
	}
	return drawn
}
