package judge

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainyaml"
)

// Rubric defines what the judge looks for. docs/judge.md explains each key of its
// YAML form.
type Rubric struct {
	Name          string   `yaml:"name"`           // of a-z, 0-9, -, _ and /
	Goal          string   `yaml:"goal"`           // one sentence
	Violations    []string `yaml:"violations"`     // what speaks for "yes"
	NonViolations []string `yaml:"non_violations"` // what does not
	Aspects       []Aspect `yaml:"aspects"`        // each is answered separately
	// Severity has an anchor sentence for each level from 1 on. Level 0 means that
	// the text does not have the aspect.
	Severity []string `yaml:"severity"`
	// Fields are the fields of a [Case] that the judge sees besides the text.
	Fields []string `yaml:"fields"`
	// Scale is the score of a text that is worst in every aspect; 1 if it is not
	// given.
	Scale float64 `yaml:"scale"`
}

// Aspect is one question of a rubric.
type Aspect struct {
	Name     string   `yaml:"name"` // of a-z, 0-9 and _
	Question string   `yaml:"question"`
	Weight   *float64 `yaml:"weight"` // over 0; 1 if it is nil
	// Attribute is the attribute that the aspect measures; nil for an aspect beyond the
	// attributes.
	Attribute *toxscreen.Attribute `yaml:"attribute"`
}

func (a Aspect) weight() float64 {
	if a.Weight == nil {
		return 1
	}
	return *a.Weight
}

//go:embed rubrics
var embedded embed.FS

// Rubrics returns the names of the built-in rubrics.
func Rubrics() []string {
	var names []string
	// It cannot fail: the files are part of the binary.
	_ = fs.WalkDir(embedded, "rubrics", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(file, "rubrics/"), ".yaml"))
		}
		return err
	})
	return names
}

// OpenRubric returns the built-in rubric with a name, or the rubric in a file,
// whose name must end in .yaml or .yml.
func OpenRubric(name string) (Rubric, error) {
	if IsRubricFile(name) {
		data, err := os.ReadFile(name)
		if err != nil {
			return Rubric{}, fmt.Errorf("failed to read rubric: %w", err)
		}
		r, err := ParseRubric(data)
		if err != nil {
			return Rubric{}, fmt.Errorf("failed to read rubric %s: %w", name, err)
		}
		return r, nil
	}
	data, err := fs.ReadFile(embedded, "rubrics/"+name+".yaml")
	if err != nil {
		return Rubric{}, fmt.Errorf("failed to find rubric %q: use one of %s, or a file that ends in .yaml", name, strings.Join(Rubrics(), ", "))
	}
	return ParseRubric(data)
}

// IsRubricFile reports whether the name of a rubric is the path of a file: it ends in
// .yaml or .yml.
func IsRubricFile(name string) bool {
	ending := path.Ext(name)
	return ending == ".yaml" || ending == ".yml"
}

// The limits of a rubric: the prompt must leave room for the text, and the
// answer must end.
const (
	maxRubric   = 64 << 10 // bytes of a file
	maxAspects  = 16
	maxLevels   = 9 // so that a severity is one digit
	maxSentence = 500
	maxPoints   = 20 // of violations, and of non-violations
)

// ParseRubric reads the YAML form of a rubric. Unknown keys and invalid values are
// errors that name the key. Anything after the rubric is an error, too.
func ParseRubric(data []byte) (Rubric, error) {
	if len(data) > maxRubric {
		return Rubric{}, fmt.Errorf("it has %d bytes, the limit is %d", len(data), maxRubric)
	}
	var r Rubric
	if err := plainyaml.Unmarshal(data, &r, rubricKeys); err != nil {
		return Rubric{}, err
	}
	if r.Scale == 0 {
		r.Scale = 1
	}
	return r, r.Validate()
}

// rubricKeys are the keys of each type of the YAML form.
var rubricKeys = map[string][]string{
	"Rubric": {"name", "goal", "violations", "non_violations", "aspects", "severity", "fields", "scale"},
	"Aspect": {"name", "question", "weight", "attribute"},
}

var (
	rubricName = regexp.MustCompile(`^[a-z0-9_-]+(/[a-z0-9_-]+)?$`)
	aspectName = regexp.MustCompile(`^[a-z0-9_]+$`)
)

// Validate reports everything that makes a rubric unusable. [ParseRubric] includes
// it.
func (r Rubric) Validate() error {
	var found []error
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	sentence := func(key, text string) {
		switch {
		case strings.TrimSpace(text) == "":
			wrong("%s: missing", key)
		case len(text) > maxSentence:
			wrong("%s: it has %d bytes, the limit is %d", key, len(text), maxSentence)
		case strings.ContainsAny(text, "\r\n"):
			wrong("%s: it must be one line", key)
		}
	}
	sentences := func(key string, texts []string, most int) {
		if len(texts) > most {
			wrong("%s: there are %d, the limit is %d", key, len(texts), most)
		}
		for i, text := range texts {
			sentence(fmt.Sprintf("%s[%d]", key, i), text)
		}
	}
	if !rubricName.MatchString(r.Name) {
		wrong("name: %q must consist of a-z, 0-9, - and _, with at most one / inside", r.Name)
	}
	sentence("goal", r.Goal)
	sentences("violations", r.Violations, maxPoints)
	sentences("non_violations", r.NonViolations, maxPoints)
	sentences("severity", r.Severity, maxLevels)
	if len(r.Severity) == 0 {
		wrong("severity: missing: give one sentence for each level from 1 on")
	}
	if len(r.Aspects) == 0 || len(r.Aspects) > maxAspects {
		wrong("aspects: there are %d, there must be 1 to %d", len(r.Aspects), maxAspects)
	}
	names, measured := map[string]bool{}, map[toxscreen.Attribute]bool{}
	for i, a := range r.Aspects {
		key := fmt.Sprintf("aspects[%d].", i)
		if !aspectName.MatchString(a.Name) || a.Name == reasonKey {
			wrong("%sname: %q must consist of a-z, 0-9 and _, and not be %q", key, a.Name, reasonKey)
		}
		if names[a.Name] {
			wrong("%sname: %q is given twice", key, a.Name)
		}
		names[a.Name] = true
		sentence(key+"question", a.Question)
		if w := a.weight(); !(w > 0 && w <= 1000) {
			wrong("%sweight: %v must be over 0 and at most 1000", key, w)
		}
		if a.Attribute != nil {
			if measured[*a.Attribute] {
				wrong("%sattribute: another aspect measures %s already", key, *a.Attribute)
			}
			measured[*a.Attribute] = true
		}
	}
	for i, f := range r.Fields {
		if !slices.Contains(caseFields, f) {
			wrong("fields[%d]: %q must be one of %s", i, f, strings.Join(caseFields, ", "))
		}
		if slices.Contains(r.Fields[:i], f) {
			wrong("fields[%d]: %q is given twice", i, f)
		}
	}
	if !(r.Scale > 0 && r.Scale <= 1000) {
		wrong("scale: %v must be over 0 and at most 1000", r.Scale)
	}
	return errors.Join(found...)
}

// Version returns the rubric's name and the first twelve digits of its SHA-256.
// White space and comments in the file do not change it.
func (r Rubric) Version() string {
	canonical, err := json.Marshal(r)
	if err != nil {
		panic(err) // a rubric is strings and finite numbers
	}
	sum := sha256.Sum256(canonical)
	return r.Name + "@" + hex.EncodeToString(sum[:])[:12]
}

// score returns the weighted severity of a verdict, divided by the highest possible
// one and multiplied by the scale.
func (r Rubric) score(aspects []toxscreen.AspectVerdict) float64 {
	sum, most := 0.0, 0.0
	for i, a := range r.Aspects {
		sum += a.weight() * float64(*aspects[i].Severity)
		most += a.weight() * float64(len(r.Severity))
	}
	return sum / most * r.Scale
}
