// Package presidio is the wire format of Presidio's analyzer and anonymizer, which are two
// services in Presidio.
package presidio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/pii"
)

// Analysis is a request of Presidio's analyzer.
type Analysis struct {
	// Texts are the texts to analyse. Many says that the request had a list; the answer
	// then is a list, too.
	Texts []string
	Many  bool
	// Types are the types to find; nil for all.
	Types []toxscreen.EntityType
	// Threshold is the lowest score, in 0..1; nil for the server's.
	Threshold *float64
	// Explain adds to each entity the reason why it was found.
	Explain bool
	// Recognizers are used for this request only.
	Recognizers []pii.Recognizer
	// Context are words that support every entity near them.
	Context []string
	// Allow are texts that are never personal data. An entity is dropped if all of it
	// equals one of them.
	Allow []string
	// AllowPattern drops the entities in which it matches; nil drops none.
	AllowPattern *regexp.Regexp

	// written are the first expressions of the recognizers as the request has them: before
	// flags were added.
	written []string
}

// Error is an error in Presidio's form, with Presidio's HTTP status for it.
type Error struct {
	Status  int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// newError returns the body of an error.
func newError(message string) any {
	return struct {
		Error string `json:"error"`
	}{message}
}

// invalid returns the error for a request that is malformed.
func invalid(format string, args ...any) error {
	return &Error{http.StatusBadRequest, "failed to read the request: " + fmt.Sprintf(format, args...)}
}

// checkLanguage returns Presidio's error for a language without recognizers. An empty
// language stands for any.
func checkLanguage(language string) error {
	if language != "" && language != "en" {
		return nothingToFind()
	}
	return nil
}

// nothingToFind returns Presidio's error for a request if its language or its types lack
// recognizers.
func nothingToFind() error {
	return &Error{http.StatusInternalServerError, "No matching recognizers were found to serve the request."}
}

// Limits of an allow list of expressions. Package pii has the limits of recognizers.
const (
	maxAllowed      = 1_000
	maxAllowedBytes = 10_000 // together
)

// The flags of Python's regular expressions that a request may set, and the default flags.
const (
	pythonIgnoreCase = 2
	pythonMultiline  = 8
	pythonDotAll     = 16
	pythonUnicode    = 32
	pythonASCII      = 256
	pythonDefault    = pythonDotAll | pythonMultiline | pythonIgnoreCase
)

// ReadAnalysis reads a request of the analyzer and validates it. As Presidio does, it
// ignores unknown fields. Every error is an [*Error].
func ReadAnalysis(data []byte) (Analysis, error) {
	var in struct {
		Text        texts                  `json:"text"`
		Language    string                 `json:"language"`
		Types       []toxscreen.EntityType `json:"entities"`
		Threshold   *float64               `json:"score_threshold"`
		Explain     flag                   `json:"return_decision_process"`
		Recognizers []json.RawMessage      `json:"ad_hoc_recognizers"`
		Context     []string               `json:"context"`
		Allow       []string               `json:"allow_list"`
		AllowMatch  string                 `json:"allow_list_match"`
		Flags       *int                   `json:"regex_flags"`
	}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return Analysis{}, invalid("%v", err)
	}
	a := Analysis{Texts: in.Text.texts, Many: in.Text.many, Threshold: in.Threshold, Explain: bool(in.Explain), Context: in.Context}
	if len(in.Types) > 0 {
		a.Types = in.Types
	}
	for i, raw := range in.Recognizers {
		r, written, err := readRecognizer(raw)
		if err != nil {
			return Analysis{}, invalid("ad_hoc_recognizers[%d]: %v", i, err)
		}
		if r.Type != "" {
			a.Recognizers, a.written = append(a.Recognizers, r), append(a.written, written)
		}
	}
	switch {
	case len(a.Texts) == 0 || !a.Many && a.Texts[0] == "":
		return a, &Error{http.StatusInternalServerError, "No text provided"}
	case in.Language == "":
		return a, &Error{http.StatusInternalServerError, "No language provided"}
	case a.Threshold != nil && !(*a.Threshold >= 0 && *a.Threshold <= 1):
		return a, invalid("score_threshold is %v: it must be in 0..1", *a.Threshold)
	}
	if err := checkLanguage(in.Language); err != nil {
		return a, err
	}
	return a, a.readAllowed(in.Allow, in.AllowMatch, in.Flags)
}

// readAllowed reads the list of texts that are never personal data.
func (a *Analysis) readAllowed(list []string, match string, flags *int) error {
	switch match {
	case "", "exact":
		a.Allow = list
		return nil
	case "regex":
	default:
		return &Error{http.StatusInternalServerError, "allow_list_match must either be set to 'exact' or 'regex'."}
	}
	list = slices.DeleteFunc(list, func(expression string) bool { return expression == "" })
	if len(list) == 0 {
		return nil
	}
	all := strings.Join(list, "|")
	if len(list) > maxAllowed || len(all) > maxAllowedBytes {
		return invalid("allow_list has %s of %d bytes, the limits are %d and %d", plural.Count(len(list), "expression", "expressions"), len(all), maxAllowed, maxAllowedBytes)
	}
	for i, expression := range list {
		if _, err := regexp.Compile(expression); err != nil {
			return invalid("allow_list[%d]: the expression %q: %v; expressions have RE2's syntax, which has no lookaround and no backreference", i, expression, err)
		}
	}
	prefix, err := re2Flags(flags)
	if err != nil {
		return invalid("regex_flags: %v", err)
	}
	a.AllowPattern, err = regexp.Compile(prefix + all)
	if err != nil {
		return invalid("allow_list: %v", err)
	}
	return nil
}

// texts is a text or a list of them.
type texts struct {
	texts []string
	many  bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *texts) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '[':
		t.many = true
		return json.Unmarshal(data, &t.texts)
	}
	t.texts = []string{""}
	return json.Unmarshal(data, &t.texts[0])
}

// flag is a truth value that may also be a number or a text, as in Python.
type flag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *flag) UnmarshalJSON(data []byte) error {
	*f = flag(!slices.Contains([]string{"false", "null", "0", "0.0", `""`, "[]", "{}"}, string(data)))
	return nil
}

// readRecognizer reads an ad-hoc recognizer. A recognizer for another language is not used
// and gets no type. written is its first expression as the request has it.
func readRecognizer(data []byte) (r pii.Recognizer, written string, err error) {
	var in struct {
		Name     string                 `json:"name"`
		Language *string                `json:"supported_language"`
		Type     toxscreen.EntityType   `json:"supported_entity"`
		Types    []toxscreen.EntityType `json:"supported_entities"`
		Patterns []struct {
			Name  string   `json:"name"`
			Regex *string  `json:"regex"`
			Score *float64 `json:"score"`
		} `json:"patterns"`
		DenyList  []string        `json:"deny_list"`
		DenyScore *float64        `json:"deny_list_score"`
		Context   []string        `json:"context"`
		Flags     *int            `json:"global_regex_flags"`
		Version   json.RawMessage `json:"version"`
		Country   json.RawMessage `json:"country_code"`
	}
	if err := plainjson.UnmarshalStrict(data, &in); err != nil {
		return r, "", err
	}
	if in.Language != nil && *in.Language != "en" {
		return r, "", nil
	}
	if in.Type == "" && len(in.Types) > 0 {
		in.Type = in.Types[0]
	}
	r = pii.Recognizer{Name: in.Name, Type: in.Type, DenyList: in.DenyList, Cues: in.Context}
	switch {
	case r.Type == "":
		return r, "", errors.New("it has no supported_entity")
	case len(in.Patterns) == 0 && len(r.DenyList) == 0:
		return r, "", errors.New("it has neither patterns nor a deny_list")
	case in.DenyScore != nil && *in.DenyScore != 1:
		return r, "", fmt.Errorf("deny_list_score is %v, but words of a deny_list have the score 1: write them as patterns", *in.DenyScore)
	}
	if r.Name == "" {
		r.Name = recognizerOf(r.Type)
	}
	flags := "" // those of Presidio, which recognizers have anyway
	if in.Flags != nil {
		if flags, err = re2Flags(in.Flags); err != nil {
			return r, "", fmt.Errorf("global_regex_flags: %w", err)
		}
	}
	for i, p := range in.Patterns {
		if p.Regex == nil || p.Score == nil {
			return r, "", fmt.Errorf("patterns[%d]: it has no regex or no score", i)
		}
		if !(*p.Score >= 0 && *p.Score <= 1) {
			return r, "", fmt.Errorf("patterns[%d]: the score %v is not in 0..1", i, *p.Score)
		}
		r.Patterns = append(r.Patterns, pii.Pattern{Name: p.Name, Regex: flags + *p.Regex, Score: *p.Score})
		written = cmp.Or(written, *p.Regex)
	}
	return r, written, nil
}

// re2Flags returns the prefix of an expression that sets Python's flags; nil stands for
// Presidio's default flags.
func re2Flags(flags *int) (string, error) {
	if flags == nil {
		return "(?ims)", nil
	}
	if rest := *flags &^ (pythonDefault | pythonUnicode | pythonASCII); rest != 0 {
		return "", fmt.Errorf("the flags %d are not available: there are 2 (ignore case), 8 (multiline) and 16 (dot matches all)", rest)
	}
	on, off := "", ""
	for _, f := range []struct {
		flag   int
		letter string
	}{{pythonIgnoreCase, "i"}, {pythonMultiline, "m"}, {pythonDotAll, "s"}} {
		if *flags&f.flag != 0 {
			on += f.letter
		} else {
			off += f.letter
		}
	}
	if off == "" {
		return "(?" + on + ")", nil
	}
	return "(?" + on + "-" + off + ")", nil
}

// Entity is an entity in an answer of the analyzer. Its offsets are code points.
type Entity struct {
	Explanation *Explanation          `json:"analysis_explanation"` // null unless it was asked for
	End         int                   `json:"end"`
	Type        toxscreen.EntityType  `json:"entity_type"`
	Score       toxscreen.Probability `json:"score"`
	Start       int                   `json:"start"`
}

// Explanation says why an entity was found. Unknown fields are null.
type Explanation struct {
	Recognizer    string                 `json:"recognizer"`
	PatternName   *string                `json:"pattern_name"`
	Pattern       *string                `json:"pattern"`
	OriginalScore *float64               `json:"original_score"` // without words near by
	Score         toxscreen.Probability  `json:"score"`
	Text          string                 `json:"textual_explanation"`
	Improvement   *toxscreen.Probability `json:"score_context_improvement"`
	Word          string                 `json:"supportive_context_word"`
	Valid         *bool                  `json:"validation_result"` // whether the checksum is right
}

// ToEntities translates the entities of a text, which have byte offsets, for an answer.
func ToEntities(a Analysis, text string, entities []toxscreen.Entity) []Entity {
	out := make([]Entity, len(entities))
	for i, e := range toxscreen.NewUnits(toxscreen.CodePoints, text).Entities(entities) {
		out[i] = Entity{Start: e.Start, End: e.End, Type: e.Type, Score: e.Score}
		if a.Explain {
			out[i].Explanation = a.explain(e)
		}
	}
	return out
}

// cueReason begins the reason of an entity that names a word near by.
const cueReason = "cue "

func (a Analysis) explain(e toxscreen.Entity) *Explanation {
	x := &Explanation{Recognizer: recognizerOf(e.Type), Score: e.Score, Text: "found by " + strings.Join(e.Why, ", ")}
	for _, why := range e.Why {
		if word, ok := strings.CutPrefix(why, cueReason); ok {
			x.Word = strings.Trim(word, `"`)
		}
		if why == "checksum" {
			valid := true
			x.Valid = &valid
		}
	}
	of := func(r pii.Recognizer) bool { return r.Type == e.Type }
	i := slices.IndexFunc(a.Recognizers, of)
	if i < 0 {
		return x
	}
	own := a.Recognizers[i]
	x.Recognizer = own.Name
	// With several expressions for a type, which of them matched is not known.
	if len(own.Patterns) == 1 && len(own.DenyList) == 0 && !slices.ContainsFunc(a.Recognizers[i+1:], of) {
		p := own.Patterns[0]
		improvement := max(e.Score-toxscreen.Probability(p.Score), 0)
		x.PatternName, x.Pattern, x.OriginalScore, x.Improvement = &p.Name, &a.written[i], &p.Score, &improvement
	}
	return x
}

// recognizerNames returns the names of the recognizers of some types.
func recognizerNames(types []toxscreen.EntityType) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = recognizerOf(t)
	}
	return names
}

// recognizerOf returns the name of the recognizer of a type as Presidio forms it:
// UsSsnRecognizer for US_SSN.
func recognizerOf(t toxscreen.EntityType) string {
	var name strings.Builder
	for word := range strings.SplitSeq(string(t), "_") {
		first, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			name.WriteString(strings.ToUpper(string(first)) + strings.ToLower(word[size:]))
		}
	}
	return name.String() + "Recognizer"
}
