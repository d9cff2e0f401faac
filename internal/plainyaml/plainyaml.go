// Package plainyaml reads YAML files that people write, with errors that they understand.
package plainyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/toxscreen/toxscreen/internal/spelling"
)

// Unmarshal reads the one document of a file into a value. An empty file, an unknown key, a
// value of another kind, and a second document are errors that name the line. keys has the
// known keys of each Go type, by its name without the package, for the nearest one.
func Unmarshal(data []byte, into any, keys map[string][]string) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return readable(err, keys)
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the end of its content: a file has only one document")
	}
	return nil
}

// unknownField is an error of the YAML library for an unknown key.
var unknownField = regexp.MustCompile(`^line (\d+): field (\S+) not found in type (?:\S+\.)?(\S+)$`)

// readable turns the errors of the YAML library into sentences.
func readable(err error, keys map[string][]string) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return err
	}
	found := make([]error, len(wrong.Errors))
	for i, sentence := range wrong.Errors {
		found[i] = errors.New(sentence)
		if m := unknownField.FindStringSubmatch(sentence); m != nil {
			meant, _ := spelling.Nearest(m[2], keys[m[3]])
			found[i] = fmt.Errorf("line %s: unknown key %q: the nearest known one is %s", m[1], m[2], meant)
		}
	}
	return errors.Join(found...)
}
