package plainjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// What Python writes for numbers that are none becomes null, and a text keeps its words.
func TestFinite(t *testing.T) {
	for data, want := range map[string]string{
		`{"a":NaN}`:                      `{"a":null}`,
		`[NaN, -Infinity,Infinity]`:      `[null, null,null]`,
		` NaN `:                          ` null `,
		`{"NaN":"-Infinity","a": NaN}`:   `{"NaN":"-Infinity","a": null}`,
		`{"a":"\\","b":NaN,"c":"\"NaN"}`: `{"a":"\\","b":null,"c":"\"NaN"}`,
		`{"a":-1,"b":NaN}`:               `{"a":-1,"b":null}`,
		`{"a":"NaN"}`:                    `{"a":"NaN"}`,
		`{"a":NaN`:                       `{"a":NaN`,
		`{"a":NaNs}`:                     `{"a":NaNs}`,
		`{"a":-NaN}`:                     `{"a":-NaN}`,
		`{"a":1Infinity}`:                `{"a":1Infinity}`,
		`{NaN:1}`:                        `{NaN:1}`,
		`{"a":"\`:                        `{"a":"\`,
		``:                               ``,
		"{\"a\":\"\xff NaN\",\"b\":NaN}": "{\"a\":\"\xff NaN\",\"b\":null}",
	} {
		got, found := plainjson.Finite([]byte(data))
		if string(got) != want || found != (data != want) {
			t.Errorf("%s becomes %s (%v), want %s", data, got, found, want)
		}
	}
}

// JSON stays as it is, byte for byte, and what is changed becomes JSON.
func FuzzFinite(f *testing.F) {
	for _, seed := range []string{`{"a":NaN}`, `["NaN",-Infinity]`, `{"a":"\"NaN`, `{"a\\":Infinity}`, `-`, `"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		got, found := plainjson.Finite(data)
		if !bytes.Equal(data, before) {
			t.Errorf("%q was written over", before)
		}
		if found != json.Valid(got) && !json.Valid(data) || !found && !bytes.Equal(got, data) || found && json.Valid(data) {
			t.Errorf("%q becomes %q (%v)", data, got, found)
		}
	})
}
