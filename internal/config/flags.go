package config

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/usage"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/pii"
)

// Groups of keys whose flags several commands have.
var (
	RuntimeKeys    = []string{"provider", "onnxruntime"}
	ModelKeys      = append([]string{"model", "threads"}, RuntimeKeys...)
	TextKeys       = []string{"offset_unit", "max_bytes", "language"}
	JudgeKeys      = []string{"judge_model", "judge_host", "judge_rubric", "judge_dialect", "judge_timeout", "judge_load_timeout", "judge_parallel", "judge_cache"}
	FinderKeys     = []string{"pii.types", "pii.min_score", "pii.regions", "pii.recognizers", "pii.allow"}
	MaskKeys       = []string{"pii.operators", "pii.salt_file", "pii.key_file"}
	EscalationKeys = append(append([]string{"calibration"}, JudgeKeys...), "judge_band", "judge_trust")
)

// AddFlags adds the flags of the named keys to a command.
func AddFlags(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		k, known := keyOf(name)
		if !known {
			panic("config: there is no key " + name)
		}
		f := cmd.Flags().VarPF(&flagValue{key: k.name, kind: k.kind, text: k.fallback}, k.flag(), k.short, k.help)
		if k.kind == boolean {
			f.NoOptDefVal = "true"
		}
		usage.InGroup(cmd, k.group, k.flag())
		if k.complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(k.flag(), k.complete)
		}
	}
}

// AddThresholdFlag adds the flag that sets thresholds of attributes. fallback is its
// default in the help.
func AddThresholdFlag(cmd *cobra.Command, fallback string) {
	cmd.Flags().StringArray("threshold", nil, "flag an attribute at or over this `SCORE`, like 0.7 for toxicity or threat=0.5; repeatable; default: "+fallback)
	usage.InGroup(cmd, usage.Decisions, "threshold")
	_ = cmd.RegisterFlagCompletionFunc("threshold", CompleteAttributes)
}

// flagValue is the value of a flag that sets a key. The parser of the key checks it, like
// values from files and the environment.
type flagValue struct {
	key   string
	kind  string
	text  string
	given bool

	mastra bool // whether the command has Mastra's formats, too
}

func (f *flagValue) Set(value string) error {
	if f.given && (f.kind == repeated || f.kind == list) {
		value = f.text + "," + value
	}
	f.text, f.given = value, true
	return nil
}

func (f *flagValue) String() string { return f.text }

func (f *flagValue) Type() string {
	switch f.kind {
	case "", repeated, list: // the help calls one value of a list a string
		return "string"
	}
	return f.kind
}

// AddFullFlag adds the flag that sets the key exits to off.
func AddFullFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("full", false, "compute the exact scores of clearly harmless texts, too: to rank by score, to calibrate, for research; sets exits to off")
	usage.InGroup(cmd, usage.Model, "full")
}

// AddNoJudgeFlag adds the flag that switches the judge off.
func AddNoJudgeFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("no-judge", false, "ignore the configured judge and do not use the network")
	usage.InGroup(cmd, usage.Judge, "no-judge")
}

// AddScreenerFlags adds the flags of commands that score texts.
func AddScreenerFlags(cmd *cobra.Command) {
	AddFlags(cmd, "scale", "sensitivity")
	AddThresholdFlag(cmd, "those of the scale and the sensitivity")
	AddFlags(cmd, TextKeys...)
	AddFlags(cmd, ModelKeys...)
	AddFullFlag(cmd)
	AddFlags(cmd, EscalationKeys...)
	AddNoJudgeFlag(cmd)
}

// AddFinderFlags adds the flags of commands that find personal data.
func AddFinderFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("no-names", false, "find only what has a form, like numbers, and no names of people, places and organisations; sets pii.names to off")
	AddFlags(cmd, FinderKeys...)
	usage.InGroup(cmd, usage.PersonalData, "no-names")
}

// AddMaskFlags adds the flags of commands that only find and mask personal data.
func AddMaskFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("mask", false, "mask the personal data; without --operator, replace it by its type, like <PERSON>")
	cmd.Flags().String("mapping", "", "`FILE` that stores what numbered placeholders like <PERSON_1> stand for, for pii restore; implies --mask")
	usage.InGroup(cmd, usage.Masking, "mask", "mapping")
	_ = cmd.MarkFlagFilename("mapping", "jsonl")
	AddFlags(cmd, MaskKeys...)
	AddFinderFlags(cmd)
	AddFlags(cmd, "pii.fail_on")
	AddFlags(cmd, TextKeys...)
	AddFlags(cmd, "threads", "onnxruntime")
}

// AddPIIFlag adds the flag of commands that can also find personal data.
func AddPIIFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("pii", false, "also find the personal data in each text, as the settings under pii say")
	usage.InGroup(cmd, usage.PersonalData, "pii")
}

// Formats that only the command judge has.
const (
	FormatMastra        = "mastra"
	FormatMastraMeasure = "mastra-measure"
)

// IsMastra reports whether a format is one of Mastra's.
func IsMastra(format string) bool { return format == FormatMastra || format == FormatMastraMeasure }

// OfferMastra adds Mastra's formats to the format flag of a command.
func OfferMastra(cmd *cobra.Command) {
	format := cmd.Flags().Lookup("format")
	format.Usage = "output format: text, json, mastra or mastra-measure"
	format.Value.(*flagValue).mastra = true
}

// offersMastra reports whether a command has Mastra's formats.
func offersMastra(cmd *cobra.Command) bool {
	format := cmd.Flags().Lookup("format")
	return format != nil && format.Value.(*flagValue).mastra
}

// Completions of flags.

// OneOf returns a completion with fixed values.
func OneOf[T ~string](values ...T) cobra.CompletionFunc {
	return cobra.FixedCompletions(texts(values), cobra.ShellCompDirectiveNoFileComp)
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}
	return all
}

// fileOf returns a completion of file names with one of the extensions.
func fileOf(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// CompleteAttributes completes ATTRIBUTE=NUMBER.
func CompleteAttributes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, a := range toxscreen.Attributes() {
		names = append(names, a.String()+"=")
	}
	return names, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeLimits(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := CompleteAttributes(cmd, args, toComplete)
	return append([]cobra.Completion{flagged}, names...), directive
}

func completeFormats(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	formats := []cobra.Completion{"text", "json"}
	if offersMastra(cmd) {
		formats = append(formats, FormatMastra, FormatMastraMeasure)
	}
	return formats, cobra.ShellCompDirectiveNoFileComp
}

func completeTypes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return texts(pii.Types()), cobra.ShellCompDirectiveNoFileComp
}

func completeFailOn(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return append(texts(pii.Types()), "any"), cobra.ShellCompDirectiveNoFileComp
}

func completeOperators(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return texts(pii.OperatorKinds()), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// CompleteModels completes the name of a model.
func CompleteModels(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	listed, err := models.ListUser()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, m := range listed {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveDefault // or a folder
}

// readFlags returns the values of the given flags by key.
func readFlags(flags *pflag.FlagSet) (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if thresholds, ok := f.Value.(pflag.SliceValue); ok && f.Name == "threshold" {
			for _, given := range thresholds.GetSlice() {
				attribute, value, ok := strings.Cut(withAttribute(given), "=")
				if _, err := toxscreen.ParseAttribute(attribute); err != nil {
					wrong = usage.Wrong("--threshold %s: %w", given, err)
				} else if !ok || value == "" {
					wrong = usage.Wrong("--threshold %s: it must be like 0.7 or threat=0.5", given)
				}
				values[thresholdPrefix+attribute] = value
			}
		}
		for _, k := range keys {
			if k.off == f.Name && f.Value.String() == "true" {
				values[k.name] = Off
			}
		}
		if value, ok := f.Value.(*flagValue); ok {
			values[value.key] = value.String()
		}
	})
	return values, wrong
}
