package encoder

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/toxscreen/toxscreen/tokenize"
)

// Config describes the model to open. A zero field that has a default takes
// the default.
type Config struct {
	// Stages are the parts of the model, which run one after the other: at least one.
	Stages    []Stage
	Tokenizer *tokenize.Tokenizer // makes the encodings passed to Run

	// PadID is the token that pads the shorter windows of a padded run. It
	// matters to models that derive positions from it, such as RoBERTa.
	PadID  int64
	Window Window

	Provider Provider // default CPU
	Batching Batching // default Single
	Library  string   // path of ONNX Runtime's library; default: FindLibrary
	// Threads is the number of concurrent runs or, for Padded, the number of
	// threads in a run, 1 to 1024; default: GOMAXPROCS.
	Threads int
}

// Stage is a part of a model, in a file of its own. Windows can leave after each stage that
// has an exit, see [Encoder.Run].
type Stage struct {
	// Model is the file in ONNX or ORT format. It must not change before
	// Close: a session uses the weights of an ORT file in place.
	Model []byte
	// Inputs lists the [InputNames] that the stage takes: int64 tensors of shape
	// [windows, tokens].
	Inputs []string
	Heads  []Head // the last stage has one or more, the others have none

	// Hidden is the output that every stage but the last passes on, float32
	// [windows, tokens, Width]. The next stage and Exit have an input of the same name.
	Hidden string
	Width  int // 1 to 65536
	Exit   *Exit
}

// Exit is a small network that tells the caller, after a stage, whether a window may leave. It
// runs only if the caller gives a [Leave].
type Exit struct {
	// Model is a file like that of the stage. It takes the stage's Hidden, and the
	// attention_mask if the stage does.
	Model []byte
	Head  Head // a TextClassification
}

// Head is one output of a stage.
type Head struct {
	Name    string // for [Output.Logits]; unique
	Output  string // its name in the model
	Task    Task
	Columns int // logits in a row, 1 or more
}

// Task is the task of a head. The values are Hugging Face's names.
type Task string

// The tasks, with the shape of the model's output.
const (
	TextClassification  Task = "text-classification"  // float32 [windows, columns]
	TokenClassification Task = "token-classification" // float32 [windows, tokens, columns]
)

// Window says how a long text is divided. A window ends at the end of a sentence if
// there is one in its second half.
type Window struct {
	Tokens  int // in one window, including special tokens: 8 to 65536
	Overlap int // maximum number of tokens shared with the previous window: 0 to half of Tokens
}

// Validate reports everything that makes a window unusable.
func (w Window) Validate() error {
	var found []error
	if w.Tokens < 8 || w.Tokens > 1<<16 {
		found = append(found, fmt.Errorf("window.tokens: %d is not in 8..65536", w.Tokens))
	}
	if w.Overlap < 0 || w.Overlap > w.Tokens/2 {
		found = append(found, fmt.Errorf("window.overlap: %d is not in 0..%d, half a window", w.Overlap, w.Tokens/2))
	}
	return errors.Join(found...)
}

// InputNames are the inputs that a model can take. The first three have Hugging Face's names,
// the last one is an input of toxscreen's own networks.
var InputNames = []string{inputIDs, attentionMask, "token_type_ids", tokenShapes}

const (
	inputIDs      = "input_ids"
	attentionMask = "attention_mask"
	// tokenShapes tells a network whose vocabulary is in lower case how tokens are written,
	// see [shapeOf].
	tokenShapes = "token_shapes"
)

// ValidateInputs reports everything that makes the inputs of a model's first stage unusable.
func ValidateInputs(names []string) error {
	var found []error
	if !slices.Contains(names, inputIDs) {
		found = append(found, errors.New("inputs: input_ids is missing"))
	}
	return errors.Join(append(found, validateNames(names))...)
}

// validateNames reports every name that is not an input, or is listed twice.
func validateNames(names []string) error {
	var found []error
	for i, name := range names {
		if !slices.Contains(InputNames, name) {
			found = append(found, fmt.Errorf("inputs: unknown input %q: it must be one of %v", name, InputNames))
		}
		if slices.Contains(names[:i], name) {
			found = append(found, fmt.Errorf("inputs: %q is listed twice", name))
		}
	}
	return errors.Join(found...)
}

func (c Config) withDefaults() Config {
	c.Provider = cmp.Or(c.Provider, CPU)
	c.Batching = cmp.Or(c.Batching, Single)
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	return c
}

// validate reports everything that makes a configuration unusable.
func (c Config) validate() error {
	found := []error{c.Window.Validate()}
	wrong := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if len(c.Stages) == 0 {
		wrong("stages: missing")
	}
	var heads []Head
	for i, stage := range c.Stages {
		if i == 0 {
			found = append(found, ValidateInputs(stage.Inputs))
		} else {
			found = append(found, validateNames(stage.Inputs))
		}
		if i == len(c.Stages)-1 {
			if len(stage.Heads) == 0 {
				wrong("heads: missing")
			}
			if stage.Hidden != "" || stage.Exit != nil {
				wrong("stages: the last one must not have a hidden output or an exit: no stage follows it")
			}
			heads = append(heads, stage.Heads...)
			continue
		}
		if len(stage.Heads) > 0 {
			wrong("heads: %q belongs to stage %d: only the last stage has heads", stage.Heads[0].Name, i+1)
		}
		if stage.Hidden == "" {
			wrong("stages: stage %d has no hidden output for the next one", i+1)
		}
		if stage.Width < 1 || stage.Width > 1<<16 {
			wrong("stages: the width %d of %q is not in 1..65536", stage.Width, stage.Hidden)
		}
		if stage.Exit == nil {
			continue
		}
		if stage.Exit.Head.Task != TextClassification {
			wrong("stages: the exit of stage %d has the task %q: it must be %s", i+1, stage.Exit.Head.Task, TextClassification)
		}
		heads = append(heads, stage.Exit.Head)
	}
	for i, h := range heads {
		if slices.ContainsFunc(heads[:i], func(other Head) bool { return other.Name == h.Name }) {
			wrong("heads: two are named %q", h.Name)
		}
		if h.Output == "" {
			wrong("heads: %q has no output", h.Name)
		}
		if h.Task != TextClassification && h.Task != TokenClassification {
			wrong("heads: %q has the unknown task %q: it must be %s or %s", h.Name, h.Task, TextClassification, TokenClassification)
		}
		if h.Columns < 1 {
			wrong("heads: %q has %d columns: it must have 1 or more", h.Name, h.Columns)
		}
	}
	if c.Threads < 1 || c.Threads > 1024 {
		wrong("%d threads requested: it must be 1 to 1024", c.Threads)
	}
	if _, err := ParseProvider(string(c.Provider)); err != nil {
		wrong("%w", err)
	}
	if _, err := ParseBatching(string(c.Batching)); err != nil {
		wrong("%w", err)
	}
	return errors.Join(found...)
}

// Provider is where a model runs.
type Provider string

// The providers.
const (
	CPU  Provider = "cpu"
	CUDA Provider = "cuda" // needs the library of onnxruntime-gpu
)

// ParseProvider returns the provider with the given name.
func ParseProvider(name string) (Provider, error) {
	switch p := Provider(name); p {
	case CPU, CUDA:
		return p, nil
	}
	return "", fmt.Errorf("unknown provider %q: it must be cpu or cuda", name)
}

// Batching is how windows share the runs of a session. A text that fits into one
// window is one window.
type Batching string

// The kinds of batching.
const (
	// Single runs one window per run, with several concurrent runs. A model
	// with dynamic int8 needs it: the scale of its activations is computed over
	// a whole tensor, so windows in one tensor would change each other's
	// logits.
	Single Batching = "single"
	// Bucketed puts windows with the same number of tokens that wait at the
	// same time into one run, with several concurrent runs. It is for models
	// whose quantised activations have fixed scales: other lengths would need
	// padding, which costs time on a CPU.
	Bucketed Batching = "bucketed"
	// Padded puts windows that wait at the same time into one run, padded
	// to the longest.
	Padded Batching = "padded"
)

// ParseBatching returns the batching with the given name.
func ParseBatching(name string) (Batching, error) {
	switch b := Batching(name); b {
	case Single, Bucketed, Padded:
		return b, nil
	}
	return "", fmt.Errorf("unknown batching %q: it must be single, bucketed or padded", name)
}
