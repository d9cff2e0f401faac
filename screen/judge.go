package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/store"
)

// Judge configures the judge. The zero value of each field except Model is its
// default.
type Judge struct {
	// Model is its name on the Ollama server, as `ollama list` shows it.
	Model string
	// Host is the address of the server; default: OLLAMA_HOST, else
	// 127.0.0.1:11434.
	Host string
	// Log gets the failures of the server, with its address. The errors of the judge,
	// which results have, do not name the address then. A server needs it for clients
	// that are not to know the address. Default: none.
	Log *slog.Logger
	// Rubric is the rubric; default: "attributes".
	Rubric judge.Rubric
	// Dialect is how the model is asked, one of [judge.Dialects]; default: "auto", by
	// its name.
	Dialect string
	// Timeout is the time limit for one text, LoadTimeout for loading the model;
	// default: 1 and 5 minutes.
	Timeout, LoadTimeout time.Duration
	// Parallel is the number of texts that are judged at once; default: 1.
	Parallel int
	// Context is the minimum context size in tokens; see [judge.Config].
	Context int
	// Reason asks for a sentence with the reason, which takes longer.
	Reason bool
	// Band is the range of toxicity in which the judge is asked; nil asks it if its
	// verdict is worth its price.
	Band *toxscreen.Band
	// Cache is the file that stores verdicts, or [NoCache]; default: verdicts.db in
	// toxscreen's folder of the user's cache.
	Cache string
}

// NoCache is the value of [Judge.Cache] that stores no verdicts.
const NoCache = "off"

// cachedVerdicts is the maximum number of verdicts in the cache: about 100 MB.
const cachedVerdicts = 50_000

// OpenedJudge is a judge with its cache.
type OpenedJudge struct {
	*judge.Judge
	cache *store.Verdicts // nil if there is none
}

// OpenJudge opens a judge for callers who ask it themselves. It does not contact
// the server yet.
func OpenJudge(s Judge) (OpenedJudge, error) {
	config := judge.Config{
		Model: s.Model, Host: s.Host, Log: s.Log, Rubric: s.Rubric, Dialect: s.Dialect, Reason: s.Reason,
		Timeout: s.Timeout, LoadTimeout: s.LoadTimeout, Parallel: s.Parallel, Context: s.Context,
	}
	var cache *store.Verdicts
	if s.Cache != NoCache {
		file := s.Cache
		if file == "" {
			var err error
			if file, err = files.InCache("verdicts.db"); err != nil {
				return OpenedJudge{}, fmt.Errorf("%w; set the cache of verdicts to a file, or to %s", err, NoCache)
			}
		}
		var err error
		if cache, err = store.OpenVerdicts(file, cachedVerdicts); err != nil {
			return OpenedJudge{}, &CacheError{err}
		}
		config.Cache = cache
	}
	opened, err := judge.New(config)
	if err != nil {
		if cache != nil {
			err = errors.Join(err, cache.Close())
		}
		return OpenedJudge{}, err
	}
	return OpenedJudge{opened, cache}, nil
}

// CacheError means that the cache of verdicts cannot be opened. The judge would
// work without a cache.
type CacheError struct{ Err error }

// Error implements error.
func (e *CacheError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CacheError) Unwrap() error { return e.Err }

// Close closes the connections and the cache. No call may be in progress.
func (o OpenedJudge) Close() {
	o.Judge.Close()
	if o.cache != nil {
		_ = o.cache.Close() // what it could not write is judged again
	}
}

// SelfTests returns the folder with the outcomes of self-tests. It may not exist.
func SelfTests() (string, error) { return files.InConfig("judges") }

// FindJudge contacts the judge's server, reads the judge's self-test, and makes the
// server load the model. Without a judge it returns an error.
func (s *Screener) FindJudge(ctx context.Context) error {
	if s.asked == nil {
		return errors.New("failed to find the judge: none is configured")
	}
	if _, err := s.asked.look(ctx); err != nil {
		return err
	}
	_, err := s.asked.judge.Connect(ctx) // look may not have contacted the server
	return err
}

// asked is a judge with its rule and its fusion. Which model the judge is and what
// its verdicts are worth is looked up when a text first needs it: the server knows
// the model, the self-test the worth.
type asked struct {
	judge      *judge.Judge
	classifier toxscreen.Classifier
	folder     string // of self-tests
	band       *toxscreen.Band
	fusion     *fusion.Fusion // without a judge
	best       *fusion.Fusion // for a judge that is never wrong

	found atomic.Pointer[knownJudge]
}

// knownJudge is what was looked up about a judge.
type knownJudge struct {
	fusion  *fusion.Fusion // for this judge
	refused error          // why it is not asked, if it is not
	warning string         // for its verdicts
}

// warned returns a verdict with the warning about its judge.
func (k *knownJudge) warned(v toxscreen.Verdict) toxscreen.Verdict {
	if k.warning != "" {
		v.Warnings = append(v.Warnings, k.warning)
	}
	return v
}

// Parallel implements [toxscreen.Judge].
func (a *asked) Parallel() int { return a.judge.Parallel() }

// Judge implements [toxscreen.Judge]. A judge that failed its self-test is not
// asked.
func (a *asked) Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error) {
	known, err := a.look(ctx)
	if err != nil {
		// This call returns why the server does not answer.
		return a.judge.Judge(ctx, text, found)
	}
	if known.refused != nil {
		return toxscreen.Verdict{}, known.refused
	}
	v, err := a.judge.Judge(ctx, text, found)
	if err != nil {
		return v, err
	}
	return known.warned(v), nil
}

// Recall implements [toxscreen.Recaller].
func (a *asked) Recall(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, bool) {
	known := a.found.Load()
	if known == nil || known.refused != nil {
		return toxscreen.Verdict{}, false
	}
	v, ok := a.judge.Recall(ctx, text, found)
	if ok {
		v = known.warned(v)
	}
	return v, ok
}

// Presume implements [toxscreen.Presumer].
func (a *asked) Presume(ctx context.Context, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string, settled bool) {
	if a.band != nil {
		ask, why = a.band.Escalate(ctx, found, thresholds)
		return ask, why, true
	}
	// If not even a perfect verdict is worth its price, the server is not asked
	// which judge it has. The sentence is the same once the judge is known.
	ask, why = a.best.Escalate(ctx, found, thresholds)
	if !ask {
		return false, why + ", even for a judge that is never wrong", true
	}
	known := a.found.Load()
	if known == nil {
		return true, why + ", for a judge that is never wrong; the actual judge is not known yet", false
	}
	ask, why = known.fusion.Escalate(ctx, found, thresholds)
	return ask, why, true
}

// Escalate implements [toxscreen.Rule].
func (a *asked) Escalate(ctx context.Context, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string) {
	ask, why, settled := a.Presume(ctx, found, thresholds)
	if settled {
		return ask, why
	}
	known, err := a.look(ctx)
	if err != nil {
		return ask, why
	}
	return known.fusion.Escalate(ctx, found, thresholds)
}

// Version implements [toxscreen.Fusion].
func (a *asked) Version() string { return a.fusion.Version() }

// Fuse implements [toxscreen.Fusion].
func (a *asked) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	return a.now().Fuse(scores, verdict)
}

// now returns the fusion for the judge, or the one without a judge while the judge
// is not known.
func (a *asked) now() *fusion.Fusion {
	if known := a.found.Load(); known != nil {
		return known.fusion
	}
	return a.fusion
}

// look returns which judge there is and what its self-test says, and looks it up
// the first time. Concurrent callers may both do so, with the same outcome: the
// judge asks its server once.
func (a *asked) look(ctx context.Context) (*knownJudge, error) {
	if known := a.found.Load(); known != nil {
		return known, nil
	}
	found, tested, err := a.tested(ctx)
	if err != nil {
		return nil, err
	}
	model, err := a.judge.Identify(ctx)
	if err != nil {
		return nil, err
	}
	which := fusion.Judge{Model: model.String(), Rubric: model.Rubric}
	if tested {
		which.Tested = &found.Tested
	}
	known := &knownJudge{fusion: a.fusion.With(which)}
	switch {
	case !tested && !a.fusion.Knows(which):
		known.warning = "the judge was not tested and may be unreliable: run toxscreen judge --self-test"
	case tested && found.Failed != "" && !a.fusion.Knows(which):
		known.refused = errors.New(found.Failed)
	}
	a.found.Store(known)
	return known, nil
}
