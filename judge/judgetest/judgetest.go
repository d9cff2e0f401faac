// Package judgetest is for tests that need a judge with a self-test.
package judgetest

import (
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
)

// Store stores the self-test of a model in a folder, as of 2026-01-02 03:04:05 UTC. The
// judge answered for insult only, and found it in the texts for which insulting is true. It
// is trusted for insult, or failed if it found no text.
func Store(folder string, m judge.Model, insulting func(selftest.Case) bool) error {
	outcome := selftest.New(m, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	insult := toxscreen.Insult
	answer := func(c selftest.Case) (yes bool) {
		p := toxscreen.Probability(0.05)
		if yes = insulting(c); yes {
			p = 0.95
		}
		outcome.Answers[c.ID] = selftest.Answer{Verdict: &toxscreen.Verdict{
			Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &insult, Yes: yes, PYes: &p}},
		}}
		return yes
	}
	var found []selftest.Case
	for _, c := range selftest.Cases() {
		if answer(c) {
			found = append(found, c)
		}
	}
	for _, c := range selftest.Attacks(found) {
		answer(c)
	}
	outcome.Complete = true
	if len(found) > 0 {
		outcome.Trusted = []toxscreen.Attribute{insult}
	} else {
		outcome.Failed = "the judge failed its self-test of 2026-01-02: it finds nothing"
	}
	_, err := outcome.Save(folder)
	return err
}

// Insulting reports whether a text of the self-test is labelled as an insult: the answers
// of a judge that is never wrong.
func Insulting(c selftest.Case) bool {
	label, _ := c.Labels.Get(toxscreen.Insult)
	return label > 0
}

// Nothing is the answers of a judge that finds nothing.
func Nothing(selftest.Case) bool { return false }
