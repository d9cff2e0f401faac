package judge

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/internal/spelling"
)

// The dialects that are not those of a guard model.
const (
	// dialectAuto takes the dialect from the model's name.
	dialectAuto = "auto"
	// dialectRubric is the dialect of models that follow instructions.
	dialectRubric = "rubric"
	// dialectSafeguard is the rubric's prompt for gpt-oss-safeguard. Its documentation
	// asks for a policy with the form of the answer as the system message and for the
	// text as the user message, which is what the rubric's prompt is.
	dialectSafeguard = "gpt-oss-safeguard"
)

// recognised says which models have a dialect by their names.
type recognised struct {
	dialect string
	models  *regexp.Regexp // matches the models' names, as bare returns them
	others  *regexp.Regexp // matches models with similar names that answer in another way; nil: there are none
}

// named returns a pattern for names with these words at any place.
func named(words string) *regexp.Regexp { return regexp.MustCompile(`(?:^|-)(?:` + words + `)(?:-|$)`) }

// recognisable are the models that are recognised by their names. The first match
// counts.
var recognisable = func() []recognised {
	all := []recognised{{dialectSafeguard, named(`gpt-?oss-?safeguard`), nil}}
	for _, f := range families {
		all = append(all, recognised{f.name, f.models, f.others})
	}
	return all
}()

// bare returns the name of a model without registry, namespace and tag, in lower case
// and with hyphens only: both hf.co/bartowski/Llama_Guard-3-8B:Q4_K_M and
// llama-guard-3-8b give llama-guard-3-8b.
func bare(model string) string {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(model)), ":")
	return strings.ReplaceAll(name, "_", "-")
}

// Dialects returns the values of [Config.Dialect].
func Dialects() []string {
	names := []string{dialectAuto, dialectRubric}
	for _, r := range recognisable {
		names = append(names, r.dialect)
	}
	return names
}

// ParseDialect returns a value of [Config.Dialect]. An unknown one is an error that
// names the nearest.
func ParseDialect(name string) (string, error) {
	if known := Dialects(); !slices.Contains(known, name) {
		nearest, _ := spelling.Nearest(name, known)
		return "", fmt.Errorf("unknown dialect %q: the nearest is %s; use one of %s", name, nearest, strings.Join(known, ", "))
	}
	return name, nil
}

// spoken returns the name of the dialect in which a model is asked.
func spoken(c Config) string {
	if c.Dialect != dialectAuto {
		return c.Dialect
	}
	name := bare(c.Model)
	for _, r := range recognisable {
		if r.models.MatchString(name) && (r.others == nil || !r.others.MatchString(name)) {
			return r.dialect
		}
	}
	return dialectRubric
}

// dialectOf returns the dialect of a configuration that [Config.filled] returned.
func dialectOf(c Config) dialect {
	name := spoken(c)
	if i := slices.IndexFunc(families, func(f family) bool { return f.name == name }); i >= 0 {
		return guard{c, families[i]}
	}
	return byRubric{config: c, shape: answerShape{c.Reason, c.Violations}, as: name}
}
