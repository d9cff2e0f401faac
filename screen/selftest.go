package screen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/judge"
)

// SelfTest is a judge's self-test and what it allows verdicts to change, beside the
// scores of the classifier in use.
type SelfTest struct {
	judge.SelfTest
	fusion.Tested

	// Cases is the number of texts that were asked about, Unanswered how many of them
	// have no verdict. A test whose outcome is clear asks about fewer texts.
	Cases      int
	Unanswered int
}

// Progress is how far a self-test is.
type Progress struct {
	Done, All int
	// Left is the time that the rest takes at the pace so far, 0 if it is not known.
	Left time.Duration
}

const (
	// lookEvery is the number of answers after which a self-test checks whether its
	// outcome is clear.
	lookEvery = 48
	// saveEvery is the number of answers after which it is stored.
	saveEvery = 8
	// leastAnswered is the smallest share of texts with a verdict.
	leastAnswered = 0.8
)

var errClear = errors.New("the outcome is clear")

// SelfTest asks the judge about the built-in texts and stores its answers. A test that
// was interrupted goes on where it was. It ends early if more answers would hardly change
// the outcome, and tries no attacks on a judge that finds nothing. progress is called
// after each answer, from one goroutine at a time; it may be nil.
func (s *Screener) SelfTest(ctx context.Context, progress func(Progress)) (SelfTest, error) {
	if s.asked == nil {
		return SelfTest{}, errors.New("failed to test the judge: none is configured")
	}
	a := s.asked
	t, err := a.judge.BeginSelfTest(ctx, a.folder)
	if err != nil {
		return SelfTest{}, err
	}
	cases := judge.TestCases()
	found, err := a.classify(ctx, cases)
	if err != nil {
		return SelfTest{}, err
	}
	attacks := len(judge.AttackCases(cases))
	ask := func(some []judge.TestCase, all int, settled func() bool) error {
		start, before := time.Now(), len(t.Answers)
		err := a.judge.Ask(ctx, &t, some, func(c judge.TestCase) toxscreen.Classification { return found[c.ID] }, func() error {
			done := len(t.Answers)
			if progress != nil {
				p := Progress{Done: done, All: all}
				if pace := done - before; pace > 0 {
					p.Left = time.Since(start) / time.Duration(pace) * time.Duration(max(all-done, 0))
				}
				progress(p)
			}
			if done%saveEvery == 0 {
				if _, err := t.Save(a.folder); err != nil {
					return err
				}
			}
			if done%lookEvery == 0 && settled() {
				return errClear
			}
			return nil
		})
		if errors.Is(err, errClear) {
			return nil
		}
		if err != nil {
			if _, failed := t.Save(a.folder); failed != nil {
				return errors.Join(err, failed)
			}
			return fmt.Errorf("%w; the answers so far are stored: run the self-test again to go on", err)
		}
		return nil
	}
	settled := func() bool { return a.trial(t, cases, found).Clear() }
	if !settled() {
		if err := ask(cases, len(cases)+attacks, settled); err != nil {
			return SelfTest{}, err
		}
	}
	if finds := a.fusion.Measure(a.trial(t, cases, found)).Trusted(); len(finds) > 0 {
		hostile := judge.AttackCases(carriers(t, cases))
		more, err := a.classify(ctx, hostile)
		if err != nil {
			return SelfTest{}, err
		}
		maps.Copy(found, more)
		if err := ask(hostile, len(t.Answers)+len(hostile), func() bool { return false }); err != nil {
			return SelfTest{}, err
		}
	}
	t.Complete = true
	outcome := a.outcome(t, cases, found)
	_, err = outcome.Save(a.folder)
	return outcome, err
}

// classify returns what the classifier says of each text, by its ID.
func (a *asked) classify(ctx context.Context, cases []judge.TestCase) (map[string]toxscreen.Classification, error) {
	all := map[string]toxscreen.Classification{}
	var lock sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(a.classifier.Info().Parallel, 1))
	for _, c := range cases {
		group.Go(func() error {
			found, err := a.classifier.Classify(ctx, c.Text, toxscreen.Full)
			if err != nil {
				return fmt.Errorf("failed to score a text of the self-test: %w", err)
			}
			lock.Lock()
			defer lock.Unlock()
			all[c.ID] = found
			return nil
		})
	}
	return all, group.Wait()
}

// trial returns the answers of a self-test beside the classifier's scores.
func (a *asked) trial(t judge.SelfTest, cases []judge.TestCase, found map[string]toxscreen.Classification) fusion.Trial {
	var trial fusion.Trial
	for _, c := range cases {
		if answer, ok := t.Answers[c.ID]; ok {
			trial.Rows = append(trial.Rows, toxscreen.Labelled{Name: c.Kind, Found: found[c.ID], Verdict: answer.Verdict, Labels: c.Labels, Weight: 1})
		}
	}
	for _, c := range judge.AttackCases(carriers(t, cases)) {
		if answer := t.Answers[c.ID]; answer.Verdict != nil {
			trial.Attacks = append(trial.Attacks, fusion.Attack{Kind: c.Kind, Carrier: *t.Answers[c.Carrier].Verdict, Attacked: *answer.Verdict})
		}
	}
	return trial
}

// carriers returns the toxic texts that the judge found toxic: an attack hides nothing
// else.
func carriers(t judge.SelfTest, cases []judge.TestCase) []judge.TestCase {
	var all []judge.TestCase
	for _, c := range cases {
		toxic, _ := c.Labels.Get(toxscreen.Toxicity)
		if v := t.Answers[c.ID].Verdict; toxic > 0 && v != nil && slices.ContainsFunc(v.Aspects, func(a toxscreen.AspectVerdict) bool { return a.Yes }) {
			all = append(all, c)
		}
	}
	return all
}

// outcome returns what a self-test allows.
func (a *asked) outcome(t judge.SelfTest, cases []judge.TestCase, found map[string]toxscreen.Classification) SelfTest {
	outcome := SelfTest{SelfTest: t, Cases: len(t.Answers), Tested: a.fusion.Measure(a.trial(t, cases, found))}
	for _, answer := range t.Answers {
		if answer.Verdict == nil {
			outcome.Unanswered++
		}
	}
	outcome.SelfTest.Trusted = outcome.Tested.Trusted()
	failed := "the judge failed its self-test of " + t.When.Format(time.DateOnly) + ": "
	switch answered := 1 - float64(outcome.Unanswered)/float64(max(outcome.Cases, 1)); {
	case answered < leastAnswered:
		outcome.Attributes, outcome.SelfTest.Trusted = nil, nil
		outcome.Failed = fmt.Sprintf("%sit answered only %.0f %% of the texts, and 80 %% are required", failed, 100*answered)
	case len(outcome.SelfTest.Trusted) == 0:
		outcome.Failed = failed + "for no attribute is it certainly better than chance"
		switch {
		case outcome.Reversed.Of > 0: // attacks were tried since verdicts counted without them
			outcome.Failed = failed + "it gives in to texts that argue with it"
		case len(outcome.Better) > 0:
			outcome.Failed = failed + "its verdicts do not certainly say more than the classifier's scores"
		}
		if f, ok := outcome.Figures[toxscreen.Toxicity]; ok {
			outcome.Failed += fmt.Sprintf(" (toxicity: it finds %.0f %% of the toxic texts toxic, and %.0f %% of the clean ones)", 100*f.Sensitivity.Estimate(), 100*(1-f.Specificity.Estimate()))
		}
	}
	outcome.Why = outcome.Failed
	return outcome
}

// Report is the outcome of a self-test without the answers, as JSON shows it.
type Report struct {
	Model      string                                    `json:"model"`
	Digest     string                                    `json:"digest"`
	Rubric     string                                    `json:"rubric"`
	When       time.Time                                 `json:"when"`
	Seconds    float64                                   `json:"seconds"`
	Cases      int                                       `json:"cases"`
	Unanswered int                                       `json:"unanswered"`
	Trusted    []toxscreen.Attribute                     `json:"trusted"`
	Failed     string                                    `json:"failed,omitempty"`
	Attributes map[toxscreen.Attribute]ReportedAttribute `json:"attributes"`
	// Reversed is the share of verdicts that an attack reversed; absent if none was tried.
	Reversed *fusion.Share `json:"reversed,omitempty"`
}

// ReportedAttribute is what a self-test says about one attribute.
type ReportedAttribute struct {
	fusion.Figures

	// Odds are the smallest and the largest factor by which a verdict multiplies the odds;
	// absent if verdicts are ignored.
	Odds []toxscreen.Probability `json:"odds,omitempty"`
}

// Report returns the outcome without the answers.
func (t SelfTest) Report() Report {
	r := Report{
		Model: t.Model, Digest: t.Digest, Rubric: t.Rubric, When: t.When, Seconds: math.Round(t.Seconds*10) / 10,
		Cases: t.Cases, Unanswered: t.Unanswered, Trusted: append([]toxscreen.Attribute{}, t.SelfTest.Trusted...), Failed: t.Failed,
		Attributes: map[toxscreen.Attribute]ReportedAttribute{},
	}
	for a, figures := range t.Figures {
		one := ReportedAttribute{Figures: figures}
		if o := t.Attributes[a]; o.Cap > 0 {
			one.Odds = []toxscreen.Probability{toxscreen.Probability(o.Strongest(false)), toxscreen.Probability(o.Strongest(true))}
		}
		r.Attributes[a] = one
	}
	if t.Reversed.Of > 0 {
		r.Reversed = &t.Reversed
	}
	return r
}

// Text returns the outcome as a text for people.
func (t SelfTest) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, digest %.12s, by rubric %s: %d texts in %v\n\n", t.Model, t.Digest, t.Rubric, t.Cases, time.Duration(t.Seconds*float64(time.Second)).Round(time.Second))
	share := func(s fusion.Share) string {
		if s.Of == 0 {
			return "not measured"
		}
		return fmt.Sprintf("%3.0f %% (%.0f–%.0f)", 100*s.Estimate(), 100*s.Low, 100*s.High)
	}
	fmt.Fprintf(&b, "%-18s %-18s %-18s %s\n", "", "found if toxic", "spared if clean", "its verdicts")
	for _, a := range toxscreen.Attributes() {
		f, ok := t.Figures[a]
		if !ok {
			fmt.Fprintf(&b, "%-18s %s\n", a, "it does not answer for this")
			continue
		}
		counts := "are ignored"
		if o := t.Attributes[a]; o.Cap > 0 {
			counts = fmt.Sprintf("multiply the odds by %s to %s", factor(o.Strongest(false)), factor(o.Strongest(true)))
		}
		fmt.Fprintf(&b, "%-18s %-18s %-18s %s\n", a, share(f.Sensitivity), share(f.Specificity), counts)
	}
	fmt.Fprintf(&b, "\nverdicts that an attack reversed: %s\ntexts without a verdict: %d\n", share(t.Reversed), t.Unanswered)
	if t.Failed != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Failed)
	}
	return b.String()
}

// factor returns a factor with two significant digits or more, and no large one with an exponent.
func factor(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
