package config

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/rows"
)

// CheckTypes refuses types of personal data that do not exist, and in fail_on and operators those
// that are not looked for.
func (s *Settings) CheckTypes() error {
	for _, used := range []struct {
		key   string
		types []toxscreen.EntityType
		other toxscreen.EntityType // that is no type
	}{
		{"pii.types", s.PII.Types, ""},
		{"pii.fail_on", s.PIIFailOn, rows.AnyType},
		{"pii.operators", slices.Sorted(maps.Keys(s.Masking.Operators)), pii.DefaultOperator},
	} {
		for _, t := range used.types {
			if err := s.PII.Knows(t); err != nil && t != used.other {
				if used.other == rows.AnyType {
					err = fmt.Errorf("%w; any is every type", err)
				}
				return s.Wrong(used.key, err)
			}
			if len(s.PII.Types) == 0 && slices.Contains(pii.Types(), t) && !slices.Contains(pii.DefaultTypes(), t) {
				return s.Wrong(used.key, fmt.Errorf("%s is found only if it is asked for: name the types to find with --type", t))
			}
		}
	}
	return nil
}

// Complete returns the operators with their salt and their key.
func (m Masking) Complete() (pii.Operators, error) {
	salt, err := readSecret("salt", m.SaltFile)
	if err != nil {
		return nil, err
	}
	key, err := readSecret("key", m.KeyFile)
	if err != nil {
		return nil, err
	}
	salt = cmp.Or(salt, rand.Text())
	operators := pii.Operators{}
	for t, o := range m.Operators {
		switch o.Kind {
		case pii.Hash:
			o.Salt = salt
		case pii.Encrypt:
			if o.Key = key; key == "" {
				return nil, usage.Wrong("encrypt needs a key: name its file with --key-file")
			}
		case pii.Replace, pii.Redact, pii.MaskOut, pii.Keep, pii.Decrypt:
		}
		if err := o.Validate(); err != nil {
			return nil, fmt.Errorf("failed to mask: %w", err)
		}
		operators[t] = o
	}
	return operators, nil
}

// Has reports whether a type has an operator of a kind.
func (m Masking) Has(kind pii.OperatorKind) bool {
	for _, o := range m.Operators {
		if o.Kind == kind {
			return true
		}
	}
	return false
}

// readSecret reads a salt or a key, empty if there is no path. A line break at the end of the
// file does not count.
func readSecret(what, path string) (string, error) {
	const most = 4096 // bytes
	if path == "" {
		return "", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("failed to read %s %s: %w", what, path, files.Cause(err))
	}
	defer file.Close()
	secret, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("failed to read %s %s: %w", what, path, files.Cause(err))
	case len(secret) > most:
		return "", fmt.Errorf("failed to read %s %s: it has more than %d bytes", what, path, most)
	case len(bytes.TrimRight(secret, "\r\n")) == 0:
		return "", fmt.Errorf("failed to read %s %s: it is empty", what, path)
	}
	return strings.TrimRight(string(secret), "\r\n"), nil
}
