package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
)

// native is the interface of this module's own.
var native = api{name: "native", fail: failNative}

// nativeRoutes adds the routes of the native interface.
func (s *Server) nativeRoutes(mux *http.ServeMux) {
	s.handle(mux, "POST /v1/score", native, s.nativeScore)
}

// nativeError is the body of a native failure.
type nativeError struct {
	Error struct {
		Code    code   `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func failNative(w http.ResponseWriter, _ *http.Request, f *failure) {
	var body nativeError
	body.Error.Code, body.Error.Message = f.code, f.message
	writeJSON(w, f.status(), body)
}

// writeJSON answers with a value. It leaves <, > and & as they are: texts for
// people are full of them.
func writeJSON(w http.ResponseWriter, status int, value any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // a type of ours that cannot be JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever is gone misses nothing
}

// scoreRequest is the body of POST /v1/score.
type scoreRequest struct {
	Text *string `json:"text"`
}

func (s *Server) nativeScore(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	var in scoreRequest
	if err := decode(data, &in); err != nil {
		return err
	}
	if in.Text == nil {
		return fail(invalidRequest, `failed to read the request: it has no text: send {"text":"…"}`)
	}
	result, err := s.score(r.Context(), request{text: *in.Text})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, result.In(toxscreen.Bytes, *in.Text))
	return nil
}

// maxDepth is how deep the JSON of a request may be nested: nothing that is
// documented gets to 10.
const maxDepth = 64

// decode reads a request's JSON strictly: a misspelt field would go unnoticed.
func decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return fail(invalidRequest, "failed to read the request: it is not valid UTF-8, which JSON must be")
	}
	if tooDeep(data) {
		return fail(invalidRequest, "failed to read the request: its JSON is nested deeper than %d", maxDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return fail(invalidRequest, "failed to read the request: it has no body")
		}
		return fail(invalidRequest, "failed to read the request: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fail(invalidRequest, "failed to read the request: there is something behind its JSON")
	}
	return nil
}

// tooDeep tells whether JSON is nested deeper than maxDepth.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
