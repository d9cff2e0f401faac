// Package judge asks a language model on an Ollama server for a second opinion on a
// text:
//
//	j, err := judge.New(judge.Config{Model: model}) // a name from `ollama list`
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer j.Close()
//	verdict, err := j.JudgeCase(ctx, judge.Case{Text: "you are a stupid idiot"})
//
// The text is judged under a [Rubric]: each aspect gets yes or no, its probability,
// a severity and quotations that are looked up in the text. Answers are validated,
// and nothing is guessed from an invalid one. docs/judge.md says how to choose a model;
// package selftest tests whether it is reliable.
package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Config configures a judge. The zero value of each field except Model is a
// default.
type Config struct {
	// Model is its name on the server, as `ollama list` shows it.
	Model string
	// Host is the server's address: HOST:PORT or a URL. If it is empty, OLLAMA_HOST
	// is used, otherwise 127.0.0.1:11434. See [ollama.Address].
	Host string
	// Log gets the failures of the server; see [ollama.Config].
	Log *slog.Logger
	// Rubric is the rubric; "attributes" if it has no name.
	Rubric Rubric
	// Dialect is how the model is asked, one of [Dialects]. The default, "auto", takes
	// it from the model's name: package guard recognises guard models, most of which
	// ignore the rubric, and all other models are asked by the rubric.
	Dialect string
	// Timeout is the time limit for one text, including waiting for a free slot, second
	// attempts and the question about the core, but not loading the model. The default
	// is 60 seconds.
	Timeout time.Duration
	// LoadTimeout is the time limit for loading the model. The default is 5
	// minutes.
	LoadTimeout time.Duration
	// Parallel is the number of concurrent calls. The default is 1. Calls beyond
	// the server's OLLAMA_NUM_PARALLEL wait there. At most 256 texts wait for a
	// free slot; more are rejected.
	Parallel int
	// Patient makes texts wait while the server fails or restarts; see
	// [ollama.Config].
	Patient bool
	// TextBytes is how many bytes of a text the judge sees at most. The default is
	// 2,000. If a classifier found something in the text, the judge sees the worst
	// passage; otherwise it sees the beginning, the middle and the end of a longer text.
	TextBytes int
	// Context is the minimum context size in tokens, for judges of one model with
	// several rubrics: the server reloads the model for another size. 0 is the size
	// that the rubric and TextBytes need; see [Context].
	Context int
	// Reason asks for a sentence with the reason, Violations for the numbers
	// of the rubric's violations. Both cost time, and neither changes a
	// verdict: they are written after it.
	Reason     bool
	Violations bool
	// Classifier scores the clauses of a passage: the core of the passage are those that
	// its score rests on. Without a classifier, all clauses are the core.
	Classifier toxscreen.Classifier
	// Cache stores verdicts; nil stores none.
	Cache Cache
}

// Cache stores verdicts by keys that cover everything they depend on.
// Implementations must be safe for concurrent use.
type Cache interface {
	// Get returns the value of a key, or nil if there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
}

// Judge asks one model under one rubric. It is safe for concurrent use.
type Judge struct {
	config  Config
	dialect dialect
	client  *ollama.Client
}

// filled returns the configuration with its defaults, or an error if it is invalid.
func (c Config) filled() (Config, error) {
	if c.Model == "" {
		return c, errors.New("failed to create the judge: no model is given: choose one from `ollama list`")
	}
	if c.Rubric.Name == "" {
		var err error
		if c.Rubric, err = OpenRubric("attributes"); err != nil {
			return c, err
		}
	}
	if err := c.Rubric.Validate(); err != nil {
		return c, fmt.Errorf("failed to create the judge: rubric %q: %w", c.Rubric.Name, err)
	}
	var err error
	if c.Dialect, err = ParseDialect(cmp.Or(c.Dialect, dialectAuto)); err != nil {
		return c, fmt.Errorf("failed to create the judge: %w", err)
	}
	c.Parallel = cmp.Or(c.Parallel, 1)
	c.TextBytes = cmp.Or(c.TextBytes, 2000)
	if c.TextBytes < leastText {
		return c, fmt.Errorf("failed to create the judge: %d bytes of text are too few: use %d or more", c.TextBytes, leastText)
	}
	return c, nil
}

// New returns a judge. It does not contact the server before the first text.
func New(c Config) (*Judge, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	j := &Judge{config: c, dialect: dialectOf(c)}
	config := ollama.Config{
		Model: c.Model, Name: "judge", Host: c.Host, Log: c.Log,
		Timeout: c.Timeout, LoadTimeout: c.LoadTimeout, Parallel: c.Parallel, Patient: c.Patient,
		Probe: ollama.Question{Messages: j.dialect.probe()},
		Context: func(prefix, limit int) (int, error) {
			b, err := j.dialect.plan(prefix, limit)
			return b.context, err
		},
	}
	if d, ok := j.dialect.(byRubric); ok {
		config.Probe.Format, config.Probe.Predict = d.shape.schema(c.Rubric), d.shape.tokens(c.Rubric)
		config.Fits = func(answer string) bool {
			_, err := d.shape.parse(c.Rubric, answer)
			return err == nil
		}
	}
	j.client, err = ollama.New(config)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// With returns a judge with a changed copy of j's configuration, such as the same
// model with another rubric. Judges that are used side by side need the same
// [Config.Context].
func (j *Judge) With(change func(*Config)) (*Judge, error) {
	config := j.config
	change(&config)
	return New(config)
}

// Context returns a context size in tokens that is enough for judges with these
// configurations and for every vocabulary: a token has a byte or more. Judges of
// one model that are used side by side need the same size: the server reloads the
// model for each change, and Ollama 0.17 may then wait in vain for the calls in
// progress.
func Context(configs ...Config) (int, error) {
	most := 0
	for _, c := range configs {
		c, err := c.filled()
		if err != nil {
			return 0, err
		}
		d := dialectOf(c)
		b, err := d.plan(ollama.MostTokens(d.probe()), 0)
		if err != nil {
			return 0, err
		}
		most = max(most, b.context)
	}
	return most, nil
}

// Close closes the connections to the server. No call may be in progress.
func (j *Judge) Close() { j.client.Close() }

// Version returns name@hash of what the model is asked, as verdicts show it: of the
// rubric, or of the questions of a guard model.
func (j *Judge) Version() string { return j.dialect.rubric() }

// Parallel returns the number of texts that are judged at once.
func (j *Judge) Parallel() int { return j.config.Parallel }

// Graded returns an error that says why, if verdicts have no severities and so no score.
func (j *Judge) Graded() error {
	if _, ok := j.dialect.(byRubric); ok {
		return nil
	}
	return fmt.Errorf("model %s is asked as a guard model (%s), which ignores rubrics and gives no severity: use another model, or, if it is not a guard model, set judge_dialect to rubric",
		j.config.Model, j.dialect.name())
}

// Model describes the model as the server has it.
type Model struct {
	Name    string
	Digest  string // SHA-256 of its manifest, hexadecimal
	Rubric  string // version of the rubric
	Dialect string // how it is asked: "rubric", or the dialect of a guard model
	Context int    // context size of every call, in tokens; 0 before the model is loaded
}

// String returns the name and the beginning of the digest.
func (m Model) String() string { return m.Name + "@" + beginning(m.Digest, 12) }

// Identify asks the server which model it has, without loading it.
func (j *Judge) Identify(ctx context.Context) (Model, error) {
	return j.described(j.client.Identify(ctx))
}

// Refresh is Identify, but always asks the server: the model may have been replaced
// by another of the same name. Texts do not wait for it.
func (j *Judge) Refresh(ctx context.Context) (Model, error) {
	return j.described(j.client.Refresh(ctx))
}

// Waiting reports whether texts wait for a failing server; see [Config.Patient].
func (j *Judge) Waiting() bool { return j.client.Waiting() }

// Connect makes the server load the model, and describes it.
func (j *Judge) Connect(ctx context.Context) (Model, error) {
	return j.described(j.client.Connect(ctx))
}

// described returns the model of a session that was found.
func (j *Judge) described(s *ollama.Session, err error) (Model, error) {
	if err != nil {
		return Model{}, fmt.Errorf("failed to ask the judge: %w", err)
	}
	return Model{Name: j.config.Model, Digest: s.Digest, Rubric: j.dialect.rubric(), Dialect: j.dialect.name(), Context: s.Context}, nil
}

// Judge returns the verdict on one text, for [toxscreen.Opinion].Ask. found is what a classifier
// found in it; its zero value means that nothing is known.
func (j *Judge) Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error) {
	return j.JudgeCase(ctx, Case{Text: text, Found: found})
}

// JudgeCase is [Judge.Judge] for a text with further fields. If it fails, the
// verdict has only the tokens that were used.
func (j *Judge) JudgeCase(ctx context.Context, c Case) (toxscreen.Verdict, error) {
	c.thresholds = j.thresholds()
	v, err := j.judge(ctx, c)
	if err != nil {
		return toxscreen.Verdict{InputTokens: v.InputTokens, OutputTokens: v.OutputTokens}, fmt.Errorf("failed to judge text: %w", err)
	}
	return v, nil
}

// Prompt returns the prompt for a case: the system message, a blank line and the
// user message, before the server applies the model's template. A second attempt
// adds messages, and the question about the core has a prompt of its own. How much of
// a long text the judge sees depends on the model, so Prompt connects to the server
// first.
func (j *Judge) Prompt(ctx context.Context, c Case) (string, error) {
	by, ok := j.dialect.(byRubric)
	if !ok {
		return "", fmt.Errorf("failed to show the prompt: model %s is asked as a guard model (%s), which has its own prompt", j.config.Model, j.dialect.name())
	}
	session, err := j.client.Connect(ctx)
	if err != nil {
		return "", fmt.Errorf("failed to show the prompt: %w", err)
	}
	c.thresholds = j.thresholds()
	messages, _, _ := by.messages(c, budgetOf(by, session))
	return messages[0].Content + "\n\n" + messages[1].Content, nil
}

func (j *Judge) judge(ctx context.Context, c Case) (toxscreen.Verdict, error) {
	exchange, err := j.client.Begin()
	if err != nil {
		return toxscreen.Verdict{}, err
	}
	defer exchange.End()
	key := ""
	if j.config.Cache != nil && !j.client.Failing() {
		// The key needs a session. If there is none, the call below returns the
		// reason.
		if session, err := j.client.Connect(ctx); err == nil {
			key = j.key(session, c)
			if v, ok := j.kept(ctx, key); ok {
				return v, nil
			}
		}
	}
	v, session, err := j.dialect.judge(ctx, exchange, c)
	if err != nil {
		return v, err
	}
	v.Rubric, v.Model = j.dialect.rubric(), Model{Name: j.config.Model, Digest: session.Digest}.String()
	complete := true
	seen := c.sight(budgetOf(j.dialect, session).text)
	if len(seen.parts) == 1 {
		v.Passage = &toxscreen.Range{Start: seen.parts[0].start, End: seen.parts[0].end}
	}
	if seen.clauses != nil && slices.ContainsFunc(v.Aspects, func(a toxscreen.AspectVerdict) bool { return a.Attribute != nil && !a.Yes }) {
		// What stands around the core may have argued for the "no".
		if err := j.askAlone(ctx, exchange, c, seen, session, &v); err != nil {
			if ctx.Err() != nil {
				return v, ctx.Err()
			}
			complete = false
			v.Warnings = append(v.Warnings, fmt.Sprintf("the judge gave no answer on the core of the passage alone, so its verdict lowers no score: %v", err))
		}
	}
	v.Addressed = addressed(c.Text)
	if len(v.Addressed) > 0 && !slices.ContainsFunc(v.Aspects, func(a toxscreen.AspectVerdict) bool { return a.Yes }) {
		// Such a text may have asked for that.
		v.Score = nil
		v.Warnings = append(v.Warnings, "the text addresses the judge and was found harmless: that finding is ignored")
	}
	if name := j.dialect.name(); name != dialectRubric {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the prompts for %s were tested only on published transcripts", name))
	}
	if v.Warnings == nil {
		v.Warnings = []string{}
	}
	if key != "" && complete && toxscreen.MayStore(ctx) {
		// The server may have changed the model since the key was made.
		if data, err := json.Marshal(v); err == nil && j.key(session, c) == key {
			if err := j.config.Cache.Put(ctx, key, data); err != nil && ctx.Err() == nil {
				v.Warnings = append(v.Warnings, fmt.Sprintf("the verdict was not stored in the cache: %v", err))
			}
		}
	}
	return v, nil
}

// askAlone asks about the core of the passage alone and adds the answers to the verdict on
// the passage, which the given session gave. If the core is the whole passage, nothing is
// asked again.
func (j *Judge) askAlone(ctx context.Context, exchange *ollama.Exchange, c Case, seen sight, session *ollama.Session, v *toxscreen.Verdict) error {
	core, err := j.core(ctx, c.Text, seen)
	if err != nil {
		core = seen.clauses // without an answer on its core, a verdict lowers no score
	} else if !moreThan(c.Text, seen.parts[0], core) {
		return nil
	}
	for _, p := range core {
		v.Core = append(v.Core, toxscreen.Range{Start: p.start, End: p.end})
	}
	if err != nil {
		return err
	}
	c.core = core
	alone, last, err := j.dialect.judge(ctx, exchange, c)
	v.InputTokens += alone.InputTokens
	v.OutputTokens += alone.OutputTokens
	if err != nil {
		return err
	}
	if last.Digest != session.Digest {
		return errors.New("the server changed the model in between")
	}
	for _, a := range alone.Aspects {
		// Guard models may name other aspects for another text.
		if i := slices.IndexFunc(v.Aspects, func(b toxscreen.AspectVerdict) bool { return a.Name == b.Name }); i >= 0 {
			v.Aspects[i].YesAlone, v.Aspects[i].PYesAlone = &a.Yes, a.PYes
		}
	}
	for _, warning := range alone.Warnings {
		if !slices.Contains(v.Warnings, warning) {
			v.Warnings = append(v.Warnings, warning)
		}
	}
	return nil
}

// Recall returns a verdict from the cache, for [toxscreen.Opinion]. It finds verdicts only after
// the server has said which model it has.
func (j *Judge) Recall(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, bool) {
	session := j.client.Session()
	if session == nil || j.config.Cache == nil {
		return toxscreen.Verdict{}, false
	}
	return j.kept(ctx, j.key(session, Case{Text: text, Found: found, thresholds: j.thresholds()}))
}

// kept returns a verdict from the cache. If the cache is broken, the judge is asked.
func (j *Judge) kept(ctx context.Context, key string) (v toxscreen.Verdict, ok bool) {
	data, err := j.config.Cache.Get(ctx, key)
	if err != nil || data == nil || json.Unmarshal(data, &v) != nil {
		return toxscreen.Verdict{}, false
	}
	return v, true
}

// key returns a hash of everything that a verdict depends on.
func (j *Judge) key(s *ollama.Session, c Case) string {
	b := budgetOf(j.dialect, s)
	// What the classifier found counts only as far as it decides what the judge sees. If it
	// also chooses among several clauses, its version counts.
	seen := c.sight(b.text)
	chooser := ""
	if len(seen.clauses) > 1 && j.config.Classifier != nil {
		chooser = j.config.Classifier.Info().Version
	}
	h := sha256.New()
	parts, err := json.Marshal([]any{
		"verdict 3", s.Digest, j.dialect.name(), j.dialect.rubric(), j.config.Reason, j.config.Violations,
		0, // the seed, which is always 0; stored verdicts have it in their keys
		b.context, b.text, b.answer, s.Thinking, s.Thoughts,
		[]byte(c.Text), offsets(seen.parts), offsets(seen.clauses), chooser, c.Fields,
	})
	if err != nil {
		panic(err) // strings and finite numbers
	}
	h.Write(parts)
	for _, m := range j.dialect.probe() {
		h.Write([]byte(m.Content))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// offsets returns the offsets of parts, for keys.
func offsets(parts []part) []int {
	var all []int
	for _, p := range parts {
		all = append(all, p.start, p.end)
	}
	return all
}
