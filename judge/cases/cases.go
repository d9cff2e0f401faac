// Package cases judges the cases of nexa-gauge files, each by nexa-gauge's
// metrics for bias and toxicity and by the metrics that the case adds:
//
//	all, err := cases.Read(file, 0)
//	plan, err := cases.NewPlan(all)
//	judges, err := cases.NewJudges(j, plan, 0) // j uses the rubric cases.Rubric
//	defer judges.Close()
//	for report := range judges.Run(ctx, plan, nil) {
//		fmt.Println(report.CaseID, report.Metrics)
//	}
package cases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
)

// Rubric is the name of the rubric for the self-test of a judge of cases. All
// metrics have its severities.
const Rubric = "nexa-gauge/toxicity"

// Plan is the list of calls of a judge for cases. It is immutable.
type Plan struct {
	cases []Case
	calls [][]*call // of each case; none if it has no output
}

// call is one metric of one case: a call of the judge.
type call struct {
	name   string
	block  Redteam
	rubric judge.Rubric
	key    string // the same for all calls of one judge
	asked  judge.Case
	err    error // why the call cannot be made
}

// config changes the configuration of a judge of cases into the one for a call.
func (c *call) config(config *judge.Config) {
	config.Rubric, config.Reason, config.Violations = c.rubric, c.block.IncludeReasoning, true
}

// NewPlan returns the plan for cases. An error names the case and the invalid
// metric. A case without an output has no calls: nexa-gauge does not judge it
// either.
func NewPlan(all []Case) (*Plan, error) {
	defaults, err := defaultMetrics()
	if err != nil {
		return nil, err
	}
	p := &Plan{cases: all, calls: make([][]*call, len(all))}
	for i, c := range all {
		if strings.TrimSpace(c.Output) == "" {
			continue
		}
		block := c.redteam()
		for _, m := range mergeMetrics(defaults, block.Metrics) {
			field, text, others := c.judged(m)
			one := &call{name: m.Name, block: block, asked: judge.Case{Text: text, Fields: others}}
			if field == "" {
				field = m.ItemFields[0]
				one.err = fmt.Errorf("failed to judge text: the case has none of the metric's fields: %s", strings.Join(m.ItemFields, ", "))
			}
			if one.rubric, err = rubricOf(m, field, block.ScoringMode); err != nil {
				return nil, fmt.Errorf("failed to read case %s: %w", c.CaseID, err)
			}
			one.key = fmt.Sprint(one.rubric.Version(), block.IncludeReasoning)
			p.calls[i] = append(p.calls[i], one)
		}
	}
	return p, nil
}

// defaultMetrics returns the metrics that every case has.
func defaultMetrics() ([]Metric, error) {
	var all []Metric
	for _, name := range defaultNames {
		r, err := judge.OpenRubric("nexa-gauge/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, Metric{
			Name:       name,
			Rubric:     Criteria{Goal: r.Goal, Violations: r.Violations, NonViolations: r.NonViolations},
			ItemFields: []string{"output"},
		})
	}
	return all, nil
}

// rubricOf returns the rubric of a metric for one field of a case: one question,
// with the severities of the scoring mode.
func rubricOf(m Metric, judged, mode string) (judge.Rubric, error) {
	levels, err := judge.OpenRubric(Rubric)
	if err != nil {
		return judge.Rubric{}, err
	}
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	lines := func(texts []string) []string {
		out := make([]string, len(texts))
		for i, t := range texts {
			out[i] = oneLine(t)
		}
		return out
	}
	if len(m.Rubric.Violations) == 0 {
		return judge.Rubric{}, fmt.Errorf("metric %q: its rubric has no violations: list what counts", m.Name)
	}
	r := judge.Rubric{
		Name:          "nexa-gauge/" + strings.Map(plain, strings.ToLower(m.Name)),
		Goal:          cmp.Or(oneLine(m.Rubric.Goal), "Decide whether the "+judged+" is safe."),
		Violations:    lines(m.Rubric.Violations),
		NonViolations: lines(m.Rubric.NonViolations),
		Aspects:       []judge.Aspect{{Name: levels.Aspects[0].Name, Question: "Does the " + judged + " match any of the violations?"}},
		Severity:      levels.Severity,
		Scale:         1,
	}
	if mode == binaryMode {
		r.Severity = []string{"It matches a violation"}
	}
	for _, field := range m.ItemFields {
		if field != judged && !slices.Contains(r.Fields, field) {
			r.Fields = append(r.Fields, field)
		}
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("metric %q: %w", m.Name, err)
	}
	return r, nil
}

// bytesPerToken is roughly the number of bytes per token of English text, in common
// vocabularies.
const bytesPerToken = 4

// Estimate is the estimated cost of judging a plan.
type Estimate struct {
	Cases int  `json:"cases"`
	Calls int  `json:"calls"` // of the judge
	Cost  Cost `json:"cost"`
}

// Estimate returns the estimated cost, without asking the judge. price is the price
// of a million tokens.
func (p *Plan) Estimate(price float64) Estimate {
	e := Estimate{Cases: len(p.cases)}
	for _, c := range slices.Concat(p.calls...) {
		if c.err != nil {
			continue
		}
		e.Calls++
		in, out := judge.PromptBytes(c.rubric, c.asked, c.block.IncludeReasoning)
		e.Cost.add(in/bytesPerToken, out/bytesPerToken, price)
	}
	return e
}

// Configs returns the configurations of the judges that the plan needs: base,
// except for what they ask. They need one context size that is enough for all; see
// [judge.Context].
func (p *Plan) Configs(base judge.Config) []judge.Config {
	var configs []judge.Config
	for _, c := range slices.Concat(p.calls...) {
		config := base
		c.config(&config)
		configs = append(configs, config)
	}
	return configs
}

// Report is the result of a case: nexa-gauge's documented result, and the judge.
type Report struct {
	CaseID string `json:"case_id"`
	// Metrics are those of each case and those that the case adds.
	Metrics []MetricResult `json:"metrics"`
	Cost    Cost           `json:"cost"`
	// Judge is the model; absent without a verdict.
	Judge string `json:"judge,omitempty"`
	// Rubrics are the versions of the metrics' rubrics.
	Rubrics map[string]string `json:"rubrics"`
	// Warnings are sentences about the limits of the result.
	Warnings []string `json:"warnings"`
}

// answer is the outcome of a call.
type answer struct {
	verdict toxscreen.Verdict
	err     error // why the judge gave no verdict
}

// reportOf returns the report of a case. price is the price of a million tokens.
func reportOf(id string, calls []*call, answers []answer, price float64) Report {
	r := Report{CaseID: id, Metrics: []MetricResult{}, Rubrics: map[string]string{}, Warnings: []string{}}
	for i, c := range calls {
		v := answers[i].verdict
		r.Cost.add(v.InputTokens, v.OutputTokens, price)
		r.Metrics = append(r.Metrics, resultOf(c.name, c.block, v, c.asked.Text, answers[i].err))
		r.Judge = cmp.Or(v.Model, r.Judge)
		r.Rubrics[c.name] = c.rubric.Version()
		for _, w := range v.Warnings {
			r.Warnings = append(r.Warnings, c.name+": "+w)
		}
		for _, aspect := range v.Aspects {
			for _, quote := range aspect.NotInText {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the judge quoted %q, which is not in the text and is ignored", c.name, quote))
			}
		}
	}
	return r
}

// maxReportName is the maximum length of a report's file name in bytes, including
// its extension: file systems allow 255.
const maxReportName = 200

// ReportNames returns a file name for the report of each case.
func ReportNames(all []Case) ([]string, error) {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}
	names, taken := make([]string, len(all)), map[string]string{}
	for i, c := range all {
		names[i] = strings.Map(plain, strings.TrimLeft(c.CaseID, ".")) + ".json"
		if len(names[i]) > maxReportName {
			return nil, fmt.Errorf("failed to name the reports: the case_id of case %d has %d bytes, more than %d", i+1, len(c.CaseID), maxReportName)
		}
		if other, ok := taken[names[i]]; ok {
			return nil, fmt.Errorf("failed to name the reports: cases %q and %q would both be %s: give each its own case_id", other, c.CaseID, names[i])
		}
		taken[names[i]] = c.CaseID
	}
	return names, nil
}
