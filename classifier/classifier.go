// Package classifier turns texts into attribute scores and spans with an ONNX
// model. Most users open one through package models; the pieces are
//
//	c, err := classifier.Open(classifier.Config{Spec: spec, Model: onnx, Tokenizer: tokenizer})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer c.Close()
//	found, err := c.Classify(ctx, "some text")
//
// A text is encoded into tokens, divided into windows that the model can see,
// and each window computed by itself; the windows' logits are pooled,
// calibrated, and returned as probabilities. The score of a text does not
// depend on what else is scored at the same time.
package classifier

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/tokenize"
)

// Config says what to open. The zero value of a field with a default takes
// the default.
type Config struct {
	Spec Spec
	// Model is the file in ONNX or ORT format. It must not be changed before
	// Close: a session uses the weights of an ORT file where they lie.
	Model     []byte
	Tokenizer *tokenize.Tokenizer

	Provider Provider // default CPU
	Batching Batching // default Single
	Library  string   // path of ONNX Runtime's library; default: FindLibrary
	// Threads is how many runs go side by side, or for Padded how many
	// threads share a run; default: GOMAXPROCS.
	Threads int

	Version    string           // of the model, as results show it
	Thresholds toxscreen.Scores // for every attribute of Spec.Labels
}

// Classifier scores texts with one model. It is safe for concurrent use.
type Classifier struct {
	spec           Spec
	thresholds     toxscreen.Scores
	tokenizer      *tokenize.Tokenizer
	prefix, suffix []int64
	runner         *runner
	info           toxscreen.ModelInfo
	encodings      sync.Pool // of *tokenize.Encoding
	closing        sync.Once
	closeErr       error
}

// Open loads ONNX Runtime's library where that has not happened yet, opens the
// model and computes an empty text with it, so that a model whose inputs or
// outputs are not those of the spec is refused here.
func Open(c Config) (*Classifier, error) {
	if c.Provider == "" {
		c.Provider = CPU
	}
	if c.Batching == "" {
		c.Batching = Single
	}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Threads < 1 || c.Threads > 1024 {
		return nil, fmt.Errorf("failed to open classifier: %d threads asked for: it must be 1 to 1024", c.Threads)
	}
	if err := c.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	batching, err := ParseBatching(string(c.Batching))
	if err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	sharing := sharingOf(batching, c.Threads)
	if _, err := LoadLibrary(c.Library, c.Provider); err != nil {
		return nil, err
	}
	cl := &Classifier{
		spec: c.Spec, thresholds: c.Thresholds,
		tokenizer: c.Tokenizer,
		info:      toxscreen.ModelInfo{Version: c.Version, Attributes: attributesOf(c.Spec.Labels), Parallel: sharing.parallel, Short: sharing.short},
		encodings: sync.Pool{New: func() any { return new(tokenize.Encoding) }},
	}
	cl.prefix, cl.suffix = c.Tokenizer.Special()
	if room := c.Spec.Window.Tokens - len(cl.prefix) - len(cl.suffix); room < 4 {
		return nil, fmt.Errorf("failed to open classifier: a window of %d tokens leaves %d to the text", c.Spec.Window.Tokens, room)
	}
	if cl.runner, err = newRunner(c, sharing); err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	if _, err := cl.Classify(context.Background(), ""); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to open classifier: the model does not do what its manifest says: %w", err), cl.Close())
	}
	return cl, nil
}

// Info implements [toxscreen.Classifier].
func (c *Classifier) Info() toxscreen.ModelInfo { return c.info }

// Close waits for the runs under way and frees the model's memory. Calls of
// Classify fail afterwards.
func (c *Classifier) Close() error {
	c.closing.Do(func() { c.closeErr = c.runner.close() })
	return c.closeErr
}

// Classify implements [toxscreen.Classifier]. The windows of a long text are
// computed side by side. Where the spec says so, a text that reads otherwise
// once disguise is undone is computed both ways, and each attribute takes the
// higher of its two log-odds, those of what is written less [oddSpelling]. The
// end of ctx stops runs under way.
func (c *Classifier) Classify(ctx context.Context, text string) (toxscreen.Classification, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	if err := c.tokenizer.Encode(text, enc); err != nil {
		return toxscreen.Classification{}, err
	}
	logits, marked, err := c.score(ctx, text, enc)
	if err != nil {
		return toxscreen.Classification{}, err
	}
	found := toxscreen.Classification{Model: c.info.Version, Thresholds: c.thresholds, Spans: marked}
	var read []float64
	if c.spec.UndoDisguise {
		var others []toxscreen.Span
		if read, others, err = c.scoreReading(ctx, text, enc); err != nil {
			return toxscreen.Classification{}, err
		}
		found.Spans = union(text, marked, others)
	}
	var raised, lowered []string
	for column, label := range c.spec.Labels {
		if label.Attribute == nil {
			continue
		}
		odds := c.logOdds(*label.Attribute, logits[column])
		plain, score := sigmoid(odds), sigmoid(odds)
		if read != nil {
			score = sigmoid(max(c.logOdds(*label.Attribute, read[column]), odds-oddSpelling))
		}
		found.Scores.Set(*label.Attribute, score)
		if math.Abs(score-plain) < noteworthy {
			continue
		}
		found.Plain.Set(*label.Attribute, plain)
		if score > plain {
			raised = append(raised, label.Attribute.String())
		} else {
			lowered = append(lowered, label.Attribute.String())
		}
	}
	var changed []string
	if len(raised) > 0 {
		changed = append(changed, "raised "+strings.Join(raised, ", "))
	}
	if len(lowered) > 0 {
		changed = append(changed, "lowered "+strings.Join(lowered, ", "))
	}
	if len(changed) > 0 {
		found.Warnings = append(found.Warnings, "words that look disguised were read as they seem to be meant, which "+strings.Join(changed, " and "))
	}
	if c.spec.Spans == nil {
		found.Warnings = append(found.Warnings, "no spans: the model has no token head")
	}
	if enc.InvalidBytes > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%d bytes are not valid UTF-8 and were read as U+FFFD", enc.InvalidBytes))
	}
	if len(enc.IDs) == 0 && strings.TrimSpace(text) != "" {
		found.Warnings = append(found.Warnings, "the model reads none of the text's characters: its scores say nothing")
	}
	return found, nil
}

// noteworthy is the change of a probability by undoing disguise from which a
// warning tells of it: less changes no decision that is not a close one anyway.
const noteworthy = 0.05

// oddSpelling is what is taken off the log-odds of a text as it is written that
// reads otherwise: models take odd spelling by itself for rude. The figures are in
// docs/decisions/0006-disguise.md.
const oddSpelling = 1

// logOdds returns the log-odds of the probability that a logit means, calibrated.
func (c *Classifier) logOdds(a toxscreen.Attribute, logit float64) float64 {
	if calibration, ok := c.spec.Calibration[a]; ok {
		return calibration.Apply(logit)
	}
	return logit
}

// score computes an encoding of text. It returns the pooled logit of each label
// and the spans, nil where the model has no token head.
func (c *Classifier) score(ctx context.Context, text string, enc *tokenize.Encoding) ([]float64, []toxscreen.Span, error) {
	windows := divide(text, enc.Offsets, c.spec.Window.Tokens-len(c.prefix)-len(c.suffix), c.spec.Window.Overlap)
	labels, tokens, err := c.compute(ctx, enc.IDs, windows)
	if err != nil {
		return nil, nil, err
	}
	perWindow := make([]float64, len(windows))
	logits := make([]float64, len(c.spec.Labels))
	for column := range logits {
		for i := range windows {
			perWindow[i] = float64(labels[i*len(logits)+column])
		}
		logits[column] = pool(perWindow, windows, c.spec.Window.Pooling)
	}
	if c.spec.Activation == Softmax {
		logits = againstTheRest(logits)
	}
	if c.spec.Spans == nil {
		return logits, nil, nil
	}
	return logits, spans(text, enc.Offsets, tokens, c.spec.Spans), nil
}

// scoreReading computes text as a reader reads it, and returns its logits and
// spans. Where that gives the model nothing else to see than plain, both are nil.
func (c *Classifier) scoreReading(ctx context.Context, text string, plain *tokenize.Encoding) ([]float64, []toxscreen.Span, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	differs, err := encodeReading(c.tokenizer, text, plain, enc)
	if err != nil || !differs {
		return nil, nil, err
	}
	return c.score(ctx, text, enc)
}

// compute runs every window and returns the logits [windows, labels] and,
// where the model has a token head, [tokens, span labels].
func (c *Classifier) compute(ctx context.Context, ids []int64, windows []window) (labels, tokens []float32, err error) {
	columns := 0
	if c.spec.Spans != nil {
		columns = len(c.spec.Spans.Labels)
	}
	labels = make([]float32, len(windows)*len(c.spec.Labels))
	tokens = make([]float32, len(ids)*columns)
	one := func(ctx context.Context, i int) error {
		w := windows[i]
		wrapped := slices.Concat(c.prefix, ids[w.start:w.end], c.suffix)
		scores, tokenScores, err := c.runner.run(ctx, wrapped)
		if err != nil {
			return err
		}
		for _, z := range scores {
			if z-z != 0 {
				return fmt.Errorf("the model gave the logit %v in window %d of %d", z, i+1, len(windows))
			}
		}
		copy(labels[i*len(c.spec.Labels):], scores)
		if columns > 0 {
			skip := len(c.prefix) + w.from - w.start
			copy(tokens[w.from*columns:w.to*columns], tokenScores[skip*columns:])
		}
		return nil
	}
	if len(windows) == 1 {
		return labels, tokens, one(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.runner.sharing.windows)
	for i := range windows {
		group.Go(func() error { return one(ctx, i) })
	}
	return labels, tokens, group.Wait()
}

// againstTheRest returns for each logit of a softmax the log-odds of its
// probability, so that a sigmoid gives that probability.
func againstTheRest(logits []float64) []float64 {
	odds := make([]float64, len(logits))
	for i := range logits {
		highest := math.Inf(-1)
		for j, z := range logits {
			if j != i {
				highest = max(highest, z)
			}
		}
		sum := 0.0
		for j, z := range logits {
			if j != i {
				sum += math.Exp(z - highest)
			}
		}
		odds[i] = logits[i] - highest - math.Log(sum)
	}
	return odds
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }
