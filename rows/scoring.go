package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
)

// scoring is the [task] of [Job.Score].
type scoring struct {
	screener *toxscreen.Screener
	unit     toxscreen.OffsetUnit
	limits   toxscreen.Limits

	model  string // its version, and the scale
	finder string // the version of what finds personal data; empty if it is not looked for
	early  bool   // texts may leave the network early: there is a column for the exit
	judged bool   // there is a judge, and there are columns for it
}

func newScoring(screener *toxscreen.Screener, o Options) *scoring {
	return &scoring{
		screener: screener, unit: o.OffsetUnit, limits: o.Limits,
		model: screener.Info().Scale.Of(screener.Versions().Model), finder: screener.Versions().Entities, early: screener.EndsEarly(), judged: screener.HasJudge(),
	}
}

func (s *scoring) versions() []Setting {
	all := []Setting{{Name: "the model", Value: s.model}}
	if s.finder != "" {
		all = append(all, finderSetting(s.finder))
	}
	return all
}

func (s *scoring) metadata() map[string]string {
	return map[string]string{"toxscreen.model": s.model}
}

func (s *scoring) outcomes(ctx context.Context, rows iter.Seq[row], text func(row) (string, error)) iter.Seq[outcome[toxscreen.Result]] {
	return func(yield func(outcome[toxscreen.Result]) bool) {
		for o := range toxscreen.Batch(ctx, s.screener, rows, text) {
			if !yield(outcome[toxscreen.Result]{o.Row, o.Result.In(s.unit, o.Row.Text), o.Err}) {
				return
			}
		}
	}
}

func (s *scoring) failOn() string {
	var limits []string
	if s.limits.Flagged {
		limits = append(limits, "flagged")
	}
	for _, a := range toxscreen.Attributes() {
		if p, ok := s.limits.Scores.Get(a); ok {
			limits = append(limits, fmt.Sprintf("%s=%v", a, p))
		}
	}
	return strings.Join(limits, ", ")
}

func (s *scoring) count(sum *Summary, r *Result) {
	found := &r.Value
	if found.Flagged {
		sum.Flagged++
	}
	if found.NotDecided != "" {
		sum.NotDecided++
	}
	if found.Reaches(s.limits) {
		sum.Reached++
	}
	if !found.Judge.Asked {
		return
	}
	sum.Asked++
	switch {
	case found.Judge.Missing():
		if sum.Unjudged() == 1 {
			sum.FirstUnjudged = fmt.Sprintf("row %d: %s", r.Number, found.Judge.Error)
		}
	case found.Source == toxscreen.SourceFused:
		sum.Verdicts++
	default:
		sum.Verdicts++
		sum.NotBelieved++
	}
}

func (*scoring) fromCells(cell func(column string) string) (toxscreen.Result, error) {
	r := toxscreen.Result{
		NotDecided: cell("not_decided"), Flagged: cell("flagged") == "true", Attributes: toxscreen.AttributeResults{}, Source: toxscreen.Source(cell("source")),
	}
	if judged := cell("judge"); judged != "" {
		if err := json.Unmarshal([]byte(judged), &r.Judge); err != nil {
			return r, err
		}
	}
	for _, a := range toxscreen.Attributes() {
		if p, err := strconv.ParseFloat(cell(a.String()), 64); err == nil {
			r.Attributes[a] = toxscreen.AttributeResult{Score: toxscreen.Probability(p)}
		}
	}
	return r, nil
}

func (s *scoring) columns() []resultColumn[toxscreen.Result] {
	var all []resultColumn[toxscreen.Result]
	scored := func(name string, node parquet.Node, value func(*toxscreen.Result) any) {
		all = append(all, valueColumn(name, node, value))
	}
	scored("score", doubleColumn, func(r *toxscreen.Result) any { return r.Score })
	scored("flagged", booleanColumn, func(r *toxscreen.Result) any {
		if r.NotDecided != "" {
			return nil
		}
		return r.Flagged
	})
	scored("severity", textColumn, func(r *toxscreen.Result) any { return unlessEmpty(string(r.Severity)) })
	for _, a := range toxscreen.Attributes() {
		scored(a.String(), doubleColumn, func(r *toxscreen.Result) any {
			if measured, ok := r.Attributes[a]; ok {
				return measured.Score
			}
			return nil
		})
	}
	scored("passages", jsonColumn, func(r *toxscreen.Result) any {
		if r.Passages == nil {
			return nil // nothing is flagged
		}
		return r.Passages
	})
	scored("spans", jsonColumn, func(r *toxscreen.Result) any {
		if r.Spans == nil {
			return nil // the model has no spans
		}
		return r.Spans
	})
	if s.finder != "" {
		scored("entities", jsonColumn, func(r *toxscreen.Result) any { return r.Entities })
	}
	scored("warnings", jsonColumn, func(r *toxscreen.Result) any { return r.Warnings })
	scored("not_decided", textColumn, func(r *toxscreen.Result) any { return unlessEmpty(r.NotDecided) })
	all = append(all, errorColumn[toxscreen.Result]())
	if s.early {
		scored("exit", numberColumn, func(r *toxscreen.Result) any {
			if r.Exit == 0 {
				return nil // the whole network was run
			}
			return int64(r.Exit)
		})
	}
	if !s.judged {
		return all
	}
	scored("judge_score", doubleColumn, func(r *toxscreen.Result) any {
		score, _ := judgeScore(r.Judge)
		return unlessNil(score)
	})
	for _, a := range toxscreen.Attributes() {
		scored("judge_"+a.String(), doubleColumn, func(r *toxscreen.Result) any { return unlessNil(r.Attributes[a].Judge) })
	}
	scored("not_judged", textColumn, func(r *toxscreen.Result) any {
		_, why := judgeScore(r.Judge)
		return unlessEmpty(why)
	})
	scored("judge", jsonColumn, func(r *toxscreen.Result) any { return r.Judge })
	scored("source", textColumn, func(r *toxscreen.Result) any { return string(r.Source) })
	return all
}

// judgeScore returns the score of a verdict, or nil, and why the text was not judged. why
// is empty if it was.
func judgeScore(j toxscreen.JudgeReport) (score *toxscreen.Probability, why string) {
	if len(j.Verdicts) == 0 {
		return nil, cmp.Or(j.Error, j.Why)
	}
	v := j.Verdicts[0]
	if v.Score == nil && len(v.Addressed) > 0 {
		return nil, "the text addresses the judge and was found harmless: that finding is ignored"
	}
	return v.Score, ""
}
