package screen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
)

// NoCache is the value of [Settings.JudgeCache] that stores no verdicts.
const NoCache = "off"

// cachedVerdicts is the maximum number of verdicts in the cache: about 100 MB.
const cachedVerdicts = 50_000

// OpenedJudge is a judge with its cache.
type OpenedJudge struct {
	*judge.Judge
	cache *store.Verdicts // nil if there is none
}

// OpenJudge opens the judge of the settings, with its cache, for callers who ask it themselves.
// It does not contact the server yet.
func OpenJudge(s Settings) (OpenedJudge, error) {
	var cache *store.Verdicts
	if s.JudgeCache != NoCache {
		file := s.JudgeCache
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
		s.Judge.Cache = cache
	}
	opened, err := judge.New(s.Judge)
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

// SelfTests returns the folder with the outcomes of self-tests, which may not exist yet.
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
// model's self-test: both may change while texts are scored. It does not load the
// model, and texts do not wait for the answer. Without a judge it returns an error.
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

// JudgeTrust returns what the judge's verdicts may change, as it was looked up last. ok is
// false if there is no judge, or if no text needed it yet.
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
// [judge.Config].Patient.
func (s *Screener) JudgeWaits() bool { return s.asked != nil && s.asked.judge.Waiting() }

// SelfTest tests the judge beside the classifier in use; see [selftest.Setup.Run].
func (s *Screener) SelfTest(ctx context.Context, progress func(selftest.Progress)) (selftest.Outcome, error) {
	if s.asked == nil {
		return selftest.Outcome{}, errors.New("failed to test the judge: none is configured")
	}
	a := s.asked
	return selftest.Setup{Judge: a.judge, Classifier: a.settings.Judge.Classifier, Fusion: a.fusion, Folder: a.folder}.Run(ctx, progress)
}

// asked is a judge with what its verdicts are worth. Which model it is and what that is worth
// is looked up when a text first needs it: the server knows the model, the self-test the worth.
type asked struct {
	judge    *judge.Judge
	settings Settings
	folder   string         // of self-tests
	fusion   *fusion.Fusion // without a judge
	best     *fusion.Fusion // for a judge that is never wrong

	found atomic.Pointer[knownJudge]
	told  atomic.Pointer[Trust] // what OnTrust was told last; nil before that
	// cases is what the classifier says of the texts of the self-test, by their IDs; nil
	// until a self-test is read.
	cases map[string]toxscreen.Classification
	lock  sync.Mutex // to change found, told and cases
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

// opinion returns the judge as a Screener asks for its opinion.
func (a *asked) opinion() toxscreen.Opinion {
	return toxscreen.Opinion{
		Decide: a.decide, Recall: a.recall, Ask: a.ask, Parallel: a.judge.Parallel(),
		Fuse: func(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
			return a.now().Fuse(scores, verdict)
		},
		Version: a.fusion.Version(),
	}
}

// decide asks about a text if the verdict of the judge is worth its price, or if the text is in
// the band. Which judge the server has is not known before a text needs it.
func (a *asked) decide(found toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision {
	// If not even a perfect verdict would be asked for, the server is not asked which
	// judge it has. The sentence is the same once the judge is known.
	decide, forBest := a.best.Decide, " for a judge that is never wrong"
	if a.settings.JudgeBand != nil {
		decide, forBest = a.settings.JudgeBand.Decide, ""
	}
	first, known := decide(found, thresholds), a.found.Load()
	switch {
	case !first.Ask:
		if forBest != "" {
			first.Why += ", even" + forBest
		}
		return first
	case a.settings.JudgeTrust != TrustNone && known != nil:
		return known.decide(a.settings.JudgeBand, found, thresholds)
	case forBest != "":
		first.Why += "," + forBest
	}
	if a.settings.JudgeTrust == TrustNone {
		return first
	}
	if forBest != "" {
		first.Why += "; the actual judge is not known yet"
	}
	provisional := first
	first.Settle = func(ctx context.Context) toxscreen.Decision {
		known, err := a.look(ctx)
		if err != nil {
			return provisional // asking the judge then gives the reason
		}
		return known.decide(a.settings.JudgeBand, found, thresholds)
	}
	return first
}

// decide decides for a known judge, and for a band if there is one.
func (k *knownJudge) decide(band *toxscreen.Band, found toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision {
	switch {
	case !k.trust.Asked():
		return toxscreen.Decision{Why: "a verdict would be ignored: " + k.trust.Why}
	case band != nil:
		return band.Decide(found, thresholds)
	}
	return k.fusion.Decide(found, thresholds)
}

// ask asks the judge, unless it has earned no trust.
func (a *asked) ask(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error) {
	known, missed := a.look(ctx)
	if missed == nil && !known.trust.Asked() {
		return toxscreen.Verdict{}, errors.New(known.trust.Why)
	}
	// If the server did not answer, the judge waits for it or returns the reason; see
	// [judge.Config].Patient.
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

// recall returns the stored verdict of a judge that has earned trust.
func (a *asked) recall(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, bool) {
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

// now returns the fusion for the judge that is known; before that, the one without a judge.
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
			if a.cases, err = selftest.Classify(ctx, a.settings.Judge.Classifier, selftest.Cases()); err != nil {
				return nil, err
			}
		}
		outcome := tested.Measure(a.fusion, a.cases)
		measured = &outcome.Tested
	}
	known.fusion, known.trust = weighed(a.fusion, model, tested, measured)
	if err != nil && known.trust.State == Untested {
		if a.settings.Judge.Log != nil {
			a.settings.Judge.Log.Warn("the judge's self-test cannot be read", "error", err)
			err = errors.New("the judge's self-test cannot be read: the log says why")
		}
		known.trust.Why = err.Error()
	}
	if a.settings.JudgeTrust == TrustNone {
		known.fusion, known.trust = a.fusion, unweighted
	}
	a.found.Store(known)
	a.tell(known.trust)
	return known, nil
}

// unweighted is the trust in every judge under [TrustNone].
var unweighted = Trust{State: Unweighted, Why: "judge_trust is none: the verdicts of the judge change no score"}

// missed remembers that the server did not answer. What is known about the judge stays: the
// server may be back soon.
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
	if told := a.told.Swap(&t); a.settings.OnTrust != nil && (told == nil || !told.equal(t)) {
		a.settings.OnTrust(t)
	}
}
