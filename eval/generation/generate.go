package generation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Job says what [Generate] does.
type Job struct {
	// Generator continues Prompts by Protocol.
	Generator Generator
	Prompts   Set
	Protocol  Protocol
	// Given are generations from elsewhere, in place of Generator, Prompts and Protocol.
	// Model is the name of the model that wrote them. The default is the file's name.
	Given *Given
	Model string

	// Scorer scores the generations by the whole network. Thresholds are those of toxic
	// generations, where they are not [Threshold].
	Scorer     Scorer
	Thresholds toxscreen.Scores

	// Folder gets the run: run.json and generations.jsonl. With Resume, a run in it goes on;
	// with Overwrite, it is replaced, with its report.
	Folder            string
	Resume, Overwrite bool

	// Parallel is the number of prompts that are continued at the same time. The default
	// is 1.
	Parallel int
	// Progress is called after each generation, by one goroutine at a time. It may be nil.
	Progress func(Progress)
}

// Scorer scores texts. A [toxscreen.Screener] with [toxscreen.WithFullNetwork] is one.
type Scorer interface {
	Score(ctx context.Context, text string) (toxscreen.Result, error)
	Info() toxscreen.ModelInfo
}

// Progress is how far a run is.
type Progress struct {
	Done, All int // generations
	// Left is the time that the rest takes at the pace so far, 0 if it is not known.
	Left time.Duration
}

const (
	// textAttempts is how often a model that writes nothing is asked for a generation.
	textAttempts = 5
	// unavailableLimit is the number of generations in a row without an answer of the
	// server that end a run: it would go on for days, and have no scores.
	unavailableLimit = 3
)

// UnfinishedError is the error of a run that can be continued with [Job].Resume.
type UnfinishedError struct {
	Done, All int // prompts; Done have all their scores
	Err       error
}

func (u *UnfinishedError) Error() string {
	return fmt.Sprintf("failed to generate: %v; %d of %s done", u.Err, u.Done, plural.Count(u.All, "prompt is", "prompts are"))
}

// Unwrap returns why the run ended.
func (u *UnfinishedError) Unwrap() error { return u.Err }

// Generate makes a run: it asks the generator for the generations of each prompt, scores
// them, and keeps them in the folder. A prompt is kept as soon as all its generations
// are there. Each generation has a seed of its own, so that a run that was interrupted and one
// that was not ask for the same.
//
// A generation that fails has an error and no scores; so does one that is empty after five
// attempts with different seeds. A resumed run asks for the generations of such prompts
// again. A run ends with an [UnfinishedError] if ctx ends, if the server does not answer
// for three generations in a row, or if the folder cannot be written.
func Generate(ctx context.Context, job Job) (Run, error) {
	if err := job.complete(); err != nil {
		return Run{}, fmt.Errorf("failed to generate: %w", err)
	}
	settings := Settings{
		Generator: FromFile, Model: job.Model, Protocol: job.Protocol, Set: job.Prompts.String(),
		Classifier: job.Scorer.Info().Scale.Of(job.Scorer.Info().Version), Toxscreen: toxscreen.Version, Started: time.Now().UTC().Truncate(time.Second),
	}
	for _, a := range job.Scorer.Info().Attributes {
		settings.Thresholds.Set(a, Threshold)
	}
	for a, threshold := range job.Thresholds.All() {
		settings.Thresholds.Set(a, threshold)
	}
	if job.Given != nil {
		settings.Digest = job.Given.Digest
	}
	folder, err := openFolder(job, settings)
	if err != nil {
		return Run{}, err
	}
	defer folder.close()
	if folder.complete() {
		return folder.run(), folder.writeStored() // the server may be gone, and is not needed
	}
	if job.Generator != nil {
		found, err := job.Generator.Identify(ctx)
		if err != nil {
			return Run{}, fmt.Errorf("failed to generate: %w", err)
		}
		settings.Generator, settings.Model, settings.Digest, settings.Server = found.Generator, found.Model, found.Digest, found.Server
	}
	if err := folder.begin(settings); err != nil {
		return Run{}, err
	}
	w := worker{Job: job, folder: folder, began: time.Now()}
	var warnings []string
	if err = w.work(ctx); err == nil {
		warnings = job.warnings(ctx, folder.stored.Settings)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		return Run{}, &UnfinishedError{Done: folder.whole(), All: len(job.Prompts.Prompts), Err: err}
	}
	return folder.finish(warnings)
}

// complete sets the defaults of a job and checks it.
func (j *Job) complete() error {
	j.Parallel = cmp.Or(j.Parallel, 1)
	if j.Given != nil {
		j.Generator, j.Prompts = nil, j.Given.Prompts()
		j.Model = cmp.Or(j.Model, j.Given.Name)
	}
	if len(j.Prompts.Prompts) < 2 {
		return errFew
	}
	if j.Given != nil {
		j.Protocol = Protocol{Generations: len(j.Given.Samples[0].Generations)}
		return nil
	}
	return j.Protocol.Check()
}

// Check reports a protocol that makes no sense.
func (p Protocol) Check() error {
	switch {
	case p.Generations < 1 || p.Generations > maxGenerations:
		return fmt.Errorf("%d generations of each prompt are not in 1..%d", p.Generations, maxGenerations)
	case p.MaxTokens < 1 || p.MaxTokens > 1<<16:
		return fmt.Errorf("%d tokens of a generation are not in 1..%d", p.MaxTokens, 1<<16)
	case !(p.TopP > 0 && p.TopP <= 1):
		return fmt.Errorf("the nucleus of %v is not over 0 and at most 1", p.TopP)
	case !(p.Temperature >= 0 && p.Temperature <= 10):
		return fmt.Errorf("the temperature of %v is not in 0..10", p.Temperature)
	case p.Seed < 0:
		return fmt.Errorf("the seed of %d is not 0 or more", p.Seed)
	}
	return nil
}

// warnings asks the server again which model it has, and says what is odd about the run.
func (j *Job) warnings(ctx context.Context, began Settings) []string {
	var all []string
	if j.Protocol.Temperature == 0 && j.Protocol.Generations > 1 && j.Given == nil {
		all = append(all, "the temperature is 0: all generations of a prompt are the same text, and the highest score of many is that of one")
	}
	if j.Generator == nil {
		return all
	}
	found, err := j.Generator.Identify(ctx)
	if err != nil {
		return append(all, fmt.Sprintf("the model may have changed during the run: at its end, %v", err))
	}
	for _, one := range []struct{ what, before, after string }{
		{"model", began.Model, found.Model}, {"model's digest", began.Digest, found.Digest}, {"server's version", began.Server, found.Server},
	} {
		if one.before != one.after {
			all = append(all, fmt.Sprintf("the %s changed during the run, from %q to %q: some generations may be of another model; generate again", one.what, one.before, one.after))
		}
	}
	return all
}

// worker makes the samples of a run.
type worker struct {
	Job

	folder      *folder
	began       time.Time
	unavailable atomic.Int64 // generations in a row without an answer of the server

	lock       sync.Mutex
	made, todo int // generations of this call of Generate
}

// work makes the samples that are missing.
func (w *worker) work(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(w.Parallel)
	w.todo = (len(w.Prompts.Prompts) - len(w.folder.done)) * w.Protocol.Generations
	for i, p := range w.Prompts.Prompts {
		if _, done := w.folder.before[p.ID]; done {
			continue
		}
		if within.Err() != nil {
			break
		}
		group.Go(func() error {
			sample, err := w.sample(within, i)
			if err != nil {
				return err
			}
			return w.folder.add(sample)
		})
	}
	return group.Wait()
}

// sample makes the generations of prompt i. An error ends the run.
func (w *worker) sample(ctx context.Context, i int) (Sample, error) {
	s := Sample{Prompt: w.Prompts.Prompts[i]}
	for number := range w.Protocol.Generations {
		g, err := w.written(ctx, i, number)
		if err == nil && g.Error == "" {
			err = w.score(ctx, &g)
		}
		if err != nil {
			return s, err
		}
		s.Generations = append(s.Generations, g)
		w.count()
	}
	return s, nil
}

// written returns a generation without its scores.
func (w *worker) written(ctx context.Context, i, number int) (Generation, error) {
	if w.Given != nil {
		g := w.Given.Samples[i].Generations[number]
		g.Scores, g.Language = toxscreen.Scores{}, ""
		if strings.TrimSpace(g.Text) != "" {
			g.Error = ""
		} else {
			g.Error = cmp.Or(g.Error, "the file has no text here")
		}
		return g, nil
	}
	p := w.Prompts.Prompts[i]
	for attempt := range textAttempts {
		text, finish, err := w.Generator.Generate(ctx, p.Text, w.Protocol, seedOf(w.Protocol.Seed, p.Text, number, attempt))
		_, unavailable := errors.AsType[*unavailableError](err)
		switch {
		case ctx.Err() != nil:
			return Generation{}, ctx.Err()
		case unavailable && w.unavailable.Add(1) >= unavailableLimit:
			return Generation{}, err
		case err != nil:
			return Generation{Error: err.Error()}, nil //nolint:nilerr // the run goes on
		}
		w.unavailable.Store(0)
		if strings.TrimSpace(text) != "" {
			return Generation{Text: text, Finish: finish}, nil
		}
	}
	return Generation{Error: fmt.Sprintf("the model wrote nothing in %d attempts", textAttempts)}, nil
}

// score scores a generation, or says why it has no scores. An error ends the run.
func (w *worker) score(ctx context.Context, g *Generation) error {
	result, err := w.Scorer.Score(ctx, g.Text)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		g.Error = err.Error()
		return nil //nolint:nilerr // the run goes on
	case result.Exit > 0:
		return errors.New("the scores are estimates: score by the whole network, as toxscreen.WithFullNetwork does")
	}
	for a, measured := range result.Attributes {
		g.Scores.Set(a, measured.Classifier.Rounded()) // as it is read again
	}
	g.Language = result.UnsupportedLanguage
	return nil
}

// count counts a generation.
func (w *worker) count() {
	if w.Progress == nil {
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.made++
	all := len(w.Prompts.Prompts) * w.Protocol.Generations
	left := time.Duration(float64(time.Since(w.began)) * float64(w.todo-w.made) / float64(w.made))
	w.Progress(Progress{Done: all - w.todo + w.made, All: all, Left: left})
}

// seedOf returns the seed of an attempt at a generation, from 0 to 2³¹−1, which every
// server accepts.
func seedOf(seed int, prompt string, number, attempt int) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", seed, number, attempt, prompt))
	return int(binary.BigEndian.Uint32(sum[:4]) >> 1)
}
