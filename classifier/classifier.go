// Package classifier turns texts into attribute scores and spans with an ONNX
// model. Most users open one through package models. To open one directly:
//
//	c, err := classifier.Open(classifier.Config{Spec: spec, Model: onnx, Tokenizer: tokenizer})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer c.Close()
//	found, err := c.Classify(ctx, "some text")
//
// A text is encoded into tokens, and package encoder runs the model on them, in several
// windows if the text is long. The windows' logits are pooled, calibrated, and
// returned as probabilities; the token head's logits mark spans. The score of a text does
// not depend on other texts scored at the same time, except for rounding in padded runs.
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

// Config describes the model to open. A zero field that has a default takes
// the default.
type Config struct {
	Spec Spec
	// Model is the file in ONNX or ORT format. It must not change before
	// Close: a session uses the weights of an ORT file in place.
	Model     []byte
	Tokenizer *tokenize.Tokenizer

	Provider encoder.Provider // default encoder.CPU
	Batching encoder.Batching // default encoder.Single
	Library  string           // path of ONNX Runtime's library; default: encoder.FindLibrary
	Threads  int              // see [encoder.Config]; default: GOMAXPROCS

	Version    string           // of the model, shown in results
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

// Open opens the model, see [encoder.Open]. It fails if the model's inputs or outputs do
// not match the spec.
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

// Close waits for active runs and frees the model's memory. Later calls of
// Classify fail.
func (c *Classifier) Close() error { return c.encoder.Close() }

// Classify implements [toxscreen.Classifier]. If the spec says so, a text that changes
// when disguise is undone is scored both ways. Each attribute takes the higher of its
// two log-odds, after [oddSpelling] is subtracted from that of the written text. When
// ctx ends, active runs stop.
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
		found.Warnings = append(found.Warnings, "words that look disguised were scored with the disguise undone, which "+strings.Join(changed, " and "))
	}
	if c.spec.Spans == nil {
		found.Warnings = append(found.Warnings, "no spans: the model has no token head")
	}
	if enc.InvalidBytes > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%d bytes are not valid UTF-8 and were read as U+FFFD", enc.InvalidBytes))
	}
	if len(enc.IDs) == 0 && strings.TrimSpace(text) != "" {
		found.Warnings = append(found.Warnings, "the model recognises none of the text's characters: its scores mean nothing")
	}
	return found, nil
}

// noteworthy is the smallest change of a probability by undoing disguise that a
// warning reports: a smaller change affects only decisions that are close anyway.
const noteworthy = 0.05

// oddSpelling is subtracted from the log-odds of a text as written if its reading
// differs: models score odd spelling itself as rude. The figures are in
// docs/decisions/0006-disguise.md.
const oddSpelling = 1

// logOdds returns the calibrated log-odds for a logit.
func (c *Classifier) logOdds(a toxscreen.Attribute, logit float64) float64 {
	if calibration, ok := c.spec.Calibration[a]; ok {
		return calibration.Apply(logit)
	}
	return logit
}

// score runs the model on an encoding of text. It returns the pooled logit of each
// label and the spans, nil if the model has no token head.
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

// scoreReading scores the reading of text and returns its logits and spans. Both are
// nil if the model would see the same as in plain, the encoding of text.
func (c *Classifier) scoreReading(ctx context.Context, text string, plain *tokenize.Encoding) ([]float64, []toxscreen.Span, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	differs, err := encodeReading(c.tokenizer, text, plain, enc)
	if err != nil || !differs {
		return nil, nil, err
	}
	return c.score(ctx, text, enc)
}

// againstTheRest returns, for each logit of a softmax, the log-odds of its
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
