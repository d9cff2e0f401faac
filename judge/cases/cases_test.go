//go:build unix

package cases_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/cases"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func plan(t *testing.T, all ...cases.Case) *cases.Plan {
	t.Helper()
	p, err := cases.NewPlan(all)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judges returns the judges of a plan, with the tiny model behind a proxy.
func judges(t *testing.T, p *cases.Plan, fault func(ollamatest.Call) ollamatest.Fault) *cases.Judges {
	t.Helper()
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	rubric, err := judge.OpenRubric(cases.Rubric)
	if err != nil {
		t.Fatal(err)
	}
	config := judge.Config{Model: "tiny", Rubric: rubric, Timeout: 5 * time.Minute}
	if config.Context, err = judge.Context(append(p.Configs(config), config)...); err != nil {
		t.Fatal(err)
	}
	config.Host = ollamatest.NewProxy(t, server, fault).URL
	first, err := judge.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	all, err := cases.NewJudges(first, p, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	return all
}

// Every case has the metrics bias and toxicity and its own. A case without an
// output has none, since nexa-gauge does not judge it.
func TestAPlanHasTheCallsOfEachCase(t *testing.T) {
	own := &cases.Redteam{Metrics: []cases.Metric{
		{Name: "orders", Rubric: cases.Criteria{Violations: []string{"It gives orders"}}, ItemFields: []string{"output", "input"}},
	}}
	p := plan(t,
		cases.Case{CaseID: "plain", Output: "a text"},
		cases.Case{CaseID: "own", Output: "a text", Input: "a question", Redteam: own},
		cases.Case{CaseID: "blank", Output: " "},
	)
	e := p.Estimate(0)
	if e.Cases != 3 {
		t.Errorf("%d cases, want 3", e.Cases)
	}
	if e.Calls != 5 {
		t.Errorf("%d calls, want 5", e.Calls)
	}
	if e.Cost.InputTokens < 100 {
		t.Errorf("%v tokens in, want 100 or more", e.Cost.InputTokens)
	}
	if e.Cost.Cost != 0 {
		t.Errorf("the cost is %v without a price", e.Cost.Cost)
	}
	if _, err := cases.NewPlan([]cases.Case{{CaseID: "b", Output: "x", Redteam: &cases.Redteam{Metrics: []cases.Metric{{Name: "m", ItemFields: []string{"output"}}}}}}); err == nil ||
		!strings.Contains(err.Error(), `failed to read case b: metric "m": its rubric has no violations`) {
		t.Errorf("a metric without violations: %v", err)
	}
}

// Reports come in the order of the cases, although calls are made rubric by rubric.
// The error of a call is only in the report of its case.
func TestReportsComeInTheOrderOfTheCases(t *testing.T) {
	p := plan(t, cases.Case{CaseID: "first", Output: "one"}, cases.Case{CaseID: "blank"}, cases.Case{CaseID: "last", Output: "two"})
	all := judges(t, p, func(call ollamatest.Call) ollamatest.Fault {
		if strings.Contains(string(call.Body), "text: two") {
			return ollamatest.Fail(http.StatusBadRequest, "no")
		}
		return nil
	})
	warning, err := all.Trust(t.Context(), t.TempDir())
	if err != nil {
		t.Errorf("a model without a self-test: %v", err)
	}
	if !strings.Contains(warning, "was not tested") {
		t.Errorf("a model without a self-test: the warning is %q", warning)
	}
	done := 0
	var got []string
	for r := range all.Run(t.Context(), p, func(n, of int) {
		if done++; n != done {
			t.Errorf("%d calls are done, want %d", n, done)
		}
		if of != 4 {
			t.Errorf("the run has %d calls, want 4", of)
		}
	}) {
		line := r.CaseID
		for _, m := range r.Metrics {
			if line += " " + m.Name; m.Error != nil {
				line += "!"
			}
		}
		answered := r.CaseID == "first"
		if (r.Judge != "") != answered {
			t.Errorf("%s: judged by %q", r.CaseID, r.Judge)
		}
		if (r.Cost.Cost > 0) != answered {
			t.Errorf("%s: the cost is %v", r.CaseID, r.Cost.Cost)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"first bias toxicity", "blank", "last bias! toxicity!"}, got); diff != "" {
		t.Error(diff)
	}
}

// A run whose context ends yields no report of a case that is not judged. A
// consumer that stops early leaves no call running, which TestMain checks.
func TestARunEndsWithItsContextOrConsumer(t *testing.T) {
	p := plan(t, cases.Case{CaseID: "a", Output: "one"}, cases.Case{CaseID: "b", Output: "two"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := judges(t, p, func(call ollamatest.Call) ollamatest.Fault {
		if strings.Contains(string(call.Body), "text: two") {
			cancel()
			return ollamatest.Hang
		}
		return nil
	})
	for r := range all.Run(ctx, p, nil) {
		t.Errorf("a report of case %s after the context ended", r.CaseID)
	}
	single := plan(t, cases.Case{CaseID: "a", Output: "one"}, cases.Case{CaseID: "b", Output: "three"})
	for r := range all.Run(t.Context(), single, nil) {
		if r.CaseID != "a" {
			t.Errorf("the first report is of %s", r.CaseID)
		}
		if r.Judge == "" {
			t.Error("the first case was not judged")
		}
		break
	}
}

func TestReportNamesAreUnique(t *testing.T) {
	names, err := cases.ReportNames([]cases.Case{{CaseID: "a b"}, {CaseID: "../c"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a_b.json", "_c.json"}, names); diff != "" {
		t.Error(diff)
	}
	for _, all := range [][]cases.Case{{{CaseID: "a b"}, {CaseID: "a/b"}}, {{CaseID: strings.Repeat("x", 300)}}} {
		if names, err := cases.ReportNames(all); err == nil {
			t.Errorf("%q", names)
		}
	}
}
