// Package patronus is the wire format of Patronus' evaluation API.
package patronus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Request is a request of Patronus' evaluation API.
type Request struct {
	Evaluators []Evaluator `json:"evaluators"`
	Evaluated
	Attachments []Attachment      `json:"evaluated_model_attachments"`
	App         *string           `json:"app"`
	Tags        map[string]string `json:"tags"`
	Capture     string            `json:"capture"` // all, fails-only or none: whether the text may be stored
}

// Attachment is a file beside the texts of an evaluation. The server never reads its
// address.
type Attachment struct {
	MediaType string `json:"media_type"`
	// UsageType names the text that the file belongs to. Default: evaluated_model_input,
	// which all evaluators ignore.
	UsageType *string `json:"usage_type"`
}

// Images returns the names of the images of the output, like
// evaluated_model_attachments[1]. Evaluators read only the text of the output. So the
// caller refuses images, or names [server.Images] in the answer as not measured.
func (r Request) Images() []string {
	var names []string
	for i, a := range r.Attachments {
		if a.ofOutput() {
			names = append(names, fmt.Sprintf("evaluated_model_attachments[%d]", i))
		}
	}
	return names
}

func (a Attachment) ofOutput() bool {
	return a.UsageType != nil && *a.UsageType == "evaluated_model_output"
}

// Evaluator names an evaluator and its criteria.
type Evaluator struct {
	Evaluator       string  `json:"evaluator"`        // an alias or a version
	Criteria        *string `json:"criteria"`         // the name of a profile
	ProfileName     *string `json:"profile_name"`     // its older name
	ExplainStrategy string  `json:"explain_strategy"` // repeated in the answer; there are no explanations
}

// Evaluated is the input of an evaluation, which each of its results repeats.
type Evaluated struct {
	SystemPrompt     *string `json:"evaluated_model_system_prompt"`
	RetrievedContext texts   `json:"evaluated_model_retrieved_context"`
	Input            *string `json:"evaluated_model_input"`
	Output           *string `json:"evaluated_model_output"`
	GoldAnswer       *string `json:"evaluated_model_gold_answer"`
}

// texts is a list of texts; in JSON, also one string.
type texts []string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *texts) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*t = []string{""}
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// Answer is the answer to a [Request]: a result for each evaluator, in their order.
type Answer struct {
	Results []Result `json:"results"`
	// Own names [server.Images] if the output has images, and is absent if nothing is left
	// out.
	Own server.Own `json:"toxscreen,omitzero"`
}

// Result is the outcome of one evaluator.
type Result struct {
	EvaluatorID  string      `json:"evaluator_id"`
	Criteria     string      `json:"criteria"`
	ProfileName  string      `json:"profile_name"`
	Status       string      `json:"status"`
	ErrorMessage *string     `json:"error_message"`
	Evaluation   *Evaluation `json:"evaluation_result"` // null where Status is not success
}

// The states of a [Result].
const (
	statusSuccess = "success"
	statusInvalid = "validation_error" // Patronus' client does not retry then
)

// Evaluation is the evaluation of an evaluator that succeeded.
type Evaluation struct {
	ID          string `json:"id"`
	App         string `json:"app"`
	CreatedAt   string `json:"created_at"`
	EvaluatorID string `json:"evaluator_id"`
	Criteria    string `json:"criteria"`
	ProfileName string `json:"profile_name"`
	Evaluated
	Explain             bool              `json:"explain"`
	ExplainStrategy     string            `json:"explain_strategy"`
	Pass                bool              `json:"pass"`
	ScoreRaw            float64           `json:"score_raw"` // 0 to 1: higher is more toxic, but 0 is a failure of pii and phi
	AdditionalInfo      Info              `json:"additional_info"`
	Explanation         *string           `json:"explanation"`
	Duration            string            `json:"evaluation_duration"` // ISO 8601
	ExplanationDuration *string           `json:"explanation_duration"`
	EvaluatorFamily     string            `json:"evaluator_family"`
	ProfileID           string            `json:"evaluator_profile_public_id"`
	Tags                map[string]string `json:"tags"`
	External            bool              `json:"external"`
}

// Info has details of a score. A position is the start and the end (exclusive) of
// an entity, or of a sentence with the white space after it, in code points.
type Info struct {
	ScoreRaw float64 `json:"score_raw"`
	// Positions are the sentences or the entities that make the text fail.
	Positions          [][2]int `json:"positions"`
	Extra              *Extra   `json:"extra"`
	ConfidenceInterval *string  `json:"confidence_interval"` // always null
}

// Extra are the other attributes of toxicity, or the entities of pii and phi. Patronus' own
// service has no entities there.
type Extra struct {
	Attributes []map[string]Attribute `json:"toxicity_additional_attributes,omitzero"`
	Entities   []Entity               `json:"entities,omitzero"`
	HIPAA      *HIPAA                 `json:"hipaa_identifiers,omitempty"` // of phi
}

// Entity is a part of the text with personal data.
type Entity struct {
	Type     toxscreen.EntityType  `json:"entity_type"`
	Position [2]int                `json:"position"`
	Score    toxscreen.Probability `json:"score"` // for this type, in 0..1
	Why      []string              `json:"why"`
}

// HIPAA lists which of the 18 identifiers of 45 CFR 164.514(b)(2)(i) the server looks for.
type HIPAA struct {
	LookedFor    []string `json:"looked_for"`
	NotLookedFor []string `json:"not_looked_for"` // each with the reason
}

// Attribute is the score of the whole text for an attribute, and the positions of all
// sentences.
type Attribute struct {
	ScoreRaw  float64  `json:"score_raw"`
	Positions [][2]int `json:"positions"`
}

// family is an evaluator that Patronus documents.
type family struct {
	version, profile string
	profileID        string // the public id of the profile
	created          string // the date of the version
	description      string
}

// The families of evaluators.
const (
	familyToxicity = "toxicity"
	familyPII      = "pii"
	familyPHI      = "phi"
)

var families = map[string]family{
	familyToxicity: {
		version: "toxicity-2024-05-16", profile: "system:detect-all-toxicity", profileID: "48c20ca8-023c-4cce-af55-437477211f3e", created: "2024-05-16T00:00:00Z",
		description: "The threshold of the server for toxicity.",
	},
	familyPII: {
		version: "pii-2024-05-31", profile: "system:detect-personally-identifiable-information", profileID: "24f559aa-387c-4a58-a597-196fc05edfe2", created: "2024-05-31T00:00:00Z",
		description: "The types of personal data that the server finds, at its threshold.",
	},
	familyPHI: {
		version: "phi-2024-05-31", profile: "system:detect-protected-health-information", profileID: "1db02dc6-de47-495e-aeeb-322bae93edd9", created: "2024-05-31T00:00:00Z",
		description: "The identifiers of HIPAA's Safe Harbor that can occur in a text, and health terms beside one of them. additional_info.extra.hipaa_identifiers lists them.",
	},
}

// criteria returns the names of a family's only profile.
func (f family) criteria(name string) []string {
	return []string{f.profile, "patronus:" + name}
}

// revision is the suffix that Patronus' client adds to the name of a profile.
const revision = ":1"

// additional are the additional attributes in the documented order, and then an
// undocumented one.
var additional = []toxscreen.Attribute{
	toxscreen.SevereToxicity, toxscreen.IdentityAttack, toxscreen.Insult, toxscreen.Profanity, toxscreen.Threat, toxscreen.SexuallyExplicit,
}

// Read reads a request and validates it. It ignores fields that [Request] lacks.
func Read(data []byte) (Request, error) {
	var r Request
	if err := plainjson.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("failed to read the request: %w", err)
	}
	if len(r.Evaluators) == 0 {
		return r, errors.New(`failed to read the request: it has no evaluators: send {"evaluators": [{"evaluator": "toxicity"}], …}`)
	}
	if len(r.Evaluators) > maxEvaluators {
		return r, fmt.Errorf("failed to read the request: it has %d evaluators, the limit is %d", len(r.Evaluators), maxEvaluators)
	}
	switch r.Capture {
	case "", "all", "fails-only", "none":
	default:
		return r, fmt.Errorf("failed to read the request: capture is %q: it must be all, fails-only or none", r.Capture)
	}
	for i, e := range r.Evaluators {
		if e.Evaluator == "" {
			return r, fmt.Errorf("failed to read the request: evaluators[%d] has no evaluator", i)
		}
	}
	for i, a := range r.Attachments {
		if a.ofOutput() && !strings.HasPrefix(strings.ToLower(a.MediaType), "image/") {
			return r, fmt.Errorf("failed to read the request: evaluated_model_attachments[%d] is part of the output and of type %q: evaluators read text only; leave it out", i, a.MediaType)
		}
	}
	return r, nil
}

// maxEvaluators is the highest number of evaluators in a request: the answer repeats the
// texts for each.
const maxEvaluators = 10

// family returns the family of the evaluator. why says why the evaluator cannot be used; it
// is empty if it can.
func (e Evaluator) family() (name string, f family, why string) {
	for name, f := range families {
		if e.Evaluator != name && e.Evaluator != f.version {
			continue
		}
		for _, profile := range []*string{e.Criteria, e.ProfileName} {
			if profile != nil && *profile != "" && !slices.Contains(f.criteria(name), strings.TrimSuffix(*profile, revision)) {
				return name, f, fmt.Sprintf("the evaluator %s has no criteria %q: leave them out, or name %s", name, *profile, f.profile)
			}
		}
		return name, f, ""
	}
	return "", family{}, fmt.Sprintf("there is no evaluator %q: there are toxicity, pii and phi, and their versions", e.Evaluator)
}

// Scores reports whether an evaluator of the request needs the scores of the output.
func (r Request) Scores() bool { return r.needs(familyToxicity) }

// Finds reports whether an evaluator of the request needs the personal data of the output.
func (r Request) Finds() bool { return r.needs(familyPII) || r.needs(familyPHI) }

func (r Request) needs(family string) bool {
	return r.Output != nil && slices.ContainsFunc(r.Evaluators, func(e Evaluator) bool {
		name, _, why := e.family()
		return name == family && why == ""
	})
}

// Scored is what was found in the output of a request.
type Scored struct {
	// Result may be empty if [Request.Scores] is false.
	Result toxscreen.Result
	// Parts are the sentences of the output. Their results may be empty unless Result flags
	// toxicity.
	Parts []server.Sentence
	// Entities are the personal data, and Health the findings of phi, with byte offsets;
	// nil if nothing looked for them. They may be nil if [Request.Finds] is false.
	Entities []toxscreen.Entity
	Health   []toxscreen.Entity
	HIPAA    HIPAA
	At       time.Time // when the evaluation began
	Duration time.Duration
}

// ToAnswer returns the answer to a request. If the model could not decide about an output,
// the output has neither passed nor failed, and its evaluation says why.
func ToAnswer(r Request, scored Scored) Answer {
	var answer Answer
	if len(r.Images()) > 0 {
		answer.Own.NotMeasured = []string{server.Images}
	}
	for i, e := range r.Evaluators {
		name, f, why := e.family()
		result := Result{EvaluatorID: f.version, Criteria: f.profile, ProfileName: f.profile, Status: statusSuccess}
		if name == "" {
			result.EvaluatorID = e.Evaluator
		}
		if e.Criteria != nil && *e.Criteria != "" {
			result.Criteria = *e.Criteria
		}
		if why == "" {
			why = scored.undecided(r, name)
		}
		if why != "" {
			result.Status, result.ErrorMessage = statusInvalid, &why
		} else {
			evaluation := scored.evaluation(r, name)
			evaluation.EvaluatorID, evaluation.Criteria, evaluation.ProfileName = result.EvaluatorID, result.Criteria, result.ProfileName
			if e.ExplainStrategy != "" {
				evaluation.ExplainStrategy = e.ExplainStrategy
			}
			// IDs are numbers, as Patronus' are: of the time, so that they are in
			// order, and the index in the request.
			evaluation.ID = strconv.FormatInt(scored.At.UnixMicro()*maxEvaluators+int64(i), 10)
			result.Evaluation = &evaluation
		}
		answer.Results = append(answer.Results, result)
	}
	return answer
}

// undecided returns why an evaluator has no result; it is empty if the evaluator has one.
func (scored Scored) undecided(r Request, family string) string {
	switch {
	case r.Output == nil:
		return "the evaluator " + family + " needs evaluated_model_output, and reads nothing else"
	case family == familyToxicity && scored.Result.NotDecided != "":
		return "the evaluator toxicity did not decide: " + scored.Result.NotDecided
	case family == familyPII && scored.Entities == nil, family == familyPHI && scored.Health == nil:
		return "the evaluator " + family + " is not available: this server does not look for personal data"
	}
	return ""
}

// evaluation returns the evaluation by an evaluator of a family.
func (scored Scored) evaluation(r Request, family string) Evaluation {
	evaluation := Evaluation{
		App: "default", CreatedAt: scored.At.UTC().Format("2006-01-02T15:04:05.000000Z"),
		Evaluated: r.Evaluated, ExplainStrategy: "never",
		Duration:        fmt.Sprintf("PT%.3fS", scored.Duration.Seconds()),
		EvaluatorFamily: family, ProfileID: families[family].profileID, Tags: r.Tags,
	}
	if r.App != nil && *r.App != "" {
		evaluation.App = *r.App
	}
	switch family {
	case familyPII:
		evaluation.setEntities(*r.Output, scored.Entities)
	case familyPHI:
		evaluation.setEntities(*r.Output, scored.Health)
		evaluation.AdditionalInfo.Extra.HIPAA = &scored.HIPAA
	default:
		evaluation.setToxicity(scored)
	}
	return evaluation
}

// setEntities sets the outcome of pii or phi, which an output with an entity fails.
func (e *Evaluation) setEntities(output string, entities []toxscreen.Entity) {
	e.Pass = len(entities) == 0
	if e.Pass {
		e.ScoreRaw = 1
	}
	e.AdditionalInfo = Info{ScoreRaw: e.ScoreRaw, Positions: [][2]int{}, Extra: &Extra{Entities: []Entity{}}}
	for _, found := range toxscreen.NewUnits(toxscreen.CodePoints, output).Entities(entities) {
		position := [2]int{found.Start, found.End}
		e.AdditionalInfo.Positions = append(e.AdditionalInfo.Positions, position)
		e.AdditionalInfo.Extra.Entities = append(e.AdditionalInfo.Extra.Entities, Entity{found.Type, position, found.Score, found.Why})
	}
}

// setToxicity sets the outcome of the evaluator toxicity.
func (e *Evaluation) setToxicity(scored Scored) {
	toxicity := scored.Result.Attributes[toxscreen.Toxicity]
	e.Pass, e.ScoreRaw = !toxicity.Flagged, toxicity.Score.Rounded()
	e.AdditionalInfo = Info{ScoreRaw: e.ScoreRaw, Positions: [][2]int{}, Extra: &Extra{Attributes: []map[string]Attribute{}}}
	all, at := make([][2]int, len(scored.Parts)), 0
	worst, worstAt := -1.0, 0
	for i, part := range scored.Parts {
		all[i] = [2]int{at, at + utf8.RuneCountInString(part.Text)}
		at = all[i][1]
		if e.Pass {
			continue
		}
		own := part.Result.Attributes[toxscreen.Toxicity]
		if own.Flagged {
			e.AdditionalInfo.Positions = append(e.AdditionalInfo.Positions, all[i])
		}
		if score := own.Score.Rounded(); score > worst {
			worst, worstAt = score, i
		}
	}
	// A text that fails has a position, even where no single sentence would fail.
	if !e.Pass && len(e.AdditionalInfo.Positions) == 0 && len(all) > 0 {
		e.AdditionalInfo.Positions = [][2]int{all[worstAt]}
	}
	for _, a := range additional {
		if measured, ok := scored.Result.Attributes[a]; ok {
			e.AdditionalInfo.Extra.Attributes = append(e.AdditionalInfo.Extra.Attributes,
				map[string]Attribute{strings.ToUpper(a.String()): {measured.Score.Rounded(), all}})
		}
	}
}

// Evaluators is the list of evaluators.
type Evaluators struct {
	Evaluators []Listed `json:"evaluators"`
}

// Listed is an evaluator of [Evaluators].
type Listed struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Family          string   `json:"evaluator_family"`
	Aliases         []string `json:"aliases"`
	DefaultCriteria string   `json:"default_criteria"`
}

// ListEvaluators returns all evaluators, or, unless aliasOrID is empty, the one with that
// alias or version. Clients look up an evaluator before they use it. So the list has all
// evaluators even on a server that does not look for personal data; an evaluation then says
// why it failed.
func ListEvaluators(aliasOrID string) Evaluators {
	out := Evaluators{Evaluators: []Listed{}}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		if aliasOrID == "" || aliasOrID == name || aliasOrID == f.version {
			out.Evaluators = append(out.Evaluators, Listed{f.version, name, name, []string{name}, f.profile + revision})
		}
	}
	return out
}

// CriteriaList is the list of criteria.
type CriteriaList struct {
	Criteria []Profile `json:"evaluator_criteria"`
}

// Profile is one of [CriteriaList].
type Profile struct {
	PublicID    string  `json:"public_id"`
	Family      string  `json:"evaluator_family"`
	Name        string  `json:"name"`
	Revision    int     `json:"revision"`
	Config      *string `json:"config"` // always null
	Managed     bool    `json:"is_patronus_managed"`
	CreatedAt   string  `json:"created_at"`
	Description string  `json:"description"`
}

// ListCriteria returns the criteria of all evaluators, or, unless name is empty, those with
// that name.
func ListCriteria(name string) CriteriaList {
	out := CriteriaList{Criteria: []Profile{}}
	for _, family := range slices.Sorted(maps.Keys(families)) {
		f := families[family]
		for _, criteria := range f.criteria(family) {
			if name == "" || name == criteria {
				out.Criteria = append(out.Criteria, Profile{
					PublicID: f.profileID, Family: family, Name: criteria, Revision: 1, Managed: true, CreatedAt: f.created, Description: f.description,
				})
			}
		}
	}
	return out
}

// newError returns the body of the answer for a request that failed as a whole.
func newError(message string) any {
	return struct {
		Detail string `json:"detail"`
	}{message}
}
