// Package judge asks a language model on an Ollama server for a second opinion
// on a text:
//
//	j, err := judge.New(judge.Config{Model: model}) // a name of `ollama list`
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer j.Close()
//	verdict, err := j.Judge(ctx, "you are a stupid idiot", nil)
//
// The text is judged under a [Rubric]: each aspect gets yes or no, its
// probability, a severity and quotations that are looked up in the text. What
// the model answers is checked, and where it gives no verdict there is none:
// nothing is guessed. docs/judge.md tells how to choose a model and how to find
// out whether it may be believed.
package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/ollama"
)

// Config says what a judge is. The zero value of each field but Model is a
// default.
type Config struct {
	// Model is its name on the server, as `ollama list` shows it.
	Model string
	// Host is the server's address: HOST:PORT or a URL. Where it is empty,
	// OLLAMA_HOST holds, and else 127.0.0.1:11434. See [ollama.Address].
	Host string
	// Rubric is what texts are judged by; the rubric "attributes" where it has
	// no name.
	Rubric Rubric
	// Timeout is for one text, waiting for a free place and second attempts
	// included, loading the model not: 60 seconds.
	Timeout time.Duration
	// LoadTimeout is for loading the model: 5 minutes.
	LoadTimeout time.Duration
	// Parallel is how many calls are under way at once: 1. More than the
	// server's OLLAMA_NUM_PARALLEL wait there. At most 256 texts wait for a free
	// place; more are refused.
	Parallel int
	// TextBytes is how much of a text the judge sees: 2,000 bytes. Of a longer
	// one it sees parts.
	TextBytes int
	// Context is how many tokens of context the model has at least, for judges
	// of one model by several rubrics: for another context the server loads
	// the model anew. 0 is what the rubric and TextBytes need; see [Context].
	Context int
	// Reason asks for a sentence with the reason, Violations for the numbers
	// of the rubric's violations. Both cost time, and neither changes a
	// verdict: they are written after it.
	Reason     bool
	Violations bool
	// Cache keeps verdicts; nil keeps none.
	Cache Cache
}

// Cache keeps verdicts by keys that name all that they depend on.
// Implementations must be safe for concurrent use.
type Cache interface {
	// Get returns the value of a key, or nil where there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
}

// Judge asks one model under one rubric. It is safe for concurrent use.
type Judge struct {
	config  Config
	dialect dialect
	client  *ollama.Client
}

// filled returns the configuration with its defaults, or why it makes no sense.
func (c Config) filled() (Config, error) {
	if c.Model == "" {
		return c, errors.New("failed to make a judge: no model is named: take one of `ollama list`")
	}
	if c.Rubric.Name == "" {
		var err error
		if c.Rubric, err = OpenRubric("attributes"); err != nil {
			return c, err
		}
	}
	if err := c.Rubric.Validate(); err != nil {
		return c, fmt.Errorf("failed to make a judge: rubric %q: %w", c.Rubric.Name, err)
	}
	c.Parallel = cmp.Or(c.Parallel, 1)
	c.TextBytes = cmp.Or(c.TextBytes, 2000)
	if c.TextBytes < leastText {
		return c, fmt.Errorf("failed to make a judge: %d bytes of text are too few to judge: take %d or more", c.TextBytes, leastText)
	}
	return c, nil
}

// New returns a judge. The server is not asked before the first text.
func New(c Config) (*Judge, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	j := &Judge{config: c, dialect: dialectOf(c)}
	j.client, err = ollama.New(ollama.Config{
		Model: c.Model, Name: "judge", Host: c.Host,
		Timeout: c.Timeout, LoadTimeout: c.LoadTimeout, Parallel: c.Parallel,
		Probe: j.dialect.probe(),
		Context: func(prefix, limit int) (int, error) {
			b, err := j.dialect.plan(prefix, limit)
			return b.context, err
		},
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// With returns another judge, whose configuration is that of j but for what change
// does to it: the same model by another rubric, with the same cache. Judges that
// are asked side by side need one [Config.Context].
func (j *Judge) With(change func(*Config)) (*Judge, error) {
	config := j.config
	change(&config)
	return New(config)
}

// Context returns how many tokens of context are enough for judges with these
// configurations, whatever the model's vocabulary: a token has a byte or more.
// Judges of one model that are asked side by side need one context: a server
// loads the model anew for each change, and Ollama 0.17 may wait in vain for
// the calls under way when it has to.
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

// Close gives the connections to the server back. No call may be under way.
func (j *Judge) Close() { j.client.Close() }

// Rubric returns what texts are judged by.
func (j *Judge) Rubric() Rubric { return j.config.Rubric }

// Parallel implements [toxscreen.Judge].
func (j *Judge) Parallel() int { return j.config.Parallel }

// Model describes the model as the server has it.
type Model struct {
	Name    string
	Digest  string // SHA-256 of its manifest, hexadecimal
	Rubric  string // version of what it judges by
	Dialect string // in which it is asked: "rubric", or that of a guard model
	Context int    // tokens of its context in every call
	Prefix  int    // tokens of the prompt that is the same for every text
}

// String returns the name and the beginning of the digest.
func (m Model) String() string { return m.Name + "@" + beginning(m.Digest, 12) }

// Identify asks the server which model it has, which is not loaded for that.
// Context and Prefix are 0 where it was not loaded before.
func (j *Judge) Identify(ctx context.Context) (Model, error) {
	s, err := j.client.Identify(ctx)
	if err != nil {
		return Model{}, fmt.Errorf("failed to ask the judge: %w", err)
	}
	return j.model(s), nil
}

// Connect asks the server for the model, which it loads, and describes it.
func (j *Judge) Connect(ctx context.Context) (Model, error) {
	s, err := j.client.Connect(ctx)
	if err != nil {
		return Model{}, fmt.Errorf("failed to ask the judge: %w", err)
	}
	return j.model(s), nil
}

func (j *Judge) model(s *ollama.Session) Model {
	return Model{Name: j.config.Model, Digest: s.Digest, Rubric: j.dialect.rubric(), Dialect: j.dialect.name(), Context: s.Context, Prefix: s.Prefix}
}

// Judge implements [toxscreen.Judge].
func (j *Judge) Judge(ctx context.Context, text string, spans []toxscreen.Span) (toxscreen.Verdict, error) {
	return j.JudgeCase(ctx, Case{Text: text, Spans: spans})
}

// JudgeCase is [Judge.Judge] for a text with more that belongs to it. Where it
// fails, the verdict has nothing but the tokens that were spent.
func (j *Judge) JudgeCase(ctx context.Context, c Case) (toxscreen.Verdict, error) {
	v, err := j.judge(ctx, c)
	if err != nil {
		return toxscreen.Verdict{InputTokens: v.InputTokens, OutputTokens: v.OutputTokens}, fmt.Errorf("failed to judge text: %w", err)
	}
	return v, nil
}

// Prompt returns what the judge sends for a case: the system's message, a blank
// line and the user's, before the server puts them into the model's template.
// A second attempt adds to it. How much of a long text the judge sees depends
// on the model, so that the server is asked for that where it was not before.
func (j *Judge) Prompt(ctx context.Context, c Case) (string, error) {
	by, ok := j.dialect.(byRubric)
	if !ok {
		return "", fmt.Errorf("failed to tell the prompt: model %s is a guard with a prompt of its own", j.config.Model)
	}
	session, err := j.client.Connect(ctx)
	if err != nil {
		return "", fmt.Errorf("failed to tell the prompt: %w", err)
	}
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
		// Without a session there is nothing to name a verdict by; why there is
		// none, asking tells.
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
	v.Rubric, v.Model = j.dialect.rubric(), j.model(session).String()
	v.Addressed = addressed(c.Text)
	if len(v.Addressed) > 0 && !slices.ContainsFunc(v.Aspects, func(a toxscreen.AspectVerdict) bool { return a.Yes }) {
		// That it is harmless is what such a text wants to hear.
		v.Score = nil
		v.Warnings = append(v.Warnings, "the text speaks to whoever judges it, and was found harmless: that counts for nothing")
	}
	if v.Warnings == nil {
		v.Warnings = []string{}
	}
	if key != "" && toxscreen.MayStore(ctx) {
		// The server may have another model than when the key was made.
		if data, err := json.Marshal(v); err == nil && j.key(session, c) == key {
			if err := j.config.Cache.Put(ctx, key, data); err != nil && ctx.Err() == nil {
				v.Warnings = append(v.Warnings, fmt.Sprintf("the verdict is not in the cache: %v", err))
			}
		}
	}
	return v, nil
}

// Recall implements [toxscreen.Recaller] with the cache. It knows no verdict
// while the server has not said which model it has.
func (j *Judge) Recall(ctx context.Context, text string, spans []toxscreen.Span) (toxscreen.Verdict, bool) {
	session := j.client.Session()
	if session == nil || j.config.Cache == nil {
		return toxscreen.Verdict{}, false
	}
	return j.kept(ctx, j.key(session, Case{Text: text, Spans: spans}))
}

// kept returns the verdict that the cache has. A cache that is broken costs time,
// but no verdict.
func (j *Judge) kept(ctx context.Context, key string) (v toxscreen.Verdict, ok bool) {
	data, err := j.config.Cache.Get(ctx, key)
	if err != nil || data == nil || json.Unmarshal(data, &v) != nil {
		return toxscreen.Verdict{}, false
	}
	return v, true
}

// key names everything that a verdict depends on.
func (j *Judge) key(s *ollama.Session, c Case) string {
	b := budgetOf(j.dialect, s)
	if len(c.Text) <= b.text/2 {
		c.Spans = nil // the judge sees all of it whatever they are
	}
	h := sha256.New()
	parts, err := json.Marshal([]any{
		"verdict 1", s.Digest, j.dialect.name(), j.dialect.rubric(), j.config.Reason, j.config.Violations,
		0, // the seed; verdicts of earlier versions have it in their keys
		b.context, b.text, b.answer, s.Thinking,
		[]byte(c.Text), c.Spans, c.Fields,
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

// dialect is how a model is asked and how its answers are read.
type dialect interface {
	name() string
	// rubric is the version of what it judges by.
	rubric() string
	// plan divides a context by the tokens of the prompt without a text, the
	// prefix, and the most tokens of context that the model can have, the
	// limit, 0 where that is not known.
	plan(prefix, limit int) (budget, error)
	// probe is the prompt without a text.
	probe() []ollama.Message
	judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error)
}

// budgetOf returns how the context of a session is divided.
func budgetOf(d dialect, s *ollama.Session) budget {
	b, err := d.plan(s.Planned, s.Limit)
	if err != nil {
		panic(err) // with an error the session would not have been made
	}
	b.prefix = s.Prefix
	return b
}

func dialectOf(c Config) dialect {
	if g, ok := guardOf(c); ok {
		return g
	}
	return byRubric{config: c, shape: answerShape{c.Reason, c.Violations}}
}

// byRubric is the dialect of models that follow instructions: the rubric in
// the prompt, and a JSON object as the answer.
type byRubric struct {
	config Config
	shape  answerShape
}

func (d byRubric) name() string   { return "rubric" }
func (d byRubric) rubric() string { return d.config.Rubric.Version() }

func (d byRubric) plan(prefix, limit int) (budget, error) {
	b, err := plan(d.config.Rubric, d.shape, prefix, d.config.TextBytes, limit)
	if err == nil && d.config.Context > b.context {
		b.context = d.config.Context
		if limit > 0 {
			b.context = min(b.context, limit)
		}
	}
	return b, err
}

func (d byRubric) probe() []ollama.Message {
	messages, _, _ := d.messages(Case{}, budget{})
	return messages
}

func (d byRubric) messages(c Case, b budget) ([]ollama.Message, []part, []string) {
	text, parts, warnings := user(d.config.Rubric, c, b)
	return []ollama.Message{
		{Role: "system", Content: system(d.config.Rubric, d.shape)},
		{Role: "user", Content: text},
	}, parts, warnings
}

func (d byRubric) judge(ctx context.Context, e *ollama.Exchange, c Case) (toxscreen.Verdict, *ollama.Session, error) {
	var v toxscreen.Verdict
	var parts []part
	var messages []ollama.Message
	format := d.shape.schema(d.config.Rubric)
	question := func(messages []ollama.Message, b budget) ollama.Question {
		return ollama.Question{Messages: messages, Format: format, Predict: b.answer, Logprobs: topLogprobs, Least: least(b, messages)}
	}
	first, err := e.Ask(ctx, func(session *ollama.Session) ollama.Question {
		b := budgetOf(d, session)
		messages, parts, v.Warnings = d.messages(c, b)
		return question(messages, b)
	})
	if err != nil {
		return v, nil, err
	}
	last := first
	read, why := d.read(first)
	v.InputTokens, v.OutputTokens = first.InputTokens, first.OutputTokens
	if why != nil {
		last, err = e.Ask(ctx, func(session *ollama.Session) ollama.Question {
			return question(repair(messages, first.Text, why), budgetOf(d, session))
		})
		if err != nil {
			return v, nil, fmt.Errorf("its first answer was no verdict (%w); %w", why, err)
		}
		v.InputTokens += last.InputTokens
		v.OutputTokens += last.OutputTokens
		v.Warnings = append(v.Warnings, "the judge's first answer was no verdict: "+why.Error())
		if read, why = d.read(last); why != nil {
			return v, nil, &toxscreen.AbstentionError{Why: fmt.Sprintf("after a second attempt too, what it wrote is not what was asked for: %v", why), Raw: beginning(last.Text, maxRaw)}
		}
	}
	d.fill(&v, c.Text, parts, read, last)
	return v, last.Session, nil
}

// least returns how many tokens a prompt has at least: those of the prompt
// without a text, and for the text one for 128 bytes, which not even a run of
// one sign gets below.
func least(b budget, messages []ollama.Message) int {
	bytes := 0
	for _, m := range messages[1:] {
		bytes += len(m.Content)
	}
	return b.prefix + max(bytes/128-1, 0)
}

// shown returns a number as JSON shows it, so that a verdict from a cache is the
// same as one from the model.
func shown(p float64) *toxscreen.Probability {
	rounded := toxscreen.Probability(toxscreen.Probability(p).Rounded())
	return &rounded
}

// maxRaw is how much is kept of an answer that was no verdict, in bytes.
const maxRaw = 500

func (d byRubric) read(r ollama.Reply) (answer, error) {
	if r.Cut != "" {
		return answer{}, errors.New(r.Cut)
	}
	return d.shape.parse(d.config.Rubric, r.Text)
}

// fill makes a verdict of an answer.
func (d byRubric) fill(v *toxscreen.Verdict, text string, parts []part, read answer, r ollama.Reply) {
	rubric := d.config.Rubric
	seen := source{text: text, parts: parts}
	unmeasured, doubtful := 0, 0
	for i, a := range read.aspects {
		severity := a.severity
		aspect := toxscreen.AspectVerdict{Name: rubric.Aspects[i].Name, Attribute: rubric.Aspects[i].Attribute, Yes: a.yes, Severity: &severity}
		if p, ok := probability(r.Logprobs, r.Text, a.at, verdictYes, verdictNo); ok {
			aspect.PYes = shown(p)
			if a.yes != (p >= 0.5) {
				doubtful++
			}
		} else {
			unmeasured++
		}
		for _, number := range a.violations {
			if name := rubric.Violations[number-1]; !slices.Contains(aspect.Violations, name) {
				aspect.Violations = append(aspect.Violations, name)
			}
		}
		for _, quote := range a.quotes {
			if found, ok := seen.locate(quote); ok {
				aspect.Evidence = append(aspect.Evidence, found)
			} else {
				aspect.NotInText = append(aspect.NotInText, beginning(unmark(quote), 4*maxQuote))
			}
		}
		v.Aspects = append(v.Aspects, aspect)
	}
	switch {
	case len(r.Logprobs) == 0:
		v.Warnings = append(v.Warnings, "there is no p_yes: the server gives no log-probabilities, which Ollama does from 0.12.11 on")
	case unmeasured > 0:
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d aspects have no p_yes: neither yes nor no was among the model's %d likeliest words there", unmeasured, topLogprobs))
	}
	if doubtful > 0 {
		// Several tokens may begin one verdict, and the schema rules some out.
		v.Warnings = append(v.Warnings, fmt.Sprintf("for %d aspects the model wrote the verdict that it gave the smaller probability to", doubtful))
	}
	v.Score, v.Scale, v.Reason = shown(rubric.score(v.Aspects)), toxscreen.Probability(rubric.Scale), read.reason
}
