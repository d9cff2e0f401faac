package formats

import (
	"encoding/json"
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
)

// PerspectiveAnalyze is a request for the scores of a comment.
type PerspectiveAnalyze struct {
	Comment             PerspectiveText                  `json:"comment"`
	Context             PerspectiveContext               `json:"context"` // ignored, as by Google
	RequestedAttributes map[string]PerspectiveParameters `json:"requestedAttributes"`
	Languages           []string                         `json:"languages"` // ISO 639 or BCP 47 codes; none: detected
	SpanAnnotations     bool                             `json:"spanAnnotations"`
	DoNotStore          bool                             `json:"doNotStore"`
	// DropUnsupportedAttributes leaves out the attributes that do not support the
	// language. Otherwise these are an error.
	DropUnsupportedAttributes bool   `json:"dropUnsupportedAttributes"`
	ClientToken               string `json:"clientToken"`
	CommunityID               string `json:"communityId"`
}

// PerspectiveText is a text of a request.
type PerspectiveText struct {
	Text string              `json:"text"`
	Type perspectiveTextType `json:"type"` // empty or PLAIN_TEXT
}

// PerspectiveContext is what a comment replies to, in one of two forms.
type PerspectiveContext struct {
	Entries                 []PerspectiveText `json:"entries"`
	ArticleAndParentComment json.RawMessage   `json:"articleAndParentComment"`
}

// PerspectiveParameters are the parameters of one requested attribute.
type PerspectiveParameters struct {
	ScoreType perspectiveScoreType `json:"scoreType"` // empty or PROBABILITY
	// ScoreThreshold is the lowest score that is returned; nil for all.
	ScoreThreshold *float64 `json:"scoreThreshold"`
}

// PerspectiveScores is the answer to a [PerspectiveAnalyze].
type PerspectiveScores struct {
	AttributeScores   map[string]PerspectiveAttribute `json:"attributeScores"` // by the names of the request
	Languages         []string                        `json:"languages,omitempty"`
	DetectedLanguages []string                        `json:"detectedLanguages,omitempty"`
	ClientToken       string                          `json:"clientToken,omitempty"`
}

// PerspectiveAttribute are the scores for one attribute.
type PerspectiveAttribute struct {
	// SpanScores has at least one element in every answer: clients read the first
	// without a check.
	SpanScores   []PerspectiveSpan `json:"spanScores,omitempty"`
	SummaryScore *PerspectiveScore `json:"summaryScore,omitempty"`
}

// PerspectiveSpan is the score of a piece of a text, from Begin to End (exclusive) in
// UTF-16 code units. Neither is nil.
type PerspectiveSpan struct {
	Begin *int             `json:"begin" proto:"required"`
	End   *int             `json:"end"   proto:"required"`
	Score PerspectiveScore `json:"score" proto:"required"`
}

// PerspectiveScore is a probability in 0..1, higher is more toxic. It is a float32,
// as Google's are, which JSON has in its shortest form.
type PerspectiveScore struct {
	Value float32              `json:"value"          proto:"required"`
	Type  perspectiveScoreType `json:"type,omitempty"`
}

// PerspectiveSuggest is a request that suggests the scores of a comment.
type PerspectiveSuggest struct {
	Comment         PerspectiveText                 `json:"comment"`
	Context         PerspectiveContext              `json:"context"`
	AttributeScores map[string]PerspectiveAttribute `json:"attributeScores"`
	Languages       []string                        `json:"languages"`
	ClientToken     string                          `json:"clientToken"`
	CommunityID     string                          `json:"communityId"`
}

// PerspectiveSuggested is the answer to a [PerspectiveSuggest].
type PerspectiveSuggested struct {
	ClientToken        string   `json:"clientToken,omitempty"`
	RequestedLanguages []string `json:"requestedLanguages,omitempty"`
	DetectedLanguages  []string `json:"detectedLanguages,omitempty"`
}

// perspectiveScoreType is what a score is: a probability only.
type perspectiveScoreType string

const perspectiveProbability = "PROBABILITY"

func (perspectiveScoreType) names() []string {
	return []string{"SCORE_TYPE_UNSPECIFIED", perspectiveProbability, "STD_DEV_SCORE", "PERCENTILE", "RAW"}
}

// perspectiveTextType is what a text is: plain text only.
type perspectiveTextType string

func (perspectiveTextType) names() []string {
	return []string{"TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"}
}

// perspectiveOthers are the attributes of Google's API that toxscreen does not
// measure: those of the New York Times and the experimental ones.
var perspectiveOthers = []string{
	"AFFINITY", "ALIENATION", "ATTACK_ON_AUTHOR", "ATTACK_ON_COMMENTER", "ATTACK_ON_PUBLISHER", "COMPASSION", "CONSTRUCTIVE",
	"CURIOSITY", "FEARMONGERING", "FLIRTATION", "GENERALIZATION", "INCOHERENT", "INFLAMMATORY", "LIKELY_TO_REJECT", "MORAL_OUTRAGE",
	"NUANCE", "OBSCENE", "OFF_TOPIC", "PERSONAL_STORY", "POWER_APPEAL", "REASONING", "RESPECT", "SCAPEGOATING", "SPAM",
	"UNSUBSTANTIAL",
}

// perspectiveFast is the attribute of Google's faster and less accurate model for
// toxicity.
const perspectiveFast = "TOXICITY_FAST"

// perspectiveNamed returns the attribute of a name, with or without a version or the
// suffix of the experimental ones. known reports whether Google had it, ours whether
// toxscreen has it.
func perspectiveNamed(name string) (a toxscreen.Attribute, known, ours bool) {
	base, version, _ := strings.Cut(name, "@")
	if strings.Trim(version, "0123456789") != "" {
		return 0, false, false
	}
	base = strings.TrimSuffix(base, "_EXPERIMENTAL")
	if base != strings.ToUpper(base) {
		return 0, false, false
	}
	if base == perspectiveFast {
		return toxscreen.Toxicity, true, true
	}
	if a, err := toxscreen.ParseAttribute(strings.ToLower(base)); err == nil {
		return a, true, true
	}
	return 0, slices.Contains(perspectiveOthers, base), false
}

// PerspectiveName is the name of an attribute in the Perspective API.
func PerspectiveName(a toxscreen.Attribute) string { return strings.ToUpper(a.String()) }

// ReadPerspectiveAnalyze reads a request as leniently as Google did. The error is a
// [*PerspectiveError] in Google's words. The caller must check the length of the text
// and its language, see [PerspectiveAnalyze.CheckLanguages].
func ReadPerspectiveAnalyze(data []byte) (PerspectiveAnalyze, error) {
	var r PerspectiveAnalyze
	if err := unmarshalProto(strictJSON(data), &r); err != nil {
		return r, badPerspectiveJSON(err)
	}
	if err := r.Context.check(); err != nil {
		return r, err
	}
	if err := r.Comment.check(); err != nil {
		return r, err
	}
	if len(r.RequestedAttributes) == 0 {
		return r, perspectiveInvalid("NO_REQUESTED_ATTRIBUTES", "Missing requested_attributes")
	}
	measured := false
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		_, known, ours := perspectiveNamed(name)
		measured = measured || ours
		if !known {
			return r, perspectiveInvalid("INVALID_REQUEST", "Unknown requested attribute: "+name)
		}
		if err := checkScoreType(name, r.RequestedAttributes[name].ScoreType); err != nil {
			return r, err
		}
	}
	if !measured {
		return r, perspectiveInvalid("INVALID_REQUEST", "Unknown requested attribute: "+slices.Min(slices.Collect(maps.Keys(r.RequestedAttributes))))
	}
	return r, nil
}

func checkScoreType(name string, scoreType perspectiveScoreType) error {
	if scoreType != "" && scoreType != "SCORE_TYPE_UNSPECIFIED" && scoreType != perspectiveProbability {
		return perspectiveInvalid("INVALID_REQUEST", "Requested score type "+string(scoreType)+" is not supported by attribute "+name)
	}
	return nil
}

func (c PerspectiveContext) check() error {
	article := string(c.ArticleAndParentComment)
	if len(c.Entries) > 0 && article != "" && article != "null" {
		return perspectiveInvalid("INVALID_REQUEST", "Context can have either entries or article_and_parent_comment, but both fields were populated.")
	}
	return nil
}

func (t PerspectiveText) check() error {
	switch t.Type {
	case "", "TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT":
	case "HTML":
		return perspectiveInvalid("INVALID_REQUEST", "Currently, only 'PLAIN_TEXT' comments are supported")
	default:
		return perspectiveInvalid("INVALID_REQUEST", "Unknown text type")
	}
	if strings.TrimSpace(t.Text) == "" {
		return perspectiveInvalid("COMMENT_EMPTY", "Comment must be non-empty.")
	}
	return nil
}

// CheckLanguages returns a [*PerspectiveError] where the model does not support the
// language of a comment. That is so where it supports none of the languages that the
// request names; and if the request names none, where the comment is not decided. Where
// the request asks to drop unsupported attributes, all are
// dropped instead, unless no language is known. supported is empty for a model of any
// language. detected is empty if the comment's language is not known.
func (r *PerspectiveAnalyze) CheckLanguages(supported, detected []string, decided bool) error {
	unsupported := &languageNotSupported{RequestedLanguages: r.Languages}
	switch {
	case len(supported) == 0, len(r.Languages) == 0 && decided, r.StatedLanguage(supported) != "":
		return nil
	case len(r.Languages) == 0 && len(detected) == 0:
		return perspectiveInvalid("LANGUAGE_DETECTION_FAILED", "Unable to detect language")
	case len(r.Languages) == 0:
		unsupported = &languageNotSupported{DetectedLanguages: detected}
	}
	if r.DropUnsupportedAttributes {
		r.RequestedAttributes = nil
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		if _, _, ours := perspectiveNamed(name); ours {
			unsupported.Attribute = name
			break
		}
	}
	e := perspectiveInvalid("LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
		fmt.Sprintf("Attribute %s does not support request languages: %s", unsupported.Attribute, strings.Join(slices.Concat(unsupported.RequestedLanguages, unsupported.DetectedLanguages), ", ")))
	e.Details = []any{commentError{perspectiveErrorURL, "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE", unsupported}}
	return e
}

// StatedLanguage returns the first of the languages that the request names and that the model
// supports; "" if there is none.
func (r *PerspectiveAnalyze) StatedLanguage(supported []string) string {
	return statedLanguage(r.Languages, supported)
}

// StatedLanguage is [PerspectiveAnalyze.StatedLanguage] of a suggestion.
func (r *PerspectiveSuggest) StatedLanguage(supported []string) string {
	return statedLanguage(r.Languages, supported)
}

func statedLanguage(stated, supported []string) string {
	for _, code := range stated {
		if slices.ContainsFunc(supported, func(c string) bool { return toxscreen.SameLanguage(c, code) }) {
			return code
		}
	}
	return ""
}

// ToPerspective translates the result of a comment. parts are its sentences, which are
// needed only where the request asks for SpanAnnotations, and detected are the codes of
// its detected languages. The requested attributes that the model does not measure are
// left out of the scores and returned as notMeasured.
func ToPerspective(r PerspectiveAnalyze, whole toxscreen.Result, parts []Part, detected []string) (scores PerspectiveScores, notMeasured []string) {
	scores = PerspectiveScores{
		AttributeScores: map[string]PerspectiveAttribute{},
		Languages:       r.Languages, DetectedLanguages: detected, ClientToken: r.ClientToken,
	}
	if len(r.Languages) == 0 {
		scores.Languages = detected
	}
	if !r.SpanAnnotations || len(parts) == 0 {
		parts = []Part{{r.Comment.Text, whole}}
	}
	for _, name := range slices.Sorted(maps.Keys(r.RequestedAttributes)) {
		a, _, ours := perspectiveNamed(name)
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
		attribute := PerspectiveAttribute{SummaryScore: perspectiveScore(summary)}
		at := 0
		for _, part := range parts {
			begin, end := at, at+utf16Len(part.Text)
			at = end
			if score, ok := part.Result.Attributes[a]; ok && score.Score.Rounded() >= threshold {
				attribute.SpanScores = append(attribute.SpanScores, PerspectiveSpan{&begin, &end, *perspectiveScore(score)})
			}
		}
		if len(attribute.SpanScores) == 0 { // no sentence reaches the threshold
			begin := 0
			attribute.SpanScores = []PerspectiveSpan{{&begin, &at, *attribute.SummaryScore}}
		}
		scores.AttributeScores[name] = attribute
	}
	return scores, notMeasured
}

func perspectiveScore(r toxscreen.AttributeResult) *PerspectiveScore {
	return &PerspectiveScore{Value: float32(r.Score.Rounded()), Type: perspectiveProbability}
}

// ReadPerspectiveSuggest reads a request; see [ReadPerspectiveAnalyze].
func ReadPerspectiveSuggest(data []byte) (PerspectiveSuggest, error) {
	var r PerspectiveSuggest
	if err := unmarshalProto(strictJSON(data), &r); err != nil {
		return r, badPerspectiveJSON(err)
	}
	if err := r.Context.check(); err != nil {
		return r, err
	}
	if err := r.Comment.check(); err != nil {
		return r, err
	}
	if len(r.AttributeScores) == 0 {
		return r, perspectiveInvalid("INVALID_REQUEST", "attribute_scores must not be empty")
	}
	units := utf16Len(r.Comment.Text)
	for _, name := range slices.Sorted(maps.Keys(r.AttributeScores)) {
		if _, known, _ := perspectiveNamed(name); !known {
			return r, perspectiveInvalid("INVALID_REQUEST", "Unknown requested attribute: "+name)
		}
		given := r.AttributeScores[name]
		var scores []PerspectiveScore
		if given.SummaryScore != nil {
			scores = append(scores, *given.SummaryScore)
		}
		for _, span := range given.SpanScores {
			scores = append(scores, span.Score)
			if *span.Begin < 0 || *span.End < *span.Begin {
				return r, perspectiveInvalid("INVALID_REQUEST", fmt.Sprintf("the span of %s from %d to %d is not valid", name, *span.Begin, *span.End))
			}
			if *span.End > units {
				return r, perspectiveInvalid("INVALID_REQUEST", fmt.Sprintf("the span of %s ends at %d, after the comment's %d UTF-16 code units", name, *span.End, units))
			}
		}
		if len(scores) == 0 {
			return r, perspectiveInvalid("INVALID_REQUEST", "attribute_scores of "+name+" must not be empty")
		}
		for _, score := range scores {
			if err := checkScoreType(name, score.Type); err != nil {
				return r, err
			}
			if score.Value < 0 || score.Value > 1 {
				return r, perspectiveInvalid("INVALID_REQUEST", fmt.Sprintf("the score %v of %s is no probability", score.Value, name))
			}
		}
	}
	if labels := r.Labels(); labels.Len() == 0 {
		return r, perspectiveInvalid("INVALID_REQUEST", "Unknown requested attribute: "+slices.Min(slices.Collect(maps.Keys(r.AttributeScores))))
	}
	return r, nil
}

// Labels returns the suggested scores of the whole comment. For an attribute that has
// only spans, that is the highest of their scores. Attributes that toxscreen does not
// measure are left out.
func (r PerspectiveSuggest) Labels() toxscreen.Scores {
	var labels toxscreen.Scores
	// A name with a version sorts after the name without one, which counts.
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(r.AttributeScores))) {
		a, _, ours := perspectiveNamed(name)
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
func (r PerspectiveSuggest) NotMeasured() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.AttributeScores)) {
		if _, _, ours := perspectiveNamed(name); !ours {
			names = append(names, name)
		}
	}
	return names
}

// ToPerspectiveSuggested returns the answer to a suggestion that was accepted.
func ToPerspectiveSuggested(r PerspectiveSuggest, detected []string) PerspectiveSuggested {
	return PerspectiveSuggested{ClientToken: r.ClientToken, RequestedLanguages: r.Languages, DetectedLanguages: detected}
}

// PerspectiveError is an error in the form of google.rpc.Status.
type PerspectiveError struct {
	Code    int    `json:"code"` // HTTP status
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

// Error implements error.
func (e *PerspectiveError) Error() string { return e.Message }

// Body returns the JSON value that is sent to the client.
func (e *PerspectiveError) Body() any {
	return struct {
		Error *PerspectiveError `json:"error"`
	}{e}
}

const (
	perspectiveErrorURL = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"
	errorInfoURL        = "type.googleapis.com/google.rpc.ErrorInfo"
	retryInfoURL        = "type.googleapis.com/google.rpc.RetryInfo"
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

// perspectiveStatuses are the names of the HTTP statuses.
var perspectiveStatuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusMethodNotAllowed: "UNIMPLEMENTED", http.StatusRequestTimeout: "DEADLINE_EXCEEDED",
	http.StatusRequestEntityTooLarge: "INVALID_ARGUMENT", http.StatusUnsupportedMediaType: "INVALID_ARGUMENT", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusInsufficientStorage: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
}

// NewPerspectiveError returns an error with an HTTP status and without details.
func NewPerspectiveError(status int, message string) *PerspectiveError {
	name, ok := perspectiveStatuses[status]
	if !ok {
		name = "UNKNOWN"
	}
	return &PerspectiveError{Code: status, Message: message, Status: name}
}

// PerspectiveTooLong is the error of a text over the limit.
func PerspectiveTooLong() *PerspectiveError {
	return perspectiveInvalid("COMMENT_TOO_LONG", "Comment text too long.")
}

// PerspectiveKeyInvalid is the error of an API key that is not valid.
func PerspectiveKeyInvalid() *PerspectiveError {
	e := NewPerspectiveError(http.StatusBadRequest, "API key not valid. Please pass a valid API key.")
	e.Details = []any{errorInfo{URL: errorInfoURL, Reason: "API_KEY_INVALID", Domain: "googleapis.com", Metadata: map[string]string{"service": "commentanalyzer.googleapis.com"}}}
	return e
}

// PerspectiveOverload is the error of a request that may succeed after a time.
func PerspectiveOverload(message string, retry time.Duration) *PerspectiveError {
	e := NewPerspectiveError(http.StatusTooManyRequests, message)
	e.Details = []any{errorInfo{URL: errorInfoURL, Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com", Metadata: map[string]string{"service": "commentanalyzer.googleapis.com"}}}
	if retry > 0 {
		e.Details = append(e.Details, retryInfo{retryInfoURL, fmt.Sprintf("%.3fs", math.Ceil(retry.Seconds()*1000)/1000)})
	}
	return e
}

func perspectiveInvalid(errorType, message string) *PerspectiveError {
	e := NewPerspectiveError(http.StatusBadRequest, message)
	e.Details = []any{commentError{URL: perspectiveErrorURL, ErrorType: errorType}}
	return e
}

// badPerspectiveJSON returns the error of a body that cannot be read.
func badPerspectiveJSON(err error) *PerspectiveError {
	message := "Invalid JSON payload received. " + err.Error()
	if wrong, ok := errors.AsType[*plainjson.FieldError](err); ok && wrong.Field != "" {
		message = fmt.Sprintf("Invalid value at '%s': %v", wrong.Field, &plainjson.FieldError{Expected: wrong.Expected, Found: wrong.Found})
	}
	return perspectiveInvalid("INVALID_REQUEST", message)
}
