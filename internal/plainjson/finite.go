package plainjson

import (
	"bytes"
	"encoding/json"
)

// Finite returns a JSON value with null in place of NaN, Infinity and -Infinity, which
// Python's json and JavaScript's relatives write and JSON does not have, and whether there
// was one. It returns other data as they are, also if they are not JSON.
func Finite(data []byte) (_ []byte, found bool) {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) || json.Valid(data) {
		return data, false
	}
	finite, quoted := make([]byte, 0, len(data)), false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case quoted && b == '\\' && i+1 < len(data):
			finite = append(finite, b)
			i++
		case b == '"':
			quoted = !quoted
		case !quoted && (b == 'N' || b == 'I' || b == '-'):
			if name := nonfinite(data[i:]); name != "" {
				finite = append(finite, "null"...)
				i += len(name) - 1
				found = true
				continue
			}
		}
		finite = append(finite, data[i])
	}
	if !found || !json.Valid(finite) {
		return data, false
	}
	return finite, true
}

// nonfinite returns the name of a number that data begin with and JSON does not have.
func nonfinite(data []byte) string {
	for _, name := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(name)) {
			return name
		}
	}
	return ""
}
