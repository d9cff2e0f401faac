package config

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/pii/scan"
	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/screen"
)

// ReadPIIFlag reads the flag of [AddPIIFlag] into the settings.
func (s *Settings) ReadPIIFlag(cmd *cobra.Command) error {
	s.WithPII, _ = cmd.Flags().GetBool("pii")
	if !s.WithPII {
		return nil
	}
	return s.CheckTypes()
}

// OpenMasker opens what masks texts. It returns nil if the flags do not ask for masking.
// The caller closes the masker.
func (s *Settings) OpenMasker(cmd *cobra.Command) (*screen.Masker, error) {
	flags := cmd.Flags()
	mask, _ := flags.GetBool("mask")
	mapping, _ := flags.GetString("mapping")
	switch {
	case flags.Changed("mapping") && mapping == "":
		return nil, usage.Wrong("--mapping: the name is empty")
	case !mask && mapping == "" && !s.ByFlag("pii.operators") && !s.ByFlag("pii.salt_file") && !s.ByFlag("pii.key_file"):
		return nil, nil //nolint:nilnil // nothing to mask is no error
	}
	switch resume, _ := flags.GetBool("resume"); {
	case s.ByFlag("pii.salt_file") && !s.Masking.Has(pii.Hash):
		return nil, usage.Wrong("--salt-file is for the operator hash: choose it with --operator hash")
	case s.ByFlag("pii.key_file") && !s.Masking.Has(pii.Encrypt):
		return nil, usage.Wrong("--key-file is for the operator encrypt: choose it with --operator encrypt")
	case flags.Changed("shard") && s.Masking.SaltFile == "" && s.Masking.Has(pii.Hash):
		return nil, usage.Wrong("--shard: the operator hash needs one salt for all shards: name its file with --salt-file")
	case resume && s.Masking.SaltFile == "" && s.Masking.Has(pii.Hash):
		return nil, usage.Wrong("--resume: the operator hash needs the salt of the interrupted run: name its file with --salt-file")
	}
	operators, err := s.Masking.Complete()
	if err != nil {
		return nil, err
	}
	return screen.OpenMasker(operators, mapping)
}

// FinderSettings returns the settings on which entities depend.
func (s *Settings) FinderSettings() ([]rows.Setting, error) {
	recognizers, err := json.Marshal([]any{s.PII.Recognizers, s.PII.Allow})
	return []rows.Setting{
		{Name: "--type", Value: s.Value("pii.types")},
		{Name: "--min-score", Value: s.Value("pii.min_score")},
		{Name: "--region", Value: s.Value("pii.regions")},
		{Name: "the recognizers and the allow list", Value: screen.Fingerprint(recognizers)},
		{Name: "pii.names", Value: s.Value("pii.names")},
	}, err
}

// CheckTypes returns an error if the settings name a type of personal data that does not
// exist, or if fail_on or operators name one that nothing looks for.
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
			if _, err := s.PII.ParseType(string(t)); err != nil && t != used.other {
				if used.other == rows.AnyType {
					err = fmt.Errorf("%w; any is every type", err)
				}
				return s.Wrong(used.key, err)
			}
			if len(s.PII.Types) == 0 && slices.ContainsFunc(pii.Kinds(), func(k scan.Kind) bool { return k.Type == t && k.OnRequest }) {
				return s.Wrong(used.key, fmt.Errorf("%s is found only if it is asked for: name the types to find with --type", t))
			}
		}
	}
	return nil
}

// Complete returns the operators with the salt and the key from their files.
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

// Has reports whether a type has an operator of the kind.
func (m Masking) Has(kind pii.OperatorKind) bool {
	for _, o := range m.Operators {
		if o.Kind == kind {
			return true
		}
	}
	return false
}

// readSecret reads a salt or a key of at most 4,096 bytes, empty if path is. A line break
// at the end of the file is left out.
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
