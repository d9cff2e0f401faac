package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/models"
)

// settings is what the flags, the environment, the configuration files and
// the defaults say together.
type settings struct {
	Model       string
	Provider    classifier.Provider
	Threads     int
	ONNXRuntime string
	MaxBytes    int
	OffsetUnit  toxscreen.OffsetUnit
	Format      string
	FailOn      limits
	Thresholds  toxscreen.Scores
	Calibration string // file with fusion parameters; empty for the embedded ones
	Judge       judgeSettings
	Serve       serveSettings
	Feedback    feedbackSettings

	values map[string]setting // by key
	files  []string           // configuration files that were read, the strongest first
}

// setting is the value of one key and who gave it.
type setting struct {
	text string
	from string // "flag --model", "environment TOXSCREEN_MODEL", "file …" or "default"
	flag bool   // whether it is a flag
}

// key is one thing that can be configured.
type key struct {
	name     string // in a file; the flag has dashes for underscores
	fallback string
	parse    func(*settings, string) error
}

const envPrefix = "TOXSCREEN_"

// env returns the environment variable of the key.
func (k key) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// keys are all there are, in the order of `config show`.
var keys = func() []key {
	all := []key{
		{"model", models.DefaultName, func(s *settings, v string) error {
			s.Model = v
			return nil
		}},
		{"provider", string(classifier.CPU), func(s *settings, v string) (err error) {
			s.Provider, err = classifier.ParseProvider(v)
			return err
		}},
		{"threads", "0", func(s *settings, v string) (err error) {
			s.Threads, err = parseInt(v, 0, 1024)
			return err
		}},
		{"onnxruntime", "", func(s *settings, v string) error {
			s.ONNXRuntime = v
			return nil
		}},
		{"max_bytes", strconv.Itoa(toxscreen.DefaultMaxBytes), func(s *settings, v string) (err error) {
			s.MaxBytes, err = parseInt(v, 1, 1<<30)
			return err
		}},
		{"offset_unit", string(toxscreen.Bytes), func(s *settings, v string) (err error) {
			s.OffsetUnit, err = toxscreen.ParseOffsetUnit(v)
			return err
		}},
		{"format", "text", func(s *settings, v string) error {
			if v != "text" && v != "json" && !isMastra(v) {
				return fmt.Errorf("unknown format %q: it must be text or json, or mastra or mastra-measure for judge", v)
			}
			s.Format = v
			return nil
		}},
		{"calibration", "", func(s *settings, v string) error {
			s.Calibration = v
			return nil
		}},
		{"fail_on", "", func(s *settings, v string) (err error) {
			s.FailOn, err = parseLimits(v)
			return err
		}},
	}
	all = append(all, judgeKeys...)
	all = append(all, serveKeys...)
	all = append(all, feedbackKeys...)
	for _, a := range toxscreen.Attributes() {
		all = append(all, key{"thresholds." + a.String(), "", func(s *settings, v string) error {
			if v == "" {
				return nil // the model's
			}
			threshold, err := parseProbability(v)
			if err == nil {
				s.Thresholds.Set(a, threshold)
			}
			return err
		}})
	}
	return all
}()

// configFile is the name of a configuration file.
const configFile = "toxscreen.yaml"

// systemConfig is the folder of the configuration for all users.
var systemConfig = "/etc/toxscreen"

// configFiles returns where configuration is looked for, the strongest first.
func configFiles() []string {
	files := []string{configFile}
	if user, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(user, "toxscreen", configFile))
	}
	return append(files, filepath.Join(systemConfig, configFile))
}

// source is one place that settings come from, with its values by key.
type source struct {
	from   func(key) string
	values map[string]string
	flags  bool
}

// loadSettings reads all configuration. The flags of a command that are none
// of the keys are its own business.
func loadSettings(cmd *cobra.Command) (*settings, error) {
	s := &settings{values: map[string]setting{}}
	defaults := source{from: func(key) string { return "default" }, values: map[string]string{}}
	for _, k := range keys {
		defaults.values[k.name] = k.fallback
	}
	sources := []source{defaults}
	for _, path := range slices.Backward(configFiles()) {
		values, err := readConfig(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("failed to read configuration: %s: %w", path, err)
		}
		sources = append(sources, source{from: func(key) string { return "file " + path }, values: values})
		s.files = slices.Insert(s.files, 0, path)
	}
	fromEnv, err := readEnv()
	if err != nil {
		return nil, err
	}
	sources = append(sources, source{from: func(k key) string { return "environment " + k.env() }, values: fromEnv})
	fromFlags, err := readFlags(cmd.Flags())
	if err != nil {
		return nil, err
	}
	sources = append(sources, source{from: flagOf, values: fromFlags, flags: true})

	merged := koanf.New(".")
	for _, source := range sources {
		flat := map[string]any{}
		for _, k := range keys {
			if v, ok := source.values[k.name]; ok {
				flat[k.name] = v
				s.values[k.name] = setting{v, source.from(k), source.flags}
			}
		}
		if err := merged.Load(confmap.Provider(flat, "."), nil); err != nil {
			return nil, fmt.Errorf("failed to merge configuration: %w", err)
		}
	}
	for _, k := range keys {
		if err := k.parse(s, merged.String(k.name)); err != nil {
			given := s.values[k.name]
			if given.flag {
				return nil, wrongUsage("%s: %w", strings.TrimPrefix(given.from, "flag "), err)
			}
			return nil, fmt.Errorf("failed to read configuration: %s from %s: %w", k.name, given.from, err)
		}
	}
	if isMastra(s.Format) && cmd.Name() != "judge" {
		return nil, wrongUsage("format %s from %s: only judge has it; here it must be text or json", s.Format, s.values["format"].from)
	}
	return s, nil
}

func flagOf(k key) string {
	if attribute, ok := strings.CutPrefix(k.name, "thresholds."); ok {
		return "flag --threshold " + attribute
	}
	return "flag --" + strings.ReplaceAll(k.name, "_", "-")
}

// readConfig returns the values of a configuration file by key. Paths in it
// are taken from the folder that it lies in.
func readConfig(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tree, err := yaml.Parser().Unmarshal(data)
	if err != nil {
		return nil, err
	}
	file := koanf.New(".")
	if err := file.Load(confmap.Provider(tree, "."), nil); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for name, value := range file.All() {
		if err := knownKey(name); err != nil {
			return nil, err
		}
		if values[name], err = textOf(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if values["onnxruntime"] != "" && path == configFile {
		// Whoever unpacks an archive and scores a text in it has not agreed
		// to run a library from it.
		return nil, errors.New("onnxruntime: a file in the working folder must not name a library, which is a program; " +
			"put the key into the user's configuration, use --onnxruntime or " + classifier.LibraryEnv)
	}
	if values["judge_host"] != "" && path == configFile {
		// Nor has whoever does so agreed to send the text somewhere.
		return nil, errors.New("judge_host: a file in the working folder must not say where texts are sent; " +
			"put the key into the user's configuration, or use --judge-host or OLLAMA_HOST")
	}
	for _, name := range []string{"model", "onnxruntime", "calibration", "judge_rubric", "judge_cache", "feedback", "api_keys", "tls_cert", "tls_key", "late_results"} {
		// A name of a rubric of ours may have a slash, but no ending.
		if name == "judge_rubric" && filepath.Ext(values[name]) == "" {
			continue
		}
		if v := values[name]; strings.ContainsAny(v, `/`+string(filepath.Separator)) && !filepath.IsAbs(v) {
			values[name] = filepath.Join(filepath.Dir(path), v)
			if path == configFile {
				values[name] = "." + string(filepath.Separator) + values[name] // it stays a path
			}
		}
	}
	return values, nil
}

func knownKey(name string) error {
	var names []string
	for _, k := range keys {
		if k.name == name {
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("unknown key %q: the nearest known one is %s", name, nearest(name, names))
}

// textOf returns a value of a file as the environment would have given it.
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
	return "", fmt.Errorf("a %T makes no sense here", value)
}

// readEnv returns the values of the environment by key.
func readEnv() (map[string]string, error) {
	byEnv, names := map[string]string{}, []string{}
	for _, k := range keys {
		byEnv[k.env()] = k.name
		names = append(names, k.env())
	}
	values := map[string]string{}
	var unknown error
	provider := env.Provider("", env.Opt{Prefix: envPrefix, TransformFunc: func(name, value string) (string, any) {
		if k, ok := byEnv[name]; ok {
			values[k] = value
		} else {
			unknown = fmt.Errorf("failed to read configuration: unknown environment variable %s: the nearest known one is %s", name, nearest(name, names))
		}
		return "", nil
	}})
	if _, err := provider.Read(); err != nil {
		return nil, err
	}
	return values, unknown
}

// readFlags returns the values of those flags that were given, by key.
func readFlags(flags *pflag.FlagSet) (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		switch name := strings.ReplaceAll(f.Name, "-", "_"); {
		case name == "threshold" && many:
			for _, given := range list.GetSlice() {
				attribute, value, ok := strings.Cut(given, "=")
				if _, err := toxscreen.ParseAttribute(attribute); err != nil {
					wrong = wrongUsage("--threshold %s: %w", given, err)
				} else if !ok || value == "" {
					wrong = wrongUsage("--threshold %s: it must be like toxicity=0.7", given)
				}
				values["thresholds."+attribute] = value
			}
		case knownKey(name) == nil && many:
			values[name] = strings.Join(list.GetSlice(), ",")
		case knownKey(name) == nil:
			values[name] = f.Value.String()
		}
	})
	return values, wrong
}

func parseInt(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number in %d..%d", text, least, most)
	}
	return n, nil
}

func parseProbability(text string) (float64, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("%q is not a number in 0..1", text)
	}
	return p, nil
}

// limits are the scores of --fail-on, by attribute.
type limits toxscreen.Scores

// parseLimits reads numbers and ATTRIBUTE=NUMBER pairs, divided by commas. A
// number by itself is that for toxicity, which is a text's score.
func parseLimits(text string) (limits, error) {
	var found toxscreen.Scores
	if text == "" {
		return limits(found), nil
	}
	for part := range strings.SplitSeq(text, ",") {
		attribute := toxscreen.Toxicity
		name, number, named := strings.Cut(part, "=")
		if !named {
			number = name
		} else {
			var err error
			if attribute, err = toxscreen.ParseAttribute(name); err != nil {
				return limits{}, err
			}
		}
		p, err := parseProbability(number)
		if err != nil {
			return limits{}, fmt.Errorf("%w; it must be like 0.8 or threat=0.5", err)
		}
		found.Set(attribute, p)
	}
	return limits(found), nil
}

// reached tells whether any score is at or over its limit.
func (l limits) reached(score func(toxscreen.Attribute) (float64, bool)) bool {
	for a, limit := range toxscreen.Scores(l).All() {
		if s, ok := score(a); ok && s >= limit {
			return true
		}
	}
	return false
}

// The flags that set keys. A flag's default is shown in the help; whether it
// holds, the configuration decides.

func addFormatFlag(cmd *cobra.Command) {
	cmd.Flags().String("format", "text", "output format: text or json")
	_ = cmd.RegisterFlagCompletionFunc("format", oneOf("text", "json"))
}

func addModelFlags(cmd *cobra.Command) {
	cmd.Flags().StringP("model", "m", models.DefaultName, "model: default, the name of an imported one, or a folder")
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	addRuntimeFlags(cmd)
	cmd.Flags().Int("threads", 0, "texts scored side by side on the CPU; 0: one a core")
}

func addRuntimeFlags(cmd *cobra.Command) {
	cmd.Flags().String("provider", string(classifier.CPU), "where the model is computed: cpu or cuda")
	_ = cmd.RegisterFlagCompletionFunc("provider", oneOf(string(classifier.CPU), string(classifier.CUDA)))
	cmd.Flags().String("onnxruntime", "", "ONNX Runtime's library `FILE`; default: looked for, see doctor")
}

func addScoringFlags(cmd *cobra.Command) {
	addScreenerFlags(cmd)
	flags := cmd.Flags()
	flags.StringArray("fail-on", nil, "exit with 4 if a score is at or over this, like 0.8 or threat=0.5; repeatable")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", completeAttributes)
}

// addScreenerFlags adds what holds for every text that is scored.
func addScreenerFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArray("threshold", nil, "flag an attribute from this probability, like toxicity=0.7; repeatable; default: the model's")
	_ = cmd.RegisterFlagCompletionFunc("threshold", completeAttributes)
	flags.String("offset-unit", string(toxscreen.Bytes), "what the offsets of spans count: byte, utf16 or code_point")
	_ = cmd.RegisterFlagCompletionFunc("offset-unit", oneOf(string(toxscreen.Bytes), string(toxscreen.UTF16Units), string(toxscreen.CodePoints)))
	flags.Int("max-bytes", toxscreen.DefaultMaxBytes, "refuse a text of more bytes")
}

func completeAttributes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, a := range toxscreen.Attributes() {
		names = append(names, a.String()+"=")
	}
	return names, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeModels(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, err := models.UserDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	entries, err := models.List(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, cobra.ShellCompDirectiveDefault // or a folder
}

// defaultSettings is what holds where nothing is configured.
func defaultSettings() *settings {
	s := &settings{values: map[string]setting{}}
	for _, k := range keys {
		s.values[k.name] = setting{text: k.fallback, from: "default"}
		if err := k.parse(s, k.fallback); err != nil {
			panic(err) // a default that its own key refuses
		}
	}
	return s
}
