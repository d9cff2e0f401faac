package judge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
)

// TestCase is a text of the self-test.
type TestCase struct {
	ID   string // a hash of the text
	Kind string // texts of one kind are not independent
	Text string
	// Labels has 1 for an attribute that nearly all people would find in the text, and 0
	// for one that nearly all would deny. An attribute on which people would split is
	// absent.
	Labels toxscreen.Scores
	// Carrier is the ID of the text that Text argues with the judge about; empty for a
	// text by itself.
	Carrier string
}

//go:embed selftest/cases.jsonl selftest/attacks.jsonl
var selfTest embed.FS

// readLines reads the lines of an embedded file.
func readLines[Line any](name string) []Line {
	data, err := selfTest.ReadFile("selftest/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	var all []Line
	for line := range bytes.Lines(data) {
		var one Line
		if err := json.Unmarshal(line, &one); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // a test reads it
		}
		all = append(all, one)
	}
	return all
}

// TestCases returns the texts of the self-test that do not argue with the judge, in the
// order in which they are asked: kinds and labels are mixed.
func TestCases() []TestCase {
	type line struct {
		Kind   string                `json:"kind"`
		Text   string                `json:"text"`
		Labels []toxscreen.Attribute `json:"labels"`
		Unsure []toxscreen.Attribute `json:"unsure"`
	}
	var all []TestCase
	for _, l := range readLines[line]("cases.jsonl") {
		c := TestCase{ID: idOf(l.Text), Kind: l.Kind, Text: l.Text}
		for _, a := range toxscreen.Attributes() {
			switch {
			case slices.Contains(l.Labels, a):
				c.Labels.Set(a, 1)
			case !slices.Contains(l.Unsure, a):
				c.Labels.Set(a, 0)
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b TestCase) int { return cmp.Compare(a.ID, b.ID) }) // a hash has no order
	return all
}

// AttackCases returns texts that argue with the judge, each around one of the carriers,
// which are used in turn.
func AttackCases(carriers []TestCase) []TestCase {
	type line struct {
		Kind string `json:"kind"`
		Wrap string `json:"wrap"` // %s is the carrier
	}
	if len(carriers) == 0 {
		return nil
	}
	var all []TestCase
	for i, l := range readLines[line]("attacks.jsonl") {
		c := carriers[i%len(carriers)]
		text := strings.Replace(l.Wrap, "%s", c.Text, 1)
		all = append(all, TestCase{ID: idOf(text), Kind: l.Kind, Text: text, Labels: c.Labels, Carrier: c.ID})
	}
	return all
}

func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// SelfTestVersion returns the version of the self-test: a hash of its texts and labels.
var SelfTestVersion = sync.OnceValue(func() string {
	h := sha256.New()
	for _, name := range []string{"cases.jsonl", "attacks.jsonl"} {
		data, err := selfTest.ReadFile("selftest/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
})

// SelfTest has a judge's answers to the texts of the self-test.
type SelfTest struct {
	Format  int    `json:"format"`
	Version string `json:"version"` // see [SelfTestVersion]
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
	Answers map[string]TestAnswer `json:"answers"`
}

// TestAnswer is a judge's answer to one text: its verdict, or why there is none.
type TestAnswer struct {
	Verdict *toxscreen.Verdict `json:"verdict,omitempty"`
	Error   string             `json:"error,omitempty"`
}

const (
	selfTestFormat = 2
	// mostFailures is the number of failures in a row after which the server is taken to
	// be down.
	mostFailures = 3
)

// BeginSelfTest returns the interrupted self-test of the judge's model and rubric that is
// stored in a folder, or an empty one. It makes the server load the model.
func (j *Judge) BeginSelfTest(ctx context.Context, folder string) (SelfTest, error) {
	model, err := j.Connect(ctx)
	if err != nil {
		return SelfTest{}, err
	}
	begun, err := readSelfTest(selfTestFile(folder, model))
	if err != nil {
		return SelfTest{}, err
	}
	if begun != nil && !begun.Complete {
		return *begun, nil
	}
	return NewSelfTest(model, time.Now()), nil
}

// NewSelfTest returns a self-test without answers.
func NewSelfTest(m Model, when time.Time) SelfTest {
	return SelfTest{
		Format: selfTestFormat, Version: SelfTestVersion(), Model: m.Name, Digest: m.Digest, Rubric: m.Rubric, Dialect: m.Dialect,
		When: when.UTC().Truncate(time.Second), Answers: map[string]TestAnswer{},
	}
}

// Ask asks the judge about those texts that have no answer in t yet, as many at once as
// it may, without the cache. found returns what the classifier says of a text; the
// judge sees texts as in use. each is called after each answer, from one goroutine at a
// time; its error ends Ask. A text without a verdict is asked about a second time. An
// error of Ask means that the server failed; t keeps the answers.
func (j *Judge) Ask(ctx context.Context, t *SelfTest, cases []TestCase, found func(TestCase) toxscreen.Classification, each func() error) error {
	plain, err := j.With(func(c *Config) { c.Cache, c.Reason, c.Violations = nil, false, false })
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
	next := make(chan TestCase)
	for range plain.config.Parallel {
		workers.Go(func() {
			for c := range next {
				answer, fault := plain.answer(ctx, c, found(c))
				lock.Lock()
				switch {
				case ctx.Err() != nil:
				case fault != nil:
					if failures++; failures == mostFailures {
						cancel(fault)
					}
					t.Answers[c.ID] = answer
				default:
					failures = 0
					t.Answers[c.ID] = answer
				}
				t.Seconds = before + time.Since(start).Seconds()
				if ctx.Err() == nil && each != nil {
					if err := each(); err != nil {
						cancel(err)
					}
				}
				lock.Unlock()
			}
		})
	}
	for _, c := range cases {
		if answer, ok := t.Answers[c.ID]; ok && answer.Verdict != nil {
			continue
		}
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

// answer asks about one text, and a second time if the server failed to answer in time.
// fault is the failure of the server, nil for an answer that is no verdict.
func (j *Judge) answer(ctx context.Context, c TestCase, found toxscreen.Classification) (answer TestAnswer, fault error) {
	v, err := j.Judge(ctx, c.Text, found)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		v, err = j.Judge(ctx, c.Text, found)
	}
	if err == nil {
		return TestAnswer{Verdict: &v}, nil
	}
	if _, abstained := errors.AsType[*toxscreen.AbstentionError](err); !abstained {
		fault = err
	}
	return TestAnswer{Error: err.Error()}, fault
}

// A self-test is stored in a folder, in a file named after the model's digest and the
// rubric's version.

func selfTestFile(folder string, m Model) string {
	return filepath.Join(folder, beginning(m.Digest, 64)+"-"+strings.NewReplacer("/", "-", "@", "-").Replace(m.Rubric)+".json")
}

// Save writes the self-test into a folder, which is created if necessary.
func (t *SelfTest) Save(folder string) (file string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	file = selfTestFile(folder, Model{Digest: t.Digest, Rubric: t.Rubric})
	if err := files.WriteBytes(file, 0o644, append(data, '\n')); err != nil {
		return "", fmt.Errorf("failed to store the self-test: %w", err)
	}
	return file, nil
}
