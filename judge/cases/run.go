package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
)

// Judges are the judges of plans with the same metrics, one for each rubric, with
// one model, one context size and one cache. They are safe for concurrent use.
type Judges struct {
	first *judge.Judge // with the rubric Rubric
	byKey map[string]*judge.Judge
	order map[string]int // of the keys
	price float64        // of a million tokens
}

// NewJudges returns the judges for a plan. j uses the rubric [Rubric] and has a
// context size that is enough for all of [Plan.Configs]; the caller closes it.
// price is the price of a million tokens, for the cost in reports. The server is
// not contacted yet.
func NewJudges(j *judge.Judge, p *Plan, price float64) (*Judges, error) {
	all := &Judges{first: j, price: price, byKey: map[string]*judge.Judge{}, order: map[string]int{}}
	for _, c := range slices.Concat(p.calls...) {
		if all.byKey[c.key] != nil {
			continue
		}
		one, err := j.With(c.config)
		if err != nil {
			all.Close()
			return nil, err
		}
		all.order[c.key] = len(all.byKey)
		all.byKey[c.key] = one
	}
	return all, nil
}

// Close closes the connections. No run may be in progress.
func (j *Judges) Close() {
	for _, one := range j.byKey {
		one.Close()
	}
}

// DisbeliefError means that the judge failed its self-test.
type DisbeliefError struct{ Why string }

// Error implements error.
func (e *DisbeliefError) Error() string {
	return "failed to judge cases: " + e.Why
}

// Trust reads the self-test of the model from a folder. It returns a warning if the
// model was not tested or its server does not answer, and an error if it failed or
// cannot judge cases. If the server cannot load the model, Trust returns neither: the calls
// for verdicts report it.
func (j *Judges) Trust(ctx context.Context, folder string) (warning string, err error) {
	if err := j.first.Graded(); err != nil {
		return "", fmt.Errorf("failed to judge cases: each metric is a rubric: %w", err)
	}
	if _, err := j.first.Identify(ctx); err != nil && ctx.Err() == nil {
		return "the judge's self-test is not known, because its server cannot be asked which model it is: " + err.Error(), nil
	}
	model, err := j.first.Connect(ctx)
	if err != nil {
		return "", nil //nolint:nilerr // it will be the error of every metric
	}
	found, err := selftest.Read(folder, model)
	switch {
	case err != nil:
		return "", err
	case found == nil:
		return "the judge was not tested and may be unreliable: run toxscreen judge --self-test --judge-rubric " + Rubric, nil
	case found.Failed != "":
		return "", &DisbeliefError{found.Failed}
	}
	return "", nil
}

// together is the number of cases that are judged by one rubric before the next rubric
// follows: of consecutive prompts, the server evaluates the common beginning once.
const together = 64

// errUnknownMetric is the error of a metric that the judges were not created for.
var errUnknownMetric = errors.New("failed to judge text: the judges were made for a plan without this metric")

// Run judges the cases of a plan, as many calls at once as the judge may make, and
// yields the reports in the order of the cases. A metric without a verdict has its
// error in the report. progress is called after each call, from one goroutine at a
// time; it may be nil. When ctx ends, the sequence ends before the first case whose
// calls are not all done. All work has ended when the sequence ends.
func (j *Judges) Run(ctx context.Context, p *Plan, progress func(done, all int)) iter.Seq[Report] {
	return func(yield func(Report) bool) {
		ctx, cancel := context.WithCancel(ctx)
		type item struct {
			*call
			answer *answer
			ended  *sync.WaitGroup
		}
		var items []item
		answers := make([][]answer, len(p.cases))
		ended := make([]sync.WaitGroup, len(p.cases))
		for start := 0; start < len(p.cases); start += together {
			begin := len(items)
			for i := start; i < min(start+together, len(p.cases)); i++ {
				answers[i] = make([]answer, len(p.calls[i]))
				for k, c := range p.calls[i] {
					ended[i].Add(1)
					items = append(items, item{c, &answers[i][k], &ended[i]})
				}
			}
			slices.SortStableFunc(items[begin:], func(a, b item) int { return cmp.Compare(j.order[a.key], j.order[b.key]) })
		}
		var next, done atomic.Int64
		var shown sync.Mutex
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()
		for range j.first.Parallel() {
			workers.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
					it := items[i]
					one := j.byKey[it.key]
					switch {
					case ctx.Err() != nil:
						it.answer.err = ctx.Err()
					case it.err != nil:
						it.answer.err = it.err
					case one == nil:
						it.answer.err = errUnknownMetric
					default:
						it.answer.verdict, it.answer.err = one.JudgeCase(ctx, it.asked)
					}
					if progress != nil {
						shown.Lock()
						progress(int(done.Add(1)), len(items))
						shown.Unlock()
					}
					it.ended.Done()
				}
			})
		}
		for i, c := range p.cases {
			ended[i].Wait()
			if ctx.Err() != nil || !yield(reportOf(c.CaseID, p.calls[i], answers[i], j.price)) {
				return
			}
		}
	}
}
