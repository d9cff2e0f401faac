package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/spelling"
)

// configNames are the names of a configuration file. A folder may have one of them.
var configNames = []string{"toxscreen.yaml", "toxscreen.yml"}

// systemConfig is the folder of the configuration for all users.
var systemConfig = "/etc/toxscreen"

// workingFolder is the folder of the configuration of a project.
const workingFolder = "."

// configFolders returns the folders that may have a configuration file, the strongest
// first.
func configFolders() []string {
	folders := []string{workingFolder}
	if user, err := os.UserConfigDir(); err == nil {
		folders = append(folders, filepath.Join(user, "toxscreen"))
	}
	return append(folders, systemConfig)
}

// configFiles returns the possible configuration files, by their first name, the
// strongest first.
func configFiles() []string {
	files := configFolders()
	for i, folder := range files {
		files[i] = filepath.Join(folder, configNames[0])
	}
	return files
}

// configFile returns the configuration file of a folder, empty if there is none.
func configFile(folder string) (string, error) {
	found := ""
	for _, name := range configNames {
		path := filepath.Join(folder, name)
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("failed to read configuration: %w", err)
		case found != "":
			return "", fmt.Errorf("failed to read configuration: %s and %s are both there: remove one of them", found, path)
		default:
			found = path
		}
	}
	return found, nil
}

// source is one source of values: a text for each key.
type source struct {
	*koanf.Koanf

	kind string // default, file, environment or flag
	file string // path, for a file
}

// The kinds of sources.
const (
	fromDefault     = "default"
	fromFile        = "file"
	fromEnvironment = "environment"
	fromFlag        = "flag"
)

// newSource returns a source of values.
func newSource(kind, file string, values map[string]any) (source, error) {
	s := source{Koanf: koanf.New("."), kind: kind, file: file}
	return s, s.Load(confmap.Provider(values, "."), nil)
}

// from says where the value of a key comes from: "flag --model", "environment
// TOXSCREEN_MODEL", "file …" or "default".
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

// source returns the strongest source that has a key.
func (s *settings) source(name string) source {
	for _, one := range slices.Backward(s.sources) {
		if one.Exists(name) {
			return one
		}
	}
	panic("toxscreen: there is no key " + name) // cannot happen: every key has a default
}

// value returns the text of a key's value.
func (s *settings) value(name string) string { return s.source(name).String(name) }

// from says where the value of a key comes from.
func (s *settings) from(name string) string {
	k, _ := keyOf(name)
	return s.source(name).from(k)
}

// byFlag reports whether the value of a key comes from a flag.
func (s *settings) byFlag(name string) bool { return s.source(name).kind == fromFlag }

// files returns the configuration files that were read, the strongest first.
func (s *settings) files() []string {
	read := []string{}
	for _, one := range slices.Backward(s.sources) {
		if one.kind == fromFile {
			read = append(read, one.file)
		}
	}
	return read
}

// loadSettings reads the whole configuration. It ignores flags that set no key:
// the commands read those.
func loadSettings(cmd *cobra.Command) (*settings, error) {
	s := defaultSettings()
	for _, folder := range slices.Backward(configFolders()) {
		path, err := configFile(folder)
		if err != nil {
			return nil, err
		}
		if path == "" {
			continue
		}
		values, err := readConfig(path)
		if err == nil {
			err = s.add(fromFile, path, values)
		}
		if err != nil {
			return nil, fmt.Errorf("failed to read configuration: %s: %w", path, err)
		}
	}
	values, err := readEnv()
	if err == nil {
		err = s.add(fromEnvironment, "", values)
	}
	if err != nil {
		return nil, err
	}
	if values, err = readFlags(cmd.Flags()); err == nil {
		err = s.add(fromFlag, "", values)
	}
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		from := s.source(k.name)
		if from.kind == fromDefault {
			continue
		}
		if err := k.parse(s, from.String(k.name)); err != nil {
			return nil, s.wrong(k.name, err)
		}
	}
	if not, _ := cmd.Flags().GetBool("no-judge"); not {
		s.NoJudge = "--no-judge was given"
	}
	if isMastra(s.Format) && cmd.Name() != "judge" {
		return nil, wrongUsage("format %s from %s: only judge has it; here it must be text or json", s.Format, s.from("format"))
	}
	return s, nil
}

// wrong returns the error for a value of a key: wrong usage if it comes from a flag.
func (s *settings) wrong(name string, err error) error {
	if s.byFlag(name) {
		return wrongUsage("%s: %w", strings.TrimPrefix(s.from(name), "flag "), err)
	}
	return fmt.Errorf("failed to read configuration: %s from %s: %w", name, s.from(name), err)
}

// loadOrDefault reads the configuration for a command that works without: if it is
// wrong, it returns the defaults and the format flag, and why. The error is wrong usage.
func loadOrDefault(cmd *cobra.Command) (s *settings, wrong, err error) {
	s, wrong = loadSettings(cmd)
	if wrong == nil {
		return s, nil, nil
	}
	if _, usage := errors.AsType[exit](wrong); usage {
		return nil, nil, wrong
	}
	s = defaultSettings()
	if cmd.Flags().Lookup("format").Value.String() == "json" {
		s.Format = "json"
	}
	return s, wrong, nil
}

// add adds a source of values that override earlier ones.
func (s *settings) add(kind, file string, values map[string]any) error {
	one, err := newSource(kind, file, values)
	s.sources = append(s.sources, one)
	return err
}

// defaultSettings returns the settings without any configuration.
func defaultSettings() *settings {
	s, values := &settings{}, map[string]any{}
	for _, k := range keys {
		values[k.name] = k.fallback
	}
	err := s.add(fromDefault, "", values)
	for _, k := range keys {
		err = errors.Join(err, k.parse(s, k.fallback))
	}
	if err != nil {
		panic(err) // a default is invalid for its own key
	}
	return s
}

// readConfig returns the values of a configuration file by key. Paths in it are
// relative to its folder.
func readConfig(path string) (map[string]any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tree, err := yaml.Parser().Unmarshal(data)
	if err != nil {
		return nil, err
	}
	file, err := newSource(fromFile, path, tree)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for name, value := range file.All() {
		k, known := keyOf(name)
		if !known {
			return nil, unknownKey(name)
		}
		text, err := textOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if refused := k.refused(); refused != nil && text != "" && filepath.Dir(path) == workingFolder {
			return nil, refused
		}
		values[name] = k.in(path, text)
	}
	return values, nil
}

func unknownKey(name string) error {
	return fmt.Errorf("unknown key %q: the nearest known one is %s", name, nearestKey(name).name)
}

// nearestKey returns the key whose flag other programs call so, or the one with the most
// similar name.
func nearestKey(unknown string) key {
	for _, other := range otherNames[strings.ReplaceAll(unknown, "_", "-")] {
		for _, k := range keys {
			if k.flag() == flagName(other) {
				return k
			}
		}
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	known, _ := spelling.Nearest(unknown, names)
	nearest, _ := keyOf(known)
	return nearest
}

// textOf returns a value of a file in the form that the environment uses.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", errors.New("the key has no value")
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int, bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			var err error
			if parts[i], err = textOf(part); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("a value of type %T is not allowed here", value)
}

// ofKubernetes matches the variables that Kubernetes and Docker set for a service or a
// link whose name begins with toxscreen, like TOXSCREEN_PORT_8080_TCP_ADDR. No key has
// such a name.
var ofKubernetes = regexp.MustCompile(`^TOXSCREEN_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// portOfKubernetes has an address like tcp://10.0.0.1:8080 if Kubernetes sets it. A user
// who sets it to a number means the port to listen on.
const portOfKubernetes = "TOXSCREEN_PORT"

// readEnv returns the values of the environment by key.
func readEnv() (map[string]any, error) {
	byEnv := map[string]string{}
	for _, k := range keys {
		byEnv[k.env()] = k.name
	}
	values := map[string]any{}
	var unknown error
	provider := env.Provider("", env.Opt{Prefix: envPrefix, TransformFunc: func(name, value string) (string, any) {
		if k, ok := byEnv[name]; ok {
			values[k] = value
		} else if !ofKubernetes.MatchString(name) || name == portOfKubernetes && !strings.Contains(value, "://") {
			near := nearestKey(strings.ToLower(strings.TrimPrefix(name, envPrefix)))
			unknown = fmt.Errorf("failed to read configuration: unknown environment variable %s: the nearest known one is %s", name, near.env())
		}
		return "", nil
	}})
	if _, err := provider.Read(); err != nil {
		return nil, err
	}
	return values, unknown
}

// readFlags returns the values of the given flags by key.
func readFlags(flags *pflag.FlagSet) (map[string]any, error) {
	values := map[string]any{}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if thresholds, ok := f.Value.(pflag.SliceValue); ok && f.Name == "threshold" {
			for _, given := range thresholds.GetSlice() {
				attribute, value, ok := strings.Cut(withAttribute(given), "=")
				if _, err := toxscreen.ParseAttribute(attribute); err != nil {
					wrong = wrongUsage("--threshold %s: %w", given, err)
				} else if !ok || value == "" {
					wrong = wrongUsage("--threshold %s: it must be like 0.7 or threat=0.5", given)
				}
				values[thresholdPrefix+attribute] = value
			}
		}
		for _, k := range keys {
			if k.off == f.Name && f.Value.String() == "true" {
				values[k.name] = off
			}
		}
		if value, ok := f.Value.(*flagValue); ok {
			values[value.key] = value.String()
		}
	})
	return values, wrong
}
