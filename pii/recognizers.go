package pii

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainyaml"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Limits of recognizers.
const (
	maxRecognizers     = 100
	maxPatterns        = 100     // of a recognizer
	maxExpression      = 2_000   // bytes
	maxProgram         = 2_000   // RE2 instructions, which bound the time for each byte of a text
	maxPrograms        = 20_000  // instructions of all recognizers of a Finder
	maxDenied          = 10_000  // entries of a deny list
	maxEntry           = 200     // bytes of an entry, a cue or a name
	maxRecognizersFile = 1 << 20 // bytes
)

// Recognizer finds entities of one type by expressions, by a list of words, or by both. Its
// JSON and YAML forms are Presidio's; [ReadRecognizers] reads the latter.
type Recognizer struct {
	// Name and Type have at most 200 bytes. Type is one of [Kinds], or a new one of
	// letters, digits, _ and -.
	Name string               `json:"name"             yaml:"name"`
	Type toxscreen.EntityType `json:"supported_entity" yaml:"supported_entity"`
	// Patterns are at most 100 regular expressions.
	Patterns []Pattern `json:"patterns,omitempty" yaml:"patterns"`
	// DenyList are at most 10,000 words or phrases. Each is an entity, with score 1,
	// wherever it stands as whole words, in any case.
	DenyList []string `json:"deny_list,omitempty" yaml:"deny_list"`
	// Cues are at most 1,000 words or phrases of up to 4 words. They raise the score of a
	// match near them, like the cues of other types.
	Cues []string `json:"context,omitempty" yaml:"context"`
}

// Pattern is a regular expression of a [Recognizer], in the syntax of RE2, which package
// regexp documents. As in Presidio, it ignores case, ^ and $ match at lines, and a dot
// matches a line break, too. It reads the text in plain typography, but foreign digits and
// letters as they are. Empty matches are ignored. Texts of more than 32 kB are searched in
// pieces, which begin with a line or a word where possible: a match of more than 4 kB may
// be found in parts.
type Pattern struct {
	Name  string  `json:"name"  yaml:"name"`
	Regex string  `json:"regex" yaml:"regex"`
	Score float64 `json:"score" yaml:"score"` // of a match without a cue, in 0..1
}

// ExpressionError says that an expression of a recognizer cannot be compiled or is too
// long.
type ExpressionError struct {
	Recognizer string
	Pattern    string // its name
	Regex      string
	Err        error // why
}

func (e *ExpressionError) Error() string {
	return fmt.Sprintf("recognizer %q: the expression %q of pattern %q cannot be used: %v", e.Recognizer, e.Regex, e.Pattern, e.Err)
}

func (e *ExpressionError) Unwrap() error { return e.Err }

// compiled is a compiled recognizer. It is safe for concurrent use.
type compiled struct {
	Recognizer

	patterns []*regexp.Regexp
	size     int                // in RE2 instructions
	denied   map[string]bool    // the deny list, in lower case
	shapes   map[string][]shape // of its entries, by their first word in lower case
	cues     scan.Cues
}

// shape says where entries of a deny list begin and end around their first word. Entries of
// one shape share it, so the time for a word does not grow with the list.
type shape struct{ before, length int } // in bytes

// compile compiles recognizers, and takes those that ready has from there.
func compile(recognizers []Recognizer, ready []compiled) ([]compiled, error) {
	if len(recognizers) > maxRecognizers {
		return nil, fmt.Errorf("%d recognizers: the limit is %d", len(recognizers), maxRecognizers)
	}
	all := make([]compiled, len(recognizers))
	size := 0
	for i, r := range recognizers {
		if at := slices.IndexFunc(ready, func(c compiled) bool { return reflect.DeepEqual(c.Recognizer, r) }); at >= 0 {
			all[i] = ready[at]
		} else {
			c, err := r.compile()
			if err != nil {
				return nil, err
			}
			all[i] = c
		}
		size += all[i].size
	}
	if size > maxPrograms {
		return nil, fmt.Errorf("the expressions of the recognizers have %d instructions of RE2 together: the limit is %d", size, maxPrograms)
	}
	return all, nil
}

var typeName = regexp.MustCompile(`^[\pL\pN_-]+$`)

func (r Recognizer) compile() (compiled, error) {
	c := compiled{Recognizer: r, denied: map[string]bool{}, shapes: map[string][]shape{}, cues: scan.Cues{}}
	wrong := func(format string, args ...any) (compiled, error) {
		return compiled{}, fmt.Errorf("recognizer %q: "+format, append([]any{r.Name}, args...)...)
	}
	switch {
	case len(r.Name) > maxEntry || len(r.Type) > maxEntry:
		return wrong("its name and its type may have %d bytes each", maxEntry)
	case r.Type == "":
		return wrong("supported_entity is missing")
	case !typeName.MatchString(string(r.Type)):
		return wrong("the type %q may have letters, digits, _ and - only", r.Type)
	case len(r.Patterns) == 0 && len(r.DenyList) == 0:
		return wrong("it has neither patterns nor deny_list")
	case len(r.Patterns) > maxPatterns || len(r.DenyList) > maxDenied || len(r.Cues) > maxCues:
		return wrong("it has %s, %s in deny_list and %d in context: the limits are %d, %d and %d",
			plural.Count(len(r.Patterns), "pattern", "patterns"), plural.Count(len(r.DenyList), "entry", "entries"), len(r.Cues), maxPatterns, maxDenied, maxCues)
	}
	for _, p := range r.Patterns {
		if !(p.Score >= 0 && p.Score <= 1) {
			return wrong("the score %v of pattern %q is not in 0..1", p.Score, p.Name)
		}
		expression, size, err := compileExpression(p.Regex)
		if err != nil {
			return compiled{}, &ExpressionError{r.Name, p.Name, p.Regex, err}
		}
		c.patterns = append(c.patterns, expression)
		c.size += size
	}
	for _, entry := range r.DenyList {
		from := 0
		for from < len(entry) && !scan.Is(entry, from, scan.Word) {
			from++
		}
		if from == len(entry) || len(entry) > maxEntry {
			return wrong("the entry %.40q of deny_list must have a letter or a digit, and %d bytes at most", entry, maxEntry)
		}
		first := strings.ToLower(entry[from:scan.Run(entry, from, scan.Word)])
		c.denied[strings.ToLower(entry)] = true
		if form := (shape{from, len(entry)}); !slices.Contains(c.shapes[first], form) {
			c.shapes[first] = append(c.shapes[first], form)
		}
	}
	for _, text := range r.Cues {
		if err := c.cues.Add(text); err != nil {
			return wrong("%w", err)
		}
	}
	return c, nil
}

// compileExpression compiles an expression with Presidio's flags. size counts RE2
// instructions.
func compileExpression(text string) (expression *regexp.Regexp, size int, err error) {
	switch {
	case text == "":
		return nil, 0, errors.New("it is empty")
	case len(text) > maxExpression:
		return nil, 0, fmt.Errorf("it has %d bytes, the limit is %d", len(text), maxExpression)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		if strings.Contains(text, "(?=") || strings.Contains(text, "(?!") || strings.Contains(text, "(?<=") || strings.Contains(text, "(?<!") {
			err = fmt.Errorf("%w: RE2 has no look-ahead and look-behind; use \\b, or write what may stand there", err)
		}
		return nil, 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if size = len(program.Inst); size > maxProgram {
		return nil, 0, fmt.Errorf("it has %d instructions of RE2, the limit is %d; repeat less, as in x{1,20}", size, maxProgram)
	}
	expression, err = regexp.Compile("(?ims)" + text)
	return expression, size, err
}

// Expressions search a text in pieces, so that ctx can end the search between two.
const (
	piece     = 1 << 15
	longMatch = 1 << 12
)

// find returns the findings of a recognizer in a text. extra are cues beside its own.
func (c *compiled) find(ctx context.Context, text string, extra scan.Cues) ([]finding, error) {
	var found []finding
	for i, expression := range c.patterns {
		s := scan.New(text, c.cues, extra)
		for from := 0; from < len(text); {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			next := cut(text, from+piece)
			for _, at := range expression.FindAllStringIndex(text[from:boundary(text, min(len(text), next+longMatch))], -1) {
				if at[0] < at[1] && from+at[0] < next {
					s.AddOwn(c.Type, from+at[0], from+at[1], c.Patterns[i].Score, "pattern")
				}
			}
			from = next
		}
		for _, e := range s.Found {
			found = append(found, patternFinding(e))
		}
	}
	if len(c.denied) == 0 {
		return found, nil
	}
	look := scan.Stride
	for at := 0; at < len(text); at++ {
		if !scan.Is(text, at, scan.Word) {
			continue
		}
		if at >= look {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			look = at + scan.Stride
		}
		end := scan.Run(text, at, scan.Word)
		for _, form := range c.shapes[strings.ToLower(text[at:end])] {
			start := at - form.before
			to := start + form.length
			if start >= 0 && to <= len(text) && !(scan.Is(text, to-1, scan.Word) && scan.Is(text, to, scan.Word)) && c.denied[strings.ToLower(text[start:to])] {
				found = append(found, patternFinding(toxscreen.Entity{Type: c.Type, Start: start, End: to, Score: 1, Why: []string{"deny list"}}))
			}
		}
		at = end - 1
	}
	return found, nil
}

// cut returns the end of a piece, at about at: after a line, else after a word, else after
// a character.
func cut(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for _, separator := range []byte{'\n', ' '} {
		if i := strings.LastIndexByte(text[at-longMatch:at], separator); i >= 0 {
			return at - longMatch + i + 1
		}
	}
	return boundary(text, at)
}

// boundary returns the first offset from at on where a character begins.
func boundary(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// ReadRecognizers reads the YAML form of recognizers, which is Presidio's:
//
//	recognizers:
//	  - name: staff numbers
//	    supported_entity: STAFF_NUMBER
//	    patterns:
//	      - name: letter and digits
//	        regex: '\bE\d{6}\b'
//	        score: 0.3
//	    context: [staff, employee]
//	  - name: projects
//	    supported_entity: PROJECT
//	    deny_list: [Bluebird, Red Kite]
//	allow_list: [info@example.com]
//
// allow are the texts for [Settings.Allow]. supported_language, if it is given, must be en,
// and type must be custom. Recognizers with enabled: false are left out. The error names an
// unknown key with the nearest known one, or an expression that cannot be used, see
// [ExpressionError].
func ReadRecognizers(data []byte) (all []Recognizer, allow []string, err error) {
	if len(data) > maxRecognizersFile {
		return nil, nil, fmt.Errorf("failed to read recognizers: they have %d bytes, the limit is %d", len(data), maxRecognizersFile)
	}
	var file recognizersFile
	if err := plainyaml.Unmarshal(data, &file, keysOf); err != nil {
		return nil, nil, fmt.Errorf("failed to read recognizers: %w", err)
	}
	for _, r := range file.Recognizers {
		if r.Enabled != nil && !*r.Enabled {
			continue
		}
		if r.Language != "" {
			r.Languages = append(r.Languages, language{Language: r.Language})
		}
		if r.Type != "" && r.Type != "custom" {
			return nil, nil, fmt.Errorf("failed to read recognizers: recognizer %q: its type is %q, it must be custom", r.Name, r.Type)
		}
		if len(r.Languages) > 0 {
			i := slices.IndexFunc(r.Languages, func(l language) bool { return l.Language == "en" })
			if i < 0 {
				return nil, nil, fmt.Errorf("failed to read recognizers: recognizer %q: its language must be en", r.Name)
			}
			r.Cues = append(r.Cues, r.Languages[i].Cues...)
		}
		all = append(all, r.Recognizer)
	}
	if _, err := compile(all, nil); err != nil {
		return nil, nil, fmt.Errorf("failed to read recognizers: %w", err)
	}
	return all, file.Allow, nil
}

// recognizersFile is the YAML form. The types below are its parts.
type recognizersFile struct {
	Recognizers []fileRecognizer `yaml:"recognizers"`
	Allow       []string         `yaml:"allow_list"`
}

type fileRecognizer struct {
	Recognizer `yaml:",inline"`

	Language  string     `yaml:"supported_language"`
	Languages []language `yaml:"supported_languages"`
	Type      string     `yaml:"type"`
	Enabled   *bool      `yaml:"enabled"`
}

// language is an element of supported_languages: a code alone, or a code with its own cues.
type language struct {
	Language string   `yaml:"language"`
	Cues     []string `yaml:"context"`
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (l *language) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&l.Language)
	}
	type plain language
	return node.Decode((*plain)(l))
}

// keysOf lists the keys of each type of the YAML form.
var keysOf = map[string][]string{
	"recognizersFile": {"recognizers", "allow_list"},
	"fileRecognizer": {
		"name", "supported_entity", "patterns", "deny_list", "context", "supported_language", "supported_languages", "type", "enabled",
	},
	"Pattern": {"name", "regex", "score"},
	"plain":   {"language", "context"},
}
