package selftest

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
	"github.com/toxscreen/toxscreen/fusion/fit"
	"github.com/toxscreen/toxscreen/judge"
)

// Setup is a judge to test, and the classifier and the fusion that it is to help.
type Setup struct {
	Judge      *judge.Judge
	Classifier toxscreen.Classifier
	Fusion     *fusion.Fusion
	Folder     string // where the answers are stored
}

// Outcome is a judge's self-test and what it allows verdicts to change, beside the
// scores of the classifier in use.
type Outcome struct {
	Test
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

// Run asks the judge about the built-in texts and stores its answers. A test that was
// interrupted goes on where it was. It ends early if more answers would hardly change the
// outcome, and tries no attacks on a judge that finds nothing. progress is called after
// each answer, from one goroutine at a time; it may be nil.
func (s Setup) Run(ctx context.Context, progress func(Progress)) (Outcome, error) {
	t, err := begin(ctx, s.Judge, s.Folder)
	if err != nil {
		return Outcome{}, err
	}
	cases := Cases()
	found, err := Classify(ctx, s.Classifier, cases)
	if err != nil {
		return Outcome{}, err
	}
	// ask asks about texts until the outcome is settled. all is the number of answers at
	// the end.
	ask := func(some []Case, all int, settled func() bool) error {
		start, before := time.Now(), len(t.Answers)
		err := t.ask(ctx, s.Judge, some, found, func() error {
			done := len(t.Answers)
			if progress != nil {
				p := Progress{Done: done, All: all}
				if pace := done - before; pace > 0 {
					p.Left = time.Since(start) / time.Duration(pace) * time.Duration(max(all-done, 0))
				}
				progress(p)
			}
			if done%saveEvery == 0 {
				if _, err := t.Save(s.Folder); err != nil {
					return err
				}
			}
			if done%lookEvery == 0 && settled() {
				return errClear
			}
			return nil
		})
		if err == nil || errors.Is(err, errClear) {
			return nil
		}
		if _, failed := t.Save(s.Folder); failed != nil {
			return errors.Join(err, failed)
		}
		return fmt.Errorf("%w; the answers so far are stored: run the self-test again to go on", err)
	}
	settled := func() bool { return t.trial(found).Clear() }
	if !settled() {
		if err := ask(cases, len(cases)+len(Attacks(cases)), settled); err != nil {
			return Outcome{}, err
		}
	}
	if finds := fit.SelfTest(s.Fusion, t.trial(found)).Trusted(); len(finds) > 0 {
		hostile := Attacks(t.carriers())
		more, err := Classify(ctx, s.Classifier, hostile)
		if err != nil {
			return Outcome{}, err
		}
		maps.Copy(found, more)
		if err := ask(hostile, len(t.Answers)+len(hostile), func() bool { return false }); err != nil {
			return Outcome{}, err
		}
	}
	t.Complete = true
	outcome := t.Measure(s.Fusion, found)
	_, err = outcome.Save(s.Folder)
	return outcome, err
}

// Classify returns what the classifier says of each text, by its ID.
func Classify(ctx context.Context, classifier toxscreen.Classifier, cases []Case) (map[string]toxscreen.Classification, error) {
	all := map[string]toxscreen.Classification{}
	var lock sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(classifier.Info().Parallel, 1))
	for _, c := range cases {
		group.Go(func() error {
			found, err := classifier.Classify(ctx, c.Text)
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

// trial returns the answers beside what the classifier says of the texts.
func (t *Test) trial(found map[string]toxscreen.Classification) fit.Trial {
	var trial fit.Trial
	for _, c := range Cases() {
		if answer, ok := t.Answers[c.ID]; ok {
			trial.Rows = append(trial.Rows, toxscreen.Labelled{Name: c.Kind, Found: found[c.ID], Verdict: answer.Verdict, Labels: c.Labels, Weight: 1})
		}
	}
	for _, c := range Attacks(t.carriers()) {
		if answer := t.Answers[c.ID]; answer.Verdict != nil {
			trial.Attacks = append(trial.Attacks, fit.Attack{Kind: c.Kind, Carrier: *t.Answers[c.Carrier].Verdict, Attacked: *answer.Verdict})
		}
	}
	return trial
}

// carriers returns the toxic texts that the judge found toxic: an attack hides nothing
// else.
func (t *Test) carriers() []Case {
	var all []Case
	for _, c := range Cases() {
		toxic, _ := c.Labels.Get(toxscreen.Toxicity)
		if v := t.Answers[c.ID].Verdict; toxic > 0 && v != nil && slices.ContainsFunc(v.Aspects, func(a toxscreen.AspectVerdict) bool { return a.Yes }) {
			all = append(all, c)
		}
	}
	return all
}

// Measure returns what the self-test allows verdicts to change. found is what the
// classifier says of the texts, by their IDs; see [Classify].
func (t *Test) Measure(f *fusion.Fusion, found map[string]toxscreen.Classification) Outcome {
	outcome := Outcome{Test: *t, Cases: len(t.Answers), Tested: fit.SelfTest(f, t.trial(found))}
	for _, answer := range t.Answers {
		if answer.Verdict == nil {
			outcome.Unanswered++
		}
	}
	outcome.Test.Trusted = outcome.Tested.Trusted()
	failed := "the judge failed its self-test of " + t.When.Format(time.DateOnly) + ": "
	switch answered := 1 - float64(outcome.Unanswered)/float64(max(outcome.Cases, 1)); {
	case answered < leastAnswered:
		outcome.Attributes, outcome.Test.Trusted = nil, nil
		outcome.Failed = fmt.Sprintf("%sit answered only %.0f %% of the texts, and 80 %% are required", failed, 100*answered)
	case len(outcome.Test.Trusted) == 0:
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
func (o Outcome) Report() Report {
	r := Report{
		Model: o.Model, Digest: o.Digest, Rubric: o.Rubric, When: o.When, Seconds: math.Round(o.Seconds*10) / 10,
		Cases: o.Cases, Unanswered: o.Unanswered, Trusted: append([]toxscreen.Attribute{}, o.Test.Trusted...), Failed: o.Failed,
		Attributes: map[toxscreen.Attribute]ReportedAttribute{},
	}
	for a, figures := range o.Figures {
		one := ReportedAttribute{Figures: figures}
		if odds := o.Attributes[a]; odds.Cap > 0 {
			one.Odds = []toxscreen.Probability{toxscreen.Probability(odds.Strongest(false)), toxscreen.Probability(odds.Strongest(true))}
		}
		r.Attributes[a] = one
	}
	if o.Reversed.Of > 0 {
		r.Reversed = &o.Reversed
	}
	return r
}

// Text returns the outcome as a text for people.
func (o Outcome) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, digest %.12s, by rubric %s: %d texts in %v\n\n", o.Model, o.Digest, o.Rubric, o.Cases, time.Duration(o.Seconds*float64(time.Second)).Round(time.Second))
	share := func(s fusion.Share) string {
		if s.Of == 0 {
			return "not measured"
		}
		return fmt.Sprintf("%3.0f %% (%.0f–%.0f)", 100*s.Estimate(), 100*s.Low, 100*s.High)
	}
	fmt.Fprintf(&b, "%-18s %-18s %-18s %s\n", "", "found if toxic", "spared if clean", "its verdicts")
	for _, a := range toxscreen.Attributes() {
		f, ok := o.Figures[a]
		if !ok {
			fmt.Fprintf(&b, "%-18s %s\n", a, "it does not answer for this")
			continue
		}
		counts := "are ignored"
		if odds := o.Attributes[a]; odds.Cap > 0 {
			counts = fmt.Sprintf("multiply the odds by %s to %s", factor(odds.Strongest(false)), factor(odds.Strongest(true)))
		}
		fmt.Fprintf(&b, "%-18s %-18s %-18s %s\n", a, share(f.Sensitivity), share(f.Specificity), counts)
	}
	fmt.Fprintf(&b, "\nverdicts that an attack reversed: %s\ntexts without a verdict: %d\n", share(o.Reversed), o.Unanswered)
	if o.Failed != "" {
		fmt.Fprintf(&b, "\n%s\n", o.Failed)
	}
	return b.String()
}

// factor returns a factor with two significant digits or more, and a large one without an exponent.
func factor(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
