// Package openai is the format of OpenAI's moderations API.
package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Request is a request of the moderations API.
type Request struct {
	Model string `json:"model"` // ignored: the answer names the model that scored
	// Texts are the texts to score, with a result for each. The text parts of an
	// input of typed parts are one text, joined by line breaks. There is none only
	// where all parts are images.
	Texts []string `json:"-"`
	// Images are the names of the parts that are images, like input[1]. The caller
	// refuses them, or names [server.Images] in the results as not measured.
	Images []string `json:"-"`
}

// Moderation is the answer to a [Request].
type Moderation struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Results []Result `json:"results"`
}

// Result is the result of one text.
type Result struct {
	Flagged    bool               `json:"flagged"` // whether any category is, or the text was not decided
	Categories map[string]bool    `json:"categories"`
	Scores     map[string]float64 `json:"category_scores"` // 0 to 1, higher is worse; 0 where nothing was measured
	// Applied has the kinds of input that a category was measured in: none where it
	// was not measured.
	Applied map[string][]string `json:"category_applied_input_types"`
	// Own has the categories whose 0 means nothing.
	Own server.Own `json:"toxscreen"`
}

// model is a model in OpenAI's list of models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // Unix time
	OwnedBy string `json:"owned_by"`
}

// models is the list of models.
type models struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

// newModels returns the list with a single model. OpenAI's time of creation is the
// time since which the model is served.
func newModels(id string, since time.Time) models {
	return models{Object: "list", Data: []model{{ID: id, Object: "model", Created: since.Unix(), OwnedBy: "toxscreen"}}}
}

// errorBody is the error of any of OpenAI's APIs.
type errorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// newError returns the body of an error. kind is OpenAI's type, param the field
// of the request that is wrong and code what clients branch on; param and code may
// be empty, and are null then.
func newError(message, kind, param, code string) any {
	orNull := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	return struct {
		Error errorBody `json:"error"`
	}{errorBody{message, kind, orNull(param), orNull(code)}}
}

// categories has groups of attributes for each category. The score of a group
// is its lowest, and that of a category its highest group. A category without
// groups is not measured.
var categories = map[string][][]toxscreen.Attribute{
	"harassment":             {{toxscreen.Insult}, {toxscreen.Toxicity}},
	"harassment/threatening": {{toxscreen.Threat}},
	"hate":                   {{toxscreen.IdentityAttack}},
	"hate/threatening":       {{toxscreen.IdentityAttack, toxscreen.Threat}},
	"illicit":                nil,
	"illicit/violent":        nil,
	"self-harm":              nil,
	"self-harm/intent":       nil,
	"self-harm/instructions": nil,
	"sexual":                 {{toxscreen.SexuallyExplicit}},
	"sexual/minors":          nil,
	"violence":               {{toxscreen.Threat}},
	"violence/graphic":       nil,
}

// Read reads a request: its input is a text, a list of texts, or a list of
// typed parts. The error names the field.
func Read(data []byte) (Request, error) {
	var in struct {
		Request
		Input json.RawMessage `json:"input"`
	}
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return in.Request, fmt.Errorf("failed to read the request: %w", err)
	}
	r := in.Request
	switch input := bytes.TrimSpace(in.Input); {
	case len(input) == 0 || string(input) == "null":
		return r, errors.New(`failed to read the request: it has no input: send {"input": "…"}`)
	case input[0] == '"':
		r.Texts = []string{""}
		if err := plainjson.Unmarshal(input, &r.Texts[0]); err != nil {
			return r, fmt.Errorf("failed to read input: %w", err)
		}
		return r, nil
	case json.Unmarshal(input, &r.Texts) == nil:
		if len(r.Texts) == 0 {
			return r, errors.New("failed to read input: it is an empty list")
		}
		// encoding/json reads null as an empty string.
		var all []*string
		if err := plainjson.Unmarshal(input, &all); err != nil {
			return r, fmt.Errorf("failed to read input: %w", err)
		}
		for i, text := range all {
			if text == nil {
				return r, fmt.Errorf("failed to read input[%d]: it is null, not a text", i)
			}
		}
		return r, nil
	}
	r.Texts = nil
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(in.Input, &parts); err != nil {
		return r, errors.New("failed to read input: it must be a text, a list of texts or a list of typed parts")
	}
	var texts []string
	for i, part := range parts {
		switch {
		case part.Type == "text" && part.Text != nil:
			texts = append(texts, *part.Text)
		case part.Type == "text":
			return r, fmt.Errorf("failed to read input[%d]: a part of type text has no text", i)
		case part.Type == "image_url":
			r.Images = append(r.Images, fmt.Sprintf("input[%d]", i))
		default:
			return r, fmt.Errorf("failed to read input[%d]: its type %q must be text or image_url", i, part.Type)
		}
	}
	if len(texts) > 0 {
		r.Texts = []string{strings.Join(texts, "\n")}
	}
	return r, nil
}

// ToResult returns the result of a text for all categories. A text that was not decided
// is flagged, but in no category.
func ToResult(r toxscreen.Result) Result {
	out := Result{Flagged: r.NotDecided != "", Categories: map[string]bool{}, Scores: map[string]float64{}, Applied: map[string][]string{}}
	for _, category := range slices.Sorted(maps.Keys(categories)) {
		groups := categories[category]
		score, flagged, measured := 0.0, false, false
		for _, group := range groups {
			lowest, all, complete := 1.0, true, true
			for _, a := range group {
				found, ok := r.Attributes[a]
				complete = complete && ok
				lowest, all = min(lowest, found.Score.Rounded()), all && found.Flagged
			}
			if complete {
				score, flagged, measured = max(score, lowest), flagged || all, true
			}
		}
		out.Scores[category], out.Categories[category], out.Applied[category] = score, flagged, []string{}
		if measured {
			out.Applied[category] = []string{"text"}
		} else {
			out.Own.NotMeasured = append(out.Own.NotMeasured, category)
		}
		out.Flagged = out.Flagged || flagged
	}
	return out
}
