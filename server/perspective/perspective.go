// Package perspective is the format of Google's Perspective API.
package perspective

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Analyze is a request for the scores of a comment.
type Analyze struct {
	Comment             Comment               `json:"comment"`
	Context             Context               `json:"context"` // ignored, as by Google
	RequestedAttributes map[string]Parameters `json:"requestedAttributes"`
	Languages           []string              `json:"languages"` // ISO 639 or BCP 47 codes; none: detected
	SpanAnnotations     bool                  `json:"spanAnnotations"`
	DoNotStore          bool                  `json:"doNotStore"`
	// DropUnsupportedAttributes leaves out the attributes that do not support the
	// language. Otherwise these are an error.
	DropUnsupportedAttributes bool   `json:"dropUnsupportedAttributes"`
	ClientToken               string `json:"clientToken"`
	CommunityID               string `json:"communityId"`
}

// Comment is a text of a request.
type Comment struct {
	Text string   `json:"text"`
	Type textType `json:"type"` // empty or PLAIN_TEXT
}

// Context is what a comment replies to, in one of two forms.
type Context struct {
	Entries                 []Comment `json:"entries"`
	ArticleAndParentComment any       `json:"articleAndParentComment"`
}

// Parameters are the parameters of one requested attribute.
type Parameters struct {
	ScoreType scoreType `json:"scoreType"` // empty or PROBABILITY
	// ScoreThreshold is the lowest score that is returned; nil for all.
	ScoreThreshold *float64 `json:"scoreThreshold"`
}

// Scores is the answer to an [Analyze].
type Scores struct {
	AttributeScores   map[string]Attribute `json:"attributeScores"` // by the names of the request
	Languages         []string             `json:"languages,omitempty"`
	DetectedLanguages []string             `json:"detectedLanguages,omitempty"`
	ClientToken       string               `json:"clientToken,omitempty"`
}

// Attribute are the scores for one attribute.
type Attribute struct {
	// SpanScores has at least one element in every answer: clients read the first
	// without a check.
	SpanScores   []Span `json:"spanScores,omitempty"`
	SummaryScore *Score `json:"summaryScore,omitempty"`
}

// Span is the score of a piece of a text, from Begin to End (exclusive) in
// UTF-16 code units. Neither is nil.
type Span struct {
	Begin *int  `json:"begin" proto:"required"`
	End   *int  `json:"end"   proto:"required"`
	Score Score `json:"score" proto:"required"`
}

// Score is a probability in 0..1, higher is more toxic. It is a float32,
// as Google's are, which JSON has in its shortest form.
type Score struct {
	Value float32   `json:"value"          proto:"required"`
	Type  scoreType `json:"type,omitempty"`
}

// Suggest is a request that suggests the scores of a comment.
type Suggest struct {
	Comment         Comment              `json:"comment"`
	Context         Context              `json:"context"`
	AttributeScores map[string]Attribute `json:"attributeScores"`
	Languages       []string             `json:"languages"`
	ClientToken     string               `json:"clientToken"`
	CommunityID     string               `json:"communityId"`
}

// Suggested is the answer to a [Suggest].
type Suggested struct {
	ClientToken        string   `json:"clientToken,omitempty"`
	RequestedLanguages []string `json:"requestedLanguages,omitempty"`
	DetectedLanguages  []string `json:"detectedLanguages,omitempty"`
}

// scoreType is what a score is: a probability only.
type scoreType string

const probability = "PROBABILITY"

func (scoreType) names() []string {
	return []string{"SCORE_TYPE_UNSPECIFIED", probability, "STD_DEV_SCORE", "PERCENTILE", "RAW"}
}

// textType is what a text is: plain text only.
type textType string

func (textType) names() []string {
	return []string{"TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"}
}

// others are the attributes of Google's API that toxscreen does not
// measure: those of the New York Times and the experimental ones.
var others = []string{
	"AFFINITY", "ALIENATION", "ATTACK_ON_AUTHOR", "ATTACK_ON_COMMENTER", "ATTACK_ON_PUBLISHER", "COMPASSION", "CONSTRUCTIVE",
	"CURIOSITY", "FEARMONGERING", "FLIRTATION", "GENERALIZATION", "INCOHERENT", "INFLAMMATORY", "LIKELY_TO_REJECT", "MORAL_OUTRAGE",
	"NUANCE", "OBSCENE", "OFF_TOPIC", "PERSONAL_STORY", "POWER_APPEAL", "REASONING", "RESPECT", "SCAPEGOATING", "SPAM",
	"UNSUBSTANTIAL",
}

// fast is the attribute of Google's faster and less accurate model for
// toxicity.
const fast = "TOXICITY_FAST"

// attributeOf returns the attribute of a name, with or without a version or the
// suffix of the experimental ones. known reports whether Google had it, ours whether
// toxscreen has it.
func attributeOf(name string) (a toxscreen.Attribute, known, ours bool) {
	base, version, _ := strings.Cut(name, "@")
	if strings.Trim(version, "0123456789") != "" {
		return 0, false, false
	}
	base = strings.TrimSuffix(base, "_EXPERIMENTAL")
	if base != strings.ToUpper(base) {
		return 0, false, false
	}
	if base == fast {
		return toxscreen.Toxicity, true, true
	}
	if a, err := toxscreen.ParseAttribute(strings.ToLower(base)); err == nil {
		return a, true, true
	}
	return 0, slices.Contains(others, base), false
}

// ReadAnalyze reads a request as leniently as Google did. The error is a
// [*Error] in Google's words. The caller must check the length of the text
// and its language, see [Analyze.CheckLanguage].
func ReadAnalyze(data []byte) (Analyze, error) {
	var r Analyze
	if err := unmarshalProto(data, &r); err != nil {
		return r, badJSON(err)
	}
	if err := r.Context.check(); err != nil {
		return r, err
	}
	if err := r.Comment.check(); err != nil {
		return r, err
	}
	if len(r.RequestedAttributes) == 0 {
		return r, invalid("NO_REQUESTED_ATTRIBUTES", "Missing requested_attributes")
	}
	measured := false
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		_, known, ours := attributeOf(name)
		measured = measured || ours
		if !known {
			return r, invalid("INVALID_REQUEST", "Unknown requested attribute: "+name)
		}
		if err := checkScoreType(name, r.RequestedAttributes[name].ScoreType); err != nil {
			return r, err
		}
	}
	if !measured {
		return r, invalid("INVALID_REQUEST", "Unknown requested attribute: "+slices.Min(slices.Collect(maps.Keys(r.RequestedAttributes))))
	}
	return r, nil
}

func checkScoreType(name string, scoreType scoreType) error {
	if scoreType != "" && scoreType != "SCORE_TYPE_UNSPECIFIED" && scoreType != probability {
		return invalid("INVALID_REQUEST", "Requested score type "+string(scoreType)+" is not supported by attribute "+name)
	}
	return nil
}

func (c Context) check() error {
	if len(c.Entries) > 0 && c.ArticleAndParentComment != nil {
		return invalid("INVALID_REQUEST", "Context can have either entries or article_and_parent_comment, but both fields were populated.")
	}
	return nil
}

func (t Comment) check() error {
	switch t.Type {
	case "", "TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT":
	case "HTML":
		return invalid("INVALID_REQUEST", "Currently, only 'PLAIN_TEXT' comments are supported")
	default:
		return invalid("INVALID_REQUEST", "Unknown text type")
	}
	if strings.TrimSpace(t.Text) == "" {
		return invalid("COMMENT_EMPTY", "Comment must be non-empty.")
	}
	return nil
}

// CheckLanguage returns a [*Error] where the model does not support the language of a
// comment: if the request names languages, where the model supports none of these, and
// else where the comment is not decided. Where the request asks to drop unsupported
// attributes, all are dropped instead, unless no language is known. supported is empty for a
// model of any language.
func (r *Analyze) CheckLanguage(supported []string, language toxscreen.Language, decided bool) error {
	detected := codes(language)
	unsupported := &languageNotSupported{RequestedLanguages: r.Languages}
	switch {
	case len(supported) == 0, len(r.Languages) == 0 && decided, len(supportedOf(r.Languages, supported)) > 0:
		return nil
	case len(r.Languages) == 0 && len(detected) == 0:
		return invalid("LANGUAGE_DETECTION_FAILED", "Unable to detect language")
	case len(r.Languages) == 0:
		unsupported = &languageNotSupported{DetectedLanguages: detected}
	}
	if r.DropUnsupportedAttributes {
		r.RequestedAttributes = nil
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		if _, _, ours := attributeOf(name); ours {
			unsupported.Attribute = name
			break
		}
	}
	e := invalid("LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
		fmt.Sprintf("Attribute %s does not support request languages: %s", unsupported.Attribute, strings.Join(slices.Concat(unsupported.RequestedLanguages, unsupported.DetectedLanguages), ", ")))
	e.Details = []any{commentError{commentErrorURL, "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE", unsupported}}
	return e
}

// codes lists the code of a language, if it has one.
func codes(language toxscreen.Language) []string {
	if language.Code == "" {
		return nil
	}
	return []string{language.Code}
}

// supportedOf returns those of the languages that a request states that the model supports.
func supportedOf(stated, supported []string) []string {
	var of []string
	for _, code := range stated {
		if slices.ContainsFunc(supported, func(c string) bool { return toxscreen.SameLanguage(c, code) }) {
			of = append(of, code)
		}
	}
	return of
}

// statedLanguage returns the language that a request states if the model supports one of those
// that it states; "" if it supports none, and if it supports several: the comment shows which.
func statedLanguage(stated, supported []string) string {
	if of := supportedOf(stated, supported); len(of) == 1 {
		return of[0]
	}
	return ""
}

// ToScores translates the result of a comment. parts are its sentences, which are
// needed only where the request asks for SpanAnnotations, and language is the one that it
// seems to be in. The requested attributes that the model does not measure are
// left out of the scores and returned as notMeasured.
func ToScores(r Analyze, whole toxscreen.Result, parts []server.Sentence, language toxscreen.Language) (scores Scores, notMeasured []string) {
	detected := codes(language)
	scores = Scores{
		AttributeScores: map[string]Attribute{},
		Languages:       r.Languages, DetectedLanguages: detected, ClientToken: r.ClientToken,
	}
	if len(r.Languages) == 0 {
		scores.Languages = detected
	}
	if !r.SpanAnnotations || len(parts) == 0 {
		parts = []server.Sentence{{Text: r.Comment.Text, Result: whole}}
	}
	units := toxscreen.NewUnits(toxscreen.UTF16Units, r.Comment.Text)
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		a, _, ours := attributeOf(name)
		summary, measured := whole.Attributes[a]
		if !ours || !measured {
			notMeasured = append(notMeasured, name)
			continue
		}
		threshold := math.Inf(-1)
		if t := r.RequestedAttributes[name].ScoreThreshold; t != nil {
			threshold = *t
		}
		if summary.Score.Rounded() < threshold {
			continue
		}
		attribute := Attribute{SummaryScore: scoreOf(summary)}
		at := 0
		for _, part := range parts {
			begin, end := units.Range(at, at+len(part.Text))
			at += len(part.Text)
			if score, ok := part.Result.Attributes[a]; ok && score.Score.Rounded() >= threshold {
				attribute.SpanScores = append(attribute.SpanScores, Span{&begin, &end, *scoreOf(score)})
			}
		}
		if len(attribute.SpanScores) == 0 { // no sentence reaches the threshold
			begin, end := units.Range(0, at)
			attribute.SpanScores = []Span{{&begin, &end, *attribute.SummaryScore}}
		}
		scores.AttributeScores[name] = attribute
	}
	return scores, notMeasured
}

func scoreOf(r toxscreen.AttributeResult) *Score {
	return &Score{Value: float32(r.Score.Rounded()), Type: probability}
}

// ReadSuggest reads a request; see [ReadAnalyze].
func ReadSuggest(data []byte) (Suggest, error) {
	var r Suggest
	if err := unmarshalProto(data, &r); err != nil {
		return r, badJSON(err)
	}
	if err := r.Context.check(); err != nil {
		return r, err
	}
	if err := r.Comment.check(); err != nil {
		return r, err
	}
	if len(r.AttributeScores) == 0 {
		return r, invalid("INVALID_REQUEST", "attribute_scores must not be empty")
	}
	_, units := toxscreen.NewUnits(toxscreen.UTF16Units, r.Comment.Text).Range(0, len(r.Comment.Text))
	for _, name := range slices.Sorted(maps.Keys(r.AttributeScores)) {
		if _, known, _ := attributeOf(name); !known {
			return r, invalid("INVALID_REQUEST", "Unknown requested attribute: "+name)
		}
		given := r.AttributeScores[name]
		var scores []Score
		if given.SummaryScore != nil {
			scores = append(scores, *given.SummaryScore)
		}
		for _, span := range given.SpanScores {
			scores = append(scores, span.Score)
			if *span.Begin < 0 || *span.End < *span.Begin {
				return r, invalid("INVALID_REQUEST", fmt.Sprintf("the span of %s from %d to %d is not valid", name, *span.Begin, *span.End))
			}
			if *span.End > units {
				return r, invalid("INVALID_REQUEST", fmt.Sprintf("the span of %s ends at %d, after the comment's %d UTF-16 code units", name, *span.End, units))
			}
		}
		if len(scores) == 0 {
			return r, invalid("INVALID_REQUEST", "attribute_scores of "+name+" must not be empty")
		}
		for _, score := range scores {
			if err := checkScoreType(name, score.Type); err != nil {
				return r, err
			}
			if score.Value < 0 || score.Value > 1 {
				return r, invalid("INVALID_REQUEST", fmt.Sprintf("the score %v of %s is no probability", score.Value, name))
			}
		}
	}
	if labels := r.Labels(); labels.Len() == 0 {
		return r, invalid("INVALID_REQUEST", "Unknown requested attribute: "+slices.Min(slices.Collect(maps.Keys(r.AttributeScores))))
	}
	return r, nil
}

// Labels returns the suggested scores of the whole comment. For an attribute that has
// only spans, that is the highest of their scores. Attributes that toxscreen does not
// measure are left out.
func (r Suggest) Labels() toxscreen.Scores {
	var labels toxscreen.Scores
	// A name with a version sorts after the name without one, which counts.
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(r.AttributeScores))) {
		a, _, ours := attributeOf(name)
		if !ours {
			continue
		}
		given := r.AttributeScores[name]
		if given.SummaryScore != nil {
			labels.Set(a, float64(given.SummaryScore.Value))
			continue
		}
		worst := float32(0)
		for _, span := range given.SpanScores {
			worst = max(worst, span.Score.Value)
		}
		labels.Set(a, float64(worst))
	}
	return labels
}

// NotMeasured returns the suggested attributes that are not among the labels, since
// toxscreen does not measure them.
func (r Suggest) NotMeasured() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.AttributeScores)) {
		if _, _, ours := attributeOf(name); !ours {
			names = append(names, name)
		}
	}
	return names
}

// ToSuggested returns the answer to a suggestion that was accepted.
func ToSuggested(r Suggest, language toxscreen.Language) Suggested {
	return Suggested{ClientToken: r.ClientToken, RequestedLanguages: r.Languages, DetectedLanguages: codes(language)}
}

// Error is an error in the form of google.rpc.Status.
type Error struct {
	Code    int    `json:"code"` // HTTP status
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Body returns the JSON value that is sent to the client.
func (e *Error) Body() any {
	return struct {
		Error *Error `json:"error"`
	}{e}
}

const (
	commentErrorURL = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"
	errorInfoURL    = "type.googleapis.com/google.rpc.ErrorInfo"
	retryInfoURL    = "type.googleapis.com/google.rpc.RetryInfo"
)

// commentError is the detail with the kind of an invalid request.
type commentError struct {
	URL                  string                `json:"@type"`
	ErrorType            string                `json:"errorType"`
	LanguageNotSupported *languageNotSupported `json:"languageNotSupportedByAttributeError,omitempty"`
}

type languageNotSupported struct {
	RequestedLanguages []string `json:"requestedLanguages,omitempty"`
	DetectedLanguages  []string `json:"detectedLanguages,omitempty"`
	Attribute          string   `json:"attribute"`
}

type errorInfo struct {
	URL      string            `json:"@type"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

type retryInfo struct {
	URL        string `json:"@type"`
	RetryDelay string `json:"retryDelay"`
}

// statuses are the names of the HTTP statuses.
var statuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusMethodNotAllowed: "UNIMPLEMENTED", http.StatusRequestTimeout: "DEADLINE_EXCEEDED",
	http.StatusRequestEntityTooLarge: "INVALID_ARGUMENT", http.StatusUnsupportedMediaType: "INVALID_ARGUMENT", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusInsufficientStorage: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
}

// newError returns an error with an HTTP status and without details.
func newError(status int, message string) *Error {
	name, ok := statuses[status]
	if !ok {
		name = "UNKNOWN"
	}
	return &Error{Code: status, Message: message, Status: name}
}

// tooLong returns the error of a text over the limit.
func tooLong() *Error {
	return invalid("COMMENT_TOO_LONG", "Comment text too long.")
}

// keyInvalid returns the error of an API key that is not valid.
func keyInvalid() *Error {
	e := newError(http.StatusBadRequest, "API key not valid. Please pass a valid API key.")
	e.Details = []any{errorInfo{URL: errorInfoURL, Reason: "API_KEY_INVALID", Domain: "googleapis.com", Metadata: map[string]string{"service": "commentanalyzer.googleapis.com"}}}
	return e
}

// overload returns the error of a request that may succeed after a time.
func overload(message string, retry time.Duration) *Error {
	e := newError(http.StatusTooManyRequests, message)
	e.Details = []any{errorInfo{URL: errorInfoURL, Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com", Metadata: map[string]string{"service": "commentanalyzer.googleapis.com"}}}
	if retry > 0 {
		e.Details = append(e.Details, retryInfo{retryInfoURL, fmt.Sprintf("%.3fs", math.Ceil(retry.Seconds()*1000)/1000)})
	}
	return e
}

func invalid(errorType, message string) *Error {
	e := newError(http.StatusBadRequest, message)
	e.Details = []any{commentError{URL: commentErrorURL, ErrorType: errorType}}
	return e
}

// badJSON returns the error of a body that cannot be read.
func badJSON(err error) *Error {
	message := "Invalid JSON payload received. " + err.Error()
	if wrong, ok := errors.AsType[*plainjson.FieldError](err); ok && wrong.Field != "" {
		message = fmt.Sprintf("Invalid value at '%s': %v", wrong.Field, &plainjson.FieldError{Expected: wrong.Expected, Found: wrong.Found})
	}
	return invalid("INVALID_REQUEST", message)
}
