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
// A text is encoded into tokens, and package encoder runs the model on them, in
// windows where the text is long. The windows' logits are pooled, calibrated, and
// returned as probabilities; the token head's mark spans. The score of a text does not
// depend on what else is scored at the same time, but for the rounding of padded runs.
package classifier

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
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

	Provider encoder.Provider // default encoder.CPU
	Batching encoder.Batching // default encoder.Single
	Library  string           // path of ONNX Runtime's library; default: encoder.FindLibrary
	Threads  int              // see [encoder.Config]; default: GOMAXPROCS

	Version    string           // of the model, as results show it
	Thresholds toxscreen.Scores // for every attribute of Spec.Labels
}

// Classifier scores texts with one model. It is safe for concurrent use.
type Classifier struct {
	spec       Spec
	thresholds toxscreen.Scores
	tokenizer  *tokenize.Tokenizer
	encoder    *encoder.Encoder
	info       toxscreen.ModelInfo
	encodings  sync.Pool // of *tokenize.Encoding
}

// Open opens the model, see [encoder.Open]. A model whose inputs or outputs are not
// those of the spec is refused.
func Open(c Config) (*Classifier, error) {
	if err := c.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	opened, err := encoder.Open(encoder.Config{
		Model:     c.Model,
		Tokenizer: c.Tokenizer,
		Inputs:    c.Spec.Inputs,
		PadID:     c.Spec.PadID,
		Heads:     c.Spec.heads(),
		Window:    c.Spec.Window.encoder(),
		Provider:  c.Provider,
		Batching:  c.Batching,
		Library:   c.Library,
		Threads:   c.Threads,
	})
	if err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	busy := opened.Info()
	return &Classifier{
		spec: c.Spec, thresholds: c.Thresholds,
		tokenizer: c.Tokenizer, encoder: opened,
		info:      toxscreen.ModelInfo{Version: c.Version, Attributes: attributesOf(c.Spec.Labels), Parallel: busy.Parallel, Short: busy.Short},
		encodings: sync.Pool{New: func() any { return new(tokenize.Encoding) }},
	}, nil
}

// Info implements [toxscreen.Classifier].
func (c *Classifier) Info() toxscreen.ModelInfo { return c.info }

// Close waits for the runs under way and frees the model's memory. Calls of
// Classify fail afterwards.
func (c *Classifier) Close() error { return c.encoder.Close() }

// Classify implements [toxscreen.Classifier]. Where the spec says so, a text that
// differs once disguise is undone is scored both ways, and each attribute takes the
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

// oddSpelling is taken off the log-odds of a text as it is written, where its reading
// differs: models take odd spelling by itself for rude. The figures are in
// docs/decisions/0006-disguise.md.
const oddSpelling = 1

// logOdds returns the log-odds of the probability that a logit means, calibrated.
func (c *Classifier) logOdds(a toxscreen.Attribute, logit float64) float64 {
	if calibration, ok := c.spec.Calibration[a]; ok {
		return calibration.Apply(logit)
	}
	return logit
}

// score runs the model on an encoding of text. It returns the pooled logit of each
// label and the spans, nil where the model has no token head.
func (c *Classifier) score(ctx context.Context, text string, enc *tokenize.Encoding) ([]float64, []toxscreen.Span, error) {
	out, err := c.encoder.Run(ctx, text, enc)
	if err != nil {
		return nil, nil, err
	}
	scores := out.Logits(scoresHead)
	perWindow := make([]float64, len(out.Windows))
	logits := make([]float64, len(c.spec.Labels))
	for column := range logits {
		for i := range perWindow {
			perWindow[i] = float64(scores[i*len(logits)+column])
		}
		logits[column] = pool(perWindow, out.Windows, c.spec.Window.Pooling)
	}
	if c.spec.Activation == Softmax {
		logits = againstTheRest(logits)
	}
	if c.spec.Spans == nil {
		return logits, nil, nil
	}
	return logits, spans(text, enc.Offsets, out.Logits(tokensHead), c.spec.Spans), nil
}

// scoreReading scores text as a reader reads it, and returns its logits and spans.
// Both are nil where the model would see the same as in plain, the encoding of text.
func (c *Classifier) scoreReading(ctx context.Context, text string, plain *tokenize.Encoding) ([]float64, []toxscreen.Span, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	differs, err := encodeReading(c.tokenizer, text, plain, enc)
	if err != nil || !differs {
		return nil, nil, err
	}
	return c.score(ctx, text, enc)
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
