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
			return Runtime{}, fmt.Errorf("failed to load ONNX Runtime from %s: it is older than %s, the oldest that works; %s", path, MinLibraryVersion, GetLibraryHint)
		}
		return Runtime{}, fmt.Errorf("failed to load ONNX Runtime from %s: %w; %s", path, err, GetLibraryHint)
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
	if _, err := os.Stat(filepath.Join(filepath.Dir(library), "libonnxruntime_providers_cuda.so")); err != nil {
		return fmt.Errorf("the library has no CUDA provider next to it: %w; install onnxruntime-gpu's with `get-onnxruntime -gpu`", err)
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

// session is the ONNX Runtime session of one stage. It is safe for concurrent use.
type session struct {
	ort     *ort.DynamicAdvancedSession
	hidden  string   // input that the stage before passes on; empty for the first stage
	given   int      // its width
	inputs  []string // further inputs
	heads   []Head
	first   int // number of heads of the stages before
	width   int // of what it passes on; 0 for the last stage
	weights runtime.Pinner
}

// openSession opens a stage of a model with the given number of threads inside a run.
func openSession(c Config, stage, threads int) (*session, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }() // fails only for closed options
	if c.Provider == CUDA {
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
	of := c.Stages[stage]
	s := &session{inputs: slices.Clone(c.Inputs), heads: slices.Clone(of.Heads), width: of.Width}
	var inputs, outputs []string
	if stage > 0 {
		before := c.Stages[stage-1]
		s.hidden, s.given = before.Hidden, before.Width
		s.inputs = slices.DeleteFunc(s.inputs, func(name string) bool { return name != "attention_mask" })
		inputs = []string{s.hidden}
		for _, earlier := range c.Stages[:stage] {
			s.first += len(earlier.Heads)
		}
	}
	inputs = append(inputs, s.inputs...)
	for _, head := range s.heads {
		outputs = append(outputs, head.Output)
	}
	if of.Hidden != "" {
		outputs = append(outputs, of.Hidden)
	}
	if isORTFormat(of.Model) {
		// Neither the file nor its weights are copied. This saves twice its
		// size in memory and most of the time to open it.
		err := errors.Join(
			options.AddSessionConfigEntry("session.use_ort_model_bytes_directly", "1"),
			options.AddSessionConfigEntry("session.use_ort_model_bytes_for_initializers", "1"),
		)
		if err != nil {
			return nil, err
		}
		s.weights.Pin(&of.Model[0])
	}
	s.ort, err = ort.NewDynamicAdvancedSessionWithONNXData(of.Model, inputs, outputs, options)
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

// run holds the memory of one run at a time, of any stage. Its tensors are created for each
// run over the same buffers, so a run allocates nothing that grows with its size.
type run struct {
	sessions []*session
	options  *ort.RunOptions
	inputs   [][]int64   // one buffer per input
	given    []float32   // of the stage before
	logits   [][]float32 // one buffer per head
	hidden   []float32   // for the next stage
}

func newRun(sessions []*session) (*run, error) {
	options, err := ort.NewRunOptions()
	if err != nil {
		return nil, err
	}
	return &run{sessions: sessions, options: options, inputs: make([][]int64, len(InputNames))}, nil
}

func (r *run) close() error { return r.options.Destroy() }

// do runs a stage on windows, padded to the longest. It returns the logits of each head,
// float32 [windows, columns] or [windows, longest, columns], what the stage passes on,
// [windows, longest, width], and the tokens of the longest. They are valid until the next
// call. The end of the context stops the run.
func (r *run) do(ctx context.Context, stage int, windows []*job, padID int64) (logits [][]float32, hidden []float32, longest int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, 0, err
	}
	for _, j := range windows {
		longest = max(longest, len(j.ids))
	}
	s := r.sessions[stage]
	count, tokens := int64(len(windows)), len(windows)*longest
	values := make([]ort.Value, 0, len(InputNames)+len(s.heads)+2)
	defer func() {
		for _, v := range values {
			err = errors.Join(err, v.Destroy())
		}
	}()
	floats := func(buffer *[]float32, shape ...int64) error {
		*buffer = grow(*buffer, int(ort.NewShape(shape...).FlattenedSize()))
		tensor, err := ort.NewTensor(ort.NewShape(shape...), *buffer)
		if err == nil {
			values = append(values, tensor)
		}
		return err
	}
	if s.hidden != "" {
		if err := floats(&r.given, count, int64(longest), int64(s.given)); err != nil {
			return nil, nil, 0, err
		}
		for i, j := range windows {
			row := r.given[i*longest*s.given:][:longest*s.given]
			clear(row[copy(row, j.hidden):])
		}
	}
	for i, name := range s.inputs {
		r.inputs[i] = grow(r.inputs[i], tokens)
		fill(r.inputs[i], name, windows, longest, padID)
		tensor, err := ort.NewTensor(ort.NewShape(count, int64(longest)), r.inputs[i])
		if err != nil {
			return nil, nil, 0, err
		}
		values = append(values, tensor)
	}
	inputs := len(values)
	for len(r.logits) < len(s.heads) {
		r.logits = append(r.logits, nil)
	}
	for i, head := range s.heads {
		shape := []int64{count, int64(head.Columns)}
		if head.Task == TokenClassification {
			shape = []int64{count, int64(longest), int64(head.Columns)}
		}
		if err := floats(&r.logits[i], shape...); err != nil {
			return nil, nil, 0, err
		}
	}
	if s.width > 0 {
		if err := floats(&r.hidden, count, int64(longest), int64(s.width)); err != nil {
			return nil, nil, 0, err
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
		return nil, nil, 0, errors.Join(ctx.Err(), r.options.UnsetTerminate())
	}
	return r.logits, r.hidden, longest, err
}

// fill writes one input of a run: rows of length longest.
func fill(input []int64, name string, windows []*job, longest int, padID int64) {
	for row, j := range windows {
		ids, line := j.ids, input[row*longest:(row+1)*longest]
		for i := range line {
			padding := i >= len(ids)
			switch {
			case name == "input_ids" && !padding:
				line[i] = ids[i]
			case name == "input_ids":
				line[i] = padID
			case name == "attention_mask" && !padding:
				line[i] = 1
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
