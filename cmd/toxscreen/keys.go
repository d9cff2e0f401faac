package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
)

// settings are the values of the configuration.
type settings struct {
	screen.Settings

	OffsetUnit toxscreen.OffsetUnit
	Format     string
	JudgePrice float64 // per million tokens
	Serve      serveSettings
	Feedback   feedbackSettings
	PIIFailOn  []toxscreen.EntityType // or rows.AnyType
	Masking    maskSettings

	sources []source // the weakest first
}

// serveSettings are the settings of the server.
type serveSettings struct {
	Listen       string
	DebugListen  string
	External     *url.URL
	Hosts        []string // further names of the server
	Origins      []string // of pages that may ask
	APIKeys      string   // file; empty for none
	TLSCert      string   // file; empty for none
	TLSKey       string
	As           []string // hosts that the server replaces
	JudgeWait    map[string]time.Duration
	OnLanguage   server.LanguageAction // that the model does not know
	IgnoreImages bool
	QueueWait    time.Duration
	Timeout      time.Duration // of a request
	MaxTexts     int
	Communities  map[string]toxscreen.Scores
	LogLevel     slog.Level
	LateResults  string // file, or off
}

// maskSettings are the settings for masking personal data.
type maskSettings struct {
	Operators pii.Operators // without salts and keys
	SaltFile  string        // empty for none
	KeyFile   string
}

// feedbackSettings are the settings of the feedback store.
type feedbackSettings struct {
	File     string // empty: in the user's configuration folder; or off
	KeepText bool
	MaxBytes int64
}

// off is the value of a file setting that turns the file off.
const off = screen.NoCache

// key is one setting. It is declared here and nowhere else: its flag, environment
// variable, default and line in `config show` are derived from it.
type key struct {
	name     string // in a file; the flag has dashes for underscores
	fallback string
	help     string // of the flag; empty if only files and the environment have the key
	parse    func(s *settings, value string) error

	option string // the name of the flag; default: the key's, with dashes for underscores
	off    string // the flag without a value that sets the key to off, in place of its own flag
	kind   string // of the flag's value, for the help; default: string
	short  string // the flag's other name, of one letter
	// path reports whether a value is a path; nil: none is. A relative path in a file
	// is relative to the file's folder.
	path func(value string) bool
	// unset returns what an empty value means, for `config show`; nil: none.
	unset    func(s *settings) string
	complete cobra.CompletionFunc // of the flag's value
	group    flagGroup            // of the flag, in the help
}

// The kinds of flags that are not strings.
const (
	boolean  = "bool"
	integer  = "int"
	repeated = "stringArray" // repeatable; commas join the values
	list     = "stringSlice" // likewise, and one flag may contain commas too
)

// keys are all settings, in the order of `config show`.
var keys = slices.Concat(
	grouped(modelGroup, modelKeys), grouped(ioGroup, textKeys), grouped(decisionGroup, decisionKeys), grouped(judgeGroup, judgeKeys),
	grouped(piiGroup, piiKeys), grouped(maskGroup, maskKeys),
	grouped(serverGroup, accessKeys), grouped(limitGroup, serveKeys), grouped(storageGroup, storageKeys), grouped(decisionGroup, thresholdKeys()),
)

// grouped puts keys into a group of flags.
func grouped(group flagGroup, keys []key) []key {
	for i := range keys {
		keys[i].group = group
	}
	return keys
}

var modelKeys = []key{
	{name: "model", fallback: models.DefaultName, path: models.IsPath, short: "m", complete: completeModels,
		help:  "model: default, the name of an imported model, or the path of a folder, like ./mine",
		parse: text(func(s *settings) *string { return &s.Model })},
	{name: "provider", fallback: string(encoder.CPU), complete: oneOf(string(encoder.CPU), string(encoder.CUDA)),
		help:  "where the model runs: cpu or cuda",
		parse: parsed(encoder.ParseProvider, func(s *settings) *encoder.Provider { return &s.Provider })},
	{name: "threads", fallback: "0", kind: integer,
		help:  "texts scored in parallel on the CPU; 0: one per core",
		parse: whole(0, 1024, func(s *settings) *int { return &s.Threads })},
	{name: "onnxruntime", path: always, unset: foundLibrary,
		help:  "`FILE` of the ONNX Runtime library; default: searched for, see doctor",
		parse: text(func(s *settings) *string { return &s.Library })},
	{name: "exits", fallback: "on", off: "full",
		parse: func(s *settings, v string) error {
			if v != "on" && v != off {
				return fmt.Errorf("%q is neither on nor off", v)
			}
			s.Full = v == off
			return nil
		}},
}

var textKeys = []key{
	{name: "language",
		help:  "`CODE` of the language that all texts are in, like en; default: detected",
		parse: optional(parsed(toxscreen.ParseLanguage, func(s *settings) *string { return &s.Language }))},
	{name: "max_bytes", fallback: strconv.Itoa(toxscreen.DefaultMaxBytes), kind: integer,
		help:  "refuse a text with more bytes than this",
		parse: whole(1, 1<<30, func(s *settings) *int { return &s.MaxBytes })},
	{name: "offset_unit", fallback: string(toxscreen.Bytes), complete: oneOf(string(toxscreen.Bytes), string(toxscreen.UTF16Units), string(toxscreen.CodePoints)),
		help:  "unit of offsets: byte, utf16 or code_point",
		parse: parsed(toxscreen.ParseOffsetUnit, func(s *settings) *toxscreen.OffsetUnit { return &s.OffsetUnit })},
	{name: "format", fallback: "text", complete: completeFormats,
		help: "output format: text or json",
		parse: func(s *settings, v string) error {
			if v != "text" && v != "json" && !isMastra(v) {
				return fmt.Errorf("unknown format %q: it must be text or json, or mastra or mastra-measure for judge", v)
			}
			s.Format = v
			return nil
		}},
}

var decisionKeys = []key{
	{name: "calibration", path: always, unset: means("embedded"), complete: fileOf("json"),
		help:  "`FILE` with fusion parameters from calibrate; default: the embedded ones",
		parse: text(func(s *settings) *string { return &s.Calibration })},
	{name: "fail_on", kind: repeated, complete: completeLimits,
		help:  "exit with 4 if a text reaches this `LIMIT`: flagged, a score like 0.8, or that of an attribute, like threat=0.5; repeatable",
		parse: parsed(parseLimits, func(s *settings) *toxscreen.Limits { return &s.FailOn })},
}

var judgeKeys = []key{
	{name: "judge_model",
		help:  "`NAME` of the judge's model in `ollama list`; default: no judge",
		parse: text(func(s *settings) *string { return &s.Judge.Model })},
	{name: "judge_host", unset: ollamaServer,
		help: "`ADDRESS` of the judge's Ollama server; default: OLLAMA_HOST, else 127.0.0.1:11434",
		parse: func(s *settings, v string) error {
			s.Judge.Host = v
			if v == "" {
				return nil // OLLAMA_HOST, which is read when it is needed
			}
			_, err := ollama.Address(v)
			return err
		}},
	{name: "judge_rubric", fallback: "attributes", path: judge.IsRubricFile,
		help:  "rubric of the judge: " + strings.Join(judge.Rubrics(), ", ") + ", or a YAML file",
		parse: parsed(judge.OpenRubric, func(s *settings) *judge.Rubric { return &s.Judge.Rubric })},
	{name: "judge_dialect", fallback: judge.Dialects()[0], complete: oneOf(judge.Dialects()...),
		help:  "how the judge is asked: " + strings.Join(judge.Dialects(), ", ") + "; auto: by the model's name",
		parse: parsed(judge.ParseDialect, func(s *settings) *string { return &s.Judge.Dialect })},
	{name: "judge_band", unset: means("where a verdict is worth its price"),
		help: "ask the judge about texts with a toxicity in this `BAND`, like 0.3-0.7; default: where a verdict is worth its price",
		parse: func(s *settings, v string) error {
			if v == "" {
				return nil
			}
			band, err := parseBand(v)
			s.JudgeBand = &band
			return err
		}},
	{name: "judge_trust", fallback: string(screen.TrustTested), complete: oneOf(string(screen.TrustTested), string(screen.TrustNone)),
		help:  "which judge is asked: tested, one that passed its self-test or was fitted on labelled texts, or none, every judge, whose verdicts then change no score",
		parse: parsed(screen.ParseTrustMode, func(s *settings) *screen.TrustMode { return &s.JudgeTrust })},
	{name: "judge_timeout", fallback: "1m",
		help:  "time limit for a verdict on a text",
		parse: duration(func(s *settings) *time.Duration { return &s.Judge.Timeout })},
	{name: "judge_load_timeout", fallback: "5m",
		help:  "time limit for loading the judge's model",
		parse: duration(func(s *settings) *time.Duration { return &s.Judge.LoadTimeout })},
	{name: "judge_parallel", fallback: "1", kind: integer,
		help:  "texts judged in parallel; the OLLAMA_NUM_PARALLEL of the server",
		parse: whole(1, 256, func(s *settings) *int { return &s.Judge.Parallel })},
	{name: "judge_cache", path: unlessOff, unset: standardFile(files.InCache, "verdicts.db"),
		help:  "`FILE` that stores verdicts, or off; default: in the user's cache folder",
		parse: text(func(s *settings) *string { return &s.JudgeCache })},
	{name: "judge_price", fallback: "0", kind: "float64",
		help: "price of a million tokens, to compute the cost",
		parse: func(s *settings, v string) (err error) {
			s.JudgePrice, err = strconv.ParseFloat(v, 64)
			if err != nil || !(s.JudgePrice >= 0 && s.JudgePrice <= 1e6) {
				return fmt.Errorf("%q is not a price of a million tokens", v)
			}
			return nil
		}},
}

var accessKeys = []key{
	{name: "listen", fallback: "127.0.0.1:8080",
		help:  "`ADDRESS` to listen on, HOST:PORT or unix:PATH; port 0 selects a free port",
		parse: parsed(parseAddress, func(s *settings) *string { return &s.Serve.Listen })},
	{name: "debug_listen",
		help:  "`ADDRESS` for /metrics and /debug/pprof/; default: none",
		parse: optional(parsed(parseAddress, func(s *settings) *string { return &s.Serve.DebugListen }))},
	{name: "external_url",
		help: "`URL` of the server for clients; a path in it is optional in requests",
		parse: optional(func(s *settings, v string) (err error) {
			s.Serve.External, err = url.Parse(v)
			if err != nil || s.Serve.External.Host == "" || s.Serve.External.Scheme != "http" && s.Serve.External.Scheme != "https" {
				return fmt.Errorf("%q is not an address: it must be like https://tox.example.org/screen", v)
			}
			return nil
		})},
	{name: "allow_host", kind: list,
		help:  "`HOST` name under which clients reach the server, beside the external URL's; repeatable; not needed with API keys or TLS",
		parse: parsed(parseHosts, func(s *settings) *[]string { return &s.Serve.Hosts })},
	{name: "allow_origin", kind: list,
		help:  "`ORIGIN` of pages that may use the server from a browser (CORS), like https://forum.example.org; repeatable; * is every page, and needs API keys",
		parse: parsed(parseOrigins, func(s *settings) *[]string { return &s.Serve.Origins })},
	{name: "api_keys", path: always,
		help:  "`FILE` with the API keys of clients; default: requests need no key",
		parse: text(func(s *settings) *string { return &s.Serve.APIKeys })},
	{name: "tls_cert", path: always,
		help:  "`FILE` with the certificate chain, for HTTPS",
		parse: text(func(s *settings) *string { return &s.Serve.TLSCert })},
	{name: "tls_key", path: always,
		help:  "`FILE` with the certificate's private key",
		parse: text(func(s *settings) *string { return &s.Serve.TLSKey })},
	{name: "as", kind: list,
		help:  "`HOST` that the server replaces, with a certificate of a private authority; repeatable",
		parse: optional(parsed(authority.ParseHosts, func(s *settings) *[]string { return &s.Serve.As }))},
}

var serveKeys = []key{
	{name: "judge_wait", fallback: "native=30s", kind: list,
		help:  "time that an answer waits for the judge, as `API=TIME`; repeatable; other APIs do not wait",
		parse: parsed(parseJudgeWait, func(s *settings) *map[string]time.Duration { return &s.Serve.JudgeWait })},
	{name: "on_unsupported_language", fallback: string(server.BlockLanguage),
		complete: oneOf(string(server.BlockLanguage), string(server.RefuseLanguage), string(server.WarnLanguage)),
		help:     "block, refuse or warn about a text in a language that the model does not know, where an API must say yes or no",
		parse:    parsed(server.ParseLanguageAction, func(s *settings) *server.LanguageAction { return &s.Serve.OnLanguage })},
	{name: "ignore_images", fallback: "false", kind: boolean,
		help:  "pass over images in requests, and say so in the answers; default: refuse such requests, since only text is measured",
		parse: parsed(parseBool, func(s *settings) *bool { return &s.Serve.IgnoreImages })},
	{name: "queue_wait", fallback: "2s",
		help:  "refuse a text at once if its expected wait in the queue is longer than this",
		parse: duration(func(s *settings) *time.Duration { return &s.Serve.QueueWait })},
	{name: "request_timeout", fallback: "60s",
		help:  "time limit for a request, without the time in which only the judge is missing; texts that are not done fail",
		parse: duration(func(s *settings) *time.Duration { return &s.Serve.Timeout })},
	{name: "max_texts", fallback: "1000", kind: integer,
		help:  "refuse a request with more texts than this",
		parse: whole(1, 1<<20, func(s *settings) *int { return &s.Serve.MaxTexts })},
	{name: "communities", kind: repeated,
		help:  "thresholds for a communityId, as `\"ID toxicity=0.7\"`; repeatable",
		parse: parsed(parseCommunities, func(s *settings) *map[string]toxscreen.Scores { return &s.Serve.Communities })},
}

var piiKeys = []key{
	{name: "pii.types", option: "type", kind: list, unset: means("those that are on by default"), complete: completeTypes,
		help:  "find only this `TYPE` of personal data, see pii types; repeatable; default: those that are on by default",
		parse: parsed(parseTypes, func(s *settings) *[]toxscreen.EntityType { return &s.PII.Types })},
	{name: "pii.min_score", option: "min-score", fallback: strconv.FormatFloat(pii.DefaultThreshold, 'f', -1, 64),
		help:  "the lowest score of an entity",
		parse: parsed(parseMinScore, func(s *settings) *float64 { return &s.PII.Threshold })},
	{name: "pii.regions", option: "region", kind: list, unset: func(*settings) string { return defaultRegions() },
		help:  "find the national phone numbers of this `REGION`, like US or DE; repeatable; default: " + defaultRegions(),
		parse: parsed(parseRegions, func(s *settings) *[]string { return &s.PII.Regions })},
	{name: "pii.recognizers", option: "recognizers", path: always, complete: fileOf("yaml", "yml"),
		help: "YAML `FILE` with recognizers of one's own and an allow list",
		parse: optional(func(s *settings, v string) error {
			recognizers, allow, err := screen.ReadRecognizers(v)
			s.PII.Recognizers, s.PII.Allow = recognizers, append(s.PII.Allow, allow...)
			return err
		})},
	{name: "pii.allow", option: "allow", kind: repeated,
		help: "this `TEXT` is no personal data; repeatable",
		parse: optional(func(s *settings, v string) error {
			s.PII.Allow = append(s.PII.Allow, strings.Split(v, ",")...)
			return nil
		})},
	{name: "pii.names", fallback: "on", off: "no-names",
		parse: func(s *settings, v string) error {
			if v != "on" && v != off {
				return fmt.Errorf("%q is neither on nor off", v)
			}
			s.PII.NoNames = v == off
			return nil
		}},
	{name: "pii.fail_on", option: "fail-on", kind: list, complete: completeFailOn,
		help:  "exit with 4 if this `TYPE` of personal data is found, or any; repeatable",
		parse: parsed(parseTypes, func(s *settings) *[]toxscreen.EntityType { return &s.PIIFailOn })},
}

var maskKeys = []key{
	{name: "pii.operators", option: "operator", kind: repeated, complete: completeOperators,
		help:  "mask by this operator: `[TYPE=]OPERATOR[:name=value…]`, see docs/cli.md; repeatable; default: replace; implies --mask",
		parse: parsed(parseOperators, func(s *settings) *pii.Operators { return &s.Masking.Operators })},
	{name: "pii.salt_file", option: "salt-file", path: always,
		help:  "`FILE` with the salt of the operator hash, of 16 bytes or more; default: random",
		parse: text(func(s *settings) *string { return &s.Masking.SaltFile })},
	{name: "pii.key_file", option: "key-file", path: always,
		help:  "`FILE` with the key of the operator encrypt, of 16, 24 or 32 bytes",
		parse: text(func(s *settings) *string { return &s.Masking.KeyFile })},
}

var storageKeys = []key{
	{name: "late_results", path: unlessOff, unset: standardFile(files.InCache, "results.db"),
		help:  "`FILE` that stores results whose verdict came after the answer, or off; default: in the user's cache folder",
		parse: text(func(s *settings) *string { return &s.Serve.LateResults })},
	{name: "log_level", fallback: "info", complete: oneOf("debug", "info", "warn", "error"),
		help: "log level: debug, info (each request), warn or error",
		parse: func(s *settings, v string) error {
			if err := s.Serve.LogLevel.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("%q is not a log level: it must be debug, info, warn or error", v)
			}
			return nil
		}},
	{name: "feedback", path: unlessOff, unset: standardFile(files.InConfig, "feedback.db"), complete: fileOf("db"),
		help:  "`FILE` that stores feedback, or off; default: in the user's configuration folder",
		parse: text(func(s *settings) *string { return &s.Feedback.File })},
	{name: "feedback_text", fallback: "false", kind: boolean,
		help:  "store the texts of feedback, not only their hashes",
		parse: parsed(parseBool, func(s *settings) *bool { return &s.Feedback.KeepText })},
	{name: "feedback_max_bytes", fallback: strconv.Itoa(1 << 30),
		help: "refuse feedback when its file has this many bytes",
		parse: func(s *settings, v string) error {
			most, err := parseInt(v, 1<<16, 1<<40)
			s.Feedback.MaxBytes = int64(most)
			return err
		}},
}

// thresholdKeys are the keys of the thresholds, which share one flag.
func thresholdKeys() []key {
	var all []key
	for _, a := range toxscreen.Attributes() {
		all = append(all, key{name: thresholdPrefix + a.String(), unset: modelThreshold(a), parse: optional(func(s *settings, v string) error {
			threshold, err := parseProbability(v)
			if err == nil {
				s.Thresholds.Set(a, threshold)
			}
			return err
		})})
	}
	return all
}

const thresholdPrefix = "thresholds."

// The flags that several commands have, as the keys that they set.
var (
	runtimeFlags    = []string{"provider", "onnxruntime"}
	modelFlags      = append([]string{"model", "threads"}, runtimeFlags...)
	screenerFlags   = []string{"offset_unit", "max_bytes", "language"}
	judgeFlags      = []string{"judge_model", "judge_host", "judge_rubric", "judge_dialect", "judge_timeout", "judge_load_timeout", "judge_parallel", "judge_cache"}
	finderFlags     = []string{"pii.types", "pii.min_score", "pii.regions", "pii.recognizers", "pii.allow"}
	maskFlags       = []string{"pii.operators", "pii.salt_file", "pii.key_file"}
	escalationFlags = append(append([]string{"calibration"}, judgeFlags...), "judge_band", "judge_trust")
)

// addFlags adds the flags of keys to a command.
func addFlags(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		k, _ := keyOf(name)
		f := cmd.Flags().VarPF(&flagValue{key: k.name, kind: k.kind, text: k.fallback}, k.flag(), k.short, k.help)
		if k.kind == boolean {
			f.NoOptDefVal = "true"
		}
		inGroup(cmd, k.group, k.flag())
		if k.complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(k.flag(), k.complete)
		}
	}
}

// addThresholdFlag adds the flag of all thresholds.
func addThresholdFlag(cmd *cobra.Command, fallback string) {
	cmd.Flags().StringArray("threshold", nil, "flag an attribute at or over this `SCORE`, like 0.7 for toxicity or threat=0.5; repeatable; default: "+fallback)
	inGroup(cmd, decisionGroup, "threshold")
	_ = cmd.RegisterFlagCompletionFunc("threshold", completeAttributes)
}

// flagValue is the value of a flag that sets a key. The key's parse checks it, as
// it checks values from files and the environment.
type flagValue struct {
	key   string
	kind  string
	text  string
	given bool
}

// Set implements [pflag.Value].
func (f *flagValue) Set(value string) error {
	if f.given && (f.kind == repeated || f.kind == list) {
		value = f.text + "," + value
	}
	f.text, f.given = value, true
	return nil
}

// String implements [pflag.Value].
func (f *flagValue) String() string { return f.text }

// Type implements [pflag.Value].
func (f *flagValue) Type() string {
	switch f.kind {
	case "", repeated, list: // the help calls one value of a list a string
		return "string"
	}
	return f.kind
}

// keyOf returns the key with a name.
func keyOf(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

const envPrefix = "TOXSCREEN_"

// env returns the environment variable of the key.
func (k key) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// flag returns the name of the key's flag.
func (k key) flag() string { return cmp.Or(k.off, k.option, strings.ReplaceAll(k.name, "_", "-")) }

// in returns a path in a configuration file relative to the working folder.
func (k key) in(file, value string) string {
	if k.path == nil || value == "" || !k.path(value) || filepath.IsAbs(value) {
		return value
	}
	value = filepath.Join(filepath.Dir(file), value)
	if !filepath.IsAbs(value) {
		value = "." + string(filepath.Separator) + value // it stays a path
	}
	return value
}

// Which values of a key with paths are paths.

func always(string) bool { return true }

func unlessOff(value string) bool { return value != off }

// What an empty value means.

func means(text string) func(*settings) string {
	return func(*settings) string { return text }
}

// defaultRegions are those of [pii.Settings].
func defaultRegions() string {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		panic(err) // the defaults are wrong
	}
	return strings.Join(finder.Settings().Regions, ",")
}

// typeNames returns types as texts.
func typeNames(types []toxscreen.EntityType) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return names
}

// standardFile is for a file that is in a folder of the user.
func standardFile(in func(name string) (string, error), name string) func(*settings) string {
	return func(*settings) string {
		file, _ := in(name) // without such a folder, it is needed to name a file
		return file
	}
}

func foundLibrary(s *settings) string {
	path, _ := encoder.FindLibrary("", s.Provider) // doctor says why there is none
	return path
}

func ollamaServer(*settings) string {
	address, err := ollama.Address("")
	if err != nil {
		return os.Getenv("OLLAMA_HOST")
	}
	return address.String()
}

func modelThreshold(a toxscreen.Attribute) func(*settings) string {
	return func(s *settings) string {
		folder, err := models.Resolve(s.Model)
		if err != nil {
			return ""
		}
		manifest, err := models.ReadManifest(folder.FS)
		threshold, ok := manifest.Thresholds.Get(a)
		if err != nil || !ok {
			return ""
		}
		return strconv.FormatFloat(threshold, 'f', -1, 64)
	}
}

// refused returns why a file in the working folder must not set the key: a user who
// unpacks an archive and scores a text in it did not agree to run a library from
// the archive or to send the text somewhere.
func (k key) refused() error {
	switch k.name {
	case "onnxruntime":
		return errors.New("onnxruntime: a file in the working folder must not name a library, because a library is a program; " +
			"put the key into the user's configuration, use --onnxruntime or " + encoder.LibraryEnv)
	case "judge_host":
		return errors.New("judge_host: a file in the working folder must not decide where texts are sent; " +
			"put the key into the user's configuration, or use --judge-host or OLLAMA_HOST")
	}
	return nil
}

// Parsers of values that several keys use.

func parsed[T any](parse func(string) (T, error), field func(*settings) *T) func(*settings, string) error {
	return func(s *settings, v string) (err error) {
		*field(s), err = parse(v)
		return err
	}
}

func text(field func(*settings) *string) func(*settings, string) error {
	return parsed(func(v string) (string, error) { return v, nil }, field)
}

func whole(least, most int, field func(*settings) *int) func(*settings, string) error {
	return parsed(func(v string) (int, error) { return parseInt(v, least, most) }, field)
}

func duration(field func(*settings) *time.Duration) func(*settings, string) error {
	return parsed(func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < time.Millisecond || d > 24*time.Hour {
			return 0, fmt.Errorf("%q is not a time limit: it must be like 30s or 2m", v)
		}
		return d, nil
	}, field)
}

func parseBool(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", v)
	}
	return b, nil
}

// optional is for a key whose empty value leaves the setting unchanged.
func optional(parse func(*settings, string) error) func(*settings, string) error {
	return func(s *settings, v string) error {
		if v == "" {
			return nil
		}
		return parse(s, v)
	}
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

func parseBand(text string) (toxscreen.Band, error) {
	low, high, ok := strings.Cut(text, "-")
	from, lowErr := parseProbability(low)
	to, highErr := parseProbability(high)
	if !ok || lowErr != nil || highErr != nil || from > to {
		return toxscreen.Band{}, fmt.Errorf("%q is not a band: it must be like 0.3-0.7", text)
	}
	return toxscreen.Band{Low: from, High: to}, nil
}

// flagged is the limit of --fail-on that a text reaches if it is flagged.
const flagged = "flagged"

// parseLimits reads numbers, ATTRIBUTE=NUMBER pairs and the word flagged, with commas
// between them. A number without an attribute is for toxicity, which is the score of a
// text.
func parseLimits(text string) (toxscreen.Limits, error) {
	var found toxscreen.Limits
	if text == "" {
		return found, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		switch {
		case part == flagged:
			found.Flagged = true
		case strings.HasPrefix(part, flagged+"="):
			return found, fmt.Errorf("%q is not a limit: %s takes no score, it stands for the threshold of each attribute", part, flagged)
		case !strings.Contains(withAttribute(part), "="):
			return found, fmt.Errorf("%q is not a limit: it must be %s, or like 0.8 or threat=0.5", part, flagged)
		default:
			if err := setScore(&found.Scores, withAttribute(part)); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// withAttribute returns a limit with its attribute: toxicity if it is only a number.
func withAttribute(limit string) string {
	if _, err := strconv.ParseFloat(limit, 64); err == nil {
		return toxscreen.Toxicity.String() + "=" + limit
	}
	return limit
}

// setScore reads ATTRIBUTE=NUMBER.
func setScore(s *toxscreen.Scores, text string) error {
	name, number, _ := strings.Cut(text, "=")
	a, err := toxscreen.ParseAttribute(name)
	if err != nil {
		return err
	}
	p, err := parseProbability(number)
	if err != nil {
		return fmt.Errorf("%w; it must be like 0.8 or threat=0.5", err)
	}
	s.Set(a, p)
	return nil
}

// parseTypes reads types of personal data with commas between them. Whether there is such
// a type depends on the recognizers, too.
func parseTypes(text string) ([]toxscreen.EntityType, error) {
	if text == "" {
		return nil, nil
	}
	var types []toxscreen.EntityType
	for name := range strings.SplitSeq(strings.ToUpper(text), ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("%q has an empty name", text)
		}
		types = append(types, toxscreen.EntityType(name))
	}
	return types, nil
}

// parseMinScore reads the lowest score of an entity. 0 would mean the default.
func parseMinScore(text string) (float64, error) {
	p, err := parseProbability(text)
	if err == nil && p == 0 {
		p = math.SmallestNonzeroFloat64
	}
	return p, err
}

// parseRegions reads ISO 3166 codes with commas between them.
func parseRegions(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	regions := strings.Split(strings.ToUpper(text), ",")
	for _, region := range regions {
		if len(region) != 2 || strings.Trim(region, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return nil, fmt.Errorf("%q is not a region: it must be a code of ISO 3166, like US or DE", region)
		}
	}
	return regions, nil
}

// parseOperators reads [TYPE=]OPERATOR[:name=value…] with commas between them.
func parseOperators(text string) (pii.Operators, error) {
	operators := pii.Operators{}
	if text == "" {
		return operators, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		parameters := strings.Split(part, ":")
		name, kind, typed := strings.Cut(parameters[0], "=")
		if !typed {
			name, kind = string(pii.DefaultOperator), name
		}
		o := pii.Operator{Kind: pii.OperatorKind(strings.ToLower(kind))}
		if !slices.Contains(pii.OperatorKinds(), o.Kind) {
			return nil, fmt.Errorf("unknown operator %q: it must be replace, redact, mask, hash, encrypt or keep", kind)
		}
		for _, parameter := range parameters[1:] {
			if err := setParameter(&o, parameter); err != nil {
				return nil, err
			}
		}
		t := toxscreen.EntityType(strings.ToUpper(name))
		if _, twice := operators[t]; twice {
			return nil, fmt.Errorf("there are two operators for %s", strings.Replace(string(t), string(pii.DefaultOperator), "all types", 1))
		}
		operators[t] = o
	}
	return operators, nil
}

// setParameter reads name=value of an operator.
func setParameter(o *pii.Operator, text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	of := map[string]pii.OperatorKind{
		"new_value": pii.Replace, "masking_char": pii.MaskOut, "chars_to_mask": pii.MaskOut, "from_end": pii.MaskOut, "hash_type": pii.Hash,
	}
	switch {
	case name == "salt" || name == "key":
		return fmt.Errorf("%s: secrets are in files: use --%s-file", name, name)
	case of[name] != o.Kind:
		return fmt.Errorf("%s has no parameter %q", o.Kind, name)
	}
	switch name {
	case "new_value":
		o.NewValue = &value
	case "masking_char":
		o.MaskingChar = value
	case "chars_to_mask":
		o.CharsToMask, err = parseInt(value, 1, 1<<30)
	case "from_end":
		o.FromEnd, err = strconv.ParseBool(value)
	case "hash_type":
		o.HashType = value
	}
	if err == nil && o.Kind != pii.Encrypt {
		err = o.Validate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseHosts reads host names with commas between them.
func parseHosts(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	hosts := strings.Split(strings.ToLower(text), ",")
	for _, host := range hosts {
		if host == "" || strings.ContainsAny(host, "/:*@[] ") {
			return nil, fmt.Errorf("%q is not a host name: it must be like tox.example.org, without a port", host)
		}
	}
	return hosts, nil
}

// parseOrigins reads origins with commas between them, in the form in which browsers
// send them.
func parseOrigins(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	origins := strings.Split(strings.ToLower(text), ",")
	for _, origin := range origins {
		if origin == "*" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+u.Host || u.Port() == defaultPorts[u.Scheme] && u.Port() != "" {
			return nil, fmt.Errorf("%q is not an origin: it must be like https://forum.example.org or http://localhost:3000, without a path and without the usual port", origin)
		}
	}
	return origins, nil
}

// defaultPorts are those that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// parseJudgeWait reads API=TIME pairs with commas between them.
func parseJudgeWait(text string) (map[string]time.Duration, error) {
	waits := map[string]time.Duration{}
	if text == "" {
		return waits, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		wait, err := time.ParseDuration(value)
		if err != nil || wait < 0 {
			return nil, fmt.Errorf("%q must be like perspective=2s", part)
		}
		waits[name] = wait
	}
	return waits, nil
}

// parseCommunities reads "ID ATTRIBUTE=NUMBER …" with commas between them.
func parseCommunities(text string) (map[string]toxscreen.Scores, error) {
	communities := map[string]toxscreen.Scores{}
	if text == "" {
		return communities, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		fields := strings.Fields(part)
		if len(fields) < 2 {
			return nil, fmt.Errorf("%q must be like \"Coral:news toxicity=0.7\"", part)
		}
		var thresholds toxscreen.Scores
		for _, field := range fields[1:] {
			if err := setScore(&thresholds, field); err != nil {
				return nil, err
			}
		}
		communities[fields[0]] = thresholds
	}
	return communities, nil
}

// Completions of flags.

// oneOf completes a flag with a fixed set of values.
func oneOf(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// fileOf completes the name of a file with one of the extensions.
func fileOf(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

func completeAttributes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, a := range toxscreen.Attributes() {
		names = append(names, a.String()+"=")
	}
	return names, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeLimits(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := completeAttributes(cmd, args, toComplete)
	return append([]cobra.Completion{flagged}, names...), directive
}

func completeFormats(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	formats := []cobra.Completion{"text", "json"}
	if cmd.Name() == "judge" {
		formats = append(formats, formatMastra, formatMastraMeasure)
	}
	return formats, cobra.ShellCompDirectiveNoFileComp
}

func completeTypes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return typeNames(pii.Types()), cobra.ShellCompDirectiveNoFileComp
}

func completeFailOn(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return append(typeNames(pii.Types()), "any"), cobra.ShellCompDirectiveNoFileComp
}

func completeOperators(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, k := range pii.OperatorKinds() {
		names = append(names, string(k))
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

var _ pflag.Value = (*flagValue)(nil)
