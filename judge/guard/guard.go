// Package guard knows the families of guard models, which were trained to say whether
// a text is unsafe: how to recognise their models, what to ask them, and how to read
// their answers:
//
//	family, ok := guard.Recognise("llama-guard3:8b")
//	for _, question := range family.Questions {
//		// … ask the model, which gives the reply …
//		aspects, err := family.Aspects(question, reply)
//	}
//
// Each family has a file; nothing but the list of families names it. No such model was
// run with this package: the families are tested on published transcripts.
package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Family is one family of guard models.
type Family struct {
	// Name is the name of the dialect in which its models are asked.
	Name string
	// Policy is true for models that follow the rubric as their policy: they are asked
	// like other models, and the fields below have no values.
	Policy bool
	// Questions are asked one after the other; each is one call. The models get the plain
	// text, and no rubric.
	Questions []Question
	// Predict is the maximum number of tokens of an answer.
	Predict int

	// models matches the names of its models, as bare returns them, and others those of
	// models with similar names that answer in another way; others may be nil.
	models, others *regexp.Regexp
	read           func(ollama.Reply) (ruling, error)
	// categories maps those of the model's categories that are attributes, by their
	// names in lower case. Several may be one attribute. nil: an answer names none.
	categories map[string]toxscreen.Attribute
}

// Question is what one call asks for.
type Question struct {
	Aspect    string
	System    string // system message; empty for the model's own
	Attribute toxscreen.Attribute
}

// asWhole is the question of models that say whether a text is unsafe in any way. That
// is evidence of toxicity, however wide: the self-test measures how much.
var asWhole = []Question{{Aspect: "unsafe", Attribute: toxscreen.Toxicity}}

// families are all families. If two recognise a model, the first counts.
var families = []Family{gptOSS, granite33, granite30, llamaGuard, qwenGuard, shieldGemma}

// Families returns all families. Attributes that a family does not look for are absent
// from its answers.
func Families() []Family { return families }

// Find returns the family with a name.
func Find(name string) (f Family, ok bool) {
	return first(func(f Family) bool { return f.Name == name })
}

// Recognise returns the family of a model by the model's name on the server.
func Recognise(model string) (f Family, ok bool) {
	name := bare(model)
	return first(func(f Family) bool {
		return f.models.MatchString(name) && (f.others == nil || !f.others.MatchString(name))
	})
}

func first(is func(Family) bool) (f Family, ok bool) {
	if i := slices.IndexFunc(families, is); i >= 0 {
		return families[i], true
	}
	return Family{}, false
}

// bare returns the name of a model without registry, namespace and tag, in lower case
// and with hyphens only: both hf.co/bartowski/Llama_Guard-3-8B:Q4_K_M and
// llama-guard-3-8b give llama-guard-3-8b.
func bare(model string) string {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(model)), ":")
	return strings.ReplaceAll(name, "_", "-")
}

// named returns a pattern for bare names with these words at any place.
func named(words string) *regexp.Regexp { return regexp.MustCompile(`(?:^|-)(?:` + words + `)(?:-|$)`) }

// Version returns the family's name and the first twelve digits of the SHA-256 of what
// it is asked and how its categories are mapped.
func (f Family) Version() string {
	canonical, err := json.Marshal([]any{f.Questions, f.categories})
	if err != nil {
		panic(err) // strings and attributes
	}
	sum := sha256.Sum256(canonical)
	return f.Name + "@" + hex.EncodeToString(sum[:])[:12]
}

// Aspects returns the verdicts that follow from the answer to a question: the one that
// was asked for, and those of the categories. A category of an unsafe text that the
// answer does not name is absent: models often name one of several.
func (f Family) Aspects(q Question, r ollama.Reply) ([]toxscreen.AspectVerdict, error) {
	says, err := f.read(r)
	if err != nil {
		return nil, err
	}
	all := []toxscreen.AspectVerdict{{Name: q.Aspect, Attribute: &q.Attribute, Yes: says.yes, PYes: says.pYes}}
	for _, a := range toxscreen.Attributes() {
		mapped, found := false, false
		for name, attribute := range f.categories {
			if attribute == a {
				mapped = true
				found = found || slices.Contains(says.categories, name)
			}
		}
		// The probability is that of any category. It is this category's if the answer
		// names it, or if it names none because the text is safe.
		if mapped && (found || !says.inCategory) {
			all = append(all, toxscreen.AspectVerdict{Name: a.String(), Attribute: &a, Yes: found, PYes: says.pInCategory})
		}
	}
	return all, nil
}

// ruling is what an answer says.
type ruling struct {
	yes  bool // the text has what the question asks for
	pYes *toxscreen.Probability
	// inCategory is whether the text is in any category, and pInCategory the probability
	// of that. They differ from yes only for a model with grades between yes and no.
	inCategory  bool
	pInCategory *toxscreen.Probability
	categories  []string // that the answer names, in lower case
}

// binary returns the ruling of an answer whose word at an offset is yes or no.
func binary(r ollama.Reply, at int, yes, no string, categories []string) ruling {
	says := ruling{yes: firstWord(r.Text[at:]) == yes, categories: categories}
	if shares, ok := r.Probabilities(at, yes, no); ok {
		says.pYes = rounded(shares[0])
	}
	says.inCategory, says.pInCategory = says.yes, says.pYes
	return says
}

// rounded rounds a number as JSON does, so that a verdict from the cache is the same
// as one from the model.
func rounded(p float64) *toxscreen.Probability {
	shown := toxscreen.Probability(toxscreen.Probability(p).Rounded())
	return &shown
}

// firstWord returns the letters at the beginning of a text, in lower case.
func firstWord(text string) string {
	end := strings.IndexFunc(text, func(c rune) bool { return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(text[:end])
}

// opening returns the offset of an answer's first word, which must be one of two.
func opening(text, yes, no string) (at int, err error) {
	at = len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	if word := firstWord(text[at:]); word != yes && word != no {
		return 0, fmt.Errorf("its answer begins neither with %s nor with %s", yes, no)
	}
	return at, nil
}
