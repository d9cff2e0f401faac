package perspective_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/perspective"
	"github.com/toxscreen/toxscreen/server/servertest"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// golden compares a value with a file, with all of its keys and no others.
func golden(t *testing.T, file string, got any) {
	t.Helper()
	if *update {
		shown, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(shown, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	servertest.Documented(t, file, got)
}

func readAnalyze(t *testing.T, request string) perspective.Analyze {
	t.Helper()
	r, err := perspective.ReadAnalyze([]byte(request))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return r
}

// The example of Google's documentation, whose keys have no quotation marks, and an
// answer in its form: a span over the whole text, from an explicit 0, and float32s in
// their shortest form, with six decimals as in every format.
func TestExample(t *testing.T) {
	r := readAnalyze(t, `{comment: {text: "what kind of idiot name is foo?"},
       languages: ["en"],
       requestedAttributes: {TOXICITY:{}} }`)
	got, missing := perspective.ToScores(r, servertest.Toxicity(0.3827457), nil, toxscreen.Language{Code: "en"})
	const want = `{"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":31,"score":{"value":0.382746,"type":"PROBABILITY"}}],` +
		`"summaryScore":{"value":0.382746,"type":"PROBABILITY"}}},"languages":["en"],"detectedLanguages":["en"]}`
	if diff := cmp.Diff(want, servertest.JSON(t, got)); diff != "" || len(missing) > 0 {
		t.Error(diff, missing)
	}
}

// Clients send JSON as Google's parser accepted it: names without quotation marks or
// with single ones, PHP's [] for an empty object, names with underscores, a trailing
// comma, numbers in quotation marks.
func TestItIsLenient(t *testing.T) {
	want := readAnalyze(t, `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5},"THREAT":{}},
		"languages":["en"],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c"}`)
	for why, request := range map[string]string{
		"no quotation marks": `{comment:{text:"it's \"x\" é",type:"PLAIN_TEXT"},requestedAttributes:{TOXICITY:{scoreThreshold:0.5},THREAT:{}},
			languages:["en"],doNotStore:true,spanAnnotations:true,clientToken:"t",communityId:"c"}`,
		"single ones": `{'comment':{'text':'it\'s "x" é','type':'PLAIN_TEXT'},'requestedAttributes':{'TOXICITY':{'scoreThreshold':0.5},'THREAT':{}},
			'languages':['en'],'doNotStore':true,'spanAnnotations':true,'clientToken':'t','communityId':'c'}`,
		"PHP": `{"comment":{"text":"it's \"x\" \u00e9","type":"PLAIN_TEXT"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5},"THREAT":[]},"context":[],
			"languages":["en"],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c"}`,
		"underscores": `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT"},"requested_attributes":{"TOXICITY":{"score_threshold":0.5},"THREAT":null},
			"languages":["en"],"do_not_store":true,"span_annotations":true,"client_token":"t","community_id":"c","session_id":"s"}`,
		"last commas": `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT",},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5 , },"THREAT":{ } , },
			"languages":["en",],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c",
		}`,
		"in quotation marks": `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":"0.5"},"THREAT":{}},
			"languages":["en"],"doNotStore":"true","spanAnnotations":"true","clientToken":"t","communityId":"c"}`,
		"enumerations in lower case, and a list of one without brackets": `{"comment":{"text":"it's \"x\" é","type":"plain_text"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5},"THREAT":{}},
			"languages":"en","doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c"}`,
		"enumerations by number": `{"comment":{"text":"it's \"x\" é","type":1},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5},"THREAT":{}},
			"languages":["en"],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c"}`,
		"a byte order mark": "\ufeff" + `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5},"THREAT":{}},
			"languages":["en"],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c"}`,
		"null for what is absent": `{"comment":{"text":"it's \"x\" é","type":"PLAIN_TEXT"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":0.5,"scoreType":null},"THREAT":null},
			"languages":["en"],"doNotStore":true,"spanAnnotations":true,"clientToken":"t","communityId":"c","dropUnsupportedAttributes":null,"context":null}`,
	} {
		if diff := cmp.Diff(want, readAnalyze(t, request)); diff != "" {
			t.Errorf("%s: %s", why, diff)
		}
	}
}

// Google's messages word for word: clients look for them.
func TestErrors(t *testing.T) {
	const x = `"comment":{"text":"x"}`
	for request, want := range map[string]string{
		`{}`: "COMMENT_EMPTY: Comment must be non-empty.",
		`{"comment":{"text":" \n"},` + `"requestedAttributes":{"TOXICITY":{}}}`: "COMMENT_EMPTY: Comment must be non-empty.",
		`{` + x + `}`:                          "NO_REQUESTED_ATTRIBUTES: Missing requested_attributes",
		`{` + x + `,"requestedAttributes":{}}`: "NO_REQUESTED_ATTRIBUTES: Missing requested_attributes",
		`{` + x + `,"requestedAttributes":{"TOXICITY":{},"RUDENESS":{}}}`:                                                                           "INVALID_REQUEST: Unknown requested attribute: RUDENESS",
		`{` + x + `,"requestedAttributes":{"toxicity":{}}}`:                                                                                         "INVALID_REQUEST: Unknown requested attribute: toxicity",
		`{` + x + `,"requestedAttributes":{"TOXICITY@x":{}}}`:                                                                                       "INVALID_REQUEST: Unknown requested attribute: TOXICITY@x",
		`{` + x + `,"requestedAttributes":{"SPAM":{},"FLIRTATION":{}}}`:                                                                             "INVALID_REQUEST: Unknown requested attribute: FLIRTATION",
		`{` + x + `,"requestedAttributes":{"TOXICITY":{"scoreType":"RAW"}}}`:                                                                        "INVALID_REQUEST: Requested score type RAW is not supported by attribute TOXICITY",
		`{"comment":{"text":"x","type":"HTML"},"requestedAttributes":{"TOXICITY":{}}}`:                                                              "INVALID_REQUEST: Currently, only 'PLAIN_TEXT' comments are supported",
		`{"comment":{"text":"x","type":"TEX"},"requestedAttributes":{"TOXICITY":{}}}`:                                                               "INVALID_REQUEST: Unknown text type",
		`{` + x + `,"context":{"entries":[{"text":"y"}],"articleAndParentComment":{"article":{"text":"z"}}},"requestedAttributes":{"TOXICITY":{}}}`: "INVALID_REQUEST: Context can have either entries or article_and_parent_comment, but both fields were populated.",
		`{` + x + `,"requestedAttributes":{"TOXICITY":{"scoreType":4}}}`:                                                                            "INVALID_REQUEST: Requested score type RAW is not supported by attribute TOXICITY",
		`{` + x + `,"requestedAttributes":{"TOXICITY":{"scoreType":"percentile"}}}`:                                                                 "INVALID_REQUEST: Requested score type PERCENTILE is not supported by attribute TOXICITY",
		`{` + x + `,"requestedAttributes":{"TOXICITY":{"scoreType":5}}}`:                                                                            "INVALID_REQUEST: Requested score type 5 is not supported by attribute TOXICITY",
		`{"comment":{"text":"x","type":2},"requestedAttributes":{"TOXICITY":{}}}`:                                                                   "INVALID_REQUEST: Currently, only 'PLAIN_TEXT' comments are supported",
		`{` + x + `,"requestedAttributes":[]}`:                                                                                                      "NO_REQUESTED_ATTRIBUTES: Missing requested_attributes",
		`{` + x + `,"requestedAttributes":["TOXICITY"]}`:                                                                                            "INVALID_REQUEST: Invalid value at 'requestedAttributes': expected an object",
		`{` + x + `,"requestedAttributes":{"THREAT":{"scoreType":true}}}`:                                                                           "INVALID_REQUEST: Invalid value at 'requestedAttributes.THREAT.scoreType': expected one of SCORE_TYPE_UNSPECIFIED, PROBABILITY, STD_DEV_SCORE, PERCENTILE, RAW",
		`{` + x + `,"spanAnnotations":"yes"}`:                                                                                                       "INVALID_REQUEST: Invalid value at 'spanAnnotations': expected true or false",
		`{` + x + `,"languages":["en",null]}`:                                                                                                       "INVALID_REQUEST: Invalid value at 'languages[1]': expected a value, found nothing",
		`{` + x + `,"context":{"entries":[{"text":"a"},{"text":["b"]}]}}`:                                                                           "INVALID_REQUEST: Invalid value at 'context.entries[1].text': expected a string",
		`{"comment":"x"}`: "INVALID_REQUEST: Invalid value at 'comment': expected an object",
		`"x"`:             "INVALID_REQUEST: Invalid JSON payload received. expected an object",
		`{"comment"`:      "INVALID_REQUEST: Invalid JSON payload received. unexpected end of JSON input",
	} {
		_, err := perspective.ReadAnalyze([]byte(request))
		if diff := cmp.Diff(want, typed(t, err)); diff != "" {
			t.Errorf("%s: %s", request, diff)
		}
	}
}

// typed returns the type and the message of an error of a comment.
func typed(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*perspective.Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	if e.Code != 400 || e.Status != "INVALID_ARGUMENT" {
		t.Errorf("%v is %d %s", err, e.Code, e.Status)
	}
	var body struct {
		Error struct{ Details []struct{ ErrorType string } }
	}
	if err := json.Unmarshal([]byte(servertest.JSON(t, e.Body())), &body); err != nil || len(body.Error.Details) != 1 {
		t.Fatalf("%v: %s", err, servertest.JSON(t, e.Body()))
	}
	return body.Error.Details[0].ErrorType + ": " + e.Message
}

// A language that the model does not support is an error in Google's form, where
// clients find the attribute to leave out.
func TestLanguages(t *testing.T) {
	const attributes = `"comment":{"text":"x"},"requestedAttributes":{"THREAT":{},"FLIRTATION":{},"TOXICITY":{}}`
	for _, c := range []struct {
		why, request string
		detected     string
		want         string // empty: no error
	}{
		{"the model's", `"languages":["en"]`, "", ""},
		{"in a country", `"languages":["en-GB"]`, "en", ""},
		{"detected", `"clientToken":""`, "en", ""},
		{"another", `"languages":["de"]`, "", "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE: Attribute THREAT does not support request languages: de"},
		{"two others", `"languages":["de","hi-Latn"]`, "en", "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE: Attribute THREAT does not support request languages: de, hi-Latn"},
		{"one of two is enough", `"languages":["es","en"]`, "en", ""},
		{"the client knows better", `"languages":["en"]`, "tr", ""},
		{"another detected", `"languages":[]`, "tr", "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE: Attribute THREAT does not support request languages: tr"},
		{"none detected", `"languages":[]`, "", "LANGUAGE_DETECTION_FAILED: Unable to detect language"},
		{"dropped", `"languages":["de"],"dropUnsupportedAttributes":true`, "", ""},
	} {
		r := readAnalyze(t, `{`+attributes+`,`+c.request+`}`)
		got := ""
		language := toxscreen.Language{Code: c.detected}
		if err := r.CheckLanguage([]string{"en"}, language, c.detected == "en"); err != nil {
			got = typed(t, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
		if dropped := len(r.RequestedAttributes) == 0; dropped != r.DropUnsupportedAttributes {
			t.Errorf("%s: attributes dropped: %v", c.why, dropped)
		}
		if err := r.CheckLanguage(nil, language, true); err != nil {
			t.Errorf("%s: a model that knows all: %v", c.why, err)
		}
	}
	requested, detected := readAnalyze(t, `{`+attributes+`,"languages":["om"]}`), readAnalyze(t, `{`+attributes+`}`)
	errs := []any{requested.CheckLanguage([]string{"en"}, toxscreen.Language{}, true), detected.CheckLanguage([]string{"en"}, toxscreen.Language{Code: "om"}, false)}
	golden(t, "testdata/language-errors.json", []any{errs[0].(*perspective.Error).Body(), errs[1].(*perspective.Error).Body()})
}

// An answer with everything: names are those of the request, with versions and as
// experimental ones; attributes that are not measured are absent, as are scores below
// their threshold; sentences have their own scores.
func TestAnswer(t *testing.T) {
	const text = "\U0001F600 You fool! Thank you. E\u0301"
	r := readAnalyze(t, `{"comment":{"text":`+servertest.JSON(t, text)+`},"spanAnnotations":true,"clientToken":"id-1","requestedAttributes":{
		"TOXICITY":{"scoreThreshold":0}, "TOXICITY@6":{"scoreThreshold":0.3}, "INSULT_EXPERIMENTAL":{"scoreThreshold":0.6}, "THREAT":{"scoreThreshold":0.5},
		"TOXICITY_FAST":{"scoreThreshold":0.8}, "FLIRTATION":{}, "ATTACK_ON_AUTHOR@2":{}, "CONSTRUCTIVE_EXPERIMENTAL":{}, "PROFANITY":{}}}`)
	whole := servertest.Attributes(map[toxscreen.Attribute]toxscreen.Probability{toxscreen.Toxicity: 0.8, toxscreen.Insult: 0.7, toxscreen.Threat: 0.1})
	sentences := servertest.Sentences(text, 0.9, 0.05, 0.3)
	for i, insult := range []toxscreen.Probability{0.5, 0.1, 0.2} { // in none as in the whole
		sentences[i].Result.Attributes[toxscreen.Insult] = toxscreen.AttributeResult{Score: insult}
	}
	got, missing := perspective.ToScores(r, whole, sentences, toxscreen.Language{Code: "en"})
	golden(t, "testdata/answer.json", got)
	if diff := cmp.Diff([]string{"ATTACK_ON_AUTHOR@2", "CONSTRUCTIVE_EXPERIMENTAL", "FLIRTATION", "PROFANITY"}, missing); diff != "" {
		t.Error(diff)
	}
}

// Spans cover the text without a gap, in UTF-16 code units.
func TestSpansAreUTF16(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab. !?\n\u00e9\u0301\U0001F600\u200d\u4e2d\u3002\ufffd")
	for range 300 {
		runes := make([]rune, 1+random.IntN(40))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		text := string(runes)
		units := utf16.Encode(runes)
		request := perspective.Analyze{Comment: perspective.Comment{Text: text}, SpanAnnotations: true, RequestedAttributes: map[string]perspective.Parameters{"TOXICITY": {}}}
		got, _ := perspective.ToScores(request, servertest.Toxicity(0.5), servertest.Sentences(text), toxscreen.Language{})
		joined := ""
		for _, span := range got.AttributeScores["TOXICITY"].SpanScores {
			joined += string(utf16.Decode(units[*span.Begin:*span.End]))
		}
		if joined != text {
			t.Fatalf("the spans of %q are %q", text, joined)
		}
	}
}

func readSuggest(t *testing.T, request string) perspective.Suggest {
	t.Helper()
	r, err := perspective.ReadSuggest([]byte(request))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return r
}

// A suggestion is a label for the whole comment: with only spans, it is the highest
// of their scores.
func TestSuggest(t *testing.T) {
	r := readSuggest(t, `{"comment":{"text":"You fool!"},"languages":["en"],"communityId":"Coral:t","clientToken":"comment-53922","attributeScores":{
		"TOXICITY":{"summaryScore":{"value":1,"type":"probability"}}, "TOXICITY@6":{"summaryScore":{"value":0,"type":1}},
		"INSULT":{"spanScores":[{"begin":"0","end":3.0,"score":{"value":0}},{"begin":4,"end":9,"score":{"value":"0.5","type":"PROBABILITY"}}]},
		"FLIRTATION":{"summaryScore":{"value":1}}}}`)
	if diff := cmp.Diff(`{"toxicity":1,"insult":0.5}`, servertest.JSON(t, r.Labels())); diff != "" {
		t.Error(diff)
	}
	const want = `{"clientToken":"comment-53922","requestedLanguages":["en"],"detectedLanguages":["en"]}`
	if diff := cmp.Diff(want, servertest.JSON(t, perspective.ToSuggested(r, toxscreen.Language{Code: "en"}))); diff != "" || r.CommunityID != "Coral:t" {
		t.Error(diff, r.CommunityID)
	}
}

func TestSuggestionsThatMakeNoSense(t *testing.T) {
	for scores, want := range map[string]string{
		`{}`:                               "attribute_scores must not be empty",
		`{"TOXICITY":{}}`:                  "attribute_scores of TOXICITY must not be empty",
		`{"TOXICITY":{"summaryScore":{}}}`: "Invalid value at 'attributeScores.TOXICITY.summaryScore.value': expected a value, found nothing",
		`{"TOXICITY":{"summaryScore":{"value":1.5}}}`:                                       "the score 1.5 of TOXICITY is no probability",
		`{"TOXICITY":{"summaryScore":{"value":"NaN"}}}`:                                     "Invalid value at 'attributeScores.TOXICITY.summaryScore.value': expected a number",
		`{"TOXICITY":{"summaryScore":{"value":1,"type":"RAW"}}}`:                            "Requested score type RAW is not supported by attribute TOXICITY",
		`{"TOXICITY":{"spanScores":[{"score":{"value":1}}]}}`:                               "Invalid value at 'attributeScores.TOXICITY.spanScores[0].begin': expected a value, found nothing",
		`{"TOXICITY":{"spanScores":[{"begin":0,"end":1}]}}`:                                 "Invalid value at 'attributeScores.TOXICITY.spanScores[0].score': expected a value, found nothing",
		`{"TOXICITY":{"spanScores":[{"begin":null,"end":1,"score":{"value":1}}]}}`:          "Invalid value at 'attributeScores.TOXICITY.spanScores[0].begin': expected a value, found nothing",
		`{"TOXICITY":{"spanScores":[null]}}`:                                                "Invalid value at 'attributeScores.TOXICITY.spanScores[0]': expected a value, found nothing",
		`{"TOXICITY":{"spanScores":[{"begin":0.5,"end":1,"score":{"value":1}}]}}`:           "Invalid value at 'attributeScores.TOXICITY.spanScores[0].begin': expected a whole number",
		`{"TOXICITY":{"spanScores":[{"begin":2,"end":1,"score":{"value":1}}]}}`:             "the span of TOXICITY from 2 to 1 is not valid",
		`{"TOXICITY":{"spanScores":[{"begin":0,"end":4,"score":{"value":1}}]}}`:             "ends at 4, after the comment's 3 UTF-16 code units",
		`{"RUDENESS":{"summaryScore":{"value":1}},"TOXICITY":{"summaryScore":{"value":1}}}`: "Unknown requested attribute: RUDENESS",
		`{"FLIRTATION":{"summaryScore":{"value":1}}}`:                                       "Unknown requested attribute: FLIRTATION",
	} {
		_, err := perspective.ReadSuggest([]byte(`{"comment":{"text":"a\ud83d\ude00"},"attributeScores":` + scores + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", scores, err, want)
		}
	}
}

func TestOtherErrors(t *testing.T) {
	golden(t, "testdata/other-errors.json", []any{
		perspective.TooLong().Body(),
		perspective.KeyInvalid().Body(),
		perspective.Overload("too many requests at once", 1500*time.Millisecond).Body(),
		perspective.NewError(503, "the server ends").Body(),
		perspective.NewError(418, "odd").Body(),
	})
}

// Clients are generated from the document at run time: it has everything they need,
// every reference resolves, and no URL is another server's.
func TestDiscovery(t *testing.T) {
	for address, root := range map[string]string{
		"https://tox.example.org":              "https://tox.example.org/",
		"http://127.0.0.1:8080/":               "http://127.0.0.1:8080/",
		"https://example.org/screen/it?x=1#no": "https://example.org/screen/it/",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		document := servertest.JSON(t, perspective.Discovery(u))
		if !strings.Contains(document, `"rootUrl":"`+root+`"`) || !strings.Contains(document, `"baseUrl":"`+root+`"`) {
			t.Errorf("%s: %s", address, document[:400])
		}
		if strings.Contains(document, "googleapis.com") || strings.Contains(document, "mtlsRootUrl") {
			t.Errorf("%s: it leads to Google", address)
		}
	}
	u, _ := url.Parse("https://tox.example.org")
	written := servertest.JSON(t, perspective.Discovery(u))
	for _, names := range [][]string{perspective.TextTypes, perspective.ScoreTypes} {
		if enum := `"enum":` + servertest.JSON(t, names); !strings.Contains(written, enum) {
			t.Errorf("the document has no %s, which is what requests are read by", enum)
		}
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(written), &document); err != nil {
		t.Fatal(err)
	}
	var follow func(value any)
	follow = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, each := range value {
				follow(each)
			}
		case map[string]any:
			if name, ok := value["$ref"].(string); ok {
				if _, ok := document["schemas"].(map[string]any)[name]; !ok {
					t.Errorf("there is no schema %s", name)
				}
			}
			for _, each := range value {
				follow(each)
			}
		}
	}
	follow(document)
}

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{
		`{comment:{text:"a"},requestedAttributes:{TOXICITY:{}}}`,
		`{'comment':{'text':'it\'s "x"'},'requested_attributes':{'TOXICITY@6':[],},"span_annotations":true}`,
		`{"comment":{"text":"a. \ud83d\ude00"},"requestedAttributes":{"TOXICITY":{"scoreThreshold":"0.5"}},"languages":["en"]}`,
		`{"comment":null,"context":{"entries":[],"articleAndParentComment":null}}`, `[`, `{a:-1e5,b:'`,
	} {
		f.Add([]byte(seed), 0.5)
	}
	f.Fuzz(func(t *testing.T, data []byte, score float64) {
		r, err := perspective.ReadAnalyze(data)
		if err != nil {
			if e, ok := errors.AsType[*perspective.Error](err); !ok || e.Code != 400 {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if !(score >= 0 && score <= 1) {
			return
		}
		text := r.Comment.Text
		got, missing := perspective.ToScores(r, servertest.Toxicity(toxscreen.Probability(score)), servertest.Sentences(text, toxscreen.Probability(score)), toxscreen.Language{})
		if len(got.AttributeScores)+len(missing) > len(r.RequestedAttributes) {
			t.Fatalf("%d scores and %d missing for %d attributes", len(got.AttributeScores), len(missing), len(r.RequestedAttributes))
		}
		for name, attribute := range got.AttributeScores {
			if len(attribute.SpanScores) == 0 || attribute.SummaryScore == nil {
				t.Fatalf("%s: %+v", name, attribute)
			}
			if end := *attribute.SpanScores[len(attribute.SpanScores)-1].End; end > len(utf16.Encode([]rune(text))) {
				t.Fatalf("%s: a span ends at %d", name, end)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzSuggest(f *testing.F) {
	f.Add([]byte(`{"comment":{"text":"abc"},"attributeScores":{"TOXICITY":{"summaryScore":{"value":1},"spanScores":[{"begin":0,"end":3,"score":{"value":0}}]}}}`))
	f.Add([]byte(`{comment:{text:'abc'},attribute_scores:{INSULT:{span_scores:[{begin:"1",end:2,score:{value:"0.5"}}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := perspective.ReadSuggest(data)
		if err != nil {
			if e, ok := errors.AsType[*perspective.Error](err); !ok || e.Code != 400 {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		labels := r.Labels()
		for a, label := range labels.All() {
			if !(label >= 0 && label <= 1) {
				t.Fatalf("%s is %v", a, label)
			}
		}
		if labels.Len() == 0 {
			t.Fatalf("%q says nothing", data)
		}
	})
}

// pythonBatch is a batch as google-api-python-client sends it: lines end with LF, and
// headers of 78 characters and more are folded.
func pythonBatch(ids ...string) (contentType string, body []byte) {
	var b bytes.Buffer
	for _, id := range ids {
		fmt.Fprintf(&b, "--===============123==\nContent-Type: application/http\nMIME-Version: 1.0\nContent-Transfer-Encoding: binary\nContent-ID: <b2f7b5f2-0000-4000-8000-000000000000 +\n %s>\n\n"+
			"POST /v1alpha1/comments:analyze?key=k&alt=json HTTP/1.1\nContent-Type: application/json\nMIME-Version: 1.0\naccept: application/json\nHost: 127.0.0.1:8080\ncontent-length: 7\n\n{\"a\":\n1}\n", id)
	}
	b.WriteString("--===============123==--\n")
	return `multipart/mixed; boundary="===============123=="`, b.Bytes()
}

// HELM's ID of a call is the whole text. The answers have the IDs in the form that
// Python's client parses.
func TestReadBatch(t *testing.T) {
	long := strings.Repeat("%F0%9F%98%80", 20_480) // the longest text that HELM sends, all emoji
	contentType, body := pythonBatch("hello%20you", long)
	calls, err := perspective.ReadBatch(contentType, body, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 2 || calls[0].Method != http.MethodPost || calls[0].Target != "/v1alpha1/comments:analyze?key=k&alt=json" || strings.TrimSpace(string(calls[1].Body)) != "{\"a\":\n1}" {
		t.Fatalf("%.200v", calls)
	}
	replyType, reply := perspective.WriteBatch([]perspective.BatchReply{
		{ID: calls[0].ID, Status: 200, Header: http.Header{"Toxscreen-Not-Measured": {"SPAM"}}, Body: []byte(`{"x":1}`)}, {ID: calls[1].ID, Status: 429, Body: []byte(`{}`)}, {Status: 200, Body: []byte(`{}`)},
	})
	boundary := strings.TrimPrefix(replyType, "multipart/mixed; boundary=")
	shown := strings.ReplaceAll(strings.ReplaceAll(string(reply), boundary, "BOUNDARY"), long, "LONG")
	want := "--BOUNDARY\r\nContent-ID: <response-b2f7b5f2-0000-4000-8000-000000000000 + hello%20you>\r\nContent-Type: application/http\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: 7\r\nToxscreen-Not-Measured: SPAM\r\n\r\n{\"x\":1}\r\n" +
		"--BOUNDARY\r\nContent-ID: <response-b2f7b5f2-0000-4000-8000-000000000000 + LONG>\r\nContent-Type: application/http\r\n\r\n" +
		"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: 2\r\n\r\n{}\r\n" +
		"--BOUNDARY\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: 2\r\n\r\n{}\r\n--BOUNDARY--\r\n"
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}

func TestBatchesThatMakeNoSense(t *testing.T) {
	contentType, body := pythonBatch("a", "b", "c")
	_, two := pythonBatch("a", "b")
	part := func(header, content string) []byte {
		return []byte("--x\r\n" + header + "\r\n\r\n" + content + "\r\n--x--\r\n")
	}
	const x = "multipart/mixed; boundary=x"
	for _, c := range []struct {
		contentType string
		body        []byte
		want        string
	}{
		{contentType, body, "it has more than 2 calls"},
		{contentType, two[:len(two)-30], "it breaks off"},
		{contentType, two[:bytes.LastIndex(two, []byte("MIME-Version: 1.0\nContent-Tr"))], "it breaks off"},
		{"application/json", body, "multipart/mixed with a boundary"},
		{"multipart/mixed", body, "multipart/mixed with a boundary"},
		{"multipart/mixed; boundary=y", body, "it breaks off"},
		{x, []byte("--x--\r\n"), "it has no calls"},
		{x, part("Content-Type: text/plain", "x"), "part 1 must have the Content-Type application/http"},
		{x, part("Content-Type: application/http", "x"), "part 1 is not an HTTP request"},
		{x, part("Content-Type: application/http\r\nContent-ID: <a\x01b>", "x"), "has an invalid header"},
	} {
		_, err := perspective.ReadBatch(c.contentType, c.body, 2)
		e, ok := errors.AsType[*perspective.Error](err)
		if !ok || e.Code != 400 || !strings.Contains(e.Message, c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func FuzzBatch(f *testing.F) {
	contentType, body := pythonBatch("hello%20you", "b")
	f.Add(contentType, body)
	f.Add("multipart/mixed; boundary=x", []byte("--x\r\nContent-Type: application/http\r\nContent-ID: <a + b>\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n--x--\r\n"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		calls, err := perspective.ReadBatch(contentType, body, 5)
		if err != nil {
			return
		}
		if len(calls) == 0 || len(calls) > 5 {
			t.Fatalf("%d calls", len(calls))
		}
		var replies []perspective.BatchReply
		for _, call := range calls {
			replies = append(replies, perspective.BatchReply{ID: call.ID, Status: 200, Body: []byte("{}")})
		}
		_, reply := perspective.WriteBatch(replies)
		// No id can add a header or a part to the answer.
		if n := strings.Count(string(reply), "\r\nContent-Length: 2\r\n"); n != len(calls) {
			t.Fatalf("%d answers to %d calls", n, len(calls))
		}
	})
}
