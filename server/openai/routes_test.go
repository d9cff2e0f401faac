package openai_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// A list of texts has a result for each, in order; a list of typed parts has one.
func TestModerations(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for input, want := range map[string][]bool{
		`"you idiot"`:                       {true},
		`["hello","you idiot","you idiot"]`: {false, true, true},
		`[{"type":"text","text":"you"},{"type":"text","text":"idiot"}]`: {true},
	} {
		r := s.Post("/v1/moderations", `{"model":"omni-moderation-latest","input":`+input+`}`)
		var got struct {
			ID, Model string
			Results   []struct {
				Flagged    bool
				Categories map[string]bool
				Scores     map[string]float64  `json:"category_scores"`
				Applied    map[string][]string `json:"category_applied_input_types"`
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &got); err != nil || r.Status != http.StatusOK || len(got.Results) != len(want) {
			t.Errorf("%s: %d %v %s", input, r.Status, err, r.Body)
			continue
		}
		if !strings.HasPrefix(got.ID, "modr-") || got.Model != "tiny@1.0.0" {
			t.Errorf("%s %s", got.ID, got.Model)
		}
		for i, flagged := range want {
			one := got.Results[i]
			if one.Flagged != flagged || one.Categories["harassment"] != flagged || len(one.Categories) != 13 || len(one.Scores) != 13 || len(one.Applied) != 13 {
				t.Errorf("%s: %+v", input, one)
			}
		}
	}
}

// Images are not measured. A request with one is refused and told the setting that passes
// over images; with it, the result says that they were not measured. Nothing is left of a
// request of images only.
func TestImages(t *testing.T) {
	const image, text = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`, `{"type":"text","text":"you idiot"}`
	const refused = `400 {"error":{"message":"failed to read input[%s]: images are not measured, only text is; leave it out, or let the server pass over images with its setting ignore_images","type":"invalid_request_error","param":"input","code":"unsupported"}}`
	const empty = `400 {"error":{"message":"failed to read input: it has no text, and images are not measured","type":"invalid_request_error","param":"input","code":"unsupported"}}`
	for _, c := range []struct {
		ignored     bool
		input, want string
	}{
		{false, text + "," + image, strings.Replace(refused, "%s", "1", 1)},
		{false, image, strings.Replace(refused, "%s", "0", 1)},
		{true, image + "," + image, empty},
	} {
		s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{IgnoreImages: c.ignored})
		r := s.Post("/v1/moderations", `{"input":[`+c.input+`]}`)
		if got := strings.TrimSpace(r.Text()); got != c.want {
			t.Errorf("%s: %s", c.input, got)
		}
	}
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{IgnoreImages: true})
	for _, input := range []string{text + "," + image, text} {
		r := s.Post("/v1/moderations", `{"input":[`+input+`]}`)
		var got struct {
			Results []struct {
				Flagged bool
				Own     server.Own `json:"toxscreen"`
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &got); err != nil || len(got.Results) != 1 || !got.Results[0].Flagged {
			t.Fatalf("%v: %d %s", err, r.Status, r.Body)
		}
		named := got.Results[0].Own.NotMeasured
		if slices.Contains(named, "images") != strings.Contains(input, image) || !slices.Contains(named, "self-harm") || r.Header.Get("Toxscreen-Not-Measured") != strings.Join(named, ", ") {
			t.Errorf("%s: %q, header %q", input, named, r.Header.Get("Toxscreen-Not-Measured"))
		}
	}
}

func TestFailures(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "rate=0.001 burst=1")
	s := servertest.Serve(t, toxscreen.New(servertest.Words, toxscreen.WithMaxBytes(10)), server.Config{Keys: []server.Key{a}, MaxTexts: 2})
	for _, c := range []struct{ key, body, want string }{
		{alice, `{"input":[]}`, `400 {"error":{"message":"failed to read input: it is an empty list","type":"invalid_request_error","param":"input","code":null}}`},
		{alice, `{"input":["a","b","c"]}`, `413 {"error":{"message":"failed to read the request: it has 3 texts, the limit is 2; send fewer at once","type":"invalid_request_error","param":"input","code":null}}`},
		{alice, `{"input":"more than ten"}`, `413 {"error":{"message":"failed to score text: text too long: it has 13 bytes`},
		{alice, `{"input":"a"}`, `429 {"error":{"message":"failed to score text: the limit of the API key is 0.001 texts a second`},
		{"", `{"input":"a"}`, `401 {"error":{"message":"failed to authorize the request: it has no API key`},
	} {
		r := s.Post("/v1/moderations", c.body, "Authorization", "Bearer "+c.key)
		if !strings.HasPrefix(r.Text(), c.want) {
			t.Errorf("%s: %d %s", c.body, r.Status, r.Body)
		}
	}
}

// Programs list the models to check the address and the key, and look up one of them.
func TestModels(t *testing.T) {
	alice, a := servertest.NewKey(t, "alice", "")
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Keys: []server.Key{a}})
	const model = `{"id":"tiny@1.0.0","object":"model","created":1,"owned_by":"toxscreen"}`
	for path, want := range map[string]string{
		"/v1/models":              `200 {"object":"list","data":[` + model + `]}`,
		"/v1/models/tiny@1.0.0":   "200 " + model,
		"/v1/models/tiny%401.0.0": "200 " + model,
		"/v1/models/gpt-4":        `404 {"error":{"message":"failed to describe the model: this server has only tiny@1.0.0","type":"invalid_request_error","param":"model","code":"model_not_found"}}`,
	} {
		r := s.Get(path, "Authorization", "Bearer "+alice)
		got := regexp.MustCompile(`"created":\d{10}`).ReplaceAllString(strings.TrimSpace(r.Text()), `"created":1`)
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if r := s.Get("/v1/models"); r.Status != http.StatusUnauthorized || !strings.Contains(r.Body, `"code":"invalid_api_key"`) {
		t.Errorf("without a key: %d %s", r.Status, r.Body)
	}
}
