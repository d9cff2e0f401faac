// Package selftest tests how far a judge can be trusted. It asks the judge about texts
// that nearly all people would label alike, and says what the answers prove beside the
// scores of a classifier:
//
//	outcome, err := selftest.Setup{Judge: j, Classifier: c, Fusion: f, Folder: folder}.Run(ctx, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Print(outcome.Text())
//
// The answers are stored in the folder, where [Read] finds them.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
)

// Test has a judge's answers to the texts of the self-test.
type Test struct {
	Format  int    `json:"format"`
	Version string `json:"version"` // see [Version]
	Model   string `json:"model"`   // name on the server
	Digest  string `json:"digest"`  // of the model
	Rubric  string `json:"rubric"`  // version
	Dialect string `json:"dialect"`
	// When is when the self-test began, Seconds how long its answers took.
	When    time.Time `json:"when"`
	Seconds float64   `json:"seconds"`
	// Complete is false while answers are outstanding.
	Complete bool `json:"complete"`
	// Trusted are the attributes whose scores verdicts may change, Failed is a sentence
	// that says why there are none. Both are of the end of the test.
	Trusted []toxscreen.Attribute `json:"trusted"`
	Failed  string                `json:"failed,omitempty"`
	// Answers are by the ID of the text.
	Answers map[string]Answer `json:"answers"`
}

// Answer is a judge's answer to one text: its verdict, or the reason why it gave none.
type Answer struct {
	Verdict *toxscreen.Verdict `json:"verdict,omitempty"`
	Error   string             `json:"error,omitempty"`
}

// format is the version of the stored form.
const format = 2

// New returns a self-test without answers.
func New(m judge.Model, when time.Time) Test {
	return Test{
		Format: format, Version: Version(), Model: m.Name, Digest: m.Digest, Rubric: m.Rubric, Dialect: m.Dialect,
		When: when.UTC().Truncate(time.Second), Answers: map[string]Answer{},
	}
}

// begin returns the interrupted self-test of the judge's model and rubric that is
// stored in a folder, or one without answers. It makes the server load the model.
func begin(ctx context.Context, j *judge.Judge, folder string) (Test, error) {
	model, err := j.Connect(ctx)
	if err != nil {
		return Test{}, err
	}
	begun, err := readFile(fileOf(folder, model.Digest, model.Rubric))
	if err != nil {
		return Test{}, err
	}
	if begun != nil && !begun.Complete {
		return *begun, nil
	}
	return New(model, time.Now()), nil
}

// mostFailures is the number of failures in a row after which the server is taken to be
// down.
const mostFailures = 3

// ask asks the judge about those texts that have no verdict in t yet, as many at once as
// it may, without the cache. found is what the classifier says of each text by its ID: the
// judge sees texts as in use. each is called after each answer, from one goroutine at a
// time, and its error ends ask. An error of ask means that the server failed; t keeps the
// answers.
func (t *Test) ask(ctx context.Context, j *judge.Judge, cases []Case, found map[string]toxscreen.Classification, each func() error) error {
	plain, err := j.With(func(c *judge.Config) { c.Cache, c.Reason, c.Violations = nil, false, false })
	if err != nil {
		return err
	}
	defer plain.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start, before := time.Now(), t.Seconds
	var workers sync.WaitGroup
	var lock sync.Mutex
	failures := 0
	open := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return t.Answers[c.ID].Verdict != nil })
	next := make(chan Case)
	for range plain.Parallel() {
		workers.Go(func() {
			for c := range next {
				answer, fault := answerOf(ctx, plain, c.Text, found[c.ID])
				lock.Lock()
				if ctx.Err() == nil {
					t.Answers[c.ID] = answer
					if fault == nil {
						failures = 0
					} else if failures++; failures == mostFailures {
						cancel(fault)
					}
				}
				t.Seconds = before + time.Since(start).Seconds()
				if ctx.Err() == nil {
					if err := each(); err != nil {
						cancel(err)
					}
				}
				lock.Unlock()
			}
		})
	}
	for _, c := range open {
		select {
		case next <- c:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("failed to test the judge: %w", err)
	}
	return nil
}

// answerOf asks about one text, and a second time if the server did not answer in time.
// fault is the failure of the server; nil if it answered, even without a verdict.
func answerOf(ctx context.Context, j *judge.Judge, text string, found toxscreen.Classification) (answer Answer, fault error) {
	v, err := j.Judge(ctx, text, found)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		v, err = j.Judge(ctx, text, found)
	}
	if err == nil {
		return Answer{Verdict: &v}, nil
	}
	if _, abstained := errors.AsType[*toxscreen.AbstentionError](err); !abstained {
		fault = err
	}
	return Answer{Error: err.Error()}, fault
}
