package plainjson_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

type embedded struct {
	Name string   `json:"name"`
	List []string `json:"list"`
}

// Embedded is embedded with its name, as encoding/json has it in its errors.
type Embedded embedded

type request struct {
	Embedded

	Yes   bool     `json:"yes"`
	Half  *float64 `json:"half"`
	Count int      `json:"count"`
}

// Errors are for people who do not know that a server is written in Go.
func TestErrorsNameTheFieldAndWhatItMustBe(t *testing.T) {
	for data, want := range map[string]string{
		``:                "it is empty: there must be a JSON object",
		`{"yes": tru`:     "its JSON breaks off",
		`{} {}`:           "there is more data after its JSON",
		`{"yes": nope}`:   "invalid character 'o' in literal null (expecting 'u')",
		`[]`:              "expected an object, found a list",
		`{"yes": "true"}`: "yes: expected true or false, found a string",
		`{"name": 7}`:     "name: expected a string, found a number",
		`{"list": "a"}`:   "list: expected a list, found a string",
		`{"list": [{}]}`:  "list: expected a string, found an object",
		`{"half": true}`:  "half: expected a number, found true or false",
		`{"half": 1e999}`: "half: expected a number, found 1e999",
		`{"count": 1.5}`:  "count: expected a whole number, found 1.5",
		`{"other": 1}`:    `unknown field "other"`,
	} {
		var r request
		if err := plainjson.UnmarshalStrict([]byte(data), &r); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

// Programs on Windows write a byte order mark before JSON.
func TestAByteOrderMarkIsIgnored(t *testing.T) {
	var r request
	if err := plainjson.Unmarshal([]byte("\ufeff{\"name\": \"\ufeffa\", \"other\": 1}"), &r); err != nil || r.Name != "\ufeffa" {
		t.Errorf("%v %q", err, r.Name)
	}
}
