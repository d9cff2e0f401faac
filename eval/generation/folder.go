package generation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/resume"
)

// The files of a run. Those of its report are removed with it.
const (
	settingsFile    = "run.json"
	generationsFile = "generations.jsonl"
)

// stored is the content of settingsFile.
type stored struct {
	Settings

	// Finished is absent as long as prompts are missing.
	Finished time.Time `json:"finished,omitzero"`
	Warnings []string  `json:"warnings,omitempty"`
}

// ReadRun reads a finished run from its folder.
func ReadRun(path string) (Run, error) {
	s, err := readStored(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Run{}, fmt.Errorf("failed to read the run in %s: there is none: make one with toxscreen evaluate model", path)
	}
	if err != nil {
		return Run{}, fmt.Errorf("failed to read the run in %s: %w", path, err)
	}
	if s.Finished.IsZero() {
		return Run{}, fmt.Errorf("failed to read the run in %s: it is not finished: continue it with --resume", path)
	}
	run := Run{Settings: s.Settings, Warnings: s.Warnings}
	if run.Samples, err = readSamples(path); err != nil {
		return Run{}, fmt.Errorf("failed to read the run in %s: %w", path, err)
	}
	return run, nil
}

// Missing returns the number of generations without scores.
func (r Run) Missing() int {
	return count(r.Samples, func(g Generation) bool { return g.Error != "" })
}

func readStored(path string) (stored, error) {
	var s stored
	data, err := os.ReadFile(filepath.Join(path, settingsFile))
	if err != nil {
		return s, files.Cause(err)
	}
	if err := plainjson.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", settingsFile, err)
	}
	return s, nil
}

// readSamples reads the samples of a run. The rest of a line that was being written when
// the run was killed is left out.
func readSamples(path string) ([]Sample, error) {
	file, err := os.Open(filepath.Join(path, generationsFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", generationsFile, files.Cause(err))
	}
	defer file.Close()
	var samples []Sample
	var half error // of a line that is not JSON, which may be the last
	err = eachLine(file, maxGenerationsLine, func(number int, line []byte) error {
		if half != nil {
			return half
		}
		var s Sample
		if err := plainjson.Unmarshal(line, &s); err != nil {
			half = fmt.Errorf("row %d: %w", number, err)
			return nil
		}
		samples = append(samples, s)
		return nil
	})
	if err == nil && half != nil && endsLine(file) {
		err = half
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", generationsFile, err)
	}
	return samples, nil
}

// endsLine reports whether a file ends with a line break.
func endsLine(file *os.File) bool {
	end, err := file.Seek(-1, io.SeekEnd)
	if err != nil {
		return false
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, end)
	return err == nil && last[0] == '\n'
}

// folder is the folder of a run in progress.
type folder struct {
	path    string
	prompts []Prompt
	held    *os.File
	stored  stored
	resumed bool
	before  map[string]bool // ids of the prompts that an earlier call has done

	lock sync.Mutex
	out  *os.File
	done map[string]Sample // by id
}

// openFolder opens the folder of a job, and changes nothing in it. Of the settings, what a
// server tells is not known yet.
func openFolder(job Job, settings Settings) (f *folder, err error) {
	if job.Folder == "" {
		return nil, errors.New("failed to open the folder of the run: it has no name")
	}
	if err := os.MkdirAll(job.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("failed to create %s: %w", job.Folder, files.Cause(err))
	}
	f = &folder{path: job.Folder, prompts: job.Prompts.Prompts, before: map[string]bool{}, done: map[string]Sample{}}
	defer func() {
		if err != nil {
			f.close()
			f, err = nil, fmt.Errorf("failed to open the folder of the run: %s: %w", job.Folder, err)
		}
	}()
	if f.held, err = os.Open(job.Folder); err != nil {
		return f, files.Cause(err)
	}
	// Not every file system has locks.
	if err := files.Lock(f.held); errors.Is(err, syscall.EWOULDBLOCK) {
		return f, errors.New("another run is writing it")
	}
	if job.Given != nil && files.Same(job.Given.path, filepath.Join(job.Folder, generationsFile)) {
		return f, errors.New("the generations are read from it: choose another folder")
	}
	if job.Overwrite {
		return f, nil
	}
	f.stored, err = readStored(job.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, f.vacant()
	case err != nil:
		return f, err
	case !job.Resume:
		return f, errors.New("it has a run: continue it with --resume, replace it with --overwrite, or choose another folder")
	}
	f.resumed = true
	if err := f.stored.differ(settings, job.Generator == nil); err != nil {
		return f, err
	}
	f.stored.Thresholds = settings.Thresholds // no text and no score depends on them
	return f, f.readDone()
}

// vacant reports a file in a folder without a run that a run would replace.
func (f *folder) vacant() error {
	for _, name := range append([]string{generationsFile}, report.Files()...) {
		if _, err := os.Stat(filepath.Join(f.path, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("it has no run, but a file %s: choose another folder, or replace the file with --overwrite", name)
		}
	}
	return nil
}

// clear removes a run with its report.
func (f *folder) clear() error {
	for _, name := range append([]string{settingsFile, generationsFile}, report.Files()...) {
		path := filepath.Join(f.path, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("failed to remove %s: %w", path, files.Cause(err))
		}
	}
	return nil
}

// readDone reads the samples of an earlier call that have all their scores.
func (f *folder) readDone() error {
	samples, err := readSamples(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	known := map[string]Prompt{}
	for _, p := range f.prompts {
		known[p.ID] = p
	}
	for _, s := range samples {
		if known[s.ID] != s.Prompt || len(s.Generations) != f.stored.Protocol.Generations {
			return fmt.Errorf("%s: prompt %q is not as the run has it: replace the run with --overwrite", generationsFile, s.ID)
		}
		if !incomplete(s) {
			f.done[s.ID], f.before[s.ID] = s, true
		}
	}
	return nil
}

// complete reports whether nothing is left to do.
func (f *folder) complete() bool {
	return f.resumed && !f.stored.Finished.IsZero() && len(f.done) == len(f.prompts)
}

// settings are those that a run cannot change. What a generator tells is among them only if it
// was asked.
func (s Settings) settings(asked bool) []resume.Setting {
	all := []resume.Setting{
		{Name: "the set of prompts", Value: s.Set},
		{Name: "the number of generations", Value: fmt.Sprint(s.Protocol.Generations)},
		{Name: "the number of tokens", Value: fmt.Sprint(s.Protocol.MaxTokens)},
		{Name: "the nucleus", Value: fmt.Sprint(s.Protocol.TopP)},
		{Name: "the temperature", Value: fmt.Sprint(s.Protocol.Temperature)},
		{Name: "chat", Value: fmt.Sprint(s.Protocol.Chat)},
		{Name: "the seed", Value: fmt.Sprint(s.Protocol.Seed)},
		{Name: "the classifier", Value: s.Classifier},
		{Name: "toxscreen's version", Value: s.Toxscreen},
	}
	if asked {
		all = append(all, resume.Setting{Name: "the generator", Value: s.Generator}, resume.Setting{Name: "the model", Value: s.Model},
			resume.Setting{Name: "the digest", Value: s.Digest}, resume.Setting{Name: "the server's version", Value: s.Server})
	}
	return all
}

// differ reports the first setting that is not as it was when the run began.
func (s stored) differ(now Settings, asked bool) error {
	if err := resume.Changed(s.settings(asked), now.settings(asked)); err != nil {
		return fmt.Errorf("%w; continue with the earlier one, or replace the run with --overwrite", err)
	}
	return nil
}

// begin writes the settings of a new run, in place of one that is there, or compares them with those of the run that goes on.
// After that, samples can be added.
func (f *folder) begin(settings Settings) error {
	if f.resumed {
		if err := f.stored.differ(settings, true); err != nil {
			return fmt.Errorf("failed to resume the run in %s: %w", f.path, err)
		}
	} else {
		if err := f.clear(); err != nil {
			return err
		}
		f.stored = stored{Settings: settings}
	}
	f.stored.Finished = time.Time{}
	if err := f.writeStored(); err != nil {
		return err
	}
	if err := f.writeSamples(); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(f.path, generationsFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", filepath.Join(f.path, generationsFile), files.Cause(err))
	}
	f.out = out
	return nil
}

// add appends a sample to the file, where it stays even if the machine stops.
func (f *folder) add(s Sample) error {
	line := append(plainjson.Append(nil, s), '\n')
	f.lock.Lock()
	defer f.lock.Unlock()
	_, err := f.out.Write(line)
	if err == nil {
		err = f.out.Sync()
	}
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", f.out.Name(), files.Cause(err))
	}
	f.done[s.ID] = s
	return nil
}

// finish writes the samples in the order of their prompts, and that the run is finished.
func (f *folder) finish(warnings []string) (Run, error) {
	for _, warning := range warnings {
		if !slices.Contains(f.stored.Warnings, warning) {
			f.stored.Warnings = append(f.stored.Warnings, warning)
		}
	}
	if err := f.writeSamples(); err != nil {
		return Run{}, err
	}
	f.stored.Finished = time.Now().UTC().Truncate(time.Second)
	if err := f.writeStored(); err != nil {
		return Run{}, err
	}
	return f.run(), nil
}

// run returns the run in the folder.
func (f *folder) run() Run {
	return Run{Settings: f.stored.Settings, Samples: f.samples(), Warnings: f.stored.Warnings}
}

// whole returns the number of prompts that need not be done again.
func (f *folder) whole() int {
	n := 0
	for _, s := range f.done {
		if !incomplete(s) {
			n++
		}
	}
	return n
}

// samples returns the samples that are done, in the order of their prompts.
func (f *folder) samples() []Sample {
	var samples []Sample
	for _, p := range f.prompts {
		if s, ok := f.done[p.ID]; ok {
			samples = append(samples, s)
		}
	}
	return samples
}

func (f *folder) writeStored() error {
	path := filepath.Join(f.path, settingsFile)
	if err := files.Write(path, 0o644, func(w io.Writer) error { return plainjson.Write(w, f.stored, "  ") }); err != nil {
		return fmt.Errorf("failed to write %s: %w", path, err)
	}
	return nil
}

func (f *folder) writeSamples() error {
	path := filepath.Join(f.path, generationsFile)
	err := files.Write(path, 0o644, func(w io.Writer) error {
		for _, s := range f.samples() {
			if _, err := w.Write(append(plainjson.Append(nil, s), '\n')); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", path, err)
	}
	return nil
}

// close releases the folder.
func (f *folder) close() {
	if f.out != nil {
		_ = f.out.Close() // each line is on disk already
	}
	if f.held != nil {
		_ = f.held.Close()
	}
}
