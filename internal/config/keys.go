package config

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/listen"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
)

// Off is the value of a file setting that turns the file off.
const Off = screen.NoCache

// key is one setting. This declaration is the only one: the flag, the environment variable,
// the default and the line in `config show` follow from it.
type key struct {
	name     string // in a file; the flag has dashes for underscores
	fallback string
	help     string // of the flag; empty if only files and the environment have the key
	parse    func(s *Settings, value string) error

	option string // the name of the flag; default: the key's, with dashes for underscores
	off    string // the flag without a value that sets the key to off, in place of its own flag
	kind   string // of the flag's value, for the help; default: string
	short  string // the flag's other name, of one letter
	// path reports whether a value is a path; nil if values never are. A relative path in a
	// file starts from the file's folder.
	path func(value string) bool
	// unset says in words what an empty value means, for `config show`; nil if it means
	// nothing.
	unset    func(s *Settings) string
	complete cobra.CompletionFunc // of the flag's value
	group    usage.Group          // of the flag, in the help
	compared bool                 // whether the value is compared with scores
	// foreign says what a file in the working folder must not do with the key, and where to
	// set the key instead. A user who unpacks an archive and scores a text in its folder
	// has not agreed to run a library from the archive, or to send the text to a server.
	foreign string
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
	grouped(usage.Model, modelKeys), grouped(usage.InputOutput, textKeys), grouped(usage.Decisions, decisionKeys), grouped(usage.Judge, judgeKeys),
	grouped(usage.PersonalData, piiKeys), grouped(usage.Masking, maskKeys),
	grouped(usage.Server, accessKeys), grouped(usage.Limits, serveKeys), grouped(usage.Storage, storageKeys), grouped(usage.Decisions, thresholdKeys()),
)

// grouped sets the group of the flags of keys.
func grouped(group usage.Group, keys []key) []key {
	for i := range keys {
		keys[i].group = group
	}
	return keys
}

var modelKeys = []key{
	{name: "model", fallback: models.DefaultName, path: models.IsPath, short: "m", complete: CompleteModels,
		help:  "model: default, the name of an imported model, or the path of a folder, like ./mine",
		parse: text(func(s *Settings) *string { return &s.Model })},
	{name: "provider", fallback: string(encoder.CPU), complete: OneOf(encoder.CPU, encoder.CUDA),
		help:  "where the model runs: cpu or cuda",
		parse: parsed(encoder.ParseProvider, func(s *Settings) *encoder.Provider { return &s.Provider })},
	{name: "threads", fallback: "0", kind: integer,
		help:  "texts scored in parallel on the CPU; 0: one per core",
		parse: whole(0, 1024, func(s *Settings) *int { return &s.Threads })},
	{name: "onnxruntime", path: always, unset: foundLibrary,
		foreign: "name a library, because a library is a program; put the key into the user's configuration, use --onnxruntime or " + encoder.LibraryEnv,
		help:    "`FILE` of the ONNX Runtime library; default: searched for, see doctor",
		parse:   text(func(s *Settings) *string { return &s.Library })},
	{name: "exits", fallback: "on", off: "full",
		parse: parsed(parseOff, func(s *Settings) *bool { return &s.Full })},
}

var textKeys = []key{
	{name: "language",
		help:  "`CODE` of the language that all texts are in, like en; default: detected",
		parse: optional(parsed(toxscreen.ParseLanguage, func(s *Settings) *string { return &s.Language }))},
	{name: "max_bytes", fallback: strconv.Itoa(toxscreen.DefaultMaxBytes), kind: integer,
		help:  "refuse a text with more bytes than this",
		parse: whole(1, 1<<30, func(s *Settings) *int { return &s.MaxBytes })},
	{name: "offset_unit", fallback: string(toxscreen.Bytes), complete: OneOf(toxscreen.Bytes, toxscreen.UTF16Units, toxscreen.CodePoints),
		help:  "unit of offsets: byte, utf16 or code_point",
		parse: parsed(toxscreen.ParseOffsetUnit, func(s *Settings) *toxscreen.OffsetUnit { return &s.OffsetUnit })},
	{name: "format", fallback: "text", complete: completeFormats,
		help: "output format: text or json",
		parse: func(s *Settings, v string) error {
			if v != "text" && v != "json" && !IsMastra(v) {
				return fmt.Errorf("unknown format %q: it must be text or json, or mastra or mastra-measure for judge", v)
			}
			s.Format = v
			return nil
		}},
}

var decisionKeys = []key{
	{name: "scale", fallback: string(toxscreen.GuidelineScale), complete: OneOf(toxscreen.Scales()...),
		help:  "guideline or perspective: the scale of scores and thresholds",
		parse: parsed(toxscreen.ParseScale, func(s *Settings) *toxscreen.Scale { return &s.Scale })},
	{name: "sensitivity", fallback: string(models.SensitivityMedium), complete: OneOf(models.Sensitivities()...),
		help:  "low, medium or high: which of the model's thresholds count",
		parse: parsed(models.ParseSensitivity, func(s *Settings) *models.Sensitivity { return &s.Sensitivity })},
	{name: "calibration", path: always, unset: means("embedded"), complete: fileOf("json"),
		help:  "`FILE` with fusion parameters from calibrate; default: the embedded ones",
		parse: text(func(s *Settings) *string { return &s.Calibration })},
	{name: "fail_on", kind: repeated, complete: completeLimits,
		help:  "exit with 4 if a text reaches this `LIMIT`: flagged, a score like 0.8, or that of an attribute, like threat=0.5; repeatable",
		parse: parsed(parseLimits, func(s *Settings) *toxscreen.Limits { return &s.FailOn })},
}

var judgeKeys = []key{
	{name: "judge_model",
		help:  "`NAME` of the judge's model in `ollama list`; default: no judge",
		parse: text(func(s *Settings) *string { return &s.Judge.Model })},
	{name: "judge_host", unset: ollamaServer,
		foreign: "decide where texts are sent; put the key into the user's configuration, or use --judge-host or OLLAMA_HOST",
		help:    "`ADDRESS` of the judge's Ollama server; default: OLLAMA_HOST, else 127.0.0.1:11434",
		parse: func(s *Settings, v string) error {
			s.Judge.Host = v
			if v == "" {
				return nil // OLLAMA_HOST, which is read when it is needed
			}
			_, err := ollama.Address(v)
			return err
		}},
	{name: "judge_rubric", fallback: "attributes", path: judge.IsRubricFile,
		help:  "rubric of the judge: " + strings.Join(judge.Rubrics(), ", ") + ", or a YAML file",
		parse: parsed(judge.OpenRubric, func(s *Settings) *judge.Rubric { return &s.Judge.Rubric })},
	{name: "judge_dialect", fallback: judge.Dialects()[0], complete: OneOf(judge.Dialects()...),
		help:  "how the judge is asked: " + strings.Join(judge.Dialects(), ", ") + "; auto: by the model's name",
		parse: parsed(judge.ParseDialect, func(s *Settings) *string { return &s.Judge.Dialect })},
	{name: "judge_band", compared: true, unset: means("where a verdict is worth its price"),
		help: "ask the judge about texts with a toxicity in this `BAND`, like 0.3-0.7; default: where a verdict is worth its price",
		parse: func(s *Settings, v string) error {
			if v == "" {
				return nil
			}
			band, err := ParseBand(v)
			s.JudgeBand = &band
			return err
		}},
	{name: "judge_trust", fallback: string(screen.TrustTested), complete: OneOf(screen.TrustTested, screen.TrustNone),
		help:  "which judge is asked: tested, one that passed its self-test or was fitted on labelled texts, or none, every judge, whose verdicts then change no score",
		parse: parsed(screen.ParseTrustMode, func(s *Settings) *screen.TrustMode { return &s.JudgeTrust })},
	{name: "judge_timeout", fallback: "1m",
		help:  "time limit for a verdict on a text",
		parse: duration(func(s *Settings) *time.Duration { return &s.Judge.Timeout })},
	{name: "judge_load_timeout", fallback: "5m",
		help:  "time limit for loading the judge's model",
		parse: duration(func(s *Settings) *time.Duration { return &s.Judge.LoadTimeout })},
	{name: "judge_parallel", fallback: "1", kind: integer,
		help:  "texts judged in parallel; the OLLAMA_NUM_PARALLEL of the server",
		parse: whole(1, 256, func(s *Settings) *int { return &s.Judge.Parallel })},
	{name: "judge_cache", path: unlessOff, unset: standardFile(files.InCache, "verdicts.db"),
		help:  "`FILE` that stores verdicts, or off; default: in the user's cache folder",
		parse: text(func(s *Settings) *string { return &s.JudgeCache })},
	{name: "judge_price", fallback: "0", kind: "float64",
		help: "price of a million tokens, to compute the cost",
		parse: func(s *Settings, v string) (err error) {
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
		parse: parsed(listen.Parse, func(s *Settings) *string { return &s.Serve.Listen })},
	{name: "debug_listen",
		help:  "`ADDRESS` for /metrics and /debug/pprof/; default: none",
		parse: optional(parsed(listen.Parse, func(s *Settings) *string { return &s.Serve.DebugListen }))},
	{name: "external_url",
		help: "`URL` of the server for clients; a path in it is optional in requests",
		parse: optional(func(s *Settings, v string) (err error) {
			s.Serve.External, err = url.Parse(v)
			if err != nil || s.Serve.External.Host == "" || s.Serve.External.Scheme != "http" && s.Serve.External.Scheme != "https" {
				return fmt.Errorf("%q is not an address: it must be like https://tox.example.org/screen", v)
			}
			return nil
		})},
	{name: "allow_host", kind: list,
		help:  "`HOST` name under which clients reach the server, beside the external URL's; repeatable; not needed with API keys or TLS",
		parse: parsed(parseHosts, func(s *Settings) *[]string { return &s.Serve.Hosts })},
	{name: "allow_origin", kind: list,
		help:  "`ORIGIN` of pages that may use the server from a browser (CORS), like https://forum.example.org; repeatable; * is every page, and needs API keys",
		parse: parsed(parseOrigins, func(s *Settings) *[]string { return &s.Serve.Origins })},
	{name: "api_keys", path: always,
		help:  "`FILE` with the API keys of clients; default: requests need no key",
		parse: text(func(s *Settings) *string { return &s.Serve.APIKeys })},
	{name: "tls_cert", path: always,
		help:  "`FILE` with the certificate chain, for HTTPS",
		parse: text(func(s *Settings) *string { return &s.Serve.TLSCert })},
	{name: "tls_key", path: always,
		help:  "`FILE` with the certificate's private key",
		parse: text(func(s *Settings) *string { return &s.Serve.TLSKey })},
	{name: "as", kind: list,
		help:  "`HOST` that the server replaces, with a certificate of a private authority; repeatable",
		parse: optional(parsed(authority.ParseHosts, func(s *Settings) *[]string { return &s.Serve.As }))},
}

var serveKeys = []key{
	{name: "judge_wait", fallback: "native=30s", kind: list,
		help:  "time that an answer waits for the judge, as `API=TIME`; repeatable; other APIs do not wait",
		parse: parsed(parseJudgeWait, func(s *Settings) *map[string]time.Duration { return &s.Serve.JudgeWait })},
	{name: "on_unsupported_language", fallback: string(server.BlockLanguage),
		complete: OneOf(server.BlockLanguage, server.RefuseLanguage, server.WarnLanguage),
		help:     "block, refuse or warn about a text in a language that the model does not know, where an API must say yes or no",
		parse:    parsed(server.ParseLanguageAction, func(s *Settings) *server.LanguageAction { return &s.Serve.OnUnsupportedLanguage })},
	{name: "ignore_images", fallback: "false", kind: boolean,
		help:  "pass over images in requests, and say so in the answers; default: refuse such requests, since only text is measured",
		parse: parsed(parseBool, func(s *Settings) *bool { return &s.Serve.IgnoreImages })},
	{name: "queue_wait", fallback: "2s",
		help:  "refuse a text at once if its expected wait in the queue is longer than this",
		parse: duration(func(s *Settings) *time.Duration { return &s.Serve.QueueWait })},
	{name: "request_timeout", fallback: "60s",
		help:  "time limit for a request, without the time in which only the judge is missing; texts that are not done fail",
		parse: duration(func(s *Settings) *time.Duration { return &s.Serve.RequestTimeout })},
	{name: "max_texts", fallback: "1000", kind: integer,
		help:  "refuse a request with more texts than this",
		parse: whole(1, 1<<20, func(s *Settings) *int { return &s.Serve.MaxTexts })},
	{name: "communities", compared: true, kind: repeated,
		help:  "thresholds for a communityId, as `\"ID toxicity=0.7\"`; repeatable",
		parse: parsed(parseCommunities, func(s *Settings) *map[string]toxscreen.Scores { return &s.Serve.Communities })},
}

var piiKeys = []key{
	{name: "pii.types", option: "type", kind: list, unset: means("those that are on by default"), complete: completeTypes,
		help:  "find only this `TYPE` of personal data, see pii types; repeatable; default: those that are on by default",
		parse: parsed(parseTypes, func(s *Settings) *[]toxscreen.EntityType { return &s.PII.Types })},
	{name: "pii.min_score", option: "min-score", fallback: strconv.FormatFloat(pii.DefaultThreshold, 'f', -1, 64),
		help:  "the lowest score of an entity",
		parse: parsed(parseMinScore, func(s *Settings) *float64 { return &s.PII.Threshold })},
	{name: "pii.regions", option: "region", kind: list, unset: func(*Settings) string { return defaultRegions() },
		help:  "find the national phone numbers of this `REGION`, like US or DE; repeatable; default: " + defaultRegions(),
		parse: parsed(parseRegions, func(s *Settings) *[]string { return &s.PII.Regions })},
	{name: "pii.recognizers", option: "recognizers", path: always, complete: fileOf("yaml", "yml"),
		help: "YAML `FILE` with recognizers of one's own and an allow list",
		parse: optional(func(s *Settings, v string) error {
			recognizers, allow, err := screen.ReadRecognizers(v)
			s.PII.Recognizers, s.PII.Allow = recognizers, append(s.PII.Allow, allow...)
			return err
		})},
	{name: "pii.allow", option: "allow", kind: repeated,
		help: "this `TEXT` is no personal data; repeatable",
		parse: optional(func(s *Settings, v string) error {
			s.PII.Allow = append(s.PII.Allow, strings.Split(v, ",")...)
			return nil
		})},
	{name: "pii.names", fallback: "on", off: "no-names",
		parse: parsed(parseOff, func(s *Settings) *bool { return &s.PII.NoNames })},
	{name: "pii.fail_on", option: "fail-on", kind: list, complete: completeFailOn,
		help:  "exit with 4 if this `TYPE` of personal data is found, or any; repeatable",
		parse: parsed(parseTypes, func(s *Settings) *[]toxscreen.EntityType { return &s.PIIFailOn })},
}

var maskKeys = []key{
	{name: "pii.operators", option: "operator", kind: repeated, complete: completeOperators,
		help:  "mask by this operator: `[TYPE=]OPERATOR[:name=value…]`, see docs/cli/pii.md; repeatable; default: replace; implies --mask",
		parse: parsed(parseOperators, func(s *Settings) *pii.Operators { return &s.Masking.Operators })},
	{name: "pii.salt_file", option: "salt-file", path: always,
		help:  "`FILE` with the salt of the operator hash, of 16 bytes or more; default: random",
		parse: text(func(s *Settings) *string { return &s.Masking.SaltFile })},
	{name: "pii.key_file", option: "key-file", path: always,
		help:  "`FILE` with the key of the operator encrypt, of 16, 24 or 32 bytes",
		parse: text(func(s *Settings) *string { return &s.Masking.KeyFile })},
}

var storageKeys = []key{
	{name: "late_results", path: unlessOff, unset: standardFile(files.InCache, "results.db"),
		help:  "`FILE` that stores results whose verdict came after the answer, or off; default: in the user's cache folder",
		parse: text(func(s *Settings) *string { return &s.Serve.LateResults })},
	{name: "log_level", fallback: "info", complete: OneOf("debug", "info", "warn", "error"),
		help: "log level: debug, info (each request), warn or error",
		parse: func(s *Settings, v string) error {
			if err := s.Serve.LogLevel.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("%q is not a log level: it must be debug, info, warn or error", v)
			}
			return nil
		}},
	{name: "feedback", path: unlessOff, unset: standardFile(files.InConfig, "feedback.db"), complete: fileOf("db"),
		help:  "`FILE` that stores feedback, or off; default: in the user's configuration folder",
		parse: text(func(s *Settings) *string { return &s.Feedback.File })},
	{name: "feedback_text", fallback: "false", kind: boolean,
		help:  "store the texts of feedback, not only their hashes",
		parse: parsed(parseBool, func(s *Settings) *bool { return &s.Feedback.KeepText })},
	{name: "feedback_max_bytes", fallback: strconv.Itoa(1 << 30),
		help: "refuse feedback when its file has this many bytes",
		parse: func(s *Settings, v string) error {
			most, err := parseInt(v, 1<<16, 1<<40)
			s.Feedback.MaxBytes = int64(most)
			return err
		}},
}

// thresholdKeys are the keys of the thresholds of attributes, which share one flag.
func thresholdKeys() []key {
	var all []key
	for _, a := range toxscreen.Attributes() {
		all = append(all, key{name: thresholdPrefix + a.String(), compared: true, unset: modelThreshold(a), parse: optional(func(s *Settings, v string) error {
			threshold, err := ParseProbability(v)
			if err == nil {
				s.Thresholds.Set(a, threshold)
			}
			return err
		})})
	}
	return all
}

const thresholdPrefix = "thresholds."

// keyOf returns the key with a name, and whether it exists.
func keyOf(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// EnvPrefix begins the names of all environment variables that set a key.
const EnvPrefix = "TOXSCREEN_"

// env returns the environment variable that sets the key.
func (k key) env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// flag returns the name of the flag that sets the key, without dashes.
func (k key) flag() string { return cmp.Or(k.off, k.option, strings.ReplaceAll(k.name, "_", "-")) }

// in turns a path in a configuration file into one that starts from the working folder.
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

func unlessOff(value string) bool { return value != Off }

// What an empty value means.

func means(text string) func(*Settings) string {
	return func(*Settings) string { return text }
}

// defaultRegions are the regions that [pii.Settings] has by default.
func defaultRegions() string {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		panic(err) // the defaults are wrong
	}
	return strings.Join(finder.Settings().Regions, ",")
}

// standardFile returns the path of a file with its default name in a folder of the user.
func standardFile(in func(name string) (string, error), name string) func(*Settings) string {
	return func(*Settings) string {
		file, _ := in(name) // without such a folder, it is needed to name a file
		return file
	}
}

func foundLibrary(s *Settings) string {
	path, _ := encoder.FindLibrary("", s.Provider) // doctor says why there is none
	return path
}

func ollamaServer(*Settings) string {
	address, err := ollama.Address("")
	if err != nil {
		return os.Getenv("OLLAMA_HOST")
	}
	return address.String()
}

func modelThreshold(a toxscreen.Attribute) func(*Settings) string {
	return func(s *Settings) string {
		folder, err := models.Resolve(s.Model)
		if err != nil {
			return ""
		}
		manifest, err := models.ReadManifest(folder.FS)
		if err != nil {
			return ""
		}
		thresholds, err := manifest.ThresholdsAt(s.Scale, s.Sensitivity)
		threshold, ok := thresholds.Get(a)
		if err != nil || !ok {
			return ""
		}
		return strconv.FormatFloat(threshold, 'f', -1, 64)
	}
}
