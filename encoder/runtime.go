package encoder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// Runtime describes the ONNX Runtime library that the process has loaded.
type Runtime struct {
	Path      string     `json:"path"`
	Version   string     `json:"version"`
	Providers []Provider `json:"providers"` // that work with this library on this machine
}

// The library is loaded once per process and never unloaded: its threads and
// allocators outlive every session.
var (
	loading sync.Mutex
	loaded  *Runtime
)

// telemetryEnv is the environment variable that disables ONNX Runtime's
// telemetry, since release 1.30.
const telemetryEnv = "ORT_DISABLE_TELEMETRY"

// LoadLibrary finds ONNX Runtime's library, see [FindLibrary], and loads it
// into the process. Later calls return the library that was loaded first, and
// fail if they ask for another path: a process holds only one.
//
// It sets ORT_DISABLE_TELEMETRY to 1 in the environment of the process, so
// the library sends no data and looks up no hosts.
func LoadLibrary(explicit string, provider Provider) (Runtime, error) {
	loading.Lock()
	defer loading.Unlock()
	path, err := FindLibrary(explicit, provider)
	if err != nil {
		return Runtime{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Runtime{}, fmt.Errorf("failed to load ONNX Runtime: %w", err)
	}
	if loaded != nil {
		if path != loaded.Path {
			return Runtime{}, fmt.Errorf("failed to load ONNX Runtime from %s: this process has already loaded %s", path, loaded.Path)
		}
		return *loaded, nil
	}
	// The library reads this once, when it starts. Without it, its telemetry reads
	// the machine's id, creates a folder with a device id in the user's cache and
	// looks up its vendor's host, regardless of later calls.
	if err := os.Setenv(telemetryEnv, "1"); err != nil {
		return Runtime{}, fmt.Errorf("failed to load ONNX Runtime: failed to switch its telemetry off: %w", err)
	}
	ort.SetSharedLibraryPath(path)
	// Failures are returned as errors; the library need not print them too.
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		// The binding reports a library that lacks its version of the C API only by
		// this number.
		if strings.Contains(err.Error(), "Error setting ORT API base: 2") {
			return Runtime{}, fmt.Errorf("failed to load ONNX Runtime from %s: it is older than %s, the oldest that works; %s", path, MinLibraryVersion, remedy(provider))
		}
		return Runtime{}, fmt.Errorf("failed to load ONNX Runtime from %s: %w; %s", path, err, remedy(provider))
	}
	// Windows has a second telemetry, which a call disables. Other builds have
	// nothing to disable and may return an error.
	_ = ort.DisableTelemetry()
	found := Runtime{Path: path, Version: ort.GetVersion(), Providers: []Provider{CPU}}
	if cudaErr := tryCUDA(path); cudaErr == nil {
		found.Providers = append(found.Providers, CUDA)
	}
	loaded = &found
	return found, nil
}

// tryCUDA reports why sessions of the loaded library cannot use CUDA.
func tryCUDA(library string) error {
	// Without this file, the attempt would print to standard error.
	if _, err := os.Stat(cudaProvider(library)); err != nil {
		return fmt.Errorf("the library has no CUDA provider next to it: %w; %s", err, remedy(CUDA))
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return err
	}
	return errors.Join(appendCUDA(options), options.Destroy())
}

func appendCUDA(options *ort.SessionOptions) error {
	cuda, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	return errors.Join(options.AppendExecutionProviderCUDA(cuda), cuda.Destroy())
}

// part is a file of a model: a stage or an exit.
type part struct {
	model  []byte
	given  string   // input that the stage before passes on, float32 [windows, tokens, from]; empty for the first stage
	from   int      // the width of given
	inputs []string // further inputs
	heads  []Head
	first  int    // index of the first of heads among all heads of the model
	hidden string // output for the next stage, float32 [windows, tokens, width]; empty if there is none
	width  int
}

// parts returns the stages of a model, and the exit after each; nil where there is none.
func (c Config) parts() (stages []part, exits []*part) {
	before, heads := part{}, 0
	for _, stage := range c.Stages {
		p := part{model: stage.Model, given: before.hidden, from: before.width, inputs: stage.Inputs, heads: stage.Heads, hidden: stage.Hidden, width: stage.Width}
		var exit *part
		if stage.Exit != nil {
			masks := slices.DeleteFunc(slices.Clone(stage.Inputs), func(name string) bool { return name != attentionMask })
			exit = &part{model: stage.Exit.Model, given: p.hidden, from: p.width, inputs: masks, heads: []Head{stage.Exit.Head}, first: heads}
			heads++
		}
		p.first = heads
		stages, exits, before = append(stages, p), append(exits, exit), p
	}
	return stages, exits
}

// session is the ONNX Runtime session of a part. It is safe for concurrent use.
type session struct {
	part

	ort     *ort.DynamicAdvancedSession
	weights runtime.Pinner
}

// openSession opens a part of a model with the given number of threads inside a run.
func openSession(p part, provider Provider, threads int) (*session, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }() // fails only for closed options
	if provider == CUDA {
		if err := tryCUDA(loaded.Path); err != nil {
			return nil, fmt.Errorf("provider cuda is not available: %w", err)
		}
		if err := appendCUDA(options); err != nil {
			return nil, fmt.Errorf("provider cuda is not available: %w", err)
		}
	}
	err = errors.Join(
		options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
		options.SetIntraOpNumThreads(threads),
		options.SetInterOpNumThreads(1),
		// A spinning thread takes a core from the next text.
		options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
		// A memory plan per shape is never reused if no two texts have the
		// same length.
		options.SetMemPattern(false),
	)
	if err != nil {
		return nil, err
	}
	s := &session{part: p}
	var inputs, outputs []string
	if p.given != "" {
		inputs = append(inputs, p.given)
	}
	inputs = append(inputs, p.inputs...)
	for _, head := range p.heads {
		outputs = append(outputs, head.Output)
	}
	if p.hidden != "" {
		outputs = append(outputs, p.hidden)
	}
	if isORTFormat(p.model) {
		// Neither the file nor its weights are copied. This saves twice its
		// size in memory and most of the time to open it.
		err := errors.Join(
			options.AddSessionConfigEntry("session.use_ort_model_bytes_directly", "1"),
			options.AddSessionConfigEntry("session.use_ort_model_bytes_for_initializers", "1"),
		)
		if err != nil {
			return nil, err
		}
		s.weights.Pin(&p.model[0])
	}
	s.ort, err = ort.NewDynamicAdvancedSessionWithONNXData(p.model, inputs, outputs, options)
	if err != nil {
		s.weights.Unpin()
		return nil, err
	}
	return s, nil
}

// isORTFormat detects ONNX Runtime's own format by the identifier in its header:
// file_identifier in onnxruntime/core/flatbuffers/schema/ort.fbs.
func isORTFormat(model []byte) bool {
	return len(model) > 8 && string(model[4:8]) == "ORTM"
}

func (s *session) close() error {
	defer s.weights.Unpin()
	return s.ort.Destroy()
}

// run holds the memory of one run at a time, of any part. Each run creates its tensors over the
// same buffers and so allocates nothing that grows with its size.
type run struct {
	options *ort.RunOptions
	inputs  [][]int64   // one buffer per input
	given   []float32   // of the stage before
	logits  [][]float32 // one buffer per head
	hidden  []float32   // for the next stage
}

func newRun() (*run, error) {
	options, err := ort.NewRunOptions()
	if err != nil {
		return nil, err
	}
	return &run{options: options, inputs: make([][]int64, len(InputNames))}, nil
}

func (r *run) close() error { return r.options.Destroy() }

// do runs a part on windows, padded to longest tokens, the length of the longest. given is what
// the stage before has just passed on for these windows; if it is nil, each window kept its own.
// do returns the logits of each head, float32 [windows, columns] or [windows, longest, columns],
// and what the part passes on to the next. Both stay valid until another call returns its own.
// The end of the context stops the run.
func (r *run) do(ctx context.Context, s *session, windows []*job, longest int, padID int64, given []float32) (logits [][]float32, hidden []float32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	count, tokens := int64(len(windows)), len(windows)*longest
	values := make([]ort.Value, 0, len(InputNames)+len(s.heads)+2)
	defer func() {
		for _, v := range values {
			err = errors.Join(err, v.Destroy())
		}
	}()
	floats := func(buffer []float32, shape ...int64) error {
		tensor, err := ort.NewTensor(ort.NewShape(shape...), buffer)
		if err == nil {
			values = append(values, tensor)
		}
		return err
	}
	if s.given != "" {
		if given == nil {
			r.given = grow(r.given, tokens*s.from)
			for i, j := range windows {
				row := r.given[i*longest*s.from:][:longest*s.from]
				clear(row[copy(row, j.hidden):])
			}
			given = r.given
		}
		if err := floats(given, count, int64(longest), int64(s.from)); err != nil {
			return nil, nil, err
		}
	}
	for i, name := range s.inputs {
		r.inputs[i] = grow(r.inputs[i], tokens)
		fill(r.inputs[i], name, windows, longest, padID)
		tensor, err := ort.NewTensor(ort.NewShape(count, int64(longest)), r.inputs[i])
		if err != nil {
			return nil, nil, err
		}
		values = append(values, tensor)
	}
	inputs := len(values)
	for len(r.logits) < len(s.heads) {
		r.logits = append(r.logits, nil)
	}
	for i, head := range s.heads {
		rows, shape := len(windows), []int64{count, int64(head.Columns)}
		if head.Task == TokenClassification {
			rows, shape = tokens, []int64{count, int64(longest), int64(head.Columns)}
		}
		r.logits[i] = grow(r.logits[i], rows*head.Columns)
		if err := floats(r.logits[i], shape...); err != nil {
			return nil, nil, err
		}
	}
	if s.hidden != "" {
		r.hidden = grow(r.hidden, tokens*s.width)
		if err := floats(r.hidden, count, int64(longest), int64(s.width)); err != nil {
			return nil, nil, err
		}
	}

	terminated := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(terminated)
		_ = r.options.Terminate() // fails only for closed options
	})
	// A goroutine that is locked to a thread more often stays on one core with its
	// caches: this saves about 1.5 % of the time, see BenchmarkEndToEnd.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = s.ort.RunWithOptions(values[:inputs], values[inputs:], r.options)
	if !stop() {
		<-terminated
		return nil, nil, errors.Join(ctx.Err(), r.options.UnsetTerminate())
	}
	return r.logits, r.hidden, err
}

// fill writes one input of a run: rows of length longest.
func fill(input []int64, name string, windows []*job, longest int, padID int64) {
	for row, j := range windows {
		ids, line := j.ids, input[row*longest:(row+1)*longest]
		for i := range line {
			padding := i >= len(ids)
			switch {
			case name == inputIDs && !padding:
				line[i] = ids[i]
			case name == inputIDs:
				line[i] = padID
			case name == attentionMask && !padding:
				line[i] = 1
			case name == tokenShapes && !padding:
				line[i] = j.shapes[i]
			default: // the mask of padding, and the token type of a single text
				line[i] = 0
			}
		}
	}
}

// grow returns a slice of length n that reuses buffer's memory if it is large enough.
func grow[T any](buffer []T, n int) []T {
	if cap(buffer) < n {
		return make([]T, n)
	}
	return buffer[:n]
}
