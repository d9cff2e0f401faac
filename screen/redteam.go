package screen

import (
	"context"
	"errors"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/cases"
)

// Redteam has the judges of nexa-gauge's cases.
type Redteam struct {
	*cases.Judges

	base      OpenedJudge // with the rubric [cases.Rubric]
	selfTests string
	trust     TrustMode
}

// OpenRedteam opens the judges for a plan, with one model, one cache and one
// context size. They use the rubrics of the metrics: the rubric in s is ignored.
// price is the price of a million tokens. The server is not contacted yet.
func OpenRedteam(s Settings, p *cases.Plan, price float64) (*Redteam, error) {
	var err error
	if s.Judge.Rubric, err = judge.OpenRubric(cases.Rubric); err != nil {
		return nil, err
	}
	tokens, err := judge.Context(append(p.Configs(s.Judge), s.Judge)...)
	if err != nil {
		return nil, err
	}
	s.Judge.Context = max(s.Judge.Context, tokens)
	r := &Redteam{trust: s.JudgeTrust}
	if r.selfTests, err = SelfTests(); err != nil {
		return nil, err
	}
	if r.base, err = OpenJudge(s); err != nil {
		return nil, err
	}
	if r.Judges, err = cases.NewJudges(r.base.Judge, p, price); err != nil {
		r.base.Close()
		return nil, err
	}
	return r, nil
}

// Trust is [cases.Judges.Trust]. Under [TrustNone], a failed self-test is a warning, too.
func (r *Redteam) Trust(ctx context.Context) (warning string, err error) {
	warning, err = r.Judges.Trust(ctx, r.selfTests)
	if failed, ok := errors.AsType[*cases.DisbeliefError](err); ok && r.trust == TrustNone {
		return "the judge is asked because judge_trust is none: " + failed.Why, nil
	}
	return warning, err
}

// By returns a judge with another rubric and the same model, cache and context
// size. Close it before r.
func (r *Redteam) By(rubric judge.Rubric) (*judge.Judge, error) {
	return r.base.With(func(c *judge.Config) { c.Rubric = rubric })
}

// Close closes the connections and the cache. No run may be in progress.
func (r *Redteam) Close() {
	r.Judges.Close()
	r.base.Close()
}
