package formats

import (
	"bytes"
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
)

// PresidioAnalysis is a request of Presidio's analyzer.
type PresidioAnalysis struct {
	// Texts are the texts to analyse. Many says that they came as a list, which the answer
	// is then, too.
	Texts []string
	Many  bool
	// Types are the types to find; nil for all.
	Types []toxscreen.EntityType
	// Threshold is the lowest score, in 0..1; nil for the server's.
	Threshold *float64
	// Explain adds to each entity why it was found.
	Explain bool
	// Recognizers are used for this request only.
	Recognizers []PresidioRecognizer
	// Context are words that support every entity near them.
	Context []string
	// Allow are texts that are no personal data, compared with the whole of an entity.
	Allow []string
	// AllowPattern drops the entities in which it matches; nil drops none.
	AllowPattern *regexp.Regexp
}

// PresidioRecognizer is an ad-hoc recognizer of a request.
type PresidioRecognizer struct {
	Name     string
	Type     toxscreen.EntityType
	Patterns []PresidioPattern
	DenyList []string // words that are entities wherever they stand
	Context  []string // words that raise the score of a match near them
}

// PresidioPattern is an expression of a [PresidioRecognizer].
type PresidioPattern struct {
	Name  string
	Regex string // in RE2's syntax; without flags of its own, it has those of Presidio
	Score float64

	written string // Regex as it stands in the request
}

// PresidioError is an error in Presidio's form, with the status that Presidio has for it.
type PresidioError struct {
	Status  int
	Message string
}

// Error implements error.
func (e *PresidioError) Error() string { return e.Message }

// NewPresidioError returns the body of an error.
func NewPresidioError(message string) any {
	return struct {
		Error string `json:"error"`
	}{message}
}

// presidioInvalid returns the error for a request that cannot be read.
func presidioInvalid(format string, args ...any) error {
	return &PresidioError{http.StatusBadRequest, "failed to read the request: " + fmt.Sprintf(format, args...)}
}

// CheckPresidioLanguage returns the error that Presidio has for a language without
// recognizers. An empty language is every language.
func CheckPresidioLanguage(language string) error {
	if language != "" && language != "en" {
		return PresidioNothingToFind()
	}
	return nil
}

// PresidioNothingToFind returns the error for a request whose language or types have no
// recognizer.
func PresidioNothingToFind() error {
	return &PresidioError{http.StatusInternalServerError, "No matching recognizers were found to serve the request."}
}

// Limits of an allow list of expressions. Package pii has those of recognizers.
const (
	maxPresidioAllowed      = 1_000
	maxPresidioAllowedBytes = 10_000 // together
)

// The flags of Python's regular expressions that a request may have, and those that it has
// unless it says otherwise.
const (
	pythonIgnoreCase = 2
	pythonMultiline  = 8
	pythonDotAll     = 16
	pythonUnicode    = 32
	pythonASCII      = 256
	pythonDefault    = pythonDotAll | pythonMultiline | pythonIgnoreCase
)

// ReadPresidioAnalysis reads a request of the analyzer and validates it. Fields that
// Presidio does not have are ignored, as there. Errors are a [*PresidioError].
func ReadPresidioAnalysis(data []byte) (PresidioAnalysis, error) {
	var in struct {
		Text        presidioTexts          `json:"text"`
		Language    string                 `json:"language"`
		Types       []toxscreen.EntityType `json:"entities"`
		Threshold   *float64               `json:"score_threshold"`
		Explain     presidioFlag           `json:"return_decision_process"`
		Recognizers []json.RawMessage      `json:"ad_hoc_recognizers"`
		Context     []string               `json:"context"`
		Allow       []string               `json:"allow_list"`
		AllowMatch  string                 `json:"allow_list_match"`
		Flags       *int                   `json:"regex_flags"`
	}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return PresidioAnalysis{}, presidioInvalid("%v", err)
	}
	a := PresidioAnalysis{Texts: in.Text.texts, Many: in.Text.many, Threshold: in.Threshold, Explain: bool(in.Explain), Context: in.Context}
	if len(in.Types) > 0 {
		a.Types = in.Types
	}
	for i, raw := range in.Recognizers {
		r, err := readPresidioRecognizer(raw)
		if err != nil {
			return PresidioAnalysis{}, presidioInvalid("ad_hoc_recognizers[%d]: %v", i, err)
		}
		if r.Type != "" {
			a.Recognizers = append(a.Recognizers, r)
		}
	}
	switch {
	case len(a.Texts) == 0 || !a.Many && a.Texts[0] == "":
		return a, &PresidioError{http.StatusInternalServerError, "No text provided"}
	case in.Language == "":
		return a, &PresidioError{http.StatusInternalServerError, "No language provided"}
	case a.Threshold != nil && !(*a.Threshold >= 0 && *a.Threshold <= 1):
		return a, presidioInvalid("score_threshold is %v: it must be in 0..1", *a.Threshold)
	}
	if err := CheckPresidioLanguage(in.Language); err != nil {
		return a, err
	}
	return a, a.readAllowed(in.Allow, in.AllowMatch, in.Flags)
}

// readAllowed reads the list of what is no personal data.
func (a *PresidioAnalysis) readAllowed(list []string, match string, flags *int) error {
	switch match {
	case "", "exact":
		a.Allow = list
		return nil
	case "regex":
	default:
		return &PresidioError{http.StatusInternalServerError, "allow_list_match must either be set to 'exact' or 'regex'."}
	}
	list = slices.DeleteFunc(list, func(expression string) bool { return expression == "" })
	if len(list) == 0 {
		return nil
	}
	all := strings.Join(list, "|")
	if len(list) > maxPresidioAllowed || len(all) > maxPresidioAllowedBytes {
		return presidioInvalid("allow_list has %s of %d bytes, the limits are %d and %d", plural.Count(len(list), "expression", "expressions"), len(all), maxPresidioAllowed, maxPresidioAllowedBytes)
	}
	for i, expression := range list {
		if _, err := regexp.Compile(expression); err != nil {
			return presidioInvalid("allow_list[%d]: the expression %q: %v; expressions have RE2's syntax, which has no lookaround and no backreference", i, expression, err)
		}
	}
	prefix, err := re2Flags(flags)
	if err != nil {
		return presidioInvalid("regex_flags: %v", err)
	}
	a.AllowPattern, err = regexp.Compile(prefix + all)
	if err != nil {
		return presidioInvalid("allow_list: %v", err)
	}
	return nil
}

// presidioTexts is a text or a list of them.
type presidioTexts struct {
	texts []string
	many  bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *presidioTexts) UnmarshalJSON(data []byte) error {
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

// presidioFlag is a truth value, also written as a number or a text, as Python reads them.
type presidioFlag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *presidioFlag) UnmarshalJSON(data []byte) error {
	*f = presidioFlag(!slices.Contains([]string{"false", "null", "0", "0.0", `""`, "[]", "{}"}, string(data)))
	return nil
}

// readPresidioRecognizer reads an ad-hoc recognizer. One for another language has no type:
// it is not used.
func readPresidioRecognizer(data []byte) (PresidioRecognizer, error) {
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
		return PresidioRecognizer{}, err
	}
	if in.Language != nil && *in.Language != "en" {
		return PresidioRecognizer{}, nil
	}
	if in.Type == "" && len(in.Types) > 0 {
		in.Type = in.Types[0]
	}
	r := PresidioRecognizer{Name: in.Name, Type: in.Type, DenyList: in.DenyList, Context: in.Context}
	switch {
	case r.Type == "":
		return r, errors.New("it has no supported_entity")
	case len(in.Patterns) == 0 && len(r.DenyList) == 0:
		return r, errors.New("it has neither patterns nor a deny_list")
	case in.DenyScore != nil && *in.DenyScore != 1:
		return r, fmt.Errorf("deny_list_score is %v, but words of a deny_list have the score 1: write them as patterns", *in.DenyScore)
	}
	if r.Name == "" {
		r.Name = presidioRecognizerOf(r.Type)
	}
	flags := "" // those of Presidio, which recognizers have anyway
	if in.Flags != nil {
		var err error
		if flags, err = re2Flags(in.Flags); err != nil {
			return r, fmt.Errorf("global_regex_flags: %w", err)
		}
	}
	for i, p := range in.Patterns {
		if p.Regex == nil || p.Score == nil {
			return r, fmt.Errorf("patterns[%d]: it has no regex or no score", i)
		}
		if !(*p.Score >= 0 && *p.Score <= 1) {
			return r, fmt.Errorf("patterns[%d]: the score %v is not in 0..1", i, *p.Score)
		}
		r.Patterns = append(r.Patterns, PresidioPattern{Name: p.Name, Regex: flags + *p.Regex, Score: *p.Score, written: *p.Regex})
	}
	return r, nil
}

// re2Flags returns what goes before an expression for the flags of Python, which are
// Presidio's if they are nil.
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

// PresidioEntity is an entity in an answer of the analyzer. Its offsets are code points.
type PresidioEntity struct {
	Explanation *PresidioExplanation  `json:"analysis_explanation"` // null unless it was asked for
	End         int                   `json:"end"`
	Type        toxscreen.EntityType  `json:"entity_type"`
	Score       toxscreen.Probability `json:"score"`
	Start       int                   `json:"start"`
}

// PresidioExplanation says why an entity was found. What is not known is null.
type PresidioExplanation struct {
	Recognizer    string                 `json:"recognizer"`
	PatternName   *string                `json:"pattern_name"`
	Pattern       *string                `json:"pattern"`
	OriginalScore *float64               `json:"original_score"` // without words near by
	Score         toxscreen.Probability  `json:"score"`
	Text          string                 `json:"textual_explanation"`
	Improvement   *toxscreen.Probability `json:"score_context_improvement"`
	Word          string                 `json:"supportive_context_word"`
	Valid         *bool                  `json:"validation_result"` // of a checksum
}

// ToPresidioEntities translates the entities of a text, which have byte offsets.
func ToPresidioEntities(a PresidioAnalysis, text string, entities []toxscreen.Entity) []PresidioEntity {
	out := make([]PresidioEntity, len(entities))
	for i, e := range toxscreen.NewUnits(toxscreen.CodePoints, text).Entities(entities) {
		out[i] = PresidioEntity{Start: e.Start, End: e.End, Type: e.Type, Score: e.Score}
		if a.Explain {
			out[i].Explanation = a.explain(e)
		}
	}
	return out
}

// cueReason is how the reasons of an entity name a word near by.
const cueReason = "cue "

func (a PresidioAnalysis) explain(e toxscreen.Entity) *PresidioExplanation {
	x := &PresidioExplanation{Recognizer: presidioRecognizerOf(e.Type), Score: e.Score, Text: "found by " + strings.Join(e.Why, ", ")}
	for _, why := range e.Why {
		if word, ok := strings.CutPrefix(why, cueReason); ok {
			x.Word = strings.Trim(word, `"`)
		}
		if why == "checksum" {
			valid := true
			x.Valid = &valid
		}
	}
	of := func(r PresidioRecognizer) bool { return r.Type == e.Type }
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
		x.PatternName, x.Pattern, x.OriginalScore, x.Improvement = &p.Name, &p.written, &p.Score, &improvement
	}
	return x
}

// PresidioRecognizers returns the names of the recognizers of some types.
func PresidioRecognizers(types []toxscreen.EntityType) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = presidioRecognizerOf(t)
	}
	return names
}

// presidioRecognizerOf returns the name of the recognizer of a type, in the form of
// Presidio's: UsSsnRecognizer for US_SSN.
func presidioRecognizerOf(t toxscreen.EntityType) string {
	var name strings.Builder
	for word := range strings.SplitSeq(string(t), "_") {
		first, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			name.WriteString(strings.ToUpper(string(first)) + strings.ToLower(word[size:]))
		}
	}
	return name.String() + "Recognizer"
}
