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

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen"
)

// Config says what a judge is. The zero value of each field but Model is a
// default.
type Config struct {
	// Model is its name on the server, as `ollama list` shows it.
	Model string
	// Host is the server's address: HOST:PORT or a URL. Where it is empty,
	// OLLAMA_HOST holds, and else 127.0.0.1:11434.
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
	// server's OLLAMA_NUM_PARALLEL wait there.
	Parallel int
	// Queue is how many texts may wait for a free place: 256. More are refused.
	Queue int
	// TextBytes is how much of a text the judge sees: 2,000 bytes. Of a longer
	// one it sees parts.
	TextBytes int
	// Context is how many tokens of context the model has at least, for judges
	// of one model by several rubrics: for another context the server loads
	// the model anew. 0 is what the rubric and TextBytes need; see [Context].
	Context int
	// Seed is the server's seed. It matters little at temperature 0.
	Seed int
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
	server  *server
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
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.LoadTimeout = cmp.Or(c.LoadTimeout, 5*time.Minute)
	c.Parallel = cmp.Or(c.Parallel, 1)
	c.Queue = cmp.Or(c.Queue, 256)
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
	if j.server, err = newServer(c, j.dialect.plan, j.dialect.probe); err != nil {
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
		b, err := d.plan(sent(d)+frame, 0)
		if err != nil {
			return 0, err
		}
		most = max(most, b.context)
	}
	return most, nil
}

// sent returns how many bytes the prompt without a text has.
func sent(d dialect) int {
	bytes := 0
	for _, m := range d.probe(budget{text: leastText, field: leastText}) {
		bytes += len(m.Content)
	}
	return bytes
}

// Close gives the connections to the server back. No call may be under way.
func (j *Judge) Close() { j.server.close() }

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
	s, err := j.server.identified(ctx)
	if err != nil {
		return Model{}, fmt.Errorf("failed to ask the judge: %w", err)
	}
	return j.model(s), nil
}

// Connect asks the server for the model, which it loads, and describes it.
func (j *Judge) Connect(ctx context.Context) (Model, error) {
	s, err := j.server.connect(ctx)
	if err != nil {
		return Model{}, fmt.Errorf("failed to ask the judge: %w", err)
	}
	return j.model(s), nil
}

func (j *Judge) model(s *session) Model {
	return Model{Name: j.config.Model, Digest: s.digest, Rubric: j.dialect.rubric(), Dialect: j.dialect.name(), Context: s.budget.context, Prefix: s.budget.prefix}
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
	session, err := j.server.connect(ctx)
	if err != nil {
		return "", fmt.Errorf("failed to tell the prompt: %w", err)
	}
	messages, _, _ := by.messages(c, session.budget)
	return messages[0].Content + "\n\n" + messages[1].Content, nil
}

func (j *Judge) judge(ctx context.Context, c Case) (toxscreen.Verdict, error) {
	if err := j.server.enter(); err != nil {
		return toxscreen.Verdict{}, err
	}
	defer j.server.leave()
	key := ""
	if j.config.Cache != nil {
		// Without a session there is nothing to name a verdict by; why there is
		// none, asking tells.
		if session, err := j.server.connected(ctx); err == nil {
			key = j.key(session, c)
			if v, ok := j.kept(ctx, key); ok {
				return v, nil
			}
		}
	}
	v, session, err := j.dialect.judge(ctx, j.server, c)
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
	session := j.server.fresh()
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
func (j *Judge) key(s *session, c Case) string {
	if len(c.Text) <= s.budget.text/2 {
		c.Spans = nil // the judge sees all of it whatever they are
	}
	h := sha256.New()
	parts, err := json.Marshal([]any{
		"verdict 1", s.digest, j.dialect.name(), j.dialect.rubric(), j.config.Reason, j.config.Violations, j.config.Seed,
		s.budget.context, s.budget.text, s.budget.answer, s.thinking,
		[]byte(c.Text), c.Spans, c.Fields,
	})
	if err != nil {
		panic(err) // strings and finite numbers
	}
	h.Write(parts)
	for _, m := range j.dialect.probe(s.budget) {
		h.Write([]byte(m.Content))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// dialect is how a model is asked and how its answers are read.
type dialect interface {
	name() string
	// rubric is the version of what it judges by.
	rubric() string
	plan(prefix, limit int) (budget, error)
	// probe is the prompt without a text.
	probe(b budget) []api.Message
	judge(ctx context.Context, s *server, c Case) (toxscreen.Verdict, *session, error)
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

func (d byRubric) probe(b budget) []api.Message {
	messages, _, _ := d.messages(Case{}, b)
	return messages
}

func (d byRubric) messages(c Case, b budget) ([]api.Message, []part, []string) {
	text, parts, warnings := user(d.config.Rubric, c, b)
	return []api.Message{
		{Role: "system", Content: system(d.config.Rubric, d.shape)},
		{Role: "user", Content: text},
	}, parts, warnings
}

func (d byRubric) judge(ctx context.Context, s *server, c Case) (toxscreen.Verdict, *session, error) {
	var v toxscreen.Verdict
	var parts []part
	var messages []api.Message
	format := d.shape.schema(d.config.Rubric)
	left := d.config.Timeout
	first, err := s.ask(ctx, &left, func(session *session) (question, error) {
		messages, parts, v.Warnings = d.messages(c, session.budget)
		return question{messages: messages, format: format, predict: session.budget.answer, least: least(session, messages)}, nil
	})
	if err != nil {
		return v, nil, err
	}
	last := first
	read, why := d.read(first.reply)
	v.InputTokens, v.OutputTokens = first.reply.in, first.reply.out
	if why != nil {
		last, err = s.ask(ctx, &left, func(session *session) (question, error) {
			again := repair(messages, first.reply.text, why)
			return question{messages: again, format: format, predict: session.budget.answer, least: least(session, again)}, nil
		})
		if err != nil {
			return v, nil, fmt.Errorf("its first answer was no verdict (%w); %w", why, err)
		}
		v.InputTokens += last.reply.in
		v.OutputTokens += last.reply.out
		v.Warnings = append(v.Warnings, "the judge's first answer was no verdict: "+why.Error())
		if read, why = d.read(last.reply); why != nil {
			return v, nil, &toxscreen.AbstentionError{Why: fmt.Sprintf("after a second attempt too, what it wrote is not what was asked for: %v", why), Raw: beginning(last.reply.text, maxRaw)}
		}
	}
	d.fill(&v, c.Text, parts, read, last.reply)
	return v, last.session, nil
}

// least returns how many tokens a prompt has at least: those of the prompt
// without a text, and for the text one for 128 bytes, which not even a run of
// one sign gets below.
func least(s *session, messages []api.Message) int {
	bytes := 0
	for _, m := range messages[1:] {
		bytes += len(m.Content)
	}
	return s.budget.prefix + max(bytes/128-1, 0)
}

// shown returns a number as JSON shows it, so that a verdict from a cache is the
// same as one from the model.
func shown(p float64) *toxscreen.Probability {
	rounded := toxscreen.Probability(toxscreen.Probability(p).Rounded())
	return &rounded
}

// maxRaw is how much is kept of an answer that was no verdict, in bytes.
const maxRaw = 500

func (d byRubric) read(r reply) (answer, error) {
	if r.cut != "" {
		return answer{}, errors.New(r.cut)
	}
	return d.shape.parse(d.config.Rubric, r.text)
}

// fill makes a verdict of an answer.
func (d byRubric) fill(v *toxscreen.Verdict, text string, parts []part, read answer, r reply) {
	rubric := d.config.Rubric
	seen := source{text: text, parts: parts}
	unmeasured, doubtful := 0, 0
	for i, a := range read.aspects {
		severity := a.severity
		aspect := toxscreen.AspectVerdict{Name: rubric.Aspects[i].Name, Attribute: rubric.Aspects[i].Attribute, Yes: a.yes, Severity: &severity}
		if p, ok := probability(r.tokens, r.text, a.at, verdictYes, verdictNo); ok {
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
	case len(r.tokens) == 0:
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
