package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
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
	// Patient makes texts wait while a server that has answered before fails or
	// restarts; see [judge.Config]. A batch wants this, an answer to a person does not.
	Patient bool
	// Band is the range of toxicity in which the judge is asked; nil asks it if its
	// verdict is worth its price. It does not matter if the judge is not trusted.
	Band *toxscreen.Band
	// Trust says whether a judge must have earned trust to be asked; default:
	// [TrustTested].
	Trust TrustMode
	// OnTrust is called when it becomes known what the judge's verdicts may change, and
	// when that changes, from one goroutine at a time. Default: not called.
	OnTrust func(Trust)
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
func OpenJudge(s Judge) (OpenedJudge, error) { return openJudge(s, nil) }

// openJudge opens a judge that is asked about what a classifier finds.
func openJudge(s Judge, classifier toxscreen.Classifier) (OpenedJudge, error) {
	config := judge.Config{
		Model: s.Model, Host: s.Host, Log: s.Log, Rubric: s.Rubric, Dialect: s.Dialect, Reason: s.Reason,
		Timeout: s.Timeout, LoadTimeout: s.LoadTimeout, Parallel: s.Parallel, Patient: s.Patient, Context: s.Context, Classifier: classifier,
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

// Trust returns what the verdicts of the judge may change by its self-test, without
// labelled texts. It asks the server which model it has.
func (o OpenedJudge) Trust(ctx context.Context) (Trust, error) {
	found, err := o.Identify(ctx)
	if err != nil {
		return Trust{}, err
	}
	return o.trust(found, Settings{}, "")
}

// SelfTests returns the folder with the outcomes of self-tests. It may not exist.
func SelfTests() (string, error) { return files.InConfig("judges") }

// FindJudge contacts the judge's server, reads the judge's self-test, and makes the
// server load the model. Without a judge it returns an error.
func (s *Screener) FindJudge(ctx context.Context) error {
	if err := s.RecheckJudge(ctx); err != nil {
		return err
	}
	_, err := s.asked.judge.Connect(ctx)
	return err
}

// RecheckJudge asks the judge's server again which model it has, and reads that
// model's self-test, so that both may change while texts are scored. It does not
// load the model, and texts do not wait for it. Without a judge it returns an error.
func (s *Screener) RecheckJudge(ctx context.Context) error {
	if s.asked == nil {
		return errors.New("failed to find the judge: none is configured")
	}
	model, err := s.asked.judge.Refresh(ctx)
	if err != nil {
		s.asked.missed(ctx, err)
		return err
	}
	_, err = s.asked.know(ctx, model)
	return err
}

// JudgeTrust returns what the judge's verdicts may change, as far as it was looked up
// last; ok is false if there is no judge, or if it was not needed yet.
func (s *Screener) JudgeTrust() (t Trust, ok bool) {
	if s.asked == nil {
		return Trust{}, false
	}
	told := s.asked.told.Load()
	if told == nil {
		return Trust{}, false
	}
	return *told, true
}

// JudgeWaits reports whether texts wait for a judge whose server fails; see
// [Judge.Patient].
func (s *Screener) JudgeWaits() bool { return s.asked != nil && s.asked.judge.Waiting() }

// asked is a judge with its rule and its fusion. Which model the judge is and what
// its verdicts are worth is looked up when a text first needs it: the server knows
// the model, the self-test the worth.
type asked struct {
	judge      *judge.Judge
	classifier toxscreen.Classifier
	folder     string // of self-tests
	band       *toxscreen.Band
	trust      TrustMode
	fusion     *fusion.Fusion // without a judge
	best       *fusion.Fusion // for a judge that is never wrong
	log        *slog.Logger   // nil if errors may have all details
	onTrust    func(Trust)    // nil if nobody wants to know

	found atomic.Pointer[knownJudge]
	told  atomic.Pointer[Trust] // the last that is known; nil if nothing is
	// cases is what the classifier says of the texts of the self-test, by their IDs; nil
	// until a self-test is read.
	cases map[string]toxscreen.Classification
	// Only the holder of the lock changes the three.
	lock sync.Mutex
}

// knownJudge is what was looked up about a judge.
type knownJudge struct {
	model  string         // as in its verdicts
	fusion *fusion.Fusion // for this judge
	trust  Trust
}

// warned returns a verdict with the warning that it does not count, if it does not.
func (k *knownJudge) warned(v toxscreen.Verdict) toxscreen.Verdict {
	if k.trust.State == Unweighted {
		v.Warnings = append(v.Warnings, k.trust.Why)
	}
	return v
}

// Parallel implements [toxscreen.Judge].
func (a *asked) Parallel() int { return a.judge.Parallel() }

// Judge implements [toxscreen.Judge]. A judge that has earned no trust is not asked.
func (a *asked) Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error) {
	known, missed := a.look(ctx)
	if missed == nil && !known.trust.Asked() {
		return toxscreen.Verdict{}, errors.New(known.trust.Why)
	}
	// If the server did not answer, this call waits for it if it may, and else returns why.
	v, err := a.judge.Judge(ctx, text, found)
	if err != nil {
		return v, err
	}
	if told := a.told.Load(); missed != nil || told == nil || told.State == Unreachable || known.model != v.Model {
		// The server has come back, or has another model by now.
		if known, err = a.identify(ctx); err != nil {
			return toxscreen.Verdict{}, err
		}
		if !known.trust.Asked() {
			return toxscreen.Verdict{}, errors.New(known.trust.Why)
		}
	}
	return known.warned(v), nil
}

// Recall implements [toxscreen.Recaller].
func (a *asked) Recall(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, bool) {
	known := a.found.Load()
	if known == nil || !known.trust.Asked() {
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
	// If not even a perfect verdict would be asked for, the server is not asked which
	// judge it has. The sentence is the same once the judge is known.
	forBest := ""
	if a.band != nil {
		ask, why = a.band.Escalate(ctx, found, thresholds)
	} else {
		ask, why = a.best.Escalate(ctx, found, thresholds)
		forBest = " for a judge that is never wrong"
	}
	known := a.found.Load()
	switch {
	case !ask && forBest != "":
		return false, why + ", even" + forBest, true
	case !ask:
		return false, why, true
	case a.trust == TrustNone && forBest != "":
		return true, why + "," + forBest, true
	case a.trust == TrustNone:
		return true, why, true
	case known == nil && forBest != "":
		return true, why + "," + forBest + "; the actual judge is not known yet", false
	case known == nil:
		return true, why, false
	}
	ask, why = known.escalate(ctx, a.band, found, thresholds)
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
	return known.escalate(ctx, a.band, found, thresholds)
}

// escalate is the rule for a known judge, and for a band if there is one.
func (k *knownJudge) escalate(ctx context.Context, band *toxscreen.Band, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string) {
	switch {
	case !k.trust.Asked():
		return false, "a verdict would be ignored: " + k.trust.Why
	case band != nil:
		return band.Escalate(ctx, found, thresholds)
	}
	return k.fusion.Escalate(ctx, found, thresholds)
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

// look returns which judge there is and what its verdicts may change, and looks it up
// the first time.
func (a *asked) look(ctx context.Context) (*knownJudge, error) {
	if known := a.found.Load(); known != nil {
		return known, nil
	}
	return a.identify(ctx)
}

// identify looks up which judge there is and what its verdicts may change. Unless
// the server may have changed the model, it is asked only once.
func (a *asked) identify(ctx context.Context) (*knownJudge, error) {
	model, err := a.judge.Identify(ctx)
	if err != nil {
		a.missed(ctx, err)
		return nil, err
	}
	return a.know(ctx, model)
}

// know reads the self-test of a model and remembers what its verdicts may change.
func (a *asked) know(ctx context.Context, model judge.Model) (*knownJudge, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	known := &knownJudge{model: model.String()}
	tested, err := selftest.Read(a.folder, model)
	var measured *fusion.Tested
	if tested != nil {
		if a.cases == nil {
			if a.cases, err = selftest.Classify(ctx, a.classifier, selftest.Cases()); err != nil {
				return nil, err
			}
		}
		outcome := tested.Measure(a.fusion, a.cases)
		measured = &outcome.Tested
	}
	known.fusion, known.trust = weighed(a.fusion, model, tested, measured)
	if err != nil && known.trust.State == Untested {
		if a.log != nil {
			a.log.Warn("the judge's self-test cannot be read", "error", err)
			err = errors.New("the judge's self-test cannot be read: the log says why")
		}
		known.trust.Why = err.Error()
	}
	if a.trust == TrustNone {
		known.fusion, known.trust = a.fusion, unweighted
	}
	a.found.Store(known)
	a.tell(known.trust)
	return known, nil
}

// unweighted is the trust in every judge under [TrustNone].
var unweighted = Trust{State: Unweighted, Why: "judge_trust is none: the verdicts of the judge change no score"}

// missed remembers that the server could not be asked. What is known about the judge
// stays: it may be back soon.
func (a *asked) missed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the caller did not wait for the answer
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.tell(Trust{State: Unreachable, Why: err.Error()})
}

// tell remembers the trust, and reports it if it has changed. The caller holds the
// lock.
func (a *asked) tell(t Trust) {
	if told := a.told.Swap(&t); a.onTrust != nil && (told == nil || !told.equal(t)) {
		a.onTrust(t)
	}
}
