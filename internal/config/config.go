// Package config has the settings of the command line. Each is declared once, with its
// name, default, parser and flag. Their values come from flags, the environment, files and
// defaults, the strongest first:
//
//	config.AddFlags(cmd, "model", "threads")
//	…
//	s, err := config.Load(cmd)
//	fmt.Println(s.Model, s.From("model")) // default environment TOXSCREEN_MODEL
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/listen"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
)

// Settings are the values of all keys.
type Settings struct {
	screen.Settings

	OffsetUnit toxscreen.OffsetUnit
	Format     string
	JudgePrice float64 // price of a million tokens
	Serve      Serve
	Feedback   Feedback
	PIIFailOn  []toxscreen.EntityType // or rows.AnyType
	Masking    Masking

	sources []source // the weakest first
}

// Serve are the settings of the server.
type Serve struct {
	server.Config // without what is opened for it

	Communities map[string]toxscreen.Scores // thresholds by the name of the community, see package server/perspective

	Listen      string
	DebugListen string
	APIKeys     string // file; empty for none
	TLSCert     string // file; empty for none
	TLSKey      string
	As          []string // hosts that the server replaces
	LogLevel    slog.Level
	LateResults string // file, or off
}

// Address returns the address of the server with these settings, as serve prints it.
func (s *Serve) Address() string {
	switch {
	case listen.IsSocket(s.Listen):
		return s.Listen
	case s.TLSCert != "" || len(s.As) > 0:
		return "https://" + s.Listen
	}
	return "http://" + s.Listen
}

// Masking are the settings for masking personal data.
type Masking struct {
	Operators pii.Operators // without salts and keys
	SaltFile  string        // empty for none
	KeyFile   string
}

// Feedback are the settings of the feedback store.
type Feedback struct {
	File     string // empty: in the user's configuration folder; or off
	KeepText bool
	MaxBytes int64
}

// source is one origin of values.
type source struct {
	kind   string            // default, file, environment or flag
	file   string            // path, for a file
	values map[string]string // by the name of the key
}

// The kinds of sources, the weakest first.
const (
	fromDefault     = "default"
	fromFile        = "file"
	fromEnvironment = "environment"
	fromFlag        = "flag"
)

// from names the source of a key's value: "flag --model", "environment TOXSCREEN_MODEL",
// "file …" or "default".
func (s source) from(k key) string {
	switch s.kind {
	case fromFile:
		return "file " + s.file
	case fromEnvironment:
		return "environment " + k.env()
	case fromFlag:
		if attribute, ok := strings.CutPrefix(k.name, thresholdPrefix); ok {
			return "flag --threshold " + attribute
		}
		return "flag --" + k.flag()
	}
	return fromDefault
}

// source returns the strongest source with a value for a key.
func (s *Settings) source(name string) source {
	for _, one := range slices.Backward(s.sources) {
		if _, ok := one.values[name]; ok {
			return one
		}
	}
	panic("config: there is no key " + name) // cannot happen: every key has a default
}

// Value returns the value of a key as text. It panics if there is no such key.
func (s *Settings) Value(name string) string { return s.source(name).values[name] }

// From names the source of a key's value, such as "flag --model", "environment
// TOXSCREEN_MODEL", "file toxscreen.yaml" or "default".
func (s *Settings) From(name string) string {
	k, _ := keyOf(name)
	return s.source(name).from(k)
}

// ByFlag reports whether the value of a key comes from a flag.
func (s *Settings) ByFlag(name string) bool { return s.source(name).kind == fromFlag }

// IsSet reports whether the value of a key comes from elsewhere than the default.
func (s *Settings) IsSet(name string) bool { return s.source(name).kind != fromDefault }

// Files returns the configuration files that were read, the strongest first.
func (s *Settings) Files() []string {
	read := []string{}
	for _, one := range slices.Backward(s.sources) {
		if one.kind == fromFile {
			read = append(read, one.file)
		}
	}
	return read
}

// Shown is a setting in the form of `config show` and `doctor`.
type Shown struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// All returns all settings. An empty value is replaced by words for its meaning.
func (s *Settings) All() []Shown {
	all := make([]Shown, len(keys))
	for i, k := range keys {
		value := s.Value(k.name)
		if value == "" && k.unset != nil {
			value = k.unset(s)
		}
		all[i] = Shown{k.name, value, s.From(k.name)}
	}
	return all
}

// Limits returns the user's settings that scores are compared with. It cannot tell for
// which version of a model the user chose them.
func (s *Settings) Limits() []Shown {
	found := []Shown{}
	for _, k := range keys {
		compared := k.compared || k.name == "fail_on" && s.FailOn.Scores.Len() > 0
		if value := s.Value(k.name); compared && value != k.fallback {
			found = append(found, Shown{k.name, value, s.From(k.name)})
		}
	}
	return found
}

// Load reads the settings for a command. It ignores flags without a key, which the commands
// read themselves. The error names the key and the source.
func Load(cmd *cobra.Command) (*Settings, error) {
	s := defaults()
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	environment, err := readEnv()
	if err != nil {
		return nil, err
	}
	given, err := readFlags(cmd.Flags())
	if err != nil {
		return nil, err
	}
	s.sources = append(s.sources, source{kind: fromEnvironment, values: environment}, source{kind: fromFlag, values: given})
	for _, k := range keys {
		if !s.IsSet(k.name) {
			continue
		}
		if err := k.parse(s, s.Value(k.name)); err != nil {
			return nil, s.Wrong(k.name, err)
		}
	}
	if not, _ := cmd.Flags().GetBool("no-judge"); not {
		s.NoJudge = "--no-judge was given"
	}
	if IsMastra(s.Format) && !offersMastra(cmd) {
		return nil, usage.Wrong("format %s from %s: only judge has it; here it must be text or json", s.Format, s.From("format"))
	}
	return s, nil
}

// Run returns the RunE of a command that needs the settings: it reads them, then calls run.
func Run(run func(cmd *cobra.Command, s *Settings, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := Load(cmd)
		if err != nil {
			return err
		}
		return run(cmd, s, args)
	}
}

// Wrong returns the error for the value of a key. For a value from a flag, it is a
// [usage.Error].
func (s *Settings) Wrong(name string, err error) error {
	if s.ByFlag(name) {
		return usage.Wrong("%s: %w", strings.TrimPrefix(s.From(name), "flag "), err)
	}
	return fmt.Errorf("failed to read configuration: %s from %s: %w", name, s.From(name), err)
}

// LoadOrDefault reads the settings for a command that works without them. If they are
// wrong, it returns the defaults with the format flag, and wrong says why. err is a
// [usage.Error].
func LoadOrDefault(cmd *cobra.Command) (s *Settings, wrong, err error) {
	s, wrong = Load(cmd)
	if wrong == nil {
		return s, nil, nil
	}
	if _, ok := errors.AsType[usage.Error](wrong); ok {
		return nil, nil, wrong
	}
	s = defaults()
	if cmd.Flags().Lookup("format").Value.String() == "json" {
		s.Format = "json"
	}
	return s, wrong, nil
}

// defaults returns the settings of an empty configuration.
func defaults() *Settings {
	s, values := &Settings{}, map[string]string{}
	for _, k := range keys {
		values[k.name] = k.fallback
		if err := k.parse(s, k.fallback); err != nil {
			panic(err) // a default is invalid for its own key
		}
	}
	s.sources = []source{{kind: fromDefault, values: values}}
	return s
}

// FeedbackFile returns the path of the file that stores feedback, empty if feedback is off.
func (s *Settings) FeedbackFile() (string, error) {
	return fileOr(s.Feedback.File, files.InConfig, "feedback.db", "--feedback")
}

// LateResultsFile returns the path of the file that stores late results, empty if they are
// off.
func (s *Settings) LateResultsFile() (string, error) {
	return fileOr(s.Serve.LateResults, files.InCache, "results.db", "--late-results")
}

// fileOr returns the path for a file setting: empty if the setting is off, and, if it is
// not set, the file with a name in a folder of the user, which in returns.
func fileOr(setting string, in func(name string) (string, error), name, flag string) (string, error) {
	switch setting {
	case Off:
		return "", nil
	case "":
		file, err := in(name)
		if err != nil {
			err = fmt.Errorf("%w; name a file with %s, or off", err, flag)
		}
		return file, err
	}
	return setting, nil
}
