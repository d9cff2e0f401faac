package perspective

import (
	"net/url"
	"strings"
)

// discovery has the parts of a discovery document that clients are generated from.
// Google's format has more.
type discovery struct {
	Kind              string                       `json:"kind"`
	DiscoveryVersion  string                       `json:"discoveryVersion"`
	ID                string                       `json:"id"`
	Name              string                       `json:"name"`
	CanonicalName     string                       `json:"canonicalName"`
	Version           string                       `json:"version"`
	VersionModule     bool                         `json:"version_module"`
	Title             string                       `json:"title"`
	Description       string                       `json:"description"`
	OwnerName         string                       `json:"ownerName"`
	Protocol          string                       `json:"protocol"`
	RootURL           string                       `json:"rootUrl"`
	ServicePath       string                       `json:"servicePath"`
	BaseURL           string                       `json:"baseUrl"`
	BasePath          string                       `json:"basePath"`
	BatchPath         string                       `json:"batchPath"`
	DocumentationLink string                       `json:"documentationLink"`
	Parameters        map[string]discoverySchema   `json:"parameters"`
	Resources         map[string]discoveryResource `json:"resources"`
	Schemas           map[string]discoverySchema   `json:"schemas"`
}

type discoveryResource struct {
	Methods map[string]discoveryMethod `json:"methods"`
}

type discoveryMethod struct {
	ID             string                     `json:"id"`
	Description    string                     `json:"description"`
	HTTPMethod     string                     `json:"httpMethod"`
	Path           string                     `json:"path"`
	FlatPath       string                     `json:"flatPath"`
	ParameterOrder []string                   `json:"parameterOrder"`
	Parameters     map[string]discoverySchema `json:"parameters"`
	Request        discoverySchema            `json:"request"`
	Response       discoverySchema            `json:"response"`
}

type discoverySchema struct {
	ID                   string                     `json:"id,omitempty"`
	Ref                  string                     `json:"$ref,omitempty"`
	Type                 string                     `json:"type,omitempty"`
	Format               string                     `json:"format,omitempty"`
	Location             string                     `json:"location,omitempty"`
	Default              string                     `json:"default,omitempty"`
	Description          string                     `json:"description,omitempty"`
	Enum                 []string                   `json:"enum,omitempty"`
	Items                *discoverySchema           `json:"items,omitempty"`
	Properties           map[string]discoverySchema `json:"properties,omitempty"`
	AdditionalProperties *discoverySchema           `json:"additionalProperties,omitempty"`
}

// Discovery returns the document from which clients are generated at run
// time. address is the URL under which they reach the server, with its base path. A
// URL for mutual TLS is left out: clients would use it instead.
func Discovery(address *url.URL) any {
	root := strings.TrimSuffix((&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String(), "/") + "/"
	ref := func(name, about string) discoverySchema { return discoverySchema{Ref: name, Description: about} }
	text := func(about string, enum ...string) discoverySchema {
		return discoverySchema{Type: "string", Description: about, Enum: enum}
	}
	flag := func(about string) discoverySchema { return discoverySchema{Type: "boolean", Description: about} }
	list := func(of discoverySchema, about string) discoverySchema {
		return discoverySchema{Type: "array", Items: &of, Description: about}
	}
	byName := func(of, about string) discoverySchema {
		return discoverySchema{Type: "object", AdditionalProperties: &discoverySchema{Ref: of}, Description: about}
	}
	float := func(about string) discoverySchema {
		return discoverySchema{Type: "number", Format: "float", Description: about}
	}
	offset := func(about string) discoverySchema {
		return discoverySchema{Type: "integer", Format: "int32", Description: about}
	}
	parameter := func(kind, standard, about string, enum ...string) discoverySchema {
		return discoverySchema{Type: kind, Location: "query", Default: standard, Description: about, Enum: enum}
	}
	method := func(name, message, about string) discoveryMethod {
		path := "v1alpha1/comments:" + name
		return discoveryMethod{
			ID: "commentanalyzer.comments." + name, Description: about, HTTPMethod: "POST", Path: path, FlatPath: path,
			ParameterOrder: []string{}, Parameters: map[string]discoverySchema{},
			Request: discoverySchema{Ref: message + "Request"}, Response: discoverySchema{Ref: message + "Response"},
		}
	}
	schemas := map[string]discoverySchema{
		"AnalyzeCommentRequest": {Properties: map[string]discoverySchema{
			"comment":                   ref("TextEntry", "The comment to score."),
			"context":                   ref("Context", "What the comment answers to. It changes no score."),
			"requestedAttributes":       byName("AttributeParameters", "The attributes to score, by name."),
			"languages":                 list(text(""), "Codes of the comment's languages; where there are none, it is detected whether the model knows it."),
			"spanAnnotations":           flag("Score each sentence, too."),
			"doNotStore":                flag("Keep nothing of the comment."),
			"dropUnsupportedAttributes": flag("Leave out attributes that do not support the language, instead of an error."),
			"clientToken":               text("Comes back in the response."),
			"sessionId":                 text("Joins requests; it is not looked at."),
			"communityId":               text("The community, which may have thresholds of its own."),
		}},
		"AnalyzeCommentResponse": {Properties: map[string]discoverySchema{
			"attributeScores":   byName("AttributeScores", "The scores, by the names of the request."),
			"languages":         list(text(""), "The languages of the request, else those that were detected."),
			"detectedLanguages": list(text(""), "The languages that were detected."),
			"clientToken":       text("The token of the request."),
		}},
		"SuggestCommentScoreRequest": {Properties: map[string]discoverySchema{
			"comment":         ref("TextEntry", "The comment."),
			"context":         ref("Context", "What the comment answers to."),
			"attributeScores": byName("AttributeScores", "The scores that the comment should have, by attribute."),
			"languages":       list(text(""), "Codes of the comment's languages."),
			"clientToken":     text("Comes back in the response."),
			"sessionId":       text("Joins requests; it is not looked at."),
			"communityId":     text("The community that suggests."),
		}},
		"SuggestCommentScoreResponse": {Properties: map[string]discoverySchema{
			"clientToken":        text("The token of the request."),
			"requestedLanguages": list(text(""), "The languages of the request."),
			"detectedLanguages":  list(text(""), "The languages that were detected."),
		}},
		"TextEntry": {Properties: map[string]discoverySchema{
			"text": text("The text, in UTF-8."),
			"type": text("What the text is: plain text only.", textType("").names()...),
		}},
		"Context": {Properties: map[string]discoverySchema{
			"entries":                 list(discoverySchema{Ref: "TextEntry"}, "Messages. Either this or articleAndParentComment."),
			"articleAndParentComment": ref("ArticleAndParentComment", "The article and the comment that is answered."),
		}},
		"ArticleAndParentComment": {Properties: map[string]discoverySchema{
			"article":       ref("TextEntry", "The article."),
			"parentComment": ref("TextEntry", "The comment that is answered."),
		}},
		"AttributeParameters": {Properties: map[string]discoverySchema{
			"scoreType":      text("The type of score: a probability only.", scoreType("").names()...),
			"scoreThreshold": float("Scores below it are left out."),
		}},
		"AttributeScores": {Properties: map[string]discoverySchema{
			"summaryScore": ref("Score", "The score of the whole comment."),
			"spanScores":   list(discoverySchema{Ref: "SpanScore"}, "The scores of its sentences, or one over all of it."),
		}},
		"SpanScore": {Properties: map[string]discoverySchema{
			"begin": offset("Where the span begins, in UTF-16 code units."),
			"end":   offset("Where it ends, exclusive."),
			"score": ref("Score", "Its score."),
		}},
		"Score": {Properties: map[string]discoverySchema{
			"value": float("0 to 1, higher is more toxic."),
			"type":  text("What the value is.", scoreType("").names()...),
		}},
	}
	for name, schema := range schemas {
		schema.ID, schema.Type = name, "object"
		schemas[name] = schema
	}
	return discovery{
		Kind: "discovery#restDescription", DiscoveryVersion: "v1", ID: "commentanalyzer:v1alpha1",
		Name: "commentanalyzer", CanonicalName: "Comment Analyzer", Version: "v1alpha1", VersionModule: true,
		Title:       "Perspective Comment Analyzer API, as toxscreen answers it",
		Description: "Scores comments for toxicity. Nothing leaves the server that answers.",
		OwnerName:   "toxscreen", Protocol: "rest",
		RootURL: root, BaseURL: root, BatchPath: "batch",
		DocumentationLink: "https://github.com/toxscreen/toxscreen",
		// Clients do not send a parameter that is not in the document.
		Parameters: map[string]discoverySchema{
			"key":             parameter("string", "", "The key of the caller."),
			"alt":             parameter("string", "json", "The form of the answer; it is JSON.", "json", "media", "proto"),
			"prettyPrint":     parameter("boolean", "true", "Has no effect."),
			"fields":          parameter("string", "", "Has no effect: the answer is whole."),
			"quotaUser":       parameter("string", "", "Has no effect."),
			"access_token":    parameter("string", "", "Has no effect."),
			"oauth_token":     parameter("string", "", "Has no effect."),
			"callback":        parameter("string", "", "Has no effect."),
			"uploadType":      parameter("string", "", "Has no effect."),
			"upload_protocol": parameter("string", "", "Has no effect."),
			"$.xgafv":         parameter("string", "", "Has no effect.", "1", "2"),
		},
		Resources: map[string]discoveryResource{"comments": {Methods: map[string]discoveryMethod{
			"analyze":      method("analyze", "AnalyzeComment", "Scores a comment."),
			"suggestscore": method("suggestscore", "SuggestCommentScore", "Tells which scores a comment should have."),
		}}},
		Schemas: schemas,
	}
}
